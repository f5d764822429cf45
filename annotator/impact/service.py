"""Keeps what the choice of each dispute's grade moves in line with judgments, decisions and runs.

Stands between whatever changes a grade, which notes the query as due, and the queue, which sorts by it. A decision computes
its own query in its own transaction; what judgments changed is computed when a lead asks for the queue. The systems' sums come
first: as long as they are not known no query is weighed, since which systems change places depends on all of them.
Refuses nothing: whoever calls has been let in.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from sqlalchemy.orm import Session

from annotator.domain.scores import Scores, Weight
from annotator.storage.bulk import split
from annotator.storage.database import Database, lock_dataset
from annotator.storage.find import find_dataset, key_of
from annotator.storage.queue_counts import count_due
from annotator.storage.rankings import Rankings, find_stamp, list_judged, list_systems, read_rankings
from annotator.storage.scores import (
    find_totals,
    list_due,
    store_scores,
    store_weights,
    sum_scores,
    take_due,
)

FEW = 200
"""So many queries are computed while somebody waits for the page."""
AT_ONCE = 25
"""So many are computed in one transaction, for which those who judge wait."""
READ_AT_ONCE = 500
Tell = Callable[[int, int], None]


def recompute(session: Session, dataset_pk: int, query_pks: Sequence[int]) -> None:
    """Compute these queries in the caller's transaction, which holds the dataset's lock and has derived the disputes.
    Call it once in a transaction, with all of them. More than AT_ONCE stay due, and so does every query as long as the
    systems' sums are not known: `bring_up_to_date` computes them."""
    queries = sorted(set(query_pks))
    if queries and len(queries) <= AT_ONCE and not _lacks_totals(session, dataset_pk):
        session.flush()
        take_due(session, queries)
        _weigh(session, dataset_pk, queries, read_rankings(session, dataset_pk, queries))


def bring_up_to_date(
    database: Database, dataset: str, *, most: int | None = None, tell: Tell | None = None
) -> int:
    """Compute what is due, in `most` steps at the most; how many steps are left. A step is a query; from nothing each takes
    two, for the sums come first. In many small transactions, so that nobody who judges waits for it; two may do it at once.
    `tell`: called with how many steps are done, of how many."""
    with database.read() as session:
        dataset_pk = key_of(find_dataset(session, dataset).pk)
        left = _count_steps(session, dataset_pk)
    done, more = 0, left > 0
    while more and (most is None or done < most):
        with database.read() as session:
            part = _find_part(
                session, dataset_pk, min(READ_AT_ONCE, READ_AT_ONCE if most is None else most - done)
            )
        for chunk in split(part.queries, AT_ONCE):
            if not _compute(database, dataset_pk, part, chunk):
                break
            done += len(chunk)
            if tell:
                tell(done, max(done, left))
        more = bool(part.queries) or (part.scoring and _sum_up(database, dataset_pk))
    return count_steps(database, dataset) if done else left


def count_steps(database: Database, dataset: str) -> int:
    """How many steps `bring_up_to_date` would take; 0 where what is stored is what the grades and runs come to."""
    with database.read() as session:
        return _count_steps(session, key_of(find_dataset(session, dataset).pk))


class _Part(NamedTuple):
    """Queries that are due, and where the runs rank their documents. `scoring`: the sums are not known yet."""

    queries: list[int]
    rankings: Rankings
    scoring: bool


def _lacks_totals(session: Session, dataset_pk: int) -> bool:
    return find_totals(session, dataset_pk) is None and bool(list_systems(session, dataset_pk))


def _count_steps(session: Session, dataset_pk: int) -> int:
    due = count_due(session, dataset_pk)
    if due and _lacks_totals(session, dataset_pk):
        due += len(list_due(session, dataset_pk, unscored=True))
    return due


def _find_part(session: Session, dataset_pk: int, most: int) -> _Part:
    scoring = _lacks_totals(session, dataset_pk)
    queries = list_due(session, dataset_pk, most=most, unscored=scoring)
    return _Part(queries, read_rankings(session, dataset_pk, queries), scoring)


def _compute(database: Database, dataset_pk: int, part: _Part, queries: Sequence[int]) -> bool:
    """Compute some of the part's queries; False where the runs have changed since it was read."""
    with database.write() as session:
        lock_dataset(session, dataset_pk)
        scoring = _lacks_totals(session, dataset_pk)
        if scoring != part.scoring or find_stamp(session) != part.rankings.stamp:
            return False
        if scoring:
            _score(session, dataset_pk, queries, part.rankings)
        else:
            take_due(session, queries)
            _weigh(session, dataset_pk, queries, part.rankings)
        return True


def _sum_up(database: Database, dataset_pk: int) -> bool:
    """Add up what all systems score, now that every query's scores are known."""
    with database.write() as session:
        lock_dataset(session, dataset_pk)
        if _lacks_totals(session, dataset_pk) and not list_due(session, dataset_pk, most=1, unscored=True):
            sum_scores(session, dataset_pk)
    return True


def _score(session: Session, dataset_pk: int, queries: Sequence[int], rankings: Rankings) -> None:
    """Store what the systems score on these queries."""
    from annotator.impact.layout import lay_out, name_scores

    known = list_judged(session, queries)
    stored: dict[int, Scores] = {}
    for query_pk in queries:
        query = lay_out(known[query_pk], rankings.results.get(query_pk))
        stored[query_pk] = name_scores(query, rankings.systems)
    store_scores(session, dataset_pk, stored)


def _weigh(session: Session, dataset_pk: int, queries: Sequence[int], rankings: Rankings) -> None:
    """Store what the systems score on these queries, and what the choice of each of their disputes moves."""
    from annotator.impact.layout import lay_out, name_scores, sum_ndcg, weigh_query, weigh_unranked

    known = list_judged(session, queries)
    weights: list[Weight] = []
    weighed, stored = [], dict[int, Scores]()
    for query_pk in queries:
        query = lay_out(known[query_pk], rankings.results.get(query_pk))
        if query.disputes and len(query.systems):
            weighed.append(weigh_query(query))
            stored[query_pk] = name_scores(query, rankings.systems, weighed[-1].standing)
        else:
            weights += weigh_unranked(query) if query.disputes else []
            stored[query_pk] = name_scores(query, rankings.systems)
    totals = store_scores(session, dataset_pk, stored) if rankings.systems else None
    if totals is not None:
        sums = sum_ndcg(totals.scores, rankings.systems)
        weights += [weight for one in weighed for weight in one.to_weights(sums)]
    store_weights(session, weights)
