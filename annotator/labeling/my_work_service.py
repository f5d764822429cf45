"""Show annotators their own work, and leads how long pairs take.

Times are medians, never a ranking of people; remaining time is estimated at the person's own pace. Refuses
other people's judgments and pairs that the person has not answered. To open an answer that can no longer be
changed raises an error with the reason.

Read one annotator's own judgments page by page, and the active time of the latest ones. Answers on gold pairs
and for quality control are listed like the others: the list must not reveal checks. Training and repeats are
left out. Never reads other people's judgments, except for the medians for leads.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta, tzinfo
from statistics import median
from typing import Any

from sqlalchemy import case, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.errors import StateError, ValidationError
from annotator.domain.judgments import CURRENT_PURPOSES, OwnAnswer, PairView
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.labeling.next_pairs_sql import find_repeats
from annotator.labeling.open_pairs_sql import find_eligibility
from annotator.labeling.records import (
    LabelingPace,
    MedianSeconds,
    MedianTimes,
    NextPair,
    OwnJudgment,
    OwnJudgmentFilter,
    OwnJudgmentPage,
)
from annotator.labeling.shown_sql import read_own_progress, read_pair_views
from annotator.people.roles_service import open_dataset, require_person
from annotator.storage.database import Database
from annotator.storage.lookup import find_handed_out, make_open_pairs_request
from annotator.storage.sql import fetch, fetch_tuples, prepare_sql
from annotator.storage.tables.central import JudgmentRow, QueryRow

_GOLD = """
SELECT max(j.pk) FROM check_pair c CROSS JOIN pair p CROSS JOIN judgment j
WHERE p.pk = c.pair_pk AND p.dataset_pk = :dataset_pk AND c.kind = 'gold'
  AND j.pair_pk = c.pair_pk AND j.annotator_pk = :person_pk AND j.purpose = 'gold' AND NOT j.late
  AND NOT EXISTS (SELECT 1 FROM current_judgment o WHERE o.pair_pk = j.pair_pk AND o.annotator_pk = :person_pk)
GROUP BY j.pair_pk
"""  # CROSS JOIN: from the few marks, not from the pool
_CHECKED = """
SELECT x.judgment_pk FROM quality_pair x JOIN quality_draw w ON w.pk = x.draw_pk
WHERE w.dataset_pk = :dataset_pk AND w.annotator_pk = :person_pk AND x.judgment_pk IS NOT NULL"""
_TIMED_ANSWERS = prepare_sql(f"""
SELECT c.judgment_pk FROM (
  SELECT judgment_pk FROM current_judgment
  WHERE dataset_pk = :dataset_pk AND annotator_pk = :person_pk AND outcome <> 'later' AND seconds IS NOT NULL
  ORDER BY judgment_pk DESC LIMIT :most) c
UNION ALL {_GOLD} UNION ALL {_CHECKED} UNION ALL
SELECT max(j.pk) FROM repeated_pair r JOIN pair p ON p.pk = r.pair_pk
JOIN judgment j ON j.pair_pk = r.pair_pk AND j.annotator_pk = r.annotator_pk
WHERE r.annotator_pk = :person_pk AND p.dataset_pk = :dataset_pk AND j.purpose = 'repeat' AND NOT j.late
GROUP BY j.pair_pk""")
_SECONDS = prepare_sql(
    "SELECT seconds FROM judgment WHERE pk IN :judgments AND outcome <> 'later' AND seconds IS NOT NULL "
    "ORDER BY pk DESC LIMIT :most",
    lists=["judgments"],
)
_TIMED = prepare_sql("""
SELECT a.username, a.simulated, q.category, j.seconds FROM judgment j JOIN person a ON a.pk = j.annotator_pk
JOIN pair p ON p.pk = j.pair_pk JOIN query q ON q.pk = p.query_pk
WHERE p.dataset_pk = :dataset_pk AND j.outcome <> 'later' AND j.seconds IS NOT NULL ORDER BY j.pk DESC LIMIT :most""")
# a check is answered whatever a lead has decided; the state must not reveal it
_LOCK = """CASE
WHEN NOT EXISTS (SELECT 1 FROM check_pair k WHERE k.pair_pk = p.pk)
  AND EXISTS (SELECT 1 FROM current_adjudication a WHERE a.pair_pk = p.pk AND NOT EXISTS (
    SELECT 1 FROM quality_pair x JOIN quality_draw w ON w.pk = x.draw_pk WHERE x.pair_pk = p.pk
      AND w.annotator_pk = :person_pk AND (x.answered_at IS NULL OR x.answered_at > a.decided_at))) THEN 'settled'
