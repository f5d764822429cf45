"""Read and write failed sign-ins, sessions, known browsers and one-time links, and count attempts to guess a link.

Attempts with a link are stored with the failed sign-ins, under a username that no person can have.
"""

import hmac
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import CursorResult, delete, func, or_, select, update
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.audit import AuditAction
from annotator.domain.people import DEVICE_LIFETIME, Membership
from annotator.people.credentials import digest_token
from annotator.people.roles_service import ROLES_LOCK, to_tuple
from annotator.people.sign_in_limits import WINDOW, check_unknown_browser, group_address
from annotator.storage.database import lock_dataset
from annotator.storage.lookup import CLOCK_SLACK, key_of
from annotator.storage.sql import fetch_tuples, prepare_sql, read_json, read_time
from annotator.storage.tables.central import PersonRow
from annotator.storage.tables.sign_in import (
    HalfSignInRow,
    KnownDeviceRow,
    LoginAttemptRow,
    LoginSessionRow,
    OneTimeLinkRow,
)

FAILURES_PER_MINUTE = 60
"""How many entries about failed sign-ins the audit log takes in a minute. Each takes about 600 bytes: 50 MB a day at most."""
FAILURES_OF_AN_ADDRESS = 20
"""How many of them may be about one address, so that nobody who guesses fills the minute for all others."""
_LIVE_SESSIONS = prepare_sql(
    """
SELECT s.token_sha256, d.name, m.role, m.categories, m.languages, s.expires_at,
  p.pk, p.username, p.name, p.language, p.must_change_password, s.identity_pk IS NOT NULL, s.second_factor
FROM login_session s JOIN person p ON p.pk = s.person_pk
LEFT JOIN membership m ON m.person_pk = p.pk LEFT JOIN dataset d ON d.pk = m.dataset_pk
WHERE s.token_sha256 IN :tokens AND s.expires_at > :now AND s.created_at <= :ahead AND s.revoked_at IS NULL AND p.disabled_at IS NULL
ORDER BY m.dataset_pk IS NOT NULL, d.name""",
    lists=["tokens"],
)


class FailedSignIn(NamedTuple):
    """A sign-in that failed."""

    at: datetime
    address: str
    device_sha256: str | None  # None: in a browser that is not known


class OpenedSession(NamedTuple):
    """A live session and the person to whom it belongs."""

    person_pk: int
    username: str
    name: str
    language: str | None
    must_change_password: bool
    by_provider: bool  # an OpenID Connect provider's sign-in, not by a password
    second_factor: bool  # a code was asked for
    expires_at: datetime
    memberships: tuple[Membership, ...] = ()  # the role on every dataset first


def add_account(
    session: Session,
    username: str,
    name: str,
    password_hash: str,
    must_change_password: bool = False,
    *,
    now: datetime,
) -> int:
    """Add a person who can sign in; return the person_pk."""
    account = {"username": username, "name": name, "password_hash": password_hash}
    values = {**account, "must_change_password": must_change_password, "created_at": now}
    row = PersonRow.model_validate(values)
    session.add(row)
    session.flush()
    return key_of(row.pk)


def lock_person(session: Session, username: str) -> PersonRow | None:
    """Return the person of that username; on PostgreSQL, make other transactions wait here until this one ends."""
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
    """Return the sign-ins of this username, or from this address, that failed within the window before `now`."""
    statement = select(
        col(LoginAttemptRow.at), col(LoginAttemptRow.address), col(LoginAttemptRow.device_sha256)
    ).where(col(LoginAttemptRow.at) > now - window, col(LoginAttemptRow.at) <= now + CLOCK_SLACK)
    if username is not None:
        statement = statement.where(col(LoginAttemptRow.username) == username)
    if address is not None:
        statement = statement.where(col(LoginAttemptRow.address) == address)
    return [FailedSignIn(*row) for row in session.execute(statement)]


def is_room_for_failure(
    session: Session, action: AuditAction, person_pk: int | None, address: str, *, now: datetime
) -> bool:
    """Return whether the audit log may take another entry about a failed sign-in in this minute.

    It may not if it has one of the same account and address, FAILURES_OF_AN_ADDRESS, or FAILURES_PER_MINUTE in all.
    """
    from annotator.storage.tables.audit import AuditEntryRow, AuditPersonalRow

    minute = now.replace(second=0, microsecond=0)
    statement = select(col(AuditEntryRow.sequence)).where(
        col(AuditEntryRow.action) == action.value,
        col(AuditEntryRow.at) >= minute,
        col(AuditEntryRow.at) < minute + timedelta(minutes=1),
    )
    sequences = list(session.scalars(statement.limit(FAILURES_PER_MINUTE)))
    if not sequences:
        return True
    if len(sequences) == FAILURES_PER_MINUTE:
        return False
    named: dict[int, dict[str, tuple[int | None, str]]] = {sequence: {} for sequence in sequences}
    of_entries = select(AuditPersonalRow).where(col(AuditPersonalRow.sequence).in_(sequences))
    for row in session.scalars(of_entries):
        named[row.sequence][row.field] = (row.person_pk, row.value)
    group = group_address(address)
    of_address = [
        values.get("subject", (None, ""))[0]
        for values in named.values()
        if group_address(values.get("address", (None, ""))[1]) == group
    ]
    return person_pk not in of_address and len(of_address) < FAILURES_OF_AN_ADDRESS


