"""Read the queue of disagreements page by page, and count it.

The database counts and sorts, so that fifty thousand disagreements cost what a page of them costs. The summary counts
all open disagreements, whatever filter a page has set. Refuses nothing; filters are defined in
`adjudication/queue_records.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, and_, case, exists, func, not_, or_, select
from sqlalchemy.orm import Session, aliased
from sqlmodel import col

from annotator.adjudication.lead_holds_sql import find_latest_hold
from annotator.adjudication.queue_records import QueueFilter
from annotator.storage.adjudication_tables import (
    AdjudicationRow,
    CaseAssignmentRow,
    CaseHoldRow,
    CaseLaterRow,
    CurrentAdjudicationRow,
    DisputeRow,
    ScoreDueRow,
)
from annotator.storage.tables import CurrentJudgmentRow, DocumentRow, PairRow, PersonRow, QueryRow


class OpenDisagreementCount(NamedTuple):
    """How many open disputes there are that wait for the same reasons (`waiting`, as bits) with the same grades."""

    waiting: int
    low: int | None
    high: int | None
    taste: bool
    flips: bool
    disputes: int


def count_open(session: Session, dataset_pk: int) -> list[OpenDisagreementCount]:
    """All open disputes, in one pass."""
    row = DisputeRow
    flips = func.coalesce(col(row.flips), 0) > 0
    told = (col(row.waiting), col(row.low), col(row.high), col(row.taste), flips)
    statement = _scan_open(select(*told, func.count()), dataset_pk).group_by(*told)
    return [OpenDisagreementCount(*found) for found in session.execute(statement)]


def count_all_open(session: Session, dataset_pk: int) -> int:
    """How many disputes are open."""
    return session.scalar(_open(select(func.count()), dataset_pk)) or 0


def count_by_category(session: Session, dataset_pk: int) -> dict[str | None, int]:
    """By the query's category."""
    category = col(QueryRow.category)
    counted = _scan_open(select(col(DisputeRow.query_pk), func.count().label("n")), dataset_pk)
    by_query = counted.group_by(col(DisputeRow.query_pk)).subquery()
    statement = select(category, func.sum(by_query.c.n)).join(
        by_query, by_query.c.query_pk == col(QueryRow.pk)
    )
    return {name: int(n) for name, n in session.execute(statement.group_by(category))}


def count_assigned(session: Session, dataset_pk: int) -> dict[str, int]:
    """By the lead they were given to (username)."""
    given = _open(select(col(PersonRow.username), func.count()), dataset_pk)
    statement = given.join(CaseAssignmentRow, col(CaseAssignmentRow.pair_pk) == col(DisputeRow.pair_pk)).join(
        PersonRow, col(PersonRow.pk) == col(CaseAssignmentRow.lead_pk)
    )
    return dict(session.execute(statement.group_by(col(PersonRow.username))).all())


def count_due(session: Session, dataset_pk: int) -> int:
    """Of how many queries the impact of their disputes is still to be computed."""
    statement = select(func.count()).where(col(ScoreDueRow.dataset_pk) == dataset_pk)
    return session.scalar(statement) or 0


def list_waiting_for(session: Session, dataset_pk: int) -> dict[int, int]:
    """Why each open dispute waits, by pair_pk."""
    statement = _open(select(col(DisputeRow.pair_pk), col(DisputeRow.waiting)), dataset_pk)
    return dict(session.execute(statement).all())


def list_decided_since(
    session: Session, dataset_pk: int, since: datetime
) -> list[tuple[datetime, float | None]]:
    """When each pair was last decided, since then, and in how many seconds; but by policies."""
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
    return [(at, seconds) for at, seconds in session.execute(statement)]


def count_arrived_since(session: Session, dataset_pk: int, since: datetime) -> int:
    """How many disputes came since then."""
    statement = select(func.count()).where(
        col(DisputeRow.dataset_pk) == dataset_pk, col(DisputeRow.since) >= since
    )
    return session.scalar(statement) or 0


def find_first(session: Session, dataset_pk: int) -> datetime | None:
    """When the first dispute came."""
    return session.scalar(
        select(func.min(col(DisputeRow.since))).where(col(DisputeRow.dataset_pk) == dataset_pk)
    )


def _open(statement: Any, dataset_pk: int) -> Any:
    return statement.select_from(DisputeRow).where(
        col(DisputeRow.dataset_pk) == dataset_pk, col(DisputeRow.open)
    )


def _scan_open(statement: Any, dataset_pk: int) -> Any:
    """For what needs more of every one than an index holds: the table is read once from end to end."""
    return statement.select_from(DisputeRow).where(is_of(dataset_pk), col(DisputeRow.open))


