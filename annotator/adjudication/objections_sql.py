"""Read the decisions on pairs that an annotator judged, and store objections. Never returns names or others' grades.

Only pairs on which the annotator has a current judgment. Excludes checks, which must stay indistinguishable, and pairs
of queries on which the annotator still has work (`adjudication/discussion_sql.py`).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, and_, case, exists, func, or_, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.adjudication.discussion_sql import list_busy_queries
from annotator.adjudication.records import OwnDecision, OwnDecisions, OwnObjection
from annotator.storage.adjudication_tables import (
    AdjudicationRow,
    CurrentAdjudicationRow,
    GuidelineDecisionRow,
    ObjectionRow,
)
from annotator.storage.labeling_tables import CheckRow, DisclosureRow
from annotator.storage.open_pairs import OpenPairsRequest
from annotator.storage.sql import execute_sql, prepare_sql
from annotator.storage.tables import (
    CurrentJudgmentRow,
    DatasetRow,
    DocumentRow,
    PairRow,
    PersonRow,
    QueryRow,
    RubricRow,
)

LATEST = 5_000
"""Among so many decisions of everybody those are looked for that an annotator has not been shown."""
_NEW = prepare_sql(f"""
SELECT a.pair_pk, p.query_pk FROM (SELECT pk, pair_pk FROM adjudication ORDER BY pk DESC LIMIT {LATEST}) l
CROSS JOIN current_judgment c CROSS JOIN current_adjudication a CROSS JOIN pair p
WHERE a.pair_pk = l.pair_pk AND a.adjudication_pk = l.pk AND a.dataset_pk = :dataset_pk
  AND c.pair_pk = l.pair_pk AND c.annotator_pk = :annotator_pk AND c.outcome <> 'later' AND p.pk = a.pair_pk
  AND NOT EXISTS (SELECT 1 FROM disclosure d WHERE d.pair_pk = a.pair_pk AND d.person_pk = :annotator_pk)
  AND NOT EXISTS (SELECT 1 FROM check_pair k WHERE k.pair_pk = a.pair_pk)
LIMIT :most""")
_DIFFERS = or_(
    col(CurrentAdjudicationRow.outcome) != col(CurrentJudgmentRow.outcome),
    func.coalesce(col(CurrentAdjudicationRow.grade), -1) != func.coalesce(col(CurrentJudgmentRow.grade), -1),
)


@dataclass(frozen=True, slots=True)
class Objection:
    """An annotator's objection, for leads: to which decision, in whose words (username)."""

    annotator: str
    text: str
    objected_at: datetime
    adjudication_pk: int


def list_objections(session: Session, pair_pks: Collection[int]) -> dict[int, list[Objection]]:
    """Every objection to what was decided on these pairs, by pair_pk, the oldest first."""
    statement = (
        select(ObjectionRow, col(PersonRow.username))
        .join(PersonRow, col(PersonRow.pk) == col(ObjectionRow.annotator_pk))
        .where(col(ObjectionRow.pair_pk).in_(pair_pks))
        .order_by(col(ObjectionRow.objected_at), col(PersonRow.username))
    )
    found: dict[int, list[Objection]] = {}
    for row, username in session.execute(statement):
        one = Objection(username, row.text, row.objected_at, row.adjudication_pk)
        found.setdefault(row.pair_pk, []).append(one)
    return found


def list_new(
    session: Session, worklist: OpenPairsRequest, dataset: DatasetRow, *, most: int
) -> list[tuple[int, int]]:
    """(pair_pk, query_pk) of up to `most` decisions that the annotator may see and has not seen."""
    found = execute_sql(session, _NEW, {**worklist.values, "most": most}).all()
    busy = list_busy_queries(session, worklist, dataset, {query_pk for _, query_pk in found})
    return [(pair_pk, query_pk) for pair_pk, query_pk in found if query_pk not in busy]


def read_decisions(
    session: Session,
    worklist: OpenPairsRequest,
    dataset: DatasetRow,
    *,
    differing: bool,
    page: int,
    size: int,
) -> tuple[OwnDecisions, list[int]]:
    """A page of the decisions that the annotator may see, and its pairs (pair_pk). One read where there is none."""
    hidden = _list_hidden_queries(session, worklist, dataset)
    if hidden is None:
        return OwnDecisions(0, 0, ()), []
    total, otherwise = _count(session, worklist, hidden)
    rows = _list_page(session, worklist, hidden, differing=differing, limit=size, offset=page * size)
    return OwnDecisions(total, otherwise, tuple(one for _, one in rows)), [pair_pk for pair_pk, _ in rows]


def find_own_decision(session: Session, worklist: OpenPairsRequest, pair_pk: int) -> OwnDecision | None:
    """What was decided on this pair, whatever else the annotator has to do."""
    row = session.execute(_select_page(worklist).where(col(PairRow.pk) == pair_pk)).first()
    return None if row is None else _to_record(row)[1]


