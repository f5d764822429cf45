"""Manage people and their roles, and sign them in. Every service call that acts asks `require_role` in its transaction.

Nobody can raise their own role: a dataset's admin gives roles on it; an admin of all datasets, or the operator, who
owns the database, gives roles on all. An account (name, password, disabled) is managed only by somebody who is admin
wherever that person has a role, so that an admin of one dataset cannot become somebody else. Passwords are hashed
outside transactions, because that is slow by design.
"""

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.errors import ConflictError, NotAllowed, StateError, ValidationError
from annotator.domain.messages import LANGUAGES, say
from annotator.domain.people import (
    ROLE_NAMES,
    ROLES,
    Actor,
    LoginSession,
    Membership,
    Person,
    PersonChange,
    SignedIn,
    WrongSignIn,
    includes,
)
from annotator.people.credentials import (
    NOBODYS_HASH,
    check_name,
    check_new_password,
    check_username,
    hash_password,
    is_outdated,
    is_password,
    make_one_time_password,
)
from annotator.people.sessions_sql import (
    clear_failures,
    clear_old,
    clear_own_failures,
    count_other_devices,
    find_live_session,
    forget_devices,
    is_known_device,
    keep_device,
    list_failures,
    list_live_sessions,
    lock_person,
    revoke_live_sessions,
)
from annotator.people.sign_in_limits import (
    PER_ADDRESS_AND_NAME,
    PER_DEVICE,
    WINDOW,
    check_unknown_browser,
    group_address,
    refuse_too_many,
)
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset, find_person, key_of
from annotator.storage.open_pairs import drop_every_lease
from annotator.storage.roles import (
    delete_role,
    is_username_taken,
    keep_led,
    list_held_roles,
    list_present_roles,
    list_role_datasets,
    set_expertise,
    set_role,
)
from annotator.storage.tables import (
    LoginAttemptRow,
    LoginSessionRow,
    PersonRow,
)

SESSION_LIFETIME = timedelta(hours=12)


@dataclass(frozen=True, slots=True)
class Roles:
    """A person's roles: the one held everywhere, if any, and the ones by dataset_pk."""

    everywhere: str | None = None
    by_dataset: Mapping[int, str] = field(default_factory=dict)

    def role_on(self, dataset_pk: int) -> str | None:
        """The stronger of the role on this dataset and the role everywhere."""
        here = self.by_dataset.get(dataset_pk)
        if here is None or self.everywhere is None:
            return here or self.everywhere
        return here if includes(here, self.everywhere) else self.everywhere


def list_roles(session: Session, actor: Actor) -> Roles:
    """The roles the actor holds now; none for somebody disabled. The operator holds none and needs none."""
    if actor.person_id is None:
        return Roles()
    held = list_present_roles(session, actor.person_id)
    everywhere = next((role for dataset_pk, role in held if dataset_pk is None), None)
    return Roles(everywhere, {dataset_pk: role for dataset_pk, role in held if dataset_pk is not None})


def require_role(session: Session, actor: Actor, dataset_pk: int, needed: str) -> None:
    """NotAllowed unless the actor's present role on the dataset includes `needed`. The operator may everything."""
    if actor.is_operator:
        return
    role = list_roles(session, actor).role_on(dataset_pk)
    if role is None or not includes(role, needed):
        raise NotAllowed(
            say("this needs the role {role} on this dataset", role=ROLE_NAMES.get(needed, needed))
        )


def require_admin(session: Session, actor: Actor) -> None:
    """NotAllowed unless the actor is an admin of every dataset, or the operator."""
    if not actor.is_operator and list_roles(session, actor).everywhere != "admin":
        raise NotAllowed(say("this needs the role admin on every dataset"))


def require_person(actor: Actor) -> int:
    """The person's key; NotAllowed for the operator: judging and deciding are done by somebody."""
    if actor.person_id is None:
        raise NotAllowed("this must be done by a person: sign in, or name one with --as")
    return actor.person_id


def find_actor(database_session: Session, username: str) -> Actor:
    """The person of that name as an actor. NotAllowed when disabled."""
    row = find_person(database_session, username)
    if row.disabled_at is not None:
        raise NotAllowed(f"{username} is disabled")
    return Actor(person_id=key_of(row.pk), username=row.username)


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
    """Make a person who can sign in, with a role on one dataset or (None) on every dataset.

    Without `password` a one-time password is made. `must_change_password`: whether a new one must be
    chosen at the first sign-in; by default exactly when it is a one-time password.
    """
    username, name = check_username(username), check_name(name)
    secret, made = _choose_password(password, username)
    with database.write() as session:
        dataset_pk = _require_may_grant(session, actor, role, dataset)
        if is_username_taken(session, username):
            raise ConflictError(
                say(
                    "there is a person named {username!r} already; change them: annotator people set {username}",
                    username=username,
                )
            )
        row = PersonRow.model_validate(
            {
                "username": username,
                "name": name,
                "password_hash": secret,
                "must_change_password": made is not None
                if must_change_password is None
                else must_change_password,
                "created_at": now,
            }
        )
        session.add(row)
        session.flush()
        set_role(session, key_of(row.pk), dataset_pk, role)
        return PersonChange(_person(session, row), made)


