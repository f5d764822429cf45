"""Summarize a dataset: progress, agreement, open work, and the next steps.

The figures of other slices are read in one transaction, so they all show the same moment.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from sqlalchemy.orm import Session

from annotator.adjudication.queue.queue_records import QueuePace, QueueSummary
from annotator.adjudication.queue.queue_service import compute_queue_pace, count_queue, measure_pace
from annotator.adjudication.queue.queue_sql import list_waiting_for
from annotator.agreement.records import AgreementSummary
from annotator.dataset.coverage_counts import ROWS_OF_DOCUMENTS
from annotator.dataset.coverage_service import measure_dataset_coverage
from annotator.dataset.records import Coverage
from annotator.dataset.service import DatasetCounts, read_dataset
from annotator.dataset.settings import Dataset
from annotator.domain.people import Actor
from annotator.domain.settling import OPEN, SETTLED
from annotator.guideline.feedback_sql import count_waiting
from annotator.labeling.calibration_sql import list_check_pks, list_unseen_gold
from annotator.labeling.questions_sql import count_unanswered
from annotator.labeling.service import LabelingProgress, count_recent_judgments, summarize_progress
from annotator.overview.next_steps import DatasetFigures, NextStep, WaitingDisagreements, suggest_steps
from annotator.overview.records import (
    PACE_DAYS,
    CountedPair,
    DayCounts,
    PairCounts,
    ReleaseForecast,
    RemainingWork,
    count_checks_left,
    count_pairs,
    forecast_release,
)
from annotator.people.roles_service import open_dataset
from annotator.releases.gates_service import compute_gates, survey_pairs
from annotator.releases.records import ReleaseGate
from annotator.releases.releases_sql import find_latest_release, is_published
from annotator.storage.database import Database
from annotator.storage.judgments.outdated import count_outdated_by_annotator
from annotator.storage.logs.disclosures import add_seen, list_answered, list_blind_pairs, note_seen
from annotator.storage.lookup import key_of
from annotator.storage.pairs.pair_settlements import (
    UNRATEABLE,
    PairSettlements,
    mark_pairs,
    read_settlements,
)

EPOCH = date(1970, 1, 1)
OPEN_GATES = frozenset({"unjudged_queries", "relevant", "stale", "quality_control"})
"""The gates with a step of their own. Other figures lead to a step for the other gates."""


@dataclass(frozen=True, slots=True)
class Overview:
    """A dataset at a glance. `history`: the days until now, oldest first; see `show_overview`."""

    dataset: Dataset
    counts: DatasetCounts
    progress: LabelingProgress
    pairs: PairCounts
    agreement: AgreementSummary
    coverage: Coverage  # of what a release would hold, as its gate counts
    steps: tuple[NextStep, ...]
    lacking: int  # judgments that the pairs still lack
    checks: int | None  # pairs left to check; see `forecast.count_checks_left`
    gates: tuple[ReleaseGate, ...]
    missing: tuple[str, ...] = ()  # names of the requirements that judging the pool cannot meet
    outdated: int = 0  # judgments under an older guideline or on an older text
    history: tuple[DayCounts, ...] = ()
    blind_pairs: int = 0  # judged pairs that the reader may still judge; they count as not judged


@dataclass(frozen=True, slots=True)
class DatasetStatus:
    """The progress of a dataset: its pairs, its queue, and how long the queue will last."""

    pairs: PairCounts
    queue: QueueSummary
    pace: QueuePace


def show_overview(
    database: Database, actor: Actor, dataset: str, *, history_until: datetime | None = None
) -> Overview:
    """Return the dataset at a glance, with the next steps in order. For leads.

    Pairs that the lead may still judge count as not judged, also for the gates. `history_until`: the history
    ends with the day of this time, in its time zone. None: no history.
    """
    from annotator.agreement.service import summarize_agreement

    with open_dataset(database, actor, dataset, "lead") as (session, row, dataset_pk):
        blind = list_blind_pairs(session, dataset_pk, actor.person_id)
        settled = read_settlements(session, dataset_pk, blind, zone_seconds=_find_zone_seconds(history_until))
        pairs = _count_pairs(session, dataset_pk, settled, blind)
        version, changed = _compare_with_latest(session, dataset_pk, settled)
        survey = survey_pairs(session, row, settled, blind)
        agreement = summarize_agreement(session, row, settled=settled, blind=blind)
        gates = compute_gates(survey, row, agreement.verdict)
        missing: tuple[str, ...] = ()
        if survey.coverage.met < survey.coverage.required:
            coverage = survey.coverage
            if survey.without_qrels:
                coverage = measure_dataset_coverage(settled, survey.queries, row.requirements)
            missing = _list_missing(coverage, judging=bool(pairs.to_judge) or not pairs.pairs)
        described, counts = read_dataset(session, row)
        queue = count_queue(session, dataset_pk, actor.person_id)
        progress = summarize_progress(session, row)
        questions = count_unanswered(session, dataset_pk)
        outdated = sum(item.answers for item in count_outdated_by_annotator(session, dataset_pk))
        waiting_feedback = count_waiting(session, dataset_pk)
        history = () if history_until is None else _count_by_day(settled, history_until)
    figures = DatasetFigures(
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
        questions=questions,
        outdated=outdated,
        ready=all(gate.met for gate in gates),
        settled=pairs.settled,
        version=version,
        changed=changed,
        waiting=WaitingDisagreements(pairs.waiting, queue.by_reason, queue.flips),
        waiting_feedback=waiting_feedback,
        missing=missing,
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
        survey.coverage,
        suggest_steps(figures),
        lacking=int(settled.lacking.sum()),
        checks=count_checks_left(survey.quality, pairs.pairs),
        gates=gates,
        missing=missing,
        outdated=outdated,
        history=history,
        blind_pairs=len(blind),
    )


def read_forecast(
    database: Database, actor: Actor, dataset: str, overview: Overview, *, now: datetime
) -> ReleaseForecast:
    """Forecast when the dataset can be released, at the pace of the last PACE_DAYS days. For leads."""
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
        seconds=pace.seconds,
    )
    return forecast_release(work, now=now)


MOST_POINTS = 60


def _find_zone_seconds(time: datetime | None) -> int | None:
    return None if time is None else int((time.utcoffset() or timedelta()).total_seconds())


def _count_by_day(settled: PairSettlements, until: datetime) -> tuple[DayCounts, ...]:
    """Count the pairs of each status by day, for at most MOST_POINTS days, evenly spaced.

    A pair has its present status from the day of its last judgment or decision on; an imported grade counts from
    the first day. Its earlier statuses are not counted.
    """
    import numpy as np

    reached = settled.last_day
    if reached is None:
        return ()
    if not (reached >= 0).any():
        return ()
    last = (until.date() - EPOCH).days
    first = min(last, int(reached[reached >= 0].min()))
    columns = []
    for statuses in (SETTLED, OPEN, ("unrateable",)):
        have = np.array([status in statuses for status in settled.list_statuses()], dtype=np.bool_)
        days = np.clip(reached[have[settled.settlement]], first, last) - first
        columns.append(np.cumsum(np.bincount(days, minlength=last - first + 1)).tolist())
    every = -(-(last - first + 1) // MOST_POINTS)
    return tuple(
        DayCounts(EPOCH + timedelta(days=first + at), *(column[at] for column in columns))
        for at in range((last - first) % every, last - first + 1, every)
    )


def show_status(database: Database, actor: Actor, dataset: str, *, now: datetime) -> DatasetStatus:
    """Return the progress of a dataset. For leads. The days of the pace are in the time zone of `now`."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        blind = list_blind_pairs(session, dataset_pk, actor.person_id)
        return DatasetStatus(
            _count_pairs(session, dataset_pk, read_settlements(session, dataset_pk, blind), blind),
            count_queue(session, dataset_pk, actor.person_id),
            measure_pace(session, dataset_pk, blind, now=now),
        )


