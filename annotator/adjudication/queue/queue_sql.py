"""Read the queue of disagreements page by page, and count it.

The database counts and sorts, so that fifty thousand disagreements cost no more than a page of them. Filters
are defined in `adjudication/queue/queue_records.py`; some counts ignore them and are over all open
disagreements.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVarTuple

from sqlalchemy import (
    ColumnElement,
    Integer,
    Row,
    Select,
    Subquery,
    and_,
    case,
    cast,
    exists,
    func,
    not_,
    or_,
    select,
)
from sqlalchemy.orm import Session, aliased
from sqlmodel import col

from annotator.adjudication.queue.lead_holds_sql import find_latest_hold
from annotator.adjudication.queue.queue_records import Disagreement, OpenDisagreementCount, QueueFilter
from annotator.domain.judgments import COUNTED_PURPOSE
from annotator.domain.settling import QueueReason, read_decision
from annotator.storage.logs.disclosures import is_listed, list_blind_pairs
from annotator.storage.tables.adjudication import (
    AdjudicationRow,
    CurrentAdjudicationRow,
    DisagreementAssignmentRow,
    DisagreementHoldRow,
    DisagreementRow,
    PutOffDisagreementRow,
    ScoreDueRow,
)
from annotator.storage.tables.central import CurrentJudgmentRow, DocumentRow, PairRow, PersonRow, QueryRow

Columns = TypeVarTuple("Columns")


Blind = frozenset[int]
"""Pairs that the reader may still judge (`list_blind_pairs`). Counts leave them out."""


def count_open_by_kind(session: Session, reader: "QueueReader") -> list[OpenDisagreementCount]:
    """Count the open disagreements of each kind, in one pass."""
    row, dataset_pk, blind = DisagreementRow, reader.dataset_pk, reader.blind
    flips = func.coalesce(_find_flips(reader), 0) > 0
    kind = (col(row.waiting), col(row.low), col(row.high), col(row.taste), flips)
    statement = _scan_open(select(*kind, func.count()), dataset_pk).where(*_leave_out(session, blind))
    statement = statement.group_by(*kind)
    return [
        OpenDisagreementCount(QueueReason(waiting), low, high, taste, flips, pairs)
        for waiting, low, high, taste, flips, pairs in session.execute(statement)
    ]


def _leave_out(session: Session, blind: Blind) -> list[ColumnElement[bool]]:
    return [~is_listed(session, col(DisagreementRow.pair_pk), blind)] if blind else []


def count_all_open(session: Session, dataset_pk: int, blind: Blind) -> int:
    """Count the open disagreements."""
    statement = _open(select(func.count()), dataset_pk).where(*_leave_out(session, blind))
    return session.scalar(statement) or 0


def count_by_category(session: Session, dataset_pk: int, blind: Blind) -> dict[str | None, int]:
    """Count the open disagreements by their query's category."""
    category = col(QueryRow.category)
    statement = _scan_open(select(col(DisagreementRow.query_pk), func.count().label("n")), dataset_pk)
    statement = statement.where(*_leave_out(session, blind))
    by_query = statement.group_by(col(DisagreementRow.query_pk)).subquery()
    by_category = select(category, func.sum(by_query.c.n)).join(
        by_query, by_query.c.query_pk == col(QueryRow.pk)
    )
    return {name: int(n) for name, n in session.execute(by_category.group_by(category))}


def count_assigned(session: Session, dataset_pk: int, blind: Blind) -> dict[str, int]:
    """Count the open disagreements by the lead to whom they are assigned (username)."""
    statement = (
        _open(select(col(PersonRow.username), func.count()), dataset_pk)
        .join(
            DisagreementAssignmentRow,
            col(DisagreementAssignmentRow.pair_pk) == col(DisagreementRow.pair_pk),
        )
        .join(PersonRow, col(PersonRow.pk) == col(DisagreementAssignmentRow.lead_pk))
        .where(*_leave_out(session, blind))
    )
    return dict(session.execute(statement.group_by(col(PersonRow.username))).all())


