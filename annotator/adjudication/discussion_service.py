"""Let annotators discuss a disagreement before a lead decides, read the decision, and object once.

Nobody sees others' judgments of a pair, or its decision, while they still have work on its query. Who has seen them no
longer judges the pair; this is noted in the same transaction. A turn is no judgment and never counts. Annotators appear
as the letters that leads know them by. Refuses, with a sentence: who did not judge the pair, a second turn or
objection, and a turn or objection on something that has changed since.
"""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.adjudication.decisions_sql import list_answers
from annotator.adjudication.discussion_sql import (
    count_judged,
    digest_answers,
    is_discussed,
    list_busy_queries,
    list_judges,
    list_own,
    list_turns,
    list_waiting,
    show_discussion,
)
from annotator.adjudication.objections_sql import find_own_decision, list_new, read_decisions
from annotator.adjudication.records import DiscussionTurn, OwnDecision, OwnDecisions, OwnDiscussion
from annotator.domain.errors import ConflictError, NotAllowed, NotFound, StateError
from annotator.domain.grades import check_grade
from annotator.domain.messages import Message, say
from annotator.domain.people import Actor
from annotator.domain.settling import Decided
from annotator.domain.texts import NO_WORDS, check_text
from annotator.people.service import require_person, require_role
from annotator.storage.adjudication_tables import (
    CurrentAdjudicationRow,
    DiscussionRow,
    DiscussionTurnRow,
    ObjectionRow,
)
from annotator.storage.audit_log import Action, AuditEvent, add_events
from annotator.storage.database import Database, lock_dataset
from annotator.storage.disagreements import derive_disputes, list_disputes
from annotator.storage.disclosures import add_seen, has_seen
from annotator.storage.document_text import read_present_text
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.open_pairs import make_worklist
from annotator.storage.tables import CurrentJudgmentRow, DatasetRow, PairRow, QueryRow

NOT_JUDGED = say("you did not judge this pair")
NOT_DISCUSSED = say(
    "this pair is not discussed, or no longer: a lead has decided it or closed the discussion"
)
NOT_LOOKED = say("look at what the others said first")
SAID_ALREADY = say("you have said what you think of this pair already; that is done once")
OBJECTED_ALREADY = say("you have objected to what was decided on this pair; that is done once")
JUDGMENTS_CHANGED = say("somebody has changed or added a judgment of this pair meanwhile; look at it again")


def say_open_work(query_id: str) -> Message:
    """Why somebody is not shown a pair of this query yet."""
    return say(
        "first judge what is still open to you of query {query_id}: then this is shown", query_id=query_id
    )


def find_unaskable(judges: int, able: Collection[str], said: Collection[str]) -> Message | None:
    """Why there is nothing to ask for, None where there is. `judges`: how many judged the pair; `able`: those of them who
    can be asked, `said`: who has spoken (usernames)."""
    if judges < 2:
        return say("fewer than two annotators judged this pair, so there is nobody to discuss it with")
    if len(able) < 2:
        return say(
            "fewer than two of those who judged this pair can still be asked: the others are disabled, simulated or without a role"
        )
    if set(able) <= set(said):
        return say("everybody who can be asked has said what they think of this pair already")
    return None


def say_changed(decision: OwnDecision | None) -> Message:
    """What holds now in place of the decision that was objected to."""
    if decision is None or decision.outcome == "withdrawn":
        return say("the decision was taken back meanwhile; the pair waits for a lead again")
    if decision.grade is None:
        return say("a lead has decided anew meanwhile: this pair cannot be rated; read that decision first")
    return say(
        "a lead has decided anew meanwhile, at {grade}; read that decision first", grade=decision.grade
    )


MOST_DISCUSSIONS, MOST_NEW = 200, 100
SHOWN_CHARACTERS = 200_000


def ask_to_discuss(database: Database, actor: Actor, dataset: str, pair: str, *, now: datetime) -> None:
    """Ask those who judged a pair to look at each other's notes before a lead decides. For leads. Asking again changes
    nothing; a discussion that was closed goes on. StateError where nothing waits for a decision, or fewer than two of
    them can be asked."""
    with database.write() as session:
        row, lead_pk = _enter(session, actor, dataset, "lead"), require_person(actor)
        lock_dataset(session, key_of(row.pk))
        pair_pk = _find_pair(session, row, pair).pk
        known = session.get(DiscussionRow, pair_pk)
        if is_discussed(session, row, key_of(pair_pk)):
            return
        _require_askable(session, row, key_of(pair_pk))
        if known is None:
            session.add(DiscussionRow(pair_pk=key_of(pair_pk), asked_by_pk=lead_pk, asked_at=now))
        else:
            known.asked_by_pk, known.asked_at, known.closed_at = lead_pk, now, None
        _note(session, "asked to discuss", row, key_of(pair_pk), lead_pk, now)


