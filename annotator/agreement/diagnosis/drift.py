"""Measure agreement over time: periods of the work, and whether its end differs from its beginning.

The time of a pair is that of its second judgment with a known time. Periods are ISO weeks (UTC) if the work
spans three or more, else days if it spans three or more, else equal parts in order of time. Neighbouring
periods are joined until each has FEW_PAIRS pairs. If that leaves one period, the result has no periods.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from annotator.agreement.comparisons import (
    Comparisons,
    FigureEstimate,
    estimate_kappa,
    estimate_leaning,
    estimate_leanings,
    subtract,
)
from annotator.agreement.intervals import cluster_interval, confidence, misses, to_coefficient
from annotator.agreement.judgment_table import Ints
from annotator.agreement.records import (
    FEW_PAIRS,
    FEW_QUERIES,
    TOO_FEW_QUERIES,
    AgreementPeriod,
    Interval,
    Leaning,
    Span,
)
from annotator.domain.messages import say

MOST_PERIODS = 12
EQUAL_PARTS = 4
SPAN = 3  # weeks or days that the work must span to be cut into them
DAY = 24 * 60 * 60
NAMED_BY = ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S")
KAPPA_CHANGES_BY = 0.1
LEANING_CHANGES_BY = 0.2
MOST_NAMED = 5
NO_VARIATION = say("all grades in this period are the same")


@dataclass(frozen=True, slots=True)
class GradingDrift:
    """A change of kappa, or of an annotator's leaning, from the first to the last third of the pairs."""

    annotator: str | None  # None for the kappa of the dataset
    first: float
    last: float
    ci95: Interval  # interval of the difference
    beginning: Span  # when the pairs of the first third were completed
    end: Span  # when the pairs of the last third were completed

    @property
    def by(self) -> float:
        """Return the difference."""
        return self.last - self.first

    @property
    def until(self) -> str:
        """Return the day on which the first third ended."""
        return _day(self.beginning[1])

    @property
    def since(self) -> str:
        """Return the day on which the last third began."""
        return _day(self.end[0])


def complete(comparisons: Comparisons, made_at: Ints) -> tuple[Comparisons, Ints]:
    """Return the comparisons of pairs with a known time of the second judgment, and that time of each pair.

    The pairs get new numbers from 0. `made_at`: of every judgment, in seconds since 1970; 0: unknown.
    """
    pairs = int(comparisons.pair_number.max()) + 1 if len(comparisons.pair_number) else 0
    first_time, other = made_at[comparisons.left], made_at[comparisons.right]
    never = np.iinfo(np.int64).max
    completed = np.full(pairs, never)
    np.minimum.at(
        completed,
        comparisons.pair_number,
        np.where(np.minimum(first_time, other) > 0, np.maximum(first_time, other), never),
    )
    completed_known = completed < never
    if completed_known.all():
        return comparisons, completed
    kept = comparisons.take(completed_known[comparisons.pair_number])
    return replace(kept, pair_number=(np.cumsum(completed_known) - 1)[kept.pair_number]), completed[
        completed_known
    ]


def find_periods(
    comparisons: Comparisons, completed: Ints, names: Sequence[str]
) -> tuple[AgreementPeriod, ...]:
    """Return the periods in order, each with its kappa, its observed agreement and the annotators' leanings."""
    number = _number_periods(completed)
    if not len(number) or not number.max():
        return ()
    period = number[comparisons.pair_number]
    rows = np.argsort(period.astype(np.int8), kind="stable")
    ends = np.cumsum(np.bincount(period))
    moments = [completed[number == index] for index in range(len(ends))]
    spans = [(int(completions.min()), int(completions.max())) for completions in moments]
    shown = next(form for form in NAMED_BY if form == NAMED_BY[-1] or _have_different_names(spans, form))
    return tuple(
        _describe(comparisons.take(rows[start:end]), len(moments[index]), spans[index], shown, names)
        for index, (start, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True))
    )


def _have_different_names(spans: Sequence[Span], form: str) -> bool:
    return len({_name(begin, form) for begin, _ in spans}) == len(spans)


def _describe(
    comparisons: Comparisons, pairs: int, span: Span, form: str, names: Sequence[str]
) -> AgreementPeriod:
    leanings = estimate_leanings(comparisons, len(names))
    return AgreementPeriod(
        first=_name(span[0], form),
        last=_name(span[1], form),
        pairs=pairs,
        kappa=to_coefficient(estimate_kappa(comparisons, len(names)), NO_VARIATION),
        observed_agreement=float((comparisons.apart == 0).mean()),
        leanings=tuple(
            Leaning(name, estimate.comparisons, estimate.value, ci95, why=None if ci95 else TOO_FEW_QUERIES)
            for name, estimate in zip(names, leanings, strict=True)
            if estimate.comparisons >= FEW_PAIRS
            for ci95 in [cluster_interval(estimate)]
        ),
        span=span,
    )