def _count_pairs(
    session: Session, dataset_pk: int, settled: PairSettlements, blind: Collection[int]
) -> PairCounts:
    """Count the pairs of the pool. `settled`: read with the same `blind`."""
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
    """Return the unmet requirements. While pairs are `judging`, only those that judgments cannot meet."""
    return tuple(
        row.name
        for row in coverage.rows
        if row.met is False and not (judging and row.name in ROWS_OF_DOCUMENTS)
    )


def _compare_with_latest(
    session: Session, dataset_pk: int, settled: PairSettlements
) -> tuple[str | None, bool]:
    """Return the version of the latest release, and whether the settled grades differ from it now."""
    release = find_latest_release(session, dataset_pk)
    grade = settled.map_settled()
    if release is None:
        return None, bool((grade >= 0).any())
    return release.version, not is_published(session, dataset_pk, key_of(release.pk), settled.pair, grade)


def give_up_blind_pairs(database: Database, actor: Actor, dataset: str, *, now: datetime) -> int:
    """Record that the lead sees all judged pairs and gold pairs still open to the lead; return their number.

    For leads. Afterwards the lead's figures are complete, and the lead never gets these pairs to judge.
    """
    with open_dataset(database, actor, dataset, "lead", writing=True) as (session, _, dataset_pk):
        blind = list_blind_pairs(session, dataset_pk, actor.person_id)
        pair_pks = blind | list_unseen_gold(session, dataset_pk, actor.person_id)
        if actor.person_id is not None:
            add_seen(session, pair_pks, actor.person_id, now=now)
    return len(pair_pks)


def keep_answers(database: Database, actor: Actor, dataset: str, *, now: datetime) -> None:
    """Make a lead's answers to pairs that others have judged final. For leads.

    Afterwards the lead's figures include these pairs. Before, the lead could change the answers.
    """
    with open_dataset(database, actor, dataset, "lead", archived_too=True) as (session, _, dataset_pk):
        pair_pks = list_answered(session, dataset_pk, actor.person_id)
    note_seen(database, pair_pks, actor.person_id, now=now)
