"""Finish sign-ins by the second factor, set it up, and remove it.

After the right password, a sign-in that needs a code is a row of `half_sign_in`, not a session. For HALF_LIFETIME its token
opens these functions and nothing else. Attempts at codes are limited per person, from all addresses together: only people who
know the password can type a code, so strangers cannot lock anybody out.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import structlog
from sqlalchemy.orm import Session

from annotator.domain.audit import AuditAction
from annotator.domain.errors import StateError
from annotator.domain.messages import say
from annotator.domain.people import SESSION_LIFETIME, Actor, SecondFactor, WrongSignIn, requires_second_factor
from annotator.people.credentials import NOBODYS_HASH, digest_token, is_password
from annotator.people.roles_service import list_active_roles, require_person
from annotator.people.second_factor.codes import (
    derive_secret,
    find_step,
    is_app_code,
    make_recovery_codes,
    normalize_code,
    seal_secret,
    unseal_secret,
)
from annotator.people.second_factor.records import (
    HalfSignIn,
    Need,
    NewSecondFactor,
    SecondFactorState,
    SignInExpired,
    WrongCode,
)
from annotator.people.second_factor.second_factor_sql import (
    count_recovery_codes,
    delete_factor,
    find_factor,
    find_half_sign_in,
    note_removal,
    replace_factor,
    take_half_sign_in,
    use_recovery_code,
    use_step,
)
from annotator.people.service import require_may_manage
from annotator.people.sign_in_limits import (
    MOST_PER_ADDRESS,
    PER_ADDRESS_AND_NAME,
    PER_DEVICE,
    WINDOW,
    group_address,
    refuse_too_many,
)
from annotator.people.sign_in_service import (
    add_half_session,
    add_session,
    begin_attempt,
    note_failure,
)
from annotator.people.sign_in_sql import (
    clear_failures,
    clear_old,
    clear_own_failures,
    forget_devices,
    is_known_device,
    list_failures,
    lock_person,
    revoke_live_sessions,
)
from annotator.storage.database import Database
from annotator.storage.logs.audit_log import note_act
from annotator.storage.lookup import find_person, key_of
from annotator.storage.tables.central import PersonRow
from annotator.storage.tables.sign_in import LoginAttemptRow

CODES = "code/"
"""Before the username, in the failures that count against codes. No username holds "/"."""

log = structlog.stdlib.get_logger("annotator.people")


def look_at_half_sign_in(
    database: Database, token: str | None, *, now: datetime, required: SecondFactor
) -> HalfSignIn | None:
    """Return the half sign-in of this token, or None."""
    if not token:
        return None
    with database.read() as session:
        found = find_half_sign_in(session, digest_token(token), now=now)
        if found is None:
            return None
        half, person = found
        factor = find_factor(session, half.person_pk)
        removed_by = None
        if factor is not None and factor.removed_at is not None:
            remover = session.get(PersonRow, factor.remover_pk) if factor.remover_pk is not None else None
            removed_by = (remover.name or remover.username) if remover is not None else ""
        return HalfSignIn(
            username=person.username,
            need="code" if half.need == "code" else "set-up",
            is_required=_is_required(session, half.person_pk, required),
            removed_by=removed_by,
        )


def finish_sign_in(
    database: Database,
    token: str | None,
    code: str,
    *,
    address: str,
    device: str | None,
    now: datetime,
    lifetime: timedelta = SESSION_LIFETIME,
    key: bytes | None = None,
) -> str:
    """Check the code, or a recovery code, and return the token of the session.

    Raises SignInExpired, TooManyAttempts before anything is checked, or WrongCode.
    """
    half, username = _require_half(database, token, "code", now=now)
    group, device_sha256 = _begin_code(database, username, address, device, now=now)
    try:
        with database.write() as session:
            person_pk = _take_half(session, half, username, now=now)
            _require_code(session, person_pk, code, now=now, key=key)
            _clear(session, username, group, device_sha256)
            return add_session(
                session, person_pk, now=now, lifetime=lifetime, second_factor=True, address=address
            )
    except WrongCode:
        _note_wrong_code(database, username, address, now=now)
        raise


def set_up_second_factor(
    database: Database,
    token: str | None,
    code: str,
    *,
    address: str,
    device: str | None,
    now: datetime,
    lifetime: timedelta = SESSION_LIFETIME,
    key: bytes | None = None,
) -> NewSecondFactor:
    """Store the second factor that this code confirms, end every session, and sign the person in.

    Raises SignInExpired, TooManyAttempts, or WrongCode; then nothing has changed.
    """
    half, username = _require_half(database, token, "set-up", now=now)
    group, device_sha256 = _begin_code(database, username, address, device, now=now)
    secret = derive_secret(token or "")
    step = find_step(secret, normalize_code(code), now=now)
    if step is None:
        raise WrongCode
    recovery_codes = make_recovery_codes()
    with database.write() as session:
        person_pk = _take_half(session, half, username, now=now)
        sealed = seal_secret(secret, key)
        replace_factor(session, person_pk, secret=sealed, step=step, recovery_codes=recovery_codes, now=now)
        revoke_live_sessions(session, person_pk=person_pk, now=now)
        _clear(session, username, group, device_sha256)
        note_act(session, AuditAction.second_factor_set_up, person_pk, at=now, address=address)
        opened = add_session(
            session, person_pk, now=now, lifetime=lifetime, second_factor=True, address=address
        )
    log.info("second factor set up", person=person_pk)
    return NewSecondFactor(opened, recovery_codes)


def decline_second_factor(
    database: Database,
    token: str | None,
    *,
    now: datetime,
    required: SecondFactor,
    lifetime: timedelta = SESSION_LIFETIME,
) -> str:
    """Sign in without a second factor, after the person has read that it was removed. Returns the session token.

    Raises StateError if the installation requires a second factor of this person.
    """
    half, username = _require_half(database, token, "set-up", now=now)
    with database.write() as session:
        person_pk = _take_half(session, half, username, now=now)
        if _is_required(session, person_pk, required):
            raise StateError(say("this installation requires a second factor for your role"))
        factor = find_factor(session, person_pk)
        if factor is None or factor.removed_at is None:
            raise SignInExpired
        delete_factor(session, person_pk)
        return add_session(session, person_pk, now=now, lifetime=lifetime)


def begin_set_up(
    database: Database,
    actor: Actor,
    password: str,
    code: str,
    *,
    now: datetime,
    key: bytes | None = None,
) -> str:
    """Let a signed-in person set up a second factor, or replace theirs. Returns the token for `set_up_second_factor`.

    `code`: of the present second factor, if any. Raises WrongSignIn, WrongCode, or TooManyAttempts.
    """
    with _open_after_password(database, actor, password, now=now) as session:
        person_pk = require_person(actor)
        _require_present_code(session, person_pk, code, now=now, key=key)
        return add_half_session(session, person_pk, "set-up", now=now)


def remove_second_factor(
    database: Database,
    actor: Actor,
    password: str,
    code: str,
    *,
    token: str,
    required: SecondFactor,
    now: datetime,
    key: bytes | None = None,
) -> None:
    """Remove the actor's own second factor, and end every session but that of `token`.

    Raises StateError if the installation requires one, WrongSignIn, WrongCode, or TooManyAttempts.
    """
    with database.read() as session:
        if _is_required(session, require_person(actor), required):
            raise StateError(say("this installation requires a second factor for your role"))
    with _open_after_password(database, actor, password, now=now) as session:
        person_pk = require_person(actor)
        _require_present_code(session, person_pk, code, now=now, key=key)
        delete_factor(session, person_pk)
        revoke_live_sessions(session, person_pk=person_pk, keep_sha256=digest_token(token), now=now)
        note_act(session, AuditAction.second_factor_removed, actor, at=now)
    log.info("second factor removed", person=person_pk)


def reset_second_factor(database: Database, actor: Actor, username: str, *, now: datetime) -> None:
    """Remove another person's second factor after they lost phone and recovery codes. For admins and the operator.

    Ends every session of the person, who reads about it at the next sign-in. Raises StateError without a second factor, and
    for the actor's own.
    """
    with database.write() as session:
        row = find_person(session, username)
        require_may_manage(session, actor, row)
        if actor.person_id == row.pk:
            raise StateError(say("remove your own second factor on the page Account"))
        person_pk = key_of(row.pk)
        factor = find_factor(session, person_pk)
        if factor is None or factor.secret is None:
            raise StateError(say("{username} has no second factor", username=username))
        note_removal(session, person_pk, remover_pk=actor.person_id, now=now)
        revoke_live_sessions(session, person_pk=person_pk, now=now)
        forget_devices(session, person_pk)
        clear_failures(session, username=CODES + username)
        note_act(session, AuditAction.second_factor_reset, actor, at=now, subject=person_pk)


def show_second_factor(database: Database, actor: Actor, *, required: SecondFactor) -> SecondFactorState:
    """Return the actor's own second factor."""
    person_pk = require_person(actor)
    with database.read() as session:
        factor = find_factor(session, person_pk)
        return SecondFactorState(
            since=factor.confirmed_at if factor is not None and factor.secret is not None else None,
            recovery_codes=count_recovery_codes(session, person_pk),
            is_required=_is_required(session, person_pk, required),
        )


