"""Read and write remapping data in bulk: documents by id, their pairs and run results.

Call every function in the transaction of `importing/remapping/remapping_service.py`. Judgments, decisions and
imported grades stay on their pair. A document that has left keeps its row; its retired pair marks it
(`storage/pairs/pool.py`).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert, select, text, update
from sqlalchemy.orm import Session
from sqlmodel import SQLModel, col

from annotator.storage.judgments.current_judgments import forget_current
from annotator.storage.lookup import key_of
from annotator.storage.pairs.disagreements import note_all_due
from annotator.storage.sql import add_rows, split_into_chunks
from annotator.storage.tables.central import (
    DatasetRow,
    DocumentRow,
    DocumentTextRow,
    PairRow,
    ProvenanceRow,
    QueryRow,
    RemapRow,
    RunEntryRow,
    RunRow,
)
from annotator.storage.tables.labeling import LeaseRow
from annotator.storage.tables.pooling import LeftOutRow
from annotator.storage.tables.releases import ReleaseQrelRow, ReleaseRow

CHUNK = 1_000
WITHOUT_RELEVANT = "queries_without_relevant"  # the requirement that lists query ids
Entry = tuple[int, int, int]  # run_pk, query_pk, document_pk
_COPY_TEXTS = text(
    "INSERT INTO document_text (document_pk, sha256, text, imported_at) "
    "SELECT :to, t.sha256, t.text, t.imported_at FROM document_text t WHERE t.document_pk = :from AND NOT EXISTS "
    "(SELECT 1 FROM document_text o WHERE o.document_pk = :to AND o.sha256 = t.sha256)"
)
_SHOW_TEXT = text(
    "UPDATE document SET text_sha256 = (SELECT f.text_sha256 FROM document f WHERE f.pk = :from), "
    "media_type = (SELECT f.media_type FROM document f WHERE f.pk = :from), "
    "title = CASE WHEN title = '' THEN (SELECT f.title FROM document f WHERE f.pk = :from) ELSE title END "
    "WHERE pk = :to AND text_sha256 IS NULL"
)
_MOVE_ENTRY = text(
    "UPDATE run_entry SET document_pk = :to "
    "WHERE run_pk = :at_run AND query_pk = :at_query AND document_pk = :at_document"
)


# Reading ---------------------------------------------------------------------------------------------


def list_document_ids(session: Session, dataset_pk: int) -> dict[str, int]:
    """Return {doc_id: key} of every document of the dataset, including ones that have left."""
    statement = select(col(DocumentRow.doc_id), col(DocumentRow.pk))
    rows = session.execute(statement.where(col(DocumentRow.dataset_pk) == dataset_pk))
    return {doc_id: key_of(pk) for doc_id, pk in rows}


def list_paired_documents(session: Session, dataset_pk: int, *, retired: bool) -> set[int]:
    """Return the documents with a pair in the pool, or those with a pair that has left it."""
    left = col(PairRow.retired_at).is_not(None) if retired else col(PairRow.retired_at).is_(None)
    statement = select(col(PairRow.document_pk)).where(col(PairRow.dataset_pk) == dataset_pk, left)
    return set(session.scalars(statement.distinct()))


def list_pairs_of(session: Session, document_pks: Collection[int]) -> list[int]:
    """Return the pairs of these documents that are in the pool."""
    pair_pks: list[int] = []
    for chunk in split_into_chunks(sorted(document_pks), CHUNK):
        statement = select(col(PairRow.pk)).where(col(PairRow.retired_at).is_(None))
        pair_pks += map(key_of, session.scalars(statement.where(col(PairRow.document_pk).in_(chunk))))
    return pair_pks


def list_pair_keys(session: Session, document_pks: Collection[int]) -> set[tuple[int, int]]:
    """Return (query_pk, document_pk) of every pair of these documents, in the pool or not."""
    pair_keys: set[tuple[int, int]] = set()
    for chunk in split_into_chunks(sorted(document_pks), CHUNK):
        statement = select(col(PairRow.query_pk), col(PairRow.document_pk))
        rows = session.execute(statement.where(col(PairRow.document_pk).in_(chunk)))
        pair_keys.update((query_pk, document_pk) for query_pk, document_pk in rows)
    return pair_keys


def list_run_entries(session: Session, dataset_pk: int) -> list[Entry]:
    """Return every result of every run, by its key."""
    statement = (
        select(col(RunEntryRow.run_pk), col(RunEntryRow.query_pk), col(RunEntryRow.document_pk))
        .join(RunRow, col(RunRow.pk) == col(RunEntryRow.run_pk))
        .where(col(RunRow.dataset_pk) == dataset_pk)
    )
    return [(run_pk, query_pk, document_pk) for run_pk, query_pk, document_pk in session.execute(statement)]


def list_batches(session: Session, dataset_pk: int) -> list[set[tuple[str, str]]]:
    """Return (old id, new id) of every remap of the dataset, latest first."""
    statement = select(col(RemapRow.remapped_at), col(RemapRow.old_doc_id), col(RemapRow.new_doc_id))
    by_time: dict[datetime, set[tuple[str, str]]] = {}
    rows = session.execute(statement.where(col(RemapRow.dataset_pk) == dataset_pk))
    for at, old, new in rows:
        by_time.setdefault(at, set()).add((old, new))
    return [by_time[at] for at in sorted(by_time, reverse=True)]


# Documents -------------------------------------------------------------------------------------------


def change_ids(session: Session, doc_ids: Mapping[int, str], taken: Collection[str]) -> None:
    """Give documents new ids, by document_pk. Works in two steps, so ids can be swapped and passed on."""
    mark = "(remapping)"
    while any(doc_id.startswith(mark) for doc_id in taken):
        mark += "'"
    _update(session, DocumentRow, [{"pk": pk, "doc_id": f"{mark}{pk}"} for pk in doc_ids])
    _update(session, DocumentRow, [{"pk": pk, "doc_id": doc_id} for pk, doc_id in doc_ids.items()])


def copy_documents(session: Session, dataset_pk: int, copies: Mapping[str, int]) -> dict[str, int]:
    """Insert a copy of the source document for each new id, including texts; return the new keys."""
    pks = sorted(set(copies.values()))
    rows: dict[int, DocumentRow] = {}
    for chunk in split_into_chunks(pks, CHUNK):
        documents = session.scalars(select(DocumentRow).where(col(DocumentRow.pk).in_(chunk)))
        rows.update((key_of(row.pk), row) for row in documents)
    values = [{**rows[pk].model_dump(exclude={"pk"}), "doc_id": doc_id} for doc_id, pk in copies.items()]
    add_rows(session, DocumentRow, values)
    made = list_document_ids(session, dataset_pk) if copies else {}
    carry_texts(session, [(pk, made[doc_id]) for doc_id, pk in copies.items()])
    return {doc_id: made[doc_id] for doc_id in copies}


def carry_texts(session: Session, moves: Sequence[tuple[int, int]]) -> None:
    """Copy the texts of each pair's first document to its second; show them if the second has none."""
    values = [{"from": source, "to": target} for source, target in moves]
    if values:
        session.flush()
        session.connection().execute(_COPY_TEXTS, values)
        session.connection().execute(_SHOW_TEXT, values)


