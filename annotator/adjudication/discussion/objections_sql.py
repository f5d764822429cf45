"""Read the decisions on pairs that an annotator judged, and objections to decisions.

What annotators get has no names and no grades of others. It is limited to pairs on which the annotator has a
current judgment, without gold pairs and other checks, which must look like all others, and without pairs of
queries on which the annotator still has work (`adjudication/discussion/discussion_sql.py`).
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, case, exists, func, or_, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.adjudication.disagreement_records import (
    DecisionObjection,
    OwnDecision,
    OwnDecisions,
    OwnObjection,
)
from annotator.adjudication.discussion.discussion_sql import leave_out_busy, list_busy_queries
from annotator.domain.excerpts import EXCERPT_OF, cut_excerpt
from annotator.storage.logs.disclosures import add_seen
from annotator.storage.lookup import OpenPairsRequest
from annotator.storage.pairs.document_text import TEXT_IS_PRESENT
from annotator.storage.sql import execute_sql, fetch_by_pair, fetch_tuples, prepare_sql
from annotator.storage.tables.adjudication import (
    AdjudicationRow,
    CurrentAdjudicationRow,
    GuidelineDecisionRow,
    ObjectionRow,
    SeenDecisionRow,
)
from annotator.storage.tables.central import (
    CurrentJudgmentRow,
    DatasetRow,
    DocumentRow,
    DocumentTextRow,
    PairRow,
    QueryRow,
    RubricRow,
)
from annotator.storage.tables.labeling import CheckRow, DisclosureRow

LATEST = 5_000
"""Unseen decisions are searched among this many of the latest decisions of the installation."""
_UNSEEN = prepare_sql(f"""
SELECT a.pair_pk, p.query_pk FROM (SELECT pk, pair_pk FROM adjudication ORDER BY pk DESC LIMIT {LATEST}) l
CROSS JOIN current_judgment c CROSS JOIN current_adjudication a CROSS JOIN pair p
WHERE a.pair_pk = l.pair_pk AND a.adjudication_pk = l.pk AND a.dataset_pk = :dataset_pk
  AND c.pair_pk = l.pair_pk AND c.annotator_pk = :annotator_pk AND c.outcome <> 'later' AND p.pk = a.pair_pk
  AND NOT EXISTS (SELECT 1 FROM disclosure d
    WHERE d.pair_pk = a.pair_pk AND d.person_pk = :annotator_pk AND d.disclosed_at >= a.decided_at)
  AND NOT EXISTS (SELECT 1 FROM seen_decision s
    WHERE s.pair_pk = a.pair_pk AND s.person_pk = :annotator_pk AND s.adjudication_pk = a.adjudication_pk)
  AND NOT EXISTS (SELECT 1 FROM check_pair k WHERE k.pair_pk = a.pair_pk)
LIMIT :most""")
_NOTE_SEEN = prepare_sql(
    """
INSERT INTO seen_decision (pair_pk, person_pk, adjudication_pk, seen_at)
SELECT a.pair_pk, :person_pk, a.adjudication_pk, :now FROM current_adjudication a WHERE a.pair_pk IN :pairs
ON CONFLICT (pair_pk, person_pk) DO UPDATE SET adjudication_pk = excluded.adjudication_pk, seen_at = excluded.seen_at
WHERE seen_decision.adjudication_pk <> excluded.adjudication_pk""",
    lists=["pairs"],
)
_DIFFERS = or_(
    col(CurrentAdjudicationRow.outcome) != col(CurrentJudgmentRow.outcome),
    func.coalesce(col(CurrentAdjudicationRow.grade), -1) != func.coalesce(col(CurrentJudgmentRow.grade), -1),
)


_OBJECTIONS = prepare_sql(
    """
