"""Questions that annotators ask about a pair, and the leads' answers, which can be marked for the guideline.

Never shows a grade. A question may hint at a grade, so a lead who may still judge the pair is warned before
reading. Refuses a question on a pair that was not shown to the person. Only a lead who has seen the present
answer can replace it; the latest answer is stored with its author and time.
"""

from datetime import datetime

from sqlalchemy.orm import Session

from annotator.domain.errors import ConflictError, NotAllowed, NotFound, ValidationError
from annotator.domain.judgments import read_event_id
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.domain.texts import clean_text
from annotator.labeling.questions_sql import (
    count_unanswered,
    count_unread_answers,
    find_question,
    find_same_question,
    list_questions_by,
    list_questions_of,
    list_unread_answers,
    note_answers_seen,
)
from annotator.labeling.records import OwnQuestions, PairQuestion
from annotator.people.roles_service import enter_dataset, open_dataset, require_person
from annotator.storage.database import Database, lock_dataset
from annotator.storage.logs.audit_log import AuditEvent, add_events
from annotator.storage.lookup import find_handed_out, key_of
from annotator.storage.pairs.disagreements import derive_disagreements
from annotator.storage.pairs.document_text import read_present_text
from annotator.storage.tables.central import DatasetRow
from annotator.storage.tables.labeling import QuestionRow

MOST_CHARACTERS, SHOWN_CHARACTERS = 5_000, 20_000
MOST_WAITING = 100
"""Unanswered questions of one person: the leads' page lists the questions of all."""
PAGE = 20


def ask_question(
    database: Database, actor: Actor, dataset: str, *, pair: str, text: str, event_id: str, now: datetime
) -> int:
    """Ask the leads about a pair that the annotator was handed or answered. Returns the question's number.

    `event_id` is a random UUID from the browser. Sending the same question again changes nothing. Raises
    ConflictError if MOST_WAITING questions of this person wait for an answer.
    """
    read_event_id(event_id)
    words = _require_words(text)
    with database.write() as session:
        row, person_pk = enter_dataset(session, actor, dataset, "annotator"), require_person(actor)
        lock_dataset(session, key_of(row.pk))
        pair_pk = find_handed_out(session, key_of(row.pk), person_pk, pair)
        if pair_pk is None:
            raise NotAllowed(say("This pair was not shown to you."))
        same = find_same_question(session, pair_pk, person_pk, words)
        if same is not None:
            return key_of(same.pk)
        if count_unanswered(session, key_of(row.pk), person_pk) >= MOST_WAITING:
            raise ConflictError(
                say("Too many of your questions wait for an answer. Ask again when a lead has answered some.")
            )
        question = QuestionRow(pair_pk=pair_pk, annotator_pk=person_pk, text=words, asked_at=now)
        session.add(question)
        session.flush()
        derive_disagreements(session, key_of(row.pk), [pair_pk])
        return key_of(question.pk)


def list_own_questions(
    database: Database,
    actor: Actor,
    dataset: str,
    *,
    limit: int = PAGE,
    offset: int = 0,
    visit: datetime | None = None,
    now: datetime,
) -> OwnQuestions:
    """Return a page of the annotator's own questions with the answers, and record which answers were shown.

    `visit`: when the annotator opened the list (None: now). Answers that were new then come first, then the
    latest questions.
    """
    with open_dataset(database, actor, dataset, "annotator") as (session, _, dataset_pk):
        person_pk = require_person(actor)
        total, questions = list_questions_by(
            session, dataset_pk, person_pk, limit=limit, offset=offset, visit=visit or now
        )
        unread = list_unread_answers(session, [question.number for question in questions])
    if unread:
        with database.write() as session:
            note_answers_seen(session, unread, now=now)
    return OwnQuestions(total, questions)


def count_new_answers(database: Database, actor: Actor, dataset: str) -> int:
    """Count the answers to the annotator's own questions that the annotator has not been shown."""
    with open_dataset(database, actor, dataset, "annotator") as (session, _, dataset_pk):
        return count_unread_answers(session, dataset_pk, require_person(actor))


