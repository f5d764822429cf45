"""What candidates are made from: queries, the first results of runs, the documents' texts; and who proposed
the pairs there are. Reads for the stage `pooling`; one query each, whatever the size.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.storage.lookup import key_of
from annotator.storage.pool import Candidate, select_documents_left
from annotator.storage.tables import (
    DocumentRow,
    DocumentTextRow,
    PairRow,
    ProvenanceRow,
    QueryRow,
    RunEntryRow,
    RunRow,
)


@dataclass(frozen=True, slots=True)
class AskedQuery:
    """A query as retrieval needs it."""

    query_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Searched:
    """A document as retrieval needs it: what is searched is title and text, without a text doc_id and title."""

    document_pk: int
    doc_id: str
    searched: str


@dataclass(frozen=True, slots=True)
class Provenance:
    """Which system put a pair into the pool; rank, score and further signals as that system gave them."""

    system: str
    rank: int | None
    score: float | None
    signals: Mapping[str, Any]


def list_queries(session: Session, dataset_pk: int) -> dict[int, AskedQuery]:
    """The queries by query_pk, in their order."""
    statement = (
        select(col(QueryRow.pk), col(QueryRow.query_id), col(QueryRow.text))
        .where(col(QueryRow.dataset_pk) == dataset_pk)
        .order_by(col(QueryRow.position), col(QueryRow.pk))
    )
    return {key_of(pk): AskedQuery(query_id, text) for pk, query_id, text in session.execute(statement)}


def list_runs(session: Session, dataset_pk: int) -> dict[int, str]:
    """The systems that have a run, by run_pk."""
    statement = select(col(RunRow.pk), col(RunRow.system)).where(col(RunRow.dataset_pk) == dataset_pk)
    return {key_of(pk): system for pk, system in session.execute(statement)}


def list_first_results(session: Session, runs: Mapping[int, str], depth: int) -> list[Candidate]:
    """The first `depth` results per query of each of these runs (systems by run_pk), in order.

    They are counted by their order; the rank of a candidate is the one in its file, from 0 or from 1.
    """
    place = func.row_number().over(
        partition_by=(col(RunEntryRow.run_pk), col(RunEntryRow.query_pk)), order_by=col(RunEntryRow.rank)
    )
    entry = (
        select(RunEntryRow.__table__.c, place.label("place"))  # type: ignore[attr-defined]
        .where(
            col(RunEntryRow.run_pk).in_(list(runs)),
            col(RunEntryRow.document_pk).not_in(select_documents_left()),
        )
        .subquery()
        .c
    )
    statement = (
        select(
            entry.query_pk, col(QueryRow.query_id), entry.document_pk, col(DocumentRow.doc_id), entry.run_pk,
            entry.rank, entry.score, entry.signals,
        )
        .join(QueryRow, col(QueryRow.pk) == entry.query_pk)
        .join(DocumentRow, col(DocumentRow.pk) == entry.document_pk)
        .where(entry.place <= depth)
        .order_by(entry.run_pk, entry.query_pk, entry.rank)
    )  # fmt: skip
    return [
        Candidate(query_pk, query_id, document_pk, doc_id, runs[run_pk], rank, score, signals)
        for query_pk, query_id, document_pk, doc_id, run_pk, rank, score, signals in session.execute(
            statement
        )
    ]


def count_documents(session: Session, dataset_pk: int) -> int:
    """How many documents a dataset has."""
    statement = (
        select(func.count())
        .select_from(DocumentRow)
        .where(col(DocumentRow.dataset_pk) == dataset_pk, col(DocumentRow.pk).not_in(select_documents_left()))
    )
    return session.scalar(statement) or 0


def read_documents(session: Session, dataset_pk: int) -> Iterator[Searched]:
    """Every document with its present text, a few hundred at a time; those that have left are not searched."""
    statement = (
        select(
            col(DocumentRow.pk), col(DocumentRow.doc_id), col(DocumentRow.title), col(DocumentTextRow.text)
        )
        .outerjoin(
            DocumentTextRow,
            and_(
                col(DocumentTextRow.document_pk) == DocumentRow.pk,
                col(DocumentTextRow.sha256) == DocumentRow.text_sha256,
            ),
        )
        .where(col(DocumentRow.dataset_pk) == dataset_pk, col(DocumentRow.pk).not_in(select_documents_left()))
        .execution_options(yield_per=500)
    )
    for pk, doc_id, title, text in session.execute(statement):
        yield Searched(key_of(pk), doc_id, f"{title}\n{text}" if text else f"{doc_id}\n{title}")


def list_titles(session: Session, dataset_pk: int) -> dict[int, str]:
    """The title of every document, by document_pk."""
    statement = select(col(DocumentRow.pk), col(DocumentRow.title))
    rows = session.execute(statement.where(col(DocumentRow.dataset_pk) == dataset_pk))
    return {key_of(pk): title for pk, title in rows}


def list_provenance(session: Session, dataset_pk: int) -> dict[int, list[Provenance]]:
    """Who proposed each pair, by pair_pk; in the order of the systems' names."""
    statement = (
        select(
            col(ProvenanceRow.pair_pk), col(ProvenanceRow.system), col(ProvenanceRow.rank),
            col(ProvenanceRow.score), col(ProvenanceRow.signals),
        )
        .join(PairRow, col(PairRow.pk) == col(ProvenanceRow.pair_pk))
        .where(col(PairRow.dataset_pk) == dataset_pk)
    )  # fmt: skip
    found: dict[int, list[Provenance]] = {}
    for pair_pk, *values in session.execute(statement):
        found.setdefault(pair_pk, []).append(Provenance(*values))
    return {pair_pk: sorted(by, key=lambda one: one.system) for pair_pk, by in found.items()}