SELECT o.pair_pk, p.username AS annotator, o.text, o.objected_at, o.adjudication_pk
FROM objection o JOIN person p ON p.pk = o.annotator_pk WHERE o.pair_pk IN :pairs ORDER BY o.objected_at, p.username""",
    lists=["pairs"],
)


def list_objections(session: Session, pair_pks: Collection[int]) -> dict[int, list[DecisionObjection]]:
    """Return every objection to the decisions on these pairs, by pair_pk, the oldest first."""
    return fetch_by_pair(session, _OBJECTIONS, DecisionObjection, pair_pks)


def list_unseen_decisions(
    session: Session, request: OpenPairsRequest, dataset: DatasetRow, *, most: int
) -> list[int]:
    """Return the pairs of up to `most` decisions that the annotator may see and has not seen.

    A decision counts as shown also if the annotator saw others' judgments of the pair after it.
    """
    query_by_pair: dict[int, int] = dict(fetch_tuples(session, _UNSEEN, {**request.values, "most": most}))
    return leave_out_busy(session, request, dataset, query_by_pair)


def list_decisions_for_annotator(
    session: Session,
    request: OpenPairsRequest,
    dataset: DatasetRow,
    *,
    differing: bool,
    visit: datetime,
    limit: int,
    offset: int,
) -> tuple[OwnDecisions, list[int]]:
    """Return a page of the decisions that the annotator may see, and its pairs (pair_pk).

    Decisions that were not shown before the `visit` come first, then the latest. Runs one statement if there
    are none.
    """
    queries = set(session.scalars(_select_own(request, col(PairRow.query_pk)).distinct()))
    if not queries:
        return OwnDecisions(0, 0, ()), []
    hidden_queries = list_busy_queries(session, request, dataset, queries)
    may_see = col(PairRow.query_pk).not_in(sorted(hidden_queries))
    counts = _select_own(request, func.count(), func.sum(case((_DIFFERS, 1), else_=0)))
    total, differing_total = session.execute(counts.where(may_see)).one()
    page = _select_page(request, visit).where(may_see)
    if differing:
        page = page.where(_DIFFERS)
    order = (
        case((_is_new(request, visit), 0), else_=1),
        func.coalesce(col(CurrentAdjudicationRow.decided_at), col(ObjectionRow.objected_at)).desc(),
        col(PairRow.pk).desc(),
    )
    rows = session.execute(page.order_by(*order).limit(limit).offset(offset))
    by_pair = dict(map(_to_own_decision, rows))
    return OwnDecisions(int(total), int(differing_total or 0), tuple(by_pair.values())), list(by_pair)


def find_own_decision(session: Session, request: OpenPairsRequest, pair_pk: int) -> OwnDecision | None:
    """Return the decision on this pair, also if the query has open work; None without a decision."""
    row = session.execute(_select_page(request, request.now).where(col(PairRow.pk) == pair_pk)).first()
    return None if row is None else _to_own_decision(row)[1]


def note_decisions_seen(
    session: Session, person_pk: int, pair_pks: Collection[int], *, now: datetime
) -> None:
    """Record that the person has seen the present decisions on these pairs, and thereby others' judgments."""
    if pair_pks:
        values = {"person_pk": person_pk, "pairs": list(pair_pks), "now": now}
        execute_sql(session, _NOTE_SEEN, values)
        add_seen(session, pair_pks, person_pk, now=now)


def _select_own(request: OpenPairsRequest, *columns: Any) -> Select[*tuple[Any, ...]]:
    """Select from the annotator's judged pairs with a decision or an own objection."""
    objected = and_(
        col(ObjectionRow.pair_pk) == col(CurrentJudgmentRow.pair_pk),
        col(ObjectionRow.annotator_pk) == request.annotator_pk,
    )
    decided = col(CurrentAdjudicationRow.pair_pk) == col(CurrentJudgmentRow.pair_pk)
    return (
        select(*columns)
        .select_from(CurrentJudgmentRow)
        .join(PairRow, col(PairRow.pk) == col(CurrentJudgmentRow.pair_pk))
        .outerjoin(CurrentAdjudicationRow, decided)
        .outerjoin(ObjectionRow, objected)
        .where(
            col(CurrentJudgmentRow.dataset_pk) == request.dataset_pk,
            col(CurrentJudgmentRow.annotator_pk) == request.annotator_pk,
            col(CurrentJudgmentRow.outcome) != "later",
            or_(col(CurrentAdjudicationRow.pair_pk).is_not(None), col(ObjectionRow.pair_pk).is_not(None)),
            ~exists().where(col(CheckRow.pair_pk) == col(CurrentJudgmentRow.pair_pk)),
        )
    )