def count_due(session: Session, dataset_pk: int) -> int:
    """Count the queries whose disagreements have an impact still to be computed."""
    statement = select(func.count()).where(col(ScoreDueRow.dataset_pk) == dataset_pk)
    return session.scalar(statement) or 0


def list_waiting_for(session: Session, dataset_pk: int) -> dict[int, int]:
    """Return the `QueueReason` bits of each open disagreement by its pair_pk."""
    statement = _open(select(col(DisagreementRow.pair_pk), col(DisagreementRow.waiting)), dataset_pk)
    return dict(session.execute(statement).all())


def list_decided_since(
    session: Session, dataset_pk: int, since: datetime
) -> list[tuple[datetime, float | None]]:
    """Return (time, seconds) of the present decisions made since then. Skips decisions by a policy."""
    row = AdjudicationRow
    statement = (
        select(col(row.decided_at), col(row.seconds))
        .join(CurrentAdjudicationRow, col(CurrentAdjudicationRow.adjudication_pk) == col(row.pk))
        .where(
            col(CurrentAdjudicationRow.dataset_pk) == dataset_pk,
            col(CurrentAdjudicationRow.decided_at) >= since,
            col(row.batch_pk).is_(None),
        )
    )
    return [(decided_at, seconds) for decided_at, seconds in session.execute(statement)]


def count_arrived_since(session: Session, dataset_pk: int, since: datetime, blind: Blind) -> int:
    """Count the disagreements that began since then."""
    statement = select(func.count()).where(
        col(DisagreementRow.dataset_pk) == dataset_pk, col(DisagreementRow.since) >= since
    )
    statement = statement.where(*_leave_out(session, blind))
    return session.scalar(statement) or 0


def find_first_begin(session: Session, dataset_pk: int) -> datetime | None:
    """Return when the dataset's first disagreement began."""
    return session.scalar(
        select(func.min(col(DisagreementRow.since))).where(col(DisagreementRow.dataset_pk) == dataset_pk)
    )


def _open(statement: Select[*Columns], dataset_pk: int) -> Select[*Columns]:
    return statement.select_from(DisagreementRow).where(
        col(DisagreementRow.dataset_pk) == dataset_pk, col(DisagreementRow.open)
    )


def _scan_open(statement: Select[*Columns], dataset_pk: int) -> Select[*Columns]:
    """Select the open disagreements by a scan of the table, for columns that no index has."""
    return statement.select_from(DisagreementRow).where(is_in_dataset(dataset_pk), col(DisagreementRow.open))


def is_in_dataset(dataset_pk: int) -> ColumnElement[bool]:
    """Return the condition that a disagreement belongs to the dataset, written so that no index is used.

    Looking up fifty thousand rows by an index takes three to five times as long as reading the whole table.
    """
    return col(DisagreementRow.dataset_pk) + 0 == dataset_pk


@dataclass(frozen=True, slots=True)
class QueueReader:
    """The lead who reads the queue of a dataset, and the time.

    Impact would show the grades of all pairs of a query, so it is hidden for queries with blind pairs. Flips
    would show grades of the whole dataset, so they are hidden for all queries if there is a blind pair.
    """

    dataset_pk: int
    lead_pk: int | None
    now: datetime
    blind: frozenset[int] = frozenset()  # pairs that the lead may still judge: neither listed nor counted
    without_impact: frozenset[int] = frozenset()  # the queries of these pairs

    @property
    def latest_hold(self) -> datetime:
        """See `find_latest_hold`."""
        return find_latest_hold(self.now)


def make_reader(session: Session, dataset_pk: int, lead_pk: int | None, now: datetime) -> QueueReader:
    """Return the reader, with the pairs that the lead may still judge."""
    blind = list_blind_pairs(session, dataset_pk, lead_pk)
    return QueueReader(dataset_pk, lead_pk, now, blind, blind.query_pks)


