"""Reads decisions in bulk: CSV with the columns query_id, doc_id, grade, rationale and, if wanted, reason; or the file of the
queue as it was exported for a meeting, filled in.

Refuses what a single decision would be refused for: a grade that is neither 0-3 nor "unrateable", a blank rationale; another
column, and a pair that stands in the file twice. Every bad line is noted. Ids are kept exactly as given. In an exported file, which
is known by its column `seen`, the columns for reading are passed over, and a row without grade, rationale and reason
was not decided.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from annotator.adjudication.bulk_files import COLUMNS as EXPORTED
from annotator.adjudication.bulk_files import read_seen
from annotator.adjudication.decisions import CAUSES
from annotator.domain.errors import Problems
from annotator.domain.settling import Decided
from annotator.domain.texts import NO_WORDS, find_fault
from annotator.formats.pair_table import read_pair_table, take_pair
from annotator.formats.spreadsheet import unmark
from annotator.formats.tables import Row
from annotator.formats.text import read_text

COLUMNS = ("query_id", "doc_id", "grade", "rationale")
OPTIONAL = tuple(name for name in EXPORTED if name not in COLUMNS)
_DECIDED: dict[str, Decided] = {"0": 0, "1": 1, "2": 2, "3": 3, "unrateable": "unrateable"}


@dataclass(frozen=True, slots=True)
class DecisionLine:
    """One line: `line` is where it begins in its file, counted from 1. `decided`: None where an exported row was left open.
    `cause`: one of CAUSES; `reason`: other words. `pair`, `seen`: what an exported row was made of, None in another file."""

    line: int
    query_id: str
    doc_id: str
    decided: Decided | None
    rationale: str
    reason: str | None
    cause: str | None = None
    pair: str | None = None
    seen: str | None = None

    @property
    def named(self) -> str:
        """The pair as messages name it."""
        return f"{self.query_id} {self.doc_id}"


def read_decisions(data: bytes, path: str, problems: Problems) -> list[DecisionLine]:
    """The good lines of a CSV file's bytes; bad ones are noted in `problems`. BadInput at once when the file has
    not the right columns."""
    read_row = partial(_read_row, exported=_is_exported(data, path))
    return read_pair_table(data, path, problems, read_row, columns=COLUMNS, optional=OPTIONAL)


def check_origin(
    lines: Sequence[DecisionLine], pairs: dict[tuple[str, str], str], dataset: str, problems: Problems
) -> None:
    """Note rows whose `seen` belongs to another pair than their ids name, and a file of which that holds altogether.
    `pairs`: the dataset's pairs of these names, by query_id and doc_id."""
    exported = [line for line in lines if line.seen is not None]
    foreign = [line for line in exported if pairs.get((line.query_id, line.doc_id)) != line.pair]
    if exported and len(foreign) == len(exported):
        problems.add(1, f"an export of the queue of {dataset}", "one of another dataset, or with other ids")
        return
    for line in foreign:
        if line.decided is not None:
            problems.add(
                line.line, "the ids and `seen` as they were exported", f"{line.named} beside another pair's"
            )


def _is_exported(data: bytes, path: str) -> bool:
    head = read_text(data, path).partition("\n")[0]
    return "seen" in [name.strip().strip('"') for name in head.split(",")]


def _read_row(row: Row, problems: Problems, *, exported: bool) -> DecisionLine | None:
    noted = len(problems.found)
    if exported:
        row.cells.update((name, unmark(row.cells[name])) for name in COLUMNS[:2] if name in row.cells)
    names = take_pair(row, problems)
    given, rationale = row.cells.get("grade", "").strip(), row.cells.get("rationale", "").strip()
    reason = row.cells.get("reason", "").strip() or None
    left_open = exported and not given and not rationale and not reason
    decided = _DECIDED.get(given)
    if not left_open:
        if decided is None:
            problems.add(row.line, "a grade 0, 1, 2, 3 or unrateable", repr(row.cells.get("grade", "")))
        for name, text in (("rationale", rationale), ("reason", reason)):
            fault = None if text is None else find_fault(text, empty=NO_WORDS)
            if fault is not None:
                problems.add(row.line, f"a {name} of {fault.expected}", fault.found)
    pair, seen = read_seen(row.cells.get("seen", "")) if exported else (None, None)
    if exported and not left_open and not seen:
        problems.add(row.line, "`seen` as it was exported", repr(row.cells.get("seen", "")))
    if names is None or len(problems.found) > noted:
        return None
    cause = reason if reason in CAUSES else None
    return DecisionLine(row.line, *names, decided, rationale, None if cause else reason, cause, pair, seen)
