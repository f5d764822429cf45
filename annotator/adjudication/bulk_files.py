"""The queue as a CSV file for a meeting: what stands in it, and how a cell survives a spreadsheet.

A spreadsheet, as `formats/spreadsheet.py` writes it; an id that it would rewrite (007, 1e5, 3-4) gets an apostrophe too, since
the file is read back. Nobody is named in it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import urlencode

from annotator.adjudication.queue_records import list_words
from annotator.adjudication.records import Answer
from annotator.adjudication.seen import digest_seen
from annotator.domain.disputes import Reason
from annotator.domain.settling import read_decision
from annotator.domain.shuffling import give_letters, name_checker
from annotator.formats.spreadsheet import MarkedId, mark_id, write_sheet

COLUMNS = (
    "query_id", "doc_id", "grade", "rationale", "reason", "seen", "why", "apart", "impact", "grades", "decided", "notes",
    "query", "title", "category", "since", "link",
)  # fmt: skip


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
    answers: Mapping[int, Sequence[Answer]],
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
        seen = digest_seen([one.event_id for one in given], revisions.get(dispute.pair_pk, 0))
        address = urlencode({"dataset": dataset, "pair": row.pair})
        yield QueueLine(
            query_id=row.query_id,
            doc_id=row.doc_id,
            seen=write_seen(row.pair, seen),
            why=" ".join(list_words(Reason(dispute.waiting or dispute.reasons))),
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


def list_grades(answers: Sequence[Answer]) -> str:
    """What was answered, in order and without whose it is: "1 2 unrateable"."""
    grades = sorted(str(answer.grade) for answer in answers if answer.grade is not None)
    return " ".join([*grades, *(answer.outcome for answer in answers if answer.grade is None)])


def list_notes(answers: Sequence[Answer], *, seed: int, pair: str) -> str:
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
        return [cells.get(name, "") for name in COLUMNS]

    for piece in write_sheet(COLUMNS, map(write, lines)):
        yield piece.encode()


def write_seen(pair: str, seen: str) -> str:
    """The pair's key and the digest of what was seen of it: a row whose ids were changed, and another dataset's, show by it."""
    return f"{pair}:{seen}"


def read_seen(cell: str) -> tuple[str, str]:
    """The key and the digest; empty where it is none of ours."""
    pair, _, seen = cell.strip().partition(":")
    return pair, seen
