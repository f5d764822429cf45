"""Count a dataset's pairs and their progress, with the same definitions everywhere, and forecast its release.

docs/counts.md explains each count to users. Every pair in the pool has exactly one status
(`domain/settling.py`), and the statuses add up to all pairs. Other counts group the same pairs differently:

- `to_judge`: pairs that lack judgments of annotators; `begun` of them have one already.
- `checks`: unjudged pairs for training or gold, which need no ordinary judgments.
- `waiting`: pairs in the queue of disagreements: all with the status "disagreement" or "reopened", and
  settled pairs while a question, an objection or an older guideline questions their grade.

The forecast comes from the remaining work and the pace of the last seven days. Annotators and leads work in parallel.
Quality control checks their settled grades, so it follows both. An impossible forecast has a reason.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from math import ceil
from typing import Literal, NamedTuple

from annotator.domain.messages import Message, join, say
from annotator.domain.settling import OPEN, PAIR_STATUSES, SETTLED
from annotator.quality.records import DEFAULT_RATE, QualityStatus


class CountedPair(NamedTuple):
    """The facts of a pair that decide how it counts.

    `judged`: it has an ordinary judgment. `waiting`: it is in the queue of disagreements. `marked`: for
    training or as gold.
    """

    status: str
    lacks_judgments: bool
    judged: bool
    waiting: bool
    marked: bool


@dataclass(frozen=True, slots=True)
class PairCounts:
    """The counts of a dataset's pairs. `by_status` and `waiting_by_status` have every status."""

    by_status: Mapping[str, int]
    to_judge: int
    begun: int
    checks: int
    waiting_by_status: Mapping[str, int]

    @property
    def pairs(self) -> int:
        """Count the pairs in the pool."""
        return sum(self.by_status.values())

    @property
    def complete(self) -> int:
        """Count the pairs that need no further ordinary judgment, without checks."""
        return self.pairs - self.checks - self.to_judge

    @property
    def settled(self) -> int:
        """Count the pairs with a settled grade: the qrels of a release."""
        return sum(self.by_status[status] for status in SETTLED)

    @property
    def disagreements(self) -> int:
        """Count the pairs without a settled grade until a lead decides."""
        return sum(self.by_status[status] for status in OPEN)

    @property
    def waiting(self) -> int:
        """Count the pairs in the queue: disagreements, and settled pairs with a questioned grade."""
        return sum(self.waiting_by_status.values())


def count_pairs(pairs: Iterable[CountedPair]) -> PairCounts:
    """Count the pairs of a dataset's pool."""
    kinds = Counter(pairs)
    by_status, waiting = Counter[str](), Counter[str]()
    to_judge = begun = checks = 0
    for pair, n in kinds.items():
        by_status[pair.status] += n
        waiting[pair.status] += n if pair.waiting else 0
        to_judge += n if pair.lacks_judgments else 0
        begun += n if pair.lacks_judgments and pair.judged else 0
        # A marked pair that nobody judged, decided or imported: only a check.
        checks += n if pair.marked and pair.status == "unjudged" else 0
    return PairCounts(
        by_status={status: by_status[status] for status in PAIR_STATUSES},
        to_judge=to_judge,
        begun=begun,
        checks=checks,
        waiting_by_status={status: waiting[status] for status in PAIR_STATUSES},
    )


@dataclass(frozen=True, slots=True)
class DayCounts:
    """The pairs that had their present status at the end of a day: settled, open disagreements, cannot be rated."""

    day: date
    settled: int
    open: int
    unrateable: int


PACE_DAYS = 7
"""The pace is measured over this many days. An annotator without judgments in them is idle."""
_LONGEST = 3650  # days; a later date would be meaningless

WORK_GATES = frozenset(("disagreements", "overlap", "quality_control"))
"""The gates that are met once everything is judged, decided and checked (quality control: if it passes)."""

WorkKind = Literal["judgments", "decisions", "checks"]
NO_JUDGMENTS = say("no judgments in {days} days", days=PACE_DAYS)
NO_DECISIONS = say("no decisions in {days} days", days=PACE_DAYS)
FAILED = say("quality control failed: improve the grades, then begin a new round")


@dataclass(frozen=True, slots=True)
class RemainingWork:
    """The remaining work, and the work of the last PACE_DAYS days.

    `judgments`: that pairs lack. `recent`: judgments of the last days, by `active` people. `disagreements`:
    without a settled grade. `arrived`, `decided`: disagreements of the last days. `checks`: pairs that the
    third expert must still judge; None if unknown. `seconds`: the median time of a decision; None if unknown.
    """

    judgments: int
    recent: int
    active: int
    disagreements: int
    arrived: int
    decided: int
    checks: int | None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class WorkForecast:
    """One kind of work. `expected`: the part of `left` that missing judgments will probably cause."""

    kind: WorkKind
    left: int | None  # None: unknown
    expected: int
    per_day: float | None  # None: no work in the last days
    days: float | None  # None: unknown
    why: Message | None = None  # why `days` is unknown


@dataclass(frozen=True, slots=True)
class ReleaseForecast:
    """The day when everything is judged, decided and checked, or `why` it is unknown.

    `work`: its computation, from the work that `remains`.
    """

    work: tuple[WorkForecast, ...]
    day: datetime | None
    remains: RemainingWork
    why: Message | None = None


def count_checks_left(quality: QualityStatus, pairs: int) -> int | None:
    """Count the pairs that the third expert must still judge; None if unknown, after a failed sample.

    `pairs`: in the pool. A first sample takes DEFAULT_RATE of them.
    """
    if not quality.round:
        return ceil(DEFAULT_RATE * pairs)
    if quality.verdict == "passed":
        return 0
    if quality.verdict == "failed":
        return None
    return quality.waiting or quality.further


def forecast_release(work: RemainingWork, *, now: datetime) -> ReleaseForecast:
    """Forecast the day when all work is done, at the pace of the last PACE_DAYS days."""
    judging = _forecast("judgments", work.judgments, work.recent / PACE_DAYS, NO_JUDGMENTS)
    # that the missing judgments will cause, at the rate of the last days
    expected = ceil(work.judgments * work.arrived / work.recent) if work.recent else 0
    deciding = _forecast(
        "decisions", work.disagreements + expected, work.decided / PACE_DAYS, NO_DECISIONS, expected=expected
    )
    one_person = work.recent / PACE_DAYS / work.active if work.active else 0.0
    checking = _forecast("checks", work.checks, one_person, NO_JUDGMENTS)
    steps = (judging, deciding, checking)
    reasons = dict.fromkeys(step.why for step in steps if step.days is None and step.why is not None)
    if reasons:
        return ReleaseForecast(
            steps, None, work, say("Cannot estimate yet: {why}.", why=join(list(reasons), "; "))
        )
    if not any(step.left for step in steps):
        return ReleaseForecast(steps, None, work, say("Nothing is left to judge, decide or check."))
    days = ceil(max(judging.days or 0.0, deciding.days or 0.0) + (checking.days or 0.0))
    if days > _LONGEST:
        return ReleaseForecast(steps, None, work, say("Not within ten years at the current pace."))
    return ReleaseForecast(steps, now + timedelta(days=days), work)


def _forecast(
    kind: WorkKind, left: int | None, per_day: float, why: Message, *, expected: int = 0
) -> WorkForecast:
    if left is None:
        return WorkForecast(kind, None, expected, per_day or None, None, FAILED)
    if not left:
        return WorkForecast(kind, 0, 0, per_day or None, 0.0)
    if not per_day:
        return WorkForecast(kind, left, expected, None, None, why)
    return WorkForecast(kind, left, expected, per_day, left / per_day)
