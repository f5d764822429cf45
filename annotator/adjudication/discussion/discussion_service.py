"""Let annotators discuss a disagreement before a lead decides, read the decision, and object once.

Annotators see others' judgments of a pair, or its decision, only after they have finished its query. From
then on they no longer judge the pair; this is noted in the same transaction. A turn is no judgment and never
counts. Annotators appear as letters, the same as for leads. Refused are people who did not judge the pair, a
second turn or objection, and a turn or objection on something that has changed since.
"""

from collections.abc import Collection
from datetime import datetime
from functools import partial

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.adjudication.decisions_sql import list_judgments
from annotator.adjudication.disagreement_records import (
    DiscussionTurn,
    OwnDecision,
    OwnDecisions,
    OwnDiscussions,
    OwnNews,
)
from annotator.adjudication.discussion.discussion_sql import (
    count_judged,
    digest_judgments,
    is_discussed,
    list_busy_queries,
    list_judges,
    list_own_discussed_pairs,
    list_turns,
    list_unspoken,
    read_own_discussions,
)
from annotator.adjudication.discussion.objections_sql import (
    find_own_decision,
    list_decisions_for_annotator,
    list_unseen_decisions,
    note_decisions_seen,
)
from annotator.domain.errors import ConflictError, NotAllowed, NotFound, StateError
from annotator.domain.grades import check_grade
from annotator.domain.messages import Message, say
from annotator.domain.people import Actor
from annotator.domain.settling import Decided
from annotator.domain.texts import NO_WORDS, check_text
from annotator.people.roles_service import enter_dataset, open_dataset, require_person
from annotator.storage.database import Database, lock_dataset
from annotator.storage.logs.audit_log import AuditEvent, add_events
from annotator.storage.logs.disclosures import (
    add_seen,
    has_seen,
    list_seen,
    note_seen,
    require_not_to_judge,
)
from annotator.storage.lookup import key_of, make_open_pairs_request
from annotator.storage.pairs.disagreements import derive_disagreements, list_disagreements
from annotator.storage.pairs.document_text import read_present_text
from annotator.storage.tables.adjudication import (
    CurrentAdjudicationRow,
    DiscussionRow,
    DiscussionTurnRow,
    ObjectionRow,
)
from annotator.storage.tables.central import CurrentJudgmentRow, DatasetRow, PairRow, QueryRow

NOT_JUDGED = say("You have not judged this pair.")
NOT_DISCUSSED = say(
    "This pair is no longer under discussion: a lead has decided it or closed the discussion."
)
NOT_LOOKED = say("First look at the judgments of the others.")
SAID_ALREADY = say("You have already replied about this pair. Each annotator replies once.")
OBJECTED_ALREADY = say(
    "You have already objected to the decision on this pair. Each annotator can object once."
)
JUDGMENTS_CHANGED = say(
    "A judgment of this pair has been added or changed in the meantime. Look at the pair again."
)


def find_unaskable(judges: int, able: Collection[str], spoken: Collection[str]) -> Message | None:
    """Return why nobody can be asked to discuss a pair; None if somebody can.

    `judges`: the number of annotators of the pair. `able`: those who can be asked. `spoken`: those who have
    spoken.
    """
    if judges < 2:
        return say("Fewer than two annotators have judged this pair, so there is nobody to discuss it with.")
    if len(able) < 2:
        return say(
            "Fewer than two annotators of this pair can be asked: the others are disabled, simulated or "
            "have no role."
        )
    if set(able) <= set(spoken):
        return say("Every annotator who can be asked has already replied.")
    return None


def explain_changed_decision(decision: OwnDecision | None) -> Message:
    """Say what has replaced the decision that an annotator objects to. `decision`: the present one."""
    if decision is None or decision.outcome == "withdrawn":
        return say("The decision has been withdrawn in the meantime. The pair is waiting for a lead again.")
    if decision.grade is None:
        return say("A lead has changed the decision to “cannot rate” in the meantime. Read it first.")
    return say(
        "A lead has changed the decision to {grade} in the meantime. Read it first.", grade=decision.grade
    )


