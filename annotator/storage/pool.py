"""Adds pairs and their provenance to a dataset's pool. The one place where pairs come into being."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.storage.bulk import add_rows, split
from annotator.storage.missing_judgments import count_queries, want
from annotator.storage.pairs import pair_key
from annotator.storage.tables import PairRow, ProvenanceRow, RemapRow

CHUNK_OF_KEYS = 1_000


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document that `system` proposes for a query, with everything the system said about it."""

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
    """How many pairs and provenance lines are new; what was there already is not counted."""

    pairs: int
    provenance: int


def add_candidates(
    session: Session, dataset_pk: int, dataset: str, candidates: Sequence[Candidate], *, now: datetime
) -> PoolGrowth:
    """Make a pair for every candidate that has none, and note who proposed it. Doing it twice changes nothing.

    Call it inside a write transaction that holds the dataset's lock.
    """
    queries = {candidate.query_pk for candidate in candidates}
    pairs = list_pair_pks(session, dataset_pk, queries)
    new = {
        (candidate.query_pk, candidate.document_pk): (candidate.query_id, candidate.doc_id)
        for candidate in candidates
        if (candidate.query_pk, candidate.document_pk) not in pairs
    }
    add_pairs(session, dataset_pk, dataset, new, now=now)
    if new:
        pairs = list_pair_pks(session, dataset_pk, queries)
    return PoolGrowth(len(new), _add_provenance(session, dataset_pk, pairs, candidates))


def add_missing(
    session: Session,
    dataset_pk: int,
    dataset: str,
    names: Mapping[tuple[int, int], tuple[str, str]],
    *,
    system: str,
    now: datetime,
) -> tuple[dict[tuple[int, int], int], int]:
    """Make a pair, with the provenance `system`, for each of these that is not in the pool; those there are keep
    theirs. `names`: (query_id, doc_id) by (query_pk, document_pk). Returns every pair_pk, and how many are new.
    """
    queries = {query_pk for query_pk, _ in names}
    pairs = list_pair_pks(session, dataset_pk, queries)
    missing = [
        Candidate(query_pk, query_id, document_pk, doc_id, system)
        for (query_pk, document_pk), (query_id, doc_id) in names.items()
        if (query_pk, document_pk) not in pairs
    ]
    if missing:
        add_candidates(session, dataset_pk, dataset, missing, now=now)
        pairs = list_pair_pks(session, dataset_pk, queries)
    return pairs, len(missing)


def add_pairs(
    session: Session,
    dataset_pk: int,
    dataset: str,
    names: Mapping[tuple[int, int], tuple[str, str]],
    *,
    now: datetime,
    retired_at: datetime | None = None,
) -> None:
    """Insert pairs that are not there; `names`: (query_id, doc_id) by (query_pk, document_pk)."""
    keys = _make_keys(session, dataset_pk, dataset, list(names.values()))
    wanted = want(
        session, dataset_pk, [(query_pk, key) for (query_pk, _), key in zip(names, keys, strict=True)]
    )
    rows = [
        {
            "dataset_pk": dataset_pk,
            "query_pk": query_pk,
            "document_pk": document_pk,
            "key": key,
            "judged": 0,
            "kept": False,
            "wanted": number,
            "lacking": number if retired_at is None else 0,
            "retired_at": retired_at,
            "created_at": now,
        }
        for (query_pk, document_pk), key, number in zip(names, keys, wanted, strict=True)
    ]
    add_rows(session, PairRow, rows)
    count_queries(session, {query_pk for query_pk, _ in names})


def _make_keys(
    session: Session, dataset_pk: int, dataset: str, names: Sequence[tuple[str, str]]
) -> list[str]:
    """A key for each (query_id, doc_id). A pair keeps its key when its document gets another id, so where documents
    were remapped a key may be taken: then the next in a row of keys that no other name leads to."""
    keys = [pair_key(dataset, query_id, doc_id) for query_id, doc_id in names]
    remapped = select(col(RemapRow.pk)).where(col(RemapRow.dataset_pk) == dataset_pk).limit(1)
    if not keys or session.scalar(remapped) is None:
        return keys
    attempt, doubtful = 1, list(range(len(keys)))
    while doubtful:
        taken: set[str] = set()
        for chunk in split([keys[place] for place in doubtful], CHUNK_OF_KEYS):
            taken.update(session.scalars(select(col(PairRow.key)).where(col(PairRow.key).in_(chunk))))
        doubtful = [place for place in doubtful if keys[place] in taken]
        attempt += 1
        for place in doubtful:  # no id holds a NUL
            query_id, doc_id = names[place]
            keys[place] = pair_key(dataset, query_id, f"{doc_id}\0{attempt}")
    return keys


def select_documents_left() -> Select[Any]:
    """The keys of the documents whose ids have gone to others: their pairs have left the pool."""
    return select(col(PairRow.document_pk)).where(col(PairRow.retired_at).is_not(None))


def list_pair_pks(session: Session, dataset_pk: int, queries: set[int]) -> dict[tuple[int, int], int]:
    """The pairs of these queries, and perhaps of others: pair_pk by (query_pk, document_pk)."""
    statement = select(col(PairRow.query_pk), col(PairRow.document_pk), col(PairRow.pk))
    statement = statement.where(col(PairRow.dataset_pk) == dataset_pk)
    if len(queries) <= 500:
        statement = statement.where(col(PairRow.query_pk).in_(queries))
    return {(query, document): pk for query, document, pk in session.execute(statement) if pk is not None}


def _add_provenance(
    session: Session, dataset_pk: int, pairs: Mapping[tuple[int, int], int], candidates: Sequence[Candidate]
) -> int:
    systems = {candidate.system for candidate in candidates}
    statement = (
        select(col(ProvenanceRow.pair_pk), col(ProvenanceRow.system))
        .join(PairRow, col(PairRow.pk) == col(ProvenanceRow.pair_pk))
        .where(col(PairRow.dataset_pk) == dataset_pk, col(ProvenanceRow.system).in_(systems))
    )
    known = {(pair_pk, system) for pair_pk, system in session.execute(statement)}
    new: dict[tuple[int, str], dict[str, Any]] = {}
    for candidate in candidates:
        place = (pairs[candidate.query_pk, candidate.document_pk], candidate.system)
        if place not in known:
            new.setdefault(
                place,
                {
                    "pair_pk": place[0],
                    "system": candidate.system,
                    "rank": candidate.rank,
                    "score": candidate.score,
                    "signals": dict(candidate.signals),
                },
            )
    add_rows(session, ProvenanceRow, list(new.values()))
    return len(new)
