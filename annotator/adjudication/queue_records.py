"""Records of the queue of disagreements: filter, sort order and rows; and an estimate of how long it lasts.

Page, command line and meeting files share them, so that an address, a command and a file mean the same. The estimate
uses the pace of the last working days, which are days on which a lead decided something; pairs that a policy settled do
not count. A figure that cannot be given says why.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from math import ceil
from statistics import median
from typing import Any, Literal, get_args

from annotator.domain.errors import ValidationError
from annotator.domain.messages import Message, say, say_n
from annotator.domain.settling import NOTHING, Decided, QueueReason

Sort = Literal["distance", "impact", "age", "query", "category", "grades", "annotators"]
SORTS: tuple[str, ...] = get_args(Sort)
Shown = Literal["open", "decided", "all"]
SHOWN: tuple[str, ...] = get_args(Shown)


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """Which disputes. `reasons`: those that wait (decided ones: that were) in the queue for any of these, none: for any;
    `annotators`: that all of these judged (usernames); `grades`: the lowest and the highest that speak against each other;
    `taste`: only those that differ by taste, or only others; `flips`: only those that can change the order of two systems;
    `assigned`: given to this lead (username), "" for given to nobody."""

    shown: Shown = "open"
    reasons: QueueReason = NOTHING
    query_id: str | None = None
    category: str | None = None
    annotators: tuple[str, ...] = ()
    grades: tuple[int, int] | None = None
    distance: int | None = None
    taste: bool | None = None
    flips: bool = False
    assigned: str | None = None


EVERYTHING_OPEN = QueueFilter()


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A pair that needs, or had, a lead's decision.

    `pair`: the id the app uses. `grades`: by annotator's username, an expert's of quality control among them; `unrateable`:
    who could not rate it. `distance`: 0-3, see `domain/settling.py`. `impact`: how far the choice of the grade moves the
    nDCG of the system that it moves most, on the pair's query (0-1); `recall_impact`, `mrr_impact`: the same of recall and
    of the reciprocal rank, None without runs; `flips`: how many couples of systems can change places. `taste`: nothing but
    neighbouring grades on one side of relevance. `reasons`: why it is or was in the queue, `waiting`: why it still is.
    `since`: the first of them. `simulated`: some of the grades are nobody's. `yours`: the asking lead judged it, and so may
    not decide it. `decided`: what holds. `held_by`: the other lead before whom it is open now; `assigned_to`: the one it was given
    to; `put_off`: the asking lead said later. `hidden`: they have still to judge the pair, so that nothing of it is told, not even which
    it is."""

    pair: str
    query_id: str
    doc_id: str
    category: str | None
    grades: Mapping[str, int]
    distance: int
    impact: float
    status: Literal["open", "decided"]
    since: datetime
    simulated: bool = False
    yours: bool = False
    reopened: bool = False
    unrateable: tuple[str, ...] = ()
    reasons: QueueReason = NOTHING
    waiting: QueueReason = NOTHING
    recall_impact: float | None = None
    mrr_impact: float | None = None
    flips: int | None = None
    taste: bool = False
    decided: Decided | None = None
    held_by: str | None = None
    assigned_to: str | None = None
    put_off: bool = False
    query: str = ""
    title: str = ""
    hidden: bool = False

    def as_json(self) -> dict[str, Any]:
        """As the command line prints it; what holds of few pairs only where it does."""
        found = asdict(self)
        for name in ("query", "title", "put_off", "waiting"):
            del found[name]
        found["reasons"] = list_words(self.waiting or self.reasons)
        for name in ("reopened", "unrateable", "taste", "decided", "held_by", "assigned_to", "hidden"):
            if found[name] is None or found[name] is False or found[name] == ():
                del found[name]
        if self.flips is None:
            for name in ("recall_impact", "mrr_impact", "flips"):
                del found[name]
        return found


@dataclass(frozen=True, slots=True)
class QueuePage:
    """A part of the queue: `items` from `offset` on, of `total` that the filter lets through; `by_reason`: how many open
    ones of the whole dataset wait for each reason; `open`, `decided`: how many there are in all; `ungraded`: the open ones that
    have no settled grade until a lead decides; `due`: of how many queries the impact is still to be computed."""

    items: tuple[Disagreement, ...]
    offset: int
    total: int
    open: int
    decided: int
    by_reason: Mapping[QueueReason, int]
    due: int = 0
    ungraded: int = 0


def check_sort(sort: str) -> str:
    """The sort itself; ValidationError for one that is not among SORTS."""
    if sort not in SORTS:
        raise ValidationError(f"sort: expected one of {', '.join(SORTS)}, found {sort!r}")
    return sort


def list_words(reasons: QueueReason) -> list[str]:
    """The reasons as words, in the order of their numbers: "differ", "unrateable", …"""
    return [reason.name.lower() for reason in QueueReason if reason in reasons and reason.name]


def read_reasons(words: list[str]) -> QueueReason:
    """The reasons that these words name. ValidationError for another word."""
    known = {reason.name.lower(): reason for reason in QueueReason if reason.name}
    found = QueueReason(0)
    for word in words:
        if word not in known:
            raise ValidationError(f"reason: expected one of {', '.join(known)}, found {word!r}")
        found |= known[word]
    return found


@dataclass(frozen=True, slots=True)
class QueueSummary:
    """What the open disputes of a dataset are. `by_grades`: by the lowest and the highest grade that speak against each
    other; `by_category`: None where the query has none; `assigned`: by the lead they were given to; `due`: of how many
    queries the impact is still to be computed."""

    by_reason: Mapping[QueueReason, int]
    by_grades: Mapping[tuple[int, int], int]
    by_category: Mapping[str | None, int]
    taste: int
    flips: int
    assigned: Mapping[str, int]
    due: int


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
