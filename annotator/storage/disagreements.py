"""Derive which pairs are disagreements (`dispute`) from judgments and decisions, by the rule of `domain/settling.py`.

Called in the transaction of whatever changes a pair: a judgment, a decision, quality control, a question, an objection,
a new guideline. One statement reads what is known of the pairs, so a judgment that makes no disagreement costs one
read. Refuses nothing. `storage/impact_scores.py` handles their impact.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.settling import (
    Decided,
    QueueEntry,
    QueueReason,
    SettlementFacts,
    find_dispute,
    read_decision,
    settle,
)
from annotator.storage.adjudication_tables import DisputeRow
from annotator.storage.impact_scores import note_due
from annotator.storage.sql import PreparedSql, add_rows, execute_sql, prepare_sql, read_time, run_many

CHUNK = 500
PART = 20_000
"""So many pairs of a whole dataset are held in memory at once."""
_MADE_AT = {"sqlite": "datetime(c.made_at, 'unixepoch')", "postgresql": "to_timestamp(c.made_at)"}
_KNOWN = """
SELECT c.pair_pk, 'answer', c.grade, {made_at},
  CASE WHEN c.stale % 2 = 1 THEN coalesce((SELECT r.version FROM rubric r WHERE r.pk = c.rubric_pk), 1) END, p.query_pk
FROM current_judgment c JOIN pair p ON p.pk = c.pair_pk
WHERE c.pair_pk IN {pairs} AND c.purpose = 'independent' AND c.outcome <> 'later'
UNION ALL SELECT a.pair_pk, a.outcome, a.grade, a.decided_at, r.version, p.query_pk
FROM current_adjudication a JOIN adjudication d ON d.pk = a.adjudication_pk JOIN rubric r ON r.pk = d.rubric_pk
JOIN pair p ON p.pk = a.pair_pk WHERE a.pair_pk IN {pairs} AND p.retired_at IS NULL
UNION ALL SELECT x.pair_pk, 'error', x.grade, x.answered_at, CASE WHEN a.decided_at >= x.answered_at THEN 1 ELSE 0 END, p.query_pk
FROM quality_pair x JOIN pair p ON p.pk = x.pair_pk LEFT JOIN current_adjudication a ON a.pair_pk = x.pair_pk
WHERE x.pair_pk IN {pairs} AND x.grade <> x.settled_grade AND p.retired_at IS NULL
UNION ALL SELECT o.pair_pk, 'objection', NULL, o.objected_at, 0, p.query_pk
FROM objection o JOIN current_adjudication a ON a.adjudication_pk = o.adjudication_pk JOIN pair p ON p.pk = o.pair_pk
WHERE o.pair_pk IN {pairs} AND p.retired_at IS NULL
UNION ALL SELECT u.pair_pk, 'question', NULL, u.asked_at, 0, p.query_pk
FROM question u JOIN pair p ON p.pk = u.pair_pk
WHERE u.pair_pk IN {pairs} AND u.answered_at IS NULL AND p.retired_at IS NULL
UNION ALL SELECT i.pair_pk, 'imported', i.grade, i.imported_at, 0, p.query_pk
FROM imported_qrel i JOIN pair p ON p.pk = i.pair_pk
WHERE i.pair_pk IN {pairs} AND p.kept AND p.judged = 0 AND p.retired_at IS NULL AND i.keep
  AND NOT EXISTS (SELECT 1 FROM imported_qrel n WHERE n.pair_pk = i.pair_pk AND n.pk > i.pk)
