"""Choose the pairs at the head of the queue that one lead decides next.

Chooses open disagreements that the lead did not judge, that no other lead holds or was assigned, and that do
not wait for a second lead after this one's proposal. Pairs come last that the lead put off, that are still
under discussion, that another tab of the lead holds, or for which the lead has made a proposal. Uses the
order's index where there is one, so fifty thousand disagreements cost no more than the first few.
"""

from collections.abc import Collection
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Integer, and_, bindparam, case, exists, or_, select, union
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.adjudication.queue.queue_records import QueueFilter
from annotator.adjudication.queue.queue_sql import QueueReader, filter_disagreements, order_disagreements
from annotator.domain.judgments import COUNTED_PURPOSE
from annotator.domain.settling import LASTING
from annotator.storage.tables.adjudication import (
    DecisionProposalRow,
    DisagreementAssignmentRow,
    DisagreementHoldRow,
    DisagreementRow,
    DiscussionRow,
    DiscussionTurnRow,
    PutOffDisagreementRow,
    QualityDrawRow,
    QualityPairRow,
)
from annotator.storage.tables.central import (
    CurrentJudgmentRow,
    DatasetRow,
    JudgmentRow,
    MembershipRow,
    PairRow,
    PersonRow,
    QueryRow,
)
from annotator.storage.tables.labeling import DisclosureRow

DISTANCES = (3, 2, 1, 0)
_DATASET: Any = bindparam("dataset_pk")
_LEAD: Any = bindparam("lead_pk")
_NOW: Any = bindparam("now")
_LATEST_HOLD: Any = bindparam("latest_hold")


class QueueHead(NamedTuple):
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
) -> list[QueueHead]:
    """Return the first pairs of the queue for this lead and tab, at most `limit`, without those in `have`.

    Pairs that the lead may still judge are left out, as in the list of the queue: with a filter, even an
    empty answer would tell their grades.
    """
    if limit < 1:
        return []
    if reader.without_impact:  # an order by impact rests on grades that the lead may not see
        wanted, sort = replace(wanted, flips=False), "distance" if sort == "impact" else sort
    apart = session.get_one(DatasetRow, reader.dataset_pk).discuss_from
    gone = _list_gone(session, reader.dataset_pk) if apart is not None else []
    values = {
        "dataset_pk": reader.dataset_pk,
        "lead_pk": reader.lead_pk or 0,
        "now": reader.now,
        "tab": tab,
        "latest_hold": reader.latest_hold,
        "have": sorted(have),
        "gone": gone,
    }
    head: list[QueueHead] = []
    # the distances one after the other, each by an index, or all at once
    distances = DISTANCES if sort == "distance" and wanted.distance is None else (None,)
    for last, part in product((False, True), distances):
        if len(head) < limit:
            statement = _build(wanted, sort, (last, part), apart, bool(gone))
            rows = session.execute(statement, {**values, "most": limit - len(head)})
            head += [QueueHead(pk, key) for pk, key in rows]
    return head


class _BoundReader(QueueReader):
    """A reader whose values are bound when the statement runs."""

    @property
    def latest_hold(self) -> Any:
        return _LATEST_HOLD


@lru_cache(maxsize=256)
def _build(
    wanted: QueueFilter, sort: str, part: tuple[bool, int | None], apart: int | None, left: bool
) -> Any:
    """Return the statement for one part of the queue, cached: building takes longer than running.

    `part`: whether these are the pairs that come last, and their distance (None: any). `left`: whether an
    annotator who judged in the dataset can no longer discuss.
    """
    reader = _BoundReader(_DATASET, _LEAD, _NOW)
    chosen, (is_last, distance) = [*_choose(reader, wanted), ~_may_still_judge(reader)], part
    last = or_(_is_put_off(reader), _is_discussed(reader, apart), _is_proposed(reader), _is_elsewhere(reader))
    chosen.append(last if is_last else ~last)
    if distance is not None:
        chosen.append(col(DisagreementRow.distance) == distance)
    if apart is not None and not is_last and (distance is None or distance >= apart):
        chosen.append(_may_be_over(apart, left=left))
    statement = (
        select(col(PairRow.pk), col(PairRow.key))
        .select_from(DisagreementRow)
        .join(PairRow, col(PairRow.pk) == col(DisagreementRow.pair_pk))
        .join(QueryRow, col(QueryRow.pk) == col(DisagreementRow.query_pk))
        .outerjoin(
            DisagreementAssignmentRow, col(DisagreementAssignmentRow.pair_pk) == col(DisagreementRow.pair_pk)
        )
        .where(*chosen)
    )
    return order_disagreements(statement, reader, sort).limit(bindparam("most", type_=Integer))


