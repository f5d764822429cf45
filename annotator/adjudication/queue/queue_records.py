"""Records of the queue of disagreements, and an estimate of how long it lasts.

Pages, commands and meeting files share them. The estimate uses the pace of the last working days: days on
which a lead decided something. Pairs that a policy settled do not count. An unknown figure says why.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from math import ceil
from statistics import median
from typing import Any, Literal, NamedTuple, get_args

from annotator.adjudication.records import IndependentJudgment
from annotator.domain.errors import ValidationError
from annotator.domain.messages import Message, say, say_n
from annotator.domain.settling import NOTHING, Decided, QueueReason

Sort = Literal["distance", "impact", "age", "query", "category", "grades", "annotators"]
SORTS: tuple[str, ...] = get_args(Sort)
Shown = Literal["open", "decided", "all"]
SHOWN: tuple[str, ...] = get_args(Shown)


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """A filter of the queue: which disagreements to list."""

    shown: Shown = "open"
    reasons: QueueReason = NOTHING  # that wait (decided ones: waited) for any of these; NOTHING: all
    query_id: str | None = None
    category: str | None = None
    annotators: tuple[str, ...] = ()  # that all of these judged (usernames)
    grades: tuple[int, int] | None = None  # the lowest and the highest grade
    distance: int | None = None
    taste: bool | None = None  # only those that differ by taste, or only others
    flips: bool = False  # only those that can change the order of two systems
    assigned: str | None = None  # assigned to this lead (username); "": to nobody


EVERYTHING_OPEN = QueueFilter()


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A disagreement as the queue lists it: a pair that needs, or had, a lead's decision."""

    pair_pk: int
    pair: str  # the key
    query_id: str
    doc_id: str
    category: str | None
    grades: Mapping[str, int]  # by username, with a third expert's of quality control
    distance: int  # between the grades, 0-3: see domain/settling.py
    impact: float  # the greatest change of any system's nDCG by the choice of the grade, 0-1
    status: Literal["open", "decided"]
    since: datetime  # when the first of its reasons began
    simulated: bool = False  # some of the annotators are not people
    yours: bool = False  # the reading lead judged it, and so may not decide it
    reopened: bool = False  # quality control contradicts the settled grade
    unrateable: tuple[str, ...] = ()  # who could not rate it (usernames)
    reasons: QueueReason = NOTHING  # why it is or was in the queue
    waiting: QueueReason = NOTHING  # why it still is
    recall_impact: float | None = None  # the same as `impact` for recall; None without runs
    mrr_impact: float | None = None
    flips: int | None = None  # pairs of systems that can change places
    taste: bool = False  # nothing but neighbouring grades on one side of relevance
    decided: Decided | None = None  # the decision that holds
    held_by: str | None = None  # another lead who has it open
    assigned_to: str | None = None
    put_off: bool = False  # by the reading lead
    query: str = ""
    title: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the fields for the command line, without empty ones."""
        values = asdict(self)
        for name in ("pair_pk", "query", "title", "put_off", "waiting"):
            del values[name]
        values["reasons"] = list_words(self.waiting or self.reasons)
        for name in ("reopened", "unrateable", "taste", "decided", "held_by", "assigned_to"):
            if values[name] is None or values[name] is False or values[name] == ():
                del values[name]
        if self.flips is None:
            for name in ("recall_impact", "mrr_impact", "flips"):
                del values[name]
        return values


@dataclass(frozen=True, slots=True)
class QueuePage:
    """A part of the queue, and how long the whole queue is."""

    items: tuple[Disagreement, ...]
    offset: int
    total: int  # that the filter lets through
    open: int  # in the whole dataset, like the next ones
    decided: int
    by_reason: Mapping[QueueReason, int]  # open ones that wait for each reason
    due: int = 0  # queries whose impact is still to be computed
    ungraded: int = 0  # open ones that have no settled grade until a lead decides
    blind_pairs: int = 0  # judged pairs that are neither listed nor counted: the lead may still judge them


def check_sort(sort: str) -> str:
    """Return the sort order; ValidationError if it is unknown."""
    if sort not in SORTS:
        raise ValidationError(f"sort: expected one of {', '.join(SORTS)}, found {sort!r}")
    return sort


def list_words(reasons: QueueReason) -> list[str]:
    """Return the reasons as words such as "differ", in the order of `QueueReason`."""
    return [reason.name.lower() for reason in QueueReason if reason in reasons and reason.name]


def read_reasons(words: list[str]) -> QueueReason:
    """Return the reasons with these names; ValidationError for another word."""
    by_word = {reason.name.lower(): reason for reason in QueueReason if reason.name}
    reasons = QueueReason(0)
    for word in words:
        if word not in by_word:
            raise ValidationError(f"reason: expected one of {', '.join(by_word)}, found {word!r}")
        reasons |= by_word[word]
    return reasons


class OpenDisagreementCount(NamedTuple):
    """The number of open disagreements that wait for the same reasons, with the same grades."""

    waiting: QueueReason
    low: int | None
    high: int | None
    taste: bool
    flips: bool  # can change the order of two systems
    pairs: int


@dataclass(frozen=True, slots=True)
class QueueSummary:
    """The open disagreements of a dataset, counted."""

    by_reason: Mapping[QueueReason, int]  # one with two reasons counts for both
    by_grades: Mapping[tuple[int, int], int]  # by the lowest and the highest grade
    by_category: Mapping[str | None, int]  # None: the query has no category
    taste: int
    flips: int
    assigned: Mapping[str, int]  # by the lead to whom they are assigned
    due: int  # queries whose impact is still to be computed


def summarize_counts(
    counts: Iterable[OpenDisagreementCount],
    *,
    by_category: Mapping[str | None, int],
    assigned: Mapping[str, int],
    due: int,
) -> QueueSummary:
    """Add up the counts of each kind. A disagreement counts once for each of its reasons."""
    by_reason: Counter[QueueReason] = Counter()
    by_grades: Counter[tuple[int, int]] = Counter()
    taste = flips = 0
    for count in counts:
        for reason in count.waiting:
            by_reason[reason] += count.pairs
        if count.low is not None and count.high is not None:
            by_grades[count.low, count.high] += count.pairs
        taste += count.pairs * bool(count.taste)
        flips += count.pairs * bool(count.flips)
    reasons = {reason: by_reason[reason] for reason in QueueReason}
    return QueueSummary(reasons, dict(by_grades), by_category, taste, flips, assigned, due)


def add_grades(
    disagreement: Disagreement, judgments: Sequence[IndependentJudgment], *, yours: bool
) -> Disagreement:
    """Return the disagreement with the grades of its judgments. `yours`: the reader judged it."""
    return replace(
        disagreement,
        grades={judgment.annotator: judgment.grade for judgment in judgments if judgment.grade is not None},
        simulated=any(judgment.simulated for judgment in judgments),
        yours=yours,
        unrateable=tuple(judgment.annotator for judgment in judgments if judgment.outcome == "unrateable"),
    )


DAYS = 7
"""The days over which the pace is measured, with today."""
LEAST_TIMED = 5
"""The fewest timed decisions from which the time of one is estimated."""


@dataclass(frozen=True, slots=True)
class QueuePace:
    """The pace of leads' decisions in the last seven days, and how long the queue lasts at that pace."""

    open: int
    decided: int
    working_days: int  # days on which a lead decided something
    per_day: float | None  # decisions on a working day
    arrived: int
    arrived_per_day: float
    timed: int  # decisions whose time is known
    seconds: float | None  # their median time
    work: float | None  # seconds for all open disagreements
    working_days_left: float | None
    why_no_work: Message | None
    why_no_days: Message | None

    @property
    def grows(self) -> bool:
        """Return whether more arrived than were decided, although leads decided some."""
        return 0 < self.decided < self.arrived