def list_people(database: Database, actor: Actor, *, dataset: str | None = None) -> list[Person]:
    """The people with a role on the dataset or everywhere, by username; a lead of it may ask.

    Without `dataset` everybody, for the operator and leads everywhere. Roles on other datasets are left out.
    """
    with database.read() as session:
        if dataset is None:
            if not actor.is_operator and not _has(list_roles(session, actor).everywhere, "lead"):
                raise NotAllowed(say("this needs the role lead on every dataset"))
        else:
            require_role(session, actor, key_of(find_dataset(session, dataset).pk), "lead")
        memberships = list_held_roles(session)
        rows = session.scalars(select(PersonRow).order_by(col(PersonRow.username))).all()
        people = [_record(row, memberships.get(key_of(row.pk), ())) for row in rows]
    if dataset is None:
        return people
    kept = ((person, _only(person.memberships, dataset)) for person in people)
    return [replace(person, memberships=shown) for person, shown in kept if shown]


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
    """Change what is given: the name; the role on `dataset` (None: everywhere), and by `expertise` the "categories" and
    "languages" of the queries judged there (None: all), which a lead may change as well; the password.

    `new_password` makes a one-time password, `password` sets one; either signs the person out everywhere.
    `enable` undoes `disable_person`.
    """
    if dataset is not None and role is None and expertise is None:
        raise ValidationError("expected a role or an expertise together with the dataset")
    secret, made = (
        _choose_password(password, username) if password is not None or new_password else (None, None)
    )
    with database.write() as session, keep_led(session):
        row = find_person(session, username)
        if role is not None:
            set_role(session, key_of(row.pk), _require_may_grant(session, actor, role, dataset), role)
        if expertise is not None:
            place = _require_lead_of(session, actor, dataset)
            set_expertise(session, key_of(row.pk), place, expertise)
        if name is not None or secret is not None or enable:
            _require_may_manage(session, actor, row)
        if name is not None:
            row.name = check_name(name)
        if secret is not None:
            row.password_hash, row.must_change_password = secret, made is not None
            revoke_live_sessions(session, person_pk=key_of(row.pk), now=now)
            forget_devices(session, key_of(row.pk))
            clear_failures(session, username=row.username)
        if enable:
            row.disabled_at = None
        session.add(row)
        return PersonChange(_person(session, row), made)


def remove_role(database: Database, actor: Actor, username: str, *, dataset: str | None) -> Person:
    """Take the person's role on the dataset (None: the one everywhere) away. What they judged stays, what they had been
    handed goes to others. StateError for the last admin."""
    with database.write() as session, keep_led(session):
        row = find_person(session, username)
        dataset_pk = _require_may_grant(session, actor, "annotator", dataset)
        if actor.person_id == row.pk:
            raise StateError(say("you cannot take your own role away; ask another admin"))
        delete_role(session, key_of(row.pk), dataset_pk)
        drop_every_lease(session, key_of(row.pk))
        return _person(session, row)


def disable_person(database: Database, actor: Actor, username: str, *, now: datetime) -> Person:
    """Let the person neither sign in nor act any more, from this moment. What they judged stays, what they had been
    handed goes to others. StateError for the last admin, and for the last lead of a dataset with open disputes."""
    with database.write() as session, keep_led(session):
        row = find_person(session, username)
        _require_may_manage(session, actor, row)
        if actor.person_id == row.pk:
            raise StateError(say("you cannot disable yourself; ask another admin"))
        row.disabled_at = row.disabled_at or now
        session.add(row)
        revoke_live_sessions(session, person_pk=key_of(row.pk), now=now)
        forget_devices(session, key_of(row.pk))
        drop_every_lease(session, key_of(row.pk))
        return _person(session, row)


def list_memberships(database: Database, actor: Actor) -> tuple[Membership, ...]:
    """The actor's own roles, the one everywhere first, then by dataset name."""
    with database.read() as session:
        return list_held_roles(session, actor.person_id).get(actor.person_id or 0, ())


def has_anybody_who_signs_in(database: Database) -> bool:
    """Whether there is at least one person with a password who is not disabled."""
    with database.read() as session:
        able = select(PersonRow).where(
            col(PersonRow.password_hash).is_not(None), col(PersonRow.disabled_at).is_(None)
        )
        return session.scalars(able.limit(1)).first() is not None


