"""Read the audit log of the installation and verify its chain. For the operator and admins of every dataset."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from annotator.audit.audit_sql import (
    count_entries,
    find_head,
    iterate_entries,
    list_datasets,
    list_newest,
    list_people,
)
from annotator.audit.chain import verify_chain
from annotator.audit.records import AuditEntry, AuditFilter, AuditHead, AuditPage, AuditVerification
from annotator.domain.audit import AuditAction
from annotator.domain.errors import ValidationError
from annotator.domain.people import Actor
from annotator.people.roles_service import open_dataset, require_admin
from annotator.storage.database import Database
from annotator.storage.logs.audit_entries import note_act

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