def _list_hidden_queries(
    session: Session, worklist: OpenPairsRequest, dataset: DatasetRow
) -> set[int] | None:
    """The queries with decisions on the annotator's pairs that they may not see yet; None without any decision."""
    queries = set(session.scalars(_select_own(worklist, col(PairRow.query_pk)).distinct()))
    return list_busy_queries(session, worklist, dataset, queries) if queries else None


def _count(session: Session, worklist: OpenPairsRequest, hidden: Collection[int]) -> tuple[int, int]:
    """How many decisions the annotator may see, and how many of them are otherwise than they judged."""
    differing = func.sum(case((_DIFFERS, 1), else_=0))
    statement = _select_own(worklist, func.count(), differing).where(_is_shown(hidden))
    total, found = session.execute(statement).one()
    return int(total), int(found or 0)


def _list_page(
    session: Session,
    worklist: OpenPairsRequest,
    hidden: Collection[int],
    *,
    differing: bool,
    limit: int,
    offset: int,
) -> list[tuple[int, OwnDecision]]:
    """Some of them with their pair_pk, the latest first."""
    statement = _select_page(worklist).where(_is_shown(hidden))
    if differing:
        statement = statement.where(_DIFFERS)
    order = (
        func.coalesce(col(CurrentAdjudicationRow.decided_at), col(ObjectionRow.objected_at)).desc(),
        col(PairRow.pk).desc(),
    )
    return [
        _to_record(row) for row in session.execute(statement.order_by(*order).limit(limit).offset(offset))
    ]


def _select_own(worklist: OpenPairsRequest, *columns: Any) -> Select[*tuple[Any, ...]]:
    """Of the pairs that the annotator judged those that are decided, or to whose decision they objected."""
    objected = and_(
        col(ObjectionRow.pair_pk) == col(CurrentJudgmentRow.pair_pk),
        col(ObjectionRow.annotator_pk) == worklist.annotator_pk,
    )
    decided = col(CurrentAdjudicationRow.pair_pk) == col(CurrentJudgmentRow.pair_pk)
    return (
        select(*columns)
        .select_from(CurrentJudgmentRow)
        .join(PairRow, col(PairRow.pk) == col(CurrentJudgmentRow.pair_pk))
        .outerjoin(CurrentAdjudicationRow, decided)
        .outerjoin(ObjectionRow, objected)
        .where(
            col(CurrentJudgmentRow.dataset_pk) == worklist.dataset_pk,
            col(CurrentJudgmentRow.annotator_pk) == worklist.annotator_pk,
            col(CurrentJudgmentRow.outcome) != "later",
            or_(col(CurrentAdjudicationRow.pair_pk).is_not(None), col(ObjectionRow.pair_pk).is_not(None)),
            ~exists().where(col(CheckRow.pair_pk) == col(CurrentJudgmentRow.pair_pk)),
        )
    )


def _select_page(worklist: OpenPairsRequest) -> Select[*tuple[Any, ...]]:
    since = (
        select(func.min(col(RubricRow.version)))
        .join(GuidelineDecisionRow, col(GuidelineDecisionRow.rubric_pk) == col(RubricRow.pk))
        .where(col(GuidelineDecisionRow.adjudication_pk) == col(CurrentAdjudicationRow.adjudication_pk))
        .correlate(CurrentAdjudicationRow)
        .scalar_subquery()
    )
    seen = exists().where(
        col(DisclosureRow.pair_pk) == col(PairRow.pk), col(DisclosureRow.person_pk) == worklist.annotator_pk
    )
    return (
        _select_own(
            worklist,
            PairRow,
            QueryRow,
            DocumentRow,
            CurrentJudgmentRow,
            AdjudicationRow,
            ObjectionRow,
            since,
            seen,
        )
        .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
        .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
        .outerjoin(AdjudicationRow, col(AdjudicationRow.pk) == col(CurrentAdjudicationRow.adjudication_pk))
    )


def _is_shown(hidden: Collection[int]) -> Any:
    return col(PairRow.query_pk).not_in(sorted(hidden))


def _to_record(row: Sequence[Any]) -> tuple[int, OwnDecision]:
    pair, query, document, judged, decided, objection, since, seen = row
    own = None
    if objection is not None:
        answered = decided is None or decided.pk != objection.adjudication_pk
        own = OwnObjection(objection.text, objection.objected_at, answered)
    return pair.pk, OwnDecision(
        pair=pair.key,
        query_id=query.query_id,
        query=query.text,
        doc_id=document.doc_id,
        title=document.title,
        own_outcome=judged.outcome,
        own_grade=judged.grade,
        outcome="withdrawn" if decided is None else decided.outcome,
        grade=None if decided is None else decided.grade,
        rationale="" if decided is None else decided.rationale,
        reason=None if decided is None else decided.reason,
        cause=None if decided is None else decided.cause,
        revision=0 if decided is None else decided.revision,
        decided_at=objection.objected_at if decided is None else decided.decided_at,
        guideline_since=since,
        objection=own,
        new=not seen,
    )
