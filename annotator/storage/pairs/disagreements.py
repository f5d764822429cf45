"""Derive the disagreements (`dispute`) from judgments and decisions; `domain/settling.py` has the rule.

Every change of a pair calls this file in its transaction: a judgment, a decision, quality control, a
question, an objection, a new guideline. One statement reads all facts about the pairs, so a judgment that
makes no disagreement costs one read.

Also stores each system's scores per query, and which queries must be scored again. Every change of a grade or
a run marks its query as due; adjudication scores the due queries before it sorts the queue. Writes need a
transaction that holds the dataset's lock.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import select, text
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.judgments import COUNTED_PURPOSE, PresentJudgment
from annotator.domain.settling import (
    Decided,
    GradeImpact,
    QueueEntry,
    Scores,
    ScoreTotals,
    SettlementFacts,
    find_queue_entry,
    read_decision,
    settle,
)
from annotator.storage.sql import (
    PreparedSql,
    add_rows,
    execute_sql,
    fetch,
    fetch_tuples,
    prepare_sql,
    read_json,
    split_into_chunks,
)
from annotator.storage.tables.adjudication import DisagreementRow, QueryScoreRow, ScoreDueRow, ScoreTotalRow

# An update that changes nothing: it waits for a transaction that is scoring the query, and survives its removal.
_NOTE = prepare_sql(
    """
INSERT INTO score_due (query_pk, dataset_pk) SELECT pk, dataset_pk FROM query WHERE pk IN :queries
ORDER BY pk ON CONFLICT (query_pk) DO UPDATE SET dataset_pk = excluded.dataset_pk""",
    lists=["queries"],
)
_FORGET = [
    prepare_sql("DELETE FROM score_total WHERE dataset_pk = :dataset_pk"),
    prepare_sql("DELETE FROM query_score WHERE dataset_pk = :dataset_pk"),
    prepare_sql("""
INSERT INTO score_due (query_pk, dataset_pk) SELECT pk, dataset_pk FROM query WHERE dataset_pk = :dataset_pk
ORDER BY pk ON CONFLICT (query_pk) DO UPDATE SET dataset_pk = excluded.dataset_pk"""),
]
_TAKE = prepare_sql("DELETE FROM score_due WHERE query_pk IN :queries", lists=["queries"])
_SCORES = prepare_sql("SELECT scores FROM query_score WHERE query_pk IN :queries", lists=["queries"])
_ALL_SCORES = prepare_sql("SELECT scores FROM query_score WHERE dataset_pk = :dataset_pk ORDER BY query_pk")
_DROP_SCORES = prepare_sql("DELETE FROM query_score WHERE query_pk IN :queries", lists=["queries"])
_TOTAL = prepare_sql("SELECT queries, scores FROM score_total WHERE dataset_pk = :dataset_pk")
_DROP_TOTAL = prepare_sql("DELETE FROM score_total WHERE dataset_pk = :dataset_pk")
_WEIGH = text(
    "UPDATE dispute SET impact = :impact, recall_impact = :recall, mrr_impact = :mrr, flips = :flips "
    "WHERE pair_pk = :pair_pk"
)


def note_due(session: Session, query_pks: Collection[int]) -> None:
    """Mark these queries as due, because their grades have changed."""
    for chunk in split_into_chunks(sorted(query_pks), CHUNK):
        execute_sql(session, _NOTE, {"queries": chunk})


def note_all_due(session: Session, dataset_pk: int) -> None:
    """Delete all scores and mark every query as due, because a run arrived or document ids changed."""
    session.flush()
    for statement in _FORGET:
        execute_sql(session, statement, {"dataset_pk": dataset_pk})


def list_due(
    session: Session, dataset_pk: int, *, most: int | None = None, unscored: bool = False
) -> list[int]:
    """Return the first queries that are due (query_pk). `unscored`: only those without scores."""
    statement = select(col(ScoreDueRow.query_pk)).where(col(ScoreDueRow.dataset_pk) == dataset_pk)
    if unscored:
        statement = statement.where(col(ScoreDueRow.query_pk).not_in(select(col(QueryScoreRow.query_pk))))
    return list(session.scalars(statement.order_by(col(ScoreDueRow.query_pk)).limit(most)))


def take_due(session: Session, query_pks: Sequence[int]) -> None:
    """Unmark these queries before scoring them.

    Must come first in the transaction: a concurrent change of a grade waits, and then marks the query again.
    """
    execute_sql(session, _TAKE, {"queries": query_pks})


def find_totals(session: Session, dataset_pk: int) -> ScoreTotals | None:
    """Return the sums over the dataset's queries; None until all queries have been computed."""
    return next(iter(fetch(session, _TOTAL, ScoreTotals, {"dataset_pk": dataset_pk})), None)