def _choose(reader: QueueReader, wanted: QueueFilter) -> list[Any]:
    judged = exists().where(
        col(JudgmentRow.pair_pk) == col(DisagreementRow.pair_pk),
        col(JudgmentRow.annotator_pk) == reader.lead_pk,
        col(JudgmentRow.outcome) != "later",
    )
    held = _is_held(reader).where(col(DisagreementHoldRow.lead_pk) != reader.lead_pk)
    alone = and_(_is_proposed(reader), ~_is_proposed(reader, by_others=True))
    conditions = [*filter_disagreements(reader, replace(wanted, shown="open")), ~judged, ~held, ~alone]
    if wanted.assigned is None:
        conditions.append(~_is_assigned_to_other(reader))
    return [*conditions, col(PairRow.key).not_in(bindparam("have", expanding=True))]


def _is_held(reader: QueueReader) -> Any:
    return exists().where(
        col(DisagreementHoldRow.pair_pk) == col(DisagreementRow.pair_pk),
        col(DisagreementHoldRow.expires_at) > reader.now,
        col(DisagreementHoldRow.expires_at) <= reader.latest_hold,
    )


def _is_elsewhere(reader: QueueReader) -> ColumnElement[bool]:
    elsewhere: ColumnElement[bool] = _is_held(reader).where(
        col(DisagreementHoldRow.lead_pk) == reader.lead_pk, col(DisagreementHoldRow.tab) != bindparam("tab")
    )
    return elsewhere


def _is_put_off(reader: QueueReader) -> ColumnElement[bool]:
    return exists().where(
        col(PutOffDisagreementRow.pair_pk) == col(DisagreementRow.pair_pk),
        col(PutOffDisagreementRow.lead_pk) == reader.lead_pk,
    )


def _is_proposed(reader: QueueReader, *, by_others: bool = False) -> ColumnElement[bool]:
    """Return the condition that the lead has proposed a decision for a pair that needs two leads.

    `by_others`: that another lead has.
    """
    lead_pk = col(DecisionProposalRow.lead_pk)
    return exists().where(
        col(DecisionProposalRow.pair_pk) == col(DisagreementRow.pair_pk),
        lead_pk != reader.lead_pk if by_others else lead_pk == reader.lead_pk,
    )


def _is_assigned_to_other(reader: QueueReader) -> ColumnElement[bool]:
    """Return the condition that the pair is assigned to another person who is still a lead."""
    still_lead = _can_act(col(DisagreementAssignmentRow.lead_pk), reader.dataset_pk, "lead", "admin")
    return case(
        (
            and_(
                col(DisagreementAssignmentRow.lead_pk).is_not(None),
                col(DisagreementAssignmentRow.lead_pk) != reader.lead_pk,
            ),
            still_lead,
        ),
        else_=False,
    )


