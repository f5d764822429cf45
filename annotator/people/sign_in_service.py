"""Sign people in and out: check passwords, limit failed attempts, and keep sessions and known browsers.

Passwords are checked outside transactions, because the check is slow by design. Tokens are stored only as hashes.
"""

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.audit import AuditAction
from annotator.domain.errors import StateError, ValidationError
from annotator.domain.messages import say
from annotator.domain.people import (
    Actor,
    LocalAccounts,
    LocalAccountsOff,
    LoginSession,
    SecondFactor,
    SignedIn,
    SignInTerms,
    TooManyAttempts,
    WrongSignIn,
    requires_second_factor,
)
from annotator.people.credentials import (
    NOBODYS_HASH,
    check_new_password,
    digest_token,
    hash_password,
    is_outdated,
    is_password,
    read_username,
)
from annotator.people.roles_service import list_active_roles, require_person
from annotator.people.second_factor.records import Need, SignInStep
from annotator.people.second_factor.second_factor_sql import add_half_sign_in, find_factor
from annotator.people.sign_in_limits import (
    PER_ADDRESS_AND_NAME,
    PER_DEVICE,
    WINDOW,
    check_unknown_browser,
    group_address,
    refuse_too_many,
)
from annotator.people.sign_in_sql import (
    OpenedSession,
    clear_old,
    clear_own_failures,
    count_other_devices,
    delete_attempt,
    find_live_sessions,
    forget_devices,
    is_known_device,
    is_room_for_failure,
    keep_device,
    list_failures,
    list_live_sessions,
    lock_person,
    revoke_live_sessions,
    revoke_unused_links,
)
from annotator.storage.database import Database
from annotator.storage.logs.audit_log import note_act
from annotator.storage.lookup import key_of
from annotator.storage.tables.central import PersonRow
from annotator.storage.tables.sign_in import LoginAttemptRow, LoginSessionRow

HALF_LIFETIME = timedelta(minutes=10)
"""How long after the password the second factor may follow."""


class CountedAttempt(NamedTuple):
    """An attempt that counts as failed until it is cleared."""

    person: PersonRow | None
    device_sha256: str | None  # of the browser's token, if the browser is known for that person
    pk: int


def sign_in(
    database: Database,
    username: str,
    password: str,
    *,
    address: str,
    device: str | None = None,
    now: datetime,
    terms: SignInTerms = SignInTerms(),
) -> str:
    """Check the password, open a session and return its token. Only the token's hash is stored.

    Raises WrongSignIn if the username or the password is wrong or the person is disabled: the message and the time taken
    are the same for each. Raises TooManyAttempts before anything is checked; see `sign_in_limits`. `device` is the token
    that a browser keeps from an earlier sign-in (`know_device`). After the right password it raises LocalAccountsOff unless
    the `terms` allow this person one, and SecondFactorNeeded if the person has a second factor or must have one.
    """
    try:
        username = read_username(username.strip())
    except ValidationError:
        username = ""
    address_group = group_address(address)
    try:
        attempt = begin_attempt(database, username, address_group, device, now=now)
    except TooManyAttempts:
        note_limited(database, username, address, now=now)
        raise
    person = attempt.person
    stored_hash = person.password_hash if person is not None and person.disabled_at is None else None
    is_right = is_password(password, stored_hash or NOBODYS_HASH)
    if person is None or stored_hash is None or not is_right:
        note_failure(database, AuditAction.sign_in_failed, person, address=address, now=now)
        raise WrongSignIn
    new_hash = hash_password(password) if is_outdated(stored_hash) else stored_hash
    with database.write() as session:
        row = lock_person(session, username)
        if row is None or row.disabled_at is not None or row.password_hash != stored_hash:
            raise WrongSignIn
        row.password_hash = new_hash
        session.add(row)
        step = open_session(session, key_of(row.pk), terms, now=now, address=address)
        if step.need is None:
            device_sha256 = attempt.device_sha256
            clear_own_failures(session, username=username, address=address_group, device_sha256=device_sha256)
        else:  # a right password leaves the failures of codes counted, and others'
            delete_attempt(session, attempt.pk)
    return step.require_session()


