"""Count a dataset's items of each kind, and find the latest import of each."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.import_records import AFTERWARDS, ImportKind
from annotator.importing.uploads.contents_records import ContentCount, DatasetContents, LastImport
from annotator.importing.uploads.recognition import ORDER
from annotator.storage.pairs.pool import select_documents_left
from annotator.storage.tables.central import (
    CurrentJudgmentRow,
    DocumentRow,
    ImportedQrelRow,
    ImportRecordRow,
    PairRow,
    PersonRow,
    QueryRow,
    RunRow,
)


def read_contents(session: Session, dataset_pk: int) -> DatasetContents:
    """Return the counts of a dataset with the latest imports."""
    last = _list_last_imports(session, dataset_pk)
    counts = {kind: int(session.scalar(statement) or 0) for kind, statement in _count(dataset_pk).items()}
    without_text = session.scalar(
        select(func.count())
        .select_from(DocumentRow)
        .where(
            col(DocumentRow.dataset_pk) == dataset_pk,
            col(DocumentRow.text_sha256).is_(None),
            col(DocumentRow.pk).not_in(select_documents_left()),
        )
    )
    return DatasetContents(
        tuple(ContentCount(kind, counts[kind], last.get(kind)) for kind in ORDER),
        without_text or 0,
    )


def has_import(session: Session, dataset_pk: int, at: datetime) -> bool:
    """Check whether an import with exactly this time is recorded."""
    statement = select(func.count()).where(
        col(ImportRecordRow.dataset_pk) == dataset_pk, col(ImportRecordRow.imported_at) == at
    )
    return bool(session.scalar(statement))


def _count(dataset_pk: int) -> Mapping[ImportKind, Select[Any]]:
    live = col(PairRow.dataset_pk) == dataset_pk, col(PairRow.retired_at).is_(None)
    return {
        "queries": select(func.count()).where(col(QueryRow.dataset_pk) == dataset_pk),
        "documents": select(func.count())
        .select_from(DocumentRow)
        .where(
            col(DocumentRow.dataset_pk) == dataset_pk, col(DocumentRow.pk).not_in(select_documents_left())
        ),
        "run": select(func.count()).where(col(RunRow.dataset_pk) == dataset_pk),
        "pairs": select(func.count()).select_from(PairRow).where(*live),
        "judgments": select(func.count())
        .select_from(CurrentJudgmentRow)
        .join(PairRow, col(PairRow.pk) == col(CurrentJudgmentRow.pair_pk))
        .where(*live),
        "qrels": select(func.count())
        .select_from(ImportedQrelRow)
        .join(PairRow, col(PairRow.pk) == col(ImportedQrelRow.pair_pk))
        .where(*live),
    }


def _list_last_imports(session: Session, dataset_pk: int) -> dict[str, LastImport]:
    """Return {kind: latest import}."""
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
