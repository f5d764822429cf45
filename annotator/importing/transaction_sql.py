"""Open the write transaction of an import, and store its record."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from annotator.domain.ground_truth import AFTERWARDS, ImportKind, ImportRecord, find_declared
from annotator.domain.people import Actor
from annotator.importing.report import ImportReport
from annotator.people.roles_service import open_dataset
from annotator.storage.database import Database, lock_dataset, require_not_archived
from annotator.storage.logs.disclosures import find_published, note_seen
from annotator.storage.logs.import_records import add_import_record, list_import_records


@dataclass(frozen=True, slots=True)
class ImportTransaction:
    """A transaction on the dataset that gets the file."""

    session: Session
    dataset_pk: int
    dataset: str
    actor: Actor
    now: datetime
    dry_run: bool
    seen: set[int]

    def note_named(self, names: Iterable[tuple[str, str]]) -> None:
        """Note pairs (query_id, doc_id) that the report reveals: the importer may no longer judge them.

        Call it before the file adds pairs. It applies even if the import is refused.
        """
        if self.actor.person_id is not None:
            self.seen.update(*find_published(self.session, self.dataset_pk, set(names)).values())


@contextmanager
def open_import(
    database: Database, actor: Actor, dataset: str, *, now: datetime, dry_run: bool, reading: bool = False
) -> Iterator[ImportTransaction]:
    """Open a write transaction on a dataset and lock the dataset. A dry run is rolled back at the end.

    `reading`: open a read transaction instead, to look things up while others write. Afterwards, also if the
    import is refused, records the pairs of `ImportTransaction.seen`. Raises NotAllowed unless the actor leads
    the dataset.
    """
    seen: set[int] = set()
    try:
        with open_dataset(database, actor, dataset, "lead", writing=not reading) as (
            session,
            row,
            dataset_pk,
        ):
            if reading:
                require_not_archived(session, dataset_pk)
            else:
                lock_dataset(session, dataset_pk)
            yield ImportTransaction(session, dataset_pk, row.name, actor, now, dry_run, seen)
            if dry_run:
                session.rollback()
    finally:
        note_seen(database, seen, actor.person_id, now=now)


def record_import(
    transaction: ImportTransaction,
    report: ImportReport,
    *,
    sha256: str | None,
    format_name: str | None,
    system: str | None = None,
    options: Mapping[str, Any] | None = None,
    declared: Mapping[str, Any] | None = None,
) -> int:
    """Store the record of an import that changes something; return its key. `sha256`: None for a folder."""
    counts = {
        "read": report.read,
        "added": report.added,
        "changed": report.changed,
        "unchanged": report.unchanged,
    }
    record = ImportRecord(
        kind=report.kind,
        path=report.path,
        imported_at=transaction.now,
        sha256=sha256,
        format=format_name,
        system=system,
        imported_by=transaction.actor.person_id,
        options=options or {},
        figures={**counts, **report.figures},
        declared=declared,
    )
    return add_import_record(transaction.session, transaction.dataset_pk, record)


def record_declaration(
    transaction: ImportTransaction,
    kind: ImportKind,
    path: Path,
    *,
    sha256: str | None,
    declared: Mapping[str, Any] | None,
) -> tuple[str, ...]:
    """Store a declaration for the earlier imports of a file without new content. Returns notes for people."""
    if declared is None:
        return ()
    records = list_import_records(transaction.session, transaction.dataset_pk)
    earlier = [record for record in records if sha256 and (record.kind, record.sha256) == (kind, sha256)]
    if not earlier:
        return ("nothing in this file is new, and no import of it is recorded: your declaration is not kept",)
    if all(find_declared(record, records) == declared for record in earlier):
        return ()
    record = ImportRecord(
        kind=kind,
        path=str(path),
        imported_at=transaction.now,
        sha256=sha256,
        imported_by=transaction.actor.person_id,
        options={AFTERWARDS: True},
        declared=declared,
    )
    add_import_record(transaction.session, transaction.dataset_pk, record)
    return ("your declaration is kept with the earlier import of this file: later releases show it",)


def list_given_options(**options: Any) -> dict[str, Any]:
    """Return the options that are not empty or false, for the record of an import."""
    return {name: value for name, value in options.items() if value}
