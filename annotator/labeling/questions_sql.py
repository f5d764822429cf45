"""Read and write questions on pairs, for `labeling/questions_service.py`. Never reads grades."""

from sqlalchemy import ColumnElement, Select, exists, func, select
from sqlalchemy.orm import Session, aliased
from sqlmodel import col

from annotator.labeling.records import PairQuestion
from annotator.storage.document_text import TEXT_IS_PRESENT
from annotator.storage.labeling_tables import LeaseRow, QuestionRow, RepeatRow
from annotator.storage.lookup import key_of
from annotator.storage.tables import (
    CurrentJudgmentRow,
    DocumentRow,
    DocumentTextRow,
    JudgmentRow,
    PairRow,
    PersonRow,
    QueryRow,
)


def was_shown(session: Session, pair_pk: int, person_pk: int) -> bool:
    """Return whether the pair was handed to the person or answered by them."""
    statements = (
        select(col(LeaseRow.pair_pk)).where(
            col(LeaseRow.pair_pk) == pair_pk, col(LeaseRow.annotator_pk) == person_pk
        ),
        select(col(JudgmentRow.pk)).where(
            col(JudgmentRow.pair_pk) == pair_pk, col(JudgmentRow.annotator_pk) == person_pk
        ),
        select(col(RepeatRow.pk)).where(
            col(RepeatRow.pair_pk) == pair_pk, col(RepeatRow.annotator_pk) == person_pk
        ),
    )
    return any(session.execute(statement.limit(1)).first() is not None for statement in statements)


def find_same_question(session: Session, pair_pk: int, person_pk: int, text: str) -> QuestionRow | None:
    """Return the person's question on the pair with the very same words, None if there is none."""
    statement = select(QuestionRow).where(
        col(QuestionRow.pair_pk) == pair_pk,
        col(QuestionRow.annotator_pk) == person_pk,
        col(QuestionRow.text) == text,
    )
    return session.scalars(statement).first()


def find_question(session: Session, dataset_pk: int, number: int) -> QuestionRow | None:
    """Return the question of that number in this dataset, None if there is none."""
    statement = (
        select(QuestionRow)
        .join(PairRow, col(PairRow.pk) == col(QuestionRow.pair_pk))
        .where(col(QuestionRow.pk) == number, col(PairRow.dataset_pk) == dataset_pk)
    )
    return session.scalars(statement).first()


def count_unanswered(session: Session, dataset_pk: int) -> int:
    """Count the questions of a dataset that wait for an answer."""
    statement = (
        select(func.count())
        .select_from(QuestionRow)
        .join(PairRow, col(PairRow.pk) == col(QuestionRow.pair_pk))
        .where(col(PairRow.dataset_pk) == dataset_pk, col(QuestionRow.answer).is_(None))
    )
    return session.scalar(statement) or 0


def list_questions_of(session: Session, dataset_pk: int, *, reader_pk: int | None) -> list[PairQuestion]:
    """Return every question of a dataset: unanswered ones first, oldest first; then the others, latest answer first."""
    questions = _read(session, dataset_pk, reader_pk, _select())
    waiting = [item for item in questions if item.answer is None]
    answered = [item for item in questions if item.answer is not None]
    answered.sort(key=lambda item: (item.answered_at or item.asked_at, item.number), reverse=True)
    return [*waiting, *answered]


def list_questions_by(session: Session, dataset_pk: int, person_pk: int) -> list[PairQuestion]:
    """Return a person's own questions, the latest first."""
    own = _select().where(col(QuestionRow.annotator_pk) == person_pk)
    return _read(session, dataset_pk, person_pk, own)[::-1]


_LEAD = aliased(PersonRow)


def _name(person: type[PersonRow]) -> ColumnElement[str]:
    return func.coalesce(func.nullif(col(person.name), ""), col(person.username))


def _select() -> Select[tuple[object, ...]]:
    return (
        select(
            QuestionRow,
            PairRow,
            QueryRow,
            DocumentRow,
            func.length(col(DocumentTextRow.text)),
            _name(PersonRow),
            _name(_LEAD),
        )
        .join(PairRow, col(PairRow.pk) == col(QuestionRow.pair_pk))
        .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
        .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
        .outerjoin(DocumentTextRow, TEXT_IS_PRESENT)
        .join(PersonRow, col(PersonRow.pk) == col(QuestionRow.annotator_pk))
        .outerjoin(_LEAD, col(_LEAD.pk) == col(QuestionRow.answered_by_pk))
    )


def _read(
    session: Session, dataset_pk: int, reader_pk: int | None, statement: Select[tuple[object, ...]]
) -> list[PairQuestion]:
    judged = exists().where(
        col(CurrentJudgmentRow.pair_pk) == col(PairRow.pk),
        col(CurrentJudgmentRow.annotator_pk) == (reader_pk or 0),
        col(CurrentJudgmentRow.outcome) != "later",
    )
    rows = session.execute(
        statement.add_columns((col(PairRow.lacking) > 0) & ~judged)
        .where(col(PairRow.dataset_pk) == dataset_pk)
        .order_by(col(QuestionRow.asked_at), col(QuestionRow.pk))
    )
    return [
        PairQuestion(
            number=key_of(question.pk),
            pair=pair.key,
            query_id=query.query_id,
            query=query.text,
            narrative=query.narrative,
            doc_id=document.doc_id,
            title=document.title,
            text_length=length or 0,
            asked_by=asked_by,
            asked_by_pk=question.annotator_pk,
            text=question.text,
            asked_at=question.asked_at,
            answer=question.answer,
            answered_by=answered_by,
            answered_at=question.answered_at,
            in_guideline=question.in_guideline,
            unjudged_by_reader=bool(unjudged) and reader_pk is not None,
        )
        for question, pair, query, document, length, asked_by, answered_by, unjudged in rows
    ]