def _find_flips(reader: "QueueReader") -> Any:
    """Return the column of the flips, or null where they are not shown."""
    return cast(None, Integer) if reader.without_impact else col(DisagreementRow.flips)


def _find_impact(reader: QueueReader, column: Any) -> Any:
    """Return a column of the impact, null where it is not shown."""
    if not reader.without_impact:
        return col(column)
    return case((col(DisagreementRow.query_pk).in_(sorted(reader.without_impact)), None), else_=col(column))


def list_rows(
    session: Session,
    reader: QueueReader,
    wanted: QueueFilter,
    sort: str,
    *,
    offset: int = 0,
    limit: int | None = None,
) -> list[Disagreement]:
    """Return a part of the queue in order, without grades. The pairs that the lead put off come last."""
    statement = _select_rows(reader)
    if limit is None:
        ordered = _sort(statement, reader, sort).where(*filter_disagreements(reader, wanted))
        ordered = ordered.where(*_leave_out(session, reader.blind))
        return [_to_disagreement(row) for row in session.execute(ordered)]
    pair_pks = _list_part(session, reader, wanted, sort, offset=offset, limit=limit)
    rows = {
        row.pair_pk: _to_disagreement(row)
        for row in session.execute(statement.where(col(DisagreementRow.pair_pk).in_(pair_pks)))
    }
    return [rows[pair_pk] for pair_pk in pair_pks]


def _select_rows(reader: QueueReader) -> Select[*tuple[Any, ...]]:
    holder, assignee = aliased(PersonRow), aliased(PersonRow)
    return (
        select(
            col(DisagreementRow.pair_pk),
            col(DisagreementRow.open),
            col(DisagreementRow.reasons),
            col(DisagreementRow.waiting),
            col(DisagreementRow.distance),
            col(DisagreementRow.since),
            col(DisagreementRow.taste),
            _find_impact(reader, DisagreementRow.impact).label("impact"),
            _find_impact(reader, DisagreementRow.recall_impact).label("recall_impact"),
            _find_impact(reader, DisagreementRow.mrr_impact).label("mrr_impact"),
            _find_flips(reader).label("flips"),
            col(PairRow.key).label("pair"),
            col(QueryRow.query_id),
            col(QueryRow.text).label("query"),
            col(QueryRow.category),
            col(DocumentRow.doc_id),
            col(DocumentRow.title),
            col(CurrentAdjudicationRow.outcome),
            col(CurrentAdjudicationRow.grade),
            col(holder.username).label("held_by"),
            col(assignee.username).label("assigned_to"),
            col(PutOffDisagreementRow.put_off_at).is_not(None).label("put_off"),
        )
        .select_from(DisagreementRow)
        .join(PairRow, col(PairRow.pk) == col(DisagreementRow.pair_pk))
        .join(QueryRow, col(QueryRow.pk) == col(DisagreementRow.query_pk))
        .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
        .outerjoin(
            CurrentAdjudicationRow, col(CurrentAdjudicationRow.pair_pk) == col(DisagreementRow.pair_pk)
        )
        .outerjoin(DisagreementHoldRow, _is_held(reader))
        .outerjoin(holder, col(holder.pk) == col(DisagreementHoldRow.lead_pk))
        .outerjoin(
            DisagreementAssignmentRow,
            col(DisagreementAssignmentRow.pair_pk) == col(DisagreementRow.pair_pk),
        )
        .outerjoin(assignee, col(assignee.pk) == col(DisagreementAssignmentRow.lead_pk))
        .outerjoin(PutOffDisagreementRow, _is_put_off(reader))
    )


def _to_disagreement(row: Row[*tuple[Any, ...]]) -> Disagreement:
    """Return a disagreement without its grades, which `add_grades` adds."""
    values = dict(row._mapping)
    outcome, grade, is_open = values.pop("outcome"), values.pop("grade"), values.pop("open")
    waiting = QueueReason(row.waiting)
    values |= {
        "grades": {},
        "impact": row.impact or 0.0,
        "status": "open" if is_open else "decided",
        "reasons": QueueReason(row.reasons),
        "waiting": waiting,
        "reopened": QueueReason.QUALITY in waiting,
        "decided": read_decision(outcome, grade) if outcome else None,
    }
    return Disagreement(**values)


