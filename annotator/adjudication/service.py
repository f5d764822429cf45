"""Let a lead work through disagreements one by one: get the next ones, decide, put off, assign to another lead.

Decisions are append-only: a change or a withdrawal adds a revision. Refuses who is not a lead, a lead who judged the
pair, a missing rationale where one is required, a pair without disagreement, and a decision on judgments that have
changed since they were seen. A pair that a lead opens is held for a few minutes; a hold is shown to others and refuses
nothing. What a lead is given counts as seen: who has seen others' judgments no longer judges the pair.
"""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Literal

from sqlalchemy.orm import Session

from annotator.adjudication.case import (
    BARRED,
    MOST_CHARACTERS,
    WARN_FROM,
    CaseContext,
    TextSketches,
    describe_case,
    find_neighbours,
    list_letters,
    name_answer,
)
from annotator.adjudication.case import CaseBatch as CaseBatch
from annotator.adjudication.case import CaseJudgment as CaseJudgment
from annotator.adjudication.case import CaseOrigin as CaseOrigin
from annotator.adjudication.case import DisagreementView as DisagreementView
from annotator.adjudication.case_sql import (
    describe_documents,
    find_case_pk,
    list_case_facts,
    list_documents,
    read_how_far,
    read_place,
    read_texts,
)
from annotator.adjudication.decision_check import (
    DecisionRequest,
    check_decision_request,
    check_state,
    find_repeated_request,
)
from annotator.adjudication.decision_check import JudgedByLead as JudgedByLead
from annotator.adjudication.decision_check import RationaleRequired as RationaleRequired
from annotator.adjudication.decisions_sql import NewDecision, list_answers, list_judged_by, settle_pairs
from annotator.adjudication.impact_service import recompute
from annotator.adjudication.lead_holds_sql import (
    DisagreementLead,
    end_holds,
    find_given,
    give,
    list_leads,
    list_names,
    list_systems_of,
    lock_holds,
    put_off,
    renew_holds,
    take_holds,
)
from annotator.adjudication.queue_head_sql import count_left, list_head
from annotator.adjudication.queue_records import EVERYTHING_OPEN, QueueFilter, check_sort
from annotator.adjudication.queue_sql import QueueReader
from annotator.adjudication.records import Decision
from annotator.domain.errors import NotAllowed, NotFound, ValidationError
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.domain.settling import Decided
from annotator.people.service import require_person, require_role
from annotator.storage.audit_log import AuditEvent, add_events
from annotator.storage.database import Database, lock_dataset
from annotator.storage.disclosures import add_seen, find_pair_pks, note_seen
from annotator.storage.lookup import find_dataset, find_rubric, key_of, to_rubric
from annotator.storage.tables import DatasetRow

MOST_AT_ONCE = 10
MOST_TEXTS = 300
_SKETCHES = TextSketches()


def hand_out_cases(
    database: Database,
    actor: Actor,
    dataset: str,
    wanted: QueueFilter = EVERYTHING_OPEN,
    sort: str = "distance",
    *,
    pair: str | None = None,
    have: Collection[str] = (),
    want: int = 1,
    tab: str = "",
    now: datetime,
) -> CaseBatch:
    """The pair that was asked for, whatever its state; then the head of the queue: `want` cases in all, none of them of
    `have`, which is what the tab has already. They are held for this lead and tab; so is `have` again. For leads."""
    check_sort(sort)
    want = min(want, MOST_AT_ONCE)
    with database.write() if want or have or pair else database.read() as session:
        row, reader = _enter(session, actor, dataset, now)
        chosen = [_require_case(session, row, pair)] if pair is not None else []
        lock_holds(session, reader.dataset_pk)
        if actor.person_id is not None:
            renew_holds(session, reader.dataset_pk, actor.person_id, tab, have, now=now)
        taken = {*have, *([pair] if pair is not None else [])}
        for ahead in (False, True):
            most = want - len(chosen) if ahead else min(want, 1 - len(taken))
            found = list_head(session, reader, wanted, sort, tab=tab, have=taken, limit=most, ahead=ahead)
            chosen += [one.pair_pk for one in found]
            taken |= {one.key for one in found}
        if actor.person_id is not None:
            take_holds(session, actor.person_id, tab, chosen, now=now)
            add_seen(session, chosen, actor.person_id, now=now)
    with database.read() as session:
        row, reader = _enter(session, actor, dataset, now)
        batch = CaseBatch(_read_cases(session, row, reader, chosen), count_left(session, reader, wanted))
        near = _list_shown_beside(session, batch.cases)
    note_seen(database, near, actor.person_id, now=now)
    return batch


