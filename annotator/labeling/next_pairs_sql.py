"""Read the pairs that are open to an annotator, only as many as `labeling/next_pairs.py` needs."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import exists, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.judgments import OpenPair
from annotator.labeling.checks_sql import list_answered_gold, list_training
from annotator.labeling.exchange_sql import ExchangeContext
from annotator.labeling.open_pairs_sql import (
    OpenQueries,
    find_last_query,
    find_open_queries,
    list_assigned_queries,
    list_handed_queries,
    list_held,
    list_open_pairs,
    list_open_queries,
    list_put_off_queries,
)
from annotator.storage.judgments.leases import OpenPairsRequest
from annotator.storage.judgments.outdated import list_outdated
from annotator.storage.judgments.quality_pairs import list_changeable
from annotator.storage.lookup import key_of
from annotator.storage.tables.adjudication import CurrentAdjudicationRow
from annotator.storage.tables.central import CurrentJudgmentRow, PairRow
from annotator.storage.tables.labeling import DisclosureRow


@dataclass(frozen=True, slots=True)
class SpecialWork:
    """The kinds of special work that can exist. Absent kinds are not searched for."""

    outdated: bool
    put_off: bool
    other_tabs: bool


class StoredWork:
    """The `WorkSource` of one annotator in the database."""

    def __init__(
        self, session: Session, request: OpenPairsRequest, context: ExchangeContext, special: SpecialWork
    ) -> None:
        self.session, self.request, self.context, self.special = session, request, context, special
        self.eligibility = context.eligibility
        self.open_pks: set[int] = set()  # of the pairs that were listed as open
        self.open_queries: OpenQueries | None = None

    def list_training(self, limit: int) -> list[int]:
        """Return the training pairs (pair_pk) to be answered next, in their order."""
        return list_training(self.session, self.request, self.context.dataset, limit=limit)

    def list_outdated(self, limit: int) -> list[int]:
        """Return up to `limit` pairs (pair_pk) with own judgments to confirm or change, in order."""
        checks = self.context.has_checks
        if not (self.special.outdated or checks):
            return []
        return list_outdated(self.session, self.request, limit=limit, checks=checks)

    def list_held(self, *, elsewhere: bool) -> list[OpenPair]:
        """Return the pairs that this annotator holds, checks included.

        `elsewhere`: only pairs in another tab.
        """
        if elsewhere and not self.special.other_tabs:
            return []
        return list_held(self.session, self.request, self.eligibility, elsewhere=elsewhere)

    def find_last_query(self) -> int | None:
        """Return the query of the annotator's latest judgment, None if that is long ago."""
        return find_last_query(self.session, self.request)

    def list_assigned_queries(self) -> list[int]:
        """Return the queries that are assigned to the annotator and have open pairs."""
        return list_assigned_queries(self.session, self.request, self.eligibility)

    def list_put_off_queries(self) -> list[int]:
        """Return the queries (query_pk) with pairs that the annotator put off."""
        return list_put_off_queries(self.session, self.request) if self.special.put_off else []

    def count_answered_queries(self) -> int:
        """Return in how many queries the annotator has answered something."""
        return self.context.bounds.answered

    def list_handed_queries(self) -> list[int]:
        """Return the queries with open pairs that the annotator was handed before.

        Only needed if there are checks.
        """
        return list_handed_queries(self.session, self.request) if self.context.has_checks else []

    def list_open_queries(
        self, *, begun: bool, start: float, others: Collection[int] = ()
    ) -> Iterator[list[int]]:
        """Yield queries with open pairs, a few at a time, from the one at that share (0-1) of all on."""
        if self.open_queries is None:
            bounds = self.context.bounds
            self.open_queries = find_open_queries(
                self.session, self.request, self.eligibility, bounds, share=start
            )
        return list_open_queries(
            self.session, self.request, self.eligibility, self.open_queries, begun=begun, others=others
        )

    def list_open_pairs(self, query_pks: Sequence[int]) -> list[OpenPair]:
        """Return the open pairs of these queries, in no particular order."""
        pairs = list_open_pairs(self.session, self.request, self.eligibility, query_pks)
        self.open_pks.update(pair.pair_pk for pair in pairs)
        return pairs

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
        answered |= list_changeable(self.session, self.request, query_pk)
        return answered | list_answered_gold(self.session, self.request, query_pk)
