"""Read CSV tables in which a lead says something about pairs, one line per pair: decisions, checks.

Refused, each with its line: an unexpected column, a grade other than 0-3, a repeated pair. Ids are kept
exactly. The caller reads a line's other cells.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from annotator.domain.errors import Problems
from annotator.domain.grades import GRADES
from annotator.domain.messages import say
from annotator.formats.syntax.grade_scale import read_decimal
from annotator.formats.syntax.tables import TableLine, check_columns, read_rows, take_id

_GRADES = {str(grade): grade for grade in GRADES}


class PairTableLine(Protocol):
    """One line; `line` is its first line number in the file, from 1."""

    @property
    def line(self) -> int: ...
    @property
    def query_id(self) -> str: ...
    @property
    def doc_id(self) -> str: ...


Line = TypeVar("Line", bound=PairTableLine)


def read_pair_table(
    data: bytes,
    path: str,
    problems: Problems,
    read_row: Callable[[TableLine, Problems], Line | None],
    *,
    columns: Sequence[str],
    optional: Sequence[str] = (),
) -> list[Line]:
    """Return the good lines of a CSV file (UTF-8, with or without BOM). Bad ones are noted in `problems`.

    BadInput at once if the columns are wrong. `read_row` returns None after noting a problem.
    """
    table = read_rows(data, path, kind="csv", problems=problems)
    check_columns(table, [(name,) for name in columns], problems)
    allowed, present = (*columns, *optional), table.columns or ()
    unknown = [name for name in present if name not in allowed]
    if unknown:
        problems.add(
            1,
            say("no columns but {names}", names=", ".join(allowed)),
            ", ".join(unknown).strip() or "a column without a name",
        )
    if unknown or not set(columns) <= set(present):
        problems.raise_if_any()
    by_pair: dict[tuple[str, str], Line] = {}
    for row in table.rows:
        line = read_row(row, problems)
        if line is None:
            continue
        first = by_pair.setdefault((line.query_id, line.doc_id), line)
        if first is not line:
            problems.add(
                row.line,
                say("each pair once"),
                say("{item} again", item=say("the pair of line {line}", line=first.line)),
            )
    return list(by_pair.values())


def take_pair(row: TableLine, problems: Problems) -> tuple[str, str] | None:
    """Remove and return (query_id, doc_id); None after noting a problem."""
    query_id, doc_id = (take_id(row, (name,), problems) for name in ("query_id", "doc_id"))
    return None if query_id is None or doc_id is None else (query_id, doc_id)


def read_grade(row: TableLine, problems: Problems) -> int | None:
    """Return the grade 0-3; None after noting a problem."""
    cell = row.cells.get("grade", "")
    grade = _GRADES.get(cell.strip())
    grade = read_decimal(cell) if grade is None else grade
    if grade is None:
        problems.add(row.line, say("a grade 0, 1, 2 or 3"), repr(cell))
    return grade
