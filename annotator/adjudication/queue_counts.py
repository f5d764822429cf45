"""What the queue of disputes is made of, counted by the database, and what its pace is computed from.

Refuses nothing. Open disputes only, whatever filter a page has set: the counts say what a filter would let through.
"""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.storage.adjudication_tables import (
    AdjudicationRow,
    CaseAssignmentRow,
    CurrentAdjudicationRow,
    DisputeRow,
    ScoreDueRow,
)
from annotator.storage.tables import PersonRow, QueryRow


class Counted(NamedTuple):
    """How many open disputes there are that wait for the same reasons (`waiting`, as bits) with the same grades."""

    waiting: int
    low: int | None
    high: int | None
    taste: bool
    flips: bool
    disputes: int


def count_open(session: Session, dataset_pk: int) -> list[Counted]:
    """All open disputes, in one pass."""
    row = DisputeRow
    flips = func.coalesce(col(row.flips), 0) > 0
    told = (col(row.waiting), col(row.low), col(row.high), col(row.taste), flips)
    statement = _scan_open(select(*told, func.count()), dataset_pk).group_by(*told)
    return [Counted(*found) for found in session.execute(statement)]


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
