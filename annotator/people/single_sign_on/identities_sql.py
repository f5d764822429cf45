"""Queries for provider identities, sign-ins under way, and roles from groups."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.audit import AuditAction
from annotator.people.roles_service import delete_role, set_role
from annotator.people.single_sign_on.records import EVERY_DATASET
from annotator.storage.database import lock_dataset
from annotator.storage.logs.audit_log import note_act
from annotator.storage.tables.central import DatasetRow, MembershipRow, PersonRow
from annotator.storage.tables.sign_in import (
    LoginSessionRow,
    ProviderIdentityRow,
    SignInRequestRow,
    UsedLogoutTokenRow,
)

LOGOUT_LOCK = -1
"""The key of the lock under which logout tokens are used. No dataset has it."""
MOST_REQUESTS = 10_000  # under way at the same time


class BegunSignIn(NamedTuple):
    """A sign-in that a browser has begun."""

    state_sha256: str
    nonce: str
    code_verifier: str
    redirect_uri: str
    wanted: str
    expires_at: datetime


def find_identity(session: Session, issuer: str, subject: str) -> ProviderIdentityRow | None:
    """Return the identity by what alone makes it one: its issuer and its subject."""
    statement = select(ProviderIdentityRow).where(
        col(ProviderIdentityRow.issuer) == issuer, col(ProviderIdentityRow.subject) == subject
    )
    return session.scalars(statement).first()


def find_owner(session: Session, identity: ProviderIdentityRow) -> PersonRow:
    """Return the person of this identity. On PostgreSQL, locks it until the transaction ends."""
    statement = select(PersonRow).where(col(PersonRow.pk) == identity.person_pk).with_for_update()
    return session.scalars(statement).one()


def add_request(session: Session, request: SignInRequestRow, *, now: datetime) -> None:
    """Store a begun sign-in. Deletes expired ones and, beyond MOST_REQUESTS, the oldest."""
    session.execute(delete(SignInRequestRow).where(col(SignInRequestRow.expires_at) <= now))
    surplus = (session.scalar(select(func.count()).select_from(SignInRequestRow)) or 0) + 1 - MOST_REQUESTS
    if surplus > 0:
        token = col(SignInRequestRow.token_sha256)
        oldest = select(token).order_by(col(SignInRequestRow.expires_at), token).limit(surplus)
        session.execute(delete(SignInRequestRow).where(token.in_(oldest)))
    session.add(request)


def take_request(session: Session, token_sha256: str) -> BegunSignIn | None:
    """Delete and return the sign-in that this browser began, or None. So it is finished only once."""
    statement = delete(SignInRequestRow).where(col(SignInRequestRow.token_sha256) == token_sha256)
    columns = (col(getattr(SignInRequestRow, name)) for name in BegunSignIn._fields)
    row = session.execute(statement.returning(*columns)).first()
    return BegunSignIn(*row) if row else None


def find_id_token(session: Session, token_sha256: str) -> str | None:
    """Return the id token with which this live session began; None for a local account."""
    statement = select(col(LoginSessionRow.id_token)).where(
        col(LoginSessionRow.token_sha256) == token_sha256, col(LoginSessionRow.revoked_at).is_(None)
    )
    return session.scalars(statement).first()


def use_logout_token(session: Session, token_sha256: str, *, now: datetime, expires_at: datetime) -> bool:
    """Remember the logout token until it is too old. Returns False if it was used before, also on another server."""
    lock_dataset(session, LOGOUT_LOCK)
    session.execute(delete(UsedLogoutTokenRow).where(col(UsedLogoutTokenRow.expires_at) <= now))
    if session.get(UsedLogoutTokenRow, token_sha256) is not None:
        return False
    session.add(UsedLogoutTokenRow(token_sha256=token_sha256, expires_at=expires_at))
    return True


def end_provider_sessions(
    session: Session, issuer: str, *, subject: str | None, session_id: str | None, now: datetime
) -> int:
    """Revoke this issuer's sessions by subject, by provider session, or by both. Returns how many ended."""
    identities = select(col(ProviderIdentityRow.pk)).where(col(ProviderIdentityRow.issuer) == issuer)
    if subject is not None:
        identities = identities.where(col(ProviderIdentityRow.subject) == subject)
    statement = (
        update(LoginSessionRow)
        .where(col(LoginSessionRow.revoked_at).is_(None), col(LoginSessionRow.identity_pk).in_(identities))
        .values(revoked_at=now, id_token=None)
    )
    if session_id is not None:
        statement = statement.where(col(LoginSessionRow.provider_session) == session_id)
    ended = list(session.scalars(statement.returning(col(LoginSessionRow.person_pk))))
    for person_pk in ended:
        note_act(session, AuditAction.signed_out, person_pk, at=now, details={"by": "provider"})
    return len(ended)


def set_group_roles(
    session: Session, person_pk: int, roles: Mapping[str, str], *, now: datetime
) -> tuple[list[str], bool]:
    """Give the person exactly these roles from groups, by dataset name; roles given by hand stay as they are.

    Returns the names that no dataset has, and whether a role was taken away.
    """
    pks: dict[str, int | None] = {EVERY_DATASET: None}
    named = select(col(DatasetRow.name), col(DatasetRow.pk)).where(col(DatasetRow.name).in_(list(roles)))
    for name, pk in session.execute(named):
        pks[name] = pk
    wanted = {pks[name]: role for name, role in roles.items() if name in pks}
    is_taken = False
    by_hand: set[int | None] = set()
    held: dict[int | None, str] = {}
    for row in session.scalars(select(MembershipRow).where(col(MembershipRow.person_pk) == person_pk)).all():
        if not row.from_group:
            by_hand.add(row.dataset_pk)
        elif row.dataset_pk not in wanted:
            _note_group_role(session, AuditAction.role_taken, person_pk, row.dataset_pk, row.role, now=now)
            delete_role(session, person_pk, row.dataset_pk)
            is_taken = True
        else:
            held[row.dataset_pk] = row.role
    for dataset_pk, role in wanted.items():
        if dataset_pk not in by_hand:
            set_role(session, person_pk, dataset_pk, role, from_group=True)
            if held.get(dataset_pk) != role:
                _note_group_role(session, AuditAction.role_given, person_pk, dataset_pk, role, now=now)
    return [name for name in roles if name not in pks], is_taken


def _note_group_role(
    session: Session, action: AuditAction, person_pk: int, dataset_pk: int | None, role: str, *, now: datetime
) -> None:
    details = {"role": role, "everywhere": dataset_pk is None, "by": "group"}
    note_act(session, action, "program", at=now, dataset=dataset_pk, subject=person_pk, details=details)