UNION ALL SELECT s.pair_pk, 'present', NULL, s.since, 0, s.query_pk
FROM dispute s WHERE s.pair_pk IN {pairs}"""
_MEANINGS = prepare_sql(
    "SELECT version, created_at FROM rubric WHERE dataset_pk = :dataset_pk AND change = 'semantic' AND version > 1 "
    "ORDER BY version"
)
_PART = "(SELECT pk FROM pair WHERE dataset_pk = :dataset_pk AND pk > :after AND pk <= :last)"
_NEXT = prepare_sql(
    "SELECT max(pk) FROM (SELECT pk FROM pair WHERE dataset_pk = :dataset_pk AND pk > :after ORDER BY pk LIMIT :part) AS part"
)
_STATEMENTS = {
    dialect: {
        some: prepare_sql(
            _KNOWN.format(pairs=":pairs" if some else _PART, made_at=made_at), lists=["pairs"] if some else []
        )
        for some in (True, False)
    }
    for dialect, made_at in _MADE_AT.items()
}
_DROP = prepare_sql("DELETE FROM dispute WHERE pair_pk IN :pairs", lists=["pairs"])
_CHANGE = prepare_sql("""
UPDATE dispute SET open = :open, reasons = :reasons, waiting = :waiting, distance = :distance, low = :low, high = :high,
  since = :since, taste = :taste WHERE pair_pk = :pair_pk""")

_JUDGED = """EXISTS (SELECT 1 FROM current_judgment c WHERE c.pair_pk = {pair_pk} AND c.purpose = 'independent'
  AND c.outcome <> 'later')"""
_STALE = (
    prepare_sql(f"""
UPDATE dispute SET reasons = reasons | :stale, waiting = waiting | :stale, open = true, taste = false,
  since = CASE WHEN open THEN since ELSE :since END
WHERE dataset_pk = :dataset_pk AND ({_JUDGED.format(pair_pk="dispute.pair_pk")}
  OR EXISTS (SELECT 1 FROM current_adjudication a WHERE a.pair_pk = dispute.pair_pk))"""),
    prepare_sql(f"""
