"""Import a file of any kind with the user's choices, for a lead; show a dataset's contents and their origin.

Calls the use case of each kind (`texts_service.py`, `runs_service.py`, …): a page imports exactly as a
command does.
"""

from datetime import datetime
from pathlib import Path
from typing import Any

from annotator.domain.people import Actor
from annotator.importing.judgments.ground_truth_service import import_qrels
from annotator.importing.judgments.judgments_service import import_judgments
from annotator.importing.judgments.pairs_service import import_pairs
from annotator.importing.report import FolderReport, ImportReport, Progress, be_silent
from annotator.importing.runs.runs_service import import_run, import_runs
from annotator.importing.texts.texts_service import import_documents, import_queries
from annotator.importing.uploads import contents_sql
from annotator.importing.uploads.contents_records import DatasetContents
from annotator.importing.uploads.import_choices import ImportChoices
from annotator.people.roles_service import open_dataset
from annotator.storage.database import Database


def import_file(
    database: Database,
    actor: Actor,
    dataset: str,
    path: Path,
    choices: ImportChoices,
    *,
    now: datetime,
    dry_run: bool = False,
    report_progress: Progress = be_silent,
) -> ImportReport | FolderReport:
    """Import a file or folder: everything or nothing. Errors: see the use case of the kind."""
    common: dict[str, Any] = {
        "now": now,
        "format_name": choices.format,
        "encoding": choices.encoding,
        "dry_run": dry_run,
        "report_progress": report_progress,
    }
    columns = dict(choices.columns)
    if choices.kind == "queries":
        return import_queries(
            database, actor, dataset, path, header=choices.header, columns=columns, **common
        )
    if choices.kind == "documents":
        options = {
            "sections": choices.sections,
            "cut": choices.cut,
            "doc_id": choices.doc_id,
            "title": choices.title,
        }
        return import_documents(database, actor, dataset, path, columns=columns, **options, **common)  # type: ignore[arg-type]  # texts and flags by name
    if choices.kind == "pairs":
        return import_pairs(database, actor, dataset, path, columns=columns, **common)
    if choices.kind == "judgments":
        return import_judgments(
            database,
            actor,
            dataset,
            path,
            simulated=choices.simulated,
            map_grades=choices.map_grades,
            columns=columns,
            declared=choices.declared,
            **common,
        )
    if choices.kind == "qrels":
        return import_qrels(
            database,
            actor,
            dataset,
            path,
            grades_by=choices.grades_by,
            map_grades=choices.map_grades,
            rejudge=choices.rejudge,
            as_judgments=choices.as_judgments,
            declared=choices.declared,
            **common,
        )
    return _import_run(database, actor, dataset, path, choices, common)


def _import_run(
    database: Database,
    actor: Actor,
    dataset: str,
    path: Path,
    choices: ImportChoices,
    common: dict[str, Any],
) -> ImportReport | FolderReport:
    options: dict[str, Any] = {
        "order": choices.order,
        "duplicates": choices.duplicates,
        "skip_unknown_queries": choices.skip_unknown_queries,
        "id_field": choices.id_field,
        **common,
    }
    if path.is_dir():
        return import_runs(database, actor, dataset, path, **options)
    return import_run(database, actor, dataset, path, system=choices.system, **options)


def show_contents(database: Database, actor: Actor, dataset: str) -> DatasetContents:
    """Return the dataset's contents of each kind, with the latest imports. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        return contents_sql.read_contents(session, dataset_pk)


def was_imported(database: Database, actor: Actor, dataset: str, *, at: datetime) -> bool:
    """Check whether an import with exactly this time was stored: for a process that ended without an answer."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        return contents_sql.has_import(session, dataset_pk, at)
