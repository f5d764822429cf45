"""Keep the impact of each disagreement up to date with judgments, decisions and runs.

A change of a grade marks the query as due. A decision recomputes its query in its transaction. Queries
changed by judgments are recomputed when a lead opens the queue. The systems' totals are computed first: they
decide which systems can change places. The caller has checked the role.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy.orm import Session

from annotator.adjudication.impact.impact_sql import (
    Rankings,
    find_stamp,
    list_systems,
    read_judged,
    read_rankings,
)
from annotator.adjudication.queue.queue_sql import count_due
from annotator.storage.database import Database, lock_dataset
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.pairs.impact_scores import (
    find_totals,
    list_due,
    store_scores,
    store_weights,
    sum_scores,
    take_due,
)
from annotator.storage.sql import split_into_chunks

if TYPE_CHECKING:
    from annotator.adjudication.impact.impact import ComputedImpact

FEW = 200
"""The most queries that a page computes without a progress bar."""
WITH_A_DECISION = 25
"""The most queries that a decision recomputes."""
AT_ONCE = 50
"""The queries of one transaction; annotators wait for it."""
READ_AT_ONCE = 500
KEPT_MOST = 10_000_000
ProgressCallback = Callable[[int, int], None]


def recompute(session: Session, dataset_pk: int, query_pks: Sequence[int]) -> None:
    """Compute the impact of these queries in the caller's transaction, which holds the dataset's lock.

    Call it once per transaction, with all queries, after the disagreements were derived. If there are more
    than WITH_A_DECISION queries, or the totals of the systems are unknown, the queries stay due for
    `bring_up_to_date`.
    """
    from annotator.adjudication.impact.impact import compute

    queries = sorted(set(query_pks))
    if queries and len(queries) <= WITH_A_DECISION and not _lacks_totals(session, dataset_pk):
        session.flush()
        take_due(session, queries)
        judged, rankings = read_judged(session, queries), read_rankings(session, dataset_pk, queries)
        _store(session, dataset_pk, compute(judged.by_query(queries), rankings.results, rankings.systems))


def bring_up_to_date(
    database: Database, dataset: str, *, report_progress: ProgressCallback | None = None
) -> int:
    """Compute what is due, and return the number of steps that came up meanwhile.

    A step is one query; if no totals are stored, each query takes two steps. Uses many small transactions, so
    that annotators hardly wait. Two processes may do it at once. `report_progress`: called with (steps done,
    all steps).
    """
    with database.read() as session:
        dataset_pk = key_of(find_dataset(session, dataset).pk)
        left = _count_steps(session, dataset_pk)
    done, more, kept = 0, left > 0, _KeptEffects()
    while more:
        with database.read() as session:
            scoring = _lacks_totals(session, dataset_pk)
            queries = list_due(session, dataset_pk, most=READ_AT_ONCE, unscored=scoring)
            part = _read_part(session, dataset_pk, queries, scoring, kept)
        for chunk in split_into_chunks(queries, AT_ONCE):
            if not _compute(database, dataset_pk, part, chunk, kept):
                break
            done += len(chunk)
            if report_progress:
                report_progress(done, max(done, left))
        more = bool(queries) or (scoring and _sum_up(database, dataset_pk))
    return count_steps(database, dataset) if done else left


def count_steps(database: Database, dataset: str) -> int:
    """Count the steps that `bring_up_to_date` would take; 0 if everything is up to date."""
    with database.read() as session:
        return _count_steps(session, key_of(find_dataset(session, dataset).pk))


class _QueryPart(NamedTuple):
    """The rankings of some queries, read ahead of several transactions."""

    rankings: Rankings
    queries: frozenset[int]  # query_pk
    scoring: bool  # the totals of the systems are not known yet


class _KeptEffects:
    """Effects that were computed together with the scores, kept until the totals are known.

    They are kept by the queries of a transaction, with the state they were computed from. Effects that do not
    fit into memory are computed again.
    """

    def __init__(self) -> None:
        self.room = KEPT_MOST
        self.chunks: dict[tuple[int, ...], tuple[tuple[Any, ...], ComputedImpact]] = {}

    def keep(self, queries: Sequence[int], state: tuple[Any, ...], computed: "ComputedImpact") -> None:
        self.room -= computed.size
        if self.room > 0:
            self.chunks[tuple(queries)] = (state, computed)

    def take(self, queries: Sequence[int], state: tuple[Any, ...]) -> "ComputedImpact | None":
        """Return the effects of these queries; None if they were not kept or the state has changed."""
        kept_state, computed = self.chunks.pop(tuple(queries), (None, None))
        return computed if kept_state == state else None


def _lacks_totals(session: Session, dataset_pk: int) -> bool:
    return find_totals(session, dataset_pk) is None and bool(list_systems(session, dataset_pk))


def _count_steps(session: Session, dataset_pk: int) -> int:
    due = count_due(session, dataset_pk)
    if due and _lacks_totals(session, dataset_pk):
        due += len(list_due(session, dataset_pk, unscored=True))
    return due


def _read_part(
    session: Session, dataset_pk: int, queries: Sequence[int], scoring: bool, kept: _KeptEffects
) -> _QueryPart:
    """Read the rankings of these queries, except those whose effects are kept."""
    chunks = [
        chunk for chunk in split_into_chunks(queries, AT_ONCE) if scoring or tuple(chunk) not in kept.chunks
    ]
    wanted = [query_pk for chunk in chunks for query_pk in chunk]
    return _QueryPart(read_rankings(session, dataset_pk, wanted), frozenset(wanted), scoring)


def _compute(
    database: Database, dataset_pk: int, part: _QueryPart, queries: Sequence[int], kept: _KeptEffects
) -> bool:
    """Compute some queries of the part. Return False if the runs have changed since it was read."""
    from annotator.adjudication.impact.impact import compute

    with database.write() as session:
        lock_dataset(session, dataset_pk, archived_too=True)  # scores are derived
        scoring, stamp = _lacks_totals(session, dataset_pk), find_stamp(session)
        if scoring != part.scoring or stamp != part.rankings.stamp:
            return False
        if not scoring:
            take_due(session, queries)
        judged = read_judged(session, queries)
        state = (stamp, judged.digest())
        computed = None if scoring else kept.take(queries, state)
        if computed is not None:
            _store(session, dataset_pk, computed, scores=False)
            return True
        rankings = (
            part.rankings if part.queries.issuperset(queries) else read_rankings(session, dataset_pk, queries)
        )
        computed = compute(judged.by_query(queries), rankings.results, rankings.systems)
        if scoring:
            store_scores(session, dataset_pk, computed.scores)
            kept.keep(queries, state, computed)
        else:
            _store(session, dataset_pk, computed)
        return True


def _store(session: Session, dataset_pk: int, computed: "ComputedImpact", *, scores: bool = True) -> None:
    """Store the result. `scores`: False if the scores are stored already."""
    totals = (
        store_scores(session, dataset_pk, computed.scores) if scores else find_totals(session, dataset_pk)
    )
    store_weights(session, computed.list_weights(totals.scores if totals else {}))


def _sum_up(database: Database, dataset_pk: int) -> bool:
    """Store each system's totals, if every query has its scores."""
    with database.write() as session:
        lock_dataset(session, dataset_pk, archived_too=True)  # scores are derived
        if _lacks_totals(session, dataset_pk) and not list_due(session, dataset_pk, most=1, unscored=True):
            sum_scores(session, dataset_pk)
    return True
