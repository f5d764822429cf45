"""Render one document as safe HTML, for the labeling panel and the page of a disagreement.

`render_document` detects the kind of text, cuts it if too long, renders it in a separate process with a time
limit, and always passes it through `safe_html.py`. A document that cannot be rendered has the kind "text" and
is shown unchanged. Renderings are cached by the text's hash, so the annotators of a pair share one.

Markdown is CommonMark with tables and strikethrough. HTML in it is made safe like all other.
"""

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from annotator.domain.excerpts import ITEM_NUMBER
from annotator.web.rendering.code import find_language, highlight, write_code
from annotator.web.rendering.safe_html import LOWER, make_safe
from annotator.web.rendering.sandbox import render_apart

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


LONGEST = 200_000
LONGEST_LINE = 20_000
KEPT_CHARACTERS = 40_000_000
_STRAY_SIGNS = re.compile(r"#{2,}[ \t]*|[=~^]{4,}$")
"""At the beginning of a line: a heading with too many signs or without a space, or the line under a heading of its own."""


@dataclass(frozen=True, slots=True)
class RenderedDocument:
    """A rendered document. `html` is safe to put into a page.

    `kind`: markdown, rst, html, code or text (then `html` is empty). `blocked`: number of images and embedded
    elements removed. `cut`: `html` has only the beginning of the document.
    """

    html: str
    kind: str
    blocked: int
    cut: bool


PLAIN = RenderedDocument("", "text", 0, cut=False)
_kept: OrderedDict[tuple[str, str], RenderedDocument] = OrderedDict()
_lock = threading.Lock()


def render_document(text: str, media_type: str, *, doc_id: str) -> RenderedDocument:
    """Return the document as HTML; kind "text" for plain text and for documents that cannot be rendered."""
    kind = find_kind(media_type, doc_id)
    if kind == "text":
        return PLAIN
    language = doc_id if kind == "code" else ""
    key = (hashlib.sha256(f"{kind}\0{language}\0{text}".encode("utf-8", "surrogatepass")).hexdigest(), kind)
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    shown = _cut(text)
    html, blocked = render_apart(shown, kind, doc_id)
    rendered = RenderedDocument(html, kind, blocked, cut=len(shown) < len(text)) if html.strip() else PLAIN
    with _lock:
        _kept[key] = rendered
        while sum(len(kept.html) for kept in _kept.values()) > KEPT_CHARACTERS and len(_kept) > 1:
            _kept.popitem(last=False)
    return rendered


def find_kind(media_type: str, doc_id: str) -> str:
    """Return markdown, rst, html, code or text: the declared type; for plain text, by the suffix of the id."""
    declared = {"text/markdown": "markdown", "text/x-rst": "rst", "text/html": "html"}.get(media_type)
    if declared is not None:
        return declared
    return "code" if find_language(doc_id) else "text"


def write_safe(text: str, kind: str, doc_id: str) -> tuple[str, int]:
    """Return (safe HTML, number of removed images and embedded items); ("", 0) if the parser fails.

    Can take very long, so it runs in a separate process (`sandbox.py`).
    """
    try:
        return make_safe(_writer(kind)(text, doc_id), kind)
    except (
        ValueError,
        RecursionError,
        LookupError,
        AttributeError,
        TypeError,
        OverflowError,
        AssertionError,
    ):
        return "", 0


def _cut(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    end = text.rfind("\n", LONGEST - LONGEST_LINE, LONGEST)
    return text[: end + 1] if end >= 0 else text[:LONGEST]


def _writer(kind: str) -> Callable[[str, str], str]:
    if kind == "markdown":
        return write_markdown
    if kind == "rst":
        from annotator.web.rendering.rst import write_rst

        return write_rst
    if kind == "code":
        return write_code
    return lambda text, _doc_id: text


def write_markdown(text: str, _doc_id: str) -> str:
    """Return the HTML, not yet safe. Headings are below the page's own levels.

    A line that begins with the number of an item, as in laws, stays a line of its own. CommonMark would join it to the
    line above unless it starts a list. Signs that no heading or rule came of are left out.
    """
    parser = _parser()
    tokens = parser.parse(text)
    for token in tokens:
        token.tag = LOWER.get(token.tag, token.tag)
        _mend_lines(token.children or [])
    html: str = parser.renderer.render(tokens, parser.options, {})
    return html


def _mend_lines(parts: "list[Token]") -> None:
    """Show the line break before each item; remove the signs of headings and rules that Markdown does not read as such."""
    line = ""  # how the text after the current part begins
    for number, part in reversed(list(enumerate(parts))):
        begins = number == 0 or parts[number - 1].type in ("softbreak", "hardbreak")
        if part.type == "text" and begins:
            part.content = _STRAY_SIGNS.sub("", part.content)
        if part.type == "softbreak" and ITEM_NUMBER.match(line):
            part.type, part.tag = "hardbreak", "br"
        line = part.content or line


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    options = {"html": True, "highlight": _highlight, "maxNesting": 40}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"])


def _highlight(code: str, language: str, _attributes: str) -> str:
    return highlight(code, language) if language else ""
