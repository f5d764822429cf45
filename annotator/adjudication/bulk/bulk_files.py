"""Read and check files of decisions and document orders, and write the queue as CSV for a meeting.

A file of decisions has `query_id,doc_id,grade,rationale[,reason]`, or is an exported queue, filled in. An
export is recognized by its column `seen`; its other columns are ignored, and a row without grade, rationale
and reason is undecided. A file of orders has `query_id,doc_id`, best document first. A grade other than 0-3
or "unrateable", a blank rationale, an unknown column, and a pair that occurs twice are refused; every bad
line is reported. A line of an export is refused if its pair has changed since the export, unless it repeats
the current decision. Ids are kept exactly; an id that a spreadsheet would rewrite (007, 1e5, 3-4) is exported
with an apostrophe. An export names nobody.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple
from urllib.parse import urlencode

from annotator.adjudication.disagreement_view import assign_letters, name_judge
from annotator.adjudication.queue.queue_records import Disagreement, list_words
from annotator.adjudication.records import (
    CAUSES,
    Decision,
    IndependentJudgment,
    digest_seen_state,
    read_revision,
)
from annotator.domain.errors import Problems
from annotator.domain.settling import Decided
from annotator.domain.shuffling import Seed
from annotator.domain.texts import NO_WORDS, find_fault
from annotator.formats.input_tables import read_pair_table, take_pair
from annotator.formats.syntax.spreadsheet import MarkedId, mark_id, unmark, write_sheet
from annotator.formats.syntax.tables import TableLine
from annotator.formats.syntax.text import read_text


class QueueLine(NamedTuple):
    """A row of the exported queue, without the cells to fill in."""

    query_id: str
    doc_id: str
    seen: str
    why: str
    apart: str
    impact: str
    grades: str
    decided: str
    notes: str
    query: str
    title: str
    category: str
    since: str
    link: str


TO_FILL_IN = ("grade", "rationale", "reason")
QUEUE_COLUMNS = (*QueueLine._fields[:2], *TO_FILL_IN, *QueueLine._fields[2:])


def describe_rows(
    rows: Sequence[Disagreement],
    judgments: Mapping[int, Sequence[IndependentJudgment]],
    last_decisions: Mapping[int, Decision],
    *,
    dataset: str,
    seed: Seed,
    base_url: str,
) -> Iterator[QueueLine]:
    """Yield the lines of the exported queue.

    `judgments` (shown to the lead) and `last_decisions`: by pair_pk. `seed`: the dataset's, for the letters.
    """
    for row in rows:
        shown, last = judgments.get(row.pair_pk, ()), last_decisions.get(row.pair_pk)
        seen = digest_seen_state([judgment.event_id for judgment in shown], last.revision if last else 0)
        address = urlencode({"dataset": dataset, "pair": row.pair})
        yield QueueLine(
            query_id=row.query_id,
            doc_id=row.doc_id,
            seen=f"{row.pair}:{seen}",  # see `read_seen`
            why=" ".join(list_words(row.waiting or row.reasons)),
            apart=str(row.distance),
            impact=f"{row.impact:.4f}",
            grades=list_grades(shown),
            decided="" if row.decided is None else str(row.decided),
            notes=list_notes(shown, seed=seed, pair=row.pair),
            query=row.query,
            title=row.title,
            category=row.category or "",
            since=row.since.isoformat(timespec="seconds"),
            link=f"{base_url}/disagreements?{address}",
        )


def list_grades(judgments: Sequence[IndependentJudgment]) -> str:
    """Return the grades in order, without saying whose they are: "1 2 unrateable"."""
    grades = sorted(str(judgment.grade) for judgment in judgments if judgment.grade is not None)
    return " ".join([*grades, *(judgment.outcome for judgment in judgments if judgment.grade is None)])


def list_notes(judgments: Sequence[IndependentJudgment], *, seed: Seed, pair: str) -> str:
    """Return the notes, each with the letter of its writer on the pair's page. `seed`: the dataset's."""
    letters = assign_letters(judgments, seed=seed, pair=pair)
    notes = [f"{letters[name_judge(judgment)]}: {judgment.note}" for judgment in judgments if judgment.note]
    return "\n".join(sorted(notes))


def write_queue(lines: Iterable[QueueLine]) -> Iterator[bytes]:
    """Yield the file, piece by piece."""
    rows = (
        [*(MarkedId(mark_id(name)) for name in line[:2]), *("" for _ in TO_FILL_IN), *line[2:]]
        for line in lines
    )
    for piece in write_sheet(QUEUE_COLUMNS, rows):
        yield piece.encode()


def read_seen(cell: str) -> tuple[str, str]:
    """Return the pair's key, to find changed ids, and the digest of what was seen; "" if no export wrote the cell."""
    pair, _, seen = cell.strip().partition(":")
    return pair, seen


DECISION_COLUMNS = ("query_id", "doc_id", "grade", "rationale")
OPTIONAL = tuple(name for name in QUEUE_COLUMNS if name not in DECISION_COLUMNS)
_DECIDED: dict[str, Decided] = {"0": 0, "1": 1, "2": 2, "3": 3, "unrateable": "unrateable"}


@dataclass(frozen=True, slots=True)
class DecisionLine:
    """One line of a file of decisions."""

    line: int  # where it begins in its file, from 1
    query_id: str
    doc_id: str
    decided: Decided | None  # None if an exported row was left open
    rationale: str
    reason: str | None  # other words than a cause
    cause: str | None = None  # one of CAUSES
    pair: str | None = None  # of an exported row, like `seen`; None in another file
    seen: str | None = None

    @property
    def name(self) -> str:
        """Return the pair as messages name it."""
        return f"{self.query_id} {self.doc_id}"


