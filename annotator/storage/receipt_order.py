"""Which answers came too late to hold: decided once, when an answer is received, and kept in `judgment.late`.

Rule: of all the answers of one annotator on one pair, the one received last holds, unless it is *late*. An answer is late
when something that was received before it is known to be newer. Two things are known:

- Both name the same browser, and the number that this browser gave the earlier one is higher. A browser counts its presses
  itself, whatever its clock and the server's say.
- It names no browser (a script, a line of a file, a panel of an older version), and both have a time of their own: then the
  later time is newer. Not when the server's clock was set back between the two, since their times say nothing then.
  A line without a time counts as given when its file was imported against the other lines of that file only.

So a clock that jumps never undoes what was pressed after it, and an older press that waited in a browser without a
connection never undoes a newer one of that browser. Between two browsers the order of receipt decides.
Answers for different purposes (an ordinary judgment, quality control, a check) do not compete.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from annotator.storage.sql import prepare, read_time, run
from annotator.storage.tables import JudgmentRow

COUNTED = ("independent", "conditional")
Place = tuple[int, int, str]
_RECEIVED = prepare(
    """
SELECT pair_pk, annotator_pk, purpose, judged_at, received_at, browser, browser_number, import_record_pk FROM judgment
WHERE pair_pk IN :pairs AND annotator_pk IN :annotators AND NOT late ORDER BY pk""",
    lists=["pairs", "annotators"],
)
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the server knows of when an answer was given. `pressed_at`: its own time, None where it has none (a line of a
    file without `judged_at`); `number`: its place among the presses of `browser`."""

    pressed_at: datetime | None
    received_at: datetime
    browser: str | None
    number: int | None


def is_newer(earlier: Receipt, received: Receipt) -> bool:
    """Whether `earlier`, which was received before `received`, is all the same known to have been given after it."""
    if received.browser is not None:
        same = received.browser == earlier.browser
        return same and (earlier.number or 0) > (received.number or 0)
    if received.pressed_at is None:
        return False
    if earlier.pressed_at is None:
        return earlier.received_at == received.received_at
    return earlier.pressed_at > received.pressed_at and earlier.received_at <= received.received_at


def mark_late(session: Session, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of `judgment`, which are to be added in this order, each with `late`."""
    pair_pks = sorted({row["pair_pk"] for row in rows})
    before = _read_receipts(session, pair_pks, sorted({row["annotator_pk"] for row in rows}))
    marked = []
    for row in rows:
        receipt = _receipt(
            row["judged_at"], row["received_at"], row.get("browser"), row.get("browser_number"),
            imported=row.get("import_record_pk") is not None,
        )  # fmt: skip
        known = before.setdefault(_place(row["pair_pk"], row["annotator_pk"], row["purpose"]), [])
        late = any(is_newer(earlier, receipt) for earlier in known)
        if not late:
            known.append(receipt)
        marked.append({**row, "late": late})
    return marked


def order_answers(rows: Iterable[JudgmentRow]) -> list[JudgmentRow]:
    """Put one annotator's answers on one pair, which come in the order of receipt, into the order in which they count.

    That is the order of receipt; an answer that came late stands before the first one that is known to be newer. So the last
    answer that counts is the one that holds.
    """
    ordered: list[JudgmentRow] = []
    for row in rows:
        place = len(ordered)
        if row.late:
            newer = (
                at
                for at, earlier in enumerate(ordered)
                if _compete(earlier, row) and is_newer(_of(earlier), _of(row))
            )
            place = next(newer, place)
        ordered.insert(place, row)
    return ordered


def _compete(one: JudgmentRow, other: JudgmentRow) -> bool:
    return _place(one.pair_pk, one.annotator_pk, one.purpose) == _place(
        other.pair_pk, other.annotator_pk, other.purpose
    )


def _of(row: JudgmentRow) -> Receipt:
    return _receipt(
        row.judged_at,
        row.received_at,
        row.browser,
        row.browser_number,
        imported=row.import_record_pk is not None,
    )


def _receipt(
    judged_at: datetime, received_at: datetime, browser: str | None, number: int | None, *, imported: bool
) -> Receipt:
    """What is known of a row. A line of a file without a time is stored as judged when it was received."""
    timeless = imported and judged_at == received_at
    return Receipt(None if timeless else judged_at, received_at, browser, number)


def _place(pair_pk: int, annotator_pk: int, purpose: str) -> Place:
    """Where answers compete: a revision of an independent judgment may be a conditional one."""
    return pair_pk, annotator_pk, COUNTED[0] if purpose in COUNTED else purpose


def _read_receipts(
    session: Session, pair_pks: Sequence[int], annotator_pks: Sequence[int]
) -> dict[Place, list[Receipt]]:
    session.flush()
    found: dict[Place, list[Receipt]] = {}
    for start in range(0, len(pair_pks), _CHUNK):
        for people in range(0, len(annotator_pks), _CHUNK):
            chunk = {
                "pairs": pair_pks[start : start + _CHUNK],
                "annotators": annotator_pks[people : people + _CHUNK],
            }
            for row in run(session, _RECEIVED, chunk):
                times = read_time(row[3]), read_time(row[4])
                receipt = _receipt(*times, row[5], row[6], imported=row[7] is not None)
                found.setdefault(_place(row[0], row[1], row[2]), []).append(receipt)
    return found