def _is_discussed(reader: QueueReader, apart: int | None) -> ColumnElement[bool]:
    """Return the condition that the pair is under discussion and an annotator can still take a turn.

    A lead asks for a discussion; the dataset asks for one if the grades are at least `apart`.
    """
    begun = exists().where(col(DiscussionRow.pair_pk) == col(DisagreementRow.pair_pk))
    requested: ColumnElement[bool] = begun.where(col(DiscussionRow.closed_at).is_(None))
    if apart is not None:
        differs = col(DisagreementRow.waiting).op("&")(int(LASTING)) != 0
        requested = or_(requested, and_(col(DisagreementRow.distance) >= apart, differs, ~begun))
    silent = exists().where(
        col(CurrentJudgmentRow.pair_pk) == col(DisagreementRow.pair_pk),
        col(CurrentJudgmentRow.purpose) == COUNTED_PURPOSE,
        col(CurrentJudgmentRow.outcome) != "later",
        ~exists().where(
            col(DiscussionTurnRow.pair_pk) == col(CurrentJudgmentRow.pair_pk),
            col(DiscussionTurnRow.annotator_pk) == col(CurrentJudgmentRow.annotator_pk),
        ),
        _can_act(col(CurrentJudgmentRow.annotator_pk), reader.dataset_pk),
        ~exists().where(col(PersonRow.pk) == col(CurrentJudgmentRow.annotator_pk), col(PersonRow.simulated)),
    )
    return and_(requested, silent)


def _may_be_over(apart: int, *, left: bool) -> ColumnElement[bool]:
    """Return a cheap condition that holds for every pair with a finished discussion, and for some others.

    If the dataset asks for discussions, nearly every pair is still discussed. This excludes most of them
    without reading who judged the pair.
    """
    begun = union(select(col(DiscussionRow.pair_pk)), select(col(DiscussionTurnRow.pair_pk)))
    near = col(DisagreementRow.distance) < apart
    other = col(DisagreementRow.waiting).op("&")(int(LASTING)) == 0
    gone = exists().where(
        col(CurrentJudgmentRow.pair_pk) == col(DisagreementRow.pair_pk),
        col(CurrentJudgmentRow.annotator_pk).in_(bindparam("gone", expanding=True)),
    )
    return or_(near, other, col(DisagreementRow.pair_pk).in_(begun), *([gone] if left else []))


def _list_gone(session: Session, dataset_pk: int) -> list[int]:
    """Return the annotators (person_pk) with judgments here who can no longer discuss."""
    judged = exists().where(
        col(CurrentJudgmentRow.dataset_pk) == dataset_pk,
        col(CurrentJudgmentRow.annotator_pk) == col(PersonRow.pk),
    )
    can_act = and_(_can_act(col(PersonRow.pk), dataset_pk), ~col(PersonRow.simulated))
    return list(session.scalars(select(col(PersonRow.pk)).where(~can_act, judged)))


def _can_act(person_pk: Any, dataset_pk: Any, *roles: str) -> ColumnElement[bool]:
    """Return the condition that the person is enabled and has a role on the dataset, or one of `roles`."""
    return exists().where(
        col(MembershipRow.person_pk) == person_pk,
        or_(col(MembershipRow.dataset_pk) == dataset_pk, col(MembershipRow.dataset_pk).is_(None)),
        *([col(MembershipRow.role).in_(roles)] if roles else []),
        col(PersonRow.pk) == col(MembershipRow.person_pk),
        col(PersonRow.disabled_at).is_(None),
    )


def _may_still_judge(reader: QueueReader) -> ColumnElement[bool]:
    """Return the condition that the lead may still be handed the pair for labeling or for quality control."""
    checked = exists().where(
        col(QualityPairRow.pair_pk) == col(DisagreementRow.pair_pk),
        col(QualityPairRow.outcome).is_(None),
        col(QualityDrawRow.pk) == col(QualityPairRow.draw_pk),
        col(QualityDrawRow.annotator_pk) == reader.lead_pk,
    )
    disclosed = exists().where(
        col(DisclosureRow.pair_pk) == col(DisagreementRow.pair_pk),
        col(DisclosureRow.person_pk) == reader.lead_pk,
    )
    return and_(or_(col(PairRow.lacking) > 0, checked), ~disclosed)
