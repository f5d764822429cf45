"""Show text that people wrote, plain or as Markdown, without any effect on the page's markup.

`st.html` gets documents, queries and notes escaped. Labels and captions of widgets are Markdown, so all
special characters are escaped. Guidelines and datasheets are plain CommonMark with tables, because
Streamlit's Markdown gives `$`, `:red[` and `->` a meaning. Their HTML is shown as text, headings are below
the page's own levels, and images are replaced by their alternative texts: nothing is fetched.
"""

import re
from collections.abc import Callable
from functools import cache
from html import escape
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


_INSIDE_A_WORD = (
    r"(?<=[^\W_])_(?=[^\W_])"  # means nothing there, and a screen reader would read its backslash
)
_PUNCTUATION = re.compile(rf"(?!{_INSIDE_A_WORD})([!-/:-@\[-`{{-~])")


def escape_markdown(text: str) -> str:
    """Return the text escaped for a widget's label or caption, on one line."""
    return _PUNCTUATION.sub(r"\\\1", " ".join(text.split()))


def show_as(name: str, text: str, *, tag: str = "p") -> str:
    """Return HTML: the escaped text in an element of the class `annotator-<name>`, in its own direction."""
    return f'<{tag} class="annotator-{name}" dir="auto">{escape(text)}</{tag}>'


MOST = 16  # of one of many names in a chart
LONGEST_TITLE, LONGEST_PATH = 60, 24
JOINER = "\u2060"  # no line ends behind the dots


def count_letters(name: str) -> int:
    """Return the width of a name in narrow letters. Wide letters count twice."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in name)


def shorten(name: str, most: int = MOST) -> str:
    """Return the name; a name wider than `most` narrow letters ends in "…". Wide letters count twice."""
    used, kept = 0, ""
    for letter in name:
        used += 2 if east_asian_width(letter) in "WF" else 1
        if used > most:
            return kept.rstrip() + "…"
        kept += letter
    return name


def name_document(doc_id: str, title: str) -> list[str]:
    """Return the lines that name a document in a list: its title, then the end of its id.

    The end is what differs between paths. An id that is no path, or has no title, stays whole.
    """
    words = " ".join(title.split())
    if words in ("", doc_id):
        return [doc_id]
    is_long_path = "/" in doc_id and count_letters(doc_id) > LONGEST_PATH
    end = f"…{JOINER}{shorten(doc_id[::-1], LONGEST_PATH)[-2::-1]}" if is_long_path else doc_id
    return [shorten(words, LONGEST_TITLE), end]


LOWER = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h6", "h5": "h6"}


def render_guideline(text: str) -> str:
    """Return a guideline as HTML. Links open in a new tab, so an annotator does not leave the current pair."""
    return render_markdown(text, _keep_links)


def render_markdown(text: str, mend: "Callable[[Token], None]") -> str:
    """Return the Markdown as HTML. `mend` may first change each inline token, such as a link or an image."""
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
