"""Let a lead work through disagreements: get the next ones, decide, put off, assign.

Decisions are append-only: a change or a withdrawal adds a revision. A decision is refused if the actor is no
lead or judged the pair, if a required rationale is missing, if the judgments do not differ, or if they have
changed since the lead saw them. A pair that a lead opens is held for a few minutes; other leads see the hold
and can still decide. A lead who was given a pair has seen others' judgments, and no longer judges it.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Literal

from sqlalchemy.orm import Session

from annotator.adjudication.decision_check import check_decision, check_state, find_repeated_decision
from annotator.adjudication.decisions_sql import list_judged_by, list_judgments, settle_pairs
from annotator.adjudication.disagreement_records import (
    DisagreementBatch,
    DisagreementFacts,
    DisagreementView,
    PairJudge,
    PairOrigin,
)
from annotator.adjudication.disagreement_view import (
    BARRED,
    MOST_CHARACTERS,
    WARN_FROM,
    TextSketches,
    ViewContext,
    assign_letters,
    describe_disagreement,
    list_unlike,
    name_judge,
)
from annotator.adjudication.disagreement_view_sql import (
    PairDocument,
    find_pool_pair_pk,
    list_disagreement_facts,
    list_judged_documents,
    list_neighbours,
    list_stages,
    read_pair_document,
    read_texts,
)
from annotator.adjudication.impact.impact_service import recompute
from annotator.adjudication.queue.lead_holds_sql import (
    Adjudicator,
    assign_pair,
    end_holds,
    find_assigned_lead,
    list_leads,
    list_names,
    list_systems_of,
    lock_holds,
    put_off,
    renew_holds,
    take_holds,
)
from annotator.adjudication.queue.queue_head_sql import list_head
from annotator.adjudication.queue.queue_records import EVERYTHING_OPEN, QueueFilter, check_sort
from annotator.adjudication.queue.queue_sql import QueueReader, count_rows, make_reader
from annotator.adjudication.records import (
    Decision,
    DecisionContent,
    JudgedByLead,
    NewDecision,
    UnlikeDocument,
)
from annotator.domain.errors import NotAllowed, NotFound, ValidationError
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.domain.settling import Decided
from annotator.people.roles_service import enter_dataset, require_person
from annotator.storage.database import Database, lock_dataset
from annotator.storage.logs.audit_log import AuditEvent, add_events, note_named
from annotator.storage.logs.disclosures import (
    add_seen,
    find_pair_pks,
    list_seen,
    note_seen,
    require_not_to_judge,
)
from annotator.storage.lookup import find_rubric, key_of
from annotator.storage.tables.central import DatasetRow

MOST_AT_ONCE = 10
MOST_TEXTS = 300
_SKETCHES = TextSketches()


def hand_out_disagreements(
    database: Database,
    actor: Actor,
    dataset: str,
    queue_filter: QueueFilter = EVERYTHING_OPEN,
    sort: str = "distance",
    *,
    pair: str | None = None,
    have: Collection[str] = (),
    want: int = 1,
    tab: str = "",
    now: datetime,
) -> DisagreementBatch:
    """Return `pair` (a key), if any, and the first pairs of the queue, `want` in all. For leads.

    `pair` is returned in any state. `have`: the keys of the pairs that the tab has already; they are not
    returned. All these pairs and those of `have` are held for this lead and tab.
    """
    check_sort(sort)
    want = min(want, MOST_AT_ONCE)
    with database.write() if want or have or pair else database.read() as session:
        row, reader = _enter(session, actor, dataset, now)
        pair_pks = [_require_pair(session, row, pair)] if pair is not None else []
        lock_holds(session, reader.dataset_pk)
        if actor.person_id is not None:
            renew_holds(session, reader.dataset_pk, actor.person_id, tab, have, now=now)
        excluded = {*have, *([pair] if pair is not None else [])}
        limit = want - len(pair_pks)
        head = list_head(session, reader, queue_filter, sort, tab=tab, have=excluded, limit=limit)
        pair_pks += [entry.pair_pk for entry in head]
        if actor.person_id is not None:
            take_holds(session, actor.person_id, tab, pair_pks, now=now)
            add_seen(session, pair_pks, actor.person_id, now=now)
    with database.read() as session:
        row, reader = _enter(session, actor, dataset, now)
        views = _read_views(session, row, reader, pair_pks)
        batch = DisagreementBatch(views, count_rows(session, reader, replace(queue_filter, shown="open")))
        neighbour_pks = _list_graded_neighbours(session, views)
    note_seen(database, neighbour_pks, actor.person_id, now=now)
    learned_pairs = max(len(pair_pks), batch.left)  # the length of the queue is learned too
    note_named(
        database, reader.dataset_pk, actor.person_id, queue_filter.annotators, pairs=learned_pairs, now=now
    )
    return batch


def show_disagreement(
    database: Database, actor: Actor, dataset: str, pair: str, *, now: datetime
) -> DisagreementView:
    """Return one pair as a lead decides on it, with letters for names. Holds nothing. For leads.

    The letters follow from the dataset's seed and the pair. The lead can no longer judge the pair.
    """
    with database.read() as session:
        row, reader = _enter(session, actor, dataset, now)
        pair_pk = _require_pair(session, row, pair)
        (view,) = _read_views(session, row, reader, [pair_pk])
        neighbour_pks = _list_graded_neighbours(session, [view])
    note_seen(database, {pair_pk, *neighbour_pks}, actor.person_id, now=now)
    return view


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
    cause: str | None = None,
    in_guideline: bool = False,
    seconds: float | None = None,
) -> Decision | None:
    """Settle a disagreement, change its decision, or withdraw a decision: append a revision and return it.

    Returns None for a proposal that waits for a second lead (`decision_check.py`), and for a withdrawn proposal.
    `seen`: the digest of what the lead saw. `seconds`: how long the lead had the pair open. The same decision
    sent twice is stored once; if two leads decide at once, one decision is stored.

    NotAllowed for anybody but a lead; JudgedByLead for a lead who judged the pair. ConflictError, saying what
    changed, if judgments or decisions changed since. StateError if there is nothing to decide or to withdraw.
    ValidationError for a wrong value; RationaleRequired if the rationale is missing.
    """
    lead_pk = require_person(actor)
    content = check_decision(grade, rationale, cause, in_guideline=in_guideline, seconds=seconds)
    with database.read() as session:
        row, reader = _enter(session, actor, dataset, now)
        unlike = _list_unlike(session, reader, _require_pair(session, row, pair), content)
    with database.write() as session:
        row, reader = _enter(session, actor, dataset, now)
        lock_dataset(session, reader.dataset_pk)
        pair_pk = _require_pair(session, row, pair)
        require_not_to_judge(session, lead_pk, pair_pk)
        facts = list_disagreement_facts(session, row, reader, [pair_pk], most=0)[pair_pk]
        if facts.judged_by_reader:
            raise JudgedByLead(BARRED)
        repeated = find_repeated_decision(facts, content, lead_pk, seen)
        if repeated is not None:
            return repeated.decision
        check_state(facts, content, lead_pk)
        new = NewDecision(pair_pk=pair_pk, pair=pair, **asdict(content), unlike=unlike)
        (decision,) = settle_pairs(session, reader.dataset_pk, lead_pk, [new], now=now)
        recompute(session, reader.dataset_pk, [facts.query_pk])
        return decision


def put_off_disagreement(database: Database, actor: Actor, dataset: str, pair: str, *, now: datetime) -> None:
    """Let the pair come last for this lead from now on."""
    lead_pk = require_person(actor)
    with database.write() as session:
        row, reader = _enter(session, actor, dataset, now)
        pair_pk = _require_pair(session, row, pair)
        put_off(session, pair_pk, lead_pk, now=now)
        add_events(session, [AuditEvent("set to later", reader.dataset_pk, lead_pk, now, pair_pk)])


def assign_disagreement(
    database: Database, actor: Actor, dataset: str, pair: str, *, to: str | None, now: datetime
) -> None:
    """Assign the pair to a lead (username), who alone then gets it, or to nobody (None).

    ValidationError if the person is no lead of the dataset; StateError if the actor may still judge the pair.
    NotAllowed for a lead who judged the pair; the audit log then records that the actor learned this name.
    """
    with database.write() as session:
        row, reader = _enter(session, actor, dataset, now)
        pair_pk = _require_pair(session, row, pair)
        to_pk = None if to is None else _require_lead(session, reader, to)
        if actor.person_id is not None:
            require_not_to_judge(session, actor.person_id, pair_pk)
        has_judged = to_pk is not None and bool(list_judged_by(session, to_pk, [pair_pk]))
        before = find_assigned_lead(session, pair_pk)
        if before != to and not has_judged:
            assign_pair(session, pair_pk, to_pk, actor.person_id, now=now)
            event = AuditEvent(
                "assigned", reader.dataset_pk, actor.person_id, now, pair_pk, {"to": before}, {"to": to}
            )
            add_events(session, [event])
    if to is not None and has_judged:
        note_named(database, reader.dataset_pk, actor.person_id, [to], pairs=1, now=now)
        raise NotAllowed(say("{username} has judged this pair. Assign it to another lead.", username=to))


def let_go_disagreements(
    database: Database, actor: Actor, dataset: str, pairs: Collection[str], *, tab: str, now: datetime
) -> None:
    """End this tab's holds on these pairs: other leads may be handed them at once."""
    lead_pk = require_person(actor)
    with database.write() as session:
        _, reader = _enter(session, actor, dataset, now)
        end_holds(session, reader.dataset_pk, lead_pk, tab, pairs)


