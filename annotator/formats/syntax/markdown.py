"""Escape text for Markdown: ids and texts from users never become markup.

For release texts that people read (CHANGES.md, DATASHEET.md). Texts appear only in table cells or after our
own words, so only characters with a meaning within a line are escaped. Control characters, which could
reverse the text direction, are shown by number. Rules: CommonMark 0.31 and the tables of GitHub Flavored
Markdown.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence

_MEANINGFUL = re.compile(r"([\\`*{}\[\]<>#|~&!$@]|(?<![^\W_])_|_(?![^\W_]))")
_LINKING = re.compile(r"(?i)(https?|ftp|www)([:.])")
_BLOCK_START = re.compile(r"^([-+=]|[0-9]+(?=[.)]))")
_COLLAPSING = re.compile(r"(?<= ) |^ | $")
_CONTROLS = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\u2028\u2029"
)
_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})
_ISOLATE, _END = "\u2068", "\u2069"


def escape_markdown(text: str) -> str:
    """Return the text on one line, shown as it is. A text with right-to-left letters is isolated from its surroundings.

    >>> escape_markdown("a|b *c* <d>")
    'a\\\\|b \\\\*c\\\\* \\\\<d\\\\>'
    """
    shown = _COLLAPSING.sub("⟨U+0020⟩", text.replace("\r\n", "\n"))
    shown = "".join(_show(character) for character in shown)
    shown = _MEANINGFUL.sub(r"\\\1", shown)
    shown = _LINKING.sub(r"\1\\\2", shown)
    shown = _BLOCK_START.sub(lambda match: _escape_start(match[1]), shown)
    if any(unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in text):
        return f"{_ISOLATE}{shown}{_END}"
    return shown


def write_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table of Markdown cells. "#" at a column name's end: a column of numbers."""
    names = [column.removesuffix("#").strip() for column in columns]
    marks = ["---:" if column.endswith("#") else "---" for column in columns]
    return [_row(names), f"|{'|'.join(marks)}|", *(_row(row) for row in rows)]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _show(character: str) -> str:
    if character == "\n":
        return "⏎"
    if character in _CONTROLS or unicodedata.category(character) in ("Cc", "Cs"):
        return f"⟨U+{ord(character):04X}⟩"
    return character


def _escape_start(line: str) -> str:
    """Escape a line that begins like a list item or an underline. Digits become character references."""
    return f"\\{line}" if not line[0].isdigit() else f"&#{ord(line[0])};{line[1:]}"
