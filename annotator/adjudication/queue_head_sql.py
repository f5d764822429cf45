"""Choose the pairs at the head of the queue that one lead decides next.

Only open disagreements that the lead did not judge, that no other lead holds or was assigned, and that do not wait for
a second lead after this one's proposal. Last come those that the lead put off, those still under discussion, those that
another tab of theirs holds, and those on which two leads differ. Reads from the order's index where there is one, so
that fifty thousand disagreements cost as little as the first few.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Integer, and_, bindparam, case, exists, func, or_, select, union
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.adjudication.queue_records import QueueFilter
from annotator.adjudication.queue_sql import QueueReader, choose_disputes, order_disputes
from annotator.domain.settling import LASTING
from annotator.storage.adjudication_tables import (
    CaseAssignmentRow,
    CaseHoldRow,
    CaseLaterRow,
    DecisionProposalRow,
    DiscussionRow,
    DiscussionTurnRow,
    DisputeRow,
    QualityDrawRow,
    QualityPairRow,
)
from annotator.storage.labeling_tables import DisclosureRow
from annotator.storage.tables import (
    CurrentJudgmentRow,
    DatasetRow,
    JudgmentRow,
    MembershipRow,
    PairRow,
    PersonRow,
    QueryRow,
)

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
    ahead: bool,
) -> list[QueueHead]:
    """The first pairs for this lead and tab that are none of `have`, at most `limit`. `ahead`: to be kept ready, not to be
    shown at once; then only pairs that the lead can no longer be handed for labeling, since they learn the grades."""
    if limit < 1:
        return []
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
    found: list[QueueHead] = []
    for last, part in product((False, True), _split(sort, wanted)):
        if len(found) < limit:
            statement = _build(wanted, sort, (last, part), ahead, apart, bool(gone))
            rows = session.execute(statement, {**values, "most": limit - len(found)})
            found += [QueueHead(pk, key) for pk, key in rows]
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


def _split(sort: str, wanted: QueueFilter) -> Sequence[int | None]:
    """The queue in parts that follow each other: of equal distance, each then in the order of its index."""
    return DISTANCES if sort == "distance" and wanted.distance is None else (None,)


class _BoundReader(QueueReader):
    """A reader whose values are given when the statement runs."""

    @property
    def latest_hold(self) -> Any:
        return _LATEST_HOLD


@lru_cache(maxsize=256)
def _build(
    wanted: QueueFilter, sort: str, part: tuple[bool, int | None], ahead: bool, apart: int | None, left: bool
) -> Any:
    """The statement of a part of the queue: of what comes last or of all else, of one distance or of any (None). Built once
    for each filter, since that takes longer than the database needs. `left`: somebody who judged here has left."""
    reader = _BoundReader(_DATASET, _LEAD, _NOW)
    chosen, (is_last, distance) = _choose(reader, wanted), part
    if ahead:
        chosen.append(~_may_still_judge(reader))
    last = or_(_is_put_off(reader), _is_discussed(reader, apart), _is_proposed(reader), _is_elsewhere(reader))
    chosen.append(last if is_last else ~last)
    if distance is not None:
        chosen.append(col(DisputeRow.distance) == distance)
    if apart is not None and not is_last and (distance is None or distance >= apart):
        chosen.append(_may_be_over(apart, left=left))
    statement = (
        select(col(PairRow.pk), col(PairRow.key))
        .select_from(DisputeRow)
        .join(PairRow, col(PairRow.pk) == col(DisputeRow.pair_pk))
        .join(QueryRow, col(QueryRow.pk) == col(DisputeRow.query_pk))
        .outerjoin(CaseAssignmentRow, col(CaseAssignmentRow.pair_pk) == col(DisputeRow.pair_pk))
        .where(*chosen)
    )
    return order_disputes(statement, reader, sort).limit(bindparam("most", type_=Integer))


def _choose(reader: QueueReader, wanted: QueueFilter) -> list[Any]:
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
    return [*found, col(PairRow.key).not_in(bindparam("have", expanding=True))]


def _is_held(reader: QueueReader) -> Any:
    return exists().where(
        col(CaseHoldRow.pair_pk) == col(DisputeRow.pair_pk),
        col(CaseHoldRow.expires_at) > reader.now,
        col(CaseHoldRow.expires_at) <= reader.latest_hold,
    )


def _is_elsewhere(reader: QueueReader) -> ColumnElement[bool]:
    elsewhere: ColumnElement[bool] = _is_held(reader).where(
        col(CaseHoldRow.lead_pk) == reader.lead_pk, col(CaseHoldRow.tab) != bindparam("tab")
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
    still = _can_act(col(CaseAssignmentRow.lead_pk), reader.dataset_pk, "lead", "admin")
    return case(
        (
            and_(
                col(CaseAssignmentRow.lead_pk).is_not(None), col(CaseAssignmentRow.lead_pk) != reader.lead_pk
            ),
            still,
        ),
        else_=False,
    )


def _is_discussed(reader: QueueReader, apart: int | None) -> ColumnElement[bool]:
    """Whether some of its annotators were asked to discuss it, by a lead or (`apart`) by how far they differ, and can still
    say theirs."""
    known = exists().where(col(DiscussionRow.pair_pk) == col(DisputeRow.pair_pk))
    asked: ColumnElement[bool] = known.where(col(DiscussionRow.closed_at).is_(None))
    if apart is not None:
        differs = col(DisputeRow.waiting).op("&")(int(LASTING)) != 0
        asked = or_(asked, and_(col(DisputeRow.distance) >= apart, differs, ~known))
    silent = exists().where(
        col(CurrentJudgmentRow.pair_pk) == col(DisputeRow.pair_pk),
        col(CurrentJudgmentRow.purpose) == "independent",
        col(CurrentJudgmentRow.outcome) != "later",
        ~exists().where(
            col(DiscussionTurnRow.pair_pk) == col(CurrentJudgmentRow.pair_pk),
            col(DiscussionTurnRow.annotator_pk) == col(CurrentJudgmentRow.annotator_pk),
        ),
        _can_act(col(CurrentJudgmentRow.annotator_pk), reader.dataset_pk),
        ~exists().where(col(PersonRow.pk) == col(CurrentJudgmentRow.annotator_pk), col(PersonRow.simulated)),
    )
    return and_(asked, silent)


def _may_be_over(apart: int, *, left: bool) -> ColumnElement[bool]:
    """What holds of every pair that nobody is to discuss any more, and is found without reading who judged it: where the
    dataset asks by itself, nearly every pair is still to be discussed."""
    begun = union(select(col(DiscussionRow.pair_pk)), select(col(DiscussionTurnRow.pair_pk)))
    near = col(DisputeRow.distance) < apart
    other = col(DisputeRow.waiting).op("&")(int(LASTING)) == 0
    gone = exists().where(
        col(CurrentJudgmentRow.pair_pk) == col(DisputeRow.pair_pk),
        col(CurrentJudgmentRow.annotator_pk).in_(bindparam("gone", expanding=True)),
    )
    return or_(near, other, col(DisputeRow.pair_pk).in_(begun), *([gone] if left else []))


def _list_gone(session: Session, dataset_pk: int) -> list[int]:
    """Those who judged something here and can say nothing more (person_pk)."""
    judged = exists().where(
        col(CurrentJudgmentRow.dataset_pk) == dataset_pk,
        col(CurrentJudgmentRow.annotator_pk) == col(PersonRow.pk),
    )
    able = and_(_can_act(col(PersonRow.pk), dataset_pk), ~col(PersonRow.simulated))
    return list(session.scalars(select(col(PersonRow.pk)).where(~able, judged)))


def _can_act(person_pk: Any, dataset_pk: Any, *roles: str) -> ColumnElement[bool]:
    """Whether the person is not disabled and has a role on the dataset, or one of these."""
    return exists().where(
        col(MembershipRow.person_pk) == person_pk,
        or_(col(MembershipRow.dataset_pk) == dataset_pk, col(MembershipRow.dataset_pk).is_(None)),
        *([col(MembershipRow.role).in_(roles)] if roles else []),
        col(PersonRow.pk) == col(MembershipRow.person_pk),
        col(PersonRow.disabled_at).is_(None),
    )


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
