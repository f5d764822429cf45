"""Split a Markdown, reStructuredText or HTML page at its headings into documents.

A section has the id `path#heading-slug`, and the headings above it as its title. The sections together are
the page's text; only Markdown's YAML front matter is removed and becomes metadata. A heading without text
under it is only part of titles. HTML: h1-h6 outside comments, <script>, <style> and <template>. Markdown: the
headings of markdown-it, but a setext underline needs a one-line paragraph. reStructuredText: docutils'
"Sections"; accepts underlines that are too long or (from four characters) up to a third too short, counts
full-width characters as two, keeps labels with their section.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from annotator.domain.errors import BadInput
from annotator.domain.ground_truth import Document
from annotator.formats.syntax.yaml_text import load_yaml, resolve

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

# Of a longer title only so many characters are kept: all parts below repeat it, and the patterns that clean it take time
# with its length squared.
MOST_TITLE_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a page."""

    start: int
    """Offset in the page's text where its section begins. Labels before the heading belong to the section."""
    body: int
    """Offset where the text under the heading begins."""
    level: int
    """From 1, the outermost."""
    title: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    """What the section's document is told beside the page's metadata, such as the number of a printed page."""


@dataclass(frozen=True, slots=True)
class PageLine:
    """One line of a page: its offset, the offset of the next line, and its text without the line end."""

    start: int
    end: int
    text: str


def split_lines(text: str) -> list[PageLine]:
    """Return the lines of a text, ended by LF or CRLF and nothing else."""
    lines, start = [], 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        lines.append(PageLine(start, end, text[start:end].rstrip("\r\n")))
        start = end
    return lines


_LEVELS = {f"h{level}": level for level in range(1, 7)}


def find_html_headings(text: str) -> tuple[list[Heading], str]:
    """Return the headings in order, and the content of <title> ("" without one).

    A comment or tag without an end reaches to the end of the page, as in browsers. `close()` would read such
    a page again from each character "<", which takes quadratic time.
    """
    finder = _Finder(text)
    finder.feed(text)
    return finder.headings, " ".join("".join(finder.title).split())


