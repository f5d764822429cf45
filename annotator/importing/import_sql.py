"""Read and write in bulk what an import needs: queries, documents, runs, people, judgments.

Call every function inside a transaction of `importing/service.py`. Judgments are only ever added.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.ground_truth import QUERY_FIELDS, Document, Query, Run
from annotator.storage.adjudication_tables import CurrentAdjudicationRow
from annotator.storage.current_judgments import derive_current, mark_late
from annotator.storage.impact_scores import note_all_due
from annotator.storage.lookup import key_of
from annotator.storage.missing_judgments import derive_work
from annotator.storage.sql import add_rows, split_into_chunks
from annotator.storage.tables import (
    CurrentJudgmentRow,
    DatasetRow,
    DocumentRow,
    DocumentTextRow,
    ImportRecordRow,
    JudgmentRow,
    MembershipRow,
    PairRow,
    PersonRow,
    QueryRow,
    RunEntryRow,
    RunRow,
)

CHUNK_OF_KEYS = 1_000


# Queries ---------------------------------------------------------------------------------------------


def map_queries(session: Session, dataset_pk: int) -> dict[str, int]:
    """The key of every query by its query_id."""
    statement = select(col(QueryRow.query_id), col(QueryRow.pk)).where(col(QueryRow.dataset_pk) == dataset_pk)
    return {query_id: pk for query_id, pk in session.execute(statement) if pk is not None}


def list_query_texts(session: Session, dataset_pk: int) -> dict[int, tuple[str, str]]:
    """The query_id and the text of every query, by query_pk."""
    statement = select(col(QueryRow.pk), col(QueryRow.query_id), col(QueryRow.text))
    rows = session.execute(statement.where(col(QueryRow.dataset_pk) == dataset_pk))
    return {key_of(pk): (query_id, text) for pk, query_id, text in rows}


def list_queries(session: Session, dataset_pk: int) -> list[tuple[int, Query, bool]]:
    """The key of every query, the query, and whether it has a judgment or a decision."""
    judged = _list_judged_queries(session, dataset_pk)
    rows = session.scalars(select(QueryRow).where(col(QueryRow.dataset_pk) == dataset_pk))
    return [(row.pk, _query(row), row.pk in judged) for row in rows if row.pk is not None]


def add_queries(session: Session, dataset_pk: int, queries: Sequence[Query]) -> None:
    """Insert queries behind the ones there are, in this order."""
    last = select(func.max(col(QueryRow.position))).where(col(QueryRow.dataset_pk) == dataset_pk)
    found = session.scalar(last)
    start = 0 if found is None else found + 1
    rows = [
        {"dataset_pk": dataset_pk, "position": position, "query_id": query.query_id, **_columns(query)}
        for position, query in enumerate(queries, start)
    ]
    add_rows(session, QueryRow, rows)


def change_queries(session: Session, dataset_pk: int, queries: Sequence[tuple[int, Query]]) -> None:
    """Set text, fields and metadata of queries by their key. By its category a query may want other overlaps."""
    for chunk in split_into_chunks(queries, CHUNK_OF_KEYS):
        session.execute(update(QueryRow), [{"pk": pk, **_columns(query)} for pk, query in chunk])
    if queries and session.get_one(DatasetRow, dataset_pk).overlap_rules:
        derive_work(session, dataset_pk)


def _query(row: QueryRow) -> Query:
    fields = {name: getattr(row, name) for name in QUERY_FIELDS}
    return Query(row.query_id, row.text, **fields, metadata=row.extra)


def _columns(query: Query) -> dict[str, Any]:
    fields = {name: getattr(query, name) for name in QUERY_FIELDS}
    return {"text": query.text, **fields, "extra": dict(query.metadata)}


def _list_judged_queries(session: Session, dataset_pk: int) -> set[int]:
    pairs = select(col(PairRow.query_pk)).where(col(PairRow.dataset_pk) == dataset_pk).distinct()
    judged = pairs.join(CurrentJudgmentRow, col(CurrentJudgmentRow.pair_pk) == col(PairRow.pk))
    decided = pairs.join(CurrentAdjudicationRow, col(CurrentAdjudicationRow.pair_pk) == col(PairRow.pk))
    return set(session.scalars(judged)) | set(session.scalars(decided))


# Documents -------------------------------------------------------------------------------------------


def map_documents(session: Session, dataset_pk: int) -> dict[str, tuple[int, str | None]]:
    """The key and the present text's SHA-256 of every document by its doc_id."""
    statement = select(col(DocumentRow.doc_id), col(DocumentRow.pk), col(DocumentRow.text_sha256))
    found = session.execute(statement.where(col(DocumentRow.dataset_pk) == dataset_pk))
    return {doc_id: (pk, sha256) for doc_id, pk, sha256 in found if pk is not None}


