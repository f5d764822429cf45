"""Store an annotator's answers and their derived rows in one statement.

Derived are: the current judgment, the missing judgments of the pair, its entry in the queue, and the counts
of its query. This file does it for a few pairs; `storage/judgments/current_judgments.py`,
`storage/judgments/missing_judgments.py` and `storage/pairs/disagreements.py` do it for many. The caller holds
the pairs' locks and has read their rows, so everything is computed here and written as values. Counts are
written as differences, because others may change the same query at the same time. If more than its judgments
decides about a pair (a decision, a kept grade, quality control, a question, a proposal), `store_answers`
returns the pair, and those three files derive it.

On PostgreSQL the statement is one WITH. On SQLite it is an INSERT into a temporary view; a trigger of the
view writes the same rows. A driver call costs more than most of these statements (benchmarks/README.md).

Also the only home of the rule which answer is newer. The answer received last is current, unless it is
*late*: an answer received earlier is known to be newer. There are two cases:

- Both name the same browser, and the one received before has the higher number (a browser counts its own presses).
- It names no browser (a script, a line of a file, an older panel), both have times, and the other time is later; unless
  the server's clock was set back in between. A line without a time takes its file's import time, against the other
  lines of that file only.

So a clock that jumps, or an old press that waited without a connection, never undoes a newer answer of the
same browser. Between two browsers the order of receipt decides. `late` is decided once, on receipt, and
stored in `judgment.late`.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import floor
from typing import Any, NamedTuple

from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from annotator.domain.judgments import COUNTED_PURPOSE, CURRENT_PURPOSES, AnsweredPair, PresentJudgment
from annotator.domain.settling import QueueEntry, allows_further, conditional_distance, count_lacking
from annotator.storage.pairs.disagreements import MeaningChange, describe_entry, find_entry
from annotator.storage.sql import execute_sql, fetch, prepare_sql, split_into_chunks
from annotator.storage.tables.central import JudgmentRow

LATER = "later"
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class NewAnswer:
    """An answer to store: the row of `judgment`, and the state of the pair before the request."""

    row: Mapping[str, Any]  # with `late`
    query_pk: int
    wanted: int
    judged: int
    lacking: int
    pair: AnsweredPair


@dataclass(frozen=True, slots=True)
class AnswerRules:
    """The settings and guideline versions of the dataset that decide which rows an answer changes."""

    dataset_pk: int
    overlap_rules: Mapping[str, Any] | None
    versions: Mapping[int, int]  # version of the guideline by rubric_pk
    meanings: Sequence[MeaningChange]


@dataclass(frozen=True, slots=True)
class _Effect:
    """The derived values after an answer, and the changes of counts."""

    stale: int
    made_at: int
    imported: int
    judged: int
    lacking: int
    open_change: int  # of the query's open pairs
    begun_change: int
    own_change: int  # of the annotator's answered pairs of the query
    own_open_change: int
    others_change: int  # of the answered open pairs of everybody else with an answer on the pair
    entry: QueueEntry | None


def store_answers(session: Session, rules: AnswerRules, answers: Sequence[NewAnswer]) -> set[int]:
    """Append the answers in order, end their leases, and update the derived rows.

    Returns the pairs (pair_pk) that the caller must pass to `derive_current`.
    """
    rows, left = _list_rows(rules, answers)
    session.flush()
    if session.get_bind().dialect.name == "postgresql":
        written = json.dumps(rows, default=datetime.isoformat)
        execute_sql(session, _STORE, {"answers": written})
        return left
    try:
        execute_sql(session, _STORE_ON_SQLITE, rows)
    except OperationalError as error:
        if "no such table: answer_to_store" not in str(error.orig):
            raise
        for statement in _DEFINE_ON_SQLITE:
            session.connection().exec_driver_sql(statement)
        execute_sql(session, _STORE_ON_SQLITE, rows)
    return left


def _list_rows(rules: AnswerRules, answers: Sequence[NewAnswer]) -> tuple[list[dict[str, Any]], set[int]]:
    """Return one row per answer, and the pairs that the caller must pass to `derive_current`.

    Only the last current answer on a pair changes derived values.
    """
    last = {answer.row["pair_pk"]: answer for answer in answers if _becomes_current(answer.row)}
    left = {pair_pk for pair_pk, answer in last.items() if not answer.pair.plain}
    rows = []
    for answer in answers:
        pair_pk = answer.row["pair_pk"]
        counts = last.get(pair_pk) is answer and pair_pk not in left
        effect = _find_effect(rules, answer) if counts else None
        rows.append({**answer.row, **_describe_effect(rules, answer, effect)})
    return rows, left


def _becomes_current(row: Mapping[str, Any]) -> bool:
    return row["purpose"] in CURRENT_PURPOSES and not row["late"]


def _find_effect(rules: AnswerRules, answer: NewAnswer) -> _Effect:
    row, pair, owner = answer.row, answer.pair, answer.row["annotator_pk"]
    version, made_at = rules.versions[row["rubric_pk"]], floor(row["judged_at"].timestamp())
    stale = _find_stale(rules, pair, version, row["document_sha256"])
    own = PresentJudgment(owner, row["outcome"], row["grade"], row["purpose"], made_at, stale, version)
    before = [judgment for judgment in pair.judgments if judgment.outcome != LATER]
    after = [judgment for judgment in before if judgment.annotator_pk != owner]
    after += [own] if own.outcome != LATER else []
    lacking = count_lacking(
        answer.wanted,
        [(judgment.purpose, judgment.grade) for judgment in after],
        further_from=conditional_distance(rules.overlap_rules)
        if allows_further(rules.overlap_rules, answer.wanted)
        else None,
    )
    counted = [judgment for judgment in after if judgment.purpose == COUNTED_PURPOSE]
    was_open, is_open = answer.lacking > 0, lacking > 0
    was_answered = any(judgment.annotator_pk == owner for judgment in before)
    is_answered = own.outcome != LATER
    return _Effect(
        stale=stale,
        made_at=made_at,
        imported=0,
        judged=len(counted),
        lacking=lacking,
        open_change=is_open - was_open,
        begun_change=(is_open and bool(counted)) - (was_open and answer.judged > 0),
        own_change=is_answered - was_answered,
        own_open_change=(is_answered and is_open) - (was_answered and was_open),
        others_change=is_open - was_open,
        entry=find_entry(answer.query_pk, counted, rules.meanings),
    )


def _find_stale(rules: AnswerRules, pair: AnsweredPair, version: int, judged_text: str | None) -> int:
    older_guideline = any(change.version > version for change in rules.meanings)
    older_text = None not in (pair.present_text, judged_text) and pair.present_text != judged_text
    return older_guideline + 2 * older_text


def _describe_effect(rules: AnswerRules, answer: NewAnswer, effect: _Effect | None) -> dict[str, Any]:
    described: dict[str, Any] = dict.fromkeys(_EFFECT_COLUMNS)
    described |= {
        "dataset_pk": rules.dataset_pk,
        "query_pk": answer.query_pk,
        "counts": effect is not None,
        "queue": "",
        "open_change": 0,
        "begun_change": 0,
        "own_change": 0,
        "own_open_change": 0,
        "others_change": 0,
    }
    if effect is None:
        return described
    described |= {name: getattr(effect, name) for name in _EFFECT_COLUMNS if hasattr(effect, name)}
    if effect.entry is not None:
        described |= {"queue": "enter", **describe_entry(effect.entry)}
    elif answer.pair.in_queue:
        described["queue"] = "leave"
    return described


_JUDGMENT = {
    "event_id": "TEXT", "pair_pk": "INT", "annotator_pk": "INT", "rubric_pk": "INT", "outcome": "TEXT",
    "grade": "INT", "note": "TEXT", "reason": "TEXT", "purpose": "TEXT", "document_sha256": "TEXT",
    "judged_at": "TIMESTAMPTZ", "received_at": "TIMESTAMPTZ", "seconds": "FLOAT8", "browser": "TEXT",
    "browser_number": "INT8", "late": "BOOLEAN",
}  # fmt: skip
_EFFECT = {
    "dataset_pk": "INT", "query_pk": "INT", "counts": "BOOLEAN", "stale": "INT", "made_at": "INT8",
    "imported": "INT", "judged": "INT", "lacking": "INT", "open_change": "INT", "begun_change": "INT",
    "own_change": "INT", "own_open_change": "INT", "others_change": "INT",
}  # fmt: skip
_ENTRY = {
    "queue": "TEXT", "open": "BOOLEAN", "reasons": "INT", "waiting": "INT", "distance": "INT", "low": "INT",
    "high": "INT", "since": "TIMESTAMPTZ", "taste": "BOOLEAN",
}  # fmt: skip
_EFFECT_COLUMNS = (*_EFFECT, *_ENTRY)
_COLUMNS = {**_JUDGMENT, **_EFFECT, **_ENTRY}
_OF_JUDGMENT = ", ".join(_JUDGMENT)
_OF_CURRENT = "outcome, grade, purpose, rubric_pk, seconds, made_at, imported, stale"
_OF_ENTRY = ", ".join(name for name in _ENTRY if name != "queue")


def _take_over(columns: str) -> str:
    return ", ".join(f"{name} = excluded.{name}" for name in columns.split(", "))


_CURRENT = f"""ON CONFLICT (pair_pk, annotator_pk) DO UPDATE
  SET judgment_pk = excluded.judgment_pk, {_take_over(_OF_CURRENT)}"""
_WORK = """ON CONFLICT (query_pk) DO UPDATE
  SET open_pairs = query_work.open_pairs + excluded.open_pairs, begun_pairs = query_work.begun_pairs + excluded.begun_pairs"""
_ANSWERS = """ON CONFLICT (query_pk, annotator_pk) DO UPDATE
  SET answered = query_answers.answered + excluded.answered, answered_open = query_answers.answered_open + excluded.answered_open"""
_DUE = "ON CONFLICT (query_pk) DO UPDATE SET dataset_pk = excluded.dataset_pk"
_QUEUE = f"ON CONFLICT (pair_pk) DO UPDATE SET {_take_over(_OF_ENTRY)}"

# Each part locks rows in the order of their keys, and the parts run in one order in every transaction: no circle of waiting.
# The spaces that it can do without would make it longer than what psycopg keeps (`prepare_sql`).
_STORE = prepare_sql(
    f"""
