"""Write CSV files that people open in a spreadsheet. The only writer of such files.

UTF-8 with a byte order mark, without which Excel garbles Japanese and Korean; lines end in CR LF. A text that
a spreadsheet would run as a formula, or that begins with an apostrophe, gets an apostrophe in front; removing
one restores every text. Every text is quoted: a spreadsheet that splits at semicolons or tabs makes no new
cell or formula inside it. Numbers stay numbers. Other writers write files for programs (qrels, judgments.csv,
run files) exactly: see docs/files.md.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from numbers import Number

BOM = "\ufeff"
MARK = "'"
ROWS_AT_ONCE = 1_000
# What Excel, LibreOffice, Numbers and Google Sheets take for the beginning of a formula, also as full-width letters.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", MARK)
_KEPT = re.compile(r"[/\\_.#]*[^\W\d]|[1-9][0-9]{0,14}\Z|0\Z")
_MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?"
    "|dec(?:ember)?"
)
_REWRITTEN = re.compile(  # truth values, and dates that begin with a month or with a Japanese era
    rf"(?:true|false|(?:{_MONTHS})[\W_]*\d+(?:\W+\d+)*"
    r"|[mtshr]\d+(?:[./-]\d+)+|(?:明治|大正|昭和|平成|令和).*\d.*)\Z",
    re.IGNORECASE | re.DOTALL,
)


def write_sheet(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield the file, piece by piece.

    A cell is a text, a number, a truth value, a time (written in UTC), a mapping (written as JSON) or None (empty).
    """
    yield BOM + _write_rows([columns])
    left = iter(rows)
    while some := list(islice(left, ROWS_AT_ONCE)):
        yield _write_rows(some)


def mark_cell(text: str) -> str:
    """Return the text marked so that a spreadsheet treats it as text."""
    return MARK + text if text.startswith(_FORMULA) else text


def mark_id(text: str) -> str:
    """Return the id marked so that a spreadsheet keeps it unchanged. For files that are read back.

    Without the mark, numbers, dates, truth values and white space around ids would change.
    """
    plain = _KEPT.match(text) and not _REWRITTEN.match(text) and text == text.strip()
    return text if plain and mark_cell(text) == text else MARK + text


def unmark(text: str) -> str:
    """Return the cell as it was before `mark_cell` or `mark_id`."""
    return text.removeprefix(MARK)


def write_time(moment: datetime) -> str:
    """Return a time in UTC, in the form of all files."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


class MarkedId(str):
    """An id that `mark_id` has marked; written unchanged."""

    __slots__ = ()


def _write_rows(rows: Iterable[Sequence[object]]) -> str:
    made = io.StringIO()
    quoted = csv.writer(made, lineterminator="\r\n", quoting=csv.QUOTE_NONNUMERIC)
    quoted.writerows([[_write_cell(cell) for cell in row] for row in rows])
    return made.getvalue()


def _write_cell(cell: object) -> object:
    if cell is None:
        return ""
    if isinstance(cell, MarkedId):
        return cell
    if isinstance(cell, bool):
        return "true" if cell else ""
    if isinstance(cell, Number):
        return cell
    if isinstance(cell, datetime):
        return write_time(cell)
    if isinstance(cell, Mapping):
        return mark_cell(json.dumps(cell, ensure_ascii=False))
    return mark_cell(str(cell))
