"""Read the pairs that are open to an annotator, as far as `labeling/next_pairs.py` asks for them."""

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

from sqlalchemy import exists, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.judgments import OpenPair
from annotator.labeling.checks_sql import list_training
from annotator.labeling.next_pairs import QueryCount
from annotator.storage.adjudication_tables import CurrentAdjudicationRow
from annotator.storage.labeling_tables import DisclosureRow
from annotator.storage.lookup import key_of
from annotator.storage.open_pairs import (
    Eligibility,
    OpenPairsRequest,
    QueryBounds,
    find_bounds,
    find_last_query,
    list_assigned_queries,
    list_leased_elsewhere,
    list_open_among,
    list_open_pairs,
    list_open_queries,
    list_put_off_queries,
)
from annotator.storage.outdated import list_outdated
from annotator.storage.quality_pairs import list_changeable
from annotator.storage.sql import execute_sql, prepare_sql
from annotator.storage.tables import CurrentJudgmentRow, DatasetRow, PairRow

_QUERIES_OF = prepare_sql("SELECT pk, query_pk FROM pair WHERE pk IN :pairs", lists=["pairs"])
_COUNT_QUERIES = prepare_sql(
    """
SELECT p.query_pk, count(*),
  count((SELECT 1 FROM judgment j WHERE j.pair_pk = p.pk AND j.annotator_pk = :annotator_pk AND j.outcome <> 'later' LIMIT 1))
  + count((SELECT 1 FROM repeated_pair r
    WHERE r.pair_pk = p.pk AND r.annotator_pk = :annotator_pk AND r.answered_at IS NOT NULL LIMIT 1))
FROM pair p WHERE p.query_pk IN :queries AND p.retired_at IS NULL GROUP BY p.query_pk""",
    lists=["queries"],
)


_LOCK_PAIRS, _LOCK_FREE_PAIRS = (
    prepare_sql(
        f"SELECT pk FROM pair WHERE pk IN :pairs ORDER BY pk FOR NO KEY UPDATE{rest}", lists=["pairs"]
    )
    for rest in ("", " SKIP LOCKED")
)


class StoredWork:
    """The `WorkSource` of one annotator in the database."""

    def __init__(
        self, session: Session, request: OpenPairsRequest, dataset: DatasetRow, eligibility: Eligibility
    ) -> None:
        self.session, self.request, self.dataset, self.eligibility = session, request, dataset, eligibility
        self.open_pks: set[int] = set()  # of the pairs that were listed as open

    def list_training(self, limit: int) -> list[int]:
        """Return the training pairs (pair_pk) to be answered next, in their order."""
        return list_training(self.session, self.request, self.dataset, limit=limit)

    def list_outdated(self, limit: int) -> list[int]:
        """Return the pairs (pair_pk) whose own judgments are to be confirmed or changed, in their order."""
        return list_outdated(self.session, self.request, limit=limit)

    def list_leased_elsewhere(self) -> set[int]:
        """Return the pairs (pair_pk) that another tab of this annotator holds."""
        return list_leased_elsewhere(self.session, self.request)

    def find_last_query(self) -> int | None:
        """Return the query of the annotator's latest judgment, None if that is long ago."""
        return find_last_query(self.session, self.request)

    def list_assigned_queries(self) -> list[int]:
        """Return the queries that are assigned to the annotator and have open pairs."""
        return list_assigned_queries(self.session, self.request, self.eligibility)

    def list_put_off_queries(self) -> list[int]:
        """Return the queries of which the annotator has put off pairs."""
        return list_put_off_queries(self.session, self.request)

    @cached_property
    def bounds(self) -> QueryBounds:
        """Between which keys the queries lie that have open pairs."""
        return find_bounds(self.session, self.request)

    def count_answered_queries(self) -> int:
        """Return in how many queries the annotator has answered something."""
        return self.bounds.answered

    def list_open_queries(self, *, begun: bool, start: float) -> Iterator[list[int]]:
        """Yield queries with open pairs, a few at a time, from the one at that share (0-1) of all on."""
        return list_open_queries(
            self.session, self.request, self.eligibility, self.bounds, begun=begun, share=start
        )

    def list_open_pairs(self, query_pks: Sequence[int]) -> list[OpenPair]:
        """Return the open pairs of these queries, in no particular order."""
        return self._note_open(list_open_pairs(self.session, self.request, self.eligibility, query_pks))

    def list_open_among(self, pair_pks: Collection[int]) -> list[OpenPair]:
        """Return those of the pairs that are open."""
        return self._note_open(list_open_among(self.session, self.request, self.eligibility, pair_pks))

    def _note_open(self, pairs: list[OpenPair]) -> list[OpenPair]:
        self.open_pks.update(pair.pair_pk for pair in pairs)
        return pairs

    def find_lost(self, pair_pks: Collection[int], *, wait: bool) -> set[int]:
        """Return those of the chosen pairs that somebody else has taken since they were listed; lock the others.

        On PostgreSQL others hand out pairs at the same time. A lease is only written under the lock of its pair, so whoever has
        the lock sees every lease. `wait`: for pairs that somebody else has locked, which are lost otherwise. Only a transaction
        without other locks of pairs may wait.
        """
        chosen = sorted(self.open_pks.intersection(pair_pks))
        if not chosen or self.session.get_bind().dialect.name != "postgresql":
            return set()
        statement = _LOCK_PAIRS if wait else _LOCK_FREE_PAIRS
        locked = list(execute_sql(self.session, statement, {"pairs": chosen}).scalars())
        still_open = list_open_among(self.session, self.request, self.eligibility, locked)
        return set(chosen) - {pair.pair_pk for pair in still_open}

    def list_answered_pairs(self, query_pk: int) -> dict[int, str]:
        """Return the keys of the query's pairs that the annotator has answered and may change, by pair_pk."""
        statement = (
            select(col(PairRow.pk), col(PairRow.key))
            .join(CurrentJudgmentRow, col(CurrentJudgmentRow.pair_pk) == col(PairRow.pk))
            .where(
                col(PairRow.query_pk) == query_pk,
                col(CurrentJudgmentRow.annotator_pk) == self.request.annotator_pk,
                col(CurrentJudgmentRow.outcome) != "later",
                ~exists().where(col(CurrentAdjudicationRow.pair_pk) == col(PairRow.pk)),
                ~exists().where(
                    col(DisclosureRow.pair_pk) == col(PairRow.pk),
                    col(DisclosureRow.person_pk) == self.request.annotator_pk,
                ),
            )
        )
        answered = {key_of(pair_pk): key for pair_pk, key in self.session.execute(statement)}
        return answered | list_changeable(self.session, self.request, query_pk)

    def find_queries(self, pair_pks: Sequence[int]) -> list[tuple[int, int]]:
        """Return (pair_pk, query_pk) of the pairs, in their order."""
        if not pair_pks:
            return []
        rows = execute_sql(self.session, _QUERIES_OF, {"pairs": list(pair_pks)})
        queries = {row[0]: row[1] for row in rows}
        return [(pk, queries[pk]) for pk in pair_pks]

    def count_queries(self, query_pks: Collection[int]) -> dict[int, QueryCount]:
        """Return how many documents each query has, and how many of them the annotator has answered."""
        if not query_pks:
            return {}
        values = {"annotator_pk": self.request.annotator_pk, "queries": sorted(query_pks)}
        rows = execute_sql(self.session, _COUNT_QUERIES, values)
        return {query_pk: QueryCount(in_pool, answered) for query_pk, in_pool, answered in rows}