def drop_unused(session: Session, document_pks: Collection[int], in_use: Collection[int]) -> list[int]:
    """Delete the documents not `in_use`, with the records of rounds that left them out; return the others."""
    unused = sorted(set(document_pks) - set(in_use))
    for chunk in split_into_chunks(unused, CHUNK):
        was_kept = col(LeftOutRow.kept_document_pk).in_(chunk)
        _quietly(session, update(LeftOutRow).where(was_kept).values(kept_document_pk=None))
        _quietly(session, delete(LeftOutRow).where(col(LeftOutRow.document_pk).in_(chunk)))
        for row, key in ((DocumentTextRow, DocumentTextRow.document_pk), (DocumentRow, DocumentRow.pk)):
            _quietly(session, delete(row).where(col(key).in_(chunk)))
    return sorted(set(document_pks) & set(in_use))


def list_released_queries(session: Session, dataset_pk: int) -> set[str]:
    """Return the ids of the queries in any release of the dataset."""
    statement = select(col(ReleaseQrelRow.query_id)).join(
        ReleaseRow, col(ReleaseRow.pk) == col(ReleaseQrelRow.release_pk)
    )
    return set(session.scalars(statement.where(col(ReleaseRow.dataset_pk) == dataset_pk).distinct()))


def rename_queries(
    session: Session, dataset_pk: int, new_ids: Mapping[int, str], renamed: Mapping[str, str]
) -> None:
    """Give queries new ids, by query_pk, also in runs and requirements. `renamed`: {old id: new id}."""
    _update(session, QueryRow, [{"pk": pk, "query_id": query_id} for pk, query_id in new_ids.items()])
    for run in session.scalars(select(RunRow).where(col(RunRow.dataset_pk) == dataset_pk)):
        if run.query_signals.keys() & renamed.keys():
            run.query_signals = {renamed.get(name, name): value for name, value in run.query_signals.items()}
    dataset = session.get_one(DatasetRow, dataset_pk)
    listed = (dataset.requirements or {}).get(WITHOUT_RELEVANT)
    if isinstance(listed, list):
        dataset.requirements = {
            **(dataset.requirements or {}),
            WITHOUT_RELEVANT: [renamed.get(query_id, query_id) for query_id in listed],
        }
    session.flush()


# Pairs and runs --------------------------------------------------------------------------------------