def _number_periods(completed: Ints) -> Ints:
    """Return the period of each pair, numbered from 0 in the order of time."""
    if not len(completed):
        return completed
    days = completed // DAY
    for unit in ((days + 3) // 7, days):  # day 0 was a Thursday; weeks begin on Mondays
        if len(np.unique(unit)) >= SPAN:
            span = -(-int(unit.max() - unit.min() + 1) // MOST_PERIODS)
            return _join_small((unit - unit.min()) // span)
    parts = min(EQUAL_PARTS, len(completed) // FEW_PAIRS)
    cuts = np.sort(completed)[[len(completed) * part // parts for part in range(1, parts)]]
    return _join_small(np.searchsorted(np.unique(cuts), completed, side="right"))


def _join_small(number: Ints) -> Ints:
    """Join neighbouring periods until each has FEW_PAIRS pairs; a rest at the end joins the last period."""
    joined = np.zeros(int(number.max()) + 1, dtype=np.int64)
    current, pairs = 0, 0
    sizes = np.bincount(number)
    for index, size in enumerate(sizes):
        joined[index] = current
        pairs += size
        if pairs >= FEW_PAIRS and sizes[index + 1 :].sum() >= FEW_PAIRS:
            current, pairs = current + 1, 0
    return joined[number]


def find_changes(comparisons: Comparisons, completed: Ints, names: Sequence[str]) -> tuple[GradingDrift, ...]:
    """Find differences between the first and the last third of the pairs, in kappa and in each leaning.

    Returns only differences that are large enough to matter and have an interval (by query, corrected for the
    number of claims) without 0. Returns nothing if a third has too few pairs or queries.
    """
    if len(completed) < 3 * FEW_PAIRS:
        return ()
    until, since = np.sort(completed)[[len(completed) // 3, -len(completed) // 3]]
    if until >= since:
        return ()
    when = completed[comparisons.pair_number]
    parts = (comparisons.take(when <= until), comparisons.take(when >= since))
    kappas = [estimate_kappa(part, len(names)) for part in parts]
    if min(int(kappa.seen.sum()) for kappa in kappas) < FEW_QUERIES:
        return ()
    first, last = (estimate_leanings(part, len(names)) for part in parts)
    leanings = list(zip(first, last, strict=True))
    level = confidence(1 + sum(_is_enough(*both) for both in leanings))
    spans = (int(completed.min()), int(until)), (int(since), int(completed.max()))
    agreement = _compare(None, kappas[0], kappas[1], level, spans)
    changes = [agreement if agreement and _matching_changed_alike(parts, agreement.by) else None]
    suspects = [(who, _compare(names[who], *both, level, spans)) for who, both in enumerate(leanings)]
    changed = [
        (who, change)
        for who, change in suspects
        if change and _changed_beside_the_same(parts, who, change, level)
    ]
    changes += _confirm(parts, changed, level)
    return tuple(change for change in changes if change)


def _is_enough(first: FigureEstimate, last: FigureEstimate) -> bool:
    return min(first.comparisons, last.comparisons) >= FEW_PAIRS


def _compare(
    who: str | None, first: FigureEstimate, last: FigureEstimate, level: float, spans: tuple[Span, Span]
) -> GradingDrift | None:
    difference = subtract(last, first)
    shown = cluster_interval(difference)
    least = KAPPA_CHANGES_BY if who is None else LEANING_CHANGES_BY
    if shown is None or abs(difference.value) < least or not _is_enough(first, last):
        return None
    if not misses(cluster_interval(difference, level=level), 0.0):
        return None
    return GradingDrift(who, first.value, last.value, shown, *spans)


def _matching_changed_alike(parts: tuple[Comparisons, Comparisons], by: float) -> bool:
    """Return whether the share of matching judgments surely changed in the same direction as kappa.

    Kappa also falls if one grade comes to prevail while the annotators agree as before.
    """
    first, last = (part.estimate_mean(part.apart == 0) for part in parts)
    difference = subtract(last, first)
    return difference.value * by > 0 and misses(cluster_interval(difference), 0.0)


def _changed_beside_the_same(
    parts: tuple[Comparisons, Comparisons], who: int, change: GradingDrift, level: float
) -> bool:
    """Return whether the leaning also changed in comparison with the same people in both parts.

    Compared with other people, an annotator looks more lenient or more severe without grading differently.
    """
    own = [part.of(who) for part in parts]
    others = [np.where(part.first == who, part.second, part.first) for part in own]
    size = 1 + max(int(other.max(initial=0)) for other in others)
    counts = [np.bincount(other, minlength=size).astype(np.float64) for other in others]
    shared = np.minimum(counts[0], counts[1])
    if shared.sum() < FEW_PAIRS:
        return False
    means = []
    for part, other, count in zip(own, others, counts, strict=True):
        weight = (shared / np.maximum(count, 1))[other]
        means.append(part.estimate_mean(np.where(part.first == who, part.apart, -part.apart), weight))
    difference = subtract(means[1], means[0])
    return (
        difference.value * change.by > 0
        and abs(difference.value) >= LEANING_CHANGES_BY / 2
        and misses(cluster_interval(difference, level=level), 0.0)
    )


def _confirm(
    parts: tuple[Comparisons, Comparisons], suspects: list[tuple[int, GradingDrift]], level: float
) -> list[GradingDrift]:
    """Return the annotators who changed, the largest change first.

    If one annotator becomes lenient, all others look severe in comparison. So a further annotator is named
    only if they also changed compared with those who are not named.
    """
    suspects = sorted(
        suspects, key=lambda suspect: (-round(abs(suspect[1].by), 9), suspect[1].by < 0, suspect[0])
    )
    changes: list[GradingDrift] = []
    for who, change in suspects:
        if changes:
            first, last = (estimate_leaning(part, who) for part in parts)
            rest = _compare(change.annotator, first, last, level, (change.beginning, change.end))
            if rest is None or rest.by * change.by < 0:
                continue
        changes.append(change)
        parts = (parts[0].leave_out(who), parts[1].leave_out(who))
    return changes[:MOST_NAMED]


def _day(moment: int) -> str:
    return _name(moment, NAMED_BY[0])


def _name(moment: int, form: str) -> str:
    return datetime.fromtimestamp(int(moment), UTC).strftime(form)
