"""Decide many pairs at once, from a file or by a policy for small differences; export the queue as a file.

All or nothing: one bad line, or one pair that has changed since it was seen, and nothing is stored. Refuses whatever a
single decision is refused for: a pair that the lead judged, one that is no disagreement, a blank rationale.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from annotator.adjudication.bulk_files import (
    DecisionLine,
    PolicyPair,
    check_lines,
    check_origin,
    describe_rows,
    is_decided_so,
    read_decisions,
    read_order,
    write_queue,
)
from annotator.adjudication.bulk_sql import (
    DecisionBatch,
    add_batch,
    find_batch,
    list_batches_of,
    list_candidates,
    list_last_decisions,
    list_named,
    list_seen_events,
    list_still_holding,
)
from annotator.adjudication.decisions_sql import (
    NewDecision,
    list_answers,
    list_judged_by,
    list_proposals,
    list_revisions,
    settle_pairs,
)
from annotator.adjudication.impact_service import Tell, bring_up_to_date
from annotator.adjudication.policies import PolicyPreview, preview, say_changed
from annotator.adjudication.queue_records import EVERYTHING_OPEN, QueueFilter, check_sort, list_words
from annotator.adjudication.queue_sql import QueueReader, list_rows
from annotator.adjudication.records import check_policy, is_decision, takes_two
from annotator.domain.errors import ConflictError, NotFound, Problems, StateError
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.domain.texts import NO_WORDS, check_text
from annotator.people.service import require_person, require_role
from annotator.storage.audit_log import AuditEvent, add_events
from annotator.storage.database import Database, lock_dataset
from annotator.storage.disagreements import list_disputes
from annotator.storage.disclosures import add_seen
from annotator.storage.document_order import add_orders, list_orders, list_query_pks_of
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.pair_states import list_pair_states
from annotator.storage.tables import DatasetRow


@dataclass(frozen=True, slots=True)
class FileDecisions:
    """What a file of decisions did: pairs decided first, decided anew, decided just so before, rows of an export that were left
    open, and pairs that a second lead must decide too."""

    decided: int
    revised: int
    unchanged: int
    skipped: int
    proposed: int
    dry_run: bool


@dataclass(frozen=True, slots=True)
class OrderedDocuments:
    """What a file of orders did: queries whose order is new or another one, queries that had just this order, and the
    documents of all of them."""

    queries: int
    unchanged: int
    documents: int
    dry_run: bool


@dataclass(frozen=True, slots=True)
class BatchUndone:
    """What undoing a batch did: decisions taken back, and those left since somebody has decided anew."""

    batch: DecisionBatch
    withdrawn: int
    left: int


def adjudicate_file(
    database: Database,
    actor: Actor,
    dataset: str,
    data: bytes,
    path: str,
    *,
    now: datetime,
    dry_run: bool = False,
) -> FileDecisions:
    """Decide every pair of a CSV file (`query_id,doc_id,grade,rationale[,reason]`, or `export_queue`'s, filled in), or none.

    A line that says what holds already (a decision, or the grade that a pair has without one) changes nothing, unless the pair
    waits for a lead again; one that says otherwise
    adds a revision. A row of an export is refused when its pair has changed since.
    BadInput names every bad line. `path` is the file as the user named it.
    """
    lead_pk, problems = require_person(actor), Problems(path)
    lines = read_decisions(data, path, problems)
    with database.read() if dry_run else database.write() as session:
        row = _lock_for_lead(session, actor, dataset, lock=not dry_run)
        pairs = _list_pairs(session, key_of(row.pk), lead_pk, lines)
        check_origin(lines, {name: pair.key for name, pair in pairs.items()}, dataset, problems)
        check_lines(lines, pairs, problems)
        problems.found.sort(key=lambda problem: problem.line or 0)
        problems.raise_if_any()
        told = [(line, pairs[line.query_id, line.doc_id]) for line in lines if line.decided is not None]
        wishes = [_wish(line, pair) for line, pair in told if not is_decided_so(line, pair)]
        if dry_run:
            made = _foresee(session, row, lead_pk, wishes, {pair.pair_pk: pair for pair in pairs.values()})
        else:
            settled = settle_pairs(
                session, key_of(row.pk), lead_pk, wishes, now=now, action="decided from file"
            )
            made = [one.decision.revision for one in settled if one.decision is not None]
    return FileDecisions(
        decided=made.count(1),
        revised=len(made) - made.count(1),
        unchanged=len(told) - len(wishes),
        skipped=len(lines) - len(told),
        proposed=len(wishes) - len(made),
        dry_run=dry_run,
    )


def order_documents(
    database: Database,
    actor: Actor,
    dataset: str,
    data: bytes,
    path: str,
    *,
    now: datetime,
    dry_run: bool = False,
) -> OrderedDocuments:
    """Put the documents of each query of a CSV file (`query_id,doc_id`, best first) in this order, or nothing.

    It decides where grades do not: releases list documents by grade and the annotators' mean first. A query that is not in
    the file keeps its order. BadInput names every bad line. `path` is the file as the user named it.
    """
    lead_pk, problems = require_person(actor), Problems(path)
    lines = read_order(data, path, problems)
    with database.read() if dry_run else database.write() as session:
        row = _lock_for_lead(session, actor, dataset, lock=not dry_run)
        named = list_named(session, key_of(row.pk), [(line.query_id, line.doc_id) for line in lines])
        given: dict[str, list[int]] = {}
        for line in lines:
            pair = named.get((line.query_id, line.doc_id))
            if pair is None:
                problems.add(line.line, "a pair of the pool", f"{line.query_id} {line.doc_id}")
            else:
                given.setdefault(line.query_id, []).append(pair.pair_pk)
        problems.found.sort(key=lambda problem: problem.line or 0)
        problems.raise_if_any()
        query_pks = list_query_pks_of(session, [pair_pks[0] for pair_pks in given.values()])
        orders = {query_pks[pair_pks[0]]: pair_pks for pair_pks in given.values()}
        held = list_orders(session, list(orders))
        changed = {pk: pair_pks for pk, pair_pks in orders.items() if held.get(pk) != pair_pks}
        if changed and not dry_run:
            add_orders(session, lead_pk, changed, now=now)
            after = {"queries": len(changed), "documents": sum(map(len, changed.values()))}
            add_events(session, [AuditEvent("ordered documents", key_of(row.pk), lead_pk, now, after=after)])
    return OrderedDocuments(len(changed), len(orders) - len(changed), len(lines), dry_run)


def export_queue(
    database: Database,
    actor: Actor,
    dataset: str,
    wanted: QueueFilter,
    sort: str = "distance",
    *,
    now: datetime,
    base_url: str = "",
    tell: Tell | None = None,
) -> Iterator[bytes]:
    """A part of the queue as CSV for a meeting; `adjudicate_file` reads it back. Nobody is named in it.

    Whoever takes it has seen what others said of its pairs, and no longer judges them. Noted in the trail. For leads.
    `base_url`: where the app is, for the links; `tell`: called while impacts are computed, with how much is done, of how much.
    """
    check_sort(sort)
    with database.read() as session:
        require_role(session, actor, key_of(find_dataset(session, dataset).pk), "lead")
    bring_up_to_date(database, dataset, tell=tell)
    with database.read() as session:
        row = find_dataset(session, dataset)
        reader = QueueReader(key_of(row.pk), actor.person_id, now)
        rows = list_rows(session, reader, wanted, sort)
        pks = [one.DisputeRow.pair_pk for one in rows]
        answers, revisions = list_answers(session, pks), list_revisions(session, pks)
        lines = describe_rows(rows, answers, revisions, dataset=row.name, seed=row.seed, base_url=base_url)
        pieces = list(write_queue(lines))
    with database.write() as session:
        if actor.person_id is not None:
            add_seen(session, pks, actor.person_id, now=now)
        after = {"pairs": len(pks), "filter": _tell_filter(wanted)}
        add_events(
            session, [AuditEvent("exported queue", reader.dataset_pk, actor.person_id, now, after=after)]
        )
    return iter(pieces)


def preview_policy(
    database: Database, actor: Actor, dataset: str, policy: str, wanted: QueueFilter, *, now: datetime
) -> PolicyPreview:
    """What the policy would settle of this part of the queue, what it leaves and why. For leads, who are persons."""
    check_policy(policy)
    require_person(actor)
    with database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "lead")
        return preview(policy, list_candidates(session, row, actor, wanted, now=now))[0]


def settle_by_policy(
    database: Database,
    actor: Actor,
    dataset: str,
    policy: str,
    wanted: QueueFilter,
    *,
    rationale: str,
    seen_digest: str,
    now: datetime,
) -> DecisionBatch:
    """Settle what `preview_policy` has shown, all of it or nothing; returns the batch, which can be undone.

    `seen_digest`: the preview's. ConflictError, saying what changed, when it would settle anything else now; StateError when
    there is nothing to settle; ValidationError for a blank rationale.
    """
    lead_pk = require_person(actor)
    check_policy(policy)
    rationale = check_text(say("rationale"), rationale, empty=NO_WORDS)
    with database.write() as session:
        row = _lock_for_lead(session, actor, dataset)
        dataset_pk = key_of(row.pk)
        found, settled = preview(policy, list_candidates(session, row, actor, wanted, now=now))
        if found.digest != seen_digest:
            raise ConflictError(say_changed(seen_digest, found.digest))
        if not settled:
            raise StateError(say("nothing here differs only by taste, so there is nothing to settle"))
        number = add_batch(session, dataset_pk, lead_pk, policy, rationale, len(settled), now=now)
        wishes = [
            NewDecision(pair.pair_pk, pair.key, "graded", grade, rationale, batch_pk=number)
            for pair, grade in settled
        ]
        settle_pairs(session, dataset_pk, lead_pk, wishes, now=now, action="settled by policy")
        return list_batches_of(session, dataset_pk, number)[0]


def undo_batch(
    database: Database, actor: Actor, dataset: str, number: int, *, rationale: str = "", now: datetime
) -> BatchUndone:
    """Take back the decisions of a batch that hold still; the pairs wait for a lead again. What was decided anew since is left.
    Any lead may, since it decides nothing. NotFound for a batch of another dataset; StateError for one undone before."""
    lead_pk = require_person(actor)
    rationale = check_text(say("rationale"), rationale, empty=None)
    with database.write() as session:
        dataset_pk = key_of(_lock_for_lead(session, actor, dataset).pk)
        batch = find_batch(session, dataset_pk, number)
        if batch is None:
            raise NotFound(say("no batch {number} in {dataset}", number=number, dataset=dataset))
        if batch.undone_at is not None:
            raise StateError(say("batch {number} is undone already", number=number))
        holding = list_still_holding(session, number)
        wishes = [
            NewDecision(pair_pk, key, "withdrawn", None, rationale, batch_pk=number)
            for pair_pk, key in holding.items()
        ]
        settle_pairs(session, dataset_pk, lead_pk, wishes, now=now, action="undid policy")
        batch.undone_at, batch.undone_by_pk = now, lead_pk
        session.flush()
        undone = list_batches_of(session, dataset_pk, number)[0]
        return BatchUndone(undone, len(holding), batch.pairs - len(holding))


def list_batches(database: Database, actor: Actor, dataset: str) -> tuple[DecisionBatch, ...]:
    """What was settled by policies, the last first. For leads."""
    with database.read() as session:
        dataset_pk = key_of(find_dataset(session, dataset).pk)
        require_role(session, actor, dataset_pk, "lead")
        return list_batches_of(session, dataset_pk)


def _lock_for_lead(session: Session, actor: Actor, dataset: str, *, lock: bool = True) -> DatasetRow:
    row = find_dataset(session, dataset)
    require_role(session, actor, key_of(row.pk), "lead")
    if lock:
        lock_dataset(session, key_of(row.pk))
    return row


def _foresee(
    session: Session,
    dataset: DatasetRow,
    lead_pk: int,
    wishes: Sequence[NewDecision],
    pairs: Mapping[int, PolicyPair],
) -> list[int]:
    """The revisions that these would become; those that would be proposals are left out (see `adjudication/decisions_sql.py`)."""
    if not dataset.second_adjudicator:
        return [pairs[wish.pair_pk].revision + 1 for wish in wishes]
    pks = [wish.pair_pk for wish in wishes]
    disputes, proposals = list_disputes(session, pks), list_proposals(session, pks)
    found = []
    for wish in wishes:
        last = pairs[wish.pair_pk].last
        given = {one.lead_pk: one.decided for one in proposals.get(wish.pair_pk, ())}
        two = takes_two(True, disputes[wish.pair_pk].distance)
        held = last.decided if last else None
        if not two or wish.decided is None or is_decision(wish.decided, lead_pk, given, held):
            found.append(1 + (last.revision if last else 0))
    return found


def _list_pairs(
    session: Session, dataset_pk: int, lead_pk: int, lines: Sequence[DecisionLine]
) -> dict[tuple[str, str], PolicyPair]:
    named = list_named(session, dataset_pk, [(line.query_id, line.doc_id) for line in lines])
    pks = [pair.pair_pk for pair in named.values()]
    events, last = list_seen_events(session, pks), list_last_decisions(session, pks)
    judged = list_judged_by(session, lead_pk, pks)
    other = [pair.pair_pk for pair in named.values() if pair.open is None]
    settled = {state.pair_pk: state.settlement for state in list_pair_states(session, dataset_pk, other)}
    return {
        name: PolicyPair(
            pk,
            key,
            is_open,
            settled[pk].status if pk in settled else "",
            pk in judged,
            events.get(pk, ()),
            last.get(pk),
            settled[pk].grade if pk in settled else None,
        )
        for name, (pk, key, is_open) in named.items()
    }


def _wish(line: DecisionLine, pair: PolicyPair) -> NewDecision:
    decided = line.decided
    rest = (line.rationale, line.reason, line.cause)
    if decided is None or decided == "unrateable":
        return NewDecision(pair.pair_pk, pair.key, "unrateable", None, *rest)
    return NewDecision(pair.pair_pk, pair.key, "graded", decided, *rest)


def _tell_filter(wanted: QueueFilter) -> dict[str, Any]:
    """What the filter asks for, as the trail keeps it."""
    asked = {
        field.name: getattr(wanted, field.name)
        for field in fields(QueueFilter)
        if getattr(wanted, field.name) != getattr(EVERYTHING_OPEN, field.name)
    }
    if wanted.reasons:
        asked["reasons"] = list_words(wanted.reasons)
    return asked