PAGE, MOST_NEWS = 20, 100
SHOWN_CHARACTERS = 200_000


def ask_to_discuss(database: Database, actor: Actor, dataset: str, pair: str, *, now: datetime) -> None:
    """Ask the annotators of a pair to look at each other's notes before a lead decides. For leads.

    Asking again changes nothing; a closed discussion is opened again. StateError if the pair does not wait
    for a decision, or if fewer than two of its annotators can be asked.
    """
    with database.write() as session:
        row, lead_pk, pair_pk = _enter_as_lead(session, actor, dataset, pair)
        if is_discussed(session, row, pair_pk):
            return
        _require_askable(session, row, pair_pk)
        discussion = session.get(DiscussionRow, pair_pk)
        if discussion is None:
            session.add(DiscussionRow(pair_pk=pair_pk, asked_by_pk=lead_pk, asked_at=now))
        else:
            discussion.asked_by_pk, discussion.asked_at, discussion.closed_at = lead_pk, now, None
        add_events(session, [AuditEvent("asked to discuss", key_of(row.pk), lead_pk, now, pair_pk)])


def close_discussion(database: Database, actor: Actor, dataset: str, pair: str, *, now: datetime) -> None:
    """End a pair's discussion. What was said stays, and no further annotator can look or speak. For leads."""
    with database.write() as session:
        row, lead_pk, pair_pk = _enter_as_lead(session, actor, dataset, pair)
        if not is_discussed(session, row, pair_pk):
            return
        discussion = session.get(DiscussionRow, pair_pk)
        if discussion is None:
            discussion = DiscussionRow(pair_pk=pair_pk, asked_by_pk=lead_pk, asked_at=now)
            session.add(discussion)
        discussion.closed_at = now
        add_events(session, [AuditEvent("closed discussion", key_of(row.pk), lead_pk, now, pair_pk)])


def list_own_discussions(
    database: Database, actor: Actor, dataset: str, *, limit: int = PAGE, offset: int = 0, now: datetime
) -> OwnDiscussions:
    """Return a page of the annotator's open discussions, those that wait for the annotator first.

    Only where the annotator has no open work on the query. Which pairs are discussed tells something of others' grades, so
    from then on the annotator's own judgments of all of them stay as they are.
    """

    def read(session: Session) -> tuple[OwnDiscussions, set[int]]:
        row, person_pk = enter_dataset(session, actor, dataset, "annotator"), require_person(actor)
        pair_pks = list_own_discussed_pairs(session, make_open_pairs_request(row, person_pk, now), row)
        part = pair_pks[offset : offset + limit]
        discussions = read_own_discussions(session, row, actor.username, part)
        new = set(pair_pks) - list_seen(session, person_pk, pair_pks)
        return OwnDiscussions(len(pair_pks), tuple(discussions)), new

    with database.read() as session:
        discussions, new = read(session)
    if new:
        with database.write() as session:
            lock_dataset(session, key_of(enter_dataset(session, actor, dataset, "annotator").pk))
            discussions, new = read(session)
            add_seen(session, new, require_person(actor), now=now)
    return discussions


