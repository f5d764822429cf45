"""How long the queue of disputes lasts at the pace of the last days, and what is known where that cannot be said.

A working day is a day on which a lead decided something. What a policy settled in bulk says nothing about the pace, and is
not counted. What has no value says why, in words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from statistics import median

from annotator.domain.messages import Message, say, say_n

DAYS = 7
"""How many days back, the present one included."""
LEAST_TIMED = 5
"""Fewer decisions whose time is known say nothing about how long one takes."""


@dataclass(frozen=True, slots=True)
class QueuePace:
    """`open`: disputes that wait. Of the last seven days: `decided` disputes on `working_days` days, `per_day` of them on a
    working day; `arrived` disputes, `arrived_per_day` on a day. `seconds`: the median time of the `timed` decisions;
    `work`: seconds for all that are open; `working_days_left`: for those that are open now. `why_no_work`,
    `why_no_days`: why one of the last two has no value. `grows`: more arrived than were decided."""

    open: int
    decided: int
    working_days: int
    per_day: float | None
    arrived: int
    arrived_per_day: float
    timed: int
    seconds: float | None
    work: float | None
    working_days_left: float | None
    why_no_work: Message | None
    why_no_days: Message | None

    @property
    def grows(self) -> bool:
        """Whether the queue became longer in these days, although leads decided."""
        return 0 < self.decided < self.arrived


def find_begin(now: datetime) -> datetime:
    """From when on decisions and new disputes count: the beginning of a day, in the zone of `now`."""
    first = now - timedelta(days=DAYS - 1)
    return first.replace(hour=0, minute=0, second=0, microsecond=0)


def estimate_queue(
    waiting: int,
    decided: Sequence[tuple[datetime, float | None]],
    arrived: int,
    first: datetime | None,
    *,
    now: datetime,
) -> QueuePace:
    """The pace. `decided`: when, since `find_begin(now)`, and how many seconds it took, where that is known; `arrived`: how
    many disputes came since then; `first`: when the dataset's first dispute came. Days are those of the zone of `now`."""
    days = len({at.astimezone(now.tzinfo).date() for at, _ in decided})
    timed = [seconds for _, seconds in decided if seconds is not None]
    typical = median(timed) if len(timed) >= LEAST_TIMED else None
    per_day = len(decided) / days if days else None
    return QueuePace(
        open=waiting,
        decided=len(decided),
        working_days=days,
        per_day=per_day,
        arrived=arrived,
        arrived_per_day=arrived / _count_days(first, now),
        timed=len(timed),
        seconds=typical,
        work=None if typical is None else typical * waiting,
        working_days_left=None if per_day is None else waiting / per_day,
        why_no_work=None if typical is not None else _say_untimed(len(decided), len(timed)),
        why_no_days=None if per_day is not None else say("nothing was decided in the last 7 days"),
    )


def _count_days(first: datetime | None, now: datetime) -> int:
    """Over how many days new disputes are counted: at most all of them, fewer where there were none before."""
    if first is None:
        return DAYS
    passed = now.date() - first.astimezone(now.tzinfo).date()
    return min(DAYS, max(1, ceil(passed / timedelta(days=1)) + 1))


def _say_untimed(decided: int, timed: int) -> Message:
    if not decided:
        return say("nothing was decided in the last 7 days")
    if not timed:
        return say("how long a decision takes was not measured in the last 7 days")
    return say_n(
        "how long it took is known of {n} decision of the last 7 days only, and {least} are needed",
        "how long it took is known of {n} decisions of the last 7 days only, and {least} are needed",
        timed,
        least=LEAST_TIMED,
    )