def retire_pairs(session: Session, dataset_pk: int, pair_pks: Sequence[int], *, now: datetime) -> None:
    """Take pairs out of the pool. Their judgments stay on record."""
    for chunk in split_into_chunks(pair_pks, CHUNK):
        _quietly(session, update(PairRow).where(col(PairRow.pk).in_(chunk)).values(retired_at=now))
        running = (col(LeaseRow.pair_pk).in_(chunk), col(LeaseRow.expires_at) > now)
        _quietly(session, update(LeaseRow).where(*running).values(expires_at=now))
    forget_current(session, dataset_pk, pair_pks)


def move_pairs(session: Session, moves: Mapping[int, int]) -> None:
    """Put pairs on other documents: {pair_pk: document_pk}."""
    _update(session, PairRow, [{"pk": pk, "document_pk": document_pk} for pk, document_pk in moves.items()])


def copy_provenance(session: Session, merged_pairs: Iterable[tuple[int, int]]) -> None:
    """Copy the provenance of the first of two pairs to the second, except for systems that proposed both."""
    onto = dict(merged_pairs)
    systems: set[tuple[int, str]] = set()
    rows: list[dict[str, Any]] = []
    for chunk in split_into_chunks(sorted({*onto, *onto.values()}), CHUNK):
        provenances = session.scalars(select(ProvenanceRow).where(col(ProvenanceRow.pair_pk).in_(chunk)))
        for row in provenances:
            systems.add((row.pair_pk, row.system))
            if row.pair_pk in onto:
                rows.append({**row.model_dump(), "pair_pk": onto[row.pair_pk]})
    add_rows(session, ProvenanceRow, [row for row in rows if (row["pair_pk"], row["system"]) not in systems])


def carry_left_out(session: Session, moves: Mapping[int, int]) -> None:
    """Move records of rounds that left out or kept a document to the new one. Of two such records one stays."""
    for chunk in split_into_chunks(sorted({*moves, *moves.values()}), CHUNK):
        rows = session.scalars(select(LeftOutRow).where(col(LeftOutRow.kept_document_pk).in_(chunk))).all()
        for row in rows:
            row.kept_document_pk = moves.get(row.kept_document_pk or 0, row.kept_document_pk)
    session.flush()
    columns = (col(LeftOutRow.round_pk), col(LeftOutRow.query_pk), col(LeftOutRow.document_pk))
    there: set[tuple[int, int, int]] = set()
    for chunk in split_into_chunks(sorted({*moves, *moves.values()}), CHUNK):
        listed = session.execute(select(*columns).where(columns[2].in_(chunk)))
        there.update((round_pk, query_pk, document_pk) for round_pk, query_pk, document_pk in listed)
    for round_pk, query_pk, document_pk in sorted(there):
        target = (round_pk, query_pk, moves.get(document_pk, document_pk))
        if target not in there:
            there.add(target)
            is_row = (columns[0] == round_pk, columns[1] == query_pk, columns[2] == document_pk)
            _quietly(session, update(LeftOutRow).where(*is_row).values(document_pk=target[2]))
    stands_for_itself = col(LeftOutRow.kept_document_pk) == col(LeftOutRow.document_pk)
    _quietly(session, delete(LeftOutRow).where(stands_for_itself))


def move_run_entries(session: Session, entries: Sequence[Entry], moves: Mapping[int, int]) -> set[Entry]:
    """Move run results to the new document, unless the run already has it; return the moved ones."""
    there = set(entries)
    moved = {
        (run_pk, query_pk, document_pk)
        for run_pk, query_pk, document_pk in entries
        if document_pk in moves and (run_pk, query_pk, moves[document_pk]) not in there
    }
    values = [
        {"at_run": run_pk, "at_query": query_pk, "at_document": document_pk, "to": moves[document_pk]}
        for run_pk, query_pk, document_pk in sorted(moved)
    ]
    if values:
        session.flush()
        session.connection().execute(_MOVE_ENTRY, values)
    return moved


def add_remaps(
    session: Session, dataset_pk: int, links: Iterable[tuple[str, str, str]], *, now: datetime
) -> None:
    """Record permanently that documents got new ids: (old id, new id, kind)."""
    rows = [
        {"dataset_pk": dataset_pk, "old_doc_id": old, "new_doc_id": new, "kind": kind, "remapped_at": now}
        for old, new, kind in links
    ]
    for chunk in split_into_chunks(rows, CHUNK):
        session.execute(insert(RemapRow), list(chunk))
    note_all_due(session, dataset_pk)


def _update(session: Session, row: type[SQLModel], values: Sequence[Mapping[str, Any]]) -> None:
    for chunk in split_into_chunks(values, CHUNK):
        session.execute(update(row), list(chunk))


def _quietly(session: Session, statement: Any) -> None:
    """Execute a statement without updating objects in the session."""
    session.execute(statement.execution_options(synchronize_session=False))
