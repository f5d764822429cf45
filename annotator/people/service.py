"""Manage people and their roles.

No one can raise their own role: a dataset's admin gives roles on it; an admin of all datasets, or the operator, who
owns the database, gives roles on all. An account (name, password, disabled) is managed only by admins of every dataset on which
the person has a role: else an admin of one dataset could take over an account of another.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.audit import AuditAction
from annotator.domain.errors import ConflictError, NotAllowed, StateError, ValidationError
from annotator.domain.messages import LANGUAGES, say
from annotator.domain.people import ROLES, Actor, Membership, Person, PersonChange, includes
from annotator.domain.usernames import TAKEN_OR_ALIKE
from annotator.people.credentials import (
    check_name,
    check_new_password,
    check_username,
    hash_password,
    make_one_time_password,
)
from annotator.people.roles_service import (
    delete_role,
    enter_dataset,
    keep_led,
    list_held_roles,
    list_role_datasets,
    list_roles,
    require_admin,
    require_person,
    require_role,
    set_expertise,
    set_role,
)
from annotator.people.second_factor.second_factor_sql import list_enrolled
from annotator.people.sign_in_sql import (
    add_account,
    clear_failures,
    forget_devices,
    revoke_live_sessions,
    revoke_unused_links,
)
from annotator.storage.database import Database
from annotator.storage.logs.audit_log import note_act
from annotator.storage.lookup import end_leases, find_dataset, find_look_alikes, find_person, key_of
from annotator.storage.tables.central import MembershipRow, PersonRow

GIVERS = 5


def add_person(
    database: Database,
    actor: Actor,
    username: str,
    *,
    now: datetime,
    role: str,
    dataset: str | None = None,
    name: str = "",
    password: str | None = None,
    must_change_password: bool | None = None,
) -> PersonChange:
    """Add a person who can sign in, with a role on one dataset or (`dataset` None) on every dataset.

    Without `password` a one-time password is made. `must_change_password`: whether a new password must be chosen at the
    first sign-in; by default only for a one-time password.
    """
    username, name = check_username(username), check_name(name)
    password_hash, one_time_password = _choose_password(password, username)
    with database.write() as session:
        dataset_pk = _require_may_grant(session, actor, role, dataset)
        _require_free_username(session, actor, username, dataset)
        if must_change_password is None:
            must_change_password = one_time_password is not None
        person_pk = add_account(session, username, name, password_hash, must_change_password, now=now)
        set_role(session, person_pk, dataset_pk, role)
        note_act(session, AuditAction.account_made, actor, at=now, subject=person_pk)
        note_role(session, AuditAction.role_given, actor, person_pk, dataset_pk, role, at=now)
        return PersonChange(_read_person(session, find_person(session, username)), one_time_password)


def note_role(
    session: Session,
    action: AuditAction,
    actor: Actor | int,
    person_pk: int,
    dataset_pk: int | None,
    role: str,
    *,
    at: datetime,
) -> None:
    """Note in the audit log that a role was given or removed."""
    details = {"role": role, "everywhere": dataset_pk is None}
    note_act(session, action, actor, at=at, dataset=dataset_pk, subject=person_pk, details=details)


def list_people(database: Database, actor: Actor, *, dataset: str | None = None) -> list[Person]:
    """Return the people with a role on the dataset or on every dataset, by username. For leads of the dataset.

    Roles on other datasets are left out. Without `dataset`: everybody, for the operator and for leads of every dataset.
    """
    with database.read() as session:
        if dataset is None:
            if not actor.is_operator and not _includes_role(list_roles(session, actor).everywhere, "lead"):
                raise NotAllowed(say("this needs the role lead on every dataset"))
        else:
            require_role(session, actor, key_of(find_dataset(session, dataset).pk), "lead")
        memberships, enrolled = list_held_roles(session), list_enrolled(session)
        rows = session.scalars(select(PersonRow).order_by(col(PersonRow.username))).all()
        people = [
            _to_person(row, memberships.get(key_of(row.pk), ()), second_factor=row.pk in enrolled)
            for row in rows
        ]
    if dataset is None:
        return people
    shown = ((person, _select_memberships(person.memberships, dataset)) for person in people)
    return [replace(person, memberships=memberships) for person, memberships in shown if memberships]


def change_person(
    database: Database,
    actor: Actor,
    username: str,
    *,
    name: str | None = None,
    role: str | None = None,
    dataset: str | None = None,
    password: str | None = None,
    new_password: bool = False,
    enable: bool = False,
    expertise: Mapping[str, Sequence[str] | None] | None = None,
    now: datetime,
) -> PersonChange:
    """Change a person's name, role, expertise or password: the arguments that are given.

    `role` and `expertise` are for `dataset` (None: every dataset). `expertise` names the "categories" and
    "languages" of the queries that the person judges there (None: all); leads may change it too. `new_password` makes
    a one-time password, `password` sets one; either signs the person out everywhere. `enable` undoes `disable_person`.
    """
    if dataset is not None and role is None and expertise is None:
        raise ValidationError("expected a role or an expertise together with the dataset")
    password_hash, one_time_password = (
        _choose_password(password, username) if password is not None or new_password else (None, None)
    )
    with database.write() as session, keep_led(session):
        row = find_person(session, username)
        if role is not None:
            dataset_pk = _require_may_grant(session, actor, role, dataset)
            set_role(session, key_of(row.pk), dataset_pk, role)
            note_role(session, AuditAction.role_given, actor, key_of(row.pk), dataset_pk, role, at=now)
        if expertise is not None:
            dataset_pk = _require_lead_of(session, actor, dataset)
            set_expertise(session, key_of(row.pk), dataset_pk, expertise)
            note_act(
                session,
                AuditAction.expertise_changed,
                actor,
                at=now,
                dataset=dataset_pk,
                subject=row.pk,
                details=expertise,
            )
        if name is not None or password_hash is not None or enable:
            require_may_manage(session, actor, row)
        if name is not None:
            row.name = check_name(name)
            note_act(session, AuditAction.account_renamed, actor, at=now, subject=row.pk)
        if password_hash is not None:
            row.password_hash, row.must_change_password = password_hash, one_time_password is not None
            revoke_live_sessions(session, person_pk=key_of(row.pk), now=now)
            forget_devices(session, key_of(row.pk))
            revoke_unused_links(session, "password", person_pk=key_of(row.pk), now=now)
            clear_failures(session, username=row.username)
            note_act(session, AuditAction.password_reset, actor, at=now, subject=row.pk)
        if enable:
            row.disabled_at = None
            note_act(session, AuditAction.account_enabled, actor, at=now, subject=row.pk)
        session.add(row)
        return PersonChange(_read_person(session, row), one_time_password)


def remove_role(
    database: Database, actor: Actor, username: str, *, dataset: str | None, now: datetime
) -> Person:
    """Remove the person's role on the dataset (None: the role on every dataset).

    Judgments stay; leased pairs become free for others. Raises StateError for the last admin.
    """
    with database.write() as session, keep_led(session):
        row = find_person(session, username)
        dataset_pk = _require_may_grant(session, actor, "annotator", dataset)
        if actor.person_id == row.pk:
            raise StateError(say("you cannot take your own role away; ask another admin"))
        taken = delete_role(session, key_of(row.pk), dataset_pk)
        end_leases(session, key_of(row.pk), dataset_pk, now=now)
        if taken is not None:
            note_role(session, AuditAction.role_taken, actor, key_of(row.pk), dataset_pk, taken, at=now)
        return _read_person(session, row)


def disable_person(database: Database, actor: Actor, username: str, *, now: datetime) -> Person:
    """Disable the account at once: the person can neither sign in nor act.

    Judgments stay; leased pairs become free for others. Raises StateError for the last admin, and for the
    last lead of a dataset with open disagreements.
    """
    with database.write() as session, keep_led(session):
        row = find_person(session, username)
        require_may_manage(session, actor, row)
        if actor.person_id == row.pk:
            raise StateError(say("you cannot disable yourself; ask another admin"))
        if row.disabled_at is None:
            note_act(session, AuditAction.account_disabled, actor, at=now, subject=row.pk)
        row.disabled_at = row.disabled_at or now
        session.add(row)
        revoke_live_sessions(session, person_pk=key_of(row.pk), now=now)
        forget_devices(session, key_of(row.pk))
        end_leases(session, key_of(row.pk), None, now=now)
        return _read_person(session, row)


def list_role_givers(database: Database, actor: Actor) -> tuple[str, ...]:
    """Return the names of at most GIVERS admins of all datasets. A person without a role can ask them for one.

    Leads and admins of single datasets are left out: their names would reveal which datasets exist.
    """
    require_person(actor)
    statement = (
        select(PersonRow)
        .join(MembershipRow, col(MembershipRow.person_pk) == col(PersonRow.pk))
        .where(
            col(MembershipRow.role) == "admin",
            col(MembershipRow.dataset_pk).is_(None),
            col(PersonRow.password_hash).is_not(None),
            col(PersonRow.disabled_at).is_(None),
        )
        .order_by(col(PersonRow.username))
        .limit(GIVERS)
    )
    with database.read() as session:
        return tuple(row.name or row.username for row in session.scalars(statement))


def has_anybody_who_signs_in(database: Database) -> bool:
    """Return whether at least one active person has a password."""
    with database.read() as session:
        statement = select(PersonRow).where(
            col(PersonRow.password_hash).is_not(None), col(PersonRow.disabled_at).is_(None)
        )
        return session.scalars(statement.limit(1)).first() is not None


def choose_language(database: Database, actor: Actor, language: str | None) -> None:
    """Store the language in which the actor wants the app; None: the browser's."""
    if language is not None and language not in LANGUAGES:
        raise ValidationError(f"expected a language among {', '.join(LANGUAGES)}, found {language!r}")
    with database.write() as session:
        row = find_person(session, actor.username)
        row.language = language
        session.add(row)


