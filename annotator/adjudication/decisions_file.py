"""Reads decisions in bulk: CSV with the columns query_id, doc_id, grade, rationale and, if wanted, reason.

Refuses what a single decision would be refused for: a grade that is not 0-3, a blank rationale; another
column, and a pair that stands in the file twice. Every bad line is noted. Ids are kept exactly as given.
"""

from dataclasses import dataclass

from annotator.domain.errors import Problems
from annotator.domain.grades import GRADES
from annotator.domain.texts import NO_WORDS, find_fault
from annotator.formats.tables import Row, check_columns, read_rows, take_id

COLUMNS = ("query_id", "doc_id", "grade", "rationale")
OPTIONAL = ("reason",)
GRADE_TEXTS = frozenset(str(grade) for grade in GRADES)


@dataclass(frozen=True, slots=True)
class DecisionLine:
    """One line: `line` is where it begins in its file, counted from 1."""

    line: int
    query_id: str
    doc_id: str
    grade: int
    rationale: str
    reason: str | None


def read_decisions(data: bytes, path: str, problems: Problems) -> list[DecisionLine]:
    """The good decisions of a CSV file's bytes (UTF-8, a BOM is accepted); bad lines are noted in `problems`.

    BadInput at once when the file has not the right columns.
    """
    table = read_rows(data, path, kind="csv", problems=problems)
    check_columns(table, [(name,) for name in COLUMNS], problems)
    unknown = [name for name in table.columns or () if name not in COLUMNS + OPTIONAL]
    if unknown:
        problems.add(1, f"no columns but {', '.join(COLUMNS + OPTIONAL)}", ", ".join(unknown))
    if unknown or not set(COLUMNS) <= set(table.columns or ()):
        problems.raise_if_any()
    found: dict[tuple[str, str], DecisionLine] = {}
    for row in table.rows:
        decision = _read_row(row, problems)
        if decision is None:
            continue
        first = found.setdefault((decision.query_id, decision.doc_id), decision)
        if first is not decision:
            problems.add(row.line, "each pair once", f"the pair of line {first.line} again")
    return list(found.values())


def _read_row(row: Row, problems: Problems) -> DecisionLine | None:
    noted = len(problems.found)
    query_id, doc_id = (take_id(row, (name,), problems) for name in ("query_id", "doc_id"))
    grade = row.cells.get("grade", "").strip()
    if grade not in GRADE_TEXTS:
        problems.add(row.line, "a grade 0, 1, 2 or 3", repr(row.cells.get("grade", "")))
    rationale, reason = row.cells.get("rationale", ""), row.cells.get("reason", "").strip() or None
    for name, text in (("rationale", rationale), ("reason", reason)):
        fault = None if text is None else find_fault(text, empty=NO_WORDS)
        if fault is not None:
            problems.add(row.line, f"a {name} of {fault.expected}", fault.found)
    if query_id is None or doc_id is None or len(problems.found) > noted:
        return None
    return DecisionLine(row.line, query_id, doc_id, int(grade), rationale.strip(), reason)
