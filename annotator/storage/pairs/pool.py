"""Add pairs and their provenance to the pool, and read the sources of candidates.

Only this file creates pairs. Reads queries, the first results of runs, document texts and who proposed the
existing pairs, with one statement each. A pair's key is opaque: it says nothing about rank, score or system.

Store the leads' orders of a query's documents, and read the latest one. A stored order never changes.
"""

import hashlib
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from json.encoder import encode_basestring
from typing import Any

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.storage.judgments.missing_judgments import count_queries, want
from annotator.storage.lookup import key_of
from annotator.storage.pairs import document_text
from annotator.storage.sql import (
    add_rows,
    add_tuples,
    fetch,
    fetch_tuples,
    prepare_sql,
    read_json,
    split_into_chunks,
    write_json,
    write_time,
)
from annotator.storage.tables.adjudication import DocumentOrderRow
from annotator.storage.tables.central import (
    DocumentRow,
    DocumentTextRow,
    PairRow,
    ProvenanceRow,
)


def pair_key(dataset: str, query_id: str, doc_id: str) -> str:
    """Return 24 hexadecimal digits (96 bits) of SHA-256 over the three names; the same on every machine.

    The hashed text is a JSON list of three strings. It is built by hand, because a pool has a million pairs.
    """
    content = f"[{encode_basestring(dataset)}, {encode_basestring(query_id)}, {encode_basestring(doc_id)}]"
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:24]


CHUNK_OF_KEYS = 1_000
CHUNK_OF_NAMES = 400
_PAIR_COLUMNS = (
    "dataset_pk",
    "query_pk",
    "document_pk",
    "key",
    "judged",
    "kept",
    "wanted",
    "lacking",
    "retired_at",
    "created_at",
)


@dataclass(frozen=True, slots=True)
class PoolCandidate:
    """A document that a system proposes for a query, with everything that the system says about it."""

    query_pk: int
    query_id: str
    document_pk: int
    doc_id: str
    system: str
    rank: int | None = None
    score: float | None = None
    signals: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PoolGrowth:
    """The number of new pairs and provenance rows."""

    pairs: int
    provenance: int


def add_candidates(
    session: Session, dataset_pk: int, dataset: str, candidates: Sequence[PoolCandidate], *, now: datetime
) -> PoolGrowth:
    """Create missing pairs for the candidates, and store which system proposed each.

    Repeating changes nothing.

    Call it inside a write transaction that holds the dataset's lock.
    """
    queries = {candidate.query_pk for candidate in candidates}
    pairs = list_pair_pks(session, dataset_pk, queries)
    keys = [(candidate.query_pk, candidate.document_pk) for candidate in candidates]
    new = {
        key: (candidate.query_id, candidate.doc_id)
        for key, candidate in zip(keys, candidates, strict=True)
        if key not in pairs
    }
    stored: set[tuple[int, str]] = set()
    if len(new) < len(candidates):  # a new pair has no provenance yet
        systems = {candidate.system for candidate in candidates}
        stored = _list_provenance_keys(session, dataset_pk, systems)
    if new:
        add_pairs(session, dataset_pk, dataset, new, now=now)
        pairs = list_pair_pks(session, dataset_pk, queries)
    pair_pks = [pairs[key] for key in keys]
    return PoolGrowth(len(new), _add_provenance(session, pair_pks, candidates, stored))


def add_missing(
    session: Session,
    dataset_pk: int,
    dataset: str,
    names: Mapping[tuple[int, int], tuple[str, str]],
    *,
    system: str,
    now: datetime,
    kept: bool = False,
) -> tuple[dict[tuple[int, int], int], set[tuple[int, int]]]:
    """Create a pair, with the provenance `system`, for each name that has none in the pool.

    `names`: (query_id, doc_id) by (query_pk, document_pk). `kept`: the caller imports a grade to keep for
    each new pair. Returns pair_pk by (query_pk, document_pk), and the new pair_pks.
    """
    queries = {query_pk for query_pk, _ in names}
    pairs = list_pair_pks(session, dataset_pk, queries)
    missing = {key: named for key, named in names.items() if key not in pairs}
    if missing:
        add_pairs(session, dataset_pk, dataset, missing, now=now, kept=kept)
        pairs = list_pair_pks(session, dataset_pk, queries)
        columns = ("pair_pk", "system", "rank", "score", "signals")
        rows = [(pairs[key], system, None, None, "{}") for key in missing]
        add_tuples(session, ProvenanceRow, columns, rows)
    return pairs, set(missing)


