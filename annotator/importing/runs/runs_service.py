"""Import one run, or a folder of runs, for a lead.

All files are read and planned before the write lock, then stored in one transaction or not at all. If the
dataset's queries change meanwhile, the files are planned again. Importing the same file twice changes
nothing. With `dry_run` everything is checked, including the database, and nothing is stored. Raises BadInput
with each bad line, and NotAllowed unless the actor leads the dataset.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.errors import ConflictError
from annotator.domain.ground_truth import Run
from annotator.domain.messages import CommandWords, say
from annotator.domain.people import Actor
from annotator.formats.runs import RunFile, read_run_file
from annotator.formats.syntax.source import InputSource
from annotator.importing.report import (
    FolderReport,
    ImportReport,
    NewIds,
    Progress,
    be_silent,
    note_by_id,
    note_more_queries,
    note_moved,
)
from annotator.importing.runs.run_plan import (
    RunOptions,
    RunPlan,
    check_options,
    list_run_files,
    plan_folder,
    plan_run,
)
from annotator.importing.texts.text_plan import QueryText
from annotator.importing.texts.texts_sql import add_documents_by_id, list_document_keys, list_query_texts
from annotator.importing.transaction_sql import ImportTransaction, open_import, record_import
from annotator.people.roles_service import require_role
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.pairs.disagreements import note_all_due
from annotator.storage.sql import add_rows
from annotator.storage.tables.central import ImportRecordRow, RunEntryRow, RunRow

Queries = Mapping[str, QueryText]


class StoredRun(NamedTuple):
    """A run of the dataset."""

    pk: int
    content_sha256: str
    file_sha256: str | None  # of the file that it was last read from; None for imports without a record


@dataclass(frozen=True, slots=True)
class FetchedFrom:
    """The source of a fetched run.

    `options` and `figures` go into the record of the import. `earlier_sha256`: of the same file at its
    previous import, with fewer answered queries; its results must be the same.
    """

    options: Mapping[str, Any]
    figures: Mapping[str, Any]
    earlier_sha256: str | None


def import_run(
    database: Database,
    actor: Actor,
    dataset: str,
    path: Path,
    *,
    now: datetime,
    system: str | None = None,
    order: str = "score",
    duplicates: str = "refuse",
    skip_unknown_queries: bool = False,
    id_field: str | None = None,
    response_time_unit: str | None = None,
    format_name: str | None = None,
    encoding: str | None = None,
    dry_run: bool = False,
    report_progress: Progress = be_silent,
    fetched: FetchedFrom | None = None,
) -> ImportReport:
    """Import one system's run, from TREC lines or JSON. `system` overrides the name in the file.

    `order`, `duplicates` and `skip_unknown_queries`: see `RunOptions`; `id_field` and `response_time_unit`:
    see `read_json_run`. Unknown documents are added with only their id. If the same file was imported before,
    only its order can change, and results of queries that are new in the dataset are added. `fetched`: for a
    file fetched from a search endpoint. Raises ConflictError if the system already has another run.
    """
    options = check_options(order=order, duplicates=duplicates, skip_unknown_queries=skip_unknown_queries)
    reader = _RunReader(format_name, encoding, id_field, response_time_unit)

    def plan(queries: Queries) -> dict[Path, RunPlan]:
        report_progress(say("reading {path}", path=path))
        file = reader.read(path)
        return {path: plan_run(file, str(path), queries=queries, options=options, system=system)}

    importer = _RunImporter(database, actor, dataset, now, options, reader, dry_run, report_progress, fetched)
    (report,) = importer.store(plan)
    return report


def import_runs(
    database: Database,
    actor: Actor,
    dataset: str,
    folder: Path,
    *,
    now: datetime,
    order: str = "score",
    duplicates: str = "refuse",
    skip_unknown_queries: bool = False,
    id_field: str | None = None,
    response_time_unit: str | None = None,
    format_name: str | None = None,
    encoding: str | None = None,
    dry_run: bool = False,
    report_progress: Progress = be_silent,
) -> FolderReport:
    """Import all runs of a folder, or none. Each file is one system's run, named by its tag or else its name.

    Options: see `import_run`. BadInput names every bad line of every file, and files with the same system.
    """
    options = check_options(order=order, duplicates=duplicates, skip_unknown_queries=skip_unknown_queries)
    reader = _RunReader(format_name, encoding, id_field, response_time_unit)
    paths, notes = list_run_files(folder)

    def read(path: Path) -> RunFile:
        report_progress(say("reading {path}", path=path))
        return reader.read(path)

    def plan(queries: Queries) -> dict[Path, RunPlan]:
        return plan_folder(folder, paths, read, queries=queries, options=options)

    importer = _RunImporter(database, actor, dataset, now, options, reader, dry_run, report_progress)
    return FolderReport.of(str(folder), importer.store(plan), notes, dry_run=dry_run)


@dataclass(frozen=True, slots=True)
class _RunReader:
    """Options for reading run files (see `read_run_file`), and the hash of each file at its last reading."""

    format_name: str | None
    encoding: str | None
    id_field: str | None
    response_time_unit: str | None
    hashes: dict[Path, str | None] = field(default_factory=dict)

    def read(self, path: Path) -> RunFile:
        source = InputSource(str(path), encoding=self.encoding)
        data = source.read_bytes()
        self.hashes[path] = source.sha256
        return read_run_file(
            data,
            str(path),
            kind=self.format_name,
            id_field=self.id_field,
            response_time_unit=self.response_time_unit,
        )


@dataclass(frozen=True, slots=True)
class _RunImporter:
    database: Database
    actor: Actor
    dataset: str
    now: datetime
    options: RunOptions
    reader: _RunReader
    dry_run: bool
    report_progress: Progress
    fetched: FetchedFrom | None = None

    def store(self, make_plans: Callable[[Queries], dict[Path, RunPlan]]) -> list[ImportReport]:
        """Plan the runs for the dataset's queries, then store all. Plans again if the queries changed meanwhile."""
        while True:
            queries = self._read_queries()
            plans = make_plans(queries)
            with open_import(
                self.database, self.actor, self.dataset, now=self.now, dry_run=self.dry_run
            ) as transaction:
                if list_query_texts(transaction.session, transaction.dataset_pk) == queries:
                    return [self._store_run(transaction, path, plan, queries) for path, plan in plans.items()]

    def _read_queries(self) -> Queries:
        with self.database.read() as session:
            dataset_pk = key_of(find_dataset(session, self.dataset).pk)
            require_role(session, self.actor, dataset_pk, "lead")
            return list_query_texts(session, dataset_pk)

    def _store_run(
        self, transaction: ImportTransaction, path: Path, plan: RunPlan, queries: Queries
    ) -> ImportReport:
        """Store a new run, or replace a stored one by another order or more results of the same file."""
        self.report_progress(say("storing {path}", path=path))
        sha256 = self.reader.hashes[path]
        session, dataset_pk, run = transaction.session, transaction.dataset_pk, plan.run
        stored = find_run(session, dataset_pk, run.system)
        report = _report_new_run(path, plan, dry_run=self.dry_run)
        if self.fetched:
            report = replace(report, figures={**report.figures, **self.fetched.figures})
        has_new_content = stored is not None and stored.content_sha256 != plan.content_sha256
        if stored is not None:
            same_files = (sha256, self.fetched.earlier_sha256) if self.fetched else (sha256,)
            if has_new_content and stored.file_sha256 not in same_files:
                raise ConflictError(
                    say(
                        "{path}: the system {system} has another run in this dataset already; use another {option}",
                        path=path,
                        system=repr(run.system),
                        option=CommandWords("--system"),
                    )
                )
            moved = _count_moved_results(
                transaction, stored.pk, run, queries, allow_more_queries=has_new_content
            )
            if has_new_content and moved is None:
                raise ConflictError(
                    say(
                        "{path}: this file is the run of {system} already, but its documents are others now: they were read by other options, or got other ids since. To store this reading too, use another {option}",
                        path=path,
                        system=repr(run.system),
                        option=CommandWords("--system"),
                    )
                )
            added = report.added - count_entries(session, stored.pk) if has_new_content else 0
            report = _report_stored_run(report, added, moved)
        if not report.changes_something and not has_new_content:
            return report
        record_pk = record_import(
            transaction,
            report,
            sha256=sha256,
            format_name=self.reader.format_name,
            system=run.system,
            options={**self.options.to_record(), **(self.fetched.options if self.fetched else {})},
        )
        by_id_only = self._write(transaction, stored, plan, queries, record_pk)
        return replace(report, notes=(*report.notes, *note_by_id(by_id_only)))

    def _write(
        self,
        transaction: ImportTransaction,
        stored: StoredRun | None,
        plan: RunPlan,
        queries: Queries,
        record_pk: int,
    ) -> NewIds:
        """Insert the run, or replace the results of the stored one; return the documents with only their id."""
        session, dataset_pk, run = transaction.session, transaction.dataset_pk, plan.run
        documents, by_id_only = add_documents_by_id(
            session, dataset_pk, (entry.doc_id for entry in run.entries)
        )
        values = {
            "content_sha256": plan.content_sha256,
            "query_signals": {query_id: dict(signals) for query_id, signals in run.query_signals.items()},
            "import_record_pk": record_pk,
        }
        if stored is None:
            new = {"dataset_pk": dataset_pk, "system": run.system, "imported_at": self.now, **values}
            row = RunRow.model_validate(new)
            session.add(row)
        else:
            session.execute(delete(RunEntryRow).where(col(RunEntryRow.run_pk) == stored.pk))
            row = session.get_one(RunRow, stored.pk)
            row.sqlmodel_update(values)
        session.flush()
        rows = [
            {
                "run_pk": row.pk,
                "query_pk": queries[entry.query_id].pk,
                "document_pk": documents[entry.doc_id].pk,
                "rank": entry.rank,
                "score": entry.score,
                "signals": dict(entry.signals),
            }
            for entry in run.entries
        ]
        add_rows(session, RunEntryRow, rows)
        note_all_due(session, dataset_pk)
        return by_id_only