WITH answer AS MATERIALIZED (SELECT * FROM ROWS FROM (json_to_recordset(CAST(:answers AS JSON)) AS (
    {", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())})) WITH ORDINALITY),
added AS (
  INSERT INTO judgment ({_OF_JUDGMENT}) SELECT {_OF_JUDGMENT} FROM answer ORDER BY ordinality RETURNING pk, event_id),
held AS (
  INSERT INTO current_judgment (pair_pk, annotator_pk, judgment_pk, dataset_pk, {_OF_CURRENT})
  SELECT a.pair_pk, a.annotator_pk, j.pk, a.dataset_pk, {", ".join(f"a.{name}" for name in _OF_CURRENT.split(", "))}
  FROM answer a JOIN added j ON j.event_id = a.event_id WHERE a.counts ORDER BY a.pair_pk {_CURRENT}),
pairs AS (
  UPDATE pair SET judged = a.judged, lacking = a.lacking FROM answer a
  WHERE a.counts AND pair.pk = a.pair_pk AND (pair.judged <> a.judged OR pair.lacking <> a.lacking)),
entered AS (
  INSERT INTO dispute (pair_pk, dataset_pk, query_pk, impact, {_OF_ENTRY}) SELECT pair_pk, dataset_pk, query_pk, 0, {_OF_ENTRY}
  FROM answer WHERE queue = 'enter' ORDER BY pair_pk {_QUEUE}),
gone AS (DELETE FROM dispute USING answer a WHERE a.queue = 'leave' AND dispute.pair_pk = a.pair_pk),
work AS (
  INSERT INTO query_work (query_pk, dataset_pk, open_pairs, begun_pairs)
  SELECT query_pk, dataset_pk, sum(open_change), sum(begun_change) FROM answer WHERE open_change <> 0 OR begun_change <> 0
  GROUP BY query_pk, dataset_pk ORDER BY query_pk {_WORK}),
answers AS (
  INSERT INTO query_answers (query_pk, annotator_pk, dataset_pk, answered, answered_open)
  SELECT query_pk, annotator_pk, dataset_pk, sum(answered), sum(answered_open) FROM (
    SELECT query_pk, annotator_pk, dataset_pk, own_change AS answered, own_open_change AS answered_open FROM answer
    WHERE own_change <> 0 OR own_open_change <> 0
    UNION ALL SELECT a.query_pk, c.annotator_pk, a.dataset_pk, 0, a.others_change
    FROM answer a JOIN current_judgment c ON c.pair_pk = a.pair_pk
    WHERE a.others_change <> 0 AND c.annotator_pk <> a.annotator_pk AND c.outcome <> '{LATER}') changes
  GROUP BY query_pk, annotator_pk, dataset_pk ORDER BY query_pk, annotator_pk {_ANSWERS}),
due AS (
  INSERT INTO score_due (query_pk, dataset_pk) SELECT DISTINCT query_pk, dataset_pk FROM answer WHERE counts
  ORDER BY query_pk {_DUE})
DELETE FROM lease USING answer a WHERE lease.pair_pk = a.pair_pk AND lease.annotator_pk = a.annotator_pk""".replace(
        ", ", ","
    )
)

_STORE_ON_SQLITE = prepare_sql(
    f"INSERT INTO answer_to_store ({', '.join(_COLUMNS)}) VALUES ({', '.join(f':{name}' for name in _COLUMNS)})"
)


def _of_new(columns: Iterable[str]) -> str:
    return ", ".join(f"NEW.{name}" for name in columns)


_DEFINE_ON_SQLITE = (
    f"CREATE TEMP VIEW answer_to_store AS SELECT {', '.join(f'NULL AS {name}' for name in _COLUMNS)}",
    f"""
CREATE TEMP TRIGGER store_answer INSTEAD OF INSERT ON answer_to_store BEGIN
  INSERT INTO judgment ({_OF_JUDGMENT}) VALUES ({_of_new(_JUDGMENT)});
  INSERT INTO current_judgment (pair_pk, annotator_pk, judgment_pk, dataset_pk, {_OF_CURRENT})
    SELECT NEW.pair_pk, NEW.annotator_pk, j.pk, NEW.dataset_pk, {_of_new(_OF_CURRENT.split(", "))}
    FROM judgment j WHERE j.event_id = NEW.event_id AND NEW.counts {_CURRENT};
  UPDATE pair SET judged = NEW.judged, lacking = NEW.lacking
    WHERE NEW.counts AND pk = NEW.pair_pk AND (judged <> NEW.judged OR lacking <> NEW.lacking);
  INSERT INTO dispute (pair_pk, dataset_pk, query_pk, impact, {_OF_ENTRY})
    SELECT NEW.pair_pk, NEW.dataset_pk, NEW.query_pk, 0, {_of_new(_OF_ENTRY.split(", "))} WHERE NEW.queue = 'enter' {_QUEUE};
  DELETE FROM dispute WHERE NEW.queue = 'leave' AND pair_pk = NEW.pair_pk;
  INSERT INTO query_work (query_pk, dataset_pk, open_pairs, begun_pairs)
    SELECT NEW.query_pk, NEW.dataset_pk, NEW.open_change, NEW.begun_change
    WHERE NEW.open_change <> 0 OR NEW.begun_change <> 0 {_WORK};
  INSERT INTO query_answers (query_pk, annotator_pk, dataset_pk, answered, answered_open)
    SELECT NEW.query_pk, NEW.annotator_pk, NEW.dataset_pk, NEW.own_change, NEW.own_open_change
    WHERE NEW.own_change <> 0 OR NEW.own_open_change <> 0 {_ANSWERS};
  INSERT INTO query_answers (query_pk, annotator_pk, dataset_pk, answered, answered_open)
    SELECT NEW.query_pk, c.annotator_pk, NEW.dataset_pk, 0, NEW.others_change FROM current_judgment c
    WHERE NEW.others_change <> 0 AND c.pair_pk = NEW.pair_pk AND c.annotator_pk <> NEW.annotator_pk AND c.outcome <> '{LATER}'
    {_ANSWERS};
  INSERT INTO score_due (query_pk, dataset_pk) SELECT NEW.query_pk, NEW.dataset_pk WHERE NEW.counts {_DUE};
  DELETE FROM lease WHERE pair_pk = NEW.pair_pk AND annotator_pk = NEW.annotator_pk;
END""",
)


AnswerSlot = tuple[int, int, str]


_RECEIVED = prepare_sql(
    """
SELECT pair_pk, annotator_pk, purpose, judged_at, received_at, browser, browser_number, import_record_pk FROM judgment
WHERE pair_pk IN :pairs AND annotator_pk IN :annotators AND NOT late ORDER BY pk""",
    lists=["pairs", "annotators"],
)


class _ReceivedAnswer(NamedTuple):
    """The columns of `judgment` that decide which answer is newer."""

    pair_pk: int
    annotator_pk: int
    purpose: str
    judged_at: datetime
    received_at: datetime
    browser: str | None
    browser_number: int | None
    import_record_pk: int | None


@dataclass(frozen=True, slots=True)
class JudgmentReceipt:
    """When an answer was given and received, by which browser."""

    pressed_at: datetime | None  # None: unknown, for a line of a file without `judged_at`
    received_at: datetime
    browser: str | None
    number: int | None  # of the press among the presses of `browser`


def is_newer(earlier: JudgmentReceipt, received: JudgmentReceipt) -> bool:
    """Return whether `earlier`, although received first, was given after `received`."""
    if received.browser is not None:
        same = received.browser == earlier.browser
        return same and (earlier.number or 0) > (received.number or 0)
    if received.pressed_at is None:
        return False
    if earlier.pressed_at is None:
        return earlier.received_at == received.received_at
    return earlier.pressed_at > received.pressed_at and earlier.received_at <= received.received_at


def mark_late(
    session: Session, rows: Sequence[Mapping[str, Any]], *, known: Collection[int] | None = None
) -> list[dict[str, Any]]:
    """Return the new rows of `judgment`, in the order of insertion, each with `late`.

    `known`: the pairs (pair_pk) that have stored judgments of these annotators; None: look them up. A line of
    a file without a time is never late, so nothing is looked up for it.
    """
    if known is None:
        known = {row["pair_pk"] for row in rows if row["judged_at"] != row["received_at"]}
    pair_pks = sorted(known)
    before = _read_receipts(session, pair_pks, sorted({row["annotator_pk"] for row in rows}))
    marked = []
    for row in rows:
        answer = _ReceivedAnswer._make(map(row.get, _ReceivedAnswer._fields))
        receipt, receipts = _receipt(answer), before.setdefault(_find_slot(answer), [])
        late = any(is_newer(earlier, receipt) for earlier in receipts)
        if not late:
            receipts.append(receipt)
        marked.append({**row, "late": late})
    return marked


def order_answers(rows: Iterable[JudgmentRow]) -> list[JudgmentRow]:
    """Sort one annotator's answers on one pair: the last one of a purpose is current.

    `rows`: in the order of receipt. That order stays, but a late answer moves before the first one that is
    known to be newer.
    """
    ordered: list[JudgmentRow] = []
    for row in rows:
        position = len(ordered)
        if row.late:
            newer = (
                index
                for index, earlier in enumerate(ordered)
                if _find_slot(earlier) == _find_slot(row) and is_newer(_receipt(earlier), _receipt(row))
            )
            position = next(newer, position)
        ordered.insert(position, row)
    return ordered


def _receipt(row: _ReceivedAnswer | JudgmentRow) -> JudgmentReceipt:
    """Return the receipt of a row. A line of a file without a time is stored as judged when it was received."""
    timeless = row.import_record_pk is not None and row.judged_at == row.received_at
    pressed_at = None if timeless else row.judged_at
    return JudgmentReceipt(pressed_at, row.received_at, row.browser, row.browser_number)


def _find_slot(row: _ReceivedAnswer | JudgmentRow) -> AnswerSlot:
    """Return the slot of an answer: one answer per slot is current. Purposes that can be current share one."""
    purpose = COUNTED_PURPOSE if row.purpose in CURRENT_PURPOSES else row.purpose
    return row.pair_pk, row.annotator_pk, purpose


def _read_receipts(
    session: Session, pair_pks: Sequence[int], annotator_pks: Sequence[int]
) -> dict[AnswerSlot, list[JudgmentReceipt]]:
    receipts: dict[AnswerSlot, list[JudgmentReceipt]] = {}
    for pairs in split_into_chunks(pair_pks, _CHUNK):
        for annotators in split_into_chunks(annotator_pks, _CHUNK):
            values = {"pairs": pairs, "annotators": annotators}
            for row in fetch(session, _RECEIVED, _ReceivedAnswer, values):
                receipts.setdefault(_find_slot(row), []).append(_receipt(row))
    return receipts
