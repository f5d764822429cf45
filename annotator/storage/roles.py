"""Reads and writes of roles: who holds which role where. For `people/service.py`; rows do not leave it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, delete, func, or_, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.errors import StateError, ValidationError
from annotator.domain.messages import say
from annotator.domain.people import Membership
from annotator.storage.database import lock_dataset
from annotator.storage.labeling_tables import AssignmentRow, QueryAnswersRow
from annotator.storage.sql import execute_sql, prepare_sql
from annotator.storage.tables import DatasetRow, MembershipRow, PersonRow, QueryRow

EVERY_ROLE = 0
"""The number that no dataset has, for a lock on who holds which role."""
_PRESENT = prepare_sql(
    "SELECT m.dataset_pk, m.role FROM membership m JOIN person p ON p.pk = m.person_pk "
    "WHERE m.person_pk = :person_pk AND p.disabled_at IS NULL"
)
_LEADERLESS = prepare_sql("""
SELECT d.name FROM dataset d WHERE EXISTS (SELECT 1 FROM dispute x WHERE x.dataset_pk = d.pk AND x.open)
AND NOT EXISTS (SELECT 1 FROM membership m JOIN person p ON p.pk = m.person_pk
  WHERE p.disabled_at IS NULL AND m.role IN ('lead', 'admin') AND (m.dataset_pk = d.pk OR m.dataset_pk IS NULL))
ORDER BY d.name""")
_ADMIN = """EXISTS (SELECT 1 FROM membership m JOIN person p ON p.pk = m.person_pk
  WHERE p.disabled_at IS NULL AND p.password_hash IS NOT NULL AND m.role = 'admin' AND (m.dataset_pk IS NULL{or_here}))"""
_IS_ADMINISTERED = prepare_sql(f"SELECT CASE WHEN {_ADMIN.format(or_here='')} THEN 1 ELSE 0 END")
_ADMINLESS = prepare_sql(
    f"SELECT d.name FROM dataset d WHERE NOT {_ADMIN.format(or_here=' OR m.dataset_pk = d.pk')} ORDER BY d.name"
)


@contextmanager
def keep_led(session: Session) -> Iterator[None]:
    """StateError where what is done within takes away the last admin who can sign in (everywhere, or of a dataset), or leaves
    disputes behind that nobody may decide. Who changes roles does so one after the other: of two admins who let each other or
    themselves go in the same moment, one is refused."""
    lock_dataset(session, EVERY_ROLE)
    leaderless, adminless = _list_leaderless(session), _list_adminless(session)
    administered = _is_administered(session)
    yield
    if administered and not _is_administered(session):
        raise StateError(say("nobody would be admin any more; give somebody else the role admin first"))
    for name in _list_adminless(session):
        if name not in adminless:
            raise StateError(
                say(
                    "nobody would be admin of {dataset} any more; give somebody else the role admin there first",
                    dataset=name,
                )
            )
    for name in _list_leaderless(session):
        if name not in leaderless:
            raise StateError(
                say(
                    "nobody could decide the disputes of {dataset} any more; give somebody else the role lead there first",
                    dataset=name,
                )
            )


def _is_administered(session: Session) -> bool:
    session.flush()
    return bool(execute_sql(session, _IS_ADMINISTERED, {}).scalar())


def _list_leaderless(session: Session) -> list[str]:
    session.flush()
    return list(execute_sql(session, _LEADERLESS, {}).scalars())


def _list_adminless(session: Session) -> list[str]:
    session.flush()
    return list(execute_sql(session, _ADMINLESS, {}).scalars())


def is_username_taken(session: Session, username: str) -> bool:
    """Whether somebody has this username, in whatever case: two that look alike would be one trap."""
    same = or_(
        col(PersonRow.username) == username, func.lower(col(PersonRow.username)) == func.lower(username)
    )
    return session.scalars(select(PersonRow).where(same).limit(1)).first() is not None


def list_held_roles(session: Session, person_pk: int | None = None) -> dict[int, tuple[Membership, ...]]:
    """The roles by person, the one everywhere first, then by the dataset's name. Of one or everybody."""
    statement = (
        select(
            col(MembershipRow.person_pk),
            col(DatasetRow.name),
            col(MembershipRow.role),
            col(MembershipRow.categories),
            col(MembershipRow.languages),
        )
        .join(DatasetRow, col(DatasetRow.pk) == col(MembershipRow.dataset_pk), isouter=True)
        .order_by(col(MembershipRow.dataset_pk).is_not(None), col(DatasetRow.name))
    )
    if person_pk is not None:
        statement = statement.where(col(MembershipRow.person_pk) == person_pk)
    found: dict[int, list[Membership]] = {}
    for person, dataset, role, categories, languages in session.execute(statement):
        held = Membership(dataset, role, _tuple_of(categories), _tuple_of(languages))
        found.setdefault(person, []).append(held)
    return {person: tuple(held) for person, held in found.items()}