WHEN EXISTS (SELECT 1 FROM disclosure s WHERE s.pair_pk = p.pk AND s.person_pk = :person_pk) THEN 'disclosed' END"""
_FIND_LOCK = prepare_sql(f"SELECT {_LOCK} FROM pair p WHERE p.pk = :pair_pk")
_OWN = f"""
SELECT p.key AS pair, q.query_id, q.text AS query, q.category, d.doc_id, d.title, j.outcome, j.grade, j.reason, j.note,
  j.judged_at, {_LOCK} AS locked
FROM judgment j JOIN pair p ON p.pk = j.pair_pk JOIN query q ON q.pk = p.query_pk JOIN document d ON d.pk = p.document_pk
WHERE (j.pk IN :gold OR j.pk IN ({_CHECKED}) OR j.pk IN (
  SELECT judgment_pk FROM current_judgment WHERE dataset_pk = :dataset_pk AND annotator_pk = :person_pk))"""
_HOLDS = """(lower(q.query_id) LIKE lower(:words) ESCAPE '\\' OR lower(q.text) LIKE lower(:words) ESCAPE '\\'
  OR lower(d.doc_id) LIKE lower(:words) ESCAPE '\\' OR lower(d.title) LIKE lower(:words) ESCAPE '\\'
  OR EXISTS (SELECT 1 FROM document_text t WHERE t.document_pk = d.pk AND t.sha256 = d.text_sha256
    AND lower(t.text) LIKE lower(:words) ESCAPE '\\'))"""


def list_own_judgments(
    session: Session,
    dataset_pk: int,
    person_pk: int,
    wanted: OwnJudgmentFilter,
    *,
    since: datetime | None,
    until: datetime | None,
    limit: int,
    offset: int,
) -> tuple[int, list[OwnJudgment]]:
    """Return how many own judgments match the filter, and one page of them, the latest first.

    `since` and `until` (excluded) are the bounds of the filter's days.
    """
    whose = {"dataset_pk": dataset_pk, "person_pk": person_pk}
    gold = [pk for (pk,) in fetch_tuples(session, prepare_sql(_GOLD), whose)]
    escaped = wanted.words.strip().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    is_outcome = wanted.answer in ("unrateable", "later")
    conditions: list[tuple[str, str, Any]] = [  # with their value; None: without it
        (_HOLDS, "words", f"%{escaped}%" if escaped else None),
        ("j.outcome = :outcome", "outcome", wanted.answer if is_outcome else None),
        ("j.grade = :grade", "grade", None if is_outcome or wanted.answer is None else int(wanted.answer)),
        ("q.category = :category", "category", wanted.category),
        ("j.judged_at >= :since", "since", since),
        ("j.judged_at < :until", "until", until),
    ]
    chosen = [(condition, name, value) for condition, name, value in conditions if value is not None]
    own = "".join([_OWN, *(f" AND {condition}" for condition, _, _ in chosen)])
    values = {**whose, "gold": gold, **{name: value for _, name, value in chosen}}
    count = prepare_sql(f"SELECT count(*) FROM ({own}) o", lists=["gold"])
    page = prepare_sql(f"{own} ORDER BY j.pk DESC LIMIT :limit OFFSET :offset", lists=["gold"])
    ((total,),) = fetch_tuples(session, count, values)
    return total, fetch(session, page, OwnJudgment, {**values, "limit": limit, "offset": offset})


def find_own_answer(
    session: Session, pair_pk: int, person_pk: int, ranks: Mapping[str, int]
) -> JudgmentRow | None:
    """Return the person's current answer on the pair. `ranks`: by purpose; the lowest counts.

    One statement for all purposes: otherwise the time that it takes would tell which pairs are checks.
    """
    statement = (
        select(JudgmentRow)
        .where(
            col(JudgmentRow.pair_pk) == pair_pk,
            col(JudgmentRow.annotator_pk) == person_pk,
            col(JudgmentRow.purpose).in_(list(ranks)),
            col(JudgmentRow.late).is_(False),
        )
        .order_by(case(dict(ranks), value=col(JudgmentRow.purpose)), col(JudgmentRow.pk).desc())
        .limit(1)
    )
    return session.scalars(statement).first()


def find_lock(session: Session, pair_pk: int, person_pk: int) -> str | None:
    """Return why the person's answer can no longer be changed: "settled", "disclosed", or None."""
    ((lock,),) = fetch_tuples(session, _FIND_LOCK, {"pair_pk": pair_pk, "person_pk": person_pk})
    return str(lock) if lock else None


