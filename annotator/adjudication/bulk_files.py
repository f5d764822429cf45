"""Read and check files of decisions and document orders, and write the queue as CSV for a meeting.

Decisions: `query_id,doc_id,grade,rationale[,reason]`, or an exported queue, filled in (recognized by its column `seen`;
its other columns are ignored, and a row without grade, rationale and reason is undecided). Orders: `query_id,doc_id`,
best document first. Refuses a grade other than 0-3 or "unrateable", a blank rationale, an unknown column, a pair that
occurs twice. Every bad line is reported. A line of an export is checked against the state it was exported in; a line
that repeats the current decision is accepted. Ids are kept exactly; an id that a spreadsheet would rewrite (007, 1e5,
3-4) is exported with an apostrophe. An export names nobody.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any
from urllib.parse import urlencode

from annotator.adjudication.queue_records import list_words
from annotator.adjudication.records import (
    CAUSES,
    Decision,
    IndependentJudgment,
    compute_case_version,
    read_revision,
)
from annotator.domain.errors import Problems
from annotator.domain.settling import Decided, QueueReason, read_decision
from annotator.domain.shuffling import give_letters, name_checker
from annotator.domain.texts import NO_WORDS, find_fault
from annotator.formats.pair_table import read_pair_table, take_pair
from annotator.formats.spreadsheet import MarkedId, mark_id, unmark, write_sheet
from annotator.formats.tables import TableLine
from annotator.formats.text import read_text

QUEUE_COLUMNS = (
    "query_id",
    "doc_id",
    "grade",
    "rationale",
    "reason",
    "seen",
    "why",
    "apart",
    "impact",
    "grades",
    "decided",
    "notes",
    "query",
    "title",
    "category",
    "since",
    "link",
)


@dataclass(frozen=True, slots=True)
class QueueLine:
    """A row of the file but for the cells that the meeting fills in. Its fields are those of COLUMNS."""

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


def describe_rows(
    rows: Sequence[Any],
    answers: Mapping[int, Sequence[IndependentJudgment]],
    revisions: Mapping[int, int],
    *,
    dataset: str,
    seed: int,
    base_url: str,
) -> Iterator[QueueLine]:
    """The lines of these rows of `adjudication/queue_sql.py`. `answers`: to be seen on each pair; `revisions`: how many decisions there
    are; `seed`: the dataset's, by which letters are given."""
    for row in rows:
        dispute = row.DisputeRow
        given = answers.get(dispute.pair_pk, ())
        decided = read_decision(row.outcome, row.grade) if row.outcome else None
        seen = compute_case_version([one.event_id for one in given], revisions.get(dispute.pair_pk, 0))
        address = urlencode({"dataset": dataset, "pair": row.pair})
        yield QueueLine(
            query_id=row.query_id,
            doc_id=row.doc_id,
            seen=write_seen(row.pair, seen),
            why=" ".join(list_words(QueueReason(dispute.waiting or dispute.reasons))),
            apart=str(dispute.distance),
            impact=f"{dispute.impact:.4f}",
            grades=list_grades(given),
            decided="" if decided is None else str(decided),
            notes=list_notes(given, seed=seed, pair=row.pair),
            query=row.query,
            title=row.title,
            category=row.category or "",
            since=dispute.since.isoformat(timespec="seconds"),
            link=f"{base_url}/disagreements?{address}",
        )


def list_grades(answers: Sequence[IndependentJudgment]) -> str:
    """What was answered, in order and without whose it is: "1 2 unrateable"."""
    grades = sorted(str(answer.grade) for answer in answers if answer.grade is not None)
    return " ".join([*grades, *(answer.outcome for answer in answers if answer.grade is None)])


def list_notes(answers: Sequence[IndependentJudgment], *, seed: int, pair: str) -> str:
    """The notes, each behind the letter that its writer has on the page of the pair. `seed`: the dataset's."""
    by_name = {name_checker(one.annotator) if one.quality else one.annotator: one for one in answers}
    letters = give_letters(by_name, seed=seed, pair=pair)
    return "\n".join(sorted(f"{letters[name]}: {one.note}" for name, one in by_name.items() if one.note))


def write_queue(lines: Iterable[QueueLine]) -> Iterator[bytes]:
    """The file, piece by piece."""
    ids = ("query_id", "doc_id")

    def write(line: QueueLine) -> list[str]:
        cells = {field.name: getattr(line, field.name) for field in fields(QueueLine)}
        cells.update((name, MarkedId(mark_id(cells[name]))) for name in ids)
        return [cells.get(name, "") for name in QUEUE_COLUMNS]

    for piece in write_sheet(QUEUE_COLUMNS, map(write, lines)):
        yield piece.encode()


