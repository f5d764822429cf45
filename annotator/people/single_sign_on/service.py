"""Sign people in by an OpenID Connect provider: by (issuer, subject), never by a name or an e-mail address.

A begun sign-in stays in the database for REQUEST_LIFETIME, is found by a random token in an HttpOnly cookie of that browser,
and is used once. The first sign-in of an identity makes a new account; an existing account opens only after the operator has
linked it.
"""

import hmac
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

import structlog
from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.audit import AuditAction
from annotator.domain.errors import ConflictError, ValidationError
from annotator.domain.people import SESSION_LIFETIME, Actor
from annotator.domain.texts import remove_invisible
from annotator.domain.usernames import LONGEST_NAME
from annotator.people.credentials import (
    LONGEST_USERNAME,
    check_name,
    check_username,
    digest_token,
    hash_password,
)
from annotator.people.roles_service import ROLES_LOCK, delete_role, require_admin, set_role
from annotator.people.sign_in_limits import WINDOW
from annotator.people.sign_in_service import add_session
from annotator.people.sign_in_sql import add_account, clear_old, revoke_live_sessions
from annotator.people.single_sign_on.provider import LOGOUT_AGE, Provider
from annotator.people.single_sign_on.records import (
    EVERY_DATASET,
    ProviderAnswer,
    SingleSignOnRefused,
    choose_roles,
)
from annotator.storage.database import Database, lock_dataset
from annotator.storage.logs.audit_log import note_act
from annotator.storage.lookup import end_leases, find_look_alikes, find_person, key_of
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


REQUEST_LIFETIME = timedelta(minutes=10)

log = structlog.stdlib.get_logger("annotator.people")


def begin_single_sign_on(
    database: Database, provider: Provider, *, redirect_uri: str, wanted: str, now: datetime
) -> tuple[str, str]:
    """Begin a sign-in. Returns (the provider's address to open, the token for this browser's cookie).

    `wanted`: the path to open afterwards. Raises SingleSignOnRefused if the provider cannot be reached.
    """
    token, state, nonce, code_verifier = (secrets.token_urlsafe(48) for _ in range(4))
    address = provider.make_sign_in_address(
        redirect_uri, state=state, nonce=nonce, code_verifier=code_verifier
    )
    kept = {
        "token_sha256": digest_token(token),
        "state_sha256": digest_token(state),
        "nonce": nonce,
        "code_verifier": code_verifier,
        "redirect_uri": redirect_uri,
        "wanted": wanted,
        "expires_at": now + REQUEST_LIFETIME,
    }
    with database.write() as session:
        add_request(session, SignInRequestRow.model_validate(kept), now=now)
    return address, token


def finish_single_sign_on(
    database: Database,
    provider: Provider,
    answer: Mapping[str, str],
    *,
    token: str | None,
    now: datetime,
    lifetime: timedelta = SESSION_LIFETIME,
) -> tuple[str, str]:
    """Sign in the person that the provider sends back, with the roles of their groups.

    `answer`: the parameters of the provider's redirect; `token`: the browser's from `begin_single_sign_on`.
    Returns (session token, path to open). Raises SingleSignOnRefused.
    """
    with database.write() as session:
        begun = take_request(session, digest_token(token)) if token else None
    if begun is None or begun.expires_at <= now:
        raise SingleSignOnRefused("expired", "this browser has begun no sign-in")
    if not hmac.compare_digest(begun.state_sha256, digest_token(answer.get("state", ""))):
        raise SingleSignOnRefused("expired", "the state is another sign-in's")
    if answer.get("iss", provider.settings.issuer) != provider.settings.issuer:
        raise SingleSignOnRefused("refused", "the answer is another issuer's")
    if "error" in answer:
        raise SingleSignOnRefused("denied", "the provider refused")
    found = provider.redeem_code(
        answer.get("code", ""),
        redirect_uri=begun.redirect_uri,
        code_verifier=begun.code_verifier,
        nonce=begun.nonce,
        now=now,
    )
    unusable = hash_password(secrets.token_urlsafe(32))  # slow, so before the transaction
    with database.write() as session:
        lock_dataset(session, ROLES_LOCK)
        clear_old(session, now=now, window=WINDOW)
        identity = find_identity(session, found.issuer, found.subject)
        if identity is None:
            identity = _add_account(session, found, unusable, now=now)
        person = find_owner(session, identity)
        if person.disabled_at is not None:
            raise SingleSignOnRefused("disabled", "the person is disabled")
        person_pk = key_of(person.pk)
        roles = choose_roles(provider.settings.roles, found.groups)
        unknown, is_taken = set_group_roles(session, person_pk, roles, now=now)
        if is_taken:
            end_leases(session, person_pk, None, now=now)
        opened = add_session(
            session,
            person_pk,
            now=now,
            lifetime=lifetime,
            by_provider={
                "identity_pk": identity.pk,
                "provider_session": found.session_id,
                "id_token": found.id_token,
            },
        )
    if unknown:
        log.warning("groups give roles on datasets that do not exist", datasets=unknown)
    return opened, begun.wanted