def _was_shown(request: OpenPairsRequest, before: datetime | None = None) -> ColumnElement[bool]:
    """Return the condition that the annotator has seen the present decision, or `before` a time."""
    decision = CurrentAdjudicationRow
    disclosed = [
        col(DisclosureRow.pair_pk) == col(decision.pair_pk),
        col(DisclosureRow.person_pk) == request.annotator_pk,
        col(DisclosureRow.disclosed_at) >= col(decision.decided_at),
    ]
    seen = [
        col(SeenDecisionRow.pair_pk) == col(decision.pair_pk),
        col(SeenDecisionRow.person_pk) == request.annotator_pk,
        col(SeenDecisionRow.adjudication_pk) == col(decision.adjudication_pk),
    ]
    if before is not None:
        disclosed.append(col(DisclosureRow.disclosed_at) < before)
        seen.append(col(SeenDecisionRow.seen_at) < before)
    return or_(exists().where(*disclosed).correlate(decision), exists().where(*seen).correlate(decision))


def _is_new(request: OpenPairsRequest, visit: datetime) -> ColumnElement[bool]:
    decided = col(CurrentAdjudicationRow.pair_pk).is_not(None)
    return and_(decided, ~_was_shown(request, before=visit))


def _select_page(request: OpenPairsRequest, visit: datetime) -> Select[*tuple[Any, ...]]:
    since = (
        select(func.min(col(RubricRow.version)))
        .join(GuidelineDecisionRow, col(GuidelineDecisionRow.rubric_pk) == col(RubricRow.pk))
        .where(col(GuidelineDecisionRow.adjudication_pk) == col(CurrentAdjudicationRow.adjudication_pk))
        .correlate(CurrentAdjudicationRow)
        .scalar_subquery()
    )
    decided = col(CurrentAdjudicationRow.pair_pk).is_not(None)
    return (
        _select_own(
            request,
            PairRow,
            QueryRow,
            DocumentRow,
            CurrentJudgmentRow,
            AdjudicationRow,
            ObjectionRow,
            since,
            func.substr(col(DocumentTextRow.text), 1, EXCERPT_OF),
            _is_new(request, visit),
            and_(decided, ~_was_shown(request)),
        )
        .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
        .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
        .outerjoin(DocumentTextRow, TEXT_IS_PRESENT)
        .outerjoin(AdjudicationRow, col(AdjudicationRow.pk) == col(CurrentAdjudicationRow.adjudication_pk))
    )


def _to_own_decision(row: Row[*tuple[Any, ...]]) -> tuple[int, OwnDecision]:
    pair, query, document, judged, decision, objection, guideline_since, beginning, is_new, is_unread = row
    own_objection = None
    if objection is not None:
        answered = decision is None or decision.pk != objection.adjudication_pk
        own_objection = OwnObjection(objection.text, objection.objected_at, answered)
    return pair.pk, OwnDecision(
        pair=pair.key,
        query_id=query.query_id,
        query=query.text,
        doc_id=document.doc_id,
        title=document.title,
        excerpt=cut_excerpt(beginning, document.media_type, title=document.title),
        own_outcome=judged.outcome,
        own_grade=judged.grade,
        outcome="withdrawn" if decision is None else decision.outcome,
        grade=None if decision is None else decision.grade,
        rationale="" if decision is None else decision.rationale,
        reason=None if decision is None else decision.reason,
        cause=None if decision is None else decision.cause,
        revision=0 if decision is None else decision.revision,
        decided_at=objection.objected_at if decision is None else decision.decided_at,
        guideline_since=guideline_since,
        objection=own_objection,
        new=bool(is_new),
        unread=bool(is_unread),
    )
