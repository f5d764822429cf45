"""Remove personal data: pseudonymise a person, and remove names from old entries of the audit log.

Judgments, decisions and releases stay. The chain of the audit log stays valid: an entry records each removal. Rows that can never
change (a release's manifest, a dataset's activity log) are counted and reported.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.audit.chain import REMOVED
from annotator.audit.removal_sql import (
    count_kept_mentions,
    detach_sessions,
    remove_personal_before,
    remove_sign_in_data,
    replace_names,
)
from annotator.domain.audit import AuditAction, write_time
from annotator.domain.errors import StateError, ValidationError
from annotator.domain.people import Actor
from annotator.people.roles_service import require_admin
from annotator.storage.database import Database
from annotator.storage.judgments.leases import end_leases
from annotator.storage.logs.audit_entries import note_act
from annotator.storage.lookup import find_look_alikes, find_person, key_of
from annotator.storage.roles import keep_led


@dataclass(frozen=True, slots=True)
class RemovalReport:
    """Removed rows by table. `kept`: unchangeable rows that still name the person."""

    pseudonym: str
    removed: Mapping[str, int]
    kept: Mapping[str, int]
    dry_run: bool = False


def pseudonymise_person(
    database: Database, actor: Actor, username: str, *, now: datetime, dry_run: bool = False
) -> RemovalReport:
    """Replace everything that names the person by a pseudonym, end their sessions and disable the account, for ever.

    For the operator and admins of every dataset. Judgments and decisions stay, under the pseudonym. Raises StateError for the
    last admin, and for the last lead of a dataset with open disagreements.
    """
    with database.write() as session:
        with keep_led(session):
            report = _pseudonymise(session, actor, username, now=now)
        if dry_run:
            session.rollback()
    return replace(report, dry_run=dry_run)


def _pseudonymise(session: Session, actor: Actor, username: str, *, now: datetime) -> RemovalReport:
    require_admin(session, actor)
    row = find_person(session, username)
    if actor.person_id == row.pk:
        raise StateError("you cannot remove yourself; ask another admin")
    person_pk = key_of(row.pk)
    pseudonym = f"removed-{person_pk}"
    taken = find_look_alikes(session, [pseudonym])
    if username != pseudonym and taken:
        raise StateError(f"the username {taken[pseudonym]} is taken; change it first")
    kept = {} if username == pseudonym else count_kept_mentions(session, username)
    detach_sessions(session, person_pk)
    rows = {
        "person": int(username != pseudonym),
        **remove_sign_in_data(session, person_pk, username, now=now),
    }
    end_leases(session, person_pk, None, now=now)
    row.username, row.name, row.language = pseudonym, "", None
    row.password_hash, row.must_change_password = None, False
    row.disabled_at = row.disabled_at or now
    session.add(row)
    session.flush()
    rows["audit_personal"] = replace_names(session, person_pk, pseudonym)
    removed = {name: count for name, count in rows.items() if count}
    details = {REMOVED: rows["audit_personal"], "removed": removed, "kept": kept}
    note_act(session, AuditAction.account_pseudonymised, actor, at=now, subject=person_pk, details=details)
    return RemovalReport(pseudonym, removed, kept)


def remove_old_personal_data(database: Database, actor: Actor, *, before: datetime, now: datetime) -> int:
    """Remove the usernames and addresses from entries before a time. Returns how many; an entry says so.

    For the operator and admins of every dataset. The entries themselves stay.
    """
    if before > now:
        raise ValidationError("expected a time in the past")
    with database.write() as session:
        require_admin(session, actor)
        gone = remove_personal_before(session, before)
        if gone:
            details = {REMOVED: gone, "before": write_time(before)}
            note_act(session, AuditAction.personal_data_removed, actor, at=now, details=details)
        return gone
