"""Read and store proposals: existing pairs, the first judgment, and the list for leads.

Rows for annotators reveal nothing about other people, only that a pair is in the pool.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.judgments import COUNTED_PURPOSE
from annotator.labeling.open_pairs_sql import find_eligibility
from annotator.storage.lookup import HANDED_OUT, key_of
from annotator.storage.pairs.document_text import TEXT_IS_PRESENT
from annotator.storage.sql import fetch_tuples, prepare_sql
from annotator.storage.tables.central import (
    DocumentRow,
    DocumentTextRow,
    JudgmentRow,
    PairRow,
    PersonRow,
    ProvenanceRow,
    QueryRow,
)
from annotator.storage.tables.labeling import ProposalRow

_IS_THEIRS = "SELECT 1 FROM query q WHERE q.pk = :query_pk AND {eligible}"
_POOLED = prepare_sql(
    f"""
SELECT p.document_pk, p.key, {HANDED_OUT} AS handed_out, coalesce((SELECT j.outcome FROM judgment j
  WHERE j.pair_pk = p.pk AND j.annotator_pk = :annotator_pk AND j.purpose <> 'repeat' AND NOT j.late
  ORDER BY j.pk DESC LIMIT 1), 'later') <> 'later' AS answered
FROM pair p WHERE p.query_pk = :query_pk AND p.document_pk IN :documents""",
    lists=["documents"],
)


@dataclass(frozen=True, slots=True)
class ExistingPair:
    """A pair of the pool as its annotator may know it. A check looks like any other pair."""

    key: str | None  # None: it was not handed out to the annotator
    answered: bool  # by the annotator, for any purpose


@dataclass(frozen=True, slots=True)
class DocumentExcerpt:
    """A document in a list of results. `text`: its beginning; None without a text. `length`: of the whole text."""

    document_pk: int
    doc_id: str
    title: str
    media_type: str
    text: str | None
    length: int


@dataclass(frozen=True, slots=True)
class StoredProposal:
    """A stored proposal, with the judgments that its pair still lacks."""

    pair_pk: int
    query_pk: int
    query_id: str
    query: str
    doc_id: str
    title: str
    proposer_pk: int
    proposer: str
    proposed_at: datetime
    lacking: int


def find_query(session: Session, dataset_pk: int, query_id: str) -> QueryRow | None:
    """Return the query of that id in this dataset, or None."""
    statement = select(QueryRow).where(
        col(QueryRow.dataset_pk) == dataset_pk, col(QueryRow.query_id) == query_id
    )
    return session.scalars(statement).first()


def find_document(session: Session, dataset_pk: int, doc_id: str) -> DocumentRow | None:
    """Return the document of that id in this dataset, or None."""
    statement = select(DocumentRow).where(
        col(DocumentRow.dataset_pk) == dataset_pk, col(DocumentRow.doc_id) == doc_id
    )
    return session.scalars(statement).first()


def may_judge(session: Session, dataset_pk: int, person_pk: int, query_pk: int) -> bool:
    """Return whether the query is one of the person's."""
    eligibility = find_eligibility(session, dataset_pk, person_pk)
    statement = eligibility.prepare(_IS_THEIRS, query="q.pk")
    values = {"query_pk": query_pk, "annotator_pk": person_pk, **eligibility.values}
    return bool(fetch_tuples(session, statement, values))


def list_pooled_pairs(
    session: Session, query_pk: int, person_pk: int, document_pks: Collection[int]
) -> dict[int, ExistingPair]:
    """Return {document_pk: the pair of the query in the pool}."""
    values = {"query_pk": query_pk, "annotator_pk": person_pk, "documents": list(document_pks)}
    return {
        document_pk: ExistingPair(key if handed_out else None, bool(answered))
        for document_pk, key, handed_out, answered in fetch_tuples(session, _POOLED, values)
    }