def sum_scores(session: Session, dataset_pk: int) -> ScoreTotals:
    """Compute, store and return the sums over all queries that have scores."""
    totals = ScoreTotals(0, {})
    # one by one: `fetch` would hold the scores of every query in memory
    for (scores,) in fetch_tuples(session, _ALL_SCORES, {"dataset_pk": dataset_pk}):
        totals = _add(totals, read_json(scores), 1)
    _store_totals(session, dataset_pk, totals)
    return totals


def store_scores(session: Session, dataset_pk: int, scores: Mapping[int, Scores]) -> ScoreTotals | None:
    """Replace the scores of these queries (by query_pk), and update the sums if there are any.

    Return the new sums.
    """
    queries = sorted(scores)
    if not queries:
        return None
    totals = find_totals(session, dataset_pk)
    for chunk in split_into_chunks(queries, CHUNK):
        if totals is not None:
            for (before,) in fetch_tuples(session, _SCORES, {"queries": chunk}):
                totals = _add(totals, read_json(before), -1)
        execute_sql(session, _DROP_SCORES, {"queries": chunk})
    rows = [{"query_pk": key, "dataset_pk": dataset_pk, "scores": scores[key]} for key in queries]
    add_rows(session, QueryScoreRow, rows)
    if totals is not None:
        for key in queries:
            totals = _add(totals, scores[key], 1)
        _store_totals(session, dataset_pk, totals)
    return totals


def store_weights(session: Session, weights: Sequence[GradeImpact]) -> None:
    """Store the impact of each of these pairs."""
    if weights:
        session.connection().execute(_WEIGH, [weight._asdict() for weight in weights])


def _add(totals: ScoreTotals, scores: Scores, times: int) -> ScoreTotals:
    sums = totals.scores
    for system, values in scores.items():
        system_sums = sums.setdefault(system, [0.0, 0.0, 0.0])
        for metric, value in enumerate(values):
            if value is not None:
                system_sums[metric] += times * value
    return ScoreTotals(totals.queries + times, sums)


def _store_totals(session: Session, dataset_pk: int, totals: ScoreTotals) -> None:
    execute_sql(session, _DROP_TOTAL, {"dataset_pk": dataset_pk})
    add_rows(session, ScoreTotalRow, [{"dataset_pk": dataset_pk, **totals._asdict()}])


