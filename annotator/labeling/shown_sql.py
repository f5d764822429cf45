"""Load what an annotator is shown: pairs, and the progress; count the progress of all annotators and queries.

Never loads ranks, scores, system names or other people's grades for an annotator. The rule of the progress is in
`labeling/records.py`: the progress shown last decides how new work is shown.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.judgments import AnnotatorProgress, OutdatedReason, OwnAnswer, PairView, QueryProgress
from annotator.domain.texts import choose_metadata
from annotator.labeling.checks import count_due_checks
from annotator.labeling.next_pairs import QueryCount
from annotator.labeling.next_pairs_sql import StoredChecks, list_waiting_checks, read_check_rates
from annotator.labeling.open_pairs_sql import (
    COUNT_WORK,
    DONE,
    Eligibility,
    WorkCount,
    count_work,
    make_eligibility,
)
from annotator.labeling.records import NextPair, OwnProgress, OwnWork, advance
from annotator.people.roles_service import list_dataset_people
from annotator.storage.judgments.outdated import OWN_ANSWER, OWN_STALE, describe_outdated
from annotator.storage.judgments.quality_pairs import list_waiting
from annotator.storage.lookup import LabeledDataset, OpenPairsRequest, key_of, make_open_pairs_request
from annotator.storage.pairs.document_text import SHOWN_CHARACTERS
from annotator.storage.sql import execute_sql, fetch, fetch_tuples, prepare_sql, read_json, read_time
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
    """Return the progress of everybody at work in the dataset, by username. Others get no pairs."""
    dataset_pk = key_of(dataset.pk)
    progress: dict[str, OwnProgress] = {}
    for person in list_dataset_people(session, dataset_pk):
        if person.works:
            request = make_open_pairs_request(dataset, person.pk, now)
            eligibility = make_eligibility(
                [(scope.categories, scope.languages) for scope in person.roles], any_assigned=True
            )
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


_COLUMNS = f"""p.pk, p.query_pk, {OWN_STALE}, d.extra, j.outcome, j.grade, j.note, j.reason,
  p.key, q.query_id, q.text, q.narrative, q.language, d.doc_id, d.title, d.url, d.media_type, substr(t.text, 1, :most),
  length(t.text), d.text_sha256, (SELECT max(r.version) FROM rubric r WHERE r.dataset_pk = p.dataset_pk)"""
_SIZE = 21  # columns
_JOINED = f"""
LEFT JOIN query q ON q.pk = p.query_pk LEFT JOIN document d ON d.pk = p.document_pk
LEFT JOIN document_text t ON t.document_pk = d.pk AND t.sha256 = d.text_sha256
LEFT JOIN current_judgment c ON c.pair_pk = p.pk AND c.annotator_pk = :annotator_pk
LEFT JOIN judgment j ON j.pk = {OWN_ANSWER}"""
_VIEWS = prepare_sql(f"SELECT {_COLUMNS} FROM pair p {_JOINED} WHERE p.pk IN :pairs", lists=["pairs"])
_HANDED_OUT = f"""
SELECT {_COLUMNS}, n.in_pool, n.answered, g.*
FROM (SELECT ({DONE}) AS done) g LEFT JOIN pair p ON p.pk IN :pks {_JOINED}
LEFT JOIN (
  SELECT v.query_pk, count(*) AS in_pool,
    count((SELECT 1 FROM judgment y
      WHERE y.pair_pk = v.pk AND y.annotator_pk = :annotator_pk AND y.outcome <> 'later' LIMIT 1))
    + count((SELECT 1 FROM repeated_pair y
      WHERE y.pair_pk = v.pk AND y.annotator_pk = :annotator_pk AND y.answered_at IS NOT NULL LIMIT 1)) AS answered
  FROM pair v WHERE v.query_pk IN (SELECT z.query_pk FROM pair z WHERE z.pk IN :pks) AND v.retired_at IS NULL
  GROUP BY v.query_pk) n ON n.query_pk = p.query_pk"""
_HANDED_OUT_AND_WORK = _HANDED_OUT.replace(" AS done)", f" AS done, u.* FROM ({COUNT_WORK}) u)")


class _ViewRow(NamedTuple):
    """A row of _VIEWS."""

    pair_pk: int
    query_pk: int
    stale: int | None
    extra: Any  # JSON as the driver gives it
    answer: Sequence[Any]  # the fields of the annotator's own answer, all None without one
    facts: Sequence[Any]  # the first fields of a PairView


def _to_row(row: Sequence[Any]) -> _ViewRow:
    return _ViewRow._make((*row[:4], row[4:8], row[8:_SIZE]))


@dataclass(frozen=True, slots=True)
class HandedOut:
    """The pairs that are handed out, and how many the annotator has done."""

    views: tuple[PairView, ...]
    queries: tuple[tuple[int, int], ...]  # (pair_pk, query_pk) of each view
    counts: Mapping[int, QueryCount]  # by query_pk
    done: int  # pairs with a current judgment of the annotator
    work: WorkCount | None  # None if it was not counted


def read_handed_out(
    session: Session,
    request: OpenPairsRequest,
    eligibility: Eligibility,
    pairs: Sequence[NextPair],
    *,
    columns: Sequence[str],
    count_work: bool,
) -> HandedOut:
    """Return the view of each pair in this order, and the number of pairs the annotator has done.

    `columns`: the shown metadata columns of documents. `count_work`: also count the annotator's work.
    """
    text = _HANDED_OUT_AND_WORK if count_work else _HANDED_OUT
    statement = eligibility.prepare(text, query="w.query_pk")
    chosen = [pair.pair_pk for pair in pairs]
    values = {**request.values, **eligibility.values, "pks": chosen, "most": SHOWN_CHARACTERS}
    rows = fetch_tuples(session, statement, values)
    views, counts = {}, {}
    for row in rows:
        if row[0] is not None:  # without pairs there is one row, with the counts alone
            view = _to_row(row)
            views[view.pair_pk] = view
            counts[view.query_pk] = QueryCount(row[_SIZE] or 0, row[_SIZE + 1] or 0)
    _, _, done, *work = rows[0][_SIZE:]
    return HandedOut(
        tuple(_to_views(session, request, pairs, views, columns)),
        tuple((pair.pair_pk, views[pair.pair_pk].query_pk) for pair in pairs),
        counts,
        int(done),
        WorkCount._make(map(int, work)) if count_work else None,
    )


def read_pair_views(
    session: Session, request: OpenPairsRequest, pairs: Sequence[NextPair], *, columns: Sequence[str]
) -> list[PairView]:
    """Return the annotator's view of each pair, in this order. `columns`: see `read_handed_out`."""
    values = {
        "annotator_pk": request.annotator_pk,
        "most": SHOWN_CHARACTERS,
        "pairs": [pair.pair_pk for pair in pairs],
    }
    rows = {row.pair_pk: row for row in map(_to_row, fetch_tuples(session, _VIEWS, values))}
    return _to_views(session, request, pairs, rows, columns)