def add_pairs(
    session: Session,
    dataset_pk: int,
    dataset: str,
    names: Mapping[tuple[int, int], tuple[str, str]],
    *,
    now: datetime,
    retired_at: datetime | None = None,
    kept: bool = False,
) -> None:
    """Insert new pairs. `names`: (query_id, doc_id) by (query_pk, document_pk). `kept`: see `add_missing`."""
    keys = _make_keys(session, dataset, list(names.values()))
    wanted = want(
        session, dataset_pk, [(query_pk, key) for (query_pk, _), key in zip(names, keys, strict=True)]
    )
    lacks_nothing = kept or retired_at is not None
    created, retired = (None if at is None else write_time(session, at) for at in (now, retired_at))
    rows = [
        (
            dataset_pk,
            query_pk,
            document_pk,
            key,
            0,
            kept,
            number,
            0 if lacks_nothing else number,
            retired,
            created,
        )
        for (query_pk, document_pk), key, number in zip(names, keys, wanted, strict=True)
    ]
    add_tuples(session, PairRow, _PAIR_COLUMNS, rows)
    count_queries(session, {query_pk for query_pk, _ in names})


def _make_keys(session: Session, dataset: str, names: Sequence[tuple[str, str]]) -> list[str]:
    """Return a new key for each (query_id, doc_id).

    A pair keeps its key when its query or document gets another id, so a key may be taken. Then the next free
    key of a series is used that no other name produces.
    """
    keys = [pair_key(dataset, query_id, doc_id) for query_id, doc_id in names]
    attempt, doubtful = 1, list(range(len(keys)))
    while doubtful:
        taken: set[str] = set()
        for chunk in split_into_chunks([keys[index] for index in doubtful], CHUNK_OF_KEYS):
            taken.update(session.scalars(select(col(PairRow.key)).where(col(PairRow.key).in_(chunk))))
        doubtful = [index for index in doubtful if keys[index] in taken]
        attempt += 1
        for index in doubtful:  # no id holds a NUL
            query_id, doc_id = names[index]
            keys[index] = pair_key(dataset, query_id, f"{doc_id}\0{attempt}")
    return keys