@contextmanager
def _open_after_password(
    database: Database, actor: Actor, password: str, *, now: datetime
) -> Iterator[Session]:
    """Open a write transaction after the signed-in person has proved the password.

    The attempt is counted before the check, and removed when the transaction succeeds.
    """
    require_person(actor)
    person = begin_attempt(database, actor.username, None, None, now=now).person
    stored_hash = None if person is None or person.disabled_at is not None else person.password_hash
    if not is_password(password, stored_hash or NOBODYS_HASH) or stored_hash is None:
        raise WrongSignIn
    _begin_code(database, actor.username, None, None, now=now)
    with database.write() as session:
        row = lock_person(session, actor.username)
        if row is None or row.disabled_at is not None or row.password_hash != stored_hash:
            raise WrongSignIn
        _clear(session, actor.username, "", None)
        yield session


def _note_wrong_code(database: Database, username: str, address: str, *, now: datetime) -> None:
    with database.read() as session:
        person = find_person(session, username)
    note_failure(database, AuditAction.second_factor_failed, person, address=address, now=now)


def _require_half(database: Database, token: str | None, need: Need, *, now: datetime) -> tuple[str, str]:
    """Return (hash of the half sign-in's token, username). Raises SignInExpired if no half sign-in needs this."""
    token_sha256 = digest_token(token or "")
    with database.read() as session:
        found = find_half_sign_in(session, token_sha256, now=now)
        if not token or found is None or found[0].need != need:
            raise SignInExpired
        return token_sha256, found[1].username


