"""Forecast when a dataset can be released, from the remaining work and the pace of the last seven days.

Annotators and leads work in parallel. Quality control checks their settled grades, so it follows both. An
impossible forecast has a reason.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Literal

from annotator.domain.messages import Message, join, say
from annotator.quality.records import DEFAULT_RATE, QualityStatus

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
    third expert must still judge; None if unknown.
    """

    judgments: int
    recent: int
    active: int
    disagreements: int
    arrived: int
    decided: int
    checks: int | None


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
    """The day when everything is judged, decided and checked, or `why` it is unknown. `work`: its computation."""

    work: tuple[WorkForecast, ...]
    day: datetime | None
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
        return ReleaseForecast(steps, None, say("Cannot estimate yet: {why}.", why=join(list(reasons), "; ")))
    if not any(step.left for step in steps):
        return ReleaseForecast(steps, None, say("Nothing is left to judge, decide or check."))
    days = ceil(max(judging.days or 0.0, deciding.days or 0.0) + (checking.days or 0.0))
    if days > _LONGEST:
        return ReleaseForecast(steps, None, say("Not within ten years at the current pace."))
    return ReleaseForecast(steps, now + timedelta(days=days))


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