def take_discussion_turn(
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
    """Store the annotator's one turn in a discussion: keep or revise the own judgment. It counts nowhere.

    `decided`: 0-3 or "unrateable"; the same as the own judgment to keep it. `seen`: `OwnDiscussion.seen`. The
    same turn sent twice is stored once.
    """
    outcome, grade = ("unrateable", None) if decided == "unrateable" else ("graded", check_grade(decided))
    note_text = check_text(say("note"), note, empty=None) or None
    with database.write() as session:
        row, person_pk, pair_row = _enter_as_judge(session, actor, dataset, pair)
        pair_pk = key_of(pair_row.pk)
        stored = session.get(DiscussionTurnRow, (pair_pk, person_pk))
        if stored is not None:
            if (stored.outcome, stored.grade, stored.note) != (outcome, grade, note_text):
                raise StateError(SAID_ALREADY)
            return DiscussionTurn(stored.outcome, stored.grade, stored.note, stored.revised, stored.said_at)
        if not has_seen(session, pair_pk, person_pk):
            raise StateError(NOT_LOOKED)
        if not is_discussed(session, row, pair_pk):
            raise StateError(NOT_DISCUSSED)
        _require_no_open_work(session, row, person_pk, pair_row, now)
        judgments = list_judgments(session, [pair_pk]).get(pair_pk, [])
        if digest_judgments(judgments) != seen:
            raise ConflictError(JUDGMENTS_CHANGED)
        own = next(
            judgment
            for judgment in judgments
            if judgment.annotator == actor.username and not judgment.quality
        )
        revised = (outcome, grade) != (own.outcome, own.grade)
        turn = {
            "pair_pk": pair_pk,
            "annotator_pk": person_pk,
            "outcome": outcome,
            "grade": grade,
            "revised": revised,
            "note": note_text,
            "said_at": now,
        }
        session.add(DiscussionTurnRow.model_validate(turn))
        return DiscussionTurn(outcome, grade, note_text, revised, now)


def read_discussed_text(
    database: Database, actor: Actor, dataset: str, pair: str, *, characters: int = SHOWN_CHARACTERS
) -> str | None:
    """Return the beginning of the document of a pair that the annotator judged; None without its text."""
    with database.read() as session:
        row, person_pk = enter_dataset(session, actor, dataset, "annotator"), require_person(actor)
        pair_pk = key_of(_find_pair(session, row, pair).pk)
        _require_judged(session, person_pk, pair_pk)
        return read_present_text(session, pair_pk, characters=characters)


def list_own_decisions(
    database: Database,
    actor: Actor,
    dataset: str,
    *,
    differing: bool = False,
    limit: int = PAGE,
    offset: int = 0,
    visit: datetime | None = None,
    now: datetime,
) -> OwnDecisions:
    """Return a page of the decisions on pairs that the annotator judged, and note that they were shown.

    The annotator no longer judges these pairs. `differing`: only decisions that differ from the annotator's
    judgment. `visit`: when the annotator's visit began (None: now); decisions that were not shown before it
    come first.
    """
    read = partial(
        list_decisions_for_annotator, differing=differing, visit=visit or now, limit=limit, offset=offset
    )
    with database.read() as session:
        row, person_pk = enter_dataset(session, actor, dataset, "annotator"), require_person(actor)
        request = make_open_pairs_request(row, person_pk, now)
        decisions, _ = read(session, request, row)
        if not any(decision.unread for decision in decisions.decisions):
            return decisions
    with open_dataset(database, actor, dataset, "annotator", writing=True) as (session, row, dataset_pk):
        lock_dataset(session, dataset_pk)
        decisions, pair_pks = read(session, request, row)
        note_decisions_seen(session, person_pk, pair_pks, now=now)
        return decisions


def object_to_decision(
    database: Database, actor: Actor, dataset: str, pair: str, *, text: str, seen: int, now: datetime
) -> None:
    """Store the annotator's one objection to a pair's decision. The pair then waits for a lead.

    `seen`: the revision of the decision that was shown. ConflictError, saying what changed, if another holds
    now.
    """
    objection_text = check_text(say("objection"), text, empty=NO_WORDS)
    with database.write() as session:
        row, person_pk, pair_row = _enter_as_judge(session, actor, dataset, pair)
        request = make_open_pairs_request(row, person_pk, now)
        _require_no_open_work(session, row, person_pk, pair_row, now)
        pair_pk = key_of(pair_row.pk)
        stored = session.get(ObjectionRow, (pair_pk, person_pk))
        if stored is not None:
            if stored.text == objection_text:
                return
            raise StateError(OBJECTED_ALREADY)
        decision = find_own_decision(session, request, pair_pk)
        if decision is None or decision.revision != seen:
            raise ConflictError(explain_changed_decision(decision))
        objection = {
            "pair_pk": pair_pk,
            "annotator_pk": person_pk,
            "text": objection_text,
            "objected_at": now,
            "adjudication_pk": session.get_one(CurrentAdjudicationRow, pair_pk).adjudication_pk,
        }
        session.add(ObjectionRow.model_validate(objection))
        note_decisions_seen(session, person_pk, [pair_pk], now=now)
        derive_disagreements(session, key_of(row.pk), [pair_pk])


def count_news(database: Database, actor: Actor, dataset: str, *, now: datetime) -> OwnNews:
    """Count the discussions that wait for the annotator, and the decisions that they may see and have not been shown.

    The annotator's own judgments of the pairs that are counted then stay as they are (`list_own_discussions`).
    """
    with database.read() as session:
        row, person_pk = enter_dataset(session, actor, dataset, "annotator"), require_person(actor)
        request = make_open_pairs_request(row, person_pk, now)
        if not count_judged(session, request, most=1):
            return OwnNews(0, 0)
        unspoken = list_unspoken(session, request, row, most=MOST_NEWS)
        unseen = list_unseen_decisions(session, request, row, most=MOST_NEWS)
    note_seen(database, unspoken, person_pk, now=now)
    return OwnNews(len(unspoken), len(unseen))


def _enter_as_lead(session: Session, actor: Actor, dataset: str, pair: str) -> tuple[DatasetRow, int, int]:
    """Return the locked dataset, person_pk and pair_pk. StateError if the lead may still judge it."""
    row, lead_pk = enter_dataset(session, actor, dataset, "lead"), require_person(actor)
    lock_dataset(session, key_of(row.pk))
    pair_pk = key_of(_find_pair(session, row, pair).pk)
    require_not_to_judge(session, lead_pk, pair_pk)
    return row, lead_pk, pair_pk


def _enter_as_judge(
    session: Session, actor: Actor, dataset: str, pair: str
) -> tuple[DatasetRow, int, PairRow]:
    """Return the locked dataset, person_pk and the pair. NotAllowed if the person did not judge it."""
    row, person_pk = enter_dataset(session, actor, dataset, "annotator"), require_person(actor)
    lock_dataset(session, key_of(row.pk))
    pair_row = _find_pair(session, row, pair)
    _require_judged(session, person_pk, key_of(pair_row.pk))
    return row, person_pk, pair_row


def _find_pair(session: Session, dataset: DatasetRow, pair: str) -> PairRow:
    in_pool = (col(PairRow.dataset_pk) == dataset.pk, col(PairRow.retired_at).is_(None))
    row = session.scalars(select(PairRow).where(col(PairRow.key) == pair, *in_pool)).first()
    if row is None:
        raise NotFound(say("no pair {pair!r} in this dataset", pair=pair))
    return row


def _require_judged(session: Session, person_pk: int, pair_pk: int) -> None:
    judgment = session.get(CurrentJudgmentRow, (pair_pk, person_pk))
    if judgment is None or judgment.outcome == "later":
        raise NotAllowed(NOT_JUDGED)


def _require_no_open_work(
    session: Session, dataset: DatasetRow, person_pk: int, pair: PairRow, now: datetime
) -> None:
    """Raise StateError while the annotator has open work on the pair's query."""
    request = make_open_pairs_request(dataset, person_pk, now)
    if list_busy_queries(session, request, dataset, [pair.query_pk]):
        raise StateError(
            say(
                "Judge your remaining pairs of query {query_id} first. This pair is shown afterwards.",
                query_id=session.get_one(QueryRow, pair.query_pk).query_id,
            )
        )


def _require_askable(session: Session, dataset: DatasetRow, pair_pk: int) -> None:
    disagreement = list_disagreements(session, [pair_pk]).get(pair_pk)
    if disagreement is None or not disagreement.open:
        raise StateError(say("This pair is not waiting for a decision, so there is nothing to discuss."))
    judges = list_judges(session, key_of(dataset.pk), [pair_pk]).get(pair_pk, [])
    spoken = list_turns(session, [pair_pk]).get(pair_pk, {})
    refusal = find_unaskable(len(judges), [judge.username for judge in judges if judge.able], spoken)
    if refusal is not None:
        raise StateError(refusal)