def _list_part(
    session: Session, reader: QueueReader, wanted: QueueFilter, sort: str, *, offset: int, limit: int
) -> Sequence[int]:
    """Return the pairs of a part of the queue in order. Sorts without the columns that are only shown."""
    statement = _join_filtered(select(col(DisagreementRow.pair_pk)), wanted, sort).outerjoin(
        PutOffDisagreementRow, _is_put_off(reader)
    )
    statement = _sort(statement, reader, sort).where(*filter_disagreements(reader, wanted))
    statement = statement.where(*_leave_out(session, reader.blind))
    return session.scalars(statement.offset(offset or None).limit(limit)).all()


def count_rows(session: Session, reader: QueueReader, wanted: QueueFilter) -> int:
    """Count the disagreements that the filter lets through."""
    statement = _join_filtered(select(func.count()).select_from(DisagreementRow), wanted)
    statement = statement.where(*filter_disagreements(reader, wanted), *_leave_out(session, reader.blind))
    return session.scalar(statement) or 0


def _join_filtered(statement: Select[*Columns], wanted: QueueFilter, sort: str = "") -> Select[*Columns]:
    """Join only the tables that this filter and order need: each costs a lookup for every disagreement."""
    if wanted.query_id is not None or wanted.category is not None or sort in ("query", "category"):
        statement = statement.join(QueryRow, col(QueryRow.pk) == col(DisagreementRow.query_pk))
    if wanted.assigned is not None:
        statement = statement.outerjoin(
            DisagreementAssignmentRow,
            col(DisagreementAssignmentRow.pair_pk) == col(DisagreementRow.pair_pk),
        )
    return statement


def count_waiting(session: Session, dataset_pk: int, blind: Blind) -> dict[tuple[bool, int], int]:
    """Count the disagreements by whether they are open, and by why they wait (`QueueReason` bits)."""
    is_open, waiting = col(DisagreementRow.open), col(DisagreementRow.waiting)
    statement = select(is_open, waiting, func.count()).where(is_in_dataset(dataset_pk))
    statement = statement.where(*_leave_out(session, blind))
    return {(open_, bits): n for open_, bits, n in session.execute(statement.group_by(is_open, waiting))}


def _is_held(reader: QueueReader) -> ColumnElement[bool]:
    """Return the condition that another lead has the pair open; the reader's own tabs do not count."""
    hold = DisagreementHoldRow
    return and_(
        col(hold.pair_pk) == col(DisagreementRow.pair_pk),
        col(hold.expires_at) > reader.now,
        col(hold.expires_at) <= reader.latest_hold,
        col(hold.lead_pk).is_distinct_from(reader.lead_pk),
    )


def _is_put_off(reader: QueueReader) -> ColumnElement[bool]:
    return and_(
        col(PutOffDisagreementRow.pair_pk) == col(DisagreementRow.pair_pk),
        col(PutOffDisagreementRow.lead_pk) == reader.lead_pk,
    )


