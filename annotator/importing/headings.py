"""A heading of a page, as the finders for Markdown, reStructuredText and HTML report it."""

from collections.abc import Iterator
from dataclasses import dataclass

# Of a longer title only so many characters are read: the patterns that clean a title take time with its length squared.
MOST_TITLE_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class Heading:
    """`start` and `body` are offsets into the page's text: where its section begins (labels before the heading
    belong to it) and where what stands under it begins. `level` counts from 1, the outermost."""

    start: int
    body: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a page: its offset, where the next one begins, and its text without the line end."""

    start: int
    end: int
    text: str


def split_lines(text: str) -> list[Line]:
    """The lines of a text, ended by LF or CRLF and nothing else."""
    return list(_lines(text))


def _lines(text: str) -> Iterator[Line]:
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield Line(start, end, text[start:end].rstrip("\r\n"))
        start = end