CHUNK = 500
PART = 20_000
"""Pairs of a whole dataset that are held in memory at once."""
_MADE_AT = {"sqlite": "datetime(c.made_at, 'unixepoch')", "postgresql": "to_timestamp(c.made_at)"}
_FACTS = f"""
SELECT c.pair_pk, 'answer' AS kind, c.grade, {{made_at}} AS at,
  CASE WHEN c.stale % 2 = 1 THEN coalesce((SELECT r.version FROM rubric r WHERE r.pk = c.rubric_pk), 1) END AS flag, p.query_pk
FROM current_judgment c JOIN pair p ON p.pk = c.pair_pk
WHERE c.pair_pk IN {{pairs}} AND c.purpose = '{COUNTED_PURPOSE}' AND c.outcome <> 'later'
UNION ALL SELECT a.pair_pk, a.outcome, a.grade, a.decided_at, r.version, p.query_pk
FROM current_adjudication a JOIN adjudication d ON d.pk = a.adjudication_pk JOIN rubric r ON r.pk = d.rubric_pk
JOIN pair p ON p.pk = a.pair_pk WHERE a.pair_pk IN {{pairs}} AND p.retired_at IS NULL
UNION ALL SELECT x.pair_pk, 'error', x.grade, x.answered_at, CASE WHEN a.decided_at >= x.answered_at THEN 1 ELSE 0 END, p.query_pk
FROM quality_pair x JOIN pair p ON p.pk = x.pair_pk LEFT JOIN current_adjudication a ON a.pair_pk = x.pair_pk
WHERE x.pair_pk IN {{pairs}} AND x.grade <> x.settled_grade AND p.retired_at IS NULL
UNION ALL SELECT o.pair_pk, 'objection', NULL, o.objected_at, 0, p.query_pk
FROM objection o JOIN current_adjudication a ON a.adjudication_pk = o.adjudication_pk JOIN pair p ON p.pk = o.pair_pk
WHERE o.pair_pk IN {{pairs}} AND p.retired_at IS NULL
UNION ALL SELECT u.pair_pk, 'question', NULL, u.asked_at, 0, p.query_pk
FROM question u JOIN pair p ON p.pk = u.pair_pk
WHERE u.pair_pk IN {{pairs}} AND u.answered_at IS NULL AND p.retired_at IS NULL
UNION ALL SELECT i.pair_pk, 'imported', i.grade, i.imported_at, 0, p.query_pk
FROM imported_qrel i JOIN pair p ON p.pk = i.pair_pk
WHERE i.pair_pk IN {{pairs}} AND p.kept AND p.judged = 0 AND p.retired_at IS NULL AND i.keep
  AND NOT EXISTS (SELECT 1 FROM imported_qrel n WHERE n.pair_pk = i.pair_pk AND n.pk > i.pk)
UNION ALL SELECT s.pair_pk, 'present', NULL, s.since, 0, s.query_pk
FROM dispute s WHERE s.pair_pk IN {{pairs}}"""
_MEANINGS = prepare_sql(
    "SELECT version, created_at AS since FROM rubric WHERE dataset_pk = :dataset_pk AND change = 'semantic' AND version > 1 "
    "ORDER BY version"
)
_PART = "(SELECT pk FROM pair WHERE dataset_pk = :dataset_pk AND pk > :after AND pk <= :last)"
_NEXT = prepare_sql(
    "SELECT max(pk) FROM (SELECT pk FROM pair WHERE dataset_pk = :dataset_pk AND pk > :after ORDER BY pk LIMIT :part) AS part"
)
_STATEMENTS = {
    dialect: {
        some: prepare_sql(
            _FACTS.format(pairs=":pairs" if some else _PART, made_at=made_at), lists=["pairs"] if some else []
        )
        for some in (True, False)
    }
    for dialect, made_at in _MADE_AT.items()
}
_DROP = prepare_sql("DELETE FROM dispute WHERE pair_pk IN :pairs", lists=["pairs"])
_CHANGE = prepare_sql("""
UPDATE dispute SET open = :open, reasons = :reasons, waiting = :waiting, distance = :distance, low = :low, high = :high,
  since = :since, taste = :taste WHERE pair_pk = :pair_pk""")


class MeaningChange(NamedTuple):
    """A version of the guideline that changed what a grade means, and when it came."""

    version: int
    since: datetime


class _Fact(NamedTuple):
    """One of the facts about a pair; `kind` and `flag` as `_PairFacts.take` reads them."""

    pair_pk: int
    kind: str
    grade: int | None
    at: datetime
    flag: int | None
    query_pk: int


@dataclass(slots=True)
class _PairFacts:
    """The facts that decide whether a pair is a disagreement."""

    query_pk: int
    judgments: list[tuple[int | None, datetime]] = field(default_factory=list)
    decided: Decided | None = None
    decided_at: datetime | None = None
    imported: int | None = None
    errors: list[tuple[int, datetime]] = field(default_factory=list)
    answered_errors: list[tuple[int, datetime]] = field(default_factory=list)
    objections: list[datetime] = field(default_factory=list)
    questions: list[datetime] = field(default_factory=list)
    older_versions: list[int] = field(
        default_factory=list
    )  # of the guideline, of judgments made under an older one
    decided_by: int = 0  # the guideline version of the decision
    present: bool = False  # has a row in `dispute`

    def take(self, kind: str, grade: int | None, at: datetime, flag: int | None) -> None:
        """Add a row of the statement.

        `flag`: for a judgment, its guideline version if that is outdated; for a decision, its guideline
        version; for an error, whether a lead has decided on it since.
        """
        if kind == "answer":
            self.judgments.append((grade, at))
            self.older_versions += [] if flag is None else [flag]
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

    def find_queue_entry(self, meanings: Sequence[MeaningChange]) -> QueueEntry | None:
        """Return the pair's queue entry, or None if it is not a disagreement.

        A stale pair waits since the first of `meanings` after its judgments or decision.
        """
        grades = tuple(grade for grade, _ in self.judgments if grade is not None)
        unrateable = len(self.judgments) - len(grades)
        settled = settle(grades, unrateable, self.decided, self.imported).grade
        decided_at = self.decided_at
        open_questions = [at for at in self.questions if decided_at is None or at > decided_at]
        made_under = min(self.older_versions, default=None) if decided_at is None else self.decided_by
        stale = (
            []
            if made_under is None
            else [change.since for change in meanings if change.version > made_under][:1]
        )
        return find_queue_entry(
            SettlementFacts(
                judgments=self.judgments,
                decided=self.decided,
                decided_at=decided_at,
                settled=settled,
                errors=self.errors,
                answered_errors=self.answered_errors,
                objections=self.objections,
                questions=open_questions,
                stale=stale,
            )
        )