def find_proposed(session: Session, query_pk: int, document_pk: int) -> int | None:
    """Return the pair_pk of a query and a document, or None."""
    statement = select(col(PairRow.pk)).where(
        col(PairRow.query_pk) == query_pk, col(PairRow.document_pk) == document_pk
    )
    return session.scalar(statement)


def add_first_judgment(session: Session, pair_pk: int, annotator_pk: int, values: dict[str, Any]) -> None:
    """Store the proposer's judgment, an ordinary one, and the proposal. `values`: other columns of `judgment`."""
    fixed = {
        "pair_pk": pair_pk,
        "annotator_pk": annotator_pk,
        "outcome": "graded",
        "purpose": COUNTED_PURPOSE,
    }
    session.add(JudgmentRow.model_validate({**values, **fixed}))
    session.add(ProposalRow(pair_pk=pair_pk, annotator_pk=annotator_pk, proposed_at=values["received_at"]))
    session.flush()


def count_proposed_since(session: Session, dataset_pk: int, person_pk: int, since: datetime) -> int:
    """Count the documents that the person has proposed in the dataset since then."""
    statement = (
        select(func.count())
        .select_from(ProposalRow)
        .join(PairRow, col(PairRow.pk) == col(ProposalRow.pair_pk))
        .where(
            col(PairRow.dataset_pk) == dataset_pk,
            col(ProposalRow.annotator_pk) == person_pk,
            col(ProposalRow.proposed_at) > since,
        )
    )
    return session.scalar(statement) or 0


def list_stored_proposals(session: Session, dataset_pk: int) -> list[StoredProposal]:
    """Return the proposals of a dataset whose pairs are in the pool, the latest first."""
    statement = (
        select(
            col(PairRow.pk),
            col(PairRow.query_pk),
            col(QueryRow.query_id),
            col(QueryRow.text),
            col(DocumentRow.doc_id),
            col(DocumentRow.title),
            col(PersonRow.pk),
            func.coalesce(func.nullif(col(PersonRow.name), ""), col(PersonRow.username)),
            col(ProposalRow.proposed_at),
            col(PairRow.lacking),
        )
        .select_from(ProposalRow)
        .join(PairRow, col(PairRow.pk) == col(ProposalRow.pair_pk))
        .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
        .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
        .join(PersonRow, col(PersonRow.pk) == col(ProposalRow.annotator_pk))
        .where(col(PairRow.dataset_pk) == dataset_pk, col(PairRow.retired_at).is_(None))
        .order_by(col(ProposalRow.proposed_at).desc(), col(PairRow.pk).desc())
    )
    return [StoredProposal(*row) for row in session.execute(statement)]


def list_only_proposed(session: Session, dataset_pk: int, system: str) -> set[int]:
    """Return the pair_pks with this system as their only one."""
    of_pair = col(ProvenanceRow.pair_pk) == col(PairRow.pk)
    statement = select(col(PairRow.pk)).where(
        col(PairRow.dataset_pk) == dataset_pk,
        exists().where(of_pair, col(ProvenanceRow.system) == system),
        ~exists().where(of_pair, col(ProvenanceRow.system) != system),
    )
    return {key_of(pk) for pk in session.scalars(statement)}


def read_excerpts(
    session: Session, document_pks: Collection[int], *, characters: int
) -> list[DocumentExcerpt]:
    """Return these documents, in no particular order, with the first `characters` of their texts."""
    statement = (
        select(
            col(DocumentRow.pk),
            col(DocumentRow.doc_id),
            col(DocumentRow.title),
            col(DocumentRow.media_type),
            func.substr(col(DocumentTextRow.text), 1, characters),
            func.length(col(DocumentTextRow.text)),
        )
        .outerjoin(DocumentTextRow, TEXT_IS_PRESENT)
        .where(col(DocumentRow.pk).in_(document_pks))
    )
    return [
        DocumentExcerpt(key_of(pk), doc_id, title, media_type, text, length or 0)
        for pk, doc_id, title, media_type, text, length in session.execute(statement)
    ]