def is_of(dataset_pk: int) -> ColumnElement[bool]:
    """That a dispute is of the dataset, but not by an index: to look up fifty thousand rows one by one takes three to five times as
    long as to read them all."""
    return col(DisputeRow.dataset_pk) + 0 == dataset_pk


@dataclass(frozen=True, slots=True)
class QueueReader:
    """Who asks, of which dataset, and when: holds and what was put off depend on it."""

    dataset_pk: int
    lead_pk: int | None
    now: datetime

    @property
    def latest_hold(self) -> datetime:
        """Until when a hold of now can last: one that lasts longer was taken by a clock ahead."""
        return find_latest_hold(self.now)


def list_rows(
    session: Session,
    reader: QueueReader,
    wanted: QueueFilter,
    sort: str,
    *,
    offset: int = 0,
    limit: int | None = None,
) -> Sequence[Any]:
    """A part of the queue, in order: rows with the columns `DisputeRow`, `pair`, `query_id`, `query`, `category`, `doc_id`,
    `title`, `outcome`, `grade`, `held_by`, `assigned_to`, `put_off`. What is put off stands at the end."""
    holder, assignee = aliased(PersonRow), aliased(PersonRow)
    statement: Any = (
        select(
            DisputeRow,
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
            col(CaseLaterRow.put_off_at).label("put_off"),
        )
        .join(PairRow, col(PairRow.pk) == col(DisputeRow.pair_pk))
        .join(QueryRow, col(QueryRow.pk) == col(DisputeRow.query_pk))
        .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
        .outerjoin(CurrentAdjudicationRow, col(CurrentAdjudicationRow.pair_pk) == col(DisputeRow.pair_pk))
        .outerjoin(CaseHoldRow, _is_held(reader))
        .outerjoin(holder, col(holder.pk) == col(CaseHoldRow.lead_pk))
        .outerjoin(CaseAssignmentRow, col(CaseAssignmentRow.pair_pk) == col(DisputeRow.pair_pk))
        .outerjoin(assignee, col(assignee.pk) == col(CaseAssignmentRow.lead_pk))
        .outerjoin(CaseLaterRow, _is_put_off(reader))
    )
    if limit is None:
        return session.execute(_sort(statement, reader, sort).where(*choose_disputes(reader, wanted))).all()
    part = _list_part(session, reader, wanted, sort, offset=offset, limit=limit)
    found = {
        row.DisputeRow.pair_pk: row
        for row in session.execute(statement.where(col(DisputeRow.pair_pk).in_(part)))
    }
    return [found[pair_pk] for pair_pk in part]


def _list_part(
    session: Session, reader: QueueReader, wanted: QueueFilter, sort: str, *, offset: int, limit: int
) -> Sequence[int]:
    """The pairs of a part of the queue, in order: fifty thousand are sorted without what is shown of fifty."""
    statement = _reach(select(col(DisputeRow.pair_pk)), wanted, sort).outerjoin(
        CaseLaterRow, _is_put_off(reader)
    )
    statement = _sort(statement, reader, sort).where(*choose_disputes(reader, wanted))
    return session.scalars(statement.offset(offset or None).limit(limit)).all()


def count_rows(session: Session, reader: QueueReader, wanted: QueueFilter) -> int:
    """How many disputes the filter lets through."""
    statement = _reach(select(func.count()).select_from(DisputeRow), wanted)
    return session.scalar(statement.where(*choose_disputes(reader, wanted))) or 0


def _reach(statement: Any, wanted: QueueFilter, sort: str = "") -> Any:
    """With the tables that this filter and this order ask, and no other: each costs a look for every dispute."""
    if wanted.query_id is not None or wanted.category is not None or sort in ("query", "category"):
        statement = statement.join(QueryRow, col(QueryRow.pk) == col(DisputeRow.query_pk))
    if wanted.assigned is not None:
        statement = statement.outerjoin(
            CaseAssignmentRow, col(CaseAssignmentRow.pair_pk) == col(DisputeRow.pair_pk)
        )
    return statement


def count_waiting(session: Session, dataset_pk: int) -> dict[tuple[bool, int], int]:
    """How many disputes there are by whether they are open and by what they wait for."""
    open_, waiting = col(DisputeRow.open), col(DisputeRow.waiting)
    statement = select(open_, waiting, func.count()).where(is_of(dataset_pk))
    return {(is_open, mask): n for is_open, mask, n in session.execute(statement.group_by(open_, waiting))}


def _is_held(reader: QueueReader) -> ColumnElement[bool]:
    """By another lead: in a tab of one's own it is not taken."""
    held, holder = col(CaseHoldRow.pair_pk) == col(DisputeRow.pair_pk), col(CaseHoldRow.lead_pk)
    lasts = col(CaseHoldRow.expires_at) > reader.now
    counts = col(CaseHoldRow.expires_at) <= reader.latest_hold
    return and_(held, lasts, counts, holder.is_distinct_from(reader.lead_pk))


