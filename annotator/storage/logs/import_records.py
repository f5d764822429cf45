"""Writes and reads the record of every import (`domain/ground_truth.py`). Records are only ever added."""

from dataclasses import fields
from pathlib import PurePath
from typing import Any

from sqlalchemy import case, func, null, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.audit import AuditAction
from annotator.domain.ground_truth import BEFORE_RECORDS, ImportRecord
from annotator.domain.texts import check_options
from annotator.storage.logs.audit_log import note_act
from annotator.storage.lookup import key_of
from annotator.storage.tables.central import ImportRecordRow, JudgmentRow

IMPORT = case(
    (col(JudgmentRow.line_id).is_not(None), func.coalesce(col(JudgmentRow.import_record_pk), BEFORE_RECORDS)),
    else_=null(),
)
"""The import that a judgment came with, as SQL; null if it was made in this program."""


IMPORTED = "CASE WHEN j.line_id IS NULL THEN 0 WHEN j.judged_at = j.received_at THEN 2 ELSE 1 END"
"""Of a judgment `j`: 0 made in this program, 1 it came with a file, 2 with a file that does not say when it
was made."""


_COLUMNS = tuple(field.name for field in fields(ImportRecord) if field.name != "pk")


def add_import_record(session: Session, dataset_pk: int, record: ImportRecord) -> int:
    """Store the record of one import and return its primary key, for the rows that came with it."""
    check_options(record.options)
    values: dict[str, Any] = {
        **{name: getattr(record, name) for name in _COLUMNS},
        "dataset_pk": dataset_pk,
        # A path may hold bytes that are no UTF-8, which no database stores.
        "path": record.path.encode("utf-8", "replace").decode("utf-8"),
        "options": dict(record.options),
        "figures": dict(record.figures),
        "declared": None if record.declared is None else dict(record.declared),
    }
    row = ImportRecordRow.model_validate(values)
    session.add(row)
    session.flush()
    note_act(
        session,
        AuditAction.imported,
        record.imported_by,
        at=record.imported_at,
        dataset=dataset_pk,
        target=PurePath(record.path).name,
        details={
            "kind": record.kind,
            "system": record.system,
            "sha256": record.sha256,
            **{name: figure for name, figure in record.figures.items() if type(figure) is int},
        },
    )
    return key_of(row.pk)


def list_import_records(session: Session, dataset_pk: int) -> list[ImportRecord]:
    """Return the records of a dataset's imports, in the order in which they were made."""
    statement = select(ImportRecordRow).where(col(ImportRecordRow.dataset_pk) == dataset_pk)
    rows = session.scalars(statement.order_by(col(ImportRecordRow.pk)))
    return [ImportRecord(pk=row.pk, **{name: getattr(row, name) for name in _COLUMNS}) for row in rows]