class _Finder(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.headings: list[Heading] = []
        self.title: list[str] = []
        self.text = text
        self.line_starts = [0]
        for index, character in enumerate(text):
            if character == "\n":
                self.line_starts.append(index + 1)
        self.open: tuple[int, int] | None = None  # (offset, level)
        self.words: list[str] = []
        self.in_title = False
        self.templates = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "template":
            self.templates += 1
        if tag == "title" and not self.title:
            self.in_title = True
        if tag in _LEVELS and not self.templates:
            self._finish(self._offset())
            self.open, self.words = (self._offset(), _LEVELS[tag]), []

    def handle_endtag(self, tag: str) -> None:
        if tag == "template":
            self.templates = max(0, self.templates - 1)
        if tag == "title":
            self.in_title = False
        if tag in _LEVELS and self.open is not None:
            self._finish(self._end_of_tag())

    def handle_data(self, data: str) -> None:
        if self.in_title:
            self.title.append(data)
        if self.open is not None:
            self.words.append(data)

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """Read `<![…` as browsers do: a comment up to the next ">". The base class fails at unknown words."""
        return self.parse_bogus_comment(i, report)

    def _finish(self, body: int) -> None:
        if self.open is not None:
            start, level = self.open
            self.headings.append(Heading(start, body, level, " ".join("".join(self.words).split())))
        self.open = None

    def _offset(self) -> int:
        line, column = self.getpos()
        return self.line_starts[line - 1] + column

    def _end_of_tag(self) -> int:
        return self.text.find(">", self._offset()) + 1 or len(self.text)


_LONE_CR = re.compile(r"\r(?!\n)")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def find_markdown_headings(text: str) -> list[Heading]:
    """Return the headings of a page in order. Leaves out headings inside lists and quotes."""
    lines = split_lines(text)
    # Here only LF ends a line; the parser ends one at a lone CR too, and would count other lines than `split_lines`.
    tokens = _make_parser().parse(_LONE_CR.sub(" ", text))
    headings: list[Heading] = []
    for opening, inline in pairwise(tokens):
        if opening.type != "heading_open" or opening.level or opening.map is None:
            continue
        first, end = opening.map
        if opening.markup in ("=", "-") and end - first > 2:  # more often a rule below a text than a title
            continue
        level = int(opening.tag.removeprefix("h"))
        headings.append(Heading(lines[first].start, lines[end - 1].end, level, _plain(inline.content)))
    return headings


@cache
def _make_parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table").disable(["inline", "reference"])


def _plain(title: str) -> str:
    """Return a title without escapes, and without marks of links, code and emphasis around all of it."""
    title = _LINK.sub(r"\1", title[:MOST_TITLE_CHARACTERS].strip()).replace("`", "")
    return _ESCAPED.sub(r"\1", _take_off_marks(title, ("**", "__", "*", "_"))).strip()


def _take_off_marks(title: str, marks: Sequence[str]) -> str:
    """Return a title without each of these marks that is around all of it."""
    for mark in marks:
        if title.startswith(mark) and title.endswith(mark) and len(title) > 2 * len(mark):
            title = title[len(mark) : -len(mark)]
    return title


_ADORNMENT = re.compile(r"(?!(?:::|\.\.)\s*$)([!-/:-@\[-`{-~])\1+\s*")
_LABEL = re.compile(r"\.\. _(?:`[^`]+`|[^:]+):\s*")
_EXPLICIT = re.compile(r"\.\.(?:\s|$)")
_BORDER = re.compile(r"\s*=+(?:\s+=+)+\s*")
_CONTENTS = re.compile(r"^\.\. contents::.*\n?(?:^[ \t]+.*\n?|^[ \t]*\n)*", re.MULTILINE)
_ROLE = re.compile(r":[\w:.+-]+:`([^`<]*?)\s*(?:<[^>]*>)?`")
_RST_LINK = re.compile(r"`([^`<]+?)\s*<[^>]*>`__?")


def find_rst_headings(text: str) -> list[Heading]:
    """Return the headings of a page in order."""
    lines = split_lines(text)
    tables = _find_tables(lines)
    styles: list[tuple[str, bool]] = []
    headings: list[Heading] = []
    index, last = 0, 0
    while index < len(lines):
        match = None if index in tables else _match(lines, index)
        if match is None:
            index += 1
            continue
        title, under, style = match
        if style not in styles:
            styles.append(style)
        start = _find_start(lines, index, last)
        headings.append(
            Heading(lines[start].start, lines[under].end, styles.index(style) + 1, _read_plain_rst(title))
        )
        index = last = under + 1
    return headings


def has_own_text(body: str) -> bool:
    """Check whether the text under a heading has more than a table of contents."""
    return bool(_CONTENTS.sub("", body).strip())


def _find_tables(lines: Sequence[PageLine]) -> set[int]:
    """Return the line indexes of simple tables, which end with the border before a blank line."""
    inside: set[int] = set()
    start: int | None = None
    for index, line in enumerate(lines):
        if _BORDER.fullmatch(line.text) and start is None:
            start = index
        elif start is not None and _BORDER.fullmatch(line.text) and _is_blank(lines, index + 1):
            inside.update(range(start, index + 1))
            start = None
    return inside


def _is_blank(lines: Sequence[PageLine], index: int) -> bool:
    return index >= len(lines) or not lines[index].text.strip()


def _match(lines: Sequence[PageLine], index: int) -> tuple[str, int, tuple[str, bool]] | None:
    """Return (title, index of the underline, style) if a heading begins on this line."""
    over = _adornment(lines, index)
    if over is not None:
        under = _adornment(lines, index + 2)
        if under is None or under[0] != over[0] or abs(len(under) - len(over)) > 2:
            return None
        title = lines[index + 1].text
        return (title, index + 2, (over[0], True)) if _fits(title, over) else None
    under = _adornment(lines, index + 1)
    title = lines[index].text
    if under is None or title[:1].isspace() or not _begins_block(lines, index) or not _fits(title, under):
        return None
    return title, index + 1, (under[0], False)


def _adornment(lines: Sequence[PageLine], index: int) -> str | None:
    """Return the line, trimmed at its end, if it repeats one punctuation character."""
    if index >= len(lines) or not _ADORNMENT.fullmatch(lines[index].text):
        return None
    return lines[index].text.rstrip()


def _fits(title: str, adornment: str) -> bool:
    """Check that the title has letters and about the width of the adornment."""
    if not any(character.isalnum() for character in title) or _EXPLICIT.match(title):
        return False
    width = _width(title.strip())
    return len(adornment) >= width or len(adornment) >= max(4, width * 2 / 3)


def _begins_block(lines: Sequence[PageLine], index: int) -> bool:
    """Check that the previous line allows a new block: it is blank, a label, an underline, or absent."""
    if index == 0:
        return True
    before = lines[index - 1].text
    return not before.strip() or bool(_EXPLICIT.match(before)) or _adornment(lines, index - 1) is not None


def _find_start(lines: Sequence[PageLine], index: int, last: int) -> int:
    """Return the start of the section: the first of the labels directly before its heading."""
    start = index
    for before in range(index - 1, last - 1, -1):
        if _LABEL.fullmatch(lines[before].text):
            start = before
        elif lines[before].text.strip():
            break
    return start


def _width(text: str) -> int:
    """Return the width in a terminal: full-width characters take two columns, combining marks none."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def _read_plain_rst(title: str) -> str:
    """Return a title without roles, link targets, double backticks and emphasis around all of it."""
    title = _RST_LINK.sub(r"\1", _ROLE.sub(r"\1", title[:MOST_TITLE_CHARACTERS].strip())).replace("``", "")
    return _take_off_marks(title, ("**", "*", "`")).replace("`", "").strip()


BETWEEN = " › "
TITLE_KEYS = ("title", "제목", "タイトル")
LONGEST_SLUG = 200
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(.*?\n)?(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SectionedPage:
    """A file as one document, and its headings as offsets in the document's text."""

    document: Document
    headings: tuple[Heading, ...]


def read_page(doc_id: str, text: str, media_type: str) -> SectionedPage:
    """Return the page of a file's text. Its title: stated in the file, else its first heading, else its name."""
    title = ""
    metadata: dict[str, Any] = {}
    headings: list[Heading] = []
    if media_type == "text/markdown":
        metadata, text = _cut_front_matter(text)
        title = next((metadata[key] for key in TITLE_KEYS if isinstance(metadata.get(key), str)), "").strip()
        headings = find_markdown_headings(text)
    elif media_type == "text/x-rst":
        headings = find_rst_headings(text)
    elif media_type == "text/html":
        headings, title = find_html_headings(text)
    title = title or next((heading.title for heading in headings if heading.title), "")
    title = title or PurePosixPath(doc_id).name
    document = Document(doc_id, cut_title(title), text, None, media_type, metadata)
    return SectionedPage(document, tuple(headings))


def split_sections(page: SectionedPage) -> list[Document]:
    """Return the text before the first heading under the page's own id, and a document for each heading."""
    document, headings = page.document, page.headings
    sections: list[Document] = []
    before = document.text[: headings[0].start] if headings else document.text
    if before.strip():
        sections.append(replace(document, text=before))
    slugs: dict[str, int] = {}
    above: list[Heading] = []
    for index, heading in enumerate(headings):
        end = headings[index + 1].start if index + 1 < len(headings) else len(document.text)
        slug = _make_slug(heading.title, slugs)
        above = [*(outer for outer in above if outer.level < heading.level), heading]
        body = document.text[heading.body : end]
        if has_own_text(body) if document.media_type == "text/x-rst" else body.strip():
            title = _path_of(document.title, above)
            text = document.text[heading.start : end]
            section = replace(document, doc_id=f"{document.doc_id}#{slug}", title=title, text=text)
            metadata = {**document.metadata, **heading.fields}
            sections.append(replace(section, metadata=metadata) if heading.fields else section)
    return sections


def _path_of(title: str, above: list[Heading]) -> str:
    names = [cut_title(heading.title) for heading in above if heading.title]
    return cut_title(BETWEEN.join(names if names[:1] == [title] else [title, *names]))


def cut_title(title: str) -> str:
    """Return a title that every part of a page can repeat."""
    return title if len(title) <= MOST_TITLE_CHARACTERS else f"{title[: MOST_TITLE_CHARACTERS - 1]}…"


def _make_slug(title: str, taken: dict[str, int]) -> str:
    """Return letters and digits in lower case, "-" for the rest, with -2, -3 … if in `taken` ({slug: number})."""
    kept = "".join(character if _is_kept(character) else "-" for character in title.lower())
    slug = re.sub("-+", "-", kept).strip("-")[:LONGEST_SLUG].rstrip("-") or "section"
    unique, number = slug, taken.get(slug, 1)
    while unique in taken:
        number += 1
        unique = f"{slug}-{number}"
    taken[slug] = number
    taken.setdefault(unique, 1)
    return unique


def _is_kept(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character).startswith("M")


def _cut_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Return the front matter and the text after it; no front matter if it is not a YAML mapping."""
    front_matter = _FRONT_MATTER.match(text)
    if front_matter is None:
        return {}, text
    try:
        tree = load_yaml((front_matter.group(1) or "").encode("utf-8"), "front matter")
    except BadInput:
        return {}, text
    content = None if tree.faults else tree.value
    return (resolve(content), text[front_matter.end() :]) if isinstance(content, dict) else ({}, text)
