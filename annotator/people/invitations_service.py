"""Invite people by one-time links: make, list, revoke and use these links.

A lead of a dataset invites annotators of that dataset; its admin invites for every role there; an admin of all datasets, or
the operator, invites for every role everywhere. An invitation is valid only while its author could still make it. It never
lowers a role. Only the hash of a link's token is stored.
"""

import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from annotator.domain.audit import AuditAction
from annotator.domain.errors import NotAllowed, NotFound, StateError, ValidationError
from annotator.domain.messages import say
from annotator.domain.people import (
    ROLE_NAMES,
    ROLES,
    Actor,
    Invitation,
    InvitationState,
    LinkOffer,
    LinkRefused,
    NewInvitation,
    PasswordLink,
    SignInTerms,
    includes,
)
from annotator.domain.usernames import TAKEN_OR_ALIKE
from annotator.people.credentials import (
    AccountRefused,
    NewAccount,
    check_name,
    check_new_account,
    check_new_password,
    digest_token,
    hash_password,
)
from annotator.people.roles_service import (
    ROLES_LOCK,
    enter_dataset,
    list_roles,
    require_admin,
    require_person,
    require_role,
    set_role,
)
from annotator.people.service import require_may_manage
from annotator.people.sign_in_limits import group_address
from annotator.people.sign_in_service import open_session
from annotator.people.sign_in_sql import (
    add_account,
    begin_guess,
    clear_failures,
    find_invitation,
    find_link,
    forget_devices,
    list_invitation_rows,
    revoke_live_sessions,
    revoke_unused_links,
)
from annotator.storage.database import Database, lock_dataset, require_not_archived
from annotator.storage.logs.audit_log import Action, AuditEvent, add_events, note_act
from annotator.storage.lookup import (
    find_dataset,
    find_dataset_names,
    find_look_alikes,
    find_names,
    find_person,
    key_of,
)
from annotator.storage.tables.central import DatasetRow, PersonRow
from annotator.storage.tables.sign_in import OneTimeLinkRow

_AUDITED: Mapping[Action, AuditAction] = {
    "invited": AuditAction.invited,
    "revoked invitation": AuditAction.invitation_revoked,
    "joined": AuditAction.invitation_used,
}
DAYS = 7
MOST_DAYS = 60


def invite(
    database: Database,
    actor: Actor,
    *,
    role: str,
    dataset: str | None,
    note: str = "",
    days: int = DAYS,
    now: datetime,
) -> NewInvitation:
    """Make a link that gives the role on the dataset (None: on every dataset), once, within so many days.

    `note`: for whom it is. Raises NotAllowed unless the actor may invite for this role there.
    """
    note, token = check_name(note), secrets.token_urlsafe(32)
    _check_days(days)
    with database.write() as session:
        dataset_pk = _require_may_invite(session, actor, role, dataset)
        made = {"token_sha256": digest_token(token), "purpose": "invitation", "note": note}
        scope = {"role": role, "dataset_pk": dataset_pk, "author_pk": actor.person_id}
        times = {"created_at": now, "expires_at": now + timedelta(days=days)}
        row = OneTimeLinkRow.model_validate({**made, **scope, **times})
        session.add(row)
        session.flush()
        _log(session, "invited", row, actor.person_id, now=now)
        return NewInvitation(_to_invitations(session, [row], now=now)[0], token)


def list_invitations(
    database: Database, actor: Actor, *, dataset: str | None = None, now: datetime
) -> list[Invitation]:
    """Return the invitations to the dataset, newest first. For its leads.

    Admins of all datasets also get invitations to every dataset; without `dataset` they get all invitations.
    """
    with database.read() as session:
        is_admin = actor.is_operator or list_roles(session, actor).everywhere == "admin"
        if dataset is None:
            require_admin(session, actor)
            rows = list_invitation_rows(session, None)
        else:
            dataset_pk = key_of(enter_dataset(session, actor, dataset, "lead").pk)
            rows = list_invitation_rows(session, [dataset_pk, None] if is_admin else [dataset_pk])
        return _to_invitations(session, rows, now=now)


def revoke_invitation(database: Database, actor: Actor, number: int, *, now: datetime) -> Invitation:
    """Revoke an unused invitation. For people who may invite for its role.

    Raises NotFound also for an invitation to a dataset that the actor does not lead.
    """
    with database.write() as session:
        row = find_invitation(session, number)
        unknown = NotFound(say("no invitation with the number {number}", number=number))
        if row is None:
            raise unknown
        try:
            _require_may_give(session, actor, row.role or "", row.dataset_pk)
        except NotAllowed:
            if _leads(session, actor, row.dataset_pk):
                raise
            raise unknown from None
        if row.used_at is not None:
            raise StateError(say("this invitation was accepted already; change the person's role instead"))
        if row.revoked_at is None:
            row.revoked_at, row.revoker_pk = now, actor.person_id
            session.add(row)
            _log(session, "revoked invitation", row, actor.person_id, now=now)
        return _to_invitations(session, [row], now=now)[0]