def clear_failures(session: Session, *, username: str) -> None:
    """Delete all failures of this username."""
    session.execute(delete(LoginAttemptRow).where(col(LoginAttemptRow.username) == username))


def clear_own_failures(session: Session, *, username: str, address: str, device_sha256: str | None) -> None:
    """Delete the failures of this username in the known browser that signed in, or else from its address.

    Failures in other browsers or from other addresses stay counted.
    """
    device = col(LoginAttemptRow.device_sha256)
    statement = delete(LoginAttemptRow).where(col(LoginAttemptRow.username) == username)
    if device_sha256 is not None:
        statement = statement.where(device == device_sha256)
    else:
        statement = statement.where(device.is_(None), col(LoginAttemptRow.address) == address)
    session.execute(statement)


def delete_attempt(session: Session, pk: int) -> None:
    """Delete one counted attempt: it did not fail."""
    session.execute(delete(LoginAttemptRow).where(col(LoginAttemptRow.pk) == pk))


def clear_old(session: Session, *, now: datetime, window: timedelta) -> None:
    """Delete old failures, expired sessions and long unused browsers, and all of these with a date in the future."""
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
    """Return whether the person has signed in with this browser within DEVICE_LIFETIME."""
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
    """Replace the token by which the browser of this sign-in is recognised.

    Other people who used this browser under the old token stay known under the new one. Does nothing if the
    session does not exist. Tokens are SHA-256 hashes.
    """
    opened = session.get(LoginSessionRow, session_sha256)
    if opened is None:
        return
    if old_sha256 is not None:
        has_old_token = col(KnownDeviceRow.token_sha256) == old_sha256
        session.execute(
            delete(KnownDeviceRow).where(has_old_token, col(KnownDeviceRow.person_pk) == opened.person_pk)
        )
        session.execute(update(KnownDeviceRow).where(has_old_token).values(token_sha256=new_sha256))
    session.add(KnownDeviceRow(token_sha256=new_sha256, person_pk=opened.person_pk, seen_at=now))
    opened.device_sha256 = new_sha256
    session.add(opened)


def forget_devices(session: Session, person_pk: int, *, keep_session_sha256: str | None = None) -> None:
    """Delete the person's known browsers, except that of the session that stays."""
    statement = delete(KnownDeviceRow).where(col(KnownDeviceRow.person_pk) == person_pk)
    kept = session.get(LoginSessionRow, keep_session_sha256) if keep_session_sha256 else None
    if kept is not None and kept.device_sha256 is not None:
        statement = statement.where(col(KnownDeviceRow.token_sha256) != kept.device_sha256)
    session.execute(statement)


def count_other_devices(session: Session, person_pk: int, *, session_sha256: str, now: datetime) -> int:
    """Count the person's known browsers, without the one of this sign-in."""
    login_session = session.get(LoginSessionRow, session_sha256)
    statement = (
        select(func.count())
        .select_from(KnownDeviceRow)
        .where(
            col(KnownDeviceRow.person_pk) == person_pk,
            col(KnownDeviceRow.seen_at) > now - DEVICE_LIFETIME,
            col(KnownDeviceRow.seen_at) <= now + CLOCK_SLACK,
        )
    )
    if login_session is not None and login_session.device_sha256 is not None:
        statement = statement.where(col(KnownDeviceRow.token_sha256) != login_session.device_sha256)
    return session.scalar(statement) or 0


def find_live_sessions(
    session: Session, tokens_sha256: Collection[str], *, now: datetime
) -> dict[str, OpenedSession]:
    """Return live sessions with their people, by the SHA-256 of the token.

    Unknown, expired and revoked sessions, and those of disabled people, are left out.
    """
    values = {"tokens": tokens_sha256, "now": now, "ahead": now + CLOCK_SLACK}
    session.flush()
    opened: dict[str, OpenedSession] = {}
    rows = fetch_tuples(session, _LIVE_SESSIONS, values)
    for token, dataset, role, categories, languages, expires_at, *who in rows:
        facts = *who[:4], *map(bool, who[4:]), read_time(expires_at)
        one = opened.get(token) or OpenedSession(*facts)
        if role is not None:
            limits = (to_tuple(read_json(names)) for names in (categories, languages))
            held = Membership(dataset, role, *limits)
            one = one._replace(memberships=(*one.memberships, held))
        opened[token] = one
    return opened


