"""Read and write a dataset's queries and documents in bulk, for an import."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import and_, func, select, update
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.ground_truth import QUERY_FIELDS, Document, Query
from annotator.importing.report import NewIds
from annotator.importing.texts.law_relations import LawDocument
from annotator.importing.texts.text_plan import DocumentKey, QueryText, StoredDocument, StoredQuery
from annotator.storage.judgments.missing_judgments import derive_work
from annotator.storage.lookup import key_of
from annotator.storage.pairs.pool import are_in_use
from annotator.storage.sql import (
    add_rows,
    add_tuples,
    fetch_tuples,
    split_into_chunks,
    write_json,
    write_time,
)
from annotator.storage.tables.adjudication import CurrentAdjudicationRow
from annotator.storage.tables.central import (
    CurrentJudgmentRow,
    DatasetRow,
    DocumentRow,
    DocumentTextRow,
    PairRow,
    QueryRow,
    RemapRow,
)

CHUNK_OF_KEYS = 1_000


# Queries ---------------------------------------------------------------------------------------------


def list_query_texts(session: Session, dataset_pk: int) -> dict[str, QueryText]:
    """Return {query_id: primary key and text} of every query."""
    statement = select(col(QueryRow.query_id), col(QueryRow.pk), col(QueryRow.text))
    rows = session.execute(statement.where(col(QueryRow.dataset_pk) == dataset_pk))
    return {query_id: QueryText(key_of(pk), text) for query_id, pk, text in rows}


def list_stored_queries(session: Session, dataset_pk: int) -> dict[str, StoredQuery]:
    """Return every query by query_id."""
    judged = _list_judged_queries(session, dataset_pk)
    rows = session.scalars(select(QueryRow).where(col(QueryRow.dataset_pk) == dataset_pk))
    return {row.query_id: StoredQuery(key_of(row.pk), _to_query(row), row.pk in judged) for row in rows}


def add_queries(session: Session, dataset_pk: int, queries: Sequence[Query]) -> None:
    """Insert queries after the existing ones, in this order."""
    statement = select(func.max(col(QueryRow.position))).where(col(QueryRow.dataset_pk) == dataset_pk)
    last = session.scalar(statement)
    start = 0 if last is None else last + 1
    rows = [
        {"dataset_pk": dataset_pk, "position": position, "query_id": query.query_id, **_to_columns(query)}
        for position, query in enumerate(queries, start)
    ]
    add_rows(session, QueryRow, rows)


def change_queries(session: Session, dataset_pk: int, queries: Sequence[tuple[int, Query]]) -> None:
    """Set text, fields and metadata of queries by primary key. Recounts missing judgments if the overlap depends on fields."""
    for chunk in split_into_chunks(queries, CHUNK_OF_KEYS):
        session.execute(update(QueryRow), [{"pk": pk, **_to_columns(query)} for pk, query in chunk])
    if queries and session.get_one(DatasetRow, dataset_pk).overlap_rules:
        derive_work(session, dataset_pk)


def _to_query(row: QueryRow) -> Query:
    fields = {name: getattr(row, name) for name in QUERY_FIELDS}
    return Query(row.query_id, row.text, **fields, metadata=row.extra)


def _to_columns(query: Query) -> dict[str, Any]:
    fields = {name: getattr(query, name) for name in QUERY_FIELDS}
    return {"text": query.text, **fields, "extra": dict(query.metadata)}


def _list_judged_queries(session: Session, dataset_pk: int) -> set[int]:
    pairs = select(col(PairRow.query_pk)).where(col(PairRow.dataset_pk) == dataset_pk).distinct()
    judged = pairs.join(CurrentJudgmentRow, col(CurrentJudgmentRow.pair_pk) == col(PairRow.pk))
    decided = pairs.join(CurrentAdjudicationRow, col(CurrentAdjudicationRow.pair_pk) == col(PairRow.pk))
    return set(session.scalars(judged)) | set(session.scalars(decided))


# Documents -------------------------------------------------------------------------------------------


def list_document_keys(session: Session, dataset_pk: int) -> dict[str, DocumentKey]:
    """Return {doc_id: key} of every document."""
    statement = select(col(DocumentRow.doc_id), col(DocumentRow.pk), col(DocumentRow.text_sha256))
    rows = fetch_tuples(session, statement.where(col(DocumentRow.dataset_pk) == dataset_pk))
    make = tuple.__new__  # faster than DocumentKey(…), for a million rows
    return {doc_id: make(DocumentKey, (pk, sha256)) for doc_id, pk, sha256 in rows}


def count_documents(session: Session, dataset_pk: int, doc_ids: Sequence[str]) -> int:
    """Count the ids that are documents of the dataset."""
    statement = select(func.count()).where(
        col(DocumentRow.dataset_pk) == dataset_pk, col(DocumentRow.doc_id).in_(doc_ids)
    )
    return session.scalar(statement) or 0


def list_stored_documents(session: Session, dataset_pk: int) -> dict[str, StoredDocument]:
    """Return every document by doc_id."""
    statement = select(
        DocumentRow.__table__.c["pk", "doc_id", "title", "url", "media_type", "extra", "text_sha256"]  # type: ignore[attr-defined]
    )
    rows = session.execute(statement.where(col(DocumentRow.dataset_pk) == dataset_pk))
    return {
        doc_id: StoredDocument(pk, Document(doc_id, title, "", url, media_type, extra), sha256)
        for pk, doc_id, title, url, media_type, extra, sha256 in rows
    }


def add_documents(
    session: Session, dataset_pk: int, documents: Sequence[tuple[Document, str | None]], *, now: datetime
) -> None:
    """Insert documents with their texts. Each comes with its text's SHA-256; None if it has only an id."""
    if not documents:
        return
    _add_document_rows(session, dataset_pk, documents)
    statement = select(col(DocumentRow.doc_id), col(DocumentRow.pk))
    pks = dict(fetch_tuples(session, statement.where(col(DocumentRow.dataset_pk) == dataset_pk)))
    imported_at = write_time(session, now)
    texts = [
        (pks[document.doc_id], sha256, document.text, imported_at)
        for document, sha256 in documents
        if sha256 is not None
    ]
    add_tuples(session, DocumentTextRow, ("document_pk", "sha256", "text", "imported_at"), texts)