def write_seen(pair: str, seen: str) -> str:
    """The pair's key and the digest of what was seen of it: a row whose ids were changed, and another dataset's, show by it."""
    return f"{pair}:{seen}"


def read_seen(cell: str) -> tuple[str, str]:
    """The key and the digest; empty where it is none of ours."""
    pair, _, seen = cell.strip().partition(":")
    return pair, seen


DECISION_COLUMNS = ("query_id", "doc_id", "grade", "rationale")
OPTIONAL = tuple(name for name in QUEUE_COLUMNS if name not in DECISION_COLUMNS)
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
    read_row = partial(_read_decision_row, exported=_is_exported(data, path))
    return read_pair_table(data, path, problems, read_row, columns=DECISION_COLUMNS, optional=OPTIONAL)


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


def _read_decision_row(row: TableLine, problems: Problems, *, exported: bool) -> DecisionLine | None:
    noted = len(problems.found)
    if exported:
        row.cells.update(
            (name, unmark(row.cells[name])) for name in DECISION_COLUMNS[:2] if name in row.cells
        )
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


ORDER_COLUMNS = ("query_id", "doc_id")


@dataclass(frozen=True, slots=True)
class OrderLine:
    """One line: `line` is where it begins in its file, counted from 1."""

    line: int
    query_id: str
    doc_id: str


def read_order(data: bytes, path: str, problems: Problems) -> list[OrderLine]:
    """The good lines of a CSV file's bytes, in the file's order. BadInput at once when it has not the right columns."""
    return read_pair_table(data, path, problems, _read_order_row, columns=ORDER_COLUMNS)


def _read_order_row(row: TableLine, problems: Problems) -> OrderLine | None:
    pair = take_pair(row, problems)
    return None if pair is None else OrderLine(row.line, *pair)


@dataclass(frozen=True, slots=True)
class PolicyPair:
    """A pair of the pool as it stands. `open`: whether it waits for a lead, None where it is no dispute (`status` says what it is
    then, and `settled` its grade where it has one); `judged`: by the lead who decides; `events`: the judgments to be seen; `last`: the last decision."""

    pair_pk: int
    key: str
    open: bool | None
    status: str
    judged: bool
    events: Sequence[str]
    last: Decision | None
    settled: int | None = None

    @property
    def revision(self) -> int:
        """How many decisions there are."""
        return self.last.revision if self.last else 0


def check_lines(
    lines: Sequence[DecisionLine], pairs: Mapping[tuple[str, str], PolicyPair], problems: Problems
) -> None:
    """Note every line that must not be decided."""
    for line in lines:
        if line.decided is None:
            continue
        pair = pairs.get((line.query_id, line.doc_id))
        changed = _find_change(line, pair) if pair else None
        if pair is None:
            problems.add(line.line, "a pair of the pool", line.named)
        elif changed is None and is_decided_so(line, pair):
            continue
        elif pair.judged:
            problems.add(line.line, "a pair that the deciding lead did not judge", line.named)
        elif changed is not None:
            problems.add(line.line, f"{line.named} as it was when exported", changed)
        elif pair.open is None:
            problems.add(line.line, "a pair whose judgments differ", f"{line.named} ({pair.status})")


def is_decided_so(line: DecisionLine, pair: PolicyPair) -> bool:
    """Whether the line says nothing but what holds already and nobody has questioned since: a decision with all that it says,
    or the grade of a pair that needs none."""
    last = pair.last
    if last is None and pair.open is None:
        return pair.settled is not None and pair.settled == line.decided
    return (
        last is not None
        and not pair.open
        and last.decided == line.decided
        and (last.rationale, last.reason, last.cause) == (line.rationale, line.reason, line.cause)
    )


def _find_change(line: DecisionLine, pair: PolicyPair) -> str | None:
    """What has become of the pair since it was exported; None where nothing has but this very decision."""
    if (
        line.seen is None
        or line.pair != pair.key
        or line.seen == compute_case_version(pair.events, pair.revision)
    ):
        return None
    if is_decided_so(line, pair) and line.seen == compute_case_version(pair.events, pair.revision - 1):
        return None
    if pair.last is None or read_revision(line.seen) == pair.revision:
        return "a judgment that came or was changed since"
    if pair.last.outcome == "withdrawn":
        return "a decision taken back since"
    if pair.last.decided == "unrateable":
        return "a decision since: it cannot be rated"
    return f"a decision since: {pair.last.decided}"
