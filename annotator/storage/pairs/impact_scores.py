"""Store each system's scores per query, and which queries must be scored again.

Every change of a grade or a run marks its query as due; adjudication scores the due queries before it sorts
the queue. Writes need a transaction that holds the dataset's lock.
"""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import select, text
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.settling import GradeImpact, Scores, ScoreTotals
from annotator.storage.sql import (
    add_rows,
    execute_sql,
    fetch,
    fetch_tuples,
    prepare_sql,
    read_json,
    split_into_chunks,
)
from annotator.storage.tables.adjudication import QueryScoreRow, ScoreDueRow, ScoreTotalRow

CHUNK = 500
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
