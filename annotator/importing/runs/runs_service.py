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
from typing import Any

from annotator.domain.errors import ConflictError
from annotator.domain.messages import CommandWords, say
from annotator.domain.people import Actor
from annotator.formats.runs import RunFile, read_run_file
from annotator.formats.syntax.source import InputSource
from annotator.importing.new_ids import note_by_id
from annotator.importing.report import (
    FolderReport,
    ImportReport,
    Progress,
    be_silent,
    note_more_queries,
    note_moved,
)
from annotator.importing.runs import runs_sql
from annotator.importing.runs.run_plan import (
    RunOptions,
    RunPlan,
    check_options,
    list_run_files,
    plan_folder,
    plan_run,
)
from annotator.importing.texts.text_plan import QueryText
from annotator.importing.texts.texts_sql import list_query_texts
from annotator.importing.transaction_sql import ImportTransaction, open_import, record_import
from annotator.people.roles_service import require_role
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset, key_of

Queries = Mapping[str, QueryText]


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
    """Import all runs of a folder, or none. Each file is one system's run, named by its tag or else by the
    file.

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
    """Stores planned runs in one transaction."""

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
        stored = runs_sql.find_run(session, dataset_pk, run.system)
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
            moved = runs_sql.count_moved_results(
                session, dataset_pk, stored.pk, run, queries=queries, allow_more_queries=has_new_content
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
            added = report.added - runs_sql.count_entries(session, stored.pk) if has_new_content else 0
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
        by_id_only = runs_sql.store_run(
            session,
            dataset_pk,
            stored.pk if stored else None,
            run,
            plan.content_sha256,
            queries=queries,
            now=self.now,
            import_record_pk=record_pk,
        )
        return replace(report, notes=(*report.notes, *note_by_id(by_id_only)))


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
