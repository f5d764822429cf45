"""Read the progress of annotators and queries, and store the progress that each annotator was shown.

The rule is in `labeling/records.py`: the progress shown last decides how new work is shown.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.judgments import AnnotatorProgress, QueryProgress
from annotator.labeling.checks import count_due_checks
from annotator.labeling.checks_sql import StoredChecks, list_waiting_checks, read_check_rates
from annotator.labeling.open_pairs_sql import Eligibility, WorkCount, count_work, make_eligibility
from annotator.labeling.records import OwnProgress, OwnWork, advance
from annotator.storage.judgments.leases import LabeledDataset, OpenPairsRequest, make_open_pairs_request
from annotator.storage.judgments.quality_pairs import list_waiting
from annotator.storage.lookup import key_of
from annotator.storage.roles import list_dataset_people
from annotator.storage.sql import execute_sql, fetch, fetch_tuples, prepare_sql, read_time
from annotator.storage.tables.central import (
    DatasetRow,
    MembershipRow,
    PairRow,
    PersonRow,
)

_BY_OUTCOME = prepare_sql("""
SELECT m.annotator_pk, m.outcome, m.judgments, (
  SELECT max(j.judged_at) FROM current_judgment c JOIN judgment j ON j.pk = c.judgment_pk
  WHERE c.dataset_pk = :dataset_pk AND c.annotator_pk = m.annotator_pk AND c.outcome = m.outcome AND c.made_at = m.last_second
) AS last_judged_at
FROM (
  SELECT annotator_pk, outcome, count(*) AS judgments, max(made_at) AS last_second FROM current_judgment
  WHERE dataset_pk = :dataset_pk GROUP BY annotator_pk, outcome) m""")
_JUDGED_SINCE = prepare_sql("""
SELECT p.username, count(*) AS judgments FROM person p CROSS JOIN current_judgment c
WHERE c.annotator_pk = p.pk AND c.dataset_pk = :dataset_pk AND c.outcome IN ('graded', 'unrateable') AND c.made_at >= :since
  AND c.imported = 0 AND NOT p.simulated
GROUP BY p.username""")  # CROSS JOIN: from the people, each by the index


_BY_QUERY = prepare_sql("""
SELECT q.query_id, q.text, q.category, count(p.pk) AS pairs,
  coalesce(sum(CASE WHEN p.lacking = 0 THEN 1 END), 0) AS complete,
  coalesce(sum(CASE WHEN p.judged > 0 AND p.lacking > 0 THEN 1 END), 0) AS begun
FROM query q LEFT JOIN pair p ON p.query_pk = q.pk AND p.retired_at IS NULL AND (
  p.judged > 0 OR p.kept OR p.pk NOT IN (SELECT pair_pk FROM check_pair)
  OR p.pk IN (SELECT pair_pk FROM current_adjudication))
WHERE q.dataset_pk = :dataset_pk GROUP BY q.pk, q.position, q.query_id, q.text, q.category ORDER BY q.position""")


class _OutcomeCount(NamedTuple):
    """A row of `_BY_OUTCOME`: the number and last time of an annotator's judgments with one outcome."""

    annotator_pk: int
    outcome: str
    judgments: int
    last_judged_at: datetime | None


def list_annotator_progress(session: Session, dataset_pk: int) -> list[AnnotatorProgress]:
    """Return the progress of each annotator of this dataset or person who judged in it, by username."""
    counts: dict[int, dict[str, _OutcomeCount]] = {}
    for row in fetch(session, _BY_OUTCOME, _OutcomeCount, {"dataset_pk": dataset_pk}):
        counts.setdefault(row.annotator_pk, {})[row.outcome] = row
    members = select(col(MembershipRow.person_pk)).where(
        col(MembershipRow.role) == "annotator", col(MembershipRow.dataset_pk) == dataset_pk
    )
    people = session.scalars(
        select(PersonRow)
        .where(col(PersonRow.pk).in_(members) | col(PersonRow.pk).in_(counts))
        .order_by(col(PersonRow.username))
    )
    return [_describe(person, counts.get(key_of(person.pk), {})) for person in people]