def list_live_sessions(session: Session, person_pk: int, *, now: datetime) -> list[LoginSessionRow]:
    """Return the person's live sessions, the newest first."""
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
    """Revoke one session by its token's hash, or a person's sessions except one; return how many were revoked.

    With a person's sessions, sign-ins of the person end that wait for a second factor.
    """
    statement = (
        update(LoginSessionRow)
        .where(col(LoginSessionRow.revoked_at).is_(None))
        .values(revoked_at=now, id_token=None)
    )
    if token_sha256 is not None:
        statement = statement.where(col(LoginSessionRow.token_sha256) == token_sha256)
    if person_pk is not None:
        statement = statement.where(col(LoginSessionRow.person_pk) == person_pk)
        session.execute(delete(HalfSignInRow).where(col(HalfSignInRow.person_pk) == person_pk))
    if keep_sha256 is not None:
        statement = statement.where(col(LoginSessionRow.token_sha256) != keep_sha256)
    result = session.execute(statement)
    return result.rowcount if isinstance(result, CursorResult) else 0


GUESSED = "/link"
"""The username under which attempts with a link are counted: usernames have no "/"."""


def has_account(session: Session) -> bool:
    """Return whether anybody has a password, disabled or not. People known only from imported files have none."""
    statement = select(col(PersonRow.pk)).where(col(PersonRow.password_hash).is_not(None))
    return session.scalars(statement.limit(1)).first() is not None


def find_link(session: Session, token_sha256: str) -> OneTimeLinkRow | None:
    """Return the link with this hash. Locks it on PostgreSQL until the transaction ends, because a link is used only once.

    The time of the search can reveal the first characters of a hash, but nothing of the token.
    """
    statement = select(OneTimeLinkRow).where(col(OneTimeLinkRow.token_sha256) == token_sha256)
    link = session.scalars(statement.with_for_update()).first()
    return link if link is not None and hmac.compare_digest(link.token_sha256, token_sha256) else None


def find_invitation(session: Session, number: int) -> OneTimeLinkRow | None:
    """Return the invitation of this number, locked until the transaction ends."""
    statement = select(OneTimeLinkRow).where(
        col(OneTimeLinkRow.pk) == number, col(OneTimeLinkRow.purpose) == "invitation"
    )
    return session.scalars(statement.with_for_update()).first()


def list_invitation_rows(session: Session, dataset_pks: Sequence[int | None] | None) -> list[OneTimeLinkRow]:
    """Return the invitations to these datasets (None among them: to every dataset), the newest first.

    `dataset_pks` None: all invitations.
    """
    column = col(OneTimeLinkRow.dataset_pk)
    statement = select(OneTimeLinkRow).where(col(OneTimeLinkRow.purpose) == "invitation")
    if dataset_pks is not None:
        named = [dataset_pk for dataset_pk in dataset_pks if dataset_pk is not None]
        everywhere = [column.is_(None)] if None in dataset_pks else []
        statement = statement.where(or_(column.in_(named), *everywhere))
    return list(session.scalars(statement.order_by(col(OneTimeLinkRow.pk).desc())))


def revoke_unused_links(
    session: Session, purpose: str, *, person_pk: int | None = None, now: datetime
) -> None:
    """Revoke the unused links for choosing a password ("password"; of a person), or for making a first admin ("setup")."""
    unused = update(OneTimeLinkRow).where(
        col(OneTimeLinkRow.purpose) == purpose,
        col(OneTimeLinkRow.person_pk) == person_pk,
        col(OneTimeLinkRow.used_at).is_(None),
        col(OneTimeLinkRow.revoked_at).is_(None),
    )
    session.execute(unused.values(revoked_at=now))


def begin_guess(session: Session, token: str, address_group: str, *, now: datetime) -> None:
    """Count an attempt with an unknown link, by the limits of sign-in. Raises TooManyAttempts.

    Real links are never limited: guessing cannot keep an invited person out. Attempts run one after the other, so simultaneous
    attempts all count.
    """
    if find_link(session, digest_token(token)) is not None:
        return
    lock_dataset(session, ROLES_LOCK)
    clear_old(session, now=now, window=WINDOW)
    of_links = list_failures(session, now=now, window=WINDOW, username=GUESSED)
    of_address = list_failures(session, now=now, window=WINDOW, address=address_group)
    check_unknown_browser(
        [(failure.at, failure.address) for failure in of_links],
        [failure.at for failure in of_address if failure.device_sha256 is None],
        address_group,
        now=now,
    )
    attempt = {"username": GUESSED, "address": address_group, "at": now}
    session.add(LoginAttemptRow.model_validate(attempt))