def sign_in(
    database: Database,
    username: str,
    password: str,
    *,
    address: str,
    device: str | None = None,
    now: datetime,
    lifetime: timedelta = SESSION_LIFETIME,
) -> str:
    """Check the password and open a session; returns its token, which is kept nowhere (only its hash).

    WrongSignIn when the username or the password is wrong or the person is disabled: the same message and
    the same time for each. TooManyAttempts before anything is checked; see `sign_in_limits`. `device`: the token by which
    the browser may be known from an earlier sign-in (`know_device`).
    """
    try:
        username = check_username(username.strip())
    except ValidationError:
        username = ""
    place = group_address(address)
    person, known = _begin_attempt(database, username, place, device, now=now)
    kept = person.password_hash if person is not None and person.disabled_at is None else None
    right = is_password(password, kept or NOBODYS_HASH)
    if person is None or kept is None or not right:
        raise WrongSignIn
    better = hash_password(password) if is_outdated(kept) else kept
    token = secrets.token_urlsafe(32)
    with database.write() as session:
        row = lock_person(session, username)
        if row is None or row.disabled_at is not None or row.password_hash != kept:
            raise WrongSignIn
        row.password_hash = better
        clear_own_failures(session, username=username, address=place, device_sha256=known)
        opened = {"token_sha256": _digest(token), "person_pk": row.pk}
        times = {"created_at": now, "expires_at": now + lifetime}
        session.add_all([row, LoginSessionRow.model_validate({**opened, **times})])
    return token


def know_device(database: Database, token: str, *, device: str | None, now: datetime) -> str:
    """Store the browser of this session as known, and return the new token for its cookie.

    The token replaces `device`, which the cookie held before. It is new at each sign-in, so that a token which somebody else
    put into the browser is of no use to them.
    """
    made = secrets.token_urlsafe(32)
    with database.write() as session:
        keep_device(
            session,
            session_sha256=_digest(token),
            old_sha256=_digest(device) if device else None,
            new_sha256=_digest(made),
            now=now,
        )
    return made


def find_session(database: Database, token: str | None, *, now: datetime) -> SignedIn | None:
    """Whoever this token belongs to; None when it is unknown, expired or revoked, or the person is disabled."""
    if not token:
        return None
    with database.read() as session:
        found = find_live_session(session, _digest(token), now=now)
        if found is None:
            return None
        return SignedIn(
            actor=Actor(person_id=found.person_pk, username=found.username),
            name=found.name or found.username,
            memberships=found.memberships,
            must_change_password=found.must_change_password,
            expires_at=found.expires_at,
            language=found.language,
        )


def sign_out(database: Database, token: str | None, *, now: datetime) -> None:
    """Revoke this session. An unknown token is fine: then nobody is signed in with it."""
    if token:
        with database.write() as session:
            revoke_live_sessions(session, token_sha256=_digest(token), now=now)


def list_sessions(
    database: Database, actor: Actor, *, token: str | None, now: datetime
) -> list[LoginSession]:
    """The actor's own live sessions, the newest first; `token` marks the current one."""
    with database.read() as session:
        rows = list_live_sessions(session, require_person(actor), now=now)
    current = _digest(token or "")
    return [LoginSession(row.created_at, row.expires_at, row.token_sha256 == current) for row in rows]


def revoke_sessions(database: Database, actor: Actor, *, keep_token: str | None = None, now: datetime) -> int:
    """Sign the actor out everywhere, except where `keep_token` is used, and know no other browser any more. How many
    sessions that ended."""
    keep = _digest(keep_token) if keep_token else None
    with database.write() as session:
        forget_devices(session, require_person(actor), keep_session_sha256=keep)
        return revoke_live_sessions(session, person_pk=require_person(actor), keep_sha256=keep, now=now)


def count_known_browsers(database: Database, actor: Actor, *, token: str, now: datetime) -> int:
    """In how many other browsers the actor has signed in lately: those in which others' wrong guesses hold nobody up."""
    with database.read() as session:
        return count_other_devices(session, require_person(actor), session_sha256=_digest(token), now=now)


def change_password(
    database: Database, actor: Actor, old: str, new: str, *, keep_token: str | None = None, now: datetime
) -> None:
    """Choose a new password; every session but the one of `keep_token` ends, and no other browser is known any more.

    WrongSignIn when `old` is wrong; such failures count like failed sign-ins.
    """
    check_new_password(new, username=actor.username)
    if old == new:
        raise ValidationError(say("expected a new password, found the present one"))
    require_person(actor)
    person, _known = _begin_attempt(database, actor.username, None, None, now=now)
    if (
        person is None
        or person.disabled_at is not None
        or not is_password(old, person.password_hash or NOBODYS_HASH)
    ):
        raise WrongSignIn
    secret = hash_password(new)
    keep = _digest(keep_token) if keep_token else None
    with database.write() as session:
        row = lock_person(session, actor.username)
        if row is None or row.disabled_at is not None or row.password_hash != person.password_hash:
            raise WrongSignIn
        row.password_hash, row.must_change_password = secret, False
        session.add(row)
        clear_own_failures(session, username=row.username, address="", device_sha256=None)
        forget_devices(session, key_of(row.pk), keep_session_sha256=keep)
        revoke_live_sessions(session, person_pk=key_of(row.pk), keep_sha256=keep, now=now)


