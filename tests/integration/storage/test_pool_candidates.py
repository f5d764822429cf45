"""Candidates join the pool: one pair for a query and a document, and one row of provenance for a pair and a system."""

from datetime import UTC, datetime

from sqlalchemy import select
from sqlmodel import col

from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.pairs.pool import PoolCandidate, PoolGrowth, add_candidates
from annotator.storage.tables.central import DocumentRow, PairRow, ProvenanceRow, QueryRow

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
QUERY = "Q1"


def add(database: Database, *proposed: tuple[str, str, int]) -> PoolGrowth:
    """Add (doc_id, system, rank) of each candidate."""
    with database.write() as session:
        pk = key_of(find_dataset(session, "d").pk)
        query_pk = session.scalars(select(col(QueryRow.pk))).one()
        documents: dict[str, int] = dict(
            session.execute(select(col(DocumentRow.doc_id), col(DocumentRow.pk))).all()
        )  # type: ignore[arg-type]
        candidates = [
            PoolCandidate(query_pk, QUERY, documents[doc_id], doc_id, system, rank, signals={"from": system})
            for doc_id, system, rank in proposed
        ]
        return add_candidates(session, pk, "d", candidates, now=NOW)


def test_a_pair_is_stored_once_and_its_provenance_once_for_each_system(database: Database) -> None:
    create_dataset(database, OPERATOR, "d", now=NOW)
    with database.write() as session:
        pk = key_of(find_dataset(session, "d").pk)
        session.add(
            QueryRow.model_validate({"dataset_pk": pk, "position": 0, "query_id": QUERY, "text": "q"})
        )
        for doc_id in ("a", "b", "c"):
            values = {"dataset_pk": pk, "doc_id": doc_id, "media_type": "text/plain"}
            session.add(DocumentRow.model_validate(values))
    assert add(database, ("a", "bm25", 1)) == PoolGrowth(pairs=1, provenance=1)
    assert add(database, ("a", "bm25", 9), ("a", "vector", 1)) == PoolGrowth(pairs=0, provenance=1)
    assert add(database, ("b", "bm25", 2), ("a", "bm25", 9), ("b", "bm25", 8)) == PoolGrowth(
        pairs=1, provenance=1
    )
    assert add(database, ("c", "bm25", 3), ("c", "vector", 2), ("c", "bm25", 7)) == PoolGrowth(
        pairs=1, provenance=2
    )
    assert add(database, ("c", "bm25", 3), ("a", "bm25", 3)) == PoolGrowth(pairs=0, provenance=0)
    with database.read() as session:
        statement = (
            select(
                col(DocumentRow.doc_id),
                col(ProvenanceRow.system),
                col(ProvenanceRow.rank),
                col(ProvenanceRow.signals),
            )
            .join(PairRow, col(PairRow.pk) == col(ProvenanceRow.pair_pk))
            .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
        )
        rows = sorted(
            (doc_id, system, rank, signals["from"])
            for doc_id, system, rank, signals in session.execute(statement)
        )
    assert rows == [
        ("a", "bm25", 1, "bm25"),
        ("a", "vector", 1, "vector"),
        ("b", "bm25", 2, "bm25"),
        ("c", "bm25", 3, "bm25"),
        ("c", "vector", 2, "vector"),
    ]
