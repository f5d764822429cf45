"""Markdown that people wrote (guidelines, datasheets) as HTML that holds nothing active.

Plain CommonMark with tables: Streamlit's own Markdown would take `$`, `:red[` and `->` for more than they are. HTML in
it is shown as text, headings step below the page's own, and pictures show their words instead: nothing is fetched.
"""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LOWER = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h6", "h5": "h6"}


def render_guideline(text: str) -> str:
    """A guideline as HTML. Links open in a tab of their own, so that nobody leaves the pair they are judging."""
    return render_markdown(text, _keep_links)


def render_markdown(text: str, mend: "Callable[[Token], None]") -> str:
    """The Markdown as HTML; `mend` may change each piece inside a line, e.g. a link or a picture, beforehand."""
    parser = _parser()
    tokens = parser.parse(text)
    for token in tokens:
        token.tag = LOWER.get(token.tag, token.tag)
        for child in token.children or ():
            mend(child)
    html: str = parser.renderer.render(tokens, parser.options, {})
    return html


def _keep_links(piece: "Token") -> None:
    if piece.type == "image":
        piece.type, piece.tag, piece.content = "text", "", piece.content or str(piece.attrs.get("src", ""))
    elif piece.type == "link_open":
        piece.attrs |= {"target": "_blank", "rel": "noopener noreferrer"}


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table")