def choose_language(database: Database, actor: Actor, language: str | None) -> None:
    """Keep the language in which the actor wants the app; None: the browser's."""
    if language is not None and language not in LANGUAGES:
        raise ValidationError(f"expected a language among {', '.join(LANGUAGES)}, found {language!r}")
    with database.write() as session:
        row = find_person(session, actor.username)
        row.language = language
        session.add(row)


def _begin_attempt(
    database: Database, username: str, address: str | None, device: str | None, *, now: datetime
) -> tuple[PersonRow | None, str | None]:
    """Count the attempt as failed before it is checked, so that guesses at the same moment all count.

    Return the person, and the hash of the browser's token where it is known for them. `address`: None for somebody who is
    signed in already.
    """
    with database.write() as session:
        clear_old(session, now=now, window=WINDOW)
        row = lock_person(session, username)
        digest = _digest(device) if device else None
        known = (
            digest is not None
            and row is not None
            and is_known_device(session, key_of(row.pk), digest, now=now)
        )
        of_name = list_failures(session, now=now, window=WINDOW, username=username)
        unknown = [(failure.at, failure.address) for failure in of_name if failure.device_sha256 is None]
        if known:
            own = [failure.at for failure in of_name if failure.device_sha256 == digest]
            refuse_too_many(own, PER_DEVICE, now=now)
        elif address is None:
            refuse_too_many([at for at, place in unknown if not place], PER_ADDRESS_AND_NAME, now=now)
        else:
            found = list_failures(session, now=now, window=WINDOW, address=address)
            at_address = [failure.at for failure in found if failure.device_sha256 is None]
            check_unknown_browser(unknown if username else [], at_address, address, now=now)
        attempt = {"username": username, "address": address or "", "at": now}
        session.add(LoginAttemptRow.model_validate({**attempt, "device_sha256": digest if known else None}))
        return row, digest if known else None


def _choose_password(password: str | None, username: str) -> tuple[str, str | None]:
    """The hash to keep, and the one-time password if none was given."""
    if password is not None:
        check_new_password(password, username=username)
        return hash_password(password), None
    made = make_one_time_password()
    return hash_password(made), made


def _require_lead_of(session: Session, actor: Actor, dataset: str | None) -> int | None:
    """The dataset's key, for its leads; None (everywhere), for admins of every dataset."""
    if dataset is None:
        require_admin(session, actor)
        return None
    dataset_pk = key_of(find_dataset(session, dataset).pk)
    require_role(session, actor, dataset_pk, "lead")
    return dataset_pk


def _require_may_grant(session: Session, actor: Actor, role: str, dataset: str | None) -> int | None:
    """The dataset's key (None: everywhere). NotAllowed unless the actor may give roles there."""
    if role not in ROLES:
        raise ValidationError(f"expected a role annotator, lead or admin, found {role!r}")
    if dataset is None:
        require_admin(session, actor)
        return None
    dataset_pk = key_of(find_dataset(session, dataset).pk)
    require_role(session, actor, dataset_pk, "admin")
    return dataset_pk


def _require_may_manage(session: Session, actor: Actor, row: PersonRow) -> None:
    """NotAllowed unless the actor is an admin wherever this person has a role."""
    mine = list_roles(session, actor)
    if actor.is_operator or mine.everywhere == "admin":
        return
    where = list_role_datasets(session, key_of(row.pk))
    if not where or any(pk is None or mine.role_on(pk) != "admin" for pk in where):
        raise NotAllowed(
            say("this needs the role admin wherever {username} has a role", username=row.username)
        )


def _person(session: Session, row: PersonRow) -> Person:
    person_pk = key_of(row.pk)
    return _record(row, list_held_roles(session, person_pk).get(person_pk, ()))


def _record(row: PersonRow, memberships: tuple[Membership, ...]) -> Person:
    return Person(
        username=row.username,
        name=row.name,
        memberships=memberships,
        can_sign_in=row.password_hash is not None and row.disabled_at is None,
        must_change_password=row.must_change_password,
        disabled=row.disabled_at is not None,
        simulated=row.simulated,
        created_at=row.created_at,
    )


def _only(memberships: tuple[Membership, ...], dataset: str) -> tuple[Membership, ...]:
    return tuple(item for item in memberships if item.dataset in (None, dataset))


def _has(role: str | None, needed: str) -> bool:
    return role is not None and includes(role, needed)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