def open_session(
    session: Session, person_pk: int, terms: SignInTerms, *, now: datetime, address: str | None = None
) -> SignInStep:
    """Open a session for a local account, or a half sign-in if a second factor is on or required.

    A person with a removed second factor is asked to set it up again. Raises LocalAccountsOff unless the terms allow the
    sign-in. The caller commits, and then calls `require_session`. `address`: of the browser, for the audit log.
    """
    _require_local_account(session, person_pk, terms.local_accounts)
    factor = find_factor(session, person_pk)
    if factor is not None:
        need: Need = "set-up" if factor.secret is None else "code"
        return SignInStep(add_half_session(session, person_pk, need, now=now), need)
    if terms.required != "optional":
        roles = [role.role for role in list_active_roles(session, person_pk)]
        if requires_second_factor(terms.required, roles):
            return SignInStep(add_half_session(session, person_pk, "set-up", now=now), "set-up")
    return SignInStep(add_session(session, person_pk, now=now, lifetime=terms.lifetime, address=address))


def add_session(
    session: Session,
    person_pk: int,
    *,
    now: datetime,
    lifetime: timedelta,
    second_factor: bool = False,
    by_provider: Mapping[str, object] | None = None,
    address: str | None = None,
) -> str:
    """Store a session and return its token, of which only the hash is stored. Checks nothing.

    `second_factor`: whether a code was checked. `by_provider`: the OpenID Connect provider's part of the sign-in.
    `address`: of the browser, for the audit log.
    """
    token = secrets.token_urlsafe(32)
    opened = {"token_sha256": digest_token(token), "person_pk": person_pk, "second_factor": second_factor}
    times = {"created_at": now, "expires_at": now + lifetime}
    session.add(LoginSessionRow.model_validate({**opened, **times, **(by_provider or {})}))
    by = "password" if by_provider is None else "provider"
    details = {"by": by, **({"second_factor": True} if second_factor else {})}
    note_act(session, AuditAction.signed_in, person_pk, at=now, details=details, address=address)
    return token


def add_half_session(session: Session, person_pk: int, need: Need, *, now: datetime) -> str:
    """Keep that the password was right, for HALF_LIFETIME, and return the token by which the sign-in goes on."""
    token = secrets.token_urlsafe(32)
    expires_at = now + HALF_LIFETIME
    add_half_sign_in(
        session, person_pk, token_sha256=digest_token(token), need=need, now=now, expires_at=expires_at
    )
    return token


def _require_local_account(session: Session, person_pk: int, local_accounts: LocalAccounts) -> None:
    if local_accounts == "true":
        return
    roles = list_active_roles(session, person_pk)
    is_admin = any(role.dataset_pk is None and role.role == "admin" for role in roles)
    if local_accounts == "false" or not is_admin:
        raise LocalAccountsOff


def know_device(database: Database, token: str, *, device: str | None, now: datetime) -> str:
    """Store the browser of this sign-in as known, and return the new token for its cookie.

    The token replaces `device`, the cookie's former value. It is new at each sign-in, so a token that an attacker has put
    into the browser is useless.
    """
    new_token = secrets.token_urlsafe(32)
    with database.write() as session:
        keep_device(
            session,
            session_sha256=digest_token(token),
            old_sha256=digest_token(device) if device else None,
            new_sha256=digest_token(new_token),
            now=now,
        )
    return new_token


def find_session(
    database: Database, token: str | None, *, now: datetime, required: SecondFactor = "optional"
) -> SignedIn | None:
    """Return the signed-in person of this token, or None if it is unknown, expired or revoked, or the person is disabled.

    Also None if a second factor is `required` and the person signed in with a password alone: they must sign in again.
    """
    return find_sessions(database, [token], now=now, required=required)[0] if token else None


