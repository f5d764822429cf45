"""Reads and writes of signing in: failed attempts, the sessions of signed-in browsers, and the browsers that are known."""

from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import CursorResult, delete, func, or_, select, update
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.clock import CLOCK_SLACK
from annotator.domain.people import DEVICE_LIFETIME, Membership
from annotator.storage.sql import execute_sql, prepare_sql, read_json, read_time
from annotator.storage.tables import KnownDeviceRow, LoginAttemptRow, LoginSessionRow, PersonRow

_OPENED = prepare_sql(
    """
SELECT p.pk, p.username, p.name, p.must_change_password, p.language, s.expires_at,
  d.name AS dataset, m.role, m.categories, m.languages
FROM login_session s JOIN person p ON p.pk = s.person_pk
LEFT JOIN membership m ON m.person_pk = p.pk LEFT JOIN dataset d ON d.pk = m.dataset_pk
WHERE s.token_sha256 = :token_sha256 AND s.expires_at > :now AND s.created_at <= :ahead AND s.revoked_at IS NULL AND p.disabled_at IS NULL
ORDER BY m.dataset_pk IS NOT NULL, d.name""",
)


class FailedSignIn(NamedTuple):
    """A sign-in that failed: when, from which address, and in which known browser (None: an unknown one)."""

    at: datetime
    address: str
    device_sha256: str | None


class OpenedSession(NamedTuple):
    """A session that counts: whose it is, until when, and the roles held, the one everywhere first."""

    person_pk: int
    username: str
    name: str
    must_change_password: bool
    language: str | None
    expires_at: datetime
    memberships: tuple[Membership, ...]


def lock_person(session: Session, username: str) -> PersonRow | None:
    """The person of that username; on PostgreSQL no other transaction gets past this until this one ends."""
    statement = select(PersonRow).where(col(PersonRow.username) == username).with_for_update()
    return session.scalars(statement).first()


def list_failures(
    session: Session,
    *,
    now: datetime,
    window: timedelta,
    username: str | None = None,
    address: str | None = None,
) -> list[FailedSignIn]:
    """The sign-ins that failed within the window before now: of this username, or from this address."""
    statement = select(
        col(LoginAttemptRow.at), col(LoginAttemptRow.address), col(LoginAttemptRow.device_sha256)
    ).where(col(LoginAttemptRow.at) > now - window, col(LoginAttemptRow.at) <= now + CLOCK_SLACK)
    if username is not None:
        statement = statement.where(col(LoginAttemptRow.username) == username)
    if address is not None:
        statement = statement.where(col(LoginAttemptRow.address) == address)
    return [FailedSignIn(*row) for row in session.execute(statement)]


def clear_failures(session: Session, *, username: str) -> None:
    """Forget all failures of this username."""
    session.execute(delete(LoginAttemptRow).where(col(LoginAttemptRow.username) == username))


def clear_own_failures(session: Session, *, username: str, address: str, device_sha256: str | None) -> None:
    """Forget the failures of this username from the known browser that signed in, or else from its address. What others
    tried stays counted."""
    device = col(LoginAttemptRow.device_sha256)
    statement = delete(LoginAttemptRow).where(col(LoginAttemptRow.username) == username)
    if device_sha256 is not None:
        statement = statement.where(device == device_sha256)
    else:
        statement = statement.where(device.is_(None), col(LoginAttemptRow.address) == address)
    session.execute(statement)


def clear_old(session: Session, *, now: datetime, window: timedelta) -> None:
    """Forget failures older than the window, sessions that have expired, browsers not seen for long, and all of these that
    a clock ahead of the present one made."""
    ahead = now + CLOCK_SLACK
    for row, at, since in (
        (LoginAttemptRow, col(LoginAttemptRow.at), now - window),
        (KnownDeviceRow, col(KnownDeviceRow.seen_at), now - DEVICE_LIFETIME),
    ):
        session.execute(delete(row).where(or_(at <= since, at > ahead)))
    session.execute(
        delete(LoginSessionRow).where(
            or_(col(LoginSessionRow.expires_at) <= now, col(LoginSessionRow.created_at) > ahead)
        )
    )


def is_known_device(session: Session, person_pk: int, token_sha256: str, *, now: datetime) -> bool:
    """Whether the person has signed in with this browser before, and not too long ago."""
    statement = select(col(KnownDeviceRow.person_pk)).where(
        col(KnownDeviceRow.person_pk) == person_pk,
        col(KnownDeviceRow.token_sha256) == token_sha256,
        col(KnownDeviceRow.seen_at) > now - DEVICE_LIFETIME,
        col(KnownDeviceRow.seen_at) <= now + CLOCK_SLACK,
    )
    return session.scalars(statement).first() is not None


