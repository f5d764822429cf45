"""Show annotators their own work, and leads how long pairs take.

Times are medians, never a ranking of people; remaining time is estimated at the person's own pace. Refuses
other people's judgments and pairs that the person has not answered. To open an answer that can no longer be
changed raises an error with the reason.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta, tzinfo
from statistics import median

from annotator.domain.errors import StateError, ValidationError
from annotator.domain.judgments import CURRENT_PURPOSES, OwnAnswer, PairView
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.labeling.my_work_sql import (
    find_lock,
    find_own_answer,
    list_categories,
    list_own_judgments,
    list_own_seconds,
    list_timed,
)
from annotator.labeling.next_pairs_sql import find_repeats
from annotator.labeling.open_pairs_sql import find_eligibility
from annotator.labeling.records import (
    LabelingPace,
    MedianSeconds,
    MedianTimes,
    NextPair,
    OwnJudgmentFilter,
    OwnJudgmentPage,
)
from annotator.labeling.shown_sql import read_own_progress, read_pair_views
from annotator.people.roles_service import open_dataset, require_person
from annotator.storage.database import Database
from annotator.storage.lookup import find_handed_out, make_open_pairs_request
from annotator.storage.tables.central import JudgmentRow

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
            answer = find_own_answer(session, pair_pk, person_pk, ["repeat"])
        elif pair_pk is not None:
            purposes = (["quality"], CURRENT_PURPOSES, ["gold"])
            answers = (
                find_own_answer(session, pair_pk, person_pk, purpose_group) for purpose_group in purposes
            )
            answer = next((candidate for candidate in answers if candidate is not None), None)
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
