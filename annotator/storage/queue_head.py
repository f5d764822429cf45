"""What stands at the head of the queue for one lead: the pairs that are theirs to decide next.

Open disputes that the lead did not judge, that nobody else holds, that were given to nobody else, and that do not wait for
another after what they proposed. Last come those that they put off, those whose annotators are still to discuss them, those that another
tab of theirs holds, and those on which two leads differ. Reads from the order's index where there is one, so that fifty
thousand disputes cost what the first few do.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, and_, case, exists, func, or_, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.queue import QueueFilter
from annotator.storage.dispute_tables import (
    CaseAssignmentRow,
    CaseHoldRow,
    CaseLaterRow,
    DecisionProposalRow,
    DiscussionRow,
    DiscussionTurnRow,
    DisputeRow,
)
from annotator.storage.labeling_tables import DisclosureRow
from annotator.storage.quality_tables import QualityDrawRow, QualityPairRow
from annotator.storage.queue import QueueReader, choose_disputes, order_disputes
from annotator.storage.tables import (
    CurrentJudgmentRow,
    JudgmentRow,
    MembershipRow,
    PairRow,
    PersonRow,
    QueryRow,
)

DISTANCES = (3, 2, 1, 0)


class Head(NamedTuple):
    """A pair at the head of the queue."""

    pair_pk: int
    key: str


def list_head(
    session: Session,
    reader: QueueReader,
    wanted: QueueFilter,
    sort: str,
    *,
    tab: str,
    have: Collection[str],
    limit: int,
    ahead: bool,
) -> list[Head]:
    """The first pairs for this lead and tab that are none of `have`, at most `limit`. `ahead`: to be kept ready, not to be
    shown at once; then only pairs that the lead can no longer be handed for labeling, since they learn the grades."""
    if limit <= 0:
        return []
    chosen = _choose(reader, wanted, have)
    if ahead:
        chosen.append(~_may_still_judge(reader))
    last = or_(_is_put_off(reader), _is_discussed(), _is_proposed(reader), _is_elsewhere(reader, tab))
    found: list[Head] = []
    for part in (*_split(sort, wanted), None):
        conditions = [*chosen, last] if part is None else [*chosen, ~last, *part]
        if len(found) < limit:
            found += _read(session, reader, conditions, sort, limit=limit - len(found))
    return found


def count_left(session: Session, reader: QueueReader, wanted: QueueFilter) -> int:
    """How many open disputes the filter lets through."""
    wanted = replace(wanted, shown="open")
    statement = select(func.count()).select_from(DisputeRow)
    if wanted.query_id is not None or wanted.category is not None:
        statement = statement.join(QueryRow, col(QueryRow.pk) == col(DisputeRow.query_pk))
    if wanted.assigned is not None:
        statement = statement.outerjoin(
            CaseAssignmentRow, col(CaseAssignmentRow.pair_pk) == col(DisputeRow.pair_pk)
        )
    return session.scalar(statement.where(*choose_disputes(reader, wanted))) or 0


def _read(
    session: Session, reader: QueueReader, conditions: Sequence[Any], sort: str, *, limit: int
) -> Iterator[Head]:
    statement = (
        select(col(PairRow.pk), col(PairRow.key))
        .select_from(DisputeRow)
        .join(PairRow, col(PairRow.pk) == col(DisputeRow.pair_pk))
        .join(QueryRow, col(QueryRow.pk) == col(DisputeRow.query_pk))
        .outerjoin(CaseAssignmentRow, col(CaseAssignmentRow.pair_pk) == col(DisputeRow.pair_pk))
        .where(*conditions)
    )
    ordered = order_disputes(statement, reader, sort).limit(limit)
    return (Head(pk, key) for pk, key in session.execute(ordered))


def _split(sort: str, wanted: QueueFilter) -> list[list[ColumnElement[bool]]]:
    """The queue in parts that follow each other: of equal distance, each then in the order of its index."""
    if sort != "distance" or wanted.distance is not None:
        return [[]]
    return [[col(DisputeRow.distance) == distance] for distance in DISTANCES]


def _choose(reader: QueueReader, wanted: QueueFilter, have: Collection[str]) -> list[Any]:
    judged = exists().where(
        col(JudgmentRow.pair_pk) == col(DisputeRow.pair_pk),
        col(JudgmentRow.annotator_pk) == reader.lead_pk,
        col(JudgmentRow.outcome) != "later",
    )
    held = _is_held(reader).where(col(CaseHoldRow.lead_pk) != reader.lead_pk)
    alone = and_(_is_proposed(reader), ~_is_proposed(reader, by_others=True))
    found = [*choose_disputes(reader, replace(wanted, shown="open")), ~judged, ~held, ~alone]
    if wanted.assigned is None:
        found.append(~_is_given_away(reader))
    if have:
        found.append(col(PairRow.key).not_in(sorted(have)))
    return found


def _is_held(reader: QueueReader) -> Any:
    return exists().where(
        col(CaseHoldRow.pair_pk) == col(DisputeRow.pair_pk), col(CaseHoldRow.expires_at) > reader.now
    )


def _is_elsewhere(reader: QueueReader, tab: str) -> ColumnElement[bool]:
    elsewhere: ColumnElement[bool] = _is_held(reader).where(
        col(CaseHoldRow.lead_pk) == reader.lead_pk, col(CaseHoldRow.tab) != tab
    )
    return elsewhere


def _is_put_off(reader: QueueReader) -> ColumnElement[bool]:
    return exists().where(
        col(CaseLaterRow.pair_pk) == col(DisputeRow.pair_pk), col(CaseLaterRow.lead_pk) == reader.lead_pk
    )


def _is_proposed(reader: QueueReader, *, by_others: bool = False) -> ColumnElement[bool]:
    """Whether the lead (or others have) said theirs of a pair that takes two."""
    lead_pk = col(DecisionProposalRow.lead_pk)
    return exists().where(
        col(DecisionProposalRow.pair_pk) == col(DisputeRow.pair_pk),
        lead_pk != reader.lead_pk if by_others else lead_pk == reader.lead_pk,
    )


def _is_given_away(reader: QueueReader) -> ColumnElement[bool]:
    """Whether it was given to another who is still a lead: what was given to somebody who left is everybody's."""
    still = exists().where(
        col(MembershipRow.person_pk) == col(CaseAssignmentRow.lead_pk),
        col(MembershipRow.role).in_(("lead", "admin")),
        or_(col(MembershipRow.dataset_pk) == reader.dataset_pk, col(MembershipRow.dataset_pk).is_(None)),
        col(PersonRow.pk) == col(MembershipRow.person_pk),
        col(PersonRow.disabled_at).is_(None),
    )
    return case(
        (
            and_(
                col(CaseAssignmentRow.lead_pk).is_not(None), col(CaseAssignmentRow.lead_pk) != reader.lead_pk
            ),
            still,
        ),
        else_=False,
    )


