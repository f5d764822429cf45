"""Read and write questions on pairs, for `labeling/questions_service.py`. Never reads grades."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, case, exists, func, literal, select
from sqlalchemy.orm import Session, aliased
from sqlmodel import col

from annotator.domain.excerpts import EXCERPT_OF, cut_excerpt
from annotator.labeling.records import PairQuestion
from annotator.storage.logs.disclosures import list_to_judge
from annotator.storage.lookup import key_of
from annotator.storage.pairs.document_text import TEXT_IS_PRESENT
from annotator.storage.sql import execute_sql, prepare_sql
from annotator.storage.tables.central import (
    DocumentRow,
    DocumentTextRow,
    PairRow,
    PersonRow,
    QueryRow,
)
from annotator.storage.tables.labeling import QuestionRow, SeenAnswerRow

_NOTE_SEEN = prepare_sql(
    """
INSERT INTO seen_answer (question_pk, answered_at, seen_at)
SELECT q.pk, q.answered_at, :now FROM question q WHERE q.pk IN :questions AND q.answered_at IS NOT NULL
ON CONFLICT (question_pk) DO UPDATE SET answered_at = excluded.answered_at, seen_at = excluded.seen_at
WHERE seen_answer.answered_at <> excluded.answered_at""",
    lists=["questions"],
)


def find_same_question(session: Session, pair_pk: int, person_pk: int, text: str) -> QuestionRow | None:
    """Return the person's question on the pair with exactly this text, or None."""
    statement = select(QuestionRow).where(
        col(QuestionRow.pair_pk) == pair_pk,
        col(QuestionRow.annotator_pk) == person_pk,
        col(QuestionRow.text) == text,
    )
    return session.scalars(statement).first()


def find_question(session: Session, dataset_pk: int, number: int) -> QuestionRow | None:
    """Return the question with that number in this dataset, or None."""
    statement = (
        select(QuestionRow)
        .join(PairRow, col(PairRow.pk) == col(QuestionRow.pair_pk))
        .where(col(QuestionRow.pk) == number, col(PairRow.dataset_pk) == dataset_pk)
    )
    return session.scalars(statement).first()


def count_unanswered(session: Session, dataset_pk: int, person_pk: int | None = None) -> int:
    """Count the questions of a dataset that wait for an answer. `person_pk`: only this person's."""
    asked = () if person_pk is None else (col(QuestionRow.annotator_pk) == person_pk,)
    return _count(session, col(PairRow.dataset_pk) == dataset_pk, col(QuestionRow.answer).is_(None), *asked)


def _count(session: Session, *conditions: ColumnElement[bool]) -> int:
    counted = select(func.count()).select_from(QuestionRow)
    counted = counted.join(PairRow, col(PairRow.pk) == col(QuestionRow.pair_pk)).where(*conditions)
    return session.scalar(counted) or 0


def list_questions_of(session: Session, dataset_pk: int, *, reader_pk: int | None) -> list[PairQuestion]:
    """Return the dataset's questions: first unanswered ones by age, then the others, latest answer first."""
    statement = _select().add_columns(literal(False)).where(col(PairRow.dataset_pk) == dataset_pk)
    rows = session.execute(statement.order_by(col(QuestionRow.asked_at), col(QuestionRow.pk))).all()
    to_judge = list_to_judge(session, reader_pk, {row[0].pair_pk for row in rows})
    questions = [_to_question(row, unjudged=row[0].pair_pk in to_judge) for row in rows]
    waiting = [item for item in questions if item.answer is None]
    answered = [item for item in questions if item.answer is not None]
    answered.sort(key=lambda item: (item.answered_at or item.asked_at, item.number), reverse=True)
    return [*waiting, *answered]


def list_questions_by(
    session: Session, dataset_pk: int, person_pk: int, *, limit: int, offset: int, visit: datetime
) -> tuple[int, tuple[PairQuestion, ...]]:
    """Return the number of a person's questions, and a page of them.

    Questions with an answer that was new at the `visit` come first, then the latest.
    """
    own = (col(PairRow.dataset_pk) == dataset_pk, col(QuestionRow.annotator_pk) == person_pk)
    total = _count(session, *own)
    if not total:
        return 0, ()
    is_new = and_(col(QuestionRow.answered_at).is_not(None), ~_was_shown(before=visit))
    statement = (
        _select()
        .add_columns(is_new)
        .where(*own)
        .order_by(case((is_new, 0), else_=1), col(QuestionRow.asked_at).desc(), col(QuestionRow.pk).desc())
        .limit(limit)
        .offset(offset)
    )
    return total, tuple(_to_question(row) for row in session.execute(statement))


def count_unread_answers(session: Session, dataset_pk: int, person_pk: int) -> int:
    """Count the answers to a person's questions that the person has not been shown."""
    own = (col(PairRow.dataset_pk) == dataset_pk, col(QuestionRow.annotator_pk) == person_pk)
    return _count(session, *own, col(QuestionRow.answered_at).is_not(None), ~_was_shown())


def list_unread_answers(session: Session, numbers: Collection[int]) -> list[int]:
    """Return the numbers of these questions with an answer that the asker has not seen."""
    statement = select(col(QuestionRow.pk)).where(
        col(QuestionRow.pk).in_(numbers), col(QuestionRow.answered_at).is_not(None), ~_was_shown()
    )
    return [key_of(number) for number in session.scalars(statement)]


def note_answers_seen(session: Session, numbers: Collection[int], *, now: datetime) -> None:
    """Record that the askers of these questions were shown the present answers."""
    if numbers:
        execute_sql(session, _NOTE_SEEN, {"questions": list(numbers), "now": now})


def _was_shown(*, before: datetime | None = None) -> ColumnElement[bool]:
    """Return the condition that the asker was shown the present answer to a question, `before` a moment."""
    conditions = [
        col(SeenAnswerRow.question_pk) == col(QuestionRow.pk),
        col(SeenAnswerRow.answered_at) == col(QuestionRow.answered_at),
    ]
    if before is not None:
        conditions.append(col(SeenAnswerRow.seen_at) < before)
    return exists().where(*conditions).correlate(QuestionRow)


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
            func.substr(col(DocumentTextRow.text), 1, EXCERPT_OF),
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


def _to_question(row: Row[*tuple[Any, ...]], *, unjudged: bool = False) -> PairQuestion:
    question, pair, query, document, length, beginning, asked_by, answered_by, is_new = row
    return PairQuestion(
        number=key_of(question.pk),
        pair=pair.key,
        query_id=query.query_id,
        query=query.text,
        narrative=query.narrative,
        doc_id=document.doc_id,
        title=document.title,
        excerpt=cut_excerpt(beginning, document.media_type, title=document.title),
        text_length=length or 0,
        asked_by=asked_by,
        asked_by_pk=question.annotator_pk,
        text=question.text,
        asked_at=question.asked_at,
        answer=question.answer,
        answered_by=answered_by,
        answered_at=question.answered_at,
        in_guideline=question.in_guideline,
        unjudged_by_reader=unjudged,
        new=bool(is_new),
    )
