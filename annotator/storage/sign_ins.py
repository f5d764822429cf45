"""Reads and writes of signing in: failed attempts, and the sessions of signed-in browsers."""

from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import CursorResult, delete, select, update
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.accounts import Membership
from annotator.storage.statements import prepare, read_json, read_time, run
from annotator.storage.tables import LoginAttemptRow, LoginSessionRow, PersonRow

_OPENED = prepare(
    """
SELECT p.pk, p.username, p.name, p.must_change_password, p.language, s.expires_at,
  d.name AS dataset, m.role, m.categories, m.languages
FROM login_session s JOIN person p ON p.pk = s.person_pk
LEFT JOIN membership m ON m.person_pk = p.pk LEFT JOIN dataset d ON d.pk = m.dataset_pk
WHERE s.token_sha256 = :token_sha256 AND s.expires_at > :now AND s.revoked_at IS NULL AND p.disabled_at IS NULL
ORDER BY m.dataset_pk IS NOT NULL, d.name""",
)


class Opened(NamedTuple):
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
    session: Session, *, since: datetime, username: str | None = None, address: str | None = None
) -> list[datetime]:
    """When sign-ins failed since then: of this username, or from this address."""
    statement = select(col(LoginAttemptRow.at)).where(col(LoginAttemptRow.at) > since)
    if username is not None:
        statement = statement.where(col(LoginAttemptRow.username) == username)
    if address is not None:
        statement = statement.where(col(LoginAttemptRow.address) == address)
    return list(session.scalars(statement))


def clear_failures(session: Session, *, username: str) -> None:
    """Forget the failures of this username."""
    session.execute(delete(LoginAttemptRow).where(col(LoginAttemptRow.username) == username))


def clear_old(session: Session, *, now: datetime, window: timedelta) -> None:
    """Forget failures older than the window, and sessions that have expired."""
    session.execute(delete(LoginAttemptRow).where(col(LoginAttemptRow.at) <= now - window))
    session.execute(delete(LoginSessionRow).where(col(LoginSessionRow.expires_at) <= now))


def find_live_session(session: Session, token_sha256: str, *, now: datetime) -> Opened | None:
    """Whose session it is; None when it is unknown, expired, revoked, or its person is disabled."""
    rows = run(session, _OPENED, {"token_sha256": token_sha256, "now": now}).all()
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
    return Opened(pk, username, name, bool(must_change_password), language, read_time(expires_at), held)


def _tuple_of(names: list[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)


def list_live_sessions(session: Session, person_pk: int, *, now: datetime) -> list[LoginSessionRow]:
    """A person's sessions that still count, the newest first."""
    statement = (
        select(LoginSessionRow)
        .where(
            col(LoginSessionRow.person_pk) == person_pk,
            col(LoginSessionRow.expires_at) > now,
            col(LoginSessionRow.revoked_at).is_(None),
        )
        .order_by(col(LoginSessionRow.created_at).desc(), col(LoginSessionRow.token_sha256))
    )
    return list(session.scalars(statement))


def revoke_live_sessions(
    session: Session, *, now: datetime, person_pk: int | None = None, token_sha256: str | None = None,
    keep_sha256: str | None = None,
) -> int:  # fmt: skip
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