def find_begin(now: datetime) -> datetime:
    """Return the beginning of the first day over which the pace is measured, in the zone of `now`."""
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
    """Return the pace of the last seven days, in the zone of `now`.

    `waiting`: open disagreements. `decided`: time and seconds (None: unknown) of each decision since
    `find_begin(now)`. `arrived`: disagreements that began since then. `first`: the begin of the dataset's
    first disagreement.
    """
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
        why_no_work=None if typical is not None else _explain_untimed(len(decided), len(timed)),
        why_no_days=None if per_day is not None else say("no decisions in the last 7 days"),
    )


def _count_days(first: datetime | None, now: datetime) -> int:
    """Return the days over which arrivals are counted: DAYS, or those since the first disagreement."""
    if first is None:
        return DAYS
    passed = now.date() - first.astimezone(now.tzinfo).date()
    return min(DAYS, max(1, ceil(passed / timedelta(days=1)) + 1))


def _explain_untimed(decided: int, timed: int) -> Message:
    if not decided:
        return say("no decisions in the last 7 days")
    if not timed:
        return say("decision times were not measured in the last 7 days")
    return say_n(
        "only {n} decision of the last 7 days has a measured time, {least} are needed",
        "only {n} decisions of the last 7 days have a measured time, {least} are needed",
        timed,
        least=LEAST_TIMED,
    )