def list_documents(session: Session, dataset_pk: int) -> list[tuple[int, Document, str | None]]:
    """The key of every document, the document without its text, and the SHA-256 of its present text."""
    statement = select(
        DocumentRow.__table__.c["pk", "doc_id", "title", "url", "media_type", "extra", "text_sha256"]  # type: ignore[attr-defined]
    )
    found = session.execute(statement.where(col(DocumentRow.dataset_pk) == dataset_pk))
    return [
        (pk, Document(doc_id, title, "", url, media_type, extra), sha256)
        for pk, doc_id, title, url, media_type, extra, sha256 in found
    ]


def add_documents(
    session: Session, dataset_pk: int, documents: Iterable[tuple[Document, str | None]], *, now: datetime
) -> None:
    """Insert documents, each with the SHA-256 of its text (None: known by its id only), and their texts."""
    documents = list(documents)
    rows = [
        {"dataset_pk": dataset_pk, "doc_id": document.doc_id, **_document_columns(document, sha256)}
        for document, sha256 in documents
    ]
    add_rows(session, DocumentRow, rows)
    keys = map_documents(session, dataset_pk) if rows else {}
    texts = [
        {"document_pk": keys[document.doc_id][0], "sha256": sha256, "text": document.text, "imported_at": now}
        for document, sha256 in documents
        if sha256 is not None
    ]
    add_rows(session, DocumentTextRow, texts)


def change_documents(
    session: Session, documents: Sequence[tuple[int, Document, str | None]], *, now: datetime
) -> None:
    """Set everything but the id of documents by their key, and keep their texts beside the earlier ones."""
    for chunk in split_into_chunks(documents, CHUNK_OF_KEYS):
        rows = [{"pk": pk, **_document_columns(document, sha256)} for pk, document, sha256 in chunk]
        session.execute(update(DocumentRow), rows)
        kept = select(col(DocumentTextRow.document_pk), col(DocumentTextRow.sha256))
        kept = kept.where(col(DocumentTextRow.document_pk).in_([pk for pk, _, _ in chunk]))
        known = {(pk, sha256) for pk, sha256 in session.execute(kept)}
        texts = [
            {"document_pk": pk, "sha256": sha256, "text": document.text, "imported_at": now}
            for pk, document, sha256 in chunk
            if sha256 is not None and (pk, sha256) not in known
        ]
        add_rows(session, DocumentTextRow, texts)


def add_documents_by_id(
    session: Session, dataset_pk: int, doc_ids: Iterable[str]
) -> tuple[dict[str, tuple[int, str | None]], int]:
    """All documents as `map_documents` gives them, after adding the missing ones, known by their id only; and
    how many those were."""
    known = map_documents(session, dataset_pk)
    missing = [doc_id for doc_id in dict.fromkeys(doc_ids) if doc_id not in known]
    rows = [
        {"dataset_pk": dataset_pk, "doc_id": doc_id, **_document_columns(Document(doc_id), None)}
        for doc_id in missing
    ]
    add_rows(session, DocumentRow, rows)
    return (map_documents(session, dataset_pk) if missing else known), len(missing)


def _document_columns(document: Document, sha256: str | None) -> dict[str, Any]:
    return {
        "title": document.title,
        "url": document.url,
        "media_type": document.media_type,
        "text_sha256": sha256,
        "extra": dict(document.metadata),
    }


# Runs ------------------------------------------------------------------------------------------------


class StoredRun(NamedTuple):
    """A run that is there already, the SHA-256 of its content, and that of the file it was read from last, where known."""

    pk: int
    content_sha256: str
    file_sha256: str | None


