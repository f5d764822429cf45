"""Store each system's scores per query, and which queries must be scored anew.

Whatever changes a grade or a run marks its query as due; adjudication computes the due ones before it sorts the queue.
Writes need a transaction that holds the dataset's lock.
"""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import select, text
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.impact_scores import GradeImpact, Scores, ScoreTotals
from annotator.storage.adjudication_tables import QueryScoreRow, ScoreDueRow, ScoreTotalRow
from annotator.storage.sql import add_rows, execute_sql, prepare_sql, read_json, split_into_chunks

CHUNK = 500
# An update that changes nothing: it waits for whoever computes the query's scores just now, and outlasts their removal.
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
_SCORES = prepare_sql(
    "SELECT query_pk, scores FROM query_score WHERE query_pk IN :queries", lists=["queries"]
)
_ALL_SCORES = prepare_sql("SELECT scores FROM query_score WHERE dataset_pk = :dataset_pk ORDER BY query_pk")
_DROP_SCORES = prepare_sql("DELETE FROM query_score WHERE query_pk IN :queries", lists=["queries"])
_TOTAL = prepare_sql("SELECT queries, scores FROM score_total WHERE dataset_pk = :dataset_pk")
_DROP_TOTAL = prepare_sql("DELETE FROM score_total WHERE dataset_pk = :dataset_pk")
_WEIGH = text(
    "UPDATE dispute SET impact = :impact, recall_impact = :recall, mrr_impact = :mrr, flips = :flips "
    "WHERE pair_pk = :pair_pk"
)


def note_due(session: Session, query_pks: Collection[int]) -> None:
    """The grades of these queries have changed."""
    ordered = sorted(query_pks)
    for start in range(0, len(ordered), CHUNK):
        execute_sql(session, _NOTE, {"queries": ordered[start : start + CHUNK]})


def note_all_due(session: Session, dataset_pk: int) -> None:
    """A run has come, or the ids of its documents have changed: everything is to be computed anew."""
    session.flush()
    for statement in _FORGET:
        execute_sql(session, statement, {"dataset_pk": dataset_pk})


def list_due(
    session: Session, dataset_pk: int, *, most: int | None = None, unscored: bool = False
) -> list[int]:
    """The queries that are due, the first ones. `unscored`: those that have no scores yet."""
    statement = select(col(ScoreDueRow.query_pk)).where(col(ScoreDueRow.dataset_pk) == dataset_pk)
    if unscored:
        statement = statement.where(col(ScoreDueRow.query_pk).not_in(select(col(QueryScoreRow.query_pk))))
    return list(session.scalars(statement.order_by(col(ScoreDueRow.query_pk)).limit(most)))


def take_due(session: Session, query_pks: Sequence[int]) -> None:
    """These are computed now. First of all in the transaction: whoever changes them meanwhile waits, and notes them again."""
    execute_sql(session, _TAKE, {"queries": query_pks})


def find_totals(session: Session, dataset_pk: int) -> ScoreTotals | None:
    """The sums over the dataset's queries; None as long as not all have been computed."""
    found = execute_sql(session, _TOTAL, {"dataset_pk": dataset_pk}).first()
    return None if found is None else ScoreTotals(found[0], read_json(found[1]))


def sum_scores(session: Session, dataset_pk: int) -> ScoreTotals:
    """The sums over all queries that have scores, stored."""
    totals = ScoreTotals(0, {})
    for (scores,) in execute_sql(session, _ALL_SCORES, {"dataset_pk": dataset_pk}):
        totals = _add(totals, read_json(scores), 1)
    _store_totals(session, dataset_pk, totals)
    return totals


def store_scores(session: Session, dataset_pk: int, scores: Mapping[int, Scores]) -> ScoreTotals | None:
    """Put the scores of these queries (by query_pk) in place of what they scored before; the sums, where there are some."""
    queries = sorted(scores)
    if not queries:
        return None
    totals = find_totals(session, dataset_pk)
    for chunk in split_into_chunks(queries, CHUNK):
        for _, before in execute_sql(session, _SCORES, {"queries": chunk}) if totals else ():
            totals = _add(totals, read_json(before), -1) if totals else None
        execute_sql(session, _DROP_SCORES, {"queries": chunk})
    rows = [{"query_pk": key, "dataset_pk": dataset_pk, "scores": scores[key]} for key in queries]
    add_rows(session, QueryScoreRow, rows)
    if totals is not None:
        for key in queries:
            totals = _add(totals, scores[key], 1)
        _store_totals(session, dataset_pk, totals)
    return totals


def store_weights(session: Session, weights: Sequence[GradeImpact]) -> None:
    """What the choice of each of these pairs moves."""
    if weights:
        session.connection().execute(_WEIGH, [one._asdict() for one in weights])


def _add(totals: ScoreTotals, scores: Scores, times: int) -> ScoreTotals:
    sums = totals.scores
    for system, values in scores.items():
        before = sums.setdefault(system, [0.0, 0.0, 0.0])
        for at, value in enumerate(values):
            if value is not None:
                before[at] += times * value
    return ScoreTotals(totals.queries + times, sums)


def _store_totals(session: Session, dataset_pk: int, totals: ScoreTotals) -> None:
    execute_sql(session, _DROP_TOTAL, {"dataset_pk": dataset_pk})
    add_rows(session, ScoreTotalRow, [{"dataset_pk": dataset_pk, **totals._asdict()}])