def _take_half(session: Session, token_sha256: str, username: str, *, now: datetime) -> int:
    """Use the half sign-in up, and return its person. Raises SignInExpired if it has ended."""
    lock_person(session, username)
    found = find_half_sign_in(session, token_sha256, now=now)
    if found is None or not take_half_sign_in(session, token_sha256):
        raise SignInExpired
    return key_of(found[1].pk)


def _begin_code(
    database: Database, username: str, address: str | None, device: str | None, *, now: datetime
) -> tuple[str, str | None]:
    """Count a code as wrong before it is checked. Returns (address group, hash of a known browser's token).

    Raises TooManyAttempts. `address` is None for a signed-in person.
    """
    group = "" if address is None else group_address(address)
    with database.write() as session:
        clear_old(session, now=now, window=WINDOW)
        row = lock_person(session, username)
        digest = digest_token(device) if device else None
        if row is None or (
            digest is not None and not is_known_device(session, key_of(row.pk), digest, now=now)
        ):
            digest = None
        failures = list_failures(session, now=now, window=WINDOW, username=CODES + username)
        same = [failure.at for failure in failures if failure.device_sha256 == digest]
        refuse_too_many(same, PER_ADDRESS_AND_NAME if digest is None else PER_DEVICE, now=now)
        if group:
            of_address = list_failures(session, now=now, window=WINDOW, address=group)
            refuse_too_many([failure.at for failure in of_address], MOST_PER_ADDRESS, now=now)
        attempt = {"username": CODES + username, "address": group, "at": now, "device_sha256": digest}
        session.add(LoginAttemptRow.model_validate(attempt))
    return group, digest


def _clear(session: Session, username: str, group: str, device_sha256: str | None) -> None:
    for counted in (username, CODES + username):
        clear_own_failures(session, username=counted, address=group, device_sha256=device_sha256)


def _require_present_code(
    session: Session, person_pk: int, code: str, *, now: datetime, key: bytes | None
) -> None:
    """Raise WrongCode unless the person has no second factor, or this is a code of it."""
    factor = find_factor(session, person_pk)
    if factor is not None and factor.secret is not None:
        _require_code(session, person_pk, code, now=now, key=key)


def _require_code(session: Session, person_pk: int, code: str, *, now: datetime, key: bytes | None) -> None:
    """Use the code up. Raises WrongCode."""
    factor = find_factor(session, person_pk)
    if factor is None or factor.secret is None:
        raise SignInExpired
    normal = normalize_code(code)
    if not is_app_code(normal):
        if not use_recovery_code(session, person_pk, normal):
            raise WrongCode
        log.warning("recovery code used", person=person_pk)
        details = {"left": count_recovery_codes(session, person_pk)}
        note_act(session, AuditAction.recovery_code_used, person_pk, at=now, details=details)
        return
    step = find_step(unseal_secret(factor.secret, key), normal, now=now)
    if step is None or not use_step(session, person_pk, step):
        raise WrongCode


def _is_required(session: Session, person_pk: int, required: SecondFactor) -> bool:
    if required == "optional":
        return False
    return requires_second_factor(required, (role.role for role in list_active_roles(session, person_pk)))
