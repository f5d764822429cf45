"""The queue as a CSV file for a meeting: what stands in it, and how a cell survives a spreadsheet.

UTF-8 with a byte order mark, without which Excel reads no Japanese and no Korean. A cell that a spreadsheet would run as a
formula, and an id that it would rewrite (007, 1e5, 3-4), gets an apostrophe before it; so does one that begins with an
apostrophe itself, so that taking one away gives every cell back as it was. Nobody is named in it.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from annotator.domain.answers import Answer
from annotator.domain.disputes import Reason
from annotator.domain.letters import give_letters
from annotator.domain.queue import list_words
from annotator.domain.seen import digest_seen
from annotator.domain.settling import read_decision

COLUMNS = (
    "query_id", "doc_id", "grade", "rationale", "reason", "seen", "why", "apart", "impact", "grades", "decided", "notes",
    "query", "title", "category", "since", "link",
)  # fmt: skip
BOM = "\ufeff"
MARK = "'"
AT_ONCE = 500
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
    """The lines of these rows of `storage/queue.py`. `answers`: to be seen on each pair; `revisions`: how many decisions there
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
    by_name = {f"quality {one.annotator}" if one.quality else one.annotator: one for one in answers}
    letters = give_letters(by_name, seed=seed, pair=pair)
    return "\n".join(sorted(f"{letters[name]}: {one.note}" for name, one in by_name.items() if one.note))


def write_queue(lines: Iterable[QueueLine]) -> Iterator[bytes]:
    """The file, piece by piece."""
    yield _write([COLUMNS], before=BOM)
    ids = ("query_id", "doc_id")
    written = [field.name for field in fields(QueueLine)]
    rest = iter(lines)
    while some := list(islice(rest, AT_ONCE)):
        cells = (
            {name: (mark_id if name in ids else mark_cell)(getattr(line, name)) for name in written}
            for line in some
        )
        yield _write([found.get(name, "") for name in COLUMNS] for found in cells)


def mark_cell(text: str) -> str:
    """The text as a spreadsheet keeps it a text."""
    return MARK + text if text.startswith(_FORMULA) else text


def mark_id(text: str) -> str:
    """The id as a spreadsheet keeps it as it is: a number, a date, a truth value and white space around it would be lost."""
    plain = _KEPT.match(text) and not _REWRITTEN.match(text) and text == text.strip()
    return text if plain and mark_cell(text) == text else MARK + text


def unmark(text: str) -> str:
    """The cell as it was before `mark_cell` or `mark_id`."""
    return text.removeprefix(MARK)


def write_seen(pair: str, seen: str) -> str:
    """The pair's key and the digest of what was seen of it: a row whose ids were changed, and another dataset's, show by it."""
    return f"{pair}:{seen}"


def read_seen(cell: str) -> tuple[str, str]:
    """The key and the digest; empty where it is none of ours."""
    pair, _, seen = cell.strip().partition(":")
    return pair, seen


def _write(rows: Iterable[Sequence[str]], *, before: str = "") -> bytes:
    made = io.StringIO()
    csv.writer(made, lineterminator="\r\n").writerows(rows)
    return (before + made.getvalue()).encode()