def _report_new_run(path: Path, plan: RunPlan, *, dry_run: bool) -> ImportReport:
    stored = len(plan.run.entries)
    left_out = sum(plan.figures.get(name, 0) for name in ("skipped_unknown_results", "duplicates"))
    return ImportReport(
        "run", str(path), stored + left_out, stored, 0, 0, plan.notes, dry_run, figures=plan.figures
    )


def _report_stored_run(report: ImportReport, added: int, moved: int | None) -> ImportReport:
    """Correct the report for a stored run: it gets `added` new results; `moved` existing ones change rank."""
    changed = moved or 0
    notes = (*report.notes, *note_more_queries(added), *note_moved(moved))
    return replace(
        report, added=added, changed=changed, unchanged=report.added - added - changed, notes=notes
    )


def find_run(session: Session, dataset_pk: int, system: str) -> StoredRun | None:
    """Return the run of a system, if there is one."""
    statement = (
        select(col(RunRow.pk), col(RunRow.content_sha256), col(ImportRecordRow.sha256))
        .outerjoin(ImportRecordRow, col(ImportRecordRow.pk) == col(RunRow.import_record_pk))
        .where(col(RunRow.dataset_pk) == dataset_pk, col(RunRow.system) == system)
    )
    row = session.execute(statement).one_or_none()
    return None if row is None else StoredRun(key_of(row[0]), row[1], row[2])


