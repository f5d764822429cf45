"""Say who is idle and which work is blocked."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from annotator.domain.judgments import AnnotatorProgress
from annotator.domain.messages import Message, join, say, say_n
from annotator.overview.forecast import PACE_DAYS
from annotator.overview.waiting_service import WaitingWork

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
        return say("No pair is left to judge.")
    if not annotators:
        return say("There are no annotators yet.")
    if not idle:
        return say("Everybody judged in the last {days} days.", days=PACE_DAYS)
    names = join([person.name or person.annotator for person in idle[:_NAMED]])
    if len(idle) > _NAMED:
        return say("{names} and {n:,} more", names=names, n=len(idle) - _NAMED)
    return names


def list_blocked(waiting: WaitingWork) -> tuple[tuple[Message, str], ...]:
    """Return (sentence on waiting work, page where it is done) of each kind."""
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
                "{n:,} pair waits for the checker",
                "{n:,} pairs wait for the checker",
                waiting.checks,
            ),
        ),
    }
    return tuple((words, page) for page, (n, words) in rows.items() if n)