def show_case(
    database: Database, actor: Actor, dataset: str, pair: str, *, seed: int | None = None, now: datetime
) -> DisagreementView:
    """One pair as a lead decides on it: anonymous, shuffled by `seed` (None: the dataset's own) and pair. Nothing is held.

    The same on every look, until a judgment or a decision changes. Who has looked can no longer judge it. For leads.
    """
    with database.read() as session:
        row, reader = _enter(session, actor, dataset, now)
        pair_pk = _require_case(session, row, pair)
        (case,) = _read_cases(session, row, reader, [pair_pk], seed=seed)
        near = _list_shown_beside(session, [case])
    note_seen(database, {pair_pk, *near}, actor.person_id, now=now)
    return case


def adjudicate(
    database: Database,
    actor: Actor,
    dataset: str,
    pair: str,
    *,
    grade: Decided | Literal["withdrawn"],
    rationale: str,
    seen: str,
    now: datetime,
    reason: str | None = None,
    cause: str | None = None,
    in_guideline: bool = False,
    seconds: float | None = None,
) -> Decision | None:
    """Settle a dispute, decide it anew, or take a decision back: append a revision and return it. `grade`: 0-3,
    "unrateable" or "withdrawn". None: it stands as a proposal until another lead says the same (`adjudication/records.py`), or
    was one and is taken back.

    `seen` is the case's digest. ConflictError, saying what changed, when the judgments or the decision changed since; of two
    leads who decide at once, one gets it. The same decision sent twice is one. NotAllowed for anybody but a lead who did not
    judge the pair; StateError when nothing is disputed, or nothing decided that could be taken back; ValidationError for the
    grade, the cause, the time or the texts, WordsOwed where they are missing (`adjudication/records.py`). `seconds`: how long the
    pair was open before the lead.
    """
    lead_pk = require_person(actor)
    ruling = check_decision_request(
        grade, rationale, reason, cause, in_guideline=in_guideline, seconds=seconds
    )
    with database.read() as session:
        row, reader = _enter(session, actor, dataset, now)
        unlike = _list_unlike(session, reader, _require_case(session, row, pair), ruling)
    with database.write() as session:
        row, reader = _enter(session, actor, dataset, now)
        lock_dataset(session, reader.dataset_pk)
        pair_pk = _require_case(session, row, pair)
        facts = list_case_facts(session, row, reader, [pair_pk], most=0)[pair_pk]
        if facts.row.judged:
            raise JudgedByLead(BARRED)
        kept = find_repeated_request(facts, ruling, lead_pk, seen)
        if kept is not None:
            return kept.decision
        check_state(facts, ruling, lead_pk)
        wish = NewDecision(pair_pk, pair, **asdict(ruling), unlike=unlike)
        (settled,) = settle_pairs(session, reader.dataset_pk, lead_pk, [wish], now=now)
        recompute(session, reader.dataset_pk, [facts.row.query_pk])
        return settled.decision


def put_off_case(database: Database, actor: Actor, dataset: str, pair: str, *, now: datetime) -> None:
    """Let the pair come last for this lead from now on."""
    lead_pk = require_person(actor)
    with database.write() as session:
        row, reader = _enter(session, actor, dataset, now)
        pair_pk = _require_case(session, row, pair)
        put_off(session, pair_pk, lead_pk, now=now)
        add_events(session, [AuditEvent("put off", reader.dataset_pk, lead_pk, now, pair_pk)])


def assign_case(
    database: Database, actor: Actor, dataset: str, pair: str, *, to: str | None, now: datetime
) -> None:
    """Give the pair to a lead of the dataset (username) to decide; None: to nobody. Nobody else is handed it then.
    ValidationError for whoever is no lead of the dataset; NotAllowed for a lead who judged the pair."""
    with database.write() as session:
        row, reader = _enter(session, actor, dataset, now)
        pair_pk = _require_case(session, row, pair)
        to_pk = None if to is None else _require_lead(session, reader, to)
        if to_pk is not None and list_judged_by(session, to_pk, [pair_pk]):
            raise NotAllowed(
                say("{username} judged this pair; another lead must decide it", username=to or "")
            )
        before = find_given(session, pair_pk)
        if before != to:
            give(session, pair_pk, to_pk, actor.person_id, now=now)
            told = {"to": before}, {"to": to}
            add_events(
                session, [AuditEvent("assigned", reader.dataset_pk, actor.person_id, now, pair_pk, *told)]
            )


def let_go_cases(
    database: Database, actor: Actor, dataset: str, pairs: Collection[str], *, tab: str, now: datetime
) -> None:
    """These pairs are open in this tab no more: others may be handed them at once."""
    lead_pk = require_person(actor)
    with database.write() as session:
        _, reader = _enter(session, actor, dataset, now)
        end_holds(session, reader.dataset_pk, lead_pk, tab, pairs)


