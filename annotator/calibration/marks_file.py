"""Reads marks in bulk: CSV with the columns query_id, doc_id, kind, grade, explanation.

Refuses what a single mark would be refused for: a kind that is neither training nor gold, a grade that is not 0-3, a
training pair without an explanation; another column, and a pair that stands in the file twice. Every bad line is noted.
"""

from dataclasses import dataclass

from annotator.domain.calibration import KINDS
from annotator.domain.errors import Problems, ValidationError
from annotator.domain.grades import GRADES
from annotator.domain.messages import say
from annotator.domain.texts import Fault, check_text, find_fault
from annotator.formats.tables import Row, check_columns, read_rows, take_id

COLUMNS = ("query_id", "doc_id", "kind", "grade", "explanation")
GRADE_TEXTS = frozenset(str(grade) for grade in GRADES)
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
    """The good marks of a CSV file's bytes (UTF-8, a BOM is accepted); bad lines are noted in `problems`.

    BadInput at once when the file has not the right columns.
    """
    table = read_rows(data, path, kind="csv", problems=problems)
    check_columns(table, [(name,) for name in COLUMNS], problems)
    unknown = [name for name in table.columns or () if name not in COLUMNS]
    if unknown:
        problems.add(1, f"no columns but {', '.join(COLUMNS)}", ", ".join(unknown))
    if unknown or not set(COLUMNS) <= set(table.columns or ()):
        problems.raise_if_any()
    found: dict[tuple[str, str], MarkLine] = {}
    for row in table.rows:
        mark = _read_row(row, problems)
        if mark is None:
            continue
        first = found.setdefault((mark.query_id, mark.doc_id), mark)
        if first is not mark:
            problems.add(row.line, "each pair once", f"the pair of line {first.line} again")
    return list(found.values())


def _read_row(row: Row, problems: Problems) -> MarkLine | None:
    noted = len(problems.found)
    query_id, doc_id = (take_id(row, (name,), problems) for name in ("query_id", "doc_id"))
    kind, grade = row.cells.get("kind", "").strip(), row.cells.get("grade", "").strip()
    explanation = row.cells.get("explanation", "")
    if kind not in KINDS:
        problems.add(row.line, f"a kind {' or '.join(KINDS)}", repr(row.cells.get("kind", "")))
    if grade not in GRADE_TEXTS:
        problems.add(row.line, "a grade 0, 1, 2 or 3", repr(row.cells.get("grade", "")))
    fault = find_fault(explanation, empty=_say_empty(kind))
    if fault is not None:
        problems.add(row.line, f"an explanation of {fault.expected}", fault.found)
    if query_id is None or doc_id is None or len(problems.found) > noted:
        return None
    return MarkLine(row.line, query_id, doc_id, kind, int(grade), explanation.strip())


def _say_empty(kind: str) -> Fault | None:
    """Only training needs an explanation."""
    return UNEXPLAINED if kind == "training" else None
