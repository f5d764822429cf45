"""Answer at a glance: when can we release, who is idle, what is blocked, and which gate is not met.

Pure rules over counts. A figure that is undefined says why.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from annotator.domain.judgments import AnnotatorProgress
from annotator.domain.messages import Message, join, say, say_n
from annotator.overview.waiting_service import WaitingWork

PACE_DAYS = 7
"""The pace is that of so many days; who judged nothing in them is idle."""
_LONGEST = 3650  # days: a date further away says nothing
_NAMED = 5


@dataclass(frozen=True, slots=True)
class ReleaseForecast:
    """When judging ends at the present pace: `day`, or `why` there is none. `needed`: judgments left; `recent`: judgments
    of the last PACE_DAYS days."""

    needed: int
    recent: int
    day: datetime | None
    why: Message | None = None


def forecast_release(needed: int, recent: int, *, now: datetime) -> ReleaseForecast:
    """Return when the pool has its judgments, if people go on as in the last PACE_DAYS days."""
    if not needed:
        return ReleaseForecast(needed, recent, None, say("Every pair has its judgments."))
    if not recent:
        why = say("Unknown: nobody judged a pair in the last {days} days.", days=PACE_DAYS)
        return ReleaseForecast(needed, recent, None, why)
    days = ceil(needed * PACE_DAYS / recent)
    if days > _LONGEST:
        return ReleaseForecast(needed, recent, None, say("Not in the next ten years at the present pace."))
    return ReleaseForecast(needed, recent, now + timedelta(days=days))


def list_idle(people: Sequence[AnnotatorProgress], *, now: datetime) -> tuple[AnnotatorProgress, ...]:
    """Return the annotators who judged nothing in the last PACE_DAYS days, without simulated ones."""
    since = now - timedelta(days=PACE_DAYS)
    return tuple(
        person
        for person in people
        if not person.simulated and (person.last_judged_at is None or person.last_judged_at < since)
    )


def describe_idle(idle: Sequence[AnnotatorProgress], *, pairs_left: int) -> Message:
    """Say who is idle; nobody is while no pair is left."""
    if not pairs_left:
        return say("No pair is left to judge.")
    if not idle:
        return say("Everybody judged in the last {days} days.", days=PACE_DAYS)
    names = join([person.name for person in idle[:_NAMED]])
    if len(idle) > _NAMED:
        return say("{names} and {n:,} more", names=names, n=len(idle) - _NAMED)
    return names


def list_blocked(waiting: WaitingWork) -> tuple[tuple[Message, str], ...]:
    """Return what waits for somebody, with the page on which it goes on."""
    rows: Mapping[str, tuple[int, Message]] = {
        "questions": (
            waiting.questions,
            say_n(
                "{n:,} question waits for a lead's answer",
                "{n:,} questions wait for a lead's answer",
                waiting.questions,
            ),
        ),
        "disagreements": (
            waiting.disagreements,
            say_n(
                "{n:,} pair waits for a lead's decision",
                "{n:,} pairs wait for a lead's decision",
                waiting.disagreements,
            ),
        ),
        "quality": (
            waiting.checks,
            say_n(
                "{n:,} pair waits for the third expert",
                "{n:,} pairs wait for the third expert",
                waiting.checks,
            ),
        ),
    }
    return tuple((words, page) for page, (n, words) in rows.items() if n)
