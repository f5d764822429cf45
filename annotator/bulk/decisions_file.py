"""Reads decisions in bulk: CSV with the columns query_id, doc_id, grade, rationale and, if wanted, reason.

Refuses what a single decision would be refused for: a grade that is not 0-3, a blank rationale; another
column, and a pair that stands in the file twice. Every bad line is noted. Ids are kept exactly as given.
"""

from dataclasses import dataclass

from annotator.domain.errors import Problems
from annotator.domain.texts import NO_WORDS, find_fault
from annotator.formats.pair_table import read_grade, read_pair_table, take_pair
from annotator.formats.tables import Row

COLUMNS = ("query_id", "doc_id", "grade", "rationale")
OPTIONAL = ("reason",)


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
    """The good decisions of a CSV file's bytes; bad lines are noted in `problems`. BadInput at once when the file has
    not the right columns."""
    return read_pair_table(data, path, problems, _read_row, columns=COLUMNS, optional=OPTIONAL)


def _read_row(row: Row, problems: Problems) -> DecisionLine | None:
    noted = len(problems.found)
    pair, grade = take_pair(row, problems), read_grade(row, problems)
    rationale, reason = row.cells.get("rationale", ""), row.cells.get("reason", "").strip() or None
    for name, text in (("rationale", rationale), ("reason", reason)):
        fault = None if text is None else find_fault(text, empty=NO_WORDS)
        if fault is not None:
            problems.add(row.line, f"a {name} of {fault.expected}", fault.found)
    if pair is None or grade is None or len(problems.found) > noted:
        return None
    return DecisionLine(row.line, *pair, grade, rationale.strip(), reason)