def show_origin(database: Database, actor: Actor, dataset: str, pair: str, *, now: datetime) -> PairOrigin:
    """Return the people who judged the pair and the systems that put it into the pool. For leads.

    Writes to the audit log that the lead looked.
    """
    with database.write() as session:
        row, reader = _enter(session, actor, dataset, now)
        pair_pk = _require_pair(session, row, pair)
        judgments = list_judgments(session, [pair_pk]).get(pair_pk, [])
        letters = assign_letters(judgments, seed=row.order_seed, pair=pair)
        names = list_names(session, {judgment.annotator for judgment in judgments})
        add_events(session, [AuditEvent("looked up names", reader.dataset_pk, actor.person_id, now, pair_pk)])
        if actor.person_id is not None:
            add_seen(session, [pair_pk], actor.person_id, now=now)
        judges = sorted(
            PairJudge(letters[name_judge(judgment)], judgment.annotator, names[judgment.annotator])
            for judgment in judgments
        )
        return PairOrigin(tuple(judges), tuple(list_systems_of(session, pair_pk)))


def list_adjudicators(database: Database, actor: Actor, dataset: str, *, now: datetime) -> list[Adjudicator]:
    """Return the people who may decide disagreements of the dataset. For leads."""
    with database.read() as session:
        _, reader = _enter(session, actor, dataset, now)
        return list_leads(session, reader.dataset_pk)


