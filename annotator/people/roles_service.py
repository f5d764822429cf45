"""Check, read and write who holds which role on which dataset. Every service calls `require_role` in its transaction.

A file of its own, because every command checks a role, and few import accounts, sessions and second factors (`service.py`).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from sqlalchemy import ColumnElement, delete, or_, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.errors import NotAllowed, StateError, ValidationError
from annotator.domain.messages import say
from annotator.domain.people import Actor, DatasetPerson, HeldRoles, Membership, RoleScope, require_held_role
from annotator.domain.texts import check_text
from annotator.storage.database import Database, lock_dataset
from annotator.storage.lookup import find_dataset, find_person, key_of
from annotator.storage.sql import PreparedSql, fetch, fetch_tuples, prepare_sql, read_json
from annotator.storage.tables.central import DatasetRow, MembershipRow, PersonRow, QueryRow

ROLES_LOCK = 0
"""The key of the lock under which roles change. No dataset has it."""


class ActiveRole(NamedTuple):
    """A role that a person holds; everywhere if `dataset_pk` is None."""

    dataset_pk: int | None
    role: str


_ACTIVE_ROLES = prepare_sql(
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

_AT_WORK = prepare_sql("""
SELECT annotator_pk FROM query_answers WHERE dataset_pk = :dataset_pk
UNION SELECT a.person_pk FROM assignment a JOIN query q ON q.pk = a.query_pk WHERE q.dataset_pk = :dataset_pk""")
_HELD_ROLES = """
SELECT m.person_pk, d.name, m.role, m.categories, m.languages FROM membership m LEFT JOIN dataset d ON d.pk = m.dataset_pk
{chosen} ORDER BY m.dataset_pk IS NOT NULL, d.name"""
_ALL_HELD_ROLES = prepare_sql(_HELD_ROLES.format(chosen=""))
_ROLES_HELD_BY = prepare_sql(_HELD_ROLES.format(chosen="WHERE m.person_pk = :person_pk"))


@contextmanager
def keep_led(session: Session) -> Iterator[None]:
    """Raise StateError if the block removes the last admin, or the last person who may decide disagreements.

    Checks the last admin who can sign in, everywhere and of each dataset, and each dataset's open
    disagreements. Changes of roles run one after another, so two admins cannot remove each other at the same
    time.
    """
    lock_dataset(session, ROLES_LOCK)
    leaderless, adminless = _list_names(session, _LEADERLESS), _list_names(session, _ADMINLESS)
    administered = _is_administered(session)
    yield
    if administered and not _is_administered(session):
        raise StateError(say("there would be no admin left; give another person the role admin first"))
    for name in _list_names(session, _ADMINLESS):
        if name not in adminless:
            raise StateError(
                say(
                    "{dataset} would have no admin left; give another person the role admin there first",
                    dataset=name,
                )
            )
    for name in _list_names(session, _LEADERLESS):
        if name not in leaderless:
            raise StateError(
                say(
                    "nobody could decide the disagreements of {dataset}; make another person a lead there first",
                    dataset=name,
                )
            )


def _is_administered(session: Session) -> bool:
    session.flush()
    return bool(fetch_tuples(session, _IS_ADMINISTERED)[0][0])


def _list_names(session: Session, statement: PreparedSql) -> list[str]:
    session.flush()
    return [name for (name,) in fetch_tuples(session, statement)]


def list_held_roles(session: Session, person_pk: int | None = None) -> dict[int, tuple[Membership, ...]]:
    """Return {person_pk: roles}, of all people or one: the role everywhere first, then by dataset name."""
    session.flush()
    held = _ALL_HELD_ROLES if person_pk is None else _ROLES_HELD_BY
    by_person: dict[int, list[Membership]] = {}
    for holder_pk, dataset, role, *limits in fetch_tuples(session, held, {"person_pk": person_pk}):
        categories, languages = (to_tuple(read_json(names)) for names in limits)
        by_person.setdefault(holder_pk, []).append(Membership(dataset, role, categories, languages))
    return {holder_pk: tuple(memberships) for holder_pk, memberships in by_person.items()}


def list_active_roles(session: Session, person_pk: int) -> list[ActiveRole]:
    """Return the roles that a person holds; none for a disabled person."""
    return fetch(session, _ACTIVE_ROLES, ActiveRole, {"person_pk": person_pk})


def to_tuple(names: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the stored categories or languages of a role as a tuple; None: all."""
    return None if names is None else tuple(names)


