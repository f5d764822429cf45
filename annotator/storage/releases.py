"""What a release is made from, read in a handful of statements whatever the dataset's size, and its own rows.

Columns instead of whole rows, because a release reads every judgment of a dataset. Orders do not depend on
a database's collation.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.ground_truth import Qrel, Query
from annotator.domain.trail import GivenJudgment, JudgedPair, Participant
from annotator.storage.current import list_current_adjudications
from annotator.storage.find import key_of
from annotator.storage.pairs import PairState
from annotator.storage.tables import (
    CurrentJudgmentRow,
    DocumentRow,
    JudgmentRow,
    PairRow,
    PersonRow,
    ProvenanceRow,
    PseudonymRow,
    QueryRow,
    ReleaseQrelRow,
    ReleaseRow,
    RubricRow,
)

CHUNK = 5_000


def list_queries(session: Session, dataset_pk: int) -> list[Query]:
    """The dataset's queries in their order."""
    rows = session.scalars(select(QueryRow).where(col(QueryRow.dataset_pk) == dataset_pk))
    return [
        Query(
            query_id=row.query_id,
            text=row.text,
            category=row.category,
            language=row.language,
            query_type=row.query_type,
            difficulty=row.difficulty,
            primary_domain=row.primary_domain,
            narrative=row.narrative,
            metadata=row.extra,
        )
        for row in sorted(rows, key=lambda row: (row.position, row.query_id))
    ]


def list_judged_pairs(session: Session, dataset_pk: int, states: Iterable[PairState]) -> list[JudgedPair]:
    """These pairs, in their order, with everything that led to their settlement."""
    documents = _list_documents(session, dataset_pk)
    judgments = _list_judgments(session, dataset_pk)
    ranks = _list_best_ranks(session, dataset_pk)
    decisions = list_current_adjudications(session, dataset_pk)
    pairs = []
    for state in states:
        title, metadata = documents[state.document_pk]
        decision = decisions.get(state.pair_pk)
        pairs.append(
            JudgedPair(
                query_id=state.query_id,
                doc_id=state.doc_id,
                status=state.settlement.status,
                grade=state.settlement.grade,
                judgments=tuple(judgments.get(state.pair_pk, ())),
                decided_by=decision.lead_pk if decision else None,
                rationale=decision.rationale if decision else None,
                best_rank=ranks.get(state.pair_pk),
                title=title,
                document_metadata=metadata,
            )
        )
    return pairs


def list_participants(session: Session, person_pks: Collection[int]) -> list[Participant]:
    """These people."""
    statement = select(col(PersonRow.pk), col(PersonRow.username), col(PersonRow.simulated))
    rows = session.execute(statement.where(col(PersonRow.pk).in_(sorted(person_pks))))
    return [Participant(key_of(pk), username, simulated) for pk, username, simulated in rows]


def list_pseudonyms(session: Session, dataset_pk: int) -> dict[int, int]:
    """The numbers given so far, by person_pk."""
    statement = select(col(PseudonymRow.person_pk), col(PseudonymRow.number))
    rows = session.execute(statement.where(col(PseudonymRow.dataset_pk) == dataset_pk)).all()
    return {row.person_pk: row.number for row in rows}


def list_releases_of_dataset(session: Session, dataset_pk: int) -> list[ReleaseRow]:
    """The releases in the order in which they were published."""
    statement = select(ReleaseRow).where(col(ReleaseRow.dataset_pk) == dataset_pk)
    return list(session.scalars(statement.order_by(col(ReleaseRow.pk))))


def list_published_grades(session: Session, release_pk: int) -> dict[tuple[str, str], int]:
    """The grades of a release by (query_id, doc_id)."""
    columns = (col(ReleaseQrelRow.query_id), col(ReleaseQrelRow.doc_id), col(ReleaseQrelRow.grade))
    rows = session.execute(select(*columns).where(col(ReleaseQrelRow.release_pk) == release_pk))
    return {(query_id, doc_id): grade for query_id, doc_id, grade in rows}


def add_pseudonyms(session: Session, dataset_pk: int, numbers: Mapping[int, int]) -> None:
    """Give these numbers, for ever."""
    rows = [
        {"dataset_pk": dataset_pk, "person_pk": person_pk, "number": number}
        for person_pk, number in numbers.items()
    ]
    if rows:
        session.execute(insert(PseudonymRow), rows)


def add_release(session: Session, release: ReleaseRow, qrels: Sequence[Qrel]) -> None:
    """Store a release and its qrels, in the order in which they were published."""
    session.add(release)
    session.flush()
    release_pk = key_of(release.pk)
    for start in range(0, len(qrels), CHUNK):
        session.execute(
            insert(ReleaseQrelRow),
            [
                {
                    "release_pk": release_pk,
                    "position": position,
                    "query_id": qrel.query_id,
                    "doc_id": qrel.doc_id,
                    "grade": qrel.grade,
                    "origin": qrel.origin,
                }
                for position, qrel in enumerate(qrels[start : start + CHUNK], start)
            ],
        )


def _list_documents(session: Session, dataset_pk: int) -> dict[int, tuple[str, Mapping[str, Any]]]:
    """Title and metadata of every document, by document_pk."""
    statement = select(col(DocumentRow.pk), col(DocumentRow.title), col(DocumentRow.extra))
    rows = session.execute(statement.where(col(DocumentRow.dataset_pk) == dataset_pk))
    return {key_of(pk): (title, extra) for pk, title, extra in rows}


def _list_judgments(session: Session, dataset_pk: int) -> dict[int, list[GivenJudgment]]:
    """The current judgments by pair_pk; answers put off ("later") judge nothing and are absent."""
    columns = (
        col(JudgmentRow.event_id), col(JudgmentRow.annotator_pk), col(JudgmentRow.outcome),
        col(JudgmentRow.grade), col(JudgmentRow.note), col(JudgmentRow.purpose),
        col(JudgmentRow.judged_at), col(JudgmentRow.seconds), col(RubricRow.version),
    )  # fmt: skip
    statement = (
        select(col(JudgmentRow.pair_pk), *columns)
        .join(CurrentJudgmentRow, col(CurrentJudgmentRow.judgment_pk) == col(JudgmentRow.pk))
        .join(RubricRow, col(RubricRow.pk) == col(JudgmentRow.rubric_pk))
        .where(col(CurrentJudgmentRow.dataset_pk) == dataset_pk, col(CurrentJudgmentRow.outcome) != "later")
    )
    found: dict[int, list[GivenJudgment]] = {}
    for pair_pk, *values in session.execute(statement):
        found.setdefault(pair_pk, []).append(GivenJudgment(*values))
    return found


def _list_best_ranks(session: Session, dataset_pk: int) -> dict[int, int]:
    """The best rank at which any system proposed each pair; pairs of unknown rank are absent."""
    statement = (
        select(col(ProvenanceRow.pair_pk), func.min(col(ProvenanceRow.rank)))
        .join(PairRow, col(PairRow.pk) == col(ProvenanceRow.pair_pk))
        .where(col(PairRow.dataset_pk) == dataset_pk)
        .group_by(col(ProvenanceRow.pair_pk))
    )
    return {pair_pk: rank for pair_pk, rank in session.execute(statement) if rank is not None}
