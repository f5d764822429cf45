"""Read Markdown tables as a reader of the page sees them: by heading, header and first cells.

Ignores what is not rendered as text (fenced code, HTML comments, HTML blocks). A table is a header, a line of dashes
with as many cells, and the rows up to the next empty line or other block. Rules: CommonMark 0.31 and the tables of
GitHub Flavored Markdown, as far as a release writes headings, fences and tables.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

from annotator.formats.syntax.markdown import unescape_markdown

_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_HTML = re.compile(r"(?<!\\)(?:\\\\)*<[A-Za-z/!?]")
_HEADING = re.compile(r" {0,3}#{1,2}[ \t]")
_DASHES = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_BLOCK = re.compile(r" {0,3}(?:#{1,6}[ \t]|>|[-+*][ \t])")
_BETWEEN = re.compile(r"(?<!\\)\|")
_COMMENT, _END_OF_COMMENT = "<!--", "-->"


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row under the header of its table.

    `name`: its first cell as a reader sees it; `cells`: as many as the header has.
    """

    section: str
    header: tuple[str, ...]
    name: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PageContent:
    """The content of a page.

    `lines` as (heading of the section, line), empty where something is not text; `html`: the first line with HTML, None
    without one.
    """

    lines: tuple[tuple[str, str], ...]
    html: str | None

    def join(self, section: str) -> str:
        """Return the text of a section."""
        return "\n".join(line for heading, line in self.lines if heading == section)


def read_shown(text: str) -> PageContent:
    """Return what is rendered as text, line by line."""
    lines: list[tuple[str, str]] = []
    first: str | None = None
    section, fence, until = "", "", None
    for line in re.split(r"\r\n|\r|\n", text):
        opening, tag = _FENCE.match(line), _HTML.search(line)
        shown = ""
        if fence:
            if re.fullmatch(rf" {{0,3}}{fence[0]}{{{len(fence)},}}[ \t]*", line):
                fence = ""
        elif until is not None:
            if until in line if until else not line.strip():
                until = None
        elif opening:
            fence = opening[1]
        elif tag:
            first = first or line
            until = _find_end(line)
            shown = "" if until is not None or _COMMENT in line else line
        else:
            heading = _HEADING.match(line)
            section = _read_heading(line[heading.end() :]) if heading else section
            shown = line
        lines.append((section, shown))
    return PageContent(tuple(lines), first)


def read_rows(shown: PageContent) -> Iterator[TableRow]:
    """Yield the rows of all tables, in their order."""
    header: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    for section, line in shown.lines:
        cells = _split(line)
        if header and line.strip() and not _BLOCK.match(line):
            filled = (*cells, *[""] * len(header))[: len(header)]
            yield TableRow(section, header, filled[0], filled)
            continue
        header = before if _DASHES.fullmatch(line) and "|" in line and len(cells) == len(before) else ()
        before = cells if line.strip() else ()


def read_cell(text: str) -> str:
    """Return a cell as a reader sees it, as far as it was only escaped."""
    return unescape_markdown(html.unescape(text.strip()))


def _find_end(line: str) -> str | None:
    """Return what ends the HTML that begins in this line: "" an empty line; None where it goes no further."""
    if _COMMENT in line:
        return None if _END_OF_COMMENT in line.rpartition(_COMMENT)[2] else _END_OF_COMMENT
    return "" if line.lstrip().startswith("<") else None


def _read_heading(text: str) -> str:
    """Return the words of a heading, without the # that may close it."""
    words, _, last = text.strip().rpartition(" ")
    return words.strip() if last and not last.strip("#") else text.strip()


def _split(line: str) -> tuple[str, ...]:
    inner = line.strip().removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return tuple(read_cell(cell) for cell in _BETWEEN.split(inner))