_DOCUMENT_COLUMNS = ("dataset_pk", "doc_id", "title", "url", "media_type", "text_sha256", "extra")


def _add_document_rows(
    session: Session, dataset_pk: int, documents: Sequence[tuple[Document, str | None]]
) -> None:
    rows = [
        (
            dataset_pk,
            document.doc_id,
            document.title,
            document.url,
            document.media_type,
            sha256,
            write_json(document.metadata),
        )
        for document, sha256 in documents
    ]
    add_tuples(session, DocumentRow, _DOCUMENT_COLUMNS, rows)


def change_documents(
    session: Session, documents: Sequence[tuple[int, Document, str | None]], *, now: datetime
) -> None:
    """Set all columns except the id of documents, by primary key. Earlier texts are kept."""
    for chunk in split_into_chunks(documents, CHUNK_OF_KEYS):
        rows = [{"pk": pk, **_to_document_columns(document, sha256)} for pk, document, sha256 in chunk]
        session.execute(update(DocumentRow), rows)
        statement = select(col(DocumentTextRow.document_pk), col(DocumentTextRow.sha256))
        statement = statement.where(col(DocumentTextRow.document_pk).in_([pk for pk, _, _ in chunk]))
        stored_texts = {(pk, sha256) for pk, sha256 in session.execute(statement)}
        texts = [
            {"document_pk": pk, "sha256": sha256, "text": document.text, "imported_at": now}
            for pk, document, sha256 in chunk
            if sha256 is not None and (pk, sha256) not in stored_texts
        ]
        add_rows(session, DocumentTextRow, texts)


def add_documents_by_id(
    session: Session, dataset_pk: int, doc_ids: Iterable[str]
) -> tuple[Mapping[str, DocumentKey], NewIds]:
    """Insert missing documents with only an id. Returns {doc_id: key} of all, and the inserted ids."""
    keys = list_document_keys(session, dataset_pk)
    named = dict.fromkeys(doc_ids)
    missing = [doc_id for doc_id in named if doc_id not in keys]
    replaced = {old: tuple(news) for old, news in list_replaced(session, dataset_pk, named).items()}
    new = replace(NewIds.of(missing, keys), replaced=replaced)
    _add_document_rows(session, dataset_pk, [(Document(doc_id), None) for doc_id in missing])
    return (list_document_keys(session, dataset_pk) if missing else keys), new


def list_replaced(
    session: Session, dataset_pk: int, doc_ids: Container[str], *, since: datetime | None = None
) -> dict[str, list[str]]:
    """Return {id: the new ids} of the given ids that a remap replaced, at `since` or later."""
    statement = select(col(RemapRow.old_doc_id), col(RemapRow.new_doc_id)).order_by(col(RemapRow.pk))
    statement = statement.where(col(RemapRow.dataset_pk) == dataset_pk)
    if since is not None:
        statement = statement.where(col(RemapRow.remapped_at) >= since)
    replaced: dict[str, list[str]] = {}
    for old, new in session.execute(statement):
        if old in doc_ids:
            replaced.setdefault(old, []).append(new)
    return {old: news for old, news in replaced.items() if set(news) != {old}}


def _to_document_columns(document: Document, sha256: str | None) -> dict[str, Any]:
    return {
        "title": document.title,
        "url": document.url,
        "media_type": document.media_type,
        "text_sha256": sha256,
        "extra": dict(document.metadata),
    }


def list_law_documents(session: Session, dataset_pk: int) -> list[LawDocument]:
    """Return the documents cut from laws, with their current texts, in import order."""
    statement = (
        select(col(DocumentRow.doc_id), col(DocumentRow.extra), col(DocumentTextRow.text))
        .join(
            DocumentTextRow,
            and_(
                col(DocumentTextRow.document_pk) == col(DocumentRow.pk),
                col(DocumentTextRow.sha256) == col(DocumentRow.text_sha256),
            ),
        )
        .where(*are_in_use(dataset_pk))
        .order_by(col(DocumentRow.pk))
    )
    return [
        LawDocument(
            doc_id,
            str(extra["law"]),
            str(extra.get("law_type") or ""),
            str(extra["article"]),
            str(extra.get("paragraph") or ""),
            text,
        )
        for doc_id, extra, text in session.execute(statement)
        if extra.get("law") and extra.get("article")
    ]