def make_provider_sign_out(
    database: Database, provider: Provider, token: str | None, *, back: str
) -> str | None:
    """Return the provider's sign-out address, or None for a session of a local account."""
    if not token:
        return None
    with database.read() as session:
        id_token = find_id_token(session, digest_token(token))
    if id_token is None:
        return None
    try:
        return provider.make_sign_out_address(id_token, back=back)
    except SingleSignOnRefused as error:
        log.warning("no sign-out at the provider", why=error.why)
        return None


def end_sessions_of_provider(database: Database, provider: Provider, token: str, *, now: datetime) -> int:
    """End the sessions that the provider's logout token names, and return their number.

    Raises SingleSignOnRefused if the token is not valid, or was used before.
    """
    notice = provider.check_logout_token(token, now=now)
    issuer, expires_at = provider.settings.issuer, notice.issued_at + LOGOUT_AGE
    with database.write() as session:
        digest = digest_token(f"{issuer} {notice.token_id}")
        if not use_logout_token(session, digest, now=now, expires_at=expires_at):
            raise SingleSignOnRefused("refused", "the logout token was used before")
        return end_provider_sessions(
            session, issuer, subject=notice.subject, session_id=notice.session_id, now=now
        )


def link_identity(
    database: Database,
    actor: Actor,
    username: str,
    *,
    issuer: str,
    subject: str,
    move: bool = False,
    now: datetime,
) -> None:
    """Let this identity of the provider open the person's account. For admins of every dataset, and the operator.

    Raises ConflictError if it opens another account, unless `move`: then its sessions of that account end.
    """
    if not issuer or not subject or len(subject) > 255:
        raise ValidationError("expected the issuer and the subject (sub) of the identity")
    with database.write() as session:
        lock_dataset(session, ROLES_LOCK)
        require_admin(session, actor)
        person_pk = key_of(find_person(session, username).pk)
        identity = find_identity(session, issuer, subject)
        if identity is None:
            session.add(_make_identity(person_pk, issuer, subject, now=now))
            note_act(session, AuditAction.identity_linked, actor, at=now, subject=person_pk, target=issuer)
            return
        if identity.person_pk == person_pk:
            return
        if not move:
            owner = find_owner(session, identity).username
            raise ConflictError(f"this identity opens the account of {owner}; --move takes it from there")
        revoke_live_sessions(session, person_pk=identity.person_pk, now=now)
        set_group_roles(session, identity.person_pk, {}, now=now)
        end_leases(session, identity.person_pk, None, now=now)
        identity.person_pk = person_pk
        session.add(identity)
        linked, details = AuditAction.identity_linked, {"moved": True}
        note_act(session, linked, actor, at=now, subject=person_pk, target=issuer, details=details)


def choose_username(session: Session, wanted: str) -> str:
    """Return the wanted username without the characters that none may have, with a number if it is taken.

    A username that looks like another one gets a number too. One that mixes scripts becomes "person".
    """
    kept = "".join("-" if character.isspace() or character == "/" else character for character in wanted)
    kept = remove_invisible(kept)
    base = kept.strip("-")[: LONGEST_USERNAME - 10]
    try:
        base = check_username(base)
    except ValidationError:
        base = "person"
    username, number = base, 1
    while find_look_alikes(session, [username]):
        number += 1
        username = f"{base}-{number}"
    return username


def _add_account(
    session: Session, found: ProviderAnswer, password_hash: str, *, now: datetime
) -> ProviderIdentityRow:
    """Make an account for a new identity. Its password is random and unknown."""
    try:
        name = check_name(found.name[:LONGEST_NAME])
    except ValidationError:
        name = ""
    person_pk = add_account(session, choose_username(session, found.username), name, password_hash, now=now)
    identity = _make_identity(person_pk, found.issuer, found.subject, now=now)
    session.add(identity)
    session.flush()
    details = {"by": "identity"}
    note_act(session, AuditAction.account_made, "program", at=now, subject=person_pk, details=details)
    note_act(session, AuditAction.identity_linked, "program", at=now, subject=person_pk, target=found.issuer)
    return identity


def _make_identity(person_pk: int, issuer: str, subject: str, *, now: datetime) -> ProviderIdentityRow:
    values = {"person_pk": person_pk, "issuer": issuer, "subject": subject, "created_at": now}
    return ProviderIdentityRow.model_validate(values)
