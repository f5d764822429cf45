"""Read and write one-time links, and count attempts to guess one.

Attempts are stored with the failed sign-ins, under a username that no person can have.
"""

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.people.sign_in_limits import WINDOW, check_unknown_browser
from annotator.people.sign_in_sql import clear_old, list_failures
from annotator.storage.database import lock_dataset
from annotator.storage.roles import ROLES_LOCK
from annotator.storage.tables.central import DatasetRow, PersonRow
from annotator.storage.tables.sign_in import LoginAttemptRow, OneTimeLinkRow

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


def revoke_password_links(session: Session, person_pk: int, *, now: datetime) -> None:
    """Revoke the person's unused links for choosing a password."""
    session.execute(
        update(OneTimeLinkRow)
        .where(
            col(OneTimeLinkRow.purpose) == "password",
            col(OneTimeLinkRow.person_pk) == person_pk,
            col(OneTimeLinkRow.used_at).is_(None),
            col(OneTimeLinkRow.revoked_at).is_(None),
        )
        .values(revoked_at=now)
    )


def list_names(session: Session, person_pks: Iterable[int | None]) -> dict[int | None, str]:
    """Return the usernames of these people by their keys."""
    named = {person_pk for person_pk in person_pks if person_pk is not None}
    statement = select(col(PersonRow.pk), col(PersonRow.username)).where(col(PersonRow.pk).in_(named))
    return {row.pk: row.username for row in session.execute(statement)}


def list_dataset_names(session: Session, dataset_pks: Iterable[int | None]) -> dict[int | None, str]:
    """Return the names of these datasets by their keys."""
    named = {dataset_pk for dataset_pk in dataset_pks if dataset_pk is not None}
    statement = select(col(DatasetRow.pk), col(DatasetRow.name)).where(col(DatasetRow.pk).in_(named))
    return {row.pk: row.name for row in session.execute(statement)}


def revoke_setup_links(session: Session, *, now: datetime) -> None:
    """Revoke the links that would make a first admin and were not used."""
    session.execute(
        update(OneTimeLinkRow)
        .where(
            col(OneTimeLinkRow.purpose) == "setup",
            col(OneTimeLinkRow.used_at).is_(None),
            col(OneTimeLinkRow.revoked_at).is_(None),
        )
        .values(revoked_at=now)
    )


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


def digest_token(token: str) -> str:
    """Return the SHA-256 that is stored in place of a link's token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
