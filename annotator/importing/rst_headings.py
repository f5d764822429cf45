"""Finds the headings of a reStructuredText page: titles with an underline, or with over- and underline.

Source: docutils' reStructuredText specification, "Sections". Levels are given by the order in which styles of
adornment appear. Tolerant where real files are: an underline may be too long, or (from four characters) up to
a third too short; a full-width character counts as two. Code and other literal blocks are indented and so never hold a heading.
Labels (`.. _name:`) just before a heading belong to its section.
"""

import re
import unicodedata
from collections.abc import Sequence

from annotator.importing.headings import MOST_TITLE_CHARACTERS, Heading, Line, split_lines

_ADORNMENT = re.compile(r"(?!(?:::|\.\.)\s*$)([!-/:-@\[-`{-~])\1+\s*")
_LABEL = re.compile(r"\.\. _(?:`[^`]+`|[^:]+):\s*")
_EXPLICIT = re.compile(r"\.\.(?:\s|$)")
_BORDER = re.compile(r"\s*=+(?:\s+=+)+\s*")
_CONTENTS = re.compile(r"^\.\. contents::.*\n?(?:^[ \t]+.*\n?|^[ \t]*\n)*", re.MULTILINE)
_ROLE = re.compile(r":[\w:.+-]+:`([^`<]*?)\s*(?:<[^>]*>)?`")
_LINK = re.compile(r"`([^`<]+?)\s*<[^>]*>`__?")


def find_rst_headings(text: str) -> list[Heading]:
    """The headings of a page in order."""
    lines = split_lines(text)
    tables = _find_tables(lines)
    styles: list[tuple[str, bool]] = []
    headings: list[Heading] = []
    index, last = 0, 0
    while index < len(lines):
        found = None if index in tables else _match(lines, index)
        if found is None:
            index += 1
            continue
        title, under, style = found
        if style not in styles:
            styles.append(style)
        start = _find_start(lines, index, last)
        headings.append(Heading(lines[start].start, lines[under].end, styles.index(style) + 1, _plain(title)))
        index = last = under + 1
    return headings


def has_own_text(body: str) -> bool:
    """Whether anything but a table of contents stands in what is under a heading."""
    return bool(_CONTENTS.sub("", body).strip())


def _find_tables(lines: Sequence[Line]) -> set[int]:
    """The indexes of the lines of simple tables, whose rows can look like titles. A table ends with the border
    that has a blank line after it."""
    inside: set[int] = set()
    start: int | None = None
    for index, line in enumerate(lines):
        if _BORDER.fullmatch(line.text) and start is None:
            start = index
        elif start is not None and _BORDER.fullmatch(line.text) and _is_blank(lines, index + 1):
            inside.update(range(start, index + 1))
            start = None
    return inside


def _is_blank(lines: Sequence[Line], index: int) -> bool:
    return index >= len(lines) or not lines[index].text.strip()


def _match(lines: Sequence[Line], index: int) -> tuple[str, int, tuple[str, bool]] | None:
    """(title, index of the underline, style) when a heading begins on this line."""
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


def _adornment(lines: Sequence[Line], index: int) -> str | None:
    """The line without white space at its end, when it is a run of one punctuation character."""
    if index >= len(lines) or not _ADORNMENT.fullmatch(lines[index].text):
        return None
    return lines[index].text.rstrip()


def _fits(title: str, adornment: str) -> bool:
    """Whether the title has letters and the adornment is about as wide as it is."""
    if not any(character.isalnum() for character in title) or _EXPLICIT.match(title):
        return False
    width = _width(title.strip())
    return len(adornment) >= width or len(adornment) >= max(4, width * 2 / 3)


def _begins_block(lines: Sequence[Line], index: int) -> bool:
    """Whether the line before ends something: it is blank, a label, an underline, or there is none."""
    if index == 0:
        return True
    before = lines[index - 1].text
    return not before.strip() or bool(_EXPLICIT.match(before)) or _adornment(lines, index - 1) is not None


def _find_start(lines: Sequence[Line], index: int, last: int) -> int:
    """Where the section begins: at the first of the labels that stand just before its heading."""
    start = index
    for before in range(index - 1, last - 1, -1):
        if _LABEL.fullmatch(lines[before].text):
            start = before
        elif lines[before].text.strip():
            break
    return start


def _width(text: str) -> int:
    """Columns in a terminal: full-width characters take two, combining marks none."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def _plain(title: str) -> str:
    """A title without roles, link targets, double backticks and emphasis around all of it."""
    title = _LINK.sub(r"\1", _ROLE.sub(r"\1", title[:MOST_TITLE_CHARACTERS].strip())).replace("``", "")
    for mark in ("**", "*", "`"):
        if title.startswith(mark) and title.endswith(mark) and len(title) > 2 * len(mark):
            title = title[len(mark) : -len(mark)]
    return title.replace("`", "").strip()