def keep_device(
    session: Session, *, session_sha256: str, old_sha256: str | None, new_sha256: str, now: datetime
) -> None:
    """Replace the token by which the browser of this session is recognised.

    People who signed in with this browser before, under the old token, stay known under the new one. Does nothing if the
    session does not exist. Tokens are given as their SHA-256.
    """
    opened = session.get(LoginSessionRow, session_sha256)
    if opened is None:
        return
    if old_sha256 is not None:
        mine = col(KnownDeviceRow.token_sha256) == old_sha256
        session.execute(delete(KnownDeviceRow).where(mine, col(KnownDeviceRow.person_pk) == opened.person_pk))
        session.execute(update(KnownDeviceRow).where(mine).values(token_sha256=new_sha256))
    session.add(KnownDeviceRow(token_sha256=new_sha256, person_pk=opened.person_pk, seen_at=now))
    opened.device_sha256 = new_sha256
    session.add(opened)


def forget_devices(session: Session, person_pk: int, *, keep_session_sha256: str | None = None) -> None:
    """Delete the person's known browsers, except the one of the session that is kept."""
    statement = delete(KnownDeviceRow).where(col(KnownDeviceRow.person_pk) == person_pk)
    kept = session.get(LoginSessionRow, keep_session_sha256) if keep_session_sha256 else None
    if kept is not None and kept.device_sha256 is not None:
        statement = statement.where(col(KnownDeviceRow.token_sha256) != kept.device_sha256)
    session.execute(statement)


def count_other_devices(session: Session, person_pk: int, *, session_sha256: str, now: datetime) -> int:
    """Count the person's known browsers, without the one of this session."""
    here = session.get(LoginSessionRow, session_sha256)
    statement = (
        select(func.count())
        .select_from(KnownDeviceRow)
        .where(
            col(KnownDeviceRow.person_pk) == person_pk,
            col(KnownDeviceRow.seen_at) > now - DEVICE_LIFETIME,
            col(KnownDeviceRow.seen_at) <= now + CLOCK_SLACK,
        )
    )
    if here is not None and here.device_sha256 is not None:
        statement = statement.where(col(KnownDeviceRow.token_sha256) != here.device_sha256)
    return session.scalar(statement) or 0


def find_live_session(session: Session, token_sha256: str, *, now: datetime) -> OpenedSession | None:
    """Whose session it is; None when it is unknown, expired, revoked, or its person is disabled."""
    rows = execute_sql(
        session, _OPENED, {"token_sha256": token_sha256, "now": now, "ahead": now + CLOCK_SLACK}
    ).all()
    if not rows:
        return None
    held = tuple(
        Membership(
            row.dataset, row.role, _tuple_of(read_json(row.categories)), _tuple_of(read_json(row.languages))
        )
        for row in rows
        if row.role is not None
    )
    pk, username, name, must_change_password, language, expires_at, *_ = rows[0]
    return OpenedSession(
        pk, username, name, bool(must_change_password), language, read_time(expires_at), held
    )


def _tuple_of(names: list[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)


def list_live_sessions(session: Session, person_pk: int, *, now: datetime) -> list[LoginSessionRow]:
    """A person's sessions that still count, the newest first."""
    statement = (
        select(LoginSessionRow)
        .where(
            col(LoginSessionRow.person_pk) == person_pk,
            col(LoginSessionRow.expires_at) > now,
            col(LoginSessionRow.created_at) <= now + CLOCK_SLACK,
            col(LoginSessionRow.revoked_at).is_(None),
        )
        .order_by(col(LoginSessionRow.created_at).desc(), col(LoginSessionRow.token_sha256))
    )
    return list(session.scalars(statement))


def revoke_live_sessions(
    session: Session,
    *,
    now: datetime,
    person_pk: int | None = None,
    token_sha256: str | None = None,
    keep_sha256: str | None = None,
) -> int:
    """Revoke one session by its token's hash, or a person's sessions except one. How many were revoked."""
    statement = (
        update(LoginSessionRow).where(col(LoginSessionRow.revoked_at).is_(None)).values(revoked_at=now)
    )
    if token_sha256 is not None:
        statement = statement.where(col(LoginSessionRow.token_sha256) == token_sha256)
    if person_pk is not None:
        statement = statement.where(col(LoginSessionRow.person_pk) == person_pk)
    if keep_sha256 is not None:
        statement = statement.where(col(LoginSessionRow.token_sha256) != keep_sha256)
    done = session.execute(statement)
    return done.rowcount if isinstance(done, CursorResult) else 0