def read_decisions(data: bytes, path: str, problems: Problems) -> list[DecisionLine]:
    """Return the good lines of a CSV file, and add bad ones to `problems`. BadInput: wrong columns."""
    read_row = partial(_read_decision_row, exported=_is_exported(data, path))
    return read_pair_table(data, path, problems, read_row, columns=DECISION_COLUMNS, optional=OPTIONAL)


def check_origin(
    lines: Sequence[DecisionLine], pairs: dict[tuple[str, str], str], dataset: str, problems: Problems
) -> None:
    """Add a problem for each row whose `seen` belongs to another pair than its ids name.

    If this is true of every row, adds one problem for the whole file. `pairs`: {(query_id, doc_id): pair key}.
    """
    exported = [line for line in lines if line.seen is not None]
    foreign = [line for line in exported if pairs.get((line.query_id, line.doc_id)) != line.pair]
    if exported and len(foreign) == len(exported):
        problems.add(1, f"an export of the queue of {dataset}", "one of another dataset, or with other ids")
        return
    for line in foreign:
        if line.decided is not None:
            problems.add(
                line.line, "the ids and `seen` as they were exported", f"{line.name} beside another pair's"
            )


def _is_exported(data: bytes, path: str) -> bool:
    head = read_text(data, path).partition("\n")[0]
    return "seen" in [name.strip().strip('"') for name in head.split(",")]


def _read_decision_row(row: TableLine, problems: Problems, *, exported: bool) -> DecisionLine | None:
    problems_before = problems.noted
    if exported:
        row.cells.update(
            (name, unmark(row.cells[name])) for name in DECISION_COLUMNS[:2] if name in row.cells
        )
    names = take_pair(row, problems)
    grade, rationale = row.cells.get("grade", "").strip(), row.cells.get("rationale", "").strip()
    reason = row.cells.get("reason", "").strip() or None
    left_open = exported and not grade and not rationale and not reason
    decided = _DECIDED.get(grade)
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
    if names is None or problems.noted > problems_before:
        return None
    cause = reason if reason in CAUSES else None
    return DecisionLine(row.line, *names, decided, rationale, None if cause else reason, cause, pair, seen)


ORDER_COLUMNS = ("query_id", "doc_id")


@dataclass(frozen=True, slots=True)
class OrderLine:
    """One line of a file of document orders."""

    line: int  # where it begins in its file, from 1
    query_id: str
    doc_id: str


def read_order(data: bytes, path: str, problems: Problems) -> list[OrderLine]:
    """Return the good lines of a CSV file, and add bad ones to `problems`. BadInput: wrong columns."""
    return read_pair_table(data, path, problems, _read_order_row, columns=ORDER_COLUMNS)


def _read_order_row(row: TableLine, problems: Problems) -> OrderLine | None:
    pair = take_pair(row, problems)
    return None if pair is None else OrderLine(row.line, *pair)


@dataclass(frozen=True, slots=True)
class PairToDecide:
    """A pair of the pool that a file decides on, in its present state."""

    pair_pk: int
    key: str
    open: bool | None  # whether it waits for a lead; None if it is no disagreement
    status: str  # if it is no disagreement
    judged: bool  # by the lead who decides
    event_ids: Sequence[str]  # of the judgments that a lead sees
    last: Decision | None
    settled: int | None = None  # the settled grade, if it is no disagreement

    @property
    def revision(self) -> int:
        """Return the number of decisions."""
        return self.last.revision if self.last else 0


def check_lines(
    lines: Sequence[DecisionLine], pairs: Mapping[tuple[str, str], PairToDecide], problems: Problems
) -> None:
    """Add a problem for each line with a decision that is not allowed."""
    for line in lines:
        if line.decided is None:
            continue
        pair = pairs.get((line.query_id, line.doc_id))
        change = _find_change(line, pair) if pair else None
        if pair is None:
            problems.add(line.line, "a pair of the pool", line.name)
        elif change is None and is_decided_so(line, pair):
            continue
        elif pair.judged:
            problems.add(line.line, "a pair that the deciding lead did not judge", line.name)
        elif change is not None:
            problems.add(line.line, f"{line.name} as it was when exported", change)
        elif pair.open is None:
            problems.add(line.line, "a pair whose judgments differ", f"{line.name} ({pair.status})")


def is_decided_so(line: DecisionLine, pair: PairToDecide) -> bool:
    """Return whether the pair is already decided exactly so, and does not wait for a lead again.

    A pair without disagreement counts as decided so if it is settled at the line's grade.
    """
    last = pair.last
    if last is None and pair.open is None:
        return pair.settled is not None and pair.settled == line.decided
    return (
        last is not None
        and not pair.open
        and last.decided == line.decided
        and (last.rationale, last.reason, last.cause) == (line.rationale, line.reason, line.cause)
    )


def _find_change(line: DecisionLine, pair: PairToDecide) -> str | None:
    """Say how the pair has changed since the export; None if it has not, or only by this same decision."""
    if (
        line.seen is None
        or line.pair != pair.key
        or line.seen == digest_seen_state(pair.event_ids, pair.revision)
    ):
        return None
    if is_decided_so(line, pair) and line.seen == digest_seen_state(pair.event_ids, pair.revision - 1):
        return None
    if pair.last is None or read_revision(line.seen) == pair.revision:
        return "a judgment that came or was changed since"
    if pair.last.outcome == "withdrawn":
        return "a decision taken back since"
    if pair.last.decided == "unrateable":
        return "a decision since: it cannot be rated"
    return f"a decision since: {pair.last.decided}"