def are_in_use(dataset_pk: int) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions for the documents of a dataset, without those that were replaced by others.

    The pairs of a replaced document have left the pool.
    """
    replaced = select(col(PairRow.document_pk)).where(col(PairRow.retired_at).is_not(None))
    return col(DocumentRow.dataset_pk) == dataset_pk, col(DocumentRow.pk).not_in(replaced)


def list_pair_pks(session: Session, dataset_pk: int, queries: set[int]) -> dict[tuple[int, int], int]:
    """Return pair_pk by (query_pk, document_pk) of these queries, and perhaps of others."""
    statement = select(col(PairRow.query_pk), col(PairRow.document_pk), col(PairRow.pk))
    statement = statement.where(col(PairRow.dataset_pk) == dataset_pk)
    if len(queries) <= 500:
        statement = statement.where(col(PairRow.query_pk).in_(queries))
    return {(query, document): pk for query, document, pk in fetch_tuples(session, statement)}


def _list_provenance_keys(session: Session, dataset_pk: int, systems: set[str]) -> set[tuple[int, str]]:
    statement = (
        select(col(ProvenanceRow.pair_pk), col(ProvenanceRow.system))
        .join(PairRow, col(PairRow.pk) == col(ProvenanceRow.pair_pk))
        .where(col(PairRow.dataset_pk) == dataset_pk, col(ProvenanceRow.system).in_(systems))
    )
    return set(fetch_tuples(session, statement))


def _add_provenance(
    session: Session,
    pair_pks: Sequence[int],
    candidates: Sequence[PoolCandidate],
    stored: Container[tuple[int, str]],
) -> int:
    """Store new provenance and return the number of rows. The first entry of a pair and a system counts.

    `pair_pks`: the pair of each candidate.
    """
    new: dict[tuple[int, str], tuple[Any, ...]] = {}
    for pair_pk, candidate in zip(pair_pks, candidates, strict=True):
        key = (pair_pk, candidate.system)
        if key not in new and key not in stored:
            new[key] = (*key, candidate.rank, candidate.score, write_json(candidate.signals))
    add_tuples(session, ProvenanceRow, ("pair_pk", "system", "rank", "score", "signals"), list(new.values()))
    return len(new)


@dataclass(frozen=True, slots=True)
class RetrievalQuery:
    """A query as retrieval needs it."""

    query_id: str
    text: str


@dataclass(frozen=True, slots=True)
class RetrievalDocument:
    """A document as retrieval needs it."""

    document_pk: int
    doc_id: str
    title: str
    searched: str  # title and text; doc_id and title without a text


@dataclass(frozen=True, slots=True)
class Provenance:
    """The system that put a pair into the pool, with its rank, score and further signals."""

    system: str
    rank: int | None
    score: float | None
    signals: Mapping[str, Any]


_QUERIES = prepare_sql(
    "SELECT pk, query_id, text FROM query WHERE dataset_pk = :dataset_pk ORDER BY position, pk"
)
_RUNS = prepare_sql("SELECT pk, system FROM run WHERE dataset_pk = :dataset_pk")
_CANDIDATES = """
SELECT e.query_pk, q.query_id, e.document_pk, d.doc_id, r.system, e.rank, e.score, e.signals
FROM {entries} e JOIN query q ON q.pk = e.query_pk JOIN document d ON d.pk = e.document_pk JOIN run r ON r.pk = e.run_pk
WHERE """
_OF_RUNS = (
    "run_pk IN :runs AND document_pk NOT IN (SELECT document_pk FROM pair WHERE retired_at IS NOT NULL)"
)
_PLACED = f"""(
  SELECT x.*, row_number() OVER (PARTITION BY run_pk, query_pk ORDER BY rank) AS position
  FROM run_entry x WHERE {_OF_RUNS})"""
_FIRST_RESULTS = prepare_sql(
    _CANDIDATES.format(entries=_PLACED) + "e.position <= :depth ORDER BY e.run_pk, e.query_pk, e.rank",
    lists=["runs"],
)
_NAMED_RESULTS = prepare_sql(
    _CANDIDATES.format(entries="run_entry")
    + f"e.{_OF_RUNS} AND q.query_id IN :queries AND d.doc_id IN :documents ORDER BY e.run_pk",
    lists=["runs", "queries", "documents"],
)
_PROVENANCE = prepare_sql("""
SELECT v.pair_pk, v.system, v.rank, v.score, v.signals FROM provenance v JOIN pair p ON p.pk = v.pair_pk
WHERE p.dataset_pk = :dataset_pk""")


def list_queries(session: Session, dataset_pk: int) -> dict[int, RetrievalQuery]:
    """Return the queries by query_pk, in their order."""
    session.flush()
    rows = fetch_tuples(session, _QUERIES, {"dataset_pk": dataset_pk})
    return {pk: RetrievalQuery(query_id, text) for pk, query_id, text in rows}


def list_runs(session: Session, dataset_pk: int) -> dict[int, str]:
    """Return the system of every run, by run_pk."""
    session.flush()
    return dict(fetch_tuples(session, _RUNS, {"dataset_pk": dataset_pk}))


def list_first_results(session: Session, runs: Collection[int], depth: int) -> list[PoolCandidate]:
    """Return the first `depth` results per query of each of these runs (run_pk), in order.

    The order counts, not the rank; the candidates' ranks are those of the file and start at 0 or 1.
    """
    return fetch(session, _FIRST_RESULTS, PoolCandidate, {"runs": runs, "depth": depth})


def list_run_candidates(
    session: Session, runs: Collection[int], names: Sequence[tuple[str, str]]
) -> list[PoolCandidate]:
    """Return the results of these runs (run_pk) for these documents as candidates, in order of runs.

    `names`: (query_id, doc_id).
    """
    candidates = []
    for chunk in split_into_chunks(names, CHUNK_OF_NAMES):
        wanted, (queries, documents) = set(chunk), zip(*chunk, strict=True)
        values = {"runs": runs, "queries": set(queries), "documents": set(documents)}
        found = fetch(session, _NAMED_RESULTS, PoolCandidate, values)
        candidates += [item for item in found if (item.query_id, item.doc_id) in wanted]
    return candidates


def count_documents(session: Session, dataset_pk: int) -> int:
    """Count the documents of a dataset."""
    statement = select(func.count()).select_from(DocumentRow).where(*are_in_use(dataset_pk))
    return session.scalar(statement) or 0


def read_documents(session: Session, dataset_pk: int) -> Iterator[RetrievalDocument]:
    """Yield every document with its present text, a few hundred at a time, but documents that were replaced.

    Of a text longer than RANKED_CHARACTERS the beginning.
    """
    statement = (
        select(
            col(DocumentRow.pk),
            col(DocumentRow.doc_id),
            col(DocumentRow.title),
            func.substr(col(DocumentTextRow.text), 1, document_text.RANKED_CHARACTERS),
        )
        .outerjoin(DocumentTextRow, document_text.TEXT_IS_PRESENT)
        .where(*are_in_use(dataset_pk))
        .execution_options(yield_per=500)
    )
    for pk, doc_id, title, text in session.execute(statement):
        yield RetrievalDocument(
            key_of(pk), doc_id, title, f"{title}\n{text}" if text else f"{doc_id}\n{title}"
        )


def list_titles(session: Session, dataset_pk: int) -> dict[int, str]:
    """Return the title of every document, by document_pk."""
    statement = select(col(DocumentRow.pk), col(DocumentRow.title))
    rows = session.execute(statement.where(col(DocumentRow.dataset_pk) == dataset_pk))
    return {key_of(pk): title for pk, title in rows}


def list_provenance(session: Session, dataset_pk: int) -> dict[int, list[Provenance]]:
    """Return which systems proposed each pair, by pair_pk, in the order of the systems' names."""
    by_pair: dict[int, list[Provenance]] = {}
    rows = fetch_tuples(session, _PROVENANCE, {"dataset_pk": dataset_pk})
    for pair_pk, system, rank, score, signals in rows:
        by_pair.setdefault(pair_pk, []).append(Provenance(system, rank, score, read_json(signals)))
    return {
        pair_pk: sorted(provenance, key=lambda entry: entry.system) for pair_pk, provenance in by_pair.items()
    }


