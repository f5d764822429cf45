"""Reads marks in bulk: CSV with the columns query_id, doc_id, kind, grade, explanation.

Refuses what a single mark would be refused for: a kind that is neither training nor gold, a grade that is not 0-3, a
training pair without an explanation; another column, and a pair that stands in the file twice. Every bad line is noted.
"""

from dataclasses import dataclass

from annotator.domain.errors import Problems, ValidationError
from annotator.domain.messages import say
from annotator.domain.texts import Fault, check_text, find_fault
from annotator.formats.pair_table import read_grade, read_pair_table, take_pair
from annotator.formats.tables import Row
from annotator.labeling.domain_calibration import KINDS

COLUMNS = ("query_id", "doc_id", "kind", "grade", "explanation")
UNEXPLAINED = Fault(
    "some words for a training pair", "nothing", say("expected some words for a training pair, found nothing")
)


@dataclass(frozen=True, slots=True)
class MarkLine:
    """One line: `line` is where it begins in its file, counted from 1."""

    line: int
    query_id: str
    doc_id: str
    kind: str
    grade: int
    explanation: str


def check_mark(kind: str, explanation: str) -> str:
    """The explanation without the white space around it. ValidationError for it, or for the kind."""
    if kind not in KINDS:
        raise ValidationError(f"kind: expected one of {', '.join(KINDS)}, found {kind!r}")
    return check_text(say("explanation"), explanation, empty=_say_empty(kind))


def read_marks(data: bytes, path: str, problems: Problems) -> list[MarkLine]:
    """The good marks of a CSV file's bytes; bad lines are noted in `problems`. BadInput at once when the file has not
    the right columns."""
    return read_pair_table(data, path, problems, _read_row, columns=COLUMNS)


def _read_row(row: Row, problems: Problems) -> MarkLine | None:
    noted = len(problems.found)
    pair, kind = take_pair(row, problems), row.cells.get("kind", "").strip()
    if kind not in KINDS:
        problems.add(row.line, f"a kind {' or '.join(KINDS)}", repr(row.cells.get("kind", "")))
    grade, explanation = read_grade(row, problems), row.cells.get("explanation", "")
    fault = find_fault(explanation, empty=_say_empty(kind))
    if fault is not None:
        problems.add(row.line, f"an explanation of {fault.expected}", fault.found)
    if pair is None or grade is None or len(problems.found) > noted:
        return None
    return MarkLine(row.line, *pair, kind, grade, explanation.strip())


def _say_empty(kind: str) -> Fault | None:
    """Only training needs an explanation."""
    return UNEXPLAINED if kind == "training" else None