def _require_free_username(session: Session, actor: Actor, username: str, dataset: str | None) -> None:
    """Raise ConflictError if the username is taken or looks like another one.

    Names the other username only if the actor may see that person: an admin sees no people of other datasets.
    """
    other = find_look_alikes(session, [username]).get(username)
    if other is None:
        return
    if other == username:
        raise ConflictError(
            say("the username {username} is taken; choose another, or change that person", username=username)
        )
    other_pk = key_of(find_person(session, other).pk)
    held = {membership.dataset for membership in list_held_roles(session, other_pk).get(other_pk, ())}
    sees_everybody = actor.is_operator or _includes_role(list_roles(session, actor).everywhere, "lead")
    if not sees_everybody and held.isdisjoint({dataset, None}):
        raise ConflictError(TAKEN_OR_ALIKE)
    raise ConflictError(
        say(
            "The username {username} looks like {other}, which is taken. Choose another.",
            username=username,
            other=other,
        )
    )


def _choose_password(password: str | None, username: str) -> tuple[str, str | None]:
    """Return the hash to store, and the one-time password if none was given."""
    if password is not None:
        check_new_password(password, username=username)
        return hash_password(password), None
    one_time_password = make_one_time_password()
    return hash_password(one_time_password), one_time_password


def _require_lead_of(session: Session, actor: Actor, dataset: str | None) -> int | None:
    """Return dataset_pk for a lead of it; for `dataset` None, None for an admin of every dataset."""
    if dataset is None:
        require_admin(session, actor)
        return None
    return key_of(enter_dataset(session, actor, dataset, "lead", archived_too=True).pk)


