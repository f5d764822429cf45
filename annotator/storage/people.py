"""Reads and writes of roles: who holds which role where. For `accounts/service.py`; rows do not leave it."""

from sqlalchemy import ColumnElement, delete, func, or_, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.storage.tables import DatasetRow, MembershipRow, PersonRow


def is_username_taken(session: Session, username: str) -> bool:
    """Whether somebody has this username, in whatever case: two that look alike would be one trap."""
    same = or_(
        col(PersonRow.username) == username, func.lower(col(PersonRow.username)) == func.lower(username)
    )
    return session.scalars(select(PersonRow).where(same).limit(1)).first() is not None


def list_role_names(
    session: Session, person_pk: int | None = None
) -> dict[int, list[tuple[str | None, str]]]:
    """(dataset name, role) by person; None for the role everywhere, which comes first. Of one or everybody."""
    statement = (
        select(col(MembershipRow.person_pk), col(DatasetRow.name), col(MembershipRow.role))
        .join(DatasetRow, col(DatasetRow.pk) == col(MembershipRow.dataset_pk), isouter=True)
        .order_by(col(MembershipRow.dataset_pk).is_not(None), col(DatasetRow.name))
    )
    if person_pk is not None:
        statement = statement.where(col(MembershipRow.person_pk) == person_pk)
    found: dict[int, list[tuple[str | None, str]]] = {}
    for person, dataset, role in session.execute(statement):
        found.setdefault(person, []).append((dataset, role))
    return found


def list_role_datasets(session: Session, person_pk: int) -> list[int | None]:
    """Where a person has a role, disabled or not: dataset keys, and None for everywhere."""
    return list(
        session.scalars(
            select(col(MembershipRow.dataset_pk)).where(col(MembershipRow.person_pk) == person_pk)
        )
    )


def set_role(session: Session, person_pk: int, dataset_pk: int | None, role: str) -> None:
    """Give the role on the dataset (None: everywhere) in place of the one held there."""
    held = session.scalars(select(MembershipRow).where(*_is_held(person_pk, dataset_pk))).first()
    if held is None:
        made = {"person_pk": person_pk, "dataset_pk": dataset_pk, "role": role}
        held = MembershipRow.model_validate(made)
    held.role = role
    session.add(held)
    session.flush()


def delete_role(session: Session, person_pk: int, dataset_pk: int | None) -> None:
    """Take the role on the dataset (None: the one everywhere) away."""
    session.execute(delete(MembershipRow).where(*_is_held(person_pk, dataset_pk)))


def _is_held(person_pk: int, dataset_pk: int | None) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    where = col(MembershipRow.dataset_pk)
    return col(MembershipRow.person_pk) == person_pk, where.is_(
        None
    ) if dataset_pk is None else where == dataset_pk