def _is_discussed() -> ColumnElement[bool]:
    """Whether some of its annotators were asked to discuss it and have not said theirs."""
    silent = exists().where(
        col(CurrentJudgmentRow.pair_pk) == col(DisputeRow.pair_pk),
        col(CurrentJudgmentRow.purpose) == "independent",
        col(CurrentJudgmentRow.outcome) != "later",
        ~exists().where(
            col(DiscussionTurnRow.pair_pk) == col(CurrentJudgmentRow.pair_pk),
            col(DiscussionTurnRow.annotator_pk) == col(CurrentJudgmentRow.annotator_pk),
        ),
    )
    asked = exists().where(
        col(DiscussionRow.pair_pk) == col(DisputeRow.pair_pk), col(DiscussionRow.closed_at).is_(None)
    )
    return and_(asked, silent)


def _may_still_judge(reader: QueueReader) -> ColumnElement[bool]:
    """Whether the lead may yet be handed the pair for labeling or for a quality check."""
    checked = exists().where(
        col(QualityPairRow.pair_pk) == col(DisputeRow.pair_pk),
        col(QualityPairRow.outcome).is_(None),
        col(QualityDrawRow.pk) == col(QualityPairRow.draw_pk),
        col(QualityDrawRow.annotator_pk) == reader.lead_pk,
    )
    disclosed = exists().where(
        col(DisclosureRow.pair_pk) == col(DisputeRow.pair_pk),
        col(DisclosureRow.person_pk) == reader.lead_pk,
    )
    return and_(or_(col(PairRow.lacking) > 0, checked), ~disclosed)