def list_present_roles(session: Session, person_pk: int) -> list[tuple[int | None, str]]:
    """The roles that a person holds now, as (dataset_pk, role), None for everywhere; none for somebody disabled."""
    session.flush()
    return [
        (dataset_pk, role) for dataset_pk, role in execute_sql(session, _PRESENT, {"person_pk": person_pk})
    ]


def _tuple_of(names: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)


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


def set_expertise(
    session: Session, person_pk: int, dataset_pk: int | None, expertise: Mapping[str, Sequence[str] | None]
) -> None:
    """Of which "categories" or "languages" (None: all) the person judges queries by the role held on the dataset
    (None: by the one everywhere). A name that no query has is refused while there are queries."""
    held = session.scalars(select(MembershipRow).where(*_is_held(person_pk, dataset_pk))).first()
    if held is None:
        raise ValidationError(say("expected somebody with a role on this dataset; give them one first"))
    for kind, names in expertise.items():
        chosen = list(dict.fromkeys(names)) if names else None
        _check_known(session, dataset_pk, kind, chosen or [])
        setattr(held, kind, chosen)
    session.add(held)
    session.flush()


def _check_known(session: Session, dataset_pk: int | None, kind: str, names: Sequence[str]) -> None:
    column = col({"categories": QueryRow.category, "languages": QueryRow.language}[kind])
    statement = select(column).distinct().order_by(column)
    if dataset_pk is not None:
        statement = statement.where(col(QueryRow.dataset_pk) == dataset_pk)
    known = list(session.scalars(statement))
    missing = [name for name in names if name not in known]
    if known and missing:
        there = ", ".join(name for name in known if name) or say("none")
        field = {"categories": say("categories"), "languages": say("languages")}[kind]
        raise ValidationError(
            say(
                "{field}: no query has {missing!r}; there are: {there}",
                field=field,
                missing=missing[0],
                there=there,
            )
        )


def delete_role(session: Session, person_pk: int, dataset_pk: int | None) -> None:
    """Take the role on the dataset (None: the one everywhere) away."""
    session.execute(delete(MembershipRow).where(*_is_held(person_pk, dataset_pk)))


def _is_held(person_pk: int, dataset_pk: int | None) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    where = col(MembershipRow.dataset_pk)
    return col(MembershipRow.person_pk) == person_pk, where.is_(
        None
    ) if dataset_pk is None else where == dataset_pk


@dataclass(frozen=True, slots=True)
class PersonHere:
    """Somebody with a role here or everywhere, or with judgments or queries here. `roles`: (role, categories,
    languages) of those that hold here; `active`: has done something here or was given something."""

    pk: int
    username: str
    name: str
    roles: tuple[tuple[str, list[str] | None, list[str] | None], ...]
    can_sign_in: bool
    disabled: bool
    active: bool


def list_people_here(session: Session, dataset_pk: int) -> list[PersonHere]:
    """Everybody who may label here, or has judged or was given something here, by username."""
    active: set[int] = set(session.scalars(_select_assigned(dataset_pk)))
    active.update(
        session.scalars(
            select(col(QueryAnswersRow.annotator_pk))
            .where(col(QueryAnswersRow.dataset_pk) == dataset_pk)
            .distinct()
        )
    )
    here = or_(col(MembershipRow.dataset_pk) == dataset_pk, col(MembershipRow.dataset_pk).is_(None))
    held: dict[int, list[tuple[str, list[str] | None, list[str] | None]]] = {}
    for row in session.scalars(select(MembershipRow).where(here).order_by(col(MembershipRow.pk))):
        held.setdefault(row.person_pk, []).append((row.role, row.categories, row.languages))
    people = session.scalars(
        select(PersonRow).where(col(PersonRow.pk).in_(active | held.keys())).order_by(col(PersonRow.username))
    )
    return [
        PersonHere(
            pk=row.pk or 0,
            username=row.username,
            name=row.name,
            roles=tuple(held.get(row.pk or 0, ())),
            can_sign_in=row.password_hash is not None and row.disabled_at is None,
            disabled=row.disabled_at is not None,
            active=(row.pk or 0) in active,
        )
        for row in people
    ]


def _select_assigned(dataset_pk: int) -> Select[Any]:
    return (
        select(col(AssignmentRow.person_pk))
        .join(QueryRow, col(QueryRow.pk) == col(AssignmentRow.query_pk))
        .where(col(QueryRow.dataset_pk) == dataset_pk)
        .distinct()
    )