def make_password_link(
    database: Database, actor: Actor, username: str, *, days: int = DAYS, now: datetime
) -> PasswordLink:
    """Make a link for choosing a new password. It replaces earlier links. The old password works until then.

    For the operator, and for admins of every dataset on which the person has a role.
    """
    token, expires_at = secrets.token_urlsafe(32), now + timedelta(days=days)
    _check_days(days)
    with database.write() as session:
        person = find_person(session, username)
        require_may_manage(session, actor, person)
        if person.disabled_at is not None:
            raise StateError(say("{username} is disabled; enable them first", username=username))
        revoke_unused_links(session, "password", person_pk=key_of(person.pk), now=now)
        made = {"token_sha256": digest_token(token), "purpose": "password", "person_pk": person.pk}
        times = {"created_at": now, "expires_at": expires_at, "author_pk": actor.person_id}
        session.add(OneTimeLinkRow.model_validate({**made, **times}))
        note_act(session, AuditAction.password_link_made, actor, at=now, subject=person.pk)
    return PasswordLink(username, expires_at, token)


def look_at_link(database: Database, token: str, *, address: str, now: datetime) -> LinkOffer:
    """Return the invitation or password reset behind the link, without using it up. Raises LinkRefused, TooManyAttempts."""
    with database.write() as session:
        begin_guess(session, token, group_address(address), now=now)
    with database.write() as session:
        row = _require_open(session, token, now=now)
        dataset = session.get(DatasetRow, row.dataset_pk) if row.dataset_pk is not None else None
        author = session.get(PersonRow, row.author_pk) if row.author_pk is not None else None
        person = session.get(PersonRow, row.person_pk) if row.person_pk is not None else None
        return LinkOffer(
            role=row.role,
            dataset=dataset.name if dataset else None,
            title=(dataset.title or dataset.name) if dataset else None,
            author=(author.name or author.username) if author else None,
            username=person.username if person else None,
        )


def create_invited_account(
    database: Database,
    token: str,
    account: NewAccount,
    *,
    address: str,
    now: datetime,
    terms: SignInTerms = SignInTerms(),
) -> tuple[str, str | None]:
    """Make an account with the invitation's role, use the invitation up, and sign the person in.

    Returns (session token, dataset name). Raises AccountRefused with the problems of each field; the
    invitation then still works. Raises SecondFactorNeeded, once the account is made, if the terms require one.
    """
    look_at_link(database, token, address=address, now=now)
    account = check_new_account(account)
    password_hash = hash_password(account.password)
    with database.write() as session:
        lock_dataset(session, ROLES_LOCK)
        row = _require_open(session, token, now=now, purpose="invitation")
        if find_look_alikes(session, [account.username]):
            raise AccountRefused({"username": TAKEN_OR_ALIKE})
        person_pk = add_account(session, account.username, account.name, password_hash, now=now)
        note_act(session, AuditAction.account_made, person_pk, at=now, address=address)
        dataset = _accept(session, row, person_pk, now=now)
        step = open_session(session, person_pk, terms, now=now, address=address)
    return step.require_session(), dataset


def accept_invitation(
    database: Database, actor: Actor, token: str, *, address: str, now: datetime
) -> str | None:
    """Give the actor the invitation's role, use the invitation up, and return the dataset's name.

    Raises StateError if the actor has such a role already; the invitation then still works.
    """
    person_pk = require_person(actor)
    look_at_link(database, token, address=address, now=now)
    with database.write() as session:
        lock_dataset(session, ROLES_LOCK)
        row = _require_open(session, token, now=now, purpose="invitation")
        held = list_roles(session, actor)
        role = held.everywhere if row.dataset_pk is None else held.role_on(row.dataset_pk)
        if role is not None and includes(role, row.role or ""):
            raise StateError(say("you have the role {role} there already", role=ROLE_NAMES[role]))
        return _accept(session, row, person_pk, now=now)


def choose_password(
    database: Database,
    token: str,
    password: str,
    *,
    address: str,
    now: datetime,
    terms: SignInTerms = SignInTerms(),
) -> str:
    """Store the password of the link's person, use the link up, and sign the person in here and out everywhere else.

    Returns the token of the session. Raises AccountRefused if the password cannot be accepted; the link then still works.
    Raises SecondFactorNeeded, once the password is stored, if the person has a second factor or the terms require one.
    """
    offer = look_at_link(database, token, address=address, now=now)
    try:
        check_new_password(password, username=offer.username or "")
    except ValidationError as error:
        raise AccountRefused({"password": error.args[0]}) from None
    password_hash = hash_password(password)
    with database.write() as session:
        lock_dataset(session, ROLES_LOCK)
        row = _require_open(session, token, now=now, purpose="password")
        person = session.get(PersonRow, row.person_pk)
        if person is None:
            raise LinkRefused(say("this link is not valid; copy all of it, including everything after the #"))
        person_pk = key_of(person.pk)
        person.password_hash, person.must_change_password = password_hash, False
        row.used_at, row.user_pk = now, person_pk
        session.add_all([person, row])
        revoke_live_sessions(session, person_pk=person_pk, now=now)
        forget_devices(session, person_pk)
        clear_failures(session, username=person.username)
        details = {"link": row.pk}
        note_act(session, AuditAction.password_changed, person_pk, at=now, details=details, address=address)
        step = open_session(session, person_pk, terms, now=now, address=address)
    return step.require_session()


