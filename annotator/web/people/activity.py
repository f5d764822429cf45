"""Describe the annotators' pace or idle time, counted as on the page Overview."""

from datetime import datetime, timedelta

from annotator.domain.figures import show_number
from annotator.domain.judgments import AnnotatorProgress
from annotator.labeling.service import show_activity
from annotator.overview.forecast import PACE_DAYS
from annotator.overview.waiting_service import list_idle
from annotator.web.kit.figures import show_day
from annotator.web.kit.messages import tr, tr_n
from annotator.web.page_context import PageContext


def describe_activity(context: PageContext) -> dict[str, str]:
    """Return {username: sentence} for the annotators of the chosen dataset; {} without a dataset."""
    if context.dataset is None:
        return {}
    since = context.now - timedelta(days=PACE_DAYS)
    activity = show_activity(context.database, context.actor, context.dataset, since=since)
    idle = (
        {person.annotator for person in list_idle(activity.people, now=context.now)}
        if activity.has_work
        else set()
    )
    return {
        person.annotator: describe_pace(
            person,
            activity.recent.get(person.annotator, 0),
            is_idle=person.annotator in idle,
            now=context.now,
        )
        for person in activity.people
    }


def describe_pace(person: AnnotatorProgress, recent: int, *, is_idle: bool, now: datetime) -> str:
    """Return one annotator's recent pace, or since when they are idle; "" without either."""
    if recent:
        return tr_n(
            "{n:,} judgment in the last {days} days, {pace} a day",
            "{n:,} judgments in the last {days} days, {pace} a day",
            recent,
            days=PACE_DAYS,
            pace=show_number(recent / PACE_DAYS, 1),
        )
    if person.last_judged_at is None:
        return tr("idle: nothing judged yet") if is_idle else ""
    day = show_day(person.last_judged_at, now=now)
    return tr("idle since {day}", day=day) if is_idle else tr("judged last on {day}", day=day)