def list_role_datasets(session: Session, person_pk: int) -> list[int | None]:
    """Return the dataset_pks of a person's roles; None stands for everywhere. Includes disabled people."""
    return list(
        session.scalars(
            select(col(MembershipRow.dataset_pk)).where(col(MembershipRow.person_pk) == person_pk)
        )
    )


def set_role(
    session: Session, person_pk: int, dataset_pk: int | None, role: str, *, from_group: bool = False
) -> None:
    """Give a person the role on the dataset (None: everywhere); it replaces the present one.

    `from_group`: the role comes from a group of the OpenID Connect provider. A role given by hand no longer
    belongs to a group.
    """
    membership = _find_membership(session, person_pk, dataset_pk)
    if membership is None:
        values = {"person_pk": person_pk, "dataset_pk": dataset_pk, "role": role}
        membership = MembershipRow.model_validate(values)
    membership.role, membership.from_group = role, from_group
    session.add(membership)
    session.flush()


def set_expertise(
    session: Session, person_pk: int, dataset_pk: int | None, expertise: Mapping[str, Sequence[str] | None]
) -> None:
    """Set the "categories" and "languages" (None: all) of the queries that the person judges by one role.

    The role is the one on the dataset (None: the role everywhere). Raises ValidationError for a name that no
    query has, if the dataset has queries.
    """
    membership = _find_membership(session, person_pk, dataset_pk)
    if membership is None:
        raise ValidationError(say("this person has no role on this dataset; give them one first"))
    for kind, names in expertise.items():
        chosen = list(dict.fromkeys(names)) if names else None
        _check_names(session, dataset_pk, kind, chosen or [])
        setattr(membership, kind, chosen)
    session.add(membership)
    session.flush()


def _check_names(session: Session, dataset_pk: int | None, kind: str, names: Sequence[str]) -> None:
    column = col({"categories": QueryRow.category, "languages": QueryRow.language}[kind])
    statement = select(column).distinct().order_by(column)
    if dataset_pk is not None:
        statement = statement.where(col(QueryRow.dataset_pk) == dataset_pk)
    existing = list(session.scalars(statement))
    for name in names:
        check_text(
            say("categories") if kind == "categories" else say("languages"), name, empty=None, most=1_000
        )
    missing = [name for name in names if name not in existing]
    if existing and missing:
        there = ", ".join(name for name in existing if name) or say("none")
        field = {"categories": say("categories"), "languages": say("languages")}[kind]
        raise ValidationError(
            say(
                "{field}: no query has {missing!r}; there are: {there}",
                field=field,
                missing=missing[0],
                there=there,
            )
        )


def delete_role(session: Session, person_pk: int, dataset_pk: int | None) -> str | None:
    """Delete the role on the dataset (None: the role everywhere). Returns the deleted role, or None."""
    held = _find_membership(session, person_pk, dataset_pk)
    session.execute(delete(MembershipRow).where(*_is_held(person_pk, dataset_pk)))
    return None if held is None else held.role


def _find_membership(session: Session, person_pk: int, dataset_pk: int | None) -> MembershipRow | None:
    return session.scalars(select(MembershipRow).where(*_is_held(person_pk, dataset_pk))).first()


def _is_held(person_pk: int, dataset_pk: int | None) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    column = col(MembershipRow.dataset_pk)
    is_dataset = column.is_(None) if dataset_pk is None else column == dataset_pk
    return col(MembershipRow.person_pk) == person_pk, is_dataset