INSERT INTO dispute (pair_pk, dataset_pk, query_pk, open, reasons, waiting, distance, since, impact, taste)
SELECT p.pk, p.dataset_pk, p.query_pk, true, :stale, :stale, 0, :since, 0, false FROM pair p
WHERE p.dataset_pk = :dataset_pk AND p.retired_at IS NULL AND {_JUDGED.format(pair_pk="p.pk")}
  AND NOT EXISTS (SELECT 1 FROM dispute x WHERE x.pair_pk = p.pk)"""),
)


class _MeaningChange(NamedTuple):
    """A version of the guideline that changed what a grade means, and when it came."""

    version: int
    since: datetime


@dataclass(slots=True)
class _KnownPair:
    """What was read of a pair, and whether it has a row already."""

    query_pk: int
    answers: list[tuple[int | None, datetime]] = field(default_factory=list)
    decided: Decided | None = None
    decided_at: datetime | None = None
    imported: int | None = None
    errors: list[tuple[int, datetime]] = field(default_factory=list)
    answered_errors: list[tuple[int, datetime]] = field(default_factory=list)
    objections: list[datetime] = field(default_factory=list)
    questions: list[datetime] = field(default_factory=list)
    older_answers: list[int] = field(default_factory=list)
    decided_by: int = 0
    present: bool = False

    def take(self, kind: str, grade: int | None, at: datetime, flag: int | None) -> None:
        """Note a row of the statement. `flag`: the version that an answer was given under, where that is an older one,
        or by which was decided; whether an error was decided on."""
        if kind == "answer":
            self.answers.append((grade, at))
            self.older_answers += [] if flag is None else [flag]
        elif kind in ("graded", "unrateable"):
            self.decided, self.decided_at, self.decided_by = read_decision(kind, grade), at, flag or 0
        elif kind == "error" and grade is not None:
            (self.answered_errors if flag else self.errors).append((grade, at))
        elif kind == "imported":
            self.imported = grade
        elif kind == "present":
            self.present = True
        else:
            (self.objections if kind == "objection" else self.questions).append(at)

    def find_dispute(self, meanings: Sequence[_MeaningChange]) -> QueueEntry | None:
        """The dispute that the pair is. What is older waits since the first of `meanings` that came after it."""
        grades = tuple(grade for grade, _ in self.answers if grade is not None)
        unrateable = len(self.answers) - len(grades)
        settled = settle(grades, unrateable, self.decided, self.imported).grade
        decided_at = self.decided_at
        asked = [at for at in self.questions if decided_at is None or at > decided_at]
        made_under = min(self.older_answers, default=None) if decided_at is None else self.decided_by
        stale = [] if made_under is None else [one.since for one in meanings if one.version > made_under][:1]
        return find_dispute(
            SettlementFacts(
                answers=self.answers,
                decided=self.decided,
                decided_at=decided_at,
                settled=settled,
                errors=self.errors,
                answered_errors=self.answered_errors,
                objections=self.objections,
                questions=asked,
                stale=stale,
            )
        )


def derive_disputes(session: Session, dataset_pk: int, pair_pks: Iterable[int] | None = None) -> None:
    """Bring `dispute` in line for these pairs (None: all of the dataset), and note of their queries that what a choice of
    their grades moves is to be computed anew."""
    session.flush()
    statements = _STATEMENTS[session.connection().dialect.name]
    meanings = [
        _MeaningChange(version, read_time(at))
        for version, at in execute_sql(session, _MEANINGS, {"dataset_pk": dataset_pk})
    ]
    if pair_pks is None:
        after, whole = 0, {"dataset_pk": dataset_pk, "part": PART}
        while last := execute_sql(session, _NEXT, {**whole, "after": after}).scalar_one():
            _derive(session, dataset_pk, statements[False], {**whole, "after": after, "last": last}, meanings)
            after = last
        return
    pks = sorted(set(pair_pks))
    for start in range(0, len(pks), CHUNK):
        some = {"pairs": pks[start : start + CHUNK]}
        _derive(session, dataset_pk, statements[True], some, meanings)


def list_disputes(session: Session, pair_pks: Collection[int]) -> dict[int, DisputeRow]:
    """The disputes that these pairs are, by pair_pk; pairs that are none are absent."""
    found: dict[int, DisputeRow] = {}
    ordered = sorted(pair_pks)
    for start in range(0, len(ordered), CHUNK):
        statement = select(DisputeRow).where(col(DisputeRow.pair_pk).in_(ordered[start : start + CHUNK]))
        found.update((row.pair_pk, row) for row in session.scalars(statement))
    return found


def mark_disputes_stale(session: Session, dataset_pk: int) -> None:
    """What a grade means has just changed: every pair that was judged or decided waits for a lead. (The same as
    `derive_disputes` of all, without reading a million answers.)"""
    session.flush()
    for _version, since in list(execute_sql(session, _MEANINGS, {"dataset_pk": dataset_pk}))[-1:]:
        values = {"dataset_pk": dataset_pk, "since": read_time(since), "stale": int(QueueReason.STALE)}
        for statement in _STALE:
            execute_sql(session, statement, values)


def _derive(
    session: Session,
    dataset_pk: int,
    statement: PreparedSql,
    values: Mapping[str, Any],
    meanings: Sequence[_MeaningChange],
) -> None:
    known: dict[int, _KnownPair] = {}
    for pair_pk, kind, grade, at, flag, query_pk in execute_sql(session, statement, values):
        known.setdefault(pair_pk, _KnownPair(query_pk)).take(kind, grade, read_time(at), flag)
    gone, new, changed = list[int](), list[dict[str, Any]](), list[dict[str, Any]]()
    for pair_pk, pair in known.items():
        found = pair.find_dispute(meanings)
        if found is None:
            gone += [pair_pk] if pair.present else []
            continue
        row = {
            "open": found.open,
            "reasons": int(found.reasons),
            "waiting": int(found.waiting),
            "distance": found.distance,
            "low": found.low,
            "high": found.high,
            "since": found.since,
            "taste": found.taste,
            "pair_pk": pair_pk,
        }
        if pair.present:
            changed.append(row)
        else:
            new.append({**row, "dataset_pk": dataset_pk, "query_pk": pair.query_pk, "impact": 0.0})
    for start in range(0, len(gone), CHUNK):
        execute_sql(session, _DROP, {"pairs": gone[start : start + CHUNK]})
    run_many(session, _CHANGE, changed)
    add_rows(session, DisputeRow, new)
    note_due(session, {pair.query_pk for pair in known.values()})
