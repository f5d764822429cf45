"""Reads the records of the trail, for `adjudication/history_service.py`. What is appended, and when, is said in `storage/audit_log.py`."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, and_, false, func, or_, select, true
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.adjudication.history_records import TrailEvent, TrailFilter
from annotator.storage.adjudication_tables import AuditEventRow
from annotator.storage.disclosures import list_to_judge
from annotator.storage.tables import DocumentRow, PairRow, PersonRow, QueryRow

AT_ONCE = 5_000
OPERATOR = "operator"


def count_events(session: Session, dataset_pk: int, wanted: TrailFilter) -> int:
    """How many records the filter lets through."""
    return session.scalar(_choose(select(func.count()), dataset_pk, wanted)) or 0


def list_events(
    session: Session, dataset_pk: int, reader_pk: int | None, wanted: TrailFilter, *, offset: int, limit: int
) -> tuple[TrailEvent, ...]:
    """A part of the records, the latest first. `reader_pk`: what they may still judge is hidden."""
    order = (col(AuditEventRow.at).desc(), col(AuditEventRow.pk).desc())
    chosen = _choose(_select(), dataset_pk, wanted).order_by(*order)
    return _read(session, reader_pk, session.execute(chosen.offset(offset).limit(limit)).all())


def list_events_after(
    session: Session, dataset_pk: int, reader_pk: int | None, wanted: TrailFilter, *, after: int
) -> tuple[TrailEvent, ...]:
    """The records behind the one of this number, in the order in which they were appended: up to AT_ONCE of them."""
    chosen = _choose(_select(), dataset_pk, wanted).where(col(AuditEventRow.pk) > after)
    rows = session.execute(chosen.order_by(col(AuditEventRow.pk)).limit(AT_ONCE)).all()
    return _read(session, reader_pk, rows)


def list_people(session: Session, dataset_pk: int) -> list[tuple[str, str]]:
    """(username, name) of everybody who did something, by username; the operator is not among them."""
    did = select(col(AuditEventRow.person_pk)).where(col(AuditEventRow.dataset_pk) == dataset_pk).distinct()
    people = select(col(PersonRow.username), col(PersonRow.name)).where(col(PersonRow.pk).in_(did))
    return [(username, name) for username, name in session.execute(people.order_by(col(PersonRow.username)))]


def _select() -> Select[*tuple[Any, ...]]:
    return select(
        AuditEventRow, col(PersonRow.username), col(PersonRow.name), col(PairRow.key), col(QueryRow.query_id),
        col(DocumentRow.doc_id),
    )  # fmt: skip


def _choose(
    statement: Select[*tuple[Any, ...]], dataset_pk: int, wanted: TrailFilter
) -> Select[*tuple[Any, ...]]:
    found = (
        statement.select_from(AuditEventRow)
        .outerjoin(PersonRow, col(PersonRow.pk) == col(AuditEventRow.person_pk))
        .outerjoin(PairRow, col(PairRow.pk) == col(AuditEventRow.pair_pk))
        .outerjoin(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
        .outerjoin(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
        .where(col(AuditEventRow.dataset_pk) == dataset_pk)
    )
    if wanted.pair is not None:
        found = found.where(col(PairRow.key) == wanted.pair)
    if wanted.action is not None:
        found = found.where(col(AuditEventRow.action) == wanted.action)
    if wanted.person is not None:
        somebody = col(PersonRow.username) == wanted.person
        nobody = and_(
            col(AuditEventRow.person_pk).is_(None), true() if wanted.person == OPERATOR else false()
        )
        found = found.where(or_(somebody, nobody))
    if wanted.since is not None:
        found = found.where(col(AuditEventRow.at) >= wanted.since)
    if wanted.until is not None:
        found = found.where(col(AuditEventRow.at) <= wanted.until)
    return found


def _read(session: Session, reader_pk: int | None, rows: Sequence[Any]) -> tuple[TrailEvent, ...]:
    pairs = {row.AuditEventRow.pair_pk for row in rows if row.AuditEventRow.pair_pk is not None}
    hidden = list_to_judge(session, reader_pk, sorted(pairs))
    return tuple(_event(row, hidden=row.AuditEventRow.pair_pk in hidden) for row in rows)


def _event(row: Any, *, hidden: bool) -> TrailEvent:
    event = row.AuditEventRow
    before, after = (None, None) if hidden else (event.before, event.after)
    return TrailEvent(
        event.pk, event.at, row.username, row.name, event.action, row.key, row.query_id, row.doc_id, before, after, hidden
    )  # fmt: skip
