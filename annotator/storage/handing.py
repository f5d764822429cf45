"""Reads what an annotator is shown, and what a hand-in names: pairs, texts, rubric versions.

What is read here for an annotator holds no rank, no score, no system and nobody's grade.
"""

from collections.abc import Iterable, Sequence

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.labeling import HandedPair
from annotator.storage.find import find_rubric, key_of
from annotator.storage.tables import (
    AdjudicationRow,
    CurrentJudgmentRow,
    DocumentRow,
    DocumentTextRow,
    JudgmentRow,
    PairRow,
    QueryRow,
    RubricRow,
)
from annotator.storage.worklist import Worklist

SHOWN_CHARACTERS = 200_000


def read_handed(session: Session, dataset_pk: int, pair_pks: Sequence[int]) -> list[HandedPair]:
    version = find_rubric(session, dataset_pk).version
    statement = (
        select(
            col(PairRow.pk),
            col(PairRow.key),
            QueryRow,
            DocumentRow,
            func.substr(col(DocumentTextRow.text), 1, SHOWN_CHARACTERS),
            func.length(col(DocumentTextRow.text)),
        )
        .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
        .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
        .outerjoin(
            DocumentTextRow,
            (col(DocumentTextRow.document_pk) == col(DocumentRow.pk))
            & (col(DocumentTextRow.sha256) == col(DocumentRow.text_sha256)),
        )
        .where(col(PairRow.pk).in_(pair_pks))
    )
    found = {
        pk: HandedPair(
            pair=key,
            query_id=query.query_id,
            query=query.text,
            narrative=query.narrative,
            doc_id=document.doc_id,
            title=document.title,
            url=document.url,
            media_type=document.media_type,
            text=text,
            length=length or 0,
            document_sha256=document.text_sha256,
            guideline_version=version,
        )
        for pk, key, query, document, text, length in session.execute(statement)
    }
    return [found[pk] for pk in pair_pks]


def find_pairs(session: Session, worklist: Worklist, keys: set[str]) -> dict[str, tuple[int, int]]:
    """pair key -> (pair_pk, document_pk), of this dataset only. (Looked up by key alone: it is unique.)"""
    statement = select(col(PairRow.key), col(PairRow.pk), col(PairRow.document_pk), col(PairRow.dataset_pk))
    found = session.execute(statement.where(col(PairRow.key).in_(keys)))
    return {
        key: (key_of(pk), document_pk)
        for key, pk, document_pk, dataset_pk in found
        if dataset_pk == worklist.dataset_pk
    }


def list_rubric_versions(session: Session, dataset_pk: int) -> dict[int, int]:
    statement = select(col(RubricRow.version), col(RubricRow.pk)).where(
        col(RubricRow.dataset_pk) == dataset_pk
    )
    return {version: key_of(pk) for version, pk in session.execute(statement)}


def has_text(session: Session, document_pk: int, sha256: str) -> bool:
    statement = select(col(DocumentTextRow.sha256)).where(
        col(DocumentTextRow.document_pk) == document_pk, col(DocumentTextRow.sha256) == sha256
    )
    return session.scalar(statement) is not None


def find_needless(session: Session, worklist: Worklist, have: Sequence[str]) -> list[str]:
    """Those of the pairs in the browser that need nothing any more: judged by this annotator elsewhere, settled by
    a lead or by an earlier ground truth, or no longer in the pool."""
    mine = exists().where(
        col(CurrentJudgmentRow.pair_pk) == col(PairRow.pk),
        col(CurrentJudgmentRow.annotator_pk) == worklist.annotator_pk,
        col(CurrentJudgmentRow.outcome) != "later",
    )
    settled = exists().where(col(AdjudicationRow.pair_pk) == col(PairRow.pk))
    left = col(PairRow.retired_at).is_not(None) | (col(PairRow.kept) & (col(PairRow.judged) == 0))
    needless = select(col(PairRow.key)).where(col(PairRow.key).in_(have), mine | settled | left)
    return list(session.scalars(needless))


def find_whole_text(session: Session, pair_pk: int) -> str | None:
    """The whole present text of the document of a pair; None when there is none."""
    statement = (
        select(col(DocumentTextRow.text))
        .join(
            DocumentRow,
            (col(DocumentRow.pk) == col(DocumentTextRow.document_pk))
            & (col(DocumentRow.text_sha256) == col(DocumentTextRow.sha256)),
        )
        .join(PairRow, col(PairRow.document_pk) == col(DocumentRow.pk))
        .where(col(PairRow.pk) == pair_pk)
    )
    return session.scalar(statement)


def find_stored(session: Session, event_ids: Iterable[str]) -> dict[str, JudgmentRow]:
    """The judgments with these event ids, by event id."""
    statement = select(JudgmentRow).where(col(JudgmentRow.event_id).in_(list(event_ids)))
    return {row.event_id: row for row in session.scalars(statement)}


def find_settled(session: Session, pair_pks: Iterable[int]) -> set[int]:
    """Those of the pairs that a lead has decided."""
    statement = select(col(AdjudicationRow.pair_pk)).where(col(AdjudicationRow.pair_pk).in_(list(pair_pks)))
    return set(session.scalars(statement))


def find_text_hash(session: Session, document_pk: int) -> str | None:
    """The SHA-256 of the document's present text."""
    return session.scalar(select(col(DocumentRow.text_sha256)).where(col(DocumentRow.pk) == document_pk))