def close_discussion(database: Database, actor: Actor, dataset: str, pair: str, *, now: datetime) -> None:
    """End a pair's discussion, whoever asked for it: nobody else is shown anything, what was said stays. For leads."""
    with database.write() as session:
        row, lead_pk = _enter(session, actor, dataset, "lead"), require_person(actor)
        lock_dataset(session, key_of(row.pk))
        pair_pk = key_of(_find_pair(session, row, pair).pk)
        if not is_discussed(session, row, pair_pk):
            return
        known = session.get(DiscussionRow, pair_pk)
        if known is None:
            known = DiscussionRow(pair_pk=pair_pk, asked_by_pk=lead_pk, asked_at=now)
            session.add(known)
        known.closed_at = now
        _note(session, "closed discussion", row, pair_pk, lead_pk, now)


def list_own_discussions(
    database: Database, actor: Actor, dataset: str, *, now: datetime
) -> list[OwnDiscussion]:
    """The discussions of pairs that the annotator judged, while they go on: 200, those that wait for them first. What others
    said is in those only that they have opened, and whose query asks nothing of them any more."""
    with database.read() as session:
        row, person_pk = _enter(session, actor, dataset, "annotator"), require_person(actor)
        worklist = make_worklist(row, person_pk, now)
        found = list_own(session, worklist, row, most=MOST_DISCUSSIONS)
        if not found:
            return []
        busy = list_busy_queries(session, worklist, row, {query_pk for _, query_pk, _ in found})
        shown = [
            show_discussion(session, row, (person_pk, actor.username), pair_pk, busy=query_pk in busy)
            for pair_pk, query_pk, _ in found
        ]
    order = {"open": 0, "waiting": 1, "own_work": 2, "said": 3}
    return sorted(shown, key=lambda one: order[one.stage])


def open_discussion(
    database: Database, actor: Actor, dataset: str, pair: str, *, now: datetime
) -> OwnDiscussion:
    """Look at what the others said of a pair. From then on the annotator's own judgment of it stays as it is. StateError
    while something of its query is still theirs to answer."""
    with database.write() as session:
        row, person_pk, found = _enter_own(session, actor, dataset, pair)
        pair_pk = key_of(found.pk)
        if not is_discussed(session, row, pair_pk):
            raise StateError(NOT_DISCUSSED)
        _require_done(session, row, person_pk, found, now)
        add_seen(session, [pair_pk], person_pk, now=now)
        return show_discussion(session, row, (person_pk, actor.username), pair_pk, busy=False)


def say_in_discussion(
    database: Database,
    actor: Actor,
    dataset: str,
    pair: str,
    *,
    decided: Decided,
    note: str,
    seen: str,
    now: datetime,
) -> DiscussionTurn:
    """Stand by the own judgment or revise it, once, in the round that nothing counts. `decided`: 0-3 or "unrateable",
    the own judgment's to stand; `seen`: of the discussion as it was shown. The same sent twice is one."""
    outcome, grade = ("unrateable", None) if decided == "unrateable" else ("graded", check_grade(decided))
    words = check_text(say("note"), note, empty=None) or None
    with database.write() as session:
        row, person_pk, found = _enter_own(session, actor, dataset, pair)
        pair_pk = key_of(found.pk)
        known = session.get(DiscussionTurnRow, (pair_pk, person_pk))
        if known is not None:
            if (known.outcome, known.grade, known.note) != (outcome, grade, words):
                raise StateError(SAID_ALREADY)
            return DiscussionTurn(known.outcome, known.grade, known.note, known.revised, known.said_at)
        if not is_discussed(session, row, pair_pk):
            raise StateError(NOT_DISCUSSED)
        _require_done(session, row, person_pk, found, now)
        if not has_seen(session, pair_pk, person_pk):
            raise StateError(NOT_LOOKED)
        answers = list_answers(session, [pair_pk]).get(pair_pk, [])
        if digest_answers(answers) != seen:
            raise ConflictError(JUDGMENTS_CHANGED)
        own = next(one for one in answers if one.annotator == actor.username and not one.quality)
        revised = (outcome, grade) != (own.outcome, own.grade)
        turn = {
            "pair_pk": pair_pk,
            "annotator_pk": person_pk,
            "outcome": outcome,
            "grade": grade,
            "revised": revised,
            "note": words,
            "said_at": now,
        }
        session.add(DiscussionTurnRow.model_validate(turn))
        return DiscussionTurn(outcome, grade, words, revised, now)


def read_discussed_text(
    database: Database, actor: Actor, dataset: str, pair: str, *, characters: int = SHOWN_CHARACTERS
) -> str | None:
    """The beginning of the document of a pair that the annotator judged; None without its text."""
    with database.read() as session:
        row, person_pk = _enter(session, actor, dataset, "annotator"), require_person(actor)
        pair_pk = key_of(_find_pair(session, row, pair).pk)
        _require_judged(session, person_pk, pair_pk)
        return read_present_text(session, pair_pk, characters=characters)


