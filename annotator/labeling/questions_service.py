"""Questions that annotators ask about a pair, and the leads' answers, which can be marked for the guideline.

Never shows a grade. A question may still hint at one, so a lead who may have to judge the pair is warned before
reading. Refuses a question on a pair that was not shown to the person. An answer can be replaced, but only by a lead
who has seen the present one; the latest answer is stored with its author and time.
"""

import uuid
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.domain.errors import ConflictError, NotAllowed, NotFound, ValidationError
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.domain.texts import holds_no_text
from annotator.labeling.questions_sql import PairQuestion as PairQuestion
from annotator.labeling.questions_sql import (
    count_unanswered,
    find_question,
    find_same_question,
    list_questions_by,
    list_questions_of,
    was_shown,
)
from annotator.people.service import require_person, require_role
from annotator.storage.audit_log import AuditEvent, add_events
from annotator.storage.database import Database, lock_dataset
from annotator.storage.disagreements import derive_disputes
from annotator.storage.document_text import read_present_text
from annotator.storage.labeling_tables import QuestionRow
from annotator.storage.lookup import find_dataset, find_pair_pk, key_of
from annotator.storage.tables import DatasetRow

MOST_CHARACTERS, SHOWN_CHARACTERS = 5_000, 20_000


def ask_question(
    database: Database, actor: Actor, dataset: str, *, pair: str, text: str, event_id: str, now: datetime
) -> int:
    """Ask the leads about a pair that was handed to the annotator or answered by them; returns the question's number.

    `event_id` is the browser's, a UUID. Sent again (the same words by the same person on the same pair), it changes
    nothing.
    """
    _require_uuid(event_id)
    words = _require_words(text)
    with database.write() as session:
        row, person_pk = _enter(session, actor, dataset, "annotator"), require_person(actor)
        lock_dataset(session, key_of(row.pk))
        pair_pk = find_pair_pk(session, key_of(row.pk), person_pk, pair)
        if pair_pk is None or not was_shown(session, pair_pk, person_pk):
            raise NotAllowed(say("this pair was not shown to you"))
        known = find_same_question(session, pair_pk, person_pk, words)
        if known is not None:
            return key_of(known.pk)
        asked = QuestionRow(pair_pk=pair_pk, annotator_pk=person_pk, text=words, asked_at=now)
        session.add(asked)
        session.flush()
        derive_disputes(session, key_of(row.pk), [pair_pk])
        return key_of(asked.pk)


def list_own_questions(database: Database, actor: Actor, dataset: str) -> list[PairQuestion]:
    """What the annotator asked, the latest first, with the answers."""
    with database.read() as session:
        row = _enter(session, actor, dataset, "annotator")
        return list_questions_by(session, key_of(row.pk), require_person(actor))


def list_questions(database: Database, actor: Actor, dataset: str) -> list[PairQuestion]:
    """Every question, those that wait for an answer first. For leads."""
    with database.read() as session:
        row = _enter(session, actor, dataset, "lead")
        return list_questions_of(session, key_of(row.pk), reader_pk=actor.person_id)


def list_for_guideline(database: Database, actor: Actor, dataset: str) -> list[PairQuestion]:
    """The answered questions that a lead wants the guideline to speak of, in the order of asking. For leads."""
    found = [
        item
        for item in list_questions(database, actor, dataset)
        if item.in_guideline and item.answer is not None
    ]
    return sorted(found, key=lambda item: (item.asked_at, item.number))


def count_open_questions(database: Database, actor: Actor, dataset: str) -> int:
    """How many questions wait for an answer. For leads."""
    with database.read() as session:
        return count_unanswered(session, key_of(_enter(session, actor, dataset, "lead").pk))


def read_question_text(database: Database, actor: Actor, dataset: str, number: int) -> str | None:
    """The beginning of the document that a question is about (None: its text was not imported). For leads."""
    with database.read() as session:
        row = _enter(session, actor, dataset, "lead")
        asked = _require_question(session, row, number)
        return read_present_text(session, asked.pair_pk, characters=SHOWN_CHARACTERS)


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
    """Answer a question, or answer it anew. For leads. `seen`: the answer that was on the screen; ConflictError when
    another lead has given a different one meanwhile."""
    words = _require_words(answer)
    with database.write() as session:
        row, person_pk = _enter(session, actor, dataset, "lead"), require_person(actor)
        lock_dataset(session, key_of(row.pk))
        asked = _require_question(session, row, number)
        if asked.answer not in (seen, words):
            raise ConflictError(
                say("Another lead has answered meanwhile. Read that answer first; yours is not stored.")
            )
        before = _record(asked)
        if asked.answer != words:
            asked.answer, asked.answered_by_pk, asked.answered_at = words, person_pk, now
        asked.in_guideline = in_guideline
        session.add(asked)
        _note(session, row, asked, person_pk, before, now)
        derive_disputes(session, key_of(row.pk), [asked.pair_pk])


def mark_for_guideline(
    database: Database, actor: Actor, dataset: str, number: int, *, in_guideline: bool
) -> None:
    """Say that the guideline shall speak of it, or take that back. For leads."""
    with database.write() as session:
        row = _enter(session, actor, dataset, "lead")
        lock_dataset(session, key_of(row.pk))
        asked = _require_question(session, row, number)
        asked.in_guideline = in_guideline
        session.add(asked)


def _enter(session: Session, actor: Actor, dataset: str, needed: str) -> DatasetRow:
    row = find_dataset(session, dataset)
    require_role(session, actor, key_of(row.pk), needed)
    return row


def _record(asked: QuestionRow) -> dict[str, object]:
    return {"question": asked.pk, "answer": asked.answer, "in_guideline": asked.in_guideline}


def _note(
    session: Session,
    row: DatasetRow,
    asked: QuestionRow,
    person_pk: int,
    before: dict[str, object],
    now: datetime,
) -> None:
    """Append what was answered to the trail; nothing where it is what was answered before."""
    after = _record(asked)
    if after != before:
        event = AuditEvent("answered question", key_of(row.pk), person_pk, now, asked.pair_pk, before, after)
        add_events(session, [event])


def _require_question(session: Session, dataset: DatasetRow, number: int) -> QuestionRow:
    found = find_question(session, key_of(dataset.pk), number)
    if found is None:
        raise NotFound(say("there is no such question in this dataset"))
    return found


def _require_words(text: str) -> str:
    words = text.strip()
    if not words:
        raise ValidationError(say("Write something first."))
    if len(words) > MOST_CHARACTERS:
        raise ValidationError(
            say(
                "Expected at most {most:,} characters, found {found:,}.",
                most=MOST_CHARACTERS,
                found=len(words),
            )
        )
    if holds_no_text(words):
        raise ValidationError(say("expected text, found a character that is none"))
    return words


def _require_uuid(event_id: str) -> None:
    try:
        uuid.UUID(event_id)
    except ValueError:
        raise ValidationError(f"id: expected a UUID, found {event_id!r:.80}") from None
