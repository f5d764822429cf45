"""Render Markdown as HTML: CommonMark with tables and strikethrough. HTML in it is made safe later."""

from functools import cache
from typing import TYPE_CHECKING

from annotator.web.rendering.code import highlight
from annotator.web.rendering.safe_html import LOWER

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


def write_markdown(text: str, _doc_id: str) -> str:
    """Return the HTML, not yet safe. Headings are below the page's own levels."""
    parser = _parser()
    tokens = parser.parse(text)
    for token in tokens:
        token.tag = LOWER.get(token.tag, token.tag)
    html: str = parser.renderer.render(tokens, parser.options, {})
    return html


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    options = {"html": True, "highlight": _highlight, "maxNesting": 40}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"])


def _highlight(code: str, language: str, _attributes: str) -> str:
    return highlight(code, language) if language else ""