def _describe(person: PersonRow, counts: Mapping[str, _OutcomeCount]) -> AnnotatorProgress:
    number = Counter({outcome: count.judgments for outcome, count in counts.items()})
    times = [count.last_judged_at for count in counts.values() if count.last_judged_at is not None]
    return AnnotatorProgress(
        person.username,
        person.name,
        person.simulated,
        judged=number["graded"] + number["unrateable"],
        unrateable=number["unrateable"],
        later=number["later"],
        last_judged_at=max(times, default=None),
    )


def count_judged_since(session: Session, dataset_pk: int, since: datetime) -> dict[str, int]:
    """Count the current judgments since then by username, without imported and simulated ones."""
    values = {"dataset_pk": dataset_pk, "since": int(since.timestamp())}
    return dict(fetch_tuples(session, _JUDGED_SINCE, values))


def lacks_judgments(session: Session, dataset_pk: int) -> bool:
    """Return whether a pair of the dataset still lacks a judgment."""
    statement = select(col(PairRow.pk)).where(col(PairRow.dataset_pk) == dataset_pk, col(PairRow.lacking) > 0)
    return session.scalars(statement.limit(1)).first() is not None


def count_pairs(session: Session, dataset_pk: int) -> int:
    """Count the pairs in the pool, without retired pairs (`remap`)."""
    statement = select(func.count()).select_from(PairRow)
    in_pool = col(PairRow.dataset_pk) == dataset_pk, col(PairRow.retired_at).is_(None)
    return session.scalar(statement.where(*in_pool)) or 0


def list_query_progress(session: Session, dataset_pk: int) -> list[QueryProgress]:
    """Return the progress of each query, in order. A pair is complete when it lacks no judgment.

    Excludes pairs that left the pool, and pairs that are only checks (`checks` in `overview/records.py`).
    """
    return fetch(session, _BY_QUERY, QueryProgress, {"dataset_pk": dataset_pk})


_SHOWN = prepare_sql("""
SELECT t.answered, t.done, t.total, t.reserve_until, (
  SELECT max(l.expires_at) FROM lease l CROSS JOIN pair x WHERE l.annotator_pk = n.annotator_pk AND l.expires_at > :now
    AND x.pk = l.pair_pk AND x.dataset_pk = n.dataset_pk)
FROM (SELECT CAST(:dataset_pk AS INTEGER) AS dataset_pk, CAST(:annotator_pk AS INTEGER) AS annotator_pk) n
LEFT JOIN told_progress t ON t.dataset_pk = n.dataset_pk AND t.annotator_pk = n.annotator_pk""")
_KEEP = prepare_sql(
    "INSERT INTO told_progress (dataset_pk, annotator_pk, answered, done, total, reserve_until) "
    "VALUES (:dataset_pk, :annotator_pk, :done, :done, :total, :reserve_until) "
    "ON CONFLICT (dataset_pk, annotator_pk) DO UPDATE SET answered = excluded.answered, done = excluded.done, "
    "total = excluded.total, reserve_until = excluded.reserve_until"
)
_LEAD_ACTS = prepare_sql("""
SELECT (SELECT e.at FROM audit_entry e WHERE e.dataset = (SELECT d.name FROM dataset d WHERE d.pk = :dataset_pk)
    ORDER BY e.sequence DESC LIMIT 1),
  (SELECT max(a.assigned_at) FROM query q CROSS JOIN assignment a WHERE q.dataset_pk = :dataset_pk AND a.query_pk = q.pk),
  (SELECT max(j.received_at) FROM current_judgment c CROSS JOIN judgment j
    WHERE c.dataset_pk = :dataset_pk AND c.annotator_pk = :annotator_pk AND j.pk = c.judgment_pk AND j.received_at < :now)""")


class ShownProgress(NamedTuple):
    """The progress that an annotator was shown last, and when."""

    progress: OwnProgress | None
    shown_at: datetime | None  # None if no lease tells: they all have ended since


class AnswerCount(NamedTuple):
    """The pairs that an annotator has answered, and the checks that wait for an answer."""

    judged: int  # as work
    checks: int  # as checks, and for quality control
    drawn: int  # waiting
    held: int  # checks that were handed out and wait for an answer


def _count_answers(session: Session, request: OpenPairsRequest, eligibility: Eligibility) -> AnswerCount:
    checks = StoredChecks(session, request)
    drawn, held = list_waiting(session, request), list_waiting_checks(session, request, eligibility)
    return AnswerCount(checks.count_judged(), checks.count_answered_checks(), len(drawn), len(held))