def _enter(session: Session, actor: Actor, dataset: str, now: datetime) -> tuple[DatasetRow, QueueReader]:
    row = enter_dataset(session, actor, dataset, "lead")
    return row, make_reader(session, key_of(row.pk), actor.person_id, now)


def _require_pair(session: Session, dataset: DatasetRow, pair: str) -> int:
    pair_pk = find_pool_pair_pk(session, key_of(dataset.pk), pair)
    if pair_pk is None:
        raise NotFound(say("no pair {pair!r} in this dataset", pair=pair))
    return pair_pk


def _require_lead(session: Session, reader: QueueReader, username: str) -> int:
    for lead in list_leads(session, reader.dataset_pk):
        if lead.username == username:
            return lead.pk
    raise ValidationError(say("{username} is not a lead of this dataset.", username=username))


def _read_views(
    session: Session, dataset: DatasetRow, reader: QueueReader, pair_pks: Sequence[int]
) -> tuple[DisagreementView, ...]:
    """Return these pairs as the lead sees them, in this order."""
    if not pair_pks:
        return ()
    context = ViewContext(
        lead_pk=reader.lead_pk,
        seed=dataset.order_seed,
        second_adjudicator=dataset.second_adjudicator,
        guideline_version=find_rubric(session, reader.dataset_pk).version,
    )
    facts = list_disagreement_facts(session, dataset, reader, pair_pks)
    documents = list_judged_documents(session, reader.lead_pk, {pair.query_pk for pair in facts.values()})
    _learn_texts(
        session,
        [
            *((pair.document_pk, pair.document.sha256) for pair in facts.values()),
            *((document.document_pk, document.sha256) for document in documents),
        ],
    )
    waiting = {document.pair_pk: document.waiting for document in documents}
    waiting |= {pair.pair_pk: pair.status.waiting for pair in facts.values()}
    stages = list_stages(session, reader.dataset_pk, waiting)

    def describe(pair: DisagreementFacts) -> DisagreementView:
        own = PairDocument(pair.query_pk, pair.document_pk, pair.document.sha256)
        neighbours = list_neighbours(own, documents, stages, _SKETCHES)
        return describe_disagreement(pair, stages[pair.pair_pk][1], neighbours, context)

    return tuple(describe(facts[pair_pk]) for pair_pk in pair_pks)


def _list_graded_neighbours(session: Session, views: Iterable[DisagreementView]) -> set[int]:
    """Return the neighbours (pair_pk) whose settled grades these views show."""
    keys = {neighbour.pair for view in views for neighbour in view.neighbours if neighbour.grade is not None}
    return set(find_pair_pks(session, keys).values())


def _learn_texts(session: Session, documents: Sequence[tuple[int, str | None]]) -> None:
    """Make the missing sketches of these texts (document_pk, SHA-256)."""
    texts = {sha256: document_pk for document_pk, sha256 in documents[:MOST_TEXTS] if sha256 is not None}
    missing = _SKETCHES.list_missing(texts)
    if missing:
        missing_texts = [(texts[sha256], sha256) for sha256 in missing]
        _SKETCHES.add_texts(read_texts(session, missing_texts, most=MOST_CHARACTERS))


def _list_unlike(
    session: Session, reader: QueueReader, pair_pk: int, content: DecisionContent
) -> list[UnlikeDocument]:
    """Return the near-duplicates that the lead was shown with another settled grade than the decision's."""
    if content.outcome == "withdrawn":
        return []
    own = read_pair_document(session, pair_pk)
    documents = list_judged_documents(session, reader.lead_pk, [own.query_pk])
    texts = [(document.document_pk, document.sha256) for document in documents]
    _learn_texts(session, [(own.document_pk, own.sha256), *texts])
    shown = list_seen(session, reader.lead_pk or 0, {document.pair_pk for document in documents})
    similar = [
        document
        for document in documents
        if document.pair_pk in shown and (_SKETCHES.compare(own.sha256, document.sha256) or 0) >= WARN_FROM
    ]
    stages = list_stages(
        session, reader.dataset_pk, {document.pair_pk: document.waiting for document in similar}
    )
    return list_unlike(list_neighbours(own, similar, stages, _SKETCHES), content)