def list_dataset_people(session: Session, dataset_pk: int) -> list[DatasetPerson]:
    """Return the people with a role, judgments or assigned queries in the dataset, by username."""
    session.flush()
    active = {person_pk for (person_pk,) in fetch_tuples(session, _AT_WORK, {"dataset_pk": dataset_pk})}
    counts = or_(col(MembershipRow.dataset_pk) == dataset_pk, col(MembershipRow.dataset_pk).is_(None))
    roles: dict[int, list[RoleScope]] = {}
    for row in session.scalars(select(MembershipRow).where(counts).order_by(col(MembershipRow.pk))):
        scope = RoleScope(to_tuple(row.categories), to_tuple(row.languages), row.role)
        roles.setdefault(row.person_pk, []).append(scope)
    people = session.scalars(
        select(PersonRow)
        .where(col(PersonRow.pk).in_(active | roles.keys()))
        .order_by(col(PersonRow.username))
    )
    return [
        DatasetPerson(
            pk=row.pk or 0,
            username=row.username,
            name=row.name,
            roles=tuple(roles.get(row.pk or 0, ())),
            can_sign_in=row.password_hash is not None and row.disabled_at is None,
            disabled=row.disabled_at is not None,
            active=(row.pk or 0) in active,
        )
        for row in people
    ]


def list_roles(session: Session, actor: Actor) -> HeldRoles:
    """Return the roles that the actor holds now: none if disabled. The operator holds none and needs none."""
    if actor.person_id is None:
        return HeldRoles()
    roles = list_active_roles(session, actor.person_id)
    everywhere = next((role for dataset_pk, role in roles if dataset_pk is None), None)
    return HeldRoles(everywhere, {dataset_pk: role for dataset_pk, role in roles if dataset_pk is not None})


@contextmanager
def open_dataset(
    database: Database,
    actor: Actor,
    name: str,
    role: str,
    *,
    writing: bool = False,
    archived_too: bool = False,
) -> Iterator[tuple[Session, DatasetRow, int]]:
    """Open a transaction on a dataset for somebody with this role. Yields (session, dataset's row, dataset_pk).

    Raises what `enter_dataset` raises.
    """
    with database.write() if writing else database.read() as session:
        row = enter_dataset(session, actor, name, role, archived_too=archived_too)
        yield session, row, key_of(row.pk)


def enter_dataset(
    session: Session, actor: Actor, name: str, role: str, *, archived_too: bool = False
) -> DatasetRow:
    """Return the dataset's row. Raises what `find_dataset` and `require_role` raise."""
    row = find_dataset(session, name, archived_too=archived_too)
    require_role(session, actor, key_of(row.pk), role)
    return row


def require_role(session: Session, actor: Actor, dataset_pk: int, needed: str) -> None:
    """Raise NotAllowed unless the actor's present role on the dataset includes `needed`.

    Raises DatasetNotOpen if the actor has no role on it, as for a dataset that does not exist: guessing reveals no dataset names.
    The operator may do everything.
    """
    if not actor.is_operator:
        name = session.get_one(DatasetRow, dataset_pk).name
        require_held_role(list_roles(session, actor), dataset_pk, needed, dataset=name)


def require_admin(session: Session, actor: Actor) -> None:
    """Raise NotAllowed unless the actor is an admin of every dataset, or the operator."""
    if not actor.is_operator and list_roles(session, actor).everywhere != "admin":
        raise NotAllowed(say("this needs the role admin on every dataset"))


def require_person(actor: Actor) -> int:
    """Return the actor's person_id. Raises NotAllowed for the operator: only a person judges and decides."""
    if actor.person_id is None:
        raise NotAllowed("this must be done by a person: sign in, or name one with --as")
    return actor.person_id


def find_actor(database_session: Session, username: str) -> Actor:
    """Return the person of that username as an actor. Raises NotAllowed if the person is disabled."""
    row = find_person(database_session, username)
    if row.disabled_at is not None:
        raise NotAllowed(f"{username} is disabled")
    return Actor(person_id=key_of(row.pk), username=row.username)