def measure_progress(
    session: Session,
    request: OpenPairsRequest,
    dataset: LabeledDataset,
    annotator: str,
    answers: AnswerCount,
    count: WorkCount,
    shown: ShownProgress,
) -> OwnProgress:
    """Return how far this annotator is now. Every page and command shows this progress, and no other."""
    answered, held = answers.judged + answers.checks, answers.held

    def count_possible() -> int:
        return count_due_checks(
            read_check_rates(dataset),
            seed=dataset.check_seed,
            annotator=annotator,
            position=answered + count.open_held + count.finished_held + held,
            ordinary=max(0, count.open - count.open_held),
            source=StoredChecks(session, request),
        )

    waiting = held + answers.drawn
    work = OwnWork(answered, answers.checks, count.open, count.finished_held, waiting, count_possible)
    return advance(
        shown.progress, work, is_announced=lambda: _has_lead_acted(session, request, shown.shown_at)
    )


def read_own_progress(
    session: Session,
    request: OpenPairsRequest,
    dataset: LabeledDataset,
    annotator: str,
    eligibility: Eligibility,
) -> OwnProgress:
    """Return how far this annotator is now, outside an exchange with their browser."""
    answers = _count_answers(session, request, eligibility)
    work = count_work(session, request, eligibility)
    return measure_progress(session, request, dataset, annotator, answers, work, read_shown(session, request))


def _has_lead_acted(session: Session, request: OpenPairsRequest, since: datetime | None) -> bool:
    """Return whether a lead or the operator has changed the dataset since then.

    `since` None: since the annotator's last answer before this request; without one, returns True.
    """
    values = {**_name_owner(request), "now": request.now}
    ((audited, assigned, answered),) = fetch_tuples(session, _LEAD_ACTS, values)
    since = since or (None if answered is None else read_time(answered))
    return since is None or any(act is not None and read_time(act) >= since for act in (audited, assigned))


def list_progress(session: Session, dataset: DatasetRow, *, now: datetime) -> dict[str, OwnProgress]:
    """Return the progress of everybody who can label in the dataset, by username."""
    dataset_pk = key_of(dataset.pk)
    progress: dict[str, OwnProgress] = {}
    for person in list_dataset_people(session, dataset_pk):
        if person.roles and not person.disabled:
            request = make_open_pairs_request(dataset, person.pk, now)
            eligibility = make_eligibility([limits for _, *limits in person.roles], any_assigned=True)
            progress[person.username] = read_own_progress(
                session, request, dataset, person.username, eligibility
            )
    return progress


def keep_progress(session: Session, request: OpenPairsRequest, progress: OwnProgress) -> None:
    """Keep the progress that the annotator is shown."""
    kept = {"done": progress.done, "total": progress.total, "reserve_until": progress.reserve_until}
    execute_sql(session, _KEEP, {**_name_owner(request), **kept})


def read_shown(session: Session, request: OpenPairsRequest) -> ShownProgress:
    """Return the progress that the annotator was shown last."""
    values = {**_name_owner(request), "now": request.now}
    ((answered, done, total, reserve_until, lease_end),) = fetch_tuples(session, _SHOWN, values)
    return make_shown(
        request, (answered, done, total, reserve_until), None if lease_end is None else read_time(lease_end)
    )


def make_shown(
    request: OpenPairsRequest,
    row: tuple[int | None, int | None, int | None, int | None],
    lease_end: datetime | None,
) -> ShownProgress:
    """Return the progress of a row (answered, done, total, reserve_until). `lease_end`: of the last lease.

    An earlier version promised pairs by the hundred; what it stored is no progress.
    """
    answered, done, total, reserve_until = row
    shown_at = None if lease_end is None else min(lease_end - request.lease, request.now)
    if done is None or total is None or done != answered or (reserve_until is None and done < total):
        return ShownProgress(None, shown_at)
    return ShownProgress(OwnProgress(done, total, reserve_until), shown_at)


def _name_owner(request: OpenPairsRequest) -> dict[str, int]:
    return {"dataset_pk": request.dataset_pk, "annotator_pk": request.annotator_pk}
