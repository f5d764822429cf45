"""Count the work that waits for a person on a dataset, and say who is idle.

Every page draws the counts in its sidebar, so each is one query over an index, never a scan of the pool.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from annotator.adjudication.discussion import discussion_service
from annotator.adjudication.queue.queue_service import count_open
from annotator.domain.judgments import AnnotatorProgress
from annotator.domain.messages import Message, join, say
from annotator.domain.people import Actor, includes
from annotator.labeling.questions_service import count_new_answers, count_open_questions
from annotator.overview.records import PACE_DAYS
from annotator.quality.service import count_open_checks
from annotator.storage.database import Database


@dataclass(frozen=True, slots=True)
class WaitingWork:
    """The amount of waiting work.

    `news`: discussions that wait for the person, and new decisions on own pairs and answers to own questions.
    The others are 0 unless the person is a lead: `questions` without an answer, open `disagreements`, and
    unjudged quality-control `checks`.
    """

    news: int = 0
    questions: int = 0
    disagreements: int = 0
    checks: int = 0


def count_waiting_work(
    database: Database, actor: Actor, dataset: str, role: str, *, now: datetime
) -> WaitingWork:
    """Return the work that waits for the person with this role on the dataset."""
    news = count_news(database, actor, dataset, now=now)
    if not includes(role, "lead"):
        return WaitingWork(news)
    return WaitingWork(
        news,
        questions=count_open_questions(database, actor, dataset),
        disagreements=count_open(database, actor, dataset),
        checks=count_open_checks(database, actor, dataset),
    )


def count_news(database: Database, actor: Actor, dataset: str, *, now: datetime) -> int:
    """Count `WaitingWork.news` alone, for an annotator of the dataset."""
    own = discussion_service.count_news(database, actor, dataset, now=now)
    return own.discussions + own.decisions + count_new_answers(database, actor, dataset)


_NAMED = 5


def list_idle(people: Sequence[AnnotatorProgress], *, now: datetime) -> tuple[AnnotatorProgress, ...]:
    """Return the annotators without judgments in the last PACE_DAYS days, without simulated ones."""
    since = now - timedelta(days=PACE_DAYS)
    return tuple(
        person
        for person in people
        if not person.simulated and (person.last_judged_at is None or person.last_judged_at < since)
    )


def describe_idle(idle: Sequence[AnnotatorProgress], *, annotators: int, pairs_left: int) -> Message:
    """Say which annotators are idle. `pairs_left`: without pairs to judge, nobody is."""
    if not pairs_left:
        return say("Nothing left to judge.")
    if not annotators:
        return say("There are no annotators yet.")
    if not idle:
        return say("Everybody judged in the last {days} days.", days=PACE_DAYS)
    names = join([person.name or person.annotator for person in idle[:_NAMED]])
    if len(idle) > _NAMED:
        return say("{names} and {n:,} more", names=names, n=len(idle) - _NAMED)
    return names
