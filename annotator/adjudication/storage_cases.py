"""What a lead's decision on a pair rests on: its current answers, quality control's too, its best rank, its decisions so far.

Reads in chunks, so that a queue of any length costs a few statements. Used by adjudication.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.adjudication.decided import derive_decided
from annotator.adjudication.records import Answer
from annotator.storage.adjudication_tables import AdjudicationRow
from annotator.storage.disagreements import derive_disputes
from annotator.storage.lookup import key_of
from annotator.storage.missing_judgments import derive_lacking
from annotator.storage.quality_tables import QualityPairRow
from annotator.storage.tables import (
    CurrentJudgmentRow,
    DocumentRow,
    DocumentTextRow,
    JudgmentRow,
    PairRow,
    PersonRow,
    ProvenanceRow,
    QueryRow,
    RubricRow,
)

CHUNK = 500
Item = TypeVar("Item")


def list_answers(session: Session, pair_pks: Collection[int]) -> dict[int, list[Answer]]:
    """The current independent judgments of these pairs, and quality control's, by pair_pk, each list by username."""
    judged = (
        select(JudgmentRow, col(PersonRow.username), col(PersonRow.simulated), col(RubricRow.version))
        .join(PersonRow, col(PersonRow.pk) == JudgmentRow.annotator_pk)
        .join(RubricRow, col(RubricRow.pk) == JudgmentRow.rubric_pk)
    )
    independent = judged.join(
        CurrentJudgmentRow, col(CurrentJudgmentRow.judgment_pk) == JudgmentRow.pk
    ).where(
        col(CurrentJudgmentRow.purpose) == "independent",
        col(CurrentJudgmentRow.outcome) != "later",
    )
    checked = judged.join(QualityPairRow, col(QualityPairRow.judgment_pk) == JudgmentRow.pk).where(
        col(QualityPairRow.outcome).is_not(None)
    )
    found: dict[int, list[Answer]] = {}
    for some in _chunks(pair_pks):
        for quality, pair_pk, statement in (
            (False, CurrentJudgmentRow.pair_pk, independent),
            (True, QualityPairRow.pair_pk, checked),
        ):
            for row, username, simulated, version in session.execute(statement.where(col(pair_pk).in_(some))):
                answer = Answer(
                    row.event_id, username, row.outcome, row.grade, row.note,
                    row.judged_at, row.document_sha256, version, simulated, quality,
                )  # fmt: skip
                found.setdefault(row.pair_pk, []).append(answer)
    for answers in found.values():
        answers.sort(key=lambda answer: (answer.annotator, answer.quality))
    return found


def list_best_ranks(session: Session, pair_pks: Collection[int]) -> dict[int, int]:
    """The best rank at which any system proposed each pair; pairs of unknown rank are absent."""
    found: dict[int, int] = {}
    for some in _chunks(pair_pks):
        statement = (
            select(col(ProvenanceRow.pair_pk), func.min(col(ProvenanceRow.rank)))
            .where(col(ProvenanceRow.pair_pk).in_(some))
            .group_by(col(ProvenanceRow.pair_pk))
        )
        found.update({pair_pk: rank for pair_pk, rank in session.execute(statement) if rank is not None})
    return found


def list_decisions(session: Session, pair_pk: int) -> list[AdjudicationRow]:
    """Every decision on a pair, the first one first."""
    statement = select(AdjudicationRow).where(col(AdjudicationRow.pair_pk) == pair_pk)
    return list(session.scalars(statement.order_by(col(AdjudicationRow.revision))))


def list_revisions(session: Session, pair_pks: Collection[int]) -> dict[int, int]:
    """How many decisions there are on each of these pairs, those withdrawn included; pairs without one are absent."""
    found: dict[int, int] = {}
    for some in _chunks(pair_pks):
        revision = func.max(col(AdjudicationRow.revision))
        statement = select(col(AdjudicationRow.pair_pk), revision).where(
            col(AdjudicationRow.pair_pk).in_(some)
        )
        found.update(
            (pair_pk, n) for pair_pk, n in session.execute(statement.group_by(col(AdjudicationRow.pair_pk)))
        )
    return found


def list_judged_by(session: Session, person_pk: int | None, pair_pks: Collection[int]) -> set[int]:
    """Of these pairs the ones this person ever judged, for whatever purpose; putting off is not judging."""
    found: set[int] = set()
    for some in _chunks(pair_pks):
        statement = select(col(JudgmentRow.pair_pk)).where(
            col(JudgmentRow.annotator_pk) == person_pk,
            col(JudgmentRow.pair_pk).in_(some),
            col(JudgmentRow.outcome) != "later",
        )
        found.update(session.scalars(statement))
    return found


def list_pairs_named(session: Session, dataset_pk: int, names: Collection[tuple[str, str]]) -> list[int]:
    """The pair_pks of these (query_id, doc_id); names that are not in the pool are left out."""
    wanted = set(names)
    found: list[int] = []
    for some in _chunks({query_id for query_id, _ in wanted}):
        statement = (
            select(col(PairRow.pk), col(QueryRow.query_id), col(DocumentRow.doc_id))
            .join(QueryRow, col(QueryRow.pk) == PairRow.query_pk)
            .join(DocumentRow, col(DocumentRow.pk) == PairRow.document_pk)
            .where(col(PairRow.dataset_pk) == dataset_pk, col(QueryRow.query_id).in_(some))
        )
        for pk, query_id, doc_id in session.execute(statement):
            if (query_id, doc_id) in wanted:
                found.append(key_of(pk))
    return found


def add_decisions(session: Session, dataset_pk: int, rows: Sequence[Mapping[str, Any]]) -> None:
    """Append decisions; each row holds the columns of `adjudication` but its key. The pairs lack nothing any more."""
    session.execute(insert(AdjudicationRow), list(rows))
    pair_pks = [row["pair_pk"] for row in rows]
    derive_decided(session, pair_pks)
    derive_lacking(session, dataset_pk, pair_pks)
    derive_disputes(session, dataset_pk, pair_pks)


def _chunks(items: Collection[Item]) -> Iterator[list[Item]]:
    ordered = list(items)
    for start in range(0, len(ordered), CHUNK):
        yield ordered[start : start + CHUNK]


def find_text(session: Session, document: DocumentRow) -> str | None:
    """The document's present text; None when only its id is known."""
    if document.text_sha256 is None:
        return None
    return session.get_one(DocumentTextRow, (document.pk, document.text_sha256)).text