def _to_views(
    session: Session,
    request: OpenPairsRequest,
    pairs: Sequence[NextPair],
    rows: Mapping[int, _ViewRow],
    columns: Sequence[str],
) -> list[PairView]:
    """Return the views. A repeat and a training pair do not show the annotator's earlier answer."""
    with_answer = {pair.pair_pk for pair in pairs if pair.key is None and not pair.training}
    stale = [pair_pk for pair_pk in with_answer if rows[pair_pk].stale]
    outdated = describe_outdated(session, request, stale) if stale else {}
    return [
        _to_view(rows[pair.pair_pk], pair, columns, outdated, with_answer=pair.pair_pk in with_answer)
        for pair in pairs
    ]


def _to_view(
    row: _ViewRow,
    pair: NextPair,
    columns: Sequence[str],
    outdated: Mapping[int, OutdatedReason],
    *,
    with_answer: bool,
) -> PairView:
    key, *facts, length, document_sha256, guideline_version = row.facts
    shown = (pair.key or key, *facts, length or 0, document_sha256, guideline_version)
    return replace(
        PairView(*shown),
        metadata=choose_metadata(read_json(row.extra), columns),
        training=pair.training,
        answer=OwnAnswer(*row.answer) if with_answer and row.answer[0] else None,
        outdated=outdated.get(pair.pair_pk) if with_answer else None,
    )