def find_run(session: Session, dataset_pk: int, system: str) -> StoredRun | None:
    """The run of a system; None when there is none."""
    statement = select(col(RunRow.pk), col(RunRow.content_sha256), col(ImportRecordRow.sha256))
    statement = statement.outerjoin(ImportRecordRow, col(ImportRecordRow.pk) == col(RunRow.import_record_pk))
    statement = statement.where(col(RunRow.dataset_pk) == dataset_pk, col(RunRow.system) == system)
    found = session.execute(statement).one_or_none()
    return None if found is None else StoredRun(key_of(found[0]), found[1], found[2])


def add_run(
    session: Session,
    dataset_pk: int,
    run: Run,
    content_sha256: str,
    *,
    queries: Mapping[str, int],
    now: datetime,
    import_record_pk: int | None = None,
) -> int:
    """Insert a run with its entries; how many documents are known, by their id only, since it came."""
    documents, by_id_only = add_documents_by_id(session, dataset_pk, (entry.doc_id for entry in run.entries))
    row = RunRow.model_validate(
        {
            "dataset_pk": dataset_pk,
            "system": run.system,
            "content_sha256": content_sha256,
            "query_signals": {query_id: dict(signals) for query_id, signals in run.query_signals.items()},
            "imported_at": now,
            "import_record_pk": import_record_pk,
        }
    )
    session.add(row)
    session.flush()
    _add_entries(session, dataset_pk, key_of(row.pk), run, queries, documents)
    return by_id_only


def count_moved(
    session: Session,
    dataset_pk: int,
    run_pk: int,
    run: Run,
    *,
    queries: Mapping[str, int],
    further: bool = False,
) -> int | None:
    """How many results of a stored run have another rank in `run`, which has the same content; with `further` it may
    have results of further queries.

    None when `run` does not name the stored results, such as after documents got other ids.
    """
    columns = select(col(RunEntryRow.query_pk), col(RunEntryRow.document_pk), col(RunEntryRow.rank))
    rows = session.execute(columns.where(col(RunEntryRow.run_pk) == run_pk))
    stored = {(query_pk, document_pk): rank for query_pk, document_pk, rank in rows}
    documents = map_documents(session, dataset_pk)
    known = {query_pk for query_pk, _ in stored}
    ranks = {
        (
            queries[entry.query_id],
            documents[entry.doc_id][0] if entry.doc_id in documents else None,
        ): entry.rank
        for entry in run.entries
        if not further or queries[entry.query_id] in known
    }
    if ranks.keys() != stored.keys():
        return None
    return sum(ranks[key] != rank for key, rank in stored.items())


def count_entries(session: Session, run_pk: int) -> int:
    """How many results a stored run has."""
    count = select(func.count()).select_from(RunEntryRow).where(col(RunEntryRow.run_pk) == run_pk)
    return session.scalar(count) or 0


def reread_run(
    session: Session,
    dataset_pk: int,
    run_pk: int,
    run: Run,
    content_sha256: str,
    *,
    queries: Mapping[str, int],
    import_record_pk: int,
) -> int:
    """Store a run anew, in another order or with the results of further queries; `count_moved` has said that the results it had are
    among these. Returns how many documents are known, by their id only, since."""
    documents, by_id_only = add_documents_by_id(session, dataset_pk, (entry.doc_id for entry in run.entries))
    session.execute(delete(RunEntryRow).where(col(RunEntryRow.run_pk) == run_pk))
    _add_entries(session, dataset_pk, run_pk, run, queries, documents)
    row = session.get_one(RunRow, run_pk)
    row.content_sha256, row.import_record_pk = content_sha256, import_record_pk
    row.query_signals = {query_id: dict(signals) for query_id, signals in run.query_signals.items()}
    session.flush()
    return by_id_only


def _add_entries(
    session: Session,
    dataset_pk: int,
    run_pk: int,
    run: Run,
    queries: Mapping[str, int],
    documents: Mapping[str, tuple[int, str | None]],
) -> None:
    rows = [
        {
            "run_pk": run_pk,
            "query_pk": queries[entry.query_id],
            "document_pk": documents[entry.doc_id][0],
            "rank": entry.rank,
            "score": entry.score,
            "signals": dict(entry.signals),
        }
        for entry in run.entries
    ]
    add_rows(session, RunEntryRow, rows)
    note_all_due(session, dataset_pk)


