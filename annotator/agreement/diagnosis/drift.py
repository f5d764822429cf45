"""Measure agreement over time: periods of the work, and whether its end differs from its beginning.

A pair belongs to the time of its second judgment (of those whose time is known). Periods are ISO weeks (UTC) if the
work spans three or more, else days if it spans three or more, else equal parts in order of time. Small neighbours are
joined until each has FEW_PAIRS pairs. There are no periods where only one could be made.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from annotator.agreement.intervals import cluster_interval, confidence, misses
from annotator.agreement.judgment_pairs import (
    FigureEstimate,
    JudgmentPairs,
    estimate_kappa,
    estimate_leaning,
    estimate_leanings,
    estimate_mean,
    subtract,
)
from annotator.agreement.judgment_table import Ints
from annotator.agreement.records import (
    FEW_PAIRS,
    FEW_QUERIES,
    AgreementPeriod,
    CoefficientValue,
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
NO_VARIATION = say("all grades of this period are one and the same")
TOO_FEW_QUERIES = say("an interval needs pairs of {n} or more queries", n=FEW_QUERIES)


@dataclass(frozen=True, slots=True)
class GradingDrift:
    """What changed from the first third of the pairs to the last: the kappa, or how much higher `annotator` grades than
    the others. `ci95` is the difference's. `beginning` and `end`: when the pairs of the first and of the last third were
    completed."""

    annotator: str | None
    first: float
    last: float
    ci95: Interval
    beginning: Span
    end: Span

    @property
    def by(self) -> float:
        """The difference."""
        return self.last - self.first

    @property
    def until(self) -> str:
        """The day on which the first third ended."""
        return _day(self.beginning[1])

    @property
    def since(self) -> str:
        """The day on which the last third began."""
        return _day(self.end[0])


def complete(couples: JudgmentPairs, made_at: Ints) -> tuple[JudgmentPairs, Ints]:
    """The couples of the pairs of which it is known when they got their second judgment, numbered anew, and when that
    was. `made_at`: seconds since 1970, of every judgment; 0: unknown."""
    pairs = int(couples.place.max()) + 1 if len(couples.place) else 0
    one, other = made_at[couples.left], made_at[couples.right]
    never = np.iinfo(np.int64).max
    completed = np.full(pairs, never)
    np.minimum.at(
        completed, couples.place, np.where(np.minimum(one, other) > 0, np.maximum(one, other), never)
    )
    known = completed < never
    if known.all():
        return couples, completed
    kept = couples.take(known[couples.place])
    return replace(kept, place=(np.cumsum(known) - 1)[kept.place]), completed[known]


def find_periods(
    couples: JudgmentPairs, completed: Ints, names: Sequence[str]
) -> tuple[AgreementPeriod, ...]:
    """The periods in order, each with its kappa, its observed agreement, and who leaned which way."""
    number = _number_periods(completed)
    if not len(number) or not number.max():
        return ()
    period = number[couples.place]
    rows = np.argsort(period.astype(np.int8), kind="stable")
    ends = np.cumsum(np.bincount(period))
    moments = [completed[number == place] for place in range(len(ends))]
    spans = [(int(some.min()), int(some.max())) for some in moments]
    shown = next(form for form in NAMED_BY if form == NAMED_BY[-1] or _tell_apart(spans, form))
    return tuple(
        _describe(couples.take(rows[start:end]), len(moments[place]), spans[place], shown, names)
        for place, (start, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True))
    )


def _tell_apart(spans: Sequence[Span], form: str) -> bool:
    return len({_name(begin, form) for begin, _ in spans}) == len(spans)


def _describe(
    couples: JudgmentPairs, pairs: int, span: Span, form: str, names: Sequence[str]
) -> AgreementPeriod:
    leanings = estimate_leanings(couples, len(names))
    return AgreementPeriod(
        first=_name(span[0], form),
        last=_name(span[1], form),
        pairs=pairs,
        kappa=_value(estimate_kappa(couples, len(names))),
        observed_agreement=float((couples.apart == 0).mean()),
        leanings=tuple(
            Leaning(name, found.couples, found.value, ci95, why=None if ci95 else TOO_FEW_QUERIES)
            for name, found in zip(names, leanings, strict=True)
            if found.couples >= FEW_PAIRS
            for ci95 in [cluster_interval(found)]
        ),
        span=span,
    )


def _value(found: FigureEstimate) -> CoefficientValue:
    if np.isnan(found.value):
        return CoefficientValue(None, None, NO_VARIATION)
    ci95 = cluster_interval(found)
    return CoefficientValue(found.value, ci95, None if ci95 else TOO_FEW_QUERIES)


def _number_periods(completed: Ints) -> Ints:
    """The period of each pair, numbered from 0 in the order of time."""
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
    """Neighbours joined until each has FEW_PAIRS; what is left at the end joins the last."""
    joined = np.zeros(int(number.max()) + 1, dtype=np.int64)
    current, pairs = 0, 0
    sizes = np.bincount(number)
    for place, size in enumerate(sizes):
        joined[place] = current
        pairs += size
        if pairs >= FEW_PAIRS and sizes[place + 1 :].sum() >= FEW_PAIRS:
            current, pairs = current + 1, 0
    return joined[number]


def find_changes(couples: JudgmentPairs, completed: Ints, names: Sequence[str]) -> tuple[GradingDrift, ...]:
    """What changed between the first and the last third of the pairs, in the order of time, beyond chance: the kappa,
    and each annotator's leaning. The difference's interval by query must exclude 0, as strictly as so many questions
    call for, and the difference be of some size. Nothing where a third has too few pairs or queries to tell."""
    if len(completed) < 3 * FEW_PAIRS:
        return ()
    until, since = np.sort(completed)[[len(completed) // 3, -len(completed) // 3]]
    if until >= since:
        return ()
    when = completed[couples.place]
    parts = (couples.take(when <= until), couples.take(when >= since))
    kappas = [estimate_kappa(part, len(names)) for part in parts]
    if min(int(kappa.seen.sum()) for kappa in kappas) < FEW_QUERIES:
        return ()
    first, last = (estimate_leanings(part, len(names)) for part in parts)
    leanings = list(zip(first, last, strict=True))
    level = confidence(1 + sum(_is_enough(*both) for both in leanings))
    spans = (int(completed.min()), int(until)), (int(since), int(completed.max()))
    agreement = _compare(None, kappas[0], kappas[1], level, spans)
    found = [agreement if agreement and _matches_alike(parts, agreement.by) else None]
    suspects = [(who, _compare(names[who], *both, level, spans)) for who, both in enumerate(leanings)]
    changed = [(who, one) for who, one in suspects if one and _is_so_beside_the_same(parts, who, one, level)]
    found += _confirm(parts, changed, level)
    return tuple(change for change in found if change)


def _is_enough(first: FigureEstimate, last: FigureEstimate) -> bool:
    return min(first.couples, last.couples) >= FEW_PAIRS


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


def _matches_alike(parts: tuple[JudgmentPairs, JudgmentPairs], by: float) -> bool:
    """Whether judgments surely match more often in the last part than in the first where kappa is higher there, and less often
    where it is lower: kappa also falls where one grade comes to prevail, while the annotators agree as before."""
    means = []
    for part in parts:
        sums = np.bincount(part.query, weights=part.apart == 0, minlength=part.queries)
        counts = np.bincount(part.query, minlength=part.queries)
        means.append(estimate_mean(np.asarray(sums, dtype=np.float64), counts.astype(np.float64)))
    difference = subtract(means[1], means[0])
    return difference.value * by > 0 and misses(cluster_interval(difference), 0.0)


def _is_so_beside_the_same(
    parts: tuple[JudgmentPairs, JudgmentPairs], who: int, one: GradingDrift, level: float
) -> bool:
    """Whether the leaning has changed also beside those who judged with the annotator in both parts, each with the same weight in
    both: beside others somebody looks more lenient, or more severe, who grades as before."""
    own = [part.take((part.first == who) | (part.second == who)) for part in parts]
    others = [np.where(part.first == who, part.second, part.first) for part in own]
    size = 1 + max(int(other.max(initial=0)) for other in others)
    counts = [np.bincount(other, minlength=size).astype(np.float64) for other in others]
    shared = np.minimum(counts[0], counts[1])
    if shared.sum() < FEW_PAIRS:
        return False
    means = []
    for part, other, count in zip(own, others, counts, strict=True):
        weight = (shared / np.maximum(count, 1))[other]
        apart = np.where(part.first == who, part.apart, -part.apart)
        sums = np.bincount(part.query, weights=weight * apart, minlength=part.queries)
        weights = np.bincount(part.query, weights=weight, minlength=part.queries)
        means.append(estimate_mean(np.asarray(sums, dtype=np.float64), np.asarray(weights, dtype=np.float64)))
    difference = subtract(means[1], means[0])
    return (
        difference.value * one.by > 0
        and abs(difference.value) >= LEANING_CHANGES_BY / 2
        and misses(cluster_interval(difference, level=level), 0.0)
    )


def _confirm(
    parts: tuple[JudgmentPairs, JudgmentPairs], suspects: list[tuple[int, GradingDrift]], level: float
) -> list[GradingDrift]:
    """Those who changed, most first. Where one has become lenient all others look severe beside them: so another is named
    only if they changed also beside those who are not named."""
    suspects = sorted(suspects, key=lambda one: (-round(abs(one[1].by), 9), one[1].by < 0, one[0]))
    found: list[GradingDrift] = []
    for who, one in suspects:
        if found:
            first, last = (estimate_leaning(part, who) for part in parts)
            rest = _compare(one.annotator, first, last, level, (one.beginning, one.end))
            if rest is None or rest.by * one.by < 0:
                continue
        found.append(one)
        parts = (parts[0].leave_out(who), parts[1].leave_out(who))
    return found[:MOST_NAMED]


def _day(moment: int) -> str:
    return _name(moment, NAMED_BY[0])


def _name(moment: int, form: str) -> str:
    return datetime.fromtimestamp(int(moment), UTC).strftime(form)