def _count_moved_results(
    transaction: ImportTransaction, run_pk: int, run: Run, queries: Queries, *, allow_more_queries: bool
) -> int | None:
    """Count the results of a stored run that have another rank in `run`.

    With `allow_more_queries`, `run` may have results of queries that the stored run lacks. Returns None if `run` has other
    results than the stored run, for example because documents got other ids.
    """
    session, dataset_pk = transaction.session, transaction.dataset_pk
    columns = select(col(RunEntryRow.query_pk), col(RunEntryRow.document_pk), col(RunEntryRow.rank))
    rows = session.execute(columns.where(col(RunEntryRow.run_pk) == run_pk))
    stored_ranks = {(query_pk, document_pk): rank for query_pk, document_pk, rank in rows}
    stored_query_pks = {query_pk for query_pk, _ in stored_ranks}
    documents = list_document_keys(session, dataset_pk)
    ranks = {
        (
            queries[entry.query_id].pk,
            documents[entry.doc_id].pk if entry.doc_id in documents else None,
        ): entry.rank
        for entry in run.entries
        if not allow_more_queries or queries[entry.query_id].pk in stored_query_pks
    }
    if ranks.keys() != stored_ranks.keys():
        return None
    return sum(ranks[key] != rank for key, rank in stored_ranks.items())


def count_entries(session: Session, run_pk: int) -> int:
    """Count the results of a stored run."""
    count = select(func.count()).select_from(RunEntryRow).where(col(RunEntryRow.run_pk) == run_pk)
    return session.scalar(count) or 0
