"""List, summarize and time the queue of disagreements. For leads only.

Only reads: `domain/settling.py` decides what a disagreement is, in the transaction that makes it one. The summary
counts a disagreement once for each of its reasons.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol

from sqlalchemy.orm import Session

from annotator.adjudication.decisions_sql import list_answers, list_judged_by
from annotator.adjudication.impact_service import FEW, Tell, bring_up_to_date, count_steps
from annotator.adjudication.queue_records import (
    Disagreement,
    QueueFilter,
    QueuePace,
    QueuePage,
    QueueSummary,
    check_sort,
    estimate_queue,
    find_begin,
)
from annotator.adjudication.queue_sql import (
    QueueReader,
    count_all_open,
    count_arrived_since,
    count_assigned,
    count_by_category,
    count_due,
    count_rows,
    count_waiting,
    find_first,
    list_decided_since,
    list_rows,
)
from annotator.adjudication.queue_sql import count_open as count_open_ones
from annotator.adjudication.records import IndependentJudgment
from annotator.domain.people import Actor
from annotator.domain.settling import UNGRADED, QueueReason, read_decision
from annotator.people.service import require_role
from annotator.storage.database import Database
from annotator.storage.disclosures import list_to_judge, note_seen
from annotator.storage.lookup import find_dataset, key_of


class DisagreementCount(Protocol):
    """How many open disputes wait for the same reasons (bits), with the same grades."""

    @property
    def waiting(self) -> int: ...
    @property
    def low(self) -> int | None: ...
    @property
    def high(self) -> int | None: ...
    @property
    def taste(self) -> bool: ...
    @property
    def flips(self) -> bool: ...
    @property
    def disputes(self) -> int: ...


def summarise_queue(
    kinds: Iterable[DisagreementCount],
    *,
    by_category: Mapping[str | None, int],
    assigned: Mapping[str, int],
    due: int,
) -> QueueSummary:
    """The summary."""
    reasons: Counter[QueueReason] = Counter()
    grades: Counter[tuple[int, int]] = Counter()
    taste = flips = 0
    for kind in kinds:
        for reason in QueueReason(kind.waiting):
            reasons[reason] += kind.disputes
        if kind.low is not None and kind.high is not None:
            grades[kind.low, kind.high] += kind.disputes
        taste += kind.disputes * bool(kind.taste)
        flips += kind.disputes * bool(kind.flips)
    by_reason = {reason: reasons[reason] for reason in QueueReason}
    return QueueSummary(by_reason, dict(grades), by_category, taste, flips, assigned, due)


EVERYTHING = QueueFilter(shown="all")
PAGE = 50


def list_queue(
    database: Database,
    actor: Actor,
    dataset: str,
    wanted: QueueFilter,
    *,
    sort: str = "distance",
    offset: int = 0,
    limit: int = PAGE,
    now: datetime,
) -> QueuePage:
    """A page of the queue, and how long it is. Needs the role lead. ValidationError for a sort that there is none of.

    Of a pair that the lead has still to judge nothing is told; what they are shown they judge no more. The impact of a few queries is brought up to date first; of how many it is not is said (`due`)."""
    check_sort(sort)
    _bring_up_to_date(database, actor, dataset, few=FEW)
    with database.read() as session:
        reader = _enter(session, actor, dataset, now)
        rows = list_rows(session, reader, wanted, sort, offset=offset, limit=limit)
        items, shown = _describe(session, reader, rows)
        counted = count_waiting(session, reader.dataset_pk)
        total, due = count_rows(session, reader, wanted), count_due(session, reader.dataset_pk)
    note_seen(database, shown, actor.person_id, now=now)
    left = sum(n for (is_open, _), n in counted.items() if is_open)
    ungraded = sum(
        n for (is_open, waiting), n in counted.items() if is_open and UNGRADED & QueueReason(waiting)
    )
    decided = sum(counted.values()) - left
    return QueuePage(items, offset, total, left, decided, _sum_by_reason(counted), due, ungraded)


def summarize_queue(database: Database, actor: Actor, dataset: str) -> QueueSummary:
    """What the open disputes are, counted. Needs the role lead."""
    with database.read() as session:
        dataset_pk = _find_led(session, actor, dataset)
        return summarise_queue(
            count_open_ones(session, dataset_pk),
            by_category=count_by_category(session, dataset_pk),
            assigned=count_assigned(session, dataset_pk),
            due=count_due(session, dataset_pk),
        )


def compute_queue_pace(database: Database, actor: Actor, dataset: str, *, now: datetime) -> QueuePace:
    """How long the queue lasts at the pace of the last seven days, which are those of the zone of `now`. Needs the role lead."""
    since = find_begin(now)
    with database.read() as session:
        dataset_pk = _find_led(session, actor, dataset)
        return estimate_queue(
            count_all_open(session, dataset_pk),
            list_decided_since(session, dataset_pk, since),
            count_arrived_since(session, dataset_pk, since),
            find_first(session, dataset_pk),
            now=now,
        )


def find_disagreements(
    database: Database,
    actor: Actor,
    dataset: str,
    *,
    wanted: QueueFilter = EVERYTHING,
    sort: str = "distance",
    now: datetime,
    tell: Tell | None = None,
) -> list[Disagreement]:
    """Every pair that waits for a lead, and every decided one, or those `wanted`; open ones first, then as `sort` says. Needs
    the role lead; what they may see of each is as in `list_queue`.
    `tell`: called while impacts are computed, with how many queries are done, of how many."""
    check_sort(sort)
    _bring_up_to_date(database, actor, dataset, tell=tell)
    with database.read() as session:
        reader = _enter(session, actor, dataset, now)
        items, shown = _describe(session, reader, list_rows(session, reader, wanted, sort))
    note_seen(database, shown, actor.person_id, now=now)
    return list(items)


def count_open(database: Database, actor: Actor, dataset: str) -> int:
    """How many pairs wait for a lead. Needs the role lead."""
    with database.read() as session:
        dataset_pk = _find_led(session, actor, dataset)
        return sum(n for (is_open, _), n in count_waiting(session, dataset_pk).items() if is_open)


def _bring_up_to_date(
    database: Database, actor: Actor, dataset: str, *, few: int | None = None, tell: Tell | None = None
) -> None:
    """Let every impact be that of the grades and runs as they stand; `few`: unless there is more than that to do."""
    with database.read() as session:
        _find_led(session, actor, dataset)
    if few is None or 0 < count_steps(database, dataset) <= few:
        bring_up_to_date(database, dataset, tell=tell)


def _enter(session: Session, actor: Actor, dataset: str, now: datetime) -> QueueReader:
    return QueueReader(_find_led(session, actor, dataset), actor.person_id, now)


def _find_led(session: Session, actor: Actor, dataset: str) -> int:
    """The dataset, for those who lead it."""
    dataset_pk = key_of(find_dataset(session, dataset).pk)
    require_role(session, actor, dataset_pk, "lead")
    return dataset_pk


def _sum_by_reason(counted: Mapping[tuple[bool, int], int]) -> dict[QueueReason, int]:
    return {
        reason: sum(
            n for (is_open, waiting), n in counted.items() if is_open and reason & QueueReason(waiting)
        )
        for reason in QueueReason
    }


def _describe(
    session: Session, reader: QueueReader, rows: Sequence[Any]
) -> tuple[tuple[Disagreement, ...], set[int]]:
    """The rows for this reader, and the pairs (pair_pk) of which they are told something."""
    pks = [row.DisputeRow.pair_pk for row in rows]
    hidden = list_to_judge(session, reader.lead_pk, pks)
    answers, own = list_answers(session, pks), list_judged_by(session, reader.lead_pk, pks)
    found = tuple(
        _hide(row)
        if row.DisputeRow.pair_pk in hidden
        else _disagreement(row, answers.get(row.DisputeRow.pair_pk, []), yours=row.DisputeRow.pair_pk in own)
        for row in rows
    )
    return found, set(pks) - hidden


def _hide(row: Any) -> Disagreement:
    """A pair that the reader has still to judge."""
    status: Literal["open", "decided"] = "open" if row.DisputeRow.open else "decided"
    return Disagreement(
        pair="",
        query_id="",
        doc_id="",
        category=None,
        grades={},
        distance=0,
        impact=0.0,
        status=status,
        since=row.DisputeRow.since,
        hidden=True,
    )


def _disagreement(row: Any, answers: Sequence[IndependentJudgment], *, yours: bool) -> Disagreement:
    dispute = row.DisputeRow
    waiting = QueueReason(dispute.waiting)
    return Disagreement(
        pair=row.pair,
        query_id=row.query_id,
        doc_id=row.doc_id,
        category=row.category,
        grades={answer.annotator: answer.grade for answer in answers if answer.grade is not None},
        distance=dispute.distance,
        impact=dispute.impact,
        status="open" if dispute.open else "decided",
        since=dispute.since,
        simulated=any(answer.simulated for answer in answers),
        yours=yours,
        reopened=QueueReason.QUALITY in waiting,
        unrateable=tuple(answer.annotator for answer in answers if answer.outcome == "unrateable"),
        reasons=QueueReason(dispute.reasons),
        waiting=waiting,
        recall_impact=dispute.recall_impact,
        mrr_impact=dispute.mrr_impact,
        flips=dispute.flips,
        taste=dispute.taste,
        decided=read_decision(row.outcome, row.grade) if row.outcome else None,
        held_by=row.held_by,
        assigned_to=row.assigned_to,
        put_off=row.put_off is not None,
        query=row.query,
        title=row.title,
    )