def find_sessions(
    database: Database, tokens: Sequence[str], *, now: datetime, required: SecondFactor = "optional"
) -> list[SignedIn | None]:
    """Return for each token what `find_session` does, by one statement."""
    digests = [digest_token(token) for token in tokens]
    with database.ask() as session:
        opened = find_live_sessions(session, set(digests), now=now)
    signed_in = {digest: _to_signed_in(live, required) for digest, live in opened.items()}
    return [signed_in.get(digest) for digest in digests]


def _to_signed_in(opened: OpenedSession, required: SecondFactor) -> SignedIn | None:
    if not (opened.by_provider or opened.second_factor):
        roles = (membership.role for membership in opened.memberships)
        if requires_second_factor(required, roles):
            return None
    return SignedIn(
        actor=Actor(person_id=opened.person_pk, username=opened.username),
        name=opened.name or opened.username,
        memberships=opened.memberships,
        must_change_password=opened.must_change_password,
        expires_at=opened.expires_at,
        language=opened.language,
        by_provider=opened.by_provider,
    )


def sign_out(database: Database, token: str | None, *, now: datetime) -> None:
    """End the sign-in of this token. Does nothing for an unknown token."""
    if token:
        with database.write() as session:
            opened = session.get(LoginSessionRow, digest_token(token))
            if (
                revoke_live_sessions(session, token_sha256=digest_token(token), now=now)
                and opened is not None
            ):
                note_act(session, AuditAction.signed_out, opened.person_pk, at=now)


def list_sessions(
    database: Database, actor: Actor, *, token: str | None, now: datetime
) -> list[LoginSession]:
    """Return the actor's own live sessions, the newest first; `token` marks the current one."""
    with database.read() as session:
        rows = list_live_sessions(session, require_person(actor), now=now)
    current = digest_token(token or "")
    return [LoginSession(row.created_at, row.expires_at, row.token_sha256 == current) for row in rows]


def revoke_sessions(database: Database, actor: Actor, *, keep_token: str | None = None, now: datetime) -> int:
    """Sign the actor out everywhere except where `keep_token` is used, and forget all other browsers.

    Returns how many sessions ended.
    """
    keep = digest_token(keep_token) if keep_token else None
    with database.write() as session:
        forget_devices(session, require_person(actor), keep_session_sha256=keep)
        ended = revoke_live_sessions(session, person_pk=require_person(actor), keep_sha256=keep, now=now)
        note_act(session, AuditAction.signed_out_everywhere, actor, at=now, details={"sessions": ended})
        return ended


def count_known_browsers(database: Database, actor: Actor, *, token: str, now: datetime) -> int:
    """Count the other browsers in which the actor signed in lately. Wrong guesses elsewhere do not limit these."""
    with database.read() as session:
        return count_other_devices(
            session, require_person(actor), session_sha256=digest_token(token), now=now
        )


def change_password(
    database: Database, actor: Actor, old: str, new: str, *, keep_token: str | None = None, now: datetime
) -> None:
    """Store a new password, end every session but that of `keep_token`, and forget all other browsers.

    Raises WrongSignIn if `old` is wrong; such failures count like failed sign-ins.
    """
    check_new_password(new, username=actor.username)
    if old == new:
        raise ValidationError(say("expected a new password, found the current one"))
    require_person(actor)
    person = begin_attempt(database, actor.username, None, None, now=now).person
    if (
        person is None
        or person.disabled_at is not None
        or not is_password(old, person.password_hash or NOBODYS_HASH)
    ):
        note_failure(database, AuditAction.sign_in_failed, person, address="", now=now)
        raise WrongSignIn
    new_hash = hash_password(new)
    keep = digest_token(keep_token) if keep_token else None
    with database.write() as session:
        row = lock_person(session, actor.username)
        if row is None or row.disabled_at is not None or row.password_hash != person.password_hash:
            raise WrongSignIn
        row.password_hash, row.must_change_password = new_hash, False
        session.add(row)
        clear_own_failures(session, username=row.username, address="", device_sha256=None)
        note_act(session, AuditAction.password_changed, actor, at=now)
        forget_devices(session, key_of(row.pk), keep_session_sha256=keep)
        revoke_unused_links(session, "password", person_pk=key_of(row.pk), now=now)
        revoke_live_sessions(session, person_pk=key_of(row.pk), keep_sha256=keep, now=now)