def derive_disagreements(session: Session, dataset_pk: int, pair_pks: Iterable[int] | None = None) -> None:
    """Derive the disagreements of these pairs (None: all), and mark the impact of their queries as due."""
    session.flush()
    statements = _STATEMENTS[session.connection().dialect.name]
    meanings = fetch(session, _MEANINGS, MeaningChange, {"dataset_pk": dataset_pk})
    if pair_pks is None:
        after, whole = 0, {"dataset_pk": dataset_pk, "part": PART}
        while last := fetch_tuples(session, _NEXT, {**whole, "after": after})[0][0]:
            _derive(session, dataset_pk, statements[False], {**whole, "after": after, "last": last}, meanings)
            after = last
        return
    for chunk in split_into_chunks(sorted(set(pair_pks)), CHUNK):
        _derive(session, dataset_pk, statements[True], {"pairs": chunk}, meanings)


def find_entry(
    query_pk: int, judgments: Iterable[PresentJudgment], meanings: Sequence[MeaningChange]
) -> QueueEntry | None:
    """Return the queue entry of a pair that has only judgments, or None if it is not a disagreement.

    `judgments`: the current independent ones, without put-off ones.
    """
    pair = _PairFacts(query_pk)
    for judgment in judgments:
        at = datetime.fromtimestamp(judgment.made_at, UTC)
        pair.take("answer", judgment.grade, at, (judgment.version or 1) if judgment.stale % 2 else None)
    return pair.find_queue_entry(meanings)


def list_disagreements(session: Session, pair_pks: Collection[int]) -> dict[int, DisagreementRow]:
    """Return the disagreements among these pairs, by pair_pk; other pairs are absent."""
    rows: dict[int, DisagreementRow] = {}
    for chunk in split_into_chunks(sorted(pair_pks), CHUNK):
        statement = select(DisagreementRow).where(col(DisagreementRow.pair_pk).in_(chunk))
        rows.update((row.pair_pk, row) for row in session.scalars(statement))
    return rows


def _derive(
    session: Session,
    dataset_pk: int,
    statement: PreparedSql,
    values: Mapping[str, Any],
    meanings: Sequence[MeaningChange],
) -> None:
    pairs: dict[int, _PairFacts] = {}
    for pair_pk, kind, grade, at, flag, query_pk in fetch(session, statement, _Fact, values):
        pairs.setdefault(pair_pk, _PairFacts(query_pk)).take(kind, grade, at, flag)
    gone, new, changed = list[int](), list[dict[str, Any]](), list[dict[str, Any]]()
    for pair_pk, pair in pairs.items():
        entry = pair.find_queue_entry(meanings)
        if entry is None:
            gone += [pair_pk] if pair.present else []
            continue
        row = {**describe_entry(entry), "pair_pk": pair_pk}
        if pair.present:
            changed.append(row)
        else:
            new.append({**row, "dataset_pk": dataset_pk, "query_pk": pair.query_pk, "impact": 0.0})
    for chunk in split_into_chunks(gone, CHUNK):
        execute_sql(session, _DROP, {"pairs": chunk})
    execute_sql(session, _CHANGE, changed)
    add_rows(session, DisagreementRow, new)
    note_due(session, {pair.query_pk for pair in pairs.values()})


def describe_entry(entry: QueueEntry) -> dict[str, Any]:
    """Return the columns of `dispute` that hold the entry."""
    return {
        "open": entry.open,
        "reasons": int(entry.reasons),
        "waiting": int(entry.waiting),
        "distance": entry.distance,
        "low": entry.low,
        "high": entry.high,
        "since": entry.since,
        "taste": entry.taste,
    }
