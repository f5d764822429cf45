"""Keep the impact of each disagreement up to date with judgments, decisions and runs.

Whatever changes a grade marks the query as due. A decision recomputes its own query in its transaction; queries changed
by judgments are recomputed when a lead opens the queue. The systems' sums come first, since which systems change places
depends on all of them. Refuses nothing: the caller has checked the role.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy.orm import Session

from annotator.adjudication.impact_sql import Rankings, find_stamp, list_systems, read_judged, read_rankings
from annotator.adjudication.queue_sql import count_due
from annotator.storage.database import Database, lock_dataset
from annotator.storage.impact_scores import (
    find_totals,
    list_due,
    store_scores,
    store_weights,
    sum_scores,
    take_due,
)
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.sql import split_into_chunks

if TYPE_CHECKING:
    from annotator.adjudication.impact import ComputedImpact

FEW = 200
"""So many queries are computed while somebody waits for the page."""
WITH_A_DECISION = 25
AT_ONCE = 50
"""So many are computed in one transaction, for which those who judge wait."""
READ_AT_ONCE = 500
KEPT_MOST = 10_000_000
Tell = Callable[[int, int], None]


def recompute(session: Session, dataset_pk: int, query_pks: Sequence[int]) -> None:
    """Compute these queries in the caller's transaction, which holds the dataset's lock and has derived the disputes.
    Call it once in a transaction, with all of them. More than WITH_A_DECISION stay due, and so does every query as long as
    the systems' sums are not known: `bring_up_to_date` computes them."""
    from annotator.adjudication.impact import compute

    queries = sorted(set(query_pks))
    if queries and len(queries) <= WITH_A_DECISION and not _lacks_totals(session, dataset_pk):
        session.flush()
        take_due(session, queries)
        known, rankings = read_judged(session, queries), read_rankings(session, dataset_pk, queries)
        _store(session, dataset_pk, compute(known.by_query(queries), rankings.results, rankings.systems))


def bring_up_to_date(
    database: Database, dataset: str, *, most: int | None = None, tell: Tell | None = None
) -> int:
    """Compute what is due, in `most` steps at the most; how many steps are left. A step is a query; from nothing each takes
    two, for the sums come first. In many small transactions, so that nobody who judges waits for it; two may do it at once.
    `tell`: called with how many steps are done, of how many."""
    with database.read() as session:
        dataset_pk = key_of(find_dataset(session, dataset).pk)
        left = _count_steps(session, dataset_pk)
    done, more, kept = 0, left > 0, _KeptEffects()
    while more and (most is None or done < most):
        with database.read() as session:
            scoring = _lacks_totals(session, dataset_pk)
            at_once = READ_AT_ONCE if most is None else min(READ_AT_ONCE, most - done)
            queries = list_due(session, dataset_pk, most=at_once, unscored=scoring)
            part = _read_part(session, dataset_pk, queries, scoring, kept)
        for chunk in split_into_chunks(queries, AT_ONCE):
            if not _compute(database, dataset_pk, part, chunk, kept):
                break
            done += len(chunk)
            if tell:
                tell(done, max(done, left))
        more = bool(queries) or (scoring and _sum_up(database, dataset_pk))
    return count_steps(database, dataset) if done else left


def count_steps(database: Database, dataset: str) -> int:
    """How many steps `bring_up_to_date` would take; 0 where what is stored is what the grades and runs come to."""
    with database.read() as session:
        return _count_steps(session, key_of(find_dataset(session, dataset).pk))


class _QueryPart(NamedTuple):
    """Where the runs rank the documents of some queries. `scoring`: the sums are not known yet."""

    rankings: Rankings
    queries: frozenset[int]
    scoring: bool


class _KeptEffects:
    """What was computed with the scores, until the sums are known: by the queries of a transaction, with what was known of their
    pairs and of the runs. In memory as far as there is room; the rest is computed again."""

    def __init__(self) -> None:
        self.room = KEPT_MOST
        self.chunks: dict[tuple[int, ...], tuple[tuple[Any, ...], ComputedImpact]] = {}

    def keep(self, queries: Sequence[int], stand: tuple[Any, ...], computed: "ComputedImpact") -> None:
        self.room -= computed.size
        if self.room > 0:
            self.chunks[tuple(queries)] = (stand, computed)

    def take(self, queries: Sequence[int], stand: tuple[Any, ...]) -> "ComputedImpact | None":
        """What came out of these queries, unless something has changed since."""
        before, computed = self.chunks.pop(tuple(queries), (None, None))
        return computed if before == stand else None


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
    """The rankings of these queries, but for those that are kept."""
    chunks = [
        chunk for chunk in split_into_chunks(queries, AT_ONCE) if scoring or tuple(chunk) not in kept.chunks
    ]
    wanted = [query_pk for chunk in chunks for query_pk in chunk]
    return _QueryPart(read_rankings(session, dataset_pk, wanted), frozenset(wanted), scoring)


def _compute(
    database: Database, dataset_pk: int, part: _QueryPart, queries: Sequence[int], kept: _KeptEffects
) -> bool:
    """Compute some of the part's queries; False where the runs have changed since it was read."""
    from annotator.adjudication.impact import compute

    with database.write() as session:
        lock_dataset(session, dataset_pk)
        scoring, stamp = _lacks_totals(session, dataset_pk), find_stamp(session)
        if scoring != part.scoring or stamp != part.rankings.stamp:
            return False
        if not scoring:
            take_due(session, queries)
        known = read_judged(session, queries)
        stand = (stamp, known.digest())
        computed = None if scoring else kept.take(queries, stand)
        if computed is not None:
            _store(session, dataset_pk, computed, scores=False)
            return True
        rankings = (
            part.rankings if part.queries.issuperset(queries) else read_rankings(session, dataset_pk, queries)
        )
        computed = compute(known.by_query(queries), rankings.results, rankings.systems)
        if scoring:
            store_scores(session, dataset_pk, computed.scores)
            kept.keep(queries, stand, computed)
        else:
            _store(session, dataset_pk, computed)
        return True


def _store(session: Session, dataset_pk: int, computed: "ComputedImpact", *, scores: bool = True) -> None:
    """Store what came out; `scores` False: those are stored already."""
    totals = (
        store_scores(session, dataset_pk, computed.scores) if scores else find_totals(session, dataset_pk)
    )
    store_weights(session, computed.list_weights(totals.scores if totals else {}))


def _sum_up(database: Database, dataset_pk: int) -> bool:
    """Add up what all systems score, now that every query's scores are known."""
    with database.write() as session:
        lock_dataset(session, dataset_pk)
        if _lacks_totals(session, dataset_pk) and not list_due(session, dataset_pk, most=1, unscored=True):
            sum_scores(session, dataset_pk)
    return True