def list_questions(database: Database, actor: Actor, dataset: str) -> list[PairQuestion]:
    """Return every question, unanswered ones first. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        return list_questions_of(session, dataset_pk, reader_pk=actor.person_id)


def list_for_guideline(database: Database, actor: Actor, dataset: str) -> list[PairQuestion]:
    """Return the answered questions that a lead wants in the guideline, in the order of asking. For leads."""
    questions = [
        item
        for item in list_questions(database, actor, dataset)
        if item.in_guideline and item.answer is not None
    ]
    return sorted(questions, key=lambda item: (item.asked_at, item.number))


def count_open_questions(database: Database, actor: Actor, dataset: str) -> int:
    """Count the questions that wait for an answer. For leads."""
    with database.read() as session:
        return count_unanswered(session, key_of(enter_dataset(session, actor, dataset, "lead").pk))


def read_question_text(database: Database, actor: Actor, dataset: str, number: int) -> str | None:
    """Return the beginning of the question's document, or None if its text was not imported. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, row, _):
        question = _require_question(session, row, number)
        return read_present_text(session, question.pair_pk, characters=SHOWN_CHARACTERS)


def answer_question(
    database: Database,
    actor: Actor,
    dataset: str,
    number: int,
    answer: str,
    *,
    seen: str | None,
    in_guideline: bool,
    now: datetime,
) -> None:
    """Answer a question, or change the answer. For leads.

    `seen`: the answer that was on the screen. Raises ConflictError if another lead has changed it since.
    """
    words = _require_words(answer)
    with database.write() as session:
        row, person_pk = enter_dataset(session, actor, dataset, "lead"), require_person(actor)
        lock_dataset(session, key_of(row.pk))
        question = _require_question(session, row, number)
        if question.answer not in (seen, words):
            raise ConflictError(
                say("Another lead answered in the meantime. Read that answer first. Yours was not saved.")
            )
        before = _record(question)
        if question.answer != words:
            question.answer, question.answered_by_pk, question.answered_at = words, person_pk, now
        question.in_guideline = in_guideline
        session.add(question)
        _note(session, row, question, person_pk, before, now)
        derive_disagreements(session, key_of(row.pk), [question.pair_pk])


def flag_for_guideline(
    database: Database, actor: Actor, dataset: str, number: int, *, in_guideline: bool
) -> None:
    """Note that the guideline shall cover the question, or that it need not. For leads."""
    with open_dataset(database, actor, dataset, "lead", writing=True) as (session, row, dataset_pk):
        lock_dataset(session, dataset_pk)
        question = _require_question(session, row, number)
        question.in_guideline = in_guideline
        session.add(question)


def _record(question: QuestionRow) -> dict[str, object]:
    return {"question": question.pk, "answer": question.answer, "in_guideline": question.in_guideline}


def _note(
    session: Session,
    row: DatasetRow,
    question: QuestionRow,
    person_pk: int,
    before: dict[str, object],
    now: datetime,
) -> None:
    """Log the new answer, unless it equals the one before."""
    after = _record(question)
    if after != before:
        event = AuditEvent(
            "answered question", key_of(row.pk), person_pk, now, question.pair_pk, before, after
        )
        add_events(session, [event])


def _require_question(session: Session, dataset: DatasetRow, number: int) -> QuestionRow:
    question = find_question(session, key_of(dataset.pk), number)
    if question is None:
        raise NotFound(say("there is no such question in this dataset"))
    return question


def _require_words(text: str) -> str:
    words = clean_text(text).strip()
    if not words:
        raise ValidationError(say("Enter some text first."))
    if len(words) > MOST_CHARACTERS:
        raise ValidationError(
            say(
                "Enter at most {most:,} characters (now {found:,}).",
                most=MOST_CHARACTERS,
                found=len(words),
            )
        )
    return words