def list_own_seconds(session: Session, dataset_pk: int, person_pk: int, *, most: int) -> list[float]:
    """Return the active seconds of the person's latest answers, checks included, latest first."""
    values = {"dataset_pk": dataset_pk, "person_pk": person_pk, "most": most}
    judgments = sorted((pk for (pk,) in fetch_tuples(session, _TIMED_ANSWERS, values)), reverse=True)
    rows = fetch_tuples(session, _SECONDS, {"judgments": judgments, "most": most})
    return [seconds for (seconds,) in rows]


def list_timed(session: Session, dataset_pk: int, *, most: int) -> list[tuple[str, bool, str | None, float]]:
    """Return the latest judgments of everybody that have a time: username, simulated, category, seconds."""
    rows = fetch_tuples(session, _TIMED, {"dataset_pk": dataset_pk, "most": most})
    return [(username, bool(simulated), category, seconds) for username, simulated, category, seconds in rows]


def list_categories(session: Session, dataset_pk: int) -> list[str]:
    """Return the categories of the dataset's queries."""
    statement = select(col(QueryRow.category)).where(col(QueryRow.dataset_pk) == dataset_pk).distinct()
    return sorted(category for category in session.scalars(statement) if category)


LEAST_TIMED = 10


def estimate_pace(done: int, left: int, seconds: Sequence[float]) -> LabelingPace:
    """Estimate how long the rest takes at the median of these active times; unknown below 10 of them."""
    if len(seconds) < LEAST_TIMED:
        return LabelingPace(done, left, len(seconds), None, None)
    typical = median(seconds)
    return LabelingPace(done, left, len(seconds), typical, typical * left)


def compute_medians(timed: Sequence[tuple[str, bool, str | None, float]]) -> MedianTimes:
    """Compute medians by category and annotator from (annotator, simulated, category, active seconds)."""
    categories: dict[str, list[float]] = {}
    annotators: dict[str, list[float]] = {}
    for annotator, _simulated, category, seconds in timed:
        categories.setdefault(category or "", []).append(seconds)
        annotators.setdefault(annotator, []).append(seconds)
    return MedianTimes(
        len(timed),
        _median([seconds for *_names, seconds in timed]),
        {name: _median(categories[name]) for name in sorted(categories)},
        {name: _median(annotators[name]) for name in sorted(annotators)},
        frozenset(annotator for annotator, simulated, _category, _seconds in timed if simulated),
    )


def _median(seconds: Sequence[float]) -> MedianSeconds:
    return MedianSeconds(len(seconds), median(seconds) if seconds else None)


LATEST_OWN, LATEST_OF_ALL = 200, 20_000
ANSWERS = ("0", "1", "2", "3", "unrateable", "later")


class CannotRevise(StateError):
    """The own answer cannot be changed. `code` is the panel's: settled, disclosed or not_yours."""

    def __init__(self, why: str, code: str) -> None:
        super().__init__(why)
        self.code = code


