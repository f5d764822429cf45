"""Reads what an annotator is shown, and what a hand-in names: pairs, texts, rubric versions.

What is read here for an annotator holds no rank, no score, no system and nobody's grade.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.labeling import HandedPair, OwnAnswer
from annotator.storage.checks import Handout
from annotator.storage.find import find_rubric, key_of
from annotator.storage.outdated import describe_outdated
from annotator.storage.tables import (
    CurrentJudgmentRow,
    DatasetRow,
    DocumentRow,
    DocumentTextRow,
    JudgmentRow,
    PairRow,
    QueryRow,
    RubricRow,
)
from annotator.storage.worklist import Worklist

SHOWN_CHARACTERS = 200_000


def read_handed(session: Session, worklist: Worklist, handouts: Sequence[Handout]) -> list[HandedPair]:
    """What the annotator is shown of each, in this order, with their own answer where there is one to show."""
    if not handouts:
        return []
    pks = [handout.pair_pk for handout in handouts]
    shown = session.scalar(
        select(col(DatasetRow.shown_metadata)).where(col(DatasetRow.pk) == worklist.dataset_pk)
    )
    version = find_rubric(session, worklist.dataset_pk).version
    plain = [one.pair_pk for one in handouts if one.key is None and not one.training]
    answers = _list_own_answers(session, worklist, plain)
    outdated = describe_outdated(session, worklist, answers) if answers else {}
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
            metadata=_choose_metadata(document.extra, shown or ()),
        )
        for pk, key, query, document, text, length in _read_pairs(session, pks)
    }
    return [
        replace(
            found[one.pair_pk],
            pair=one.key or found[one.pair_pk].pair,
            training=one.training,
            answer=None if one.key else answers.get(one.pair_pk),
            outdated=None if one.key else outdated.get(one.pair_pk),
        )
        for one in handouts
    ]


def _read_pairs(session: Session, pair_pks: Sequence[int]) -> list[Any]:
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
    return list(session.execute(statement))


def _list_own_answers(session: Session, worklist: Worklist, pair_pks: Sequence[int]) -> dict[int, OwnAnswer]:
    statement = (
        select(
            col(JudgmentRow.pair_pk),
            col(JudgmentRow.outcome),
            col(JudgmentRow.grade),
            col(JudgmentRow.note),
            col(JudgmentRow.reason),
        )
        .join(CurrentJudgmentRow, col(CurrentJudgmentRow.judgment_pk) == col(JudgmentRow.pk))
        .where(
            col(CurrentJudgmentRow.pair_pk).in_(pair_pks),
            col(CurrentJudgmentRow.annotator_pk) == worklist.annotator_pk,
        )
    )
    return {
        pair_pk: OwnAnswer(outcome, grade, note, reason)
        for pair_pk, outcome, grade, note, reason in session.execute(statement)
    }


def _choose_metadata(extra: Mapping[str, Any], shown: Sequence[str]) -> dict[str, str]:
    """The columns that the lead chose, as text; a list or object as JSON."""
    return {
        column: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for column in shown
        if (value := extra.get(column)) not in (None, "")
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


def list_text_hashes(
    session: Session, document_pks: Collection[int]
) -> dict[int, tuple[str | None, set[str]]]:
    """The SHA-256 of each document's present text, and of all that it has or had."""
    present = select(col(DocumentRow.pk), col(DocumentRow.text_sha256)).where(
        col(DocumentRow.pk).in_(document_pks)
    )
    found: dict[int, tuple[str | None, set[str]]] = {
        key_of(pk): (sha, set()) for pk, sha in session.execute(present)
    }
    every = select(col(DocumentTextRow.document_pk), col(DocumentTextRow.sha256))
    for pk, sha in session.execute(every.where(col(DocumentTextRow.document_pk).in_(document_pks))):
        found[pk][1].add(sha)
    return found


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


def find_text_hash(session: Session, document_pk: int) -> str | None:
    """The SHA-256 of the document's present text."""
    return session.scalar(select(col(DocumentRow.text_sha256)).where(col(DocumentRow.pk) == document_pk))
