"""Make the first admin in the browser, with the one-time link that the server prints when it starts.

The link works once, for LIFETIME, and only while nobody has an account; a restart of the server prints another, which
replaces it.
"""

import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from annotator.domain.audit import AuditAction
from annotator.domain.errors import StateError
from annotator.domain.messages import say
from annotator.domain.people import LinkRefused, SignInTerms
from annotator.domain.usernames import TAKEN_OR_ALIKE
from annotator.people.credentials import (
    AccountRefused,
    NewAccount,
    check_new_account,
    digest_token,
    hash_password,
)
from annotator.people.roles_service import ROLES_LOCK, set_role
from annotator.people.sign_in_limits import group_address
from annotator.people.sign_in_service import open_session
from annotator.people.sign_in_sql import (
    add_account,
    begin_guess,
    find_link,
    has_account,
    revoke_unused_links,
)
from annotator.storage.database import Database, lock_dataset
from annotator.storage.logs.audit_log import note_act
from annotator.storage.lookup import find_look_alikes
from annotator.storage.tables.sign_in import OneTimeLinkRow

LIFETIME = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class SetupLink:
    """The link that makes the first admin."""

    token: str = field(repr=False)
    expires_at: datetime


class AlreadySetUp(StateError):
    """Somebody has an account already."""

    def __init__(self) -> None:
        super().__init__(say("this server has its first admin already"))


def is_set_up(database: Database) -> bool:
    """Return whether anybody has an account, disabled or not."""
    with database.read() as session:
        return has_account(session)


def make_setup_link(database: Database, *, now: datetime) -> SetupLink | None:
    """Make the link for the first admin in place of earlier ones; None if somebody has an account already.

    Only the hash of its token is stored.
    """
    token, expires_at = secrets.token_urlsafe(32), now + LIFETIME
    with database.write() as session:
        lock_dataset(session, ROLES_LOCK)
        if has_account(session):
            return None
        revoke_unused_links(session, "setup", now=now)
        made = {"token_sha256": digest_token(token), "purpose": "setup"}
        times = {"created_at": now, "expires_at": expires_at}
        session.add(OneTimeLinkRow.model_validate({**made, **times}))
    return SetupLink(token, expires_at)


def check_setup_link(database: Database, token: str, *, address: str, now: datetime) -> None:
    """Raise unless the link would make the first admin now: AlreadySetUp, LinkRefused, or TooManyAttempts."""
    with database.write() as session:
        begin_guess(session, token, group_address(address), now=now)
    with database.write() as session:
        _require_link(session, token, now=now)


def make_first_admin(
    database: Database,
    token: str,
    account: NewAccount,
    *,
    address: str,
    now: datetime,
    terms: SignInTerms = SignInTerms(),
) -> str:
    """Make the admin of everything, use the link up, and return the token of the admin's session.

    Raises what `check_setup_link` does, and AccountRefused with the problems of each field; the link then still works.
    Raises SecondFactorNeeded, once the account is made, if the terms require one.
    """
    check_setup_link(database, token, address=address, now=now)
    account = check_new_account(account)
    password_hash = hash_password(account.password)
    with database.write() as session:
        lock_dataset(session, ROLES_LOCK)
        link = _require_link(session, token, now=now)
        if find_look_alikes(session, [account.username]):
            raise AccountRefused({"username": TAKEN_OR_ALIKE})
        person_pk = add_account(session, account.username, account.name, password_hash, now=now)
        set_role(session, person_pk, None, "admin")
        link.used_at, link.user_pk = now, person_pk
        session.add(link)
        note_act(
            session, AuditAction.account_made, person_pk, at=now, details={"first": True}, address=address
        )
        details = {"role": "admin", "everywhere": True}
        note_act(session, AuditAction.role_given, person_pk, at=now, subject=person_pk, details=details)
        step = open_session(session, person_pk, terms, now=now, address=address)
    return step.require_session()


def _require_link(session: Session, token: str, *, now: datetime) -> OneTimeLinkRow:
    if has_account(session):
        raise AlreadySetUp
    link = find_link(session, digest_token(token))
    if link is None or link.purpose != "setup":
        raise LinkRefused(say("this address is not valid; open it exactly as the server printed it"))
    if link.revoked_at is not None:
        raise LinkRefused(
            say("this address was replaced when the server started again; open the one that it printed last")
        )
    if now >= link.expires_at or link.used_at is not None:
        raise LinkRefused(say("this address has expired; restart the server to get a new one"))
    return link
