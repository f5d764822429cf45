"""Import a file of any kind with the user's choices, for a lead; show a dataset's contents and their origin.

Calls the use case of each kind (`texts_service.py`, `runs_service.py`, …): a page imports exactly as a
command does.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.ground_truth import AFTERWARDS, ImportKind
from annotator.domain.people import Actor
from annotator.importing.judgments.judgments_service import import_judgments, import_qrels
from annotator.importing.report import FolderReport, ImportReport, Progress, be_silent
from annotator.importing.runs.runs_service import import_run, import_runs
from annotator.importing.texts.texts_service import import_documents, import_pairs, import_queries
from annotator.importing.uploads.recognition import (
    ORDER,
    ContentCount,
    DatasetContents,
    ImportChoices,
    LastImport,
)
from annotator.people.roles_service import open_dataset
from annotator.storage.database import Database
from annotator.storage.judgments.missing_judgments import count_current
from annotator.storage.pairs.pool import are_in_use
from annotator.storage.tables.central import (
    DocumentRow,
    ImportedQrelRow,
    ImportRecordRow,
    PairRow,
    PersonRow,
    QueryRow,
    RunRow,
)

_IMPORTS: Mapping[ImportKind, tuple[Callable[..., ImportReport], tuple[str, ...]]] = {
    "queries": (import_queries, ("header", "columns")),
    "documents": (import_documents, ("sections", "cut", "doc_id", "title", "columns")),
    "pairs": (import_pairs, ("columns",)),
    "judgments": (import_judgments, ("simulated", "map_grades", "columns", "declared")),
    "qrels": (import_qrels, ("grades_by", "map_grades", "rejudge", "as_judgments", "declared")),
    "run": (import_run, ("order", "duplicates", "skip_unknown_queries", "id_field")),
}
"""The use case of each kind, and the choices that it takes."""


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
    import_kind, names = _IMPORTS[choices.kind]
    options: dict[str, Any] = {
        **{name: getattr(choices, name) for name in names},
        "now": now,
        "format_name": choices.format,
        "encoding": choices.encoding,
        "dry_run": dry_run,
        "report_progress": report_progress,
    }
    if choices.kind == "run" and path.is_dir():
        return import_runs(database, actor, dataset, path, **options)
    if choices.kind == "run":
        options["system"] = choices.system
    return import_kind(database, actor, dataset, path, **options)


def show_contents(database: Database, actor: Actor, dataset: str) -> DatasetContents:
    """Return the dataset's contents of each kind, with the latest imports. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        last = _list_last_imports(session, dataset_pk)
        counts = {kind: int(session.scalar(statement) or 0) for kind, statement in _count(dataset_pk).items()}
        counts["judgments"] = count_current(session, dataset_pk)
        without_text = session.scalar(
            select(func.count())
            .select_from(DocumentRow)
            .where(*are_in_use(dataset_pk), col(DocumentRow.text_sha256).is_(None))
        )
    return DatasetContents(
        tuple(ContentCount(kind, counts[kind], last.get(kind)) for kind in ORDER), without_text or 0
    )


def was_imported(database: Database, actor: Actor, dataset: str, *, at: datetime) -> bool:
    """Check whether an import with exactly this time was stored: for a process that ended without an answer."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        statement = select(func.count()).where(
            col(ImportRecordRow.dataset_pk) == dataset_pk, col(ImportRecordRow.imported_at) == at
        )
        return bool(session.scalar(statement))


def _count(dataset_pk: int) -> Mapping[ImportKind, Select[Any]]:
    live = col(PairRow.dataset_pk) == dataset_pk, col(PairRow.retired_at).is_(None)
    return {
        "queries": select(func.count()).where(col(QueryRow.dataset_pk) == dataset_pk),
        "documents": select(func.count()).select_from(DocumentRow).where(*are_in_use(dataset_pk)),
        "run": select(func.count()).where(col(RunRow.dataset_pk) == dataset_pk),
        "pairs": select(func.count()).select_from(PairRow).where(*live),
        "qrels": select(func.count())
        .select_from(ImportedQrelRow)
        .join(PairRow, col(PairRow.pk) == col(ImportedQrelRow.pair_pk))
        .where(*live),
    }


def _list_last_imports(session: Session, dataset_pk: int) -> dict[str, LastImport]:
    statement = (
        select(ImportRecordRow, col(PersonRow.name), col(PersonRow.username))
        .outerjoin(PersonRow, col(PersonRow.pk) == col(ImportRecordRow.imported_by))
        .where(col(ImportRecordRow.dataset_pk) == dataset_pk)
        .order_by(col(ImportRecordRow.pk))
    )
    return {
        row.kind: LastImport(row.path, row.imported_at, name or username)
        for row, name, username in session.execute(statement)
        if not row.options.get(AFTERWARDS)
    }