QUERIES_AT_ONCE = 500


def add_orders(session: Session, lead_pk: int, orders: Mapping[int, Sequence[int]], *, now: datetime) -> None:
    """Store these orders (pair_pks, best first, by query_pk)."""
    rows = [
        {"query_pk": query_pk, "lead_pk": lead_pk, "pair_pks": list(pair_pks), "ordered_at": now}
        for query_pk, pair_pks in orders.items()
    ]
    add_rows(session, DocumentOrderRow, rows)


def list_orders(session: Session, query_pks: Sequence[int]) -> dict[int, list[int]]:
    """Return the current orders (pair_pks, best first) by query_pk; queries without one are absent."""
    orders: dict[int, list[int]] = {}
    for chunk in split_into_chunks(query_pks, QUERIES_AT_ONCE):
        statement = (
            select(col(DocumentOrderRow.query_pk), col(DocumentOrderRow.pair_pks))
            .where(col(DocumentOrderRow.query_pk).in_(chunk))
            .order_by(col(DocumentOrderRow.pk))
        )
        orders.update((query_pk, pair_pks) for query_pk, pair_pks in session.execute(statement))
    return orders


def list_query_pks_of(session: Session, pair_pks: Sequence[int]) -> dict[int, int]:
    """Return the query_pk of each of these pairs, by pair_pk."""
    query_pks: dict[int, int] = {}
    for chunk in split_into_chunks(pair_pks, QUERIES_AT_ONCE):
        rows = session.execute(
            select(col(PairRow.pk), col(PairRow.query_pk)).where(col(PairRow.pk).in_(chunk))
        )
        query_pks.update((key_of(pk), query_pk) for pk, query_pk in rows)
    return query_pks
