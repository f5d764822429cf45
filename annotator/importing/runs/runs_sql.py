"""Read and write runs, for an import."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.ground_truth import Run
from annotator.importing.new_ids import NewIds
from annotator.importing.texts.text_plan import QueryText
from annotator.importing.texts.texts_sql import add_documents_by_id, list_document_keys
from annotator.storage.lookup import key_of
from annotator.storage.pairs.disagreements import note_all_due
from annotator.storage.sql import add_rows
from annotator.storage.tables.central import ImportRecordRow, RunEntryRow, RunRow


class StoredRun(NamedTuple):
    """A run of the dataset."""

    pk: int
    content_sha256: str
    file_sha256: str | None  # of the file that it was last read from; None for imports without a record


def find_run(session: Session, dataset_pk: int, system: str) -> StoredRun | None:
    """Return the run of a system, if there is one."""
    statement = (
        select(col(RunRow.pk), col(RunRow.content_sha256), col(ImportRecordRow.sha256))
        .outerjoin(ImportRecordRow, col(ImportRecordRow.pk) == col(RunRow.import_record_pk))
        .where(col(RunRow.dataset_pk) == dataset_pk, col(RunRow.system) == system)
    )
    row = session.execute(statement).one_or_none()
    return None if row is None else StoredRun(key_of(row[0]), row[1], row[2])


def store_run(
    session: Session,
    dataset_pk: int,
    run_pk: int | None,
    run: Run,
    content_sha256: str,
    *,
    queries: Mapping[str, QueryText],
    now: datetime,
    import_record_pk: int,
) -> NewIds:
    """Insert a run with its results, or replace the results of the stored run `run_pk`.

    Replace one only if `count_moved_results` is not None. Returns the documents inserted with only their id.
    """
    documents, by_id_only = add_documents_by_id(session, dataset_pk, (entry.doc_id for entry in run.entries))
    values = {
        "content_sha256": content_sha256,
        "query_signals": {query_id: dict(signals) for query_id, signals in run.query_signals.items()},
        "import_record_pk": import_record_pk,
    }
    if run_pk is None:
        row = RunRow.model_validate(
            {"dataset_pk": dataset_pk, "system": run.system, "imported_at": now, **values}
        )
        session.add(row)
    else:
        session.execute(delete(RunEntryRow).where(col(RunEntryRow.run_pk) == run_pk))
        row = session.get_one(RunRow, run_pk)
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


def count_moved_results(
    session: Session,
    dataset_pk: int,
    run_pk: int,
    run: Run,
    *,
    queries: Mapping[str, QueryText],
    allow_more_queries: bool = False,
) -> int | None:
    """Count the results of a stored run that have another rank in `run`.

    With `allow_more_queries`, `run` may have results of queries that the stored run lacks. Returns None if `run` has other
    results than the stored run, for example because documents got other ids.
    """
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
