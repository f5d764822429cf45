"""Read and write suggestions by relations: rows of `imported_qrel` that settle nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.storage.lookup import key_of
from annotator.storage.pairs.pair_states import IS_BY_RELATION, RELATION, add_suggestions
from annotator.storage.pairs.pool import are_in_use
from annotator.storage.tables.central import DocumentRow, ImportedQrelRow, PairRow


@dataclass(frozen=True, slots=True)
class StoredSuggestion:
    """A stored suggestion with its rule, its grade, and the starting documents with their pairs' keys."""

    pair_pk: int
    rule: str
    relation: str
    grade: int
    from_doc_ids: tuple[str, ...]
    from_pairs: tuple[str, ...]


def list_suggestable_documents(session: Session, dataset_pk: int) -> dict[str, int]:
    """Return {doc_id: document_pk} of every document that was not replaced by another."""
    statement = select(col(DocumentRow.doc_id), col(DocumentRow.pk)).where(*are_in_use(dataset_pk))
    return {doc_id: key_of(pk) for doc_id, pk in session.execute(statement)}


def list_relation_suggestions(session: Session, dataset_pk: int) -> dict[tuple[int, str], StoredSuggestion]:
    """Return the latest suggestion for each pair of the pool, by (pair_pk, rule)."""
    statement = (
        select(col(ImportedQrelRow.pair_pk), col(ImportedQrelRow.grade), col(ImportedQrelRow.source))
        .join(PairRow, col(PairRow.pk) == col(ImportedQrelRow.pair_pk))
        .where(col(PairRow.dataset_pk) == dataset_pk, col(PairRow.retired_at).is_(None), IS_BY_RELATION)
        .order_by(col(ImportedQrelRow.pk))
    )
    return {
        (pair_pk, source["rule"]): StoredSuggestion(
            pair_pk, source["rule"], source["relation"], grade, tuple(source["from"]), tuple(source["pairs"])
        )
        for pair_pk, grade, source in session.execute(statement)
    }


def add_relation_suggestions(
    session: Session, suggestions: Sequence[StoredSuggestion], *, now: datetime
) -> None:
    """Append suggestions. They settle nothing and open nothing."""
    rows: list[dict[str, Any]] = [
        {
            "pair_pk": suggestion.pair_pk,
            "grade": suggestion.grade,
            "keep": False,
            "source": {
                "kind": RELATION,
                "rule": suggestion.rule,
                "relation": suggestion.relation,
                "from": list(suggestion.from_doc_ids),
                "pairs": list(suggestion.from_pairs),
            },
            "description": None,
            "note": None,
            "annotator_grades": [],
            "extra": {},
            "imported_at": now,
        }
        for suggestion in suggestions
    ]
    add_suggestions(session, rows)
