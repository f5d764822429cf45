"""Summarize a dataset: progress, agreement, open work, and what to do next.

Asks the other slices one after the other and adds only the list of next steps. A judgment that arrives in between may
be in one figure and not yet in another.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from annotator.adjudication.queue.queue_records import QueuePace, QueueSummary
from annotator.adjudication.queue.queue_service import compute_queue_pace, summarize_queue
from annotator.adjudication.queue.queue_sql import list_waiting_for
from annotator.agreement.records import AgreementSummary
from annotator.dataset.coverage_counts import ROWS_OF_DOCUMENTS
from annotator.dataset.coverage_service import measure_dataset_coverage
from annotator.dataset.records import Coverage
from annotator.dataset.service import Dataset, DatasetCounts, show_dataset
from annotator.domain.people import Actor
from annotator.guideline.feedback_service import count_waiting_feedback
from annotator.guideline.service import count_outdated
from annotator.labeling.calibration_sql import list_check_pks
from annotator.labeling.questions_service import count_open_questions
from annotator.labeling.service import LabelingProgress, compute_progress, count_recent_judgments
from annotator.overview.forecast import (
    PACE_DAYS,
    ReleaseForecast,
    RemainingWork,
    count_checks_left,
    forecast_release,
)
from annotator.overview.next_steps import DatasetFigures, NextStep, WaitingDisagreements, suggest_steps
from annotator.overview.records import CountedPair, PairCounts, count_pairs
from annotator.people.roles_service import require_role
from annotator.releases.gates_service import compute_gates, survey_pairs
from annotator.releases.releases_sql import find_latest_release, is_published
from annotator.storage.database import Database
from annotator.storage.logs.disclosures import add_seen, list_answered, list_blind_pairs, note_seen
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.pairs.pair_settlements import UNRATEABLE, PairSettlements, mark_pairs, read_settlements

OPEN_GATES = frozenset(
    {"unjudged_queries", "relevant", "stale", "quality_control"}
)  # the other gates follow from figures that have a step of their own


@dataclass(frozen=True, slots=True)
class Overview:
    """A dataset at a glance. `pairs`: its pairs by status, and how far they are.

    `coverage`: what its queries and settled pairs cover, beside what the dataset requires.
    """

    dataset: Dataset
    counts: DatasetCounts
    progress: LabelingProgress
    pairs: PairCounts
    agreement: AgreementSummary
    coverage: Coverage
    steps: tuple[NextStep, ...]
    lacking: int
    """How many judgments the pairs still lack."""
    checks: int | None
    """Pairs that quality control has still to check, see `forecast.count_checks_left`."""
    open_gates: tuple[str, ...]
    """The gates of a release that are not met, by name."""
    blind_pairs: int = 0
    """Judged pairs that the reader may still judge, and that count as not judged."""


@dataclass(frozen=True, slots=True)
class DatasetStatus:
    """The progress of a dataset: its pairs, what waits for a lead, and how long that lasts."""

    pairs: PairCounts
    queue: QueueSummary
    pace: QueuePace


def show_overview(database: Database, actor: Actor, dataset: str) -> Overview:
    """Return the dataset at a glance, with what to do next, first things first. For leads.

    Pairs that the lead may still judge count as not judged, also for the gates. Pairs, gates, coverage and agreement are counted from one reading of the pairs and their judgments.
    """
    from annotator.agreement.service import summarize_agreement

    with database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "lead")
        blind = list_blind_pairs(session, key_of(row.pk), actor.person_id)
        settled = read_settlements(session, key_of(row.pk), blind)
        pairs = _count_pairs(session, key_of(row.pk), settled, blind)
        version, changed = _compare_with_latest(session, key_of(row.pk), settled)
        survey = survey_pairs(session, row, settled, blind)
        agreement = summarize_agreement(session, row, settled=settled, blind=blind)
        gates = compute_gates(survey, row, agreement.verdict)
        coverage = measure_dataset_coverage(settled, survey.queries, row.requirements)
    described, counts = show_dataset(database, actor, dataset)
    queue = summarize_queue(database, actor, dataset)
    progress = compute_progress(database, actor, dataset)
    figures = DatasetFigures(
        dataset=dataset,
        queries=counts.queries,
        documents=counts.documents,
        pairs=pairs.pairs,
        overlap=described.overlap,
        annotators=len(progress.annotators),
        short=pairs.to_judge,
        begun=pairs.begun,
        shared=agreement.measured.pairs,
        kappa=agreement.measured.cohen_kappa["unweighted"],
        kappa_target=described.kappa_target,
        kappa_met=all(gate.met for gate in gates if gate.name == "kappa"),
        kappa_open=agreement.verdict.state == "unknown",
        disagreements=pairs.disagreements,
        reopened=pairs.by_status["reopened"],
        questions=count_open_questions(database, actor, dataset),
        outdated=sum(item.answers for item in count_outdated(database, actor, dataset)),
        ready=all(gate.met for gate in gates),
        settled=pairs.settled,
        version=version,
        changed=changed,
        waiting=WaitingDisagreements(pairs.waiting, queue.by_reason, queue.flips),
        waiting_feedback=count_waiting_feedback(database, actor, dataset),
        missing=_list_missing(coverage, judging=bool(pairs.to_judge) or not pairs.pairs),
        open_gates=tuple(
            (gate.name, gate.why or "") for gate in gates if not gate.met and gate.name in OPEN_GATES
        ),
    )
    return Overview(
        described,
        counts,
        progress,
        pairs,
        agreement,
        coverage,
        suggest_steps(figures),
        lacking=int(settled.lacking.sum()),
        checks=count_checks_left(survey.quality, pairs.pairs),
        open_gates=tuple(gate.name for gate in gates if not gate.met),
        blind_pairs=len(blind),
    )


def read_forecast(
    database: Database, actor: Actor, dataset: str, overview: Overview, *, now: datetime
) -> ReleaseForecast:
    """Return when the dataset can be released at the pace of the last days. For leads."""
    since = now - timedelta(days=PACE_DAYS)
    pace = compute_queue_pace(database, actor, dataset, now=now)
    people = [person for person in overview.progress.annotators if not person.simulated]
    work = RemainingWork(
        judgments=overview.lacking,
        recent=count_recent_judgments(database, actor, dataset, since=since),
        active=sum(person.last_judged_at is not None and person.last_judged_at >= since for person in people),
        disagreements=overview.pairs.disagreements,
        arrived=pace.arrived,
        decided=pace.decided,
        checks=overview.checks,
    )
    return forecast_release(work, now=now)


def show_status(database: Database, actor: Actor, dataset: str, *, now: datetime) -> DatasetStatus:
    """Return how many pairs are at which stage, and how long the queue lasts. For leads.

    The days of the pace are those of the zone of `now`.
    """
    with database.read() as session:
        dataset_pk = key_of(find_dataset(session, dataset).pk)
        require_role(session, actor, dataset_pk, "lead")
        blind = list_blind_pairs(session, dataset_pk, actor.person_id)
        pairs = _count_pairs(session, dataset_pk, read_settlements(session, dataset_pk, blind), blind)
    queue = summarize_queue(database, actor, dataset)
    return DatasetStatus(pairs, queue, compute_queue_pace(database, actor, dataset, now=now))


def _count_pairs(
    session: Session, dataset_pk: int, settled: PairSettlements, blind: Collection[int]
) -> PairCounts:
    """Count the pairs of the pool; see `overview/records.py`. `settled`: read with the same `blind`."""
    import numpy as np

    judged = np.zeros(len(settled.pair), dtype=np.bool_)
    judged[settled.judged_index[settled.answer <= UNRATEABLE]] = True
    waiting = mark_pairs(settled, set(list_waiting_for(session, dataset_pk)).difference(blind))
    marked = mark_pairs(settled, list_check_pks(session, dataset_pk))
    kinds = settled.settlement
    for column in (settled.lacking > 0, judged, waiting, marked):
        kinds = kinds * 2 + column
    by_kind = np.bincount(kinds)
    counted = Counter[CountedPair]()
    for kind in np.flatnonzero(by_kind).tolist():
        flags = [bool(kind >> bit & 1) for bit in (3, 2, 1, 0)]
        counted[CountedPair(settled.settlements[kind >> 4].status, *flags)] += int(by_kind[kind])
    return count_pairs(counted)


def _list_missing(coverage: Coverage, *, judging: bool) -> tuple[str, ...]:
    """Return the requirements that are not met; while pairs are still judged, only those that judging cannot meet."""
    return tuple(
        row.name
        for row in coverage.rows
        if row.met is False and not (judging and row.name in ROWS_OF_DOCUMENTS)
    )


def _compare_with_latest(
    session: Session, dataset_pk: int, settled: PairSettlements
) -> tuple[str | None, bool]:
    """Return the version of the latest release, and whether what is settled now differs from it."""
    release = find_latest_release(session, dataset_pk)
    grade = settled.map_settled()
    if release is None:
        return None, bool((grade >= 0).any())
    return release.version, not is_published(session, dataset_pk, key_of(release.pk), settled.pair, grade)


def give_up_blind_pairs(database: Database, actor: Actor, dataset: str, *, now: datetime) -> int:
    """Record that a lead sees every judged pair that the lead could still judge, and return how many. For leads.

    From then on the lead's figures are complete, and the lead is never handed these pairs.
    """
    with database.write() as session:
        dataset_pk = key_of(find_dataset(session, dataset).pk)
        require_role(session, actor, dataset_pk, "lead")
        blind = list_blind_pairs(session, dataset_pk, actor.person_id)
        if actor.person_id is not None:
            add_seen(session, blind, actor.person_id, now=now)
    return len(blind)


def keep_answers(database: Database, actor: Actor, dataset: str, *, now: datetime) -> None:
    """Let a lead's answers stay as they are on pairs that others have judged, before figures with these pairs are shown.

    Until then the lead may change them, and no figure of this lead includes these pairs. For leads.
    """
    with database.read() as session:
        dataset_pk = key_of(find_dataset(session, dataset, archived_too=True).pk)
        require_role(session, actor, dataset_pk, "lead")
        pair_pks = list_answered(session, dataset_pk, actor.person_id)
    note_seen(database, pair_pks, actor.person_id, now=now)
