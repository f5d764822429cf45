"""How long the queue lasts, in a sentence: the work that it is, the days at the present pace, and what comes new."""

from annotator.adjudication.queue_pace import QueuePace
from annotator.web.kit.figures import show_number
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.web_figures import show_duration


def describe_pace(pace: QueuePace) -> list[str]:
    """Sentences; what cannot be said says why."""
    said = [_say_work(pace)] if pace.open else []
    if pace.decided:
        said.append(
            tr(
                "Decided in the last 7 days: {decided}, on {days}.",
                decided=show_number(pace.decided),
                days=tr_n("{n} day", "{n} days", pace.working_days),
            )
        )
    if pace.arrived:
        said.append(tr("New: {n} a day.", n=_show_rate(pace.arrived_per_day)))
    if pace.grows:
        said.append(tr("More come than are decided."))
    return said


def _say_work(pace: QueuePace) -> str:
    if pace.work is None and pace.working_days_left is None:
        return tr("How long the queue will last is not known: {why}.", why=pace.why_no_days)
    if pace.working_days_left is None:
        return tr("The queue is {work} of work.", work=show_duration(pace.work or 0))
    days = show_days(pace.working_days_left)
    if pace.work is None:
        return tr("At this pace the queue lasts {days}. How much work that means is not known: {why}.", days=days, why=pace.why_no_work)  # fmt: skip
    return tr(
        "The queue is {work} of work; at this pace it lasts {days}.",
        work=show_duration(pace.work),
        days=days,
    )


def show_days(days: float) -> str:
    """Working days, in whole ones."""
    if days <= 1:
        return tr("less than a working day")
    return tr_n("{n:,} working day", "{n:,} working days", round(days))


def _show_rate(rate: float) -> str:
    return show_number(rate, 0 if rate >= 10 or rate == int(rate) else 1)