def _check_days(days: int) -> None:
    if not 1 <= days <= MOST_DAYS:
        raise ValidationError(
            say("expected a number of days from 1 to {most}, found {found}", most=MOST_DAYS, found=days)
        )


def _require_may_invite(session: Session, actor: Actor, role: str, dataset: str | None) -> int | None:
    """Return the dataset_pk (None: every dataset). Raises NotAllowed unless the actor may invite for this role there."""
    if role not in ROLES:
        raise ValidationError(say("expected a role annotator, lead or admin, found {role!r}", role=role))
    dataset_pk = None if dataset is None else key_of(find_dataset(session, dataset).pk)
    _require_may_give(session, actor, role, dataset_pk)
    return dataset_pk


def _require_may_give(session: Session, actor: Actor, role: str, dataset_pk: int | None) -> None:
    if dataset_pk is None:
        require_admin(session, actor)
    else:
        require_role(session, actor, dataset_pk, "lead" if role == "annotator" else "admin")


def _leads(session: Session, actor: Actor, dataset_pk: int | None) -> bool:
    if dataset_pk is None:
        return False
    role = list_roles(session, actor).role_on(dataset_pk)
    return role is not None and includes(role, "lead")


def _require_open(
    session: Session, token: str, *, now: datetime, purpose: str | None = None
) -> OneTimeLinkRow:
    """Return the link. Raises LinkRefused unless it could be used now."""
    row = find_link(session, digest_token(token))
    if row is None or row.purpose == "setup" or purpose not in (None, row.purpose):
        raise LinkRefused(say("this link is not valid; copy all of it, including everything after the #"))
    state = _find_state(row, now=now)
    if state == "used":
        raise LinkRefused(say("this link was used already; if that was you, sign in"))
    if state == "expired":
        raise LinkRefused(say("this link has expired; ask for a new one"))
    if state == "revoked" or not _is_vouched_for(session, row):
        raise LinkRefused(say("this link was revoked; ask for a new one"))
    if row.dataset_pk is not None:
        require_not_archived(session, row.dataset_pk)
    return row


def _is_vouched_for(session: Session, row: OneTimeLinkRow) -> bool:
    """Return whether the link's author could make it now too, and its person may sign in."""
    author = row.author_pk and session.get(PersonRow, row.author_pk)
    person = row.person_pk and session.get(PersonRow, row.person_pk)
    if person and person.disabled_at is not None:
        return False
    if not author:
        return True
    actor = Actor(author.pk, author.username)
    try:
        if person:
            require_may_manage(session, actor, person)
        else:
            _require_may_give(session, actor, row.role or "", row.dataset_pk)
    except NotAllowed:
        return False
    return True


def _accept(session: Session, row: OneTimeLinkRow, person_pk: int, *, now: datetime) -> str | None:
    set_role(session, person_pk, row.dataset_pk, row.role or "")
    row.used_at, row.user_pk = now, person_pk
    session.add(row)
    _log(session, "joined", row, person_pk, now=now)
    return find_dataset_names(session, [row.dataset_pk]).get(row.dataset_pk)


def _log(
    session: Session, action: Action, row: OneTimeLinkRow, person_pk: int | None, *, now: datetime
) -> None:
    """Note it in the audit log, and in the activity log of the dataset that the invitation is to."""
    details = {"invitation": row.pk, "role": row.role, "everywhere": row.dataset_pk is None}
    note_act(session, _AUDITED[action], person_pk, at=now, dataset=row.dataset_pk, details=details)
    if row.dataset_pk is not None:
        after = {"invitation": row.pk, "role": row.role, "note": row.note}
        add_events(session, [AuditEvent(action, row.dataset_pk, person_pk, now, after=after)])


def _find_state(row: OneTimeLinkRow, *, now: datetime) -> InvitationState:
    if row.used_at is not None:
        return "used"
    if row.revoked_at is not None:
        return "revoked"
    return "expired" if now >= row.expires_at else "open"


def _to_invitations(session: Session, rows: list[OneTimeLinkRow], *, now: datetime) -> list[Invitation]:
    names = find_names(session, (pk for row in rows for pk in (row.author_pk, row.user_pk, row.revoker_pk)))
    datasets = find_dataset_names(session, (row.dataset_pk for row in rows))
    return [
        Invitation(
            number=key_of(row.pk),
            role=row.role or "",
            dataset=datasets.get(row.dataset_pk),
            note=row.note,
            state=_find_state(row, now=now),
            author=names.get(row.author_pk),
            created_at=row.created_at,
            expires_at=row.expires_at,
            user=names.get(row.user_pk),
            used_at=row.used_at,
            revoker=names.get(row.revoker_pk),
            revoked_at=row.revoked_at,
        )
        for row in rows
    ]