def replace_one_time_password(
    database: Database, actor: Actor, new: str, *, keep_token: str, now: datetime
) -> None:
    """Store the new password of a person who has just signed in with a one-time password.

    Ends every session except that of `keep_token`, and forgets all other browsers. Raises StateError if the one-time password
    was replaced in the meantime.
    """
    check_new_password(new, username=actor.username)
    person_pk, keep = require_person(actor), digest_token(keep_token)
    with database.read() as session:
        person = session.get_one(PersonRow, person_pk)
        stored_hash, is_one_time = person.password_hash or "", person.must_change_password
    if is_one_time and is_password(new, stored_hash):
        raise ValidationError(say("choose a new password; this is the one-time password"))
    new_hash = hash_password(new)
    with database.write() as session:
        row = lock_person(session, actor.username)
        if row is None or row.disabled_at is not None:
            raise WrongSignIn
        if not row.must_change_password or row.password_hash != stored_hash:
            raise StateError(say("your one-time password was replaced; sign in with the new one"))
        row.password_hash, row.must_change_password = new_hash, False
        session.add(row)
        note_act(session, AuditAction.password_changed, actor, at=now, details={"one_time": True})
        forget_devices(session, person_pk, keep_session_sha256=keep)
        revoke_unused_links(session, "password", person_pk=person_pk, now=now)
        revoke_live_sessions(session, person_pk=person_pk, keep_sha256=keep, now=now)


def begin_attempt(
    database: Database, username: str, address: str | None, device: str | None, *, now: datetime
) -> CountedAttempt:
    """Count the attempt as failed before it is checked, so simultaneous guesses all count.

    `address` is None for a signed-in person.
    """
    with database.write() as session:
        clear_old(session, now=now, window=WINDOW)
        row = lock_person(session, username)
        digest = digest_token(device) if device else None
        is_known = (
            digest is not None
            and row is not None
            and is_known_device(session, key_of(row.pk), digest, now=now)
        )
        of_name = list_failures(session, now=now, window=WINDOW, username=username)
        unknown = [(failure.at, failure.address) for failure in of_name if failure.device_sha256 is None]
        if is_known:
            own = [failure.at for failure in of_name if failure.device_sha256 == digest]
            refuse_too_many(own, PER_DEVICE, now=now)
        elif address is None:
            signed_in = [at for at, failed_address in unknown if not failed_address]
            refuse_too_many(signed_in, PER_ADDRESS_AND_NAME, now=now)
        else:
            of_address = list_failures(session, now=now, window=WINDOW, address=address)
            at_address = [failure.at for failure in of_address if failure.device_sha256 is None]
            check_unknown_browser(unknown if username else [], at_address, address, now=now)
        attempt = {"username": username, "address": address or "", "at": now}
        stored_device = digest if is_known else None
        counted = LoginAttemptRow.model_validate({**attempt, "device_sha256": stored_device})
        session.add(counted)
        session.flush()
        return CountedAttempt(row, stored_device, key_of(counted.pk))


def note_failure(
    database: Database, action: AuditAction, person: PersonRow | None, *, address: str, now: datetime
) -> None:
    """Note a failed sign-in in the audit log, in a transaction of its own.

    At most one entry per minute for an account from an address, and FAILURES_PER_MINUTE in all: attempts cannot fill the disk.
    Typed names and passwords are never stored.
    """
    with database.write() as session:
        person_pk = None if person is None else person.pk
        if is_room_for_failure(session, action, person_pk, address, now=now):
            note_act(session, action, "unknown", at=now, subject=person_pk, address=address or None)


def note_limited(database: Database, username: str, address: str, *, now: datetime) -> None:
    """Note in the audit log that attempts were limited: guessed passwords, or too many codes."""
    with database.read() as session:
        person = session.scalars(select(PersonRow).where(col(PersonRow.username) == username)).first()
    note_failure(database, AuditAction.sign_in_limited, person, address=address, now=now)
