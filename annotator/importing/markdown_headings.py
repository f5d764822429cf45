"""Finds the headings of a Markdown page: ATX (`## Title`) and setext (underlined), not inside code or HTML blocks.

Source: CommonMark 0.31, sections 4.2, 4.3, 4.5, 4.6. Narrower in one place: a setext underline makes a heading
of a one-line paragraph only, since `---` under a longer one is mostly meant as a rule.
"""

import re
from collections.abc import Sequence

from annotator.importing.headings import MOST_TITLE_CHARACTERS, Heading, Line, split_lines

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*")
_FENCE = re.compile(r"[ \t>]*(?:[-*+][ \t]+|\d+[.)][ \t]+)?(`{3,}(?=[^`]*$)|~{3,})")
_NO_PARAGRAPH = re.compile(r" {4}|\t| {0,3}(?:[>|]|[-*+](?:[ \t]|$)|\d+[.)][ \t]|<)|\s*$")
_HTML_OPEN = re.compile(r" {0,3}<(?:(!--)|(pre|script|style|textarea)(?=[\s>]|$))", re.IGNORECASE)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def find_markdown_headings(text: str) -> list[Heading]:
    """The headings of a page in order."""
    lines = split_lines(text)
    code = _find_blocks(lines)
    headings: list[Heading] = []
    for index, line in enumerate(lines):
        if index in code:
            continue
        atx = _match_atx(line.text)
        if atx:
            title = _plain(atx.group(2) or "")
            headings.append(Heading(line.start, line.end, len(atx.group(1)), title))
        elif (found := _SETEXT.fullmatch(line.text)) and _is_title(lines, index - 1, code):
            before = lines[index - 1]
            level = 1 if found.group(1)[0] == "=" else 2
            headings.append(Heading(before.start, line.end, level, _plain(before.text)))
    return headings


def _match_atx(line: str) -> re.Match[str] | None:
    return _ATX.fullmatch(line[:MOST_TITLE_CHARACTERS])


def _is_title(lines: Sequence[Line], index: int, code: set[int]) -> bool:
    """Whether this line is a paragraph of its own, which the underline below makes a heading."""
    if index < 0 or index in code or _NO_PARAGRAPH.match(lines[index].text) or _match_atx(lines[index].text):
        return False
    if index == 0 or index - 1 in code:
        return True
    before = lines[index - 1].text
    return not before.strip() or bool(_match_atx(before)) or bool(_SETEXT.fullmatch(before))


def _find_blocks(lines: Sequence[Line]) -> set[int]:
    """The indexes of the lines inside fenced code, HTML comments, <pre>, <script>, <style>, <textarea>."""
    inside: set[int] = set()
    index = 0
    while index < len(lines):
        end = _find_end(lines, index)
        inside.update(range(index, end))
        index = max(end, index + 1)
    return inside


def _find_end(lines: Sequence[Line], index: int) -> int:
    """The index after the block that opens on this line; the index itself when none opens."""
    fence = _FENCE.match(lines[index].text)
    if fence:
        closing = re.compile(rf"[ \t>]*{re.escape(fence.group(1))}{re.escape(fence.group(1)[0])}*[ \t]*")
        for later in range(index + 1, len(lines)):
            if closing.fullmatch(lines[later].text):
                return later + 1
        return len(lines)
    html = _HTML_OPEN.match(lines[index].text)
    if html is None:
        return index
    ending = "-->" if html.group(1) else f"</{html.group(2).lower()}>"
    for later in range(index, len(lines)):
        if ending in lines[later].text.lower():
            return later + 1
    return len(lines)


def _plain(title: str) -> str:
    """A title without the marks of links, code and emphasis around all of it, and without escapes."""
    title = _LINK.sub(r"\1", title[:MOST_TITLE_CHARACTERS].strip()).replace("`", "")
    for mark in ("**", "__", "*", "_"):
        if title.startswith(mark) and title.endswith(mark) and len(title) > 2 * len(mark):
            title = title[len(mark) : -len(mark)]
    return _ESCAPED.sub(r"\1", title).strip()
