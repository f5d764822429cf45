"""List, summarize and time the queue of disagreements. For leads only.

`domain/settling.py` decides what a disagreement is. The summary counts a disagreement once for each of its
reasons.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.adjudication.decisions_sql import list_judged_by, list_judgments
from annotator.adjudication.impact.impact_service import FEW, ProgressCallback, bring_up_to_date, count_steps
from annotator.adjudication.queue.queue_records import (
    Disagreement,
    QueueFilter,
    QueuePace,
    QueuePage,
    QueueSummary,
    add_grades,
    check_sort,
    estimate_queue,
    find_begin,
    summarize_counts,
)
from annotator.adjudication.queue.queue_sql import (
    QueueReader,
    count_all_open,
    count_arrived_since,
    count_assigned,
    count_by_category,
    count_due,
    count_open_by_kind,
    count_rows,
    count_waiting,
    find_first_begin,
    list_decided_since,
    list_rows,
    make_reader,
)
from annotator.domain.people import Actor
from annotator.domain.settling import UNGRADED, QueueReason
from annotator.people.roles_service import enter_dataset, open_dataset
from annotator.storage.database import Database
from annotator.storage.logs.audit_log import note_named
from annotator.storage.logs.disclosures import list_blind_pairs, note_seen
from annotator.storage.lookup import key_of

EVERYTHING = QueueFilter(shown="all")
PAGE = 50


def list_queue(
    database: Database,
    actor: Actor,
    dataset: str,
    queue_filter: QueueFilter,
    *,
    sort: str = "distance",
    offset: int = 0,
    limit: int = PAGE,
    now: datetime,
) -> QueuePage:
    """Return a page of the queue, with its length. For leads. ValidationError for an unknown order.

    Pairs that the lead may still judge are neither listed nor counted; the lead can no longer judge a listed pair. A
    filter by annotator shows who judged a pair, so the audit log records it. Computes the due impacts first if they are
    of at most `FEW` queries; `due`: the queries that remain.
    """
    check_sort(sort)
    _bring_up_to_date(database, actor, dataset, few=FEW)
    with database.read() as session:
        reader = _enter(session, actor, dataset, now)
        rows = list_rows(session, reader, queue_filter, sort, offset=offset, limit=limit)
        items, shown_pks = _describe(session, reader, rows)
        counts = count_waiting(session, reader.dataset_pk, reader.blind)
        total, due = count_rows(session, reader, queue_filter), count_due(session, reader.dataset_pk)
    note_seen(database, shown_pks, actor.person_id, now=now)
    note_named(database, reader.dataset_pk, actor.person_id, queue_filter.annotators, pairs=total, now=now)
    open_counts = {QueueReason(waiting): n for (is_open, waiting), n in counts.items() if is_open}
    return QueuePage(
        items=items,
        offset=offset,
        total=total,
        open=sum(open_counts.values()),
        decided=sum(counts.values()) - sum(open_counts.values()),
        by_reason={reason: _count_waiting_for(reason, open_counts) for reason in QueueReason},
        due=due,
        blind_pairs=len(reader.blind),
        ungraded=_count_waiting_for(UNGRADED, open_counts),
    )


def summarize_queue(database: Database, actor: Actor, dataset: str) -> QueueSummary:
    """Count the open disagreements by reason, grades, category and lead. For leads."""
    with database.read() as session:
        return count_queue(
            session, key_of(enter_dataset(session, actor, dataset, "lead").pk), actor.person_id
        )


def count_queue(session: Session, dataset_pk: int, reader_pk: int | None) -> QueueSummary:
    """Count the open disagreements by kind, in an open transaction. `reader_pk`: the lead; None for the operator."""
    reader = make_reader(session, dataset_pk, reader_pk, datetime.min)
    return summarize_counts(
        count_open_by_kind(session, reader),
        by_category=count_by_category(session, dataset_pk, reader.blind),
        assigned=count_assigned(session, dataset_pk, reader.blind),
        due=count_due(session, dataset_pk),
    )


def compute_queue_pace(database: Database, actor: Actor, dataset: str, *, now: datetime) -> QueuePace:
    """Estimate how long the queue lasts at the pace of the last seven days, in the zone of `now`. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        blind = list_blind_pairs(session, dataset_pk, actor.person_id)
        return measure_pace(session, dataset_pk, blind, now=now)


def measure_pace(session: Session, dataset_pk: int, blind: frozenset[int], *, now: datetime) -> QueuePace:
    """Do what `compute_queue_pace` does, in an open transaction. `blind`: pairs that the lead may still judge."""
    since = find_begin(now)
    return estimate_queue(
        count_all_open(session, dataset_pk, blind),
        list_decided_since(session, dataset_pk, since),
        count_arrived_since(session, dataset_pk, since, blind),
        find_first_begin(session, dataset_pk),
        now=now,
    )


def find_disagreements(
    database: Database,
    actor: Actor,
    dataset: str,
    *,
    queue_filter: QueueFilter = EVERYTHING,
    sort: str = "distance",
    now: datetime,
    report_progress: ProgressCallback | None = None,
) -> list[Disagreement]:
    """Return all disagreements that the filter lets through, open ones first. For leads.

    The same as `list_queue`, whole and with all impacts computed. `report_progress`: called with (steps done,
    all steps).
    """
    check_sort(sort)
    _bring_up_to_date(database, actor, dataset, report_progress=report_progress)
    with database.read() as session:
        reader = _enter(session, actor, dataset, now)
        items, shown_pks = _describe(session, reader, list_rows(session, reader, queue_filter, sort))
    note_seen(database, shown_pks, actor.person_id, now=now)
    note_named(
        database, reader.dataset_pk, actor.person_id, queue_filter.annotators, pairs=len(shown_pks), now=now
    )
    return list(items)


def count_open(database: Database, actor: Actor, dataset: str) -> int:
    """Count the pairs that wait for a lead. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        return count_all_open(session, dataset_pk, list_blind_pairs(session, dataset_pk, actor.person_id))


def _bring_up_to_date(
    database: Database,
    actor: Actor,
    dataset: str,
    *,
    few: int | None = None,
    report_progress: ProgressCallback | None = None,
) -> None:
    """Compute the due impacts; with `few`, only if that takes at most `few` steps."""
    with open_dataset(database, actor, dataset, "lead"):
        pass
    if few is None or 0 < count_steps(database, dataset) <= few:
        bring_up_to_date(database, dataset, report_progress=report_progress)


def _enter(session: Session, actor: Actor, dataset: str, now: datetime) -> QueueReader:
    return make_reader(
        session, key_of(enter_dataset(session, actor, dataset, "lead").pk), actor.person_id, now
    )


def _count_waiting_for(reasons: QueueReason, open_counts: Mapping[QueueReason, int]) -> int:
    return sum(n for waiting, n in open_counts.items() if waiting & reasons)


def _describe(
    session: Session, reader: QueueReader, rows: Sequence[Disagreement]
) -> tuple[tuple[Disagreement, ...], set[int]]:
    """Return the disagreements with their grades, and their pairs (pair_pk)."""
    pair_pks = [row.pair_pk for row in rows]
    judgments = list_judgments(session, pair_pks)
    own = list_judged_by(session, reader.lead_pk, pair_pks)
    items = tuple(add_grades(row, judgments.get(row.pair_pk, []), yours=row.pair_pk in own) for row in rows)
    return items, set(pair_pks)