def _is_put_off(reader: QueueReader) -> ColumnElement[bool]:
    return and_(
        col(CaseLaterRow.pair_pk) == col(DisputeRow.pair_pk), col(CaseLaterRow.lead_pk) == reader.lead_pk
    )


def choose_disputes(reader: QueueReader, wanted: QueueFilter) -> list[Any]:
    """The conditions of a filter; for statements over `DisputeRow`, with `QueryRow` and `CaseAssignmentRow` where it names them."""
    found: list[Any] = [col(DisputeRow.dataset_pk) == reader.dataset_pk]
    if wanted.shown != "all":
        found.append(col(DisputeRow.open) if wanted.shown == "open" else not_(col(DisputeRow.open)))
    if wanted.reasons:
        mask = case((col(DisputeRow.open), col(DisputeRow.waiting)), else_=col(DisputeRow.reasons))
        found.append(mask.op("&")(int(wanted.reasons)) != 0)
    for column, value in ((QueryRow.query_id, wanted.query_id), (DisputeRow.distance, wanted.distance)):
        if value is not None:
            found.append(col(column) == value)
    if wanted.category is not None:
        found.append(func.coalesce(col(QueryRow.category), "") == wanted.category)
    if wanted.grades is not None:
        found += [col(DisputeRow.low) == wanted.grades[0], col(DisputeRow.high) == wanted.grades[1]]
    if wanted.taste is not None:
        found.append(col(DisputeRow.taste) == wanted.taste)
    if wanted.flips:
        found.append(col(DisputeRow.flips) > 0)
    if wanted.assigned is not None:
        mine = select(col(PersonRow.pk)).where(col(PersonRow.username) == wanted.assigned).scalar_subquery()
        given = col(CaseAssignmentRow.lead_pk)
        found.append(given == mine if wanted.assigned else given.is_(None))
    return found + [_was_judged_by(username) for username in wanted.annotators]


def _was_judged_by(username: str) -> ColumnElement[bool]:
    return exists().where(
        col(CurrentJudgmentRow.pair_pk) == col(DisputeRow.pair_pk),
        col(CurrentJudgmentRow.purpose) == "independent",
        col(CurrentJudgmentRow.outcome) != "later",
        col(CurrentJudgmentRow.annotator_pk) == col(PersonRow.pk),
        col(PersonRow.username) == username,
    )


def _sort(statement: Any, reader: QueueReader, sort: str) -> Any:
    """Open before decided, put off last; then as asked."""
    last = or_(col(CaseLaterRow.put_off_at).is_not(None), not_(col(DisputeRow.open)))
    return order_disputes(statement.order_by(not_(col(DisputeRow.open)), last), reader, sort)


def order_disputes(statement: Any, reader: QueueReader, sort: str) -> Any:
    """The order that was asked for; what is equal, furthest apart and then oldest first. For statements with `QueryRow`."""
    row = DisputeRow
    by: dict[str, list[Any]] = {
        "distance": [],
        "impact": [col(row.impact).desc()],
        "age": [col(row.since)],
        "query": [col(QueryRow.position), col(QueryRow.query_id)],
        "category": [col(QueryRow.category).is_(None), col(QueryRow.category)],
        "grades": [col(row.low).is_(None), col(row.low), col(row.high)],
        "annotators": [],
    }
    order = by[sort]
    if sort == "annotators":
        judges = _list_judges(reader.dataset_pk)
        statement = statement.outerjoin(judges, judges.c.pair_pk == col(row.pair_pk))
        order = [judges.c.first.is_(None), judges.c.first, judges.c.last]
    return statement.order_by(*order, col(row.distance).desc(), col(row.since), col(row.pair_pk))


def _list_judges(dataset_pk: int) -> Any:
    """By pair, the first and the last username of those who judged it independently."""
    username = col(PersonRow.username)
    return (
        select(
            col(CurrentJudgmentRow.pair_pk),
            func.min(username).label("first"),
            func.max(username).label("last"),
        )
        .join(PersonRow, col(PersonRow.pk) == col(CurrentJudgmentRow.annotator_pk))
        .join(DisputeRow, col(DisputeRow.pair_pk) == col(CurrentJudgmentRow.pair_pk))
        .where(
            col(DisputeRow.dataset_pk) == dataset_pk,
            col(CurrentJudgmentRow.purpose) == "independent",
            col(CurrentJudgmentRow.outcome) != "later",
        )
        .group_by(col(CurrentJudgmentRow.pair_pk))
        .subquery()
    )
