"""Decide many pairs at once, from a file or by a policy; export the queue as a file.

All or nothing: if one line is bad, or one pair has changed since it was seen, nothing is stored. The refusals
are those of a single decision: a pair that the lead judged, a pair that is no disagreement, a blank
rationale.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from annotator.adjudication.bulk.bulk_files import (
    DecisionLine,
    PairToDecide,
    check_lines,
    check_origin,
    describe_rows,
    is_decided_so,
    read_decisions,
    read_order,
    write_queue,
)
from annotator.adjudication.bulk.bulk_sql import (
    add_batch,
    find_batch,
    list_batches_of,
    list_candidates,
    list_named_pairs,
    list_pair_names,
    list_seen_events,
    list_still_holding,
)
from annotator.adjudication.bulk.policies import (
    BatchUndone,
    DecisionBatch,
    PairsToSettle,
    PairToSettle,
    PolicyPreview,
    check_policy,
    choose_settled,
    explain_changed_preview,
    preview,
)
from annotator.adjudication.decision_check import (
    find_visible_proposals,
    map_by_lead,
    needs_two_leads,
    settles_pair,
)
from annotator.adjudication.decisions_sql import (
    list_judged_by,
    list_judgments,
    list_last_decisions,
    list_proposals,
    settle_pairs,
)
from annotator.adjudication.impact.impact_service import ProgressCallback, bring_up_to_date
from annotator.adjudication.queue.queue_records import EVERYTHING_OPEN, QueueFilter, check_sort, list_words
from annotator.adjudication.queue.queue_sql import list_rows, make_reader
from annotator.adjudication.records import NewDecision
from annotator.domain.errors import ConflictError, NotFound, Problems, StateError
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.domain.texts import NO_WORDS, check_text
from annotator.people.roles_service import enter_dataset, require_person
from annotator.storage.database import Database, lock_dataset
from annotator.storage.logs.audit_log import AuditEvent, add_events
from annotator.storage.logs.disclosures import add_seen, list_blind_pairs, note_seen
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.pairs.disagreements import list_disagreements
from annotator.storage.pairs.pair_states import list_pair_states
from annotator.storage.pairs.pool import add_orders, list_orders, list_query_pks_of
from annotator.storage.tables.central import DatasetRow


@dataclass(frozen=True, slots=True)
class FileDecisions:
    """The result of a file of decisions, as counts of pairs."""

    decided: int  # for the first time
    revised: int
    unchanged: int  # decided so already
    skipped: int  # rows of an export without a decision
    proposed: int  # a second lead must decide too
    dry_run: bool


@dataclass(frozen=True, slots=True)
class OrderedDocuments:
    """The result of a file of document orders."""

    queries: int  # with a new order
    unchanged: int  # queries that had this order already
    documents: int  # of all these queries
    dry_run: bool


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
    """Decide every pair of a CSV file, or none.

    `data`: `query_id,doc_id,grade,rationale[,reason]`, or the file of `export_queue`, filled in. `path`: the
    file's name for messages. A line that repeats the current decision changes nothing, unless the pair waits
    for a lead again; any other line adds a revision. A row of an export is refused if its pair has changed
    since. BadInput names every bad line. Messages can show grades, so the pairs are recorded as seen, also if
    the file is refused.
    """
    lead_pk, problems = require_person(actor), Problems(path)
    lines = read_decisions(data, path, problems)
    with database.read() as session:
        row = _enter(session, actor, dataset)
        named = list_named_pairs(session, key_of(row.pk), [(line.query_id, line.doc_id) for line in lines])
    note_seen(database, [pair.pair_pk for pair in named.values()], actor.person_id, now=now)
    with database.read() if dry_run else database.write() as session:
        row = _enter(session, actor, dataset, lock=not dry_run)
        pairs = _list_pairs(session, key_of(row.pk), lead_pk, lines)
        check_origin(lines, {name: pair.key for name, pair in pairs.items()}, dataset, problems)
        check_lines(lines, pairs, problems)
        problems.errors.sort(key=lambda problem: problem.line or 0)
        problems.raise_if_any()
        filled = [(line, pairs[line.query_id, line.doc_id]) for line in lines if line.decided is not None]
        decisions = [_to_decision(line, pair) for line, pair in filled if not is_decided_so(line, pair)]
        if dry_run:
            revisions = _foresee_revisions(session, row, lead_pk, decisions, pairs.values())
        else:
            stored = settle_pairs(
                session, key_of(row.pk), lead_pk, decisions, now=now, action="decided from file"
            )
            revisions = [decision.revision for decision in stored if decision is not None]
    return FileDecisions(
        decided=revisions.count(1),
        revised=len(revisions) - revisions.count(1),
        unchanged=len(filled) - len(decisions),
        skipped=len(lines) - len(filled),
        proposed=len(decisions) - len(revisions),
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
    """Store the order of each query's documents from a CSV file, or nothing.

    Releases list documents by grade, then by the annotators' mean, then in this order. A query that is not in
    the file keeps its order. `path`: the file's name for messages. BadInput names every bad line.
    """
    lead_pk, problems = require_person(actor), Problems(path)
    lines = read_order(data, path, problems)
    with database.read() if dry_run else database.write() as session:
        row = _enter(session, actor, dataset, lock=not dry_run)
        named = list_named_pairs(session, key_of(row.pk), [(line.query_id, line.doc_id) for line in lines])
        by_query_id: dict[str, list[int]] = {}
        for line in lines:
            pair = named.get((line.query_id, line.doc_id))
            if pair is None:
                problems.add(line.line, "a pair of the pool", f"{line.query_id} {line.doc_id}")
            else:
                by_query_id.setdefault(line.query_id, []).append(pair.pair_pk)
        problems.errors.sort(key=lambda problem: problem.line or 0)
        problems.raise_if_any()
        query_pks = list_query_pks_of(session, [pair_pks[0] for pair_pks in by_query_id.values()])
        orders = {query_pks[pair_pks[0]]: pair_pks for pair_pks in by_query_id.values()}
        current = list_orders(session, list(orders))
        changed = {pk: pair_pks for pk, pair_pks in orders.items() if current.get(pk) != pair_pks}
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
    report_progress: ProgressCallback | None = None,
) -> Iterator[bytes]:
    """Return a part of the queue as CSV for a meeting, without names. For leads.

    Pairs that the lead may still judge are left out: their absence under a filter would tell their grades. The lead has
    then seen others' judgments of the pairs, and no longer judges them. Writes to the audit log. `base_url`:
    of the app, for the links. `report_progress`: called with (steps done, all steps) while impacts are computed.
    """
    check_sort(sort)
    with database.read() as session:
        _enter(session, actor, dataset)
    bring_up_to_date(database, dataset, report_progress=report_progress)
    with database.read() as session:
        row = find_dataset(session, dataset)
        reader = make_reader(session, key_of(row.pk), actor.person_id, now)
        rows = list_rows(session, reader, wanted, sort)
        pair_pks = [queue_row.pair_pk for queue_row in rows]
        lines = describe_rows(
            rows,
            list_judgments(session, pair_pks),
            list_last_decisions(session, pair_pks),
            dataset=row.name,
            seed=row.order_seed,
            base_url=base_url,
        )
        pieces = list(write_queue(lines))
    with database.write() as session:
        if actor.person_id is not None:
            add_seen(session, pair_pks, actor.person_id, now=now)
        after = {"pairs": len(pair_pks), "filter": _to_audit_values(wanted)}
        add_events(
            session, [AuditEvent("exported queue", reader.dataset_pk, actor.person_id, now, after=after)]
        )
    return iter(pieces)


def preview_policy(
    database: Database, actor: Actor, dataset: str, policy: str, wanted: QueueFilter, *, now: datetime
) -> PolicyPreview:
    """Return the pairs that the policy would settle here, and why it leaves others. For leads."""
    check_policy(policy)
    require_person(actor)
    with database.read() as session:
        row = _enter(session, actor, dataset)
        candidates = list_candidates(session, row, actor, wanted, now=now)
    return preview(policy, candidates, choose_settled(policy, candidates))


def list_pairs_to_settle(
    database: Database,
    actor: Actor,
    dataset: str,
    policy: str,
    wanted: QueueFilter,
    *,
    limit: int,
    offset: int = 0,
    now: datetime,
) -> PairsToSettle:
    """Return the preview of a policy with a part of the pairs, in the queue's order. For leads.

    Leaves out pairs that the lead may still judge; the lead can no longer judge a pair that is returned. An
    offset behind the last pair gives the last part.
    """
    check_policy(policy)
    lead_pk = require_person(actor)
    with database.read() as session:
        row = _enter(session, actor, dataset)
        candidates = list_candidates(session, row, actor, wanted, now=now)
        settled = choose_settled(policy, candidates)
        offset = min(offset, max(0, len(settled) - 1) // limit * limit)
        part = settled[offset : offset + limit]
        part_pks = [pair.candidate.pair_pk for pair in part]
        blind = list_blind_pairs(session, key_of(row.pk), lead_pk)
        names = list_pair_names(session, part_pks)
    pairs = tuple(
        PairToSettle(
            pair.candidate.pair,
            *names[pair.candidate.pair_pk],
            grades=tuple(sorted(pair.candidate.grades)),
            grade=pair.grade,
        )
        for pair in part
    )
    note_seen(database, part_pks, lead_pk, now=now)
    return PairsToSettle(preview(policy, candidates, settled), offset, pairs, len(blind))


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
    """Settle exactly the pairs of a preview, or nothing; return the batch, which can be undone.

    `seen_digest`: the preview's. ConflictError, saying what changed, if the policy would settle anything else
    now; StateError if there is nothing to settle; ValidationError for a blank rationale.
    """
    lead_pk = require_person(actor)
    check_policy(policy)
    rationale = check_text(say("rationale"), rationale, empty=NO_WORDS)
    with database.write() as session:
        row = _enter(session, actor, dataset, lock=True)
        dataset_pk = key_of(row.pk)
        candidates = list_candidates(session, row, actor, wanted, now=now)
        settled = choose_settled(policy, candidates)
        digest = preview(policy, candidates, settled).digest
        if digest != seen_digest:
            raise ConflictError(explain_changed_preview(seen_digest, digest))
        if not settled:
            raise StateError(
                say("Nothing to settle: no open pair here has grades one apart with the same relevance.")
            )
        number = add_batch(session, dataset_pk, lead_pk, policy, rationale, len(settled), now=now)
        decisions = [
            NewDecision(
                pair_pk=pair.candidate.pair_pk,
                pair=pair.candidate.pair,
                outcome="graded",
                grade=pair.grade,
                rationale=rationale,
                batch_pk=number,
            )
            for pair in settled
        ]
        settle_pairs(session, dataset_pk, lead_pk, decisions, now=now, action="settled by policy")
        return list_batches_of(session, dataset_pk, number)[0]


def undo_batch(
    database: Database, actor: Actor, dataset: str, number: int, *, rationale: str = "", now: datetime
) -> BatchUndone:
    """Withdraw the decisions of a batch that still hold, so that the pairs wait for a lead again.

    For any lead, because it decides nothing. NotFound for a batch of another dataset; StateError if it is
    undone already.
    """
    lead_pk = require_person(actor)
    rationale = check_text(say("rationale"), rationale, empty=None)
    with database.write() as session:
        dataset_pk = key_of(_enter(session, actor, dataset, lock=True).pk)
        batch = find_batch(session, dataset_pk, number)
        if batch is None:
            raise NotFound(say("{dataset} has no batch {number}.", number=number, dataset=dataset))
        if batch.undone_at is not None:
            raise StateError(say("Batch {number} has already been undone.", number=number))
        holding = list_still_holding(session, number)
        withdrawals = [
            NewDecision(
                pair_pk=pair_pk,
                pair=key,
                outcome="withdrawn",
                grade=None,
                rationale=rationale,
                batch_pk=number,
            )
            for pair_pk, key in holding.items()
        ]
        settle_pairs(session, dataset_pk, lead_pk, withdrawals, now=now, action="undid policy")
        batch.undone_at, batch.undone_by_pk = now, lead_pk
        session.flush()
        undone = list_batches_of(session, dataset_pk, number)[0]
        return BatchUndone(undone, len(holding), batch.pairs - len(holding))


def list_batches(database: Database, actor: Actor, dataset: str) -> tuple[DecisionBatch, ...]:
    """Return the batches that policies settled, the latest first. For leads."""
    with database.read() as session:
        return list_batches_of(session, key_of(_enter(session, actor, dataset).pk))


def _enter(session: Session, actor: Actor, dataset: str, *, lock: bool = False) -> DatasetRow:
    row = enter_dataset(session, actor, dataset, "lead")
    if lock:
        lock_dataset(session, key_of(row.pk))
    return row


def _foresee_revisions(
    session: Session,
    dataset: DatasetRow,
    lead_pk: int,
    decisions: Sequence[NewDecision],
    pairs: Iterable[PairToDecide],
) -> list[int]:
    """Return the revisions that these decisions would get, without those that would be proposals.

    A proposal that the lead may not see counts as absent: otherwise the lead could find out which grade it
    has.
    """
    by_pk = {pair.pair_pk: pair for pair in pairs}
    if not dataset.second_adjudicator:
        return [by_pk[decision.pair_pk].revision + 1 for decision in decisions]
    pair_pks = [decision.pair_pk for decision in decisions]
    disagreements, proposals = list_disagreements(session, pair_pks), list_proposals(session, pair_pks)
    revisions = []
    for decision in decisions:
        pair = by_pk[decision.pair_pk]
        by_lead = map_by_lead(proposals.get(decision.pair_pk, ()))
        visible = find_visible_proposals(lead_pk, by_lead)
        current = pair.last.decided if pair.last else None
        if (
            not needs_two_leads(True, disagreements[decision.pair_pk].distance)
            or decision.decided is None
            or settles_pair(decision.decided, lead_pk, by_lead if visible else {}, current)
        ):
            revisions.append(pair.revision + 1)
    return revisions


def _list_pairs(
    session: Session, dataset_pk: int, lead_pk: int, lines: Sequence[DecisionLine]
) -> dict[tuple[str, str], PairToDecide]:
    """Return the pairs of the lines by (query_id, doc_id); pairs that are not in the pool are absent."""
    named = list_named_pairs(session, dataset_pk, [(line.query_id, line.doc_id) for line in lines])
    pair_pks = [pair.pair_pk for pair in named.values()]
    event_ids, last = list_seen_events(session, pair_pks), list_last_decisions(session, pair_pks)
    judged = list_judged_by(session, lead_pk, pair_pks)
    others = [pair.pair_pk for pair in named.values() if pair.open is None]
    settlements = {state.pair_pk: state.settlement for state in list_pair_states(session, dataset_pk, others)}
    return {
        name: PairToDecide(
            pair_pk=pair.pair_pk,
            key=pair.key,
            open=pair.open,
            status=settlements[pair.pair_pk].status if pair.pair_pk in settlements else "",
            judged=pair.pair_pk in judged,
            event_ids=event_ids.get(pair.pair_pk, ()),
            last=last.get(pair.pair_pk),
            settled=settlements[pair.pair_pk].grade if pair.pair_pk in settlements else None,
        )
        for name, pair in named.items()
    }


def _to_decision(line: DecisionLine, pair: PairToDecide) -> NewDecision:
    grade = line.decided if isinstance(line.decided, int) else None
    return NewDecision(
        pair_pk=pair.pair_pk,
        pair=pair.key,
        outcome="unrateable" if grade is None else "graded",
        grade=grade,
        rationale=line.rationale,
        cause=line.cause,
        reason=line.reason,
    )


def _to_audit_values(wanted: QueueFilter) -> dict[str, Any]:
    """Return the conditions of the filter for the audit log."""
    values = {
        field.name: getattr(wanted, field.name)
        for field in fields(QueueFilter)
        if getattr(wanted, field.name) != getattr(EVERYTHING_OPEN, field.name)
    }
    if wanted.reasons:
        values["reasons"] = list_words(wanted.reasons)
    return values
