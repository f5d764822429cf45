"""Adds pairs and their provenance to a dataset's pool. The one place where pairs come into being."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Table, insert, select
from sqlalchemy.orm import Session
from sqlmodel import SQLModel, col

from annotator.domain.pairs import pair_key
from annotator.storage.tables import PairRow, ProvenanceRow

CHUNK = 5_000


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
            "created_at": now,
        }
        for candidate in candidates
        if (candidate.query_pk, candidate.document_pk) not in pairs
    }
    for chunk in _chunks(list(new.values())):
        session.execute(insert(_table(PairRow)), chunk)
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
    for chunk in _chunks(list(new.values())):
        session.execute(insert(_table(ProvenanceRow)), chunk)
    return len(new)


def _table(row: type[SQLModel]) -> Table:
    """The table behind a class: inserting many rows through the class would take half as long again."""
    return SQLModel.metadata.tables[str(row.__tablename__)]


def _chunks(rows: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    for start in range(0, len(rows), CHUNK):
        yield rows[start : start + CHUNK]