def show_origin(database: Database, actor: Actor, dataset: str, pair: str, *, now: datetime) -> CaseOrigin:
    """Who judged the pair, and who put it into the pool. That a lead has looked is kept in the trail. For leads."""
    with database.write() as session:
        row, reader = _enter(session, actor, dataset, now)
        pair_pk = _require_case(session, row, pair)
        answers = list_answers(session, [pair_pk]).get(pair_pk, [])
        letters = list_letters(answers, seed=row.seed, pair=pair)
        names = list_names(session, {answer.annotator for answer in answers})
        add_events(session, [AuditEvent("looked up names", reader.dataset_pk, actor.person_id, now, pair_pk)])
        if actor.person_id is not None:
            add_seen(session, [pair_pk], actor.person_id, now=now)
        people = sorted((letters[name_answer(one)], one.annotator, names[one.annotator]) for one in answers)
        return CaseOrigin(tuple(people), tuple(list_systems_of(session, pair_pk)))


def list_case_leads(
    database: Database, actor: Actor, dataset: str, *, now: datetime
) -> list[DisagreementLead]:
    """Everybody who may decide disputes of the dataset. For leads."""
    with database.read() as session:
        _, reader = _enter(session, actor, dataset, now)
        return list_leads(session, reader.dataset_pk)


def _enter(session: Session, actor: Actor, dataset: str, now: datetime) -> tuple[DatasetRow, QueueReader]:
    row = find_dataset(session, dataset)
    require_role(session, actor, key_of(row.pk), "lead")
    return row, QueueReader(key_of(row.pk), actor.person_id, now)


def _require_case(session: Session, row: DatasetRow, pair: str) -> int:
    pk = find_case_pk(session, key_of(row.pk), pair)
    if pk is None:
        raise NotFound(say("no pair {pair!r} in this dataset", pair=pair))
    return pk


def _require_lead(session: Session, reader: QueueReader, username: str) -> int:
    for lead in list_leads(session, reader.dataset_pk):
        if lead.username == username:
            return lead.pk
    raise ValidationError(say("{username} is no lead of this dataset", username=username))


def _read_cases(
    session: Session,
    row: DatasetRow,
    reader: QueueReader,
    pair_pks: Sequence[int],
    *,
    seed: int | None = None,
) -> tuple[DisagreementView, ...]:
    """The cases of these pairs, in this order."""
    if not pair_pks:
        return ()
    rubric, seed = find_rubric(session, reader.dataset_pk), row.seed if seed is None else seed
    setting = CaseContext(reader.lead_pk, seed, row.second_adjudicator, rubric.version, to_rubric(rubric))
    facts = list_case_facts(session, row, reader, pair_pks)
    there = list_documents(session, reader.lead_pk, {one.row.query_pk for one in facts.values()})
    asked = [one.row for one in facts.values()]
    _meet_texts(session, [*asked, *there])
    far = read_how_far(session, reader.dataset_pk, {one.pk: one.waiting for one in [*there, *asked]})
    known = describe_documents(there, far)
    return tuple(
        describe_case(facts[pk], far[pk][1], find_neighbours(facts[pk].row, known, _SKETCHES), setting)
        for pk in pair_pks
    )


def _list_shown_beside(session: Session, cases: Sequence[DisagreementView]) -> set[int]:
    """The neighbours of these cases whose settled grades are told with them."""
    told = {one.pair for case in cases for one in case.neighbours if one.grade is not None}
    return set(find_pair_pks(session, told).values())


def _meet_texts(session: Session, rows: Sequence[Any]) -> None:
    """Learn the texts of these documents that were not met before, so that they can be compared."""
    texts = {one.text_sha256: one.document_pk for one in rows[:MOST_TEXTS] if one.text_sha256 is not None}
    missing = _SKETCHES.list_missing(texts)
    if missing:
        wanted = [(texts[sha256], sha256) for sha256 in missing]
        _SKETCHES.learn(read_texts(session, wanted, most=MOST_CHARACTERS))


def _list_unlike(
    session: Session, reader: QueueReader, pair_pk: int, ruling: DecisionRequest
) -> list[dict[str, Any]]:
    """The near-duplicates that are settled at another grade than this, for the trail."""
    if ruling.outcome == "withdrawn":
        return []
    place = read_place(session, pair_pk)
    there = list_documents(session, reader.lead_pk, [place.query_pk])
    _meet_texts(session, [place, *there])
    near = [one for one in there if (_SKETCHES.compare(place.text_sha256, one.text_sha256) or 0) >= WARN_FROM]
    far = read_how_far(session, reader.dataset_pk, {one.pk: one.waiting for one in near})
    return [
        {"doc_id": one.doc_id, "grade": one.grade, "near": one.near}
        for one in find_neighbours(place, describe_documents(near, far), _SKETCHES)
        if one.grade not in (None, ruling.grade)
    ]
