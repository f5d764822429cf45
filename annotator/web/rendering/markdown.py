"""Render Markdown as HTML: CommonMark with tables and strikethrough. HTML in it is made safe later.

A line that begins with the number of an item, as in laws, stays a line of its own. CommonMark would join it to the line
above unless it starts a list.
"""

import re
from functools import cache
from typing import TYPE_CHECKING

from annotator.web.rendering.code import highlight
from annotator.web.rendering.safe_html import LOWER

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

ITEM_NUMBER = re.compile(
    r"[0-9]{1,3}(?:[의の][0-9]{1,3})?[.)．] |\([0-9]{1,3}\)|（[0-9０-９一二三四五六七八九十]{1,3}）"
    r"|[\u2460-\u2473\u3251-\u325f\u32b1-\u32bf]|[가나다라마바사아자차카타파하][.)] |[a-z][.)] "
    r"|[一二三四五六七八九十]{1,4}[　、 ]|[イロハニホヘトチリヌ][　 ]|[제第][0-9０-９一二三四五六七八九十百]{1,6}[조항호条項号]"
)
"""1. 1의2. (1) （一） ① 가. a. 一　 イ　 제2항 第二項"""


def write_markdown(text: str, _doc_id: str) -> str:
    """Return the HTML, not yet safe. Headings are below the page's own levels."""
    parser = _parser()
    tokens = parser.parse(text)
    for token in tokens:
        token.tag = LOWER.get(token.tag, token.tag)
        _keep_item_lines(token.children or [])
    html: str = parser.renderer.render(tokens, parser.options, {})
    return html


def _keep_item_lines(parts: "list[Token]") -> None:
    """Turn the line break before each item into one that is shown."""
    for number, part in enumerate(parts):
        if part.type != "softbreak":
            continue
        line = next((other.content for other in parts[number + 1 :] if other.content), "")
        if ITEM_NUMBER.match(line):
            part.type, part.tag = "hardbreak", "br"


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    options = {"html": True, "highlight": _highlight, "maxNesting": 40}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"])


def _highlight(code: str, language: str, _attributes: str) -> str:
    return highlight(code, language) if language else ""