def find_event_ids(session: Session, event_ids: Sequence[str]) -> set[str]:
    """Which of these events are stored."""
    known: set[str] = set()
    for chunk in split_into_chunks(event_ids, CHUNK_OF_KEYS):
        statement = select(col(JudgmentRow.event_id)).where(col(JudgmentRow.event_id).in_(chunk))
        known.update(session.scalars(statement))
    return known


def find_people(session: Session, usernames: Sequence[str]) -> dict[str, tuple[int, bool]]:
    """The key of each of these people who exists, and whether they are simulated."""
    people: dict[str, tuple[int, bool]] = {}
    for chunk in split_into_chunks(usernames, CHUNK_OF_KEYS):
        statement = select(col(PersonRow.username), col(PersonRow.pk), col(PersonRow.simulated))
        found = session.execute(statement.where(col(PersonRow.username).in_(chunk)))
        people.update({name: (pk, simulated) for name, pk, simulated in found if pk is not None})
    return people


def find_namesakes(session: Session, usernames: Collection[str]) -> dict[str, str]:
    """Of these usernames that nobody has: the ones that somebody has in other case, with that person's name."""
    namesakes: dict[str, str] = {}
    for username in usernames:
        statement = select(col(PersonRow.username))
        found = session.scalar(statement.where(func.lower(col(PersonRow.username)) == username.lower()))
        if found is not None:
            namesakes[username] = found
    return namesakes


def add_annotators(
    session: Session, dataset_pk: int, usernames: Iterable[str], *, now: datetime, simulated: bool
) -> None:
    """Make people without a sign-in, annotators of this dataset."""
    for username in usernames:
        values = {"username": username, "name": username, "simulated": simulated, "created_at": now}
        person = PersonRow.model_validate(values)
        session.add(person)
        session.flush()
        role = {"person_pk": person.pk, "dataset_pk": dataset_pk, "role": "annotator"}
        session.add(MembershipRow.model_validate(role))
    session.flush()


def list_adjudicated(session: Session, dataset_pk: int) -> set[tuple[str, str]]:
    """(query_id, doc_id) of the pairs that a lead has settled."""
    statement = (
        select(col(QueryRow.query_id), col(DocumentRow.doc_id))
        .select_from(CurrentAdjudicationRow)
        .join(PairRow, col(PairRow.pk) == col(CurrentAdjudicationRow.pair_pk))
        .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
        .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
        .where(col(PairRow.dataset_pk) == dataset_pk)
    )
    return {(query_id, doc_id) for query_id, doc_id in session.execute(statement.distinct())}


def list_current_places(session: Session, pair_pks: Sequence[int]) -> set[tuple[int, int]]:
    """(pair_pk, annotator_pk) of every current judgment on these pairs."""
    places: set[tuple[int, int]] = set()
    for chunk in split_into_chunks(pair_pks, CHUNK_OF_KEYS):
        statement = select(col(CurrentJudgmentRow.pair_pk), col(CurrentJudgmentRow.annotator_pk))
        found = session.execute(statement.where(col(CurrentJudgmentRow.pair_pk).in_(chunk)))
        places.update((pair, annotator) for pair, annotator in found)
    return places


def count_revisions(session: Session, rows: Sequence[Mapping[str, Any]]) -> int:
    """Return how many of these judgments, which are not stored yet, revise an earlier one: stored, or before it here."""
    places = {(row["pair_pk"], row["annotator_pk"]) for row in rows}
    pairs = sorted({pair_pk for pair_pk, _ in places})
    return len(rows) - len(places - list_current_places(session, pairs))


def add_judgments(
    session: Session, dataset_pk: int, rows: Sequence[Mapping[str, Any]], *, import_record_pk: int
) -> None:
    """Append judgments, in this order; each row holds the columns of `judgment` but its key and its import."""
    rows = [{**row, "import_record_pk": import_record_pk} for row in rows]
    add_rows(session, JudgmentRow, mark_late(session, rows))
    derive_current(session, dataset_pk, sorted({row["pair_pk"] for row in rows}))