def list_own_work(
    database: Database,
    actor: Actor,
    dataset: str,
    wanted: OwnJudgmentFilter = OwnJudgmentFilter(),
    *,
    zone: tzinfo = UTC,
    page: int = 0,
    size: int = 20,
) -> OwnJudgmentPage:
    """Return one page of the actor's own judgments, latest first.

    `zone`: the time zone of the filter's days.
    """
    if wanted.answer is not None and wanted.answer not in ANSWERS:
        raise ValidationError(f"answer: expected one of {', '.join(ANSWERS)}, found {wanted.answer!r}")
    first, last = wanted.first_day, wanted.last_day
    since = None if first is None else datetime.combine(first, time(), zone)
    until = None if last is None else datetime.combine(last + timedelta(days=1), time(), zone)
    with open_dataset(database, actor, dataset, "annotator") as (session, _, dataset_pk):
        total, judgments = list_own_judgments(
            session,
            dataset_pk,
            require_person(actor),
            wanted,
            since=since,
            until=until,
            limit=size,
            offset=page * size,
        )
        return OwnJudgmentPage(total, tuple(judgments))


def list_work_categories(database: Database, actor: Actor, dataset: str) -> list[str]:
    """Return the categories of the dataset's queries, to choose from."""
    with open_dataset(database, actor, dataset, "annotator") as (session, _, dataset_pk):
        return list_categories(session, dataset_pk)


def show_pace(database: Database, actor: Actor, dataset: str, *, now: datetime) -> LabelingPace:
    """Return the actor's progress, and an estimate of the remaining time at their own pace."""
    with open_dataset(database, actor, dataset, "annotator") as (session, row, dataset_pk):
        person_pk = require_person(actor)
        request = make_open_pairs_request(row, person_pk, now)
        eligibility = find_eligibility(session, dataset_pk, person_pk)
        progress = read_own_progress(session, request, row, actor.username, eligibility)
        return estimate_pace(
            progress.done,
            progress.left,
            list_own_seconds(session, dataset_pk, person_pk, most=LATEST_OWN),
        )


def compute_times(database: Database, actor: Actor, dataset: str) -> MedianTimes:
    """Compute the median active time by category and by annotator, over the latest 20,000 judgments.

    For leads.
    """
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        return compute_medians(list_timed(session, dataset_pk, most=LATEST_OF_ALL))


def read_own_pair(database: Database, actor: Actor, dataset: str, pair: str, *, now: datetime) -> PairView:
    """Return a pair that the actor has answered, with the answer, to look at and change.

    The key of a repeat returns the answer on the repeat, the key of the pair the ordinary answer. Raises
    CannotRevise if the actor has not answered it, or can no longer change the answer.
    """
    with open_dataset(database, actor, dataset, "annotator") as (session, row, dataset_pk):
        person_pk = require_person(actor)
        request = make_open_pairs_request(row, person_pk, now)
        pair_pk = find_handed_out(session, dataset_pk, person_pk, pair)
        answer: JudgmentRow | None = None
        if pair_pk is not None and find_repeats(session, request, [pair]):
            answer = find_own_answer(session, pair_pk, person_pk, {"repeat": 0})
        elif pair_pk is not None:
            ranks = {"quality": 0, **dict.fromkeys(CURRENT_PURPOSES, 1), "gold": 2}
            answer = find_own_answer(session, pair_pk, person_pk, ranks)
        if pair_pk is None or answer is None:
            raise CannotRevise(say("You have not judged this pair."), "not_yours")
        lock = find_lock(session, pair_pk, person_pk)
        if lock == "settled":
            raise CannotRevise(say("A lead has settled this pair. Your judgment stays as it is."), lock)
        if lock is not None:
            raise CannotRevise(
                say("You have seen others' judgments of this pair. Your judgment stays as it is."), lock
            )
        key = pair if answer.purpose == "repeat" else None
        columns = row.shown_metadata or ()
        (handed,) = read_pair_views(session, request, [NextPair(pair_pk, key)], columns=columns)
        own_answer = OwnAnswer(answer.outcome, answer.grade, answer.note, answer.reason)
        return replace(handed, answer=own_answer)