def _require_may_grant(session: Session, actor: Actor, role: str, dataset: str | None) -> int | None:
    """Return dataset_pk (None: every dataset). Raises NotAllowed unless the actor may give roles there."""
    if role not in ROLES:
        raise ValidationError(f"expected a role annotator, lead or admin, found {role!r}")
    if dataset is None:
        require_admin(session, actor)
        return None
    return key_of(enter_dataset(session, actor, dataset, "admin", archived_too=True).pk)


def require_may_manage(session: Session, actor: Actor, row: PersonRow) -> None:
    """Raise NotAllowed unless the actor is an admin wherever this person has a role."""
    actor_roles = list_roles(session, actor)
    if actor.is_operator or actor_roles.everywhere == "admin":
        return
    dataset_pks = list_role_datasets(session, key_of(row.pk))
    if not dataset_pks or any(pk is None or actor_roles.role_on(pk) != "admin" for pk in dataset_pks):
        raise NotAllowed(
            say(
                "this needs the role admin on every dataset where {username} has a role",
                username=row.username,
            )
        )


def _read_person(session: Session, row: PersonRow) -> Person:
    person_pk = key_of(row.pk)
    memberships = list_held_roles(session, person_pk).get(person_pk, ())
    return _to_person(row, memberships, second_factor=person_pk in list_enrolled(session, person_pk))


def _to_person(row: PersonRow, memberships: tuple[Membership, ...], *, second_factor: bool) -> Person:
    return Person(
        username=row.username,
        name=row.name,
        memberships=memberships,
        can_sign_in=row.password_hash is not None and row.disabled_at is None,
        must_change_password=row.must_change_password,
        disabled=row.disabled_at is not None,
        simulated=row.simulated,
        created_at=row.created_at,
        second_factor=second_factor,
    )


def _select_memberships(memberships: tuple[Membership, ...], dataset: str) -> tuple[Membership, ...]:
    return tuple(item for item in memberships if item.dataset in (None, dataset))


def _includes_role(role: str | None, needed: str) -> bool:
    return role is not None and includes(role, needed)
