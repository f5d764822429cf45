"""Summarize a dataset: progress, agreement, open work, and what to do next.

Asks the other slices one after the other and adds only the list of next steps. A judgment that arrives in between may
be in one figure and not yet in another.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.adjudication.queue.queue_records import QueuePace, QueueSummary
from annotator.adjudication.queue.queue_service import compute_queue_pace, summarize_queue
from annotator.adjudication.queue.queue_sql import list_waiting_for
from annotator.agreement.records import AgreementReport
from annotator.agreement.service import compute_agreement
from annotator.dataset.coverage_counts import ROWS_OF_DOCUMENTS
from annotator.dataset.coverage_service import measure_dataset_coverage
from annotator.dataset.records import Coverage
from annotator.dataset.service import Dataset, DatasetCounts, show_dataset
from annotator.domain.people import Actor
from annotator.guideline.feedback_service import count_waiting_feedback
from annotator.guideline.service import count_outdated
from annotator.labeling.calibration_sql import list_check_pks
from annotator.labeling.questions_service import count_open_questions
from annotator.labeling.service import LabelingProgress, compute_progress
from annotator.overview.next_steps import DatasetFigures, NextStep, WaitingDisagreements, suggest_steps
from annotator.overview.records import CountedPair, PairCounts, count_pairs
from annotator.people.service import require_role
from annotator.releases.gates_service import check_gates
from annotator.releases.releases_sql import list_published_grades, list_releases_of_dataset
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.pair_states import PairState, list_pair_states

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
    agreement: AgreementReport
    coverage: Coverage
    steps: tuple[NextStep, ...]
    lacking: int
    """How many judgments the pairs still lack."""
    open_gates: tuple[str, ...]
    """The gates of a release that are not met, by name."""


@dataclass(frozen=True, slots=True)
class DatasetStatus:
    """The progress of a dataset: its pairs, what waits for a lead, and how long that lasts."""

    pairs: PairCounts
    queue: QueueSummary
    pace: QueuePace


def show_overview(
    database: Database, actor: Actor, dataset: str, *, agreement: AgreementReport | None = None
) -> Overview:
    """Return the dataset at a glance, with what to do next, first things first. For leads.

    `agreement`: the report, if the caller has one; else it is measured. A caller with an older report tells the reader so.
    """
    agreement = agreement or compute_agreement(database, actor, dataset)
    with database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "lead")
        states = list_pair_states(session, key_of(row.pk))
        pairs = _count_pairs(session, key_of(row.pk), states)
        version, changed = _compare_with_latest(session, key_of(row.pk), states)
        gates = check_gates(session, row, states, agreement=agreement)
        coverage = measure_dataset_coverage(session, row, states)
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
        kappa_open=agreement.verdict is not None and agreement.verdict.state == "unknown",
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
        missing=_list_missing(coverage, judging=bool(pairs.to_judge) or not states),
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
        lacking=sum(state.lacking for state in states),
        open_gates=tuple(gate.name for gate in gates if not gate.met),
    )


def show_status(database: Database, actor: Actor, dataset: str, *, now: datetime) -> DatasetStatus:
    """Return how many pairs are at which stage, and how long the queue lasts. For leads.

    The days of the pace are those of the zone of `now`.
    """
    with database.read() as session:
        dataset_pk = key_of(find_dataset(session, dataset).pk)
        require_role(session, actor, dataset_pk, "lead")
        states = list_pair_states(session, dataset_pk)
        pairs = _count_pairs(session, dataset_pk, states)
    queue = summarize_queue(database, actor, dataset)
    return DatasetStatus(pairs, queue, compute_queue_pace(database, actor, dataset, now=now))


def _count_pairs(session: Session, dataset_pk: int, states: Sequence[PairState]) -> PairCounts:
    """Count the pairs of the pool; see `overview/records.py`."""
    waiting, marked = list_waiting_for(session, dataset_pk), list_check_pks(session, dataset_pk)
    return count_pairs(
        CountedPair(
            status=state.settlement.status,
            lacks_judgments=state.lacking > 0,
            judged=bool(state.grades or state.unrateable),
            waiting=state.pair_pk in waiting,
            marked=state.pair_pk in marked,
        )
        for state in states
    )


def _list_missing(coverage: Coverage, *, judging: bool) -> tuple[str, ...]:
    """Return the requirements that are not met; while pairs are still judged, only those that judging cannot meet."""
    return tuple(
        row.name
        for row in coverage.rows
        if row.met is False and not (judging and row.name in ROWS_OF_DOCUMENTS)
    )


def _compare_with_latest(
    session: Session, dataset_pk: int, states: Sequence[PairState]
) -> tuple[str | None, bool]:
    """Return the version of the latest release, and whether what is settled now differs from it."""
    releases = list_releases_of_dataset(session, dataset_pk)
    settled = {
        (state.query_id, state.doc_id): state.settlement.grade
        for state in states
        if state.settlement.grade is not None
    }
    if not releases:
        return None, bool(settled)
    return releases[-1].version, settled != list_published_grades(session, key_of(releases[-1].pk))