def list_own_decisions(
    database: Database,
    actor: Actor,
    dataset: str,
    *,
    differing: bool = False,
    page: int = 0,
    size: int = 20,
    now: datetime,
) -> OwnDecisions:
    """What was decided on the pairs that the annotator judged, the latest first; `differing`: only what is otherwise
    than they judged. What is shown is noted: those pairs they judge no more."""
    with database.read() as session:
        row, person_pk = _enter(session, actor, dataset, "annotator"), require_person(actor)
        worklist = make_worklist(row, person_pk, now)
        found, shown = read_decisions(session, worklist, row, differing=differing, page=page, size=size)
        if not any(one.new for one in found.decisions):
            return found
    with database.write() as session:
        row = _enter(session, actor, dataset, "annotator")
        lock_dataset(session, key_of(row.pk))
        found, shown = read_decisions(session, worklist, row, differing=differing, page=page, size=size)
        add_seen(session, shown, person_pk, now=now)
        return found


def object_to_decision(
    database: Database, actor: Actor, dataset: str, pair: str, *, text: str, seen: int, now: datetime
) -> None:
    """Object to what was decided on a pair that the annotator judged, once. `seen`: the revision of the decision that was
    shown; ConflictError, saying what changed, where another holds by now. The pair waits for a lead again."""
    words = check_text(say("objection"), text, empty=NO_WORDS)
    with database.write() as session:
        row, person_pk, found = _enter_own(session, actor, dataset, pair)
        worklist = make_worklist(row, person_pk, now)
        _require_done(session, row, person_pk, found, now)
        pair_pk = key_of(found.pk)
        known = session.get(ObjectionRow, (pair_pk, person_pk))
        if known is not None:
            if known.text == words:
                return
            raise StateError(OBJECTED_ALREADY)
        decision = find_own_decision(session, worklist, pair_pk)
        if decision is None or decision.revision != seen:
            raise ConflictError(say_changed(decision))
        objection = {
            "pair_pk": pair_pk,
            "annotator_pk": person_pk,
            "text": words,
            "objected_at": now,
            "adjudication_pk": session.get_one(CurrentAdjudicationRow, pair_pk).adjudication_pk,
        }
        session.add(ObjectionRow.model_validate(objection))
        add_seen(session, [pair_pk], person_pk, now=now)
        derive_disputes(session, key_of(row.pk), [pair_pk])


def count_news(database: Database, actor: Actor, dataset: str, *, now: datetime) -> int:
    """How many discussions wait for the annotator and how many decisions on their pairs they have not been shown, of those
    that they may see: at most 100 of each."""
    with database.read() as session:
        row, person_pk = _enter(session, actor, dataset, "annotator"), require_person(actor)
        worklist = make_worklist(row, person_pk, now)
        if not count_judged(session, worklist, most=1):
            return 0
        waiting = list_waiting(session, worklist, row, most=MOST_NEW)
        return len(waiting) + len(list_new(session, worklist, row, most=MOST_NEW))


def _enter(session: Session, actor: Actor, dataset: str, needed: str) -> DatasetRow:
    row = find_dataset(session, dataset)
    require_role(session, actor, key_of(row.pk), needed)
    return row


def _enter_own(session: Session, actor: Actor, dataset: str, pair: str) -> tuple[DatasetRow, int, PairRow]:
    """For whoever judged the pair and is about to say or to see something of it."""
    row, person_pk = _enter(session, actor, dataset, "annotator"), require_person(actor)
    lock_dataset(session, key_of(row.pk))
    found = _find_pair(session, row, pair)
    _require_judged(session, person_pk, key_of(found.pk))
    return row, person_pk, found


def _find_pair(session: Session, dataset: DatasetRow, pair: str) -> PairRow:
    of_dataset = (col(PairRow.dataset_pk) == dataset.pk, col(PairRow.retired_at).is_(None))
    found = session.scalars(select(PairRow).where(col(PairRow.key) == pair, *of_dataset)).first()
    if found is None:
        raise NotFound(say("no pair {pair!r} in this dataset", pair=pair))
    return found


def _require_judged(session: Session, person_pk: int, pair_pk: int) -> None:
    judged = session.get(CurrentJudgmentRow, (pair_pk, person_pk))
    if judged is None or judged.outcome == "later":
        raise NotAllowed(NOT_JUDGED)


def _require_done(
    session: Session, dataset: DatasetRow, person_pk: int, pair: PairRow, now: datetime
) -> None:
    """StateError while something of the pair's query is still theirs to answer."""
    worklist = make_worklist(dataset, person_pk, now)
    if list_busy_queries(session, worklist, dataset, [pair.query_pk]):
        query_id = session.get_one(QueryRow, pair.query_pk).query_id
        raise StateError(say_open_work(query_id))


def _require_askable(session: Session, dataset: DatasetRow, pair_pk: int) -> None:
    dispute = list_disputes(session, [pair_pk]).get(pair_pk)
    if dispute is None or not dispute.open:
        raise StateError(say("this pair does not wait for a lead, so there is nothing to discuss"))
    judges = list_judges(session, key_of(dataset.pk), [pair_pk]).get(pair_pk, [])
    said = list_turns(session, [pair_pk]).get(pair_pk, {})
    why = find_unaskable(len(judges), [one.username for one in judges if one.able], said)
    if why is not None:
        raise StateError(why)


def _note(
    session: Session, action: Action, dataset: DatasetRow, pair_pk: int, lead_pk: int, now: datetime
) -> None:
    add_events(session, [AuditEvent(action, key_of(dataset.pk), lead_pk, now, pair_pk)])
