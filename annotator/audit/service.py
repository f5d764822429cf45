"""Read the audit log and verify its chain, and remove personal data. For the operator and admins of every dataset.

Removal replaces a person's names by a pseudonym, or deletes names from old entries. Judgments, decisions and releases stay. The chain
stays valid: an entry records each removal. Rows that can never change (a release's manifest, a dataset's activity log) are counted
and reported.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.audit.audit_sql import (
    count_entries,
    count_kept_mentions,
    detach_sessions,
    find_head,
    iterate_entries,
    list_datasets,
    list_newest,
    list_people,
    remove_personal_before,
    remove_sign_in_data,
    replace_names,
)
from annotator.audit.records import (
    REMOVED,
    AuditEntry,
    AuditFilter,
    AuditHead,
    AuditPage,
    AuditVerification,
    verify_chain,
)
from annotator.domain.audit import AuditAction, write_time
from annotator.domain.errors import StateError, ValidationError
from annotator.domain.people import Actor
from annotator.people.roles_service import keep_led, open_dataset, require_admin
from annotator.storage.database import Database
from annotator.storage.logs.audit_log import note_act
from annotator.storage.lookup import end_leases, find_look_alikes, find_person, key_of

PAGE = 50
STEP = 1_000  # entries
AUDIT_LOG_FILE = "audit-log.jsonl"


def read_audit_page(
    database: Database, actor: Actor, wanted: AuditFilter, *, offset: int = 0, limit: int = PAGE
) -> AuditPage:
    """Return entries, the newest first."""
    _check_filter(wanted)
    with database.read() as session:
        require_admin(session, actor)
        entries = list_newest(session, wanted, offset=offset, limit=limit)
        return AuditPage(tuple(entries), count_entries(session, wanted))


def iterate_audit_log(
    database: Database, actor: Actor, wanted: AuditFilter, *, limit: int | None = None
) -> Iterator[AuditEntry]:
    """Yield entries, the oldest first, as they are at one moment; at most `limit`."""
    _check_filter(wanted)
    with database.read() as session:
        require_admin(session, actor)
        yield from iterate_entries(session, wanted, limit=limit)


def download_audit_log(
    database: Database, actor: Actor, wanted: AuditFilter, *, now: datetime
) -> Iterator[AuditEntry]:
    """Log the download, then return the parts of `iterate_audit_log` for the admin's file."""
    _check_filter(wanted)
    with database.write() as session:
        require_admin(session, actor)
        note_act(session, AuditAction.file_downloaded, actor, at=now, target=AUDIT_LOG_FILE)
    return iterate_audit_log(database, actor, wanted)


def note_download(database: Database, actor: Actor, dataset: str, file: str, *, now: datetime) -> None:
    """Log the download of a file with judgments of a dataset. For leads. `file`: its kind, without names of people."""
    with open_dataset(database, actor, dataset, "lead", writing=True) as (session, _, dataset_pk):
        note_act(session, AuditAction.file_downloaded, actor, at=now, dataset=dataset_pk, target=file)


def find_audit_head(database: Database, actor: Actor) -> AuditHead | None:
    """Return the newest entry's sequence and hash, or None for an empty log."""
    with database.read() as session:
        require_admin(session, actor)
        return find_head(session)


def verify_audit_log(
    database: Database,
    actor: Actor,
    *,
    head_was: AuditHead | None = None,
    report_progress: Callable[[int, int], None] | None = None,
) -> AuditVerification:
    """Compute the whole chain again. `head_was`: an earlier head, which must still be there.

    `report_progress`: called after every STEP entries with how many are done, and how many there are.
    """
    with database.read() as session:
        require_admin(session, actor)
        head = find_head(session)
        entries = iterate_entries(session, AuditFilter())
        if report_progress is not None and head is not None:
            entries = _report_each_step(entries, head.sequence, report_progress)
        return verify_chain(entries, head_was=head_was)


def _report_each_step(
    entries: Iterable[AuditEntry], total: int, report_progress: Callable[[int, int], None]
) -> Iterator[AuditEntry]:
    for done, entry in enumerate(entries):
        if done and done % STEP == 0:
            report_progress(done, total)
        yield entry


def list_audit_choices(database: Database, actor: Actor) -> tuple[list[str], list[str]]:
    """Return the usernames and the datasets that entries name, to filter by."""
    with database.read() as session:
        require_admin(session, actor)
        return list_people(session), list_datasets(session)


def _check_filter(wanted: AuditFilter) -> None:
    if wanted.action is not None and wanted.action not in list(AuditAction):
        raise ValidationError(f"expected an action among {', '.join(AuditAction)}, found {wanted.action!r}")


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