def filter_disagreements(reader: QueueReader, wanted: QueueFilter) -> list[ColumnElement[bool]]:
    """Return the conditions of a filter.

    For statements over `DisagreementRow`, with `QueryRow` and `DisagreementAssignmentRow` if the filter needs
    them.
    """
    conditions: list[ColumnElement[bool]] = [col(DisagreementRow.dataset_pk) == reader.dataset_pk]
    if wanted.shown != "all":
        is_open = col(DisagreementRow.open)
        conditions.append(and_(is_open) if wanted.shown == "open" else not_(is_open))
    if wanted.reasons:
        reasons = case(
            (col(DisagreementRow.open), col(DisagreementRow.waiting)), else_=col(DisagreementRow.reasons)
        )
        conditions.append(reasons.op("&")(int(wanted.reasons)) != 0)
    if wanted.query_id is not None:
        conditions.append(col(QueryRow.query_id) == wanted.query_id)
    if wanted.distance is not None:
        conditions.append(col(DisagreementRow.distance) == wanted.distance)
    if wanted.category is not None:
        conditions.append(func.coalesce(col(QueryRow.category), "") == wanted.category)
    if wanted.grades is not None:
        low, high = wanted.grades
        conditions += [col(DisagreementRow.low) == low, col(DisagreementRow.high) == high]
    if wanted.taste is not None:
        conditions.append(col(DisagreementRow.taste) == wanted.taste)
    if wanted.flips:
        conditions.append(_find_flips(reader) > 0)
    if wanted.assigned is not None:
        lead_pk = select(col(PersonRow.pk)).where(col(PersonRow.username) == wanted.assigned)
        assigned = col(DisagreementAssignmentRow.lead_pk)
        conditions.append(assigned == lead_pk.scalar_subquery() if wanted.assigned else assigned.is_(None))
    return conditions + [_was_judged_by(username) for username in wanted.annotators]


def _was_judged_by(username: str) -> ColumnElement[bool]:
    return exists().where(
        col(CurrentJudgmentRow.pair_pk) == col(DisagreementRow.pair_pk),
        col(CurrentJudgmentRow.purpose) == COUNTED_PURPOSE,
        col(CurrentJudgmentRow.outcome) != "later",
        col(CurrentJudgmentRow.annotator_pk) == col(PersonRow.pk),
        col(PersonRow.username) == username,
    )


def _sort(statement: Select[*Columns], reader: QueueReader, sort: str) -> Select[*Columns]:
    """Order open ones before decided ones, then put off ones last, then by `sort`."""
    closed = not_(col(DisagreementRow.open))
    last = or_(col(PutOffDisagreementRow.put_off_at).is_not(None), closed)
    return order_disagreements(statement.order_by(closed, last), reader, sort)


def order_disagreements(statement: Select[*Columns], reader: QueueReader, sort: str) -> Select[*Columns]:
    """Order by `sort`; equal ones with the largest distance first, then the oldest first.

    For statements with `QueryRow`.
    """
    row = DisagreementRow
    by_sort: dict[str, list[Any]] = {
        "distance": [],
        "impact": [func.coalesce(_find_impact(reader, row.impact), 0.0).desc()]
        if reader.without_impact
        else [col(row.impact).desc()],
        "age": [col(row.since)],
        "query": [col(QueryRow.position), col(QueryRow.query_id)],
        "category": [col(QueryRow.category).is_(None), col(QueryRow.category)],
        "grades": [col(row.low).is_(None), col(row.low), col(row.high)],
        "annotators": [],
    }
    order = by_sort[sort]
    if sort == "annotators":
        judges = _select_judges(reader.dataset_pk)
        statement = statement.outerjoin(judges, judges.c.pair_pk == col(row.pair_pk))
        order = [judges.c.first.is_(None), judges.c.first, judges.c.last]
    return statement.order_by(*order, col(row.distance).desc(), col(row.since), col(row.pair_pk))


def _select_judges(dataset_pk: int) -> Subquery:
    """Select the first and the last username, in the alphabet, of each pair's independent annotators."""
    username = col(PersonRow.username)
    return (
        select(
            col(CurrentJudgmentRow.pair_pk),
            func.min(username).label("first"),
            func.max(username).label("last"),
        )
        .join(PersonRow, col(PersonRow.pk) == col(CurrentJudgmentRow.annotator_pk))
        .join(DisagreementRow, col(DisagreementRow.pair_pk) == col(CurrentJudgmentRow.pair_pk))
        .where(
            col(DisagreementRow.dataset_pk) == dataset_pk,
            col(CurrentJudgmentRow.purpose) == COUNTED_PURPOSE,
            col(CurrentJudgmentRow.outcome) != "later",
        )
        .group_by(col(CurrentJudgmentRow.pair_pk))
        .subquery()
    )
