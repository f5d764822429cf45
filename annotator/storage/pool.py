"""Adds pairs and their provenance to a dataset's pool. The one place where pairs come into being."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.pairs import pair_key
from annotator.storage.bulk import add_rows
from annotator.storage.tables import PairRow, ProvenanceRow


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
        (candidate.query_pk, candidate.document_pk): {
            "dataset_pk": dataset_pk,
            "query_pk": candidate.query_pk,
            "document_pk": candidate.document_pk,
            "key": pair_key(dataset, candidate.query_id, candidate.doc_id),
            "judged": 0,
            "created_at": now,
        }
        for candidate in candidates
        if (candidate.query_pk, candidate.document_pk) not in pairs
    }
    add_rows(session, PairRow, list(new.values()))
    if new:
        pairs = list_pair_pks(session, dataset_pk, queries)
    return PoolGrowth(len(new), _add_provenance(session, dataset_pk, pairs, candidates))


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
