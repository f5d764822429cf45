"""Compare pairs of systems on the same queries: difference, interval, tests, and a verdict.

Intervals and the stability of the order come from the percentile bootstrap: queries are drawn with
replacement, and all systems are scored on the same drawn queries. Efron and Tibshirani (1993), An
Introduction to the Bootstrap, ch. 13; for IR measures: Sakai (SIGIR 2006). With few queries the intervals are
wider, as in `annotator/agreement/intervals.py` (Hesterberg 2015).

Holm's correction covers all pairs compared on one measure. It takes the p-value of the paired t-test, or of
the randomization test if the t-test is undefined because every query differs by the same amount.

Compute the power of the paired t-test: the differences that a number of queries can detect. The power of a
two-sided paired t-test over n queries is that of a noncentral t distribution with n − 1 degrees of freedom
and noncentrality d · √n, where d is the mean difference over the standard deviation of the differences. Sakai
(2016), Topic set size design, Information Retrieval Journal 19; Cohen (1988), Statistical Power Analysis, ch.
2.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from annotator.agreement.intervals import find_tail
from annotator.domain.figures import show_number, show_p
from annotator.domain.messages import Message, say
from annotator.evaluation.differences.paired_tests import (
    EQUAL_WITHIN,
    PairedTTest,
    RandomizationTest,
    WilcoxonTest,
    adjust_holm,
    round_differences,
    run_randomization_tests,
    run_t_tests,
    run_wilcoxon_tests,
)

Floats = NDArray[np.float64]

RESAMPLES = 1_000
WEIGHTS_AT_ONCE = 4_000_000
"""The maximum number of weights (resamples x queries) in memory at a time."""


def resample_means(scores: Floats, *, seed: int, resamples: int = RESAMPLES) -> Floats:
    """Return the mean of each column under each resample of the rows.

    `scores`: queries x systems, without NaN. Returns resamples x systems. The same seed and number of queries
    give the same resamples, so that different measures can be compared within a resample.
    """
    if not len(scores):
        return np.empty((0, scores.shape[1]))
    parts = [weights @ scores for weights in _draw_weights(len(scores), seed=seed, resamples=resamples)]
    return np.concatenate(parts) / len(scores)


def list_mean_intervals(
    columns: Sequence[Floats], *, seed: int, resamples: int = RESAMPLES
) -> list[tuple[float, float] | None]:
    """Return the 95 % interval of the mean of each column; None for a column with fewer than two queries.

    `columns`: scores by query, without NaN. Columns of the same length share their resamples.
    """
    by_length: dict[int, list[int]] = {}
    for index, column in enumerate(columns):
        by_length.setdefault(len(column), []).append(index)
    intervals: list[tuple[float, float] | None] = [None] * len(columns)
    for queries, indexes in by_length.items():
        if queries < 2:
            continue
        means = np.empty((resamples, len(indexes)))
        row = 0
        for weights in _draw_weights(queries, seed=seed, resamples=resamples):
            for at, index in enumerate(indexes):
                means[row : row + len(weights), at] = weights @ columns[index]
            row += len(weights)
        for index, interval in zip(indexes, find_intervals(means / queries, queries), strict=True):
            intervals[index] = interval
    return intervals


def _draw_weights(queries: int, *, seed: int, resamples: int) -> Iterator[Floats]:
    """Yield blocks of resamples x queries: how often each query is drawn."""
    random = np.random.default_rng(seed)
    at_once = max(1, WEIGHTS_AT_ONCE // queries)
    for start in range(0, resamples, at_once):
        rows = min(at_once, resamples - start)
        drawn = random.integers(0, queries, size=(rows, queries)) + np.arange(rows)[:, None] * queries
        yield np.bincount(drawn.ravel(), minlength=rows * queries).reshape(rows, queries).astype(np.float64)


def find_range(resampled: Floats) -> tuple[float, float] | None:
    """Return the 2.5 % and 97.5 % quantiles of the values; None without values."""
    if not len(resampled):
        return None
    low, high = np.quantile(resampled, [0.025, 0.975]).tolist()
    return low, high


def find_intervals(resampled: Floats, queries: int) -> list[tuple[float, float] | None]:
    """Return a 95 % interval for each column of means over `queries` queries; None without resamples."""
    if not len(resampled):
        return [None] * resampled.shape[1]
    tail = float(find_tail(queries))
    lows, highs = np.quantile(resampled, [tail, 1 - tail], axis=0)
    return list(zip(lows.tolist(), highs.tolist(), strict=True))


SIGNIFICANT = 0.05
AT_ONCE = 1_000_000
"""The maximum number of differences (queries or resamples x comparisons) in memory at a time."""


@dataclass(frozen=True, slots=True)
class SystemComparison:
    """Two systems on one measure. `difference` is the mean of B minus the mean of A; B wins on `wins` queries."""

    a: str
    b: str
    measure: str
    queries: int
    difference: float
    ci95: tuple[float, float] | None  # bootstrap by query; None with one query
    wins: int
    ties: int
    losses: int
    t_test: PairedTTest
    wilcoxon: WilcoxonTest
    randomization: RandomizationTest
    p_holm: float | None  # None with one query

    @property
    def verdict(self) -> Message:
        """The comparison in one sentence."""
        names = {"a": self.a, "b": self.b, "measure": self.measure}
        if self.queries == 0:
            return say("{a} and {b} cannot be compared on {measure}: they share no query.", **names)
        if self.ties == self.queries:
            return say("{a} and {b} have the same {measure} on every query.", **names)
        if self.queries == 1 or self.ci95 is None:
            return say("{a} and {b} cannot be compared on {measure}: one query allows no test.", **names)
        better, worse = (self.b, self.a) if self.difference > 0 else (self.a, self.b)
        sign = 1 if self.difference > 0 else -1
        low, high = sorted(sign * bound for bound in self.ci95)
        figures = {
            "measure": self.measure,
            "difference": show_number(abs(self.difference), 3),
            "low": show_number(low, 3),
            "high": show_number(high, 3),
            "p": show_p(self.p_holm),
        }
        if not self.significant:
            return say(
                "No difference is shown between {a} and {b} on {measure}: {difference} [{low}, {high}]; {p} after Holm.",
                a=worse,
                b=better,
                **figures,
            )
        if self.t_test.cohens_d is None:
            return say(
                "{better} is better than {worse} on {measure} by {difference} on every query; {p} after Holm.",
                better=better,
                worse=worse,
                **figures,
            )
        return say(
            "{better} is better than {worse} on {measure} by {difference} [{low}, {high}]; {p} after Holm; d = {d}.",
            better=better,
            worse=worse,
            d=show_number(abs(self.t_test.cohens_d), 2),
            **figures,
        )

    @property
    def is_tested(self) -> bool:
        """Return whether a query differs and there is a p-value."""
        return self.p_holm is not None and self.ties < self.queries

    @property
    def significant(self) -> bool:
        return self.p_holm is not None and self.p_holm < SIGNIFICANT


def compare_systems(
    scores: Mapping[str, Floats],
    measure: str,
    *,
    baseline: str | None = None,
    seed: int,
    resamples: int = RESAMPLES,
) -> tuple[SystemComparison, ...]:
    """Compare every two systems on `measure`, or every system with `baseline`.

    `scores`: by system, one score for each query, without NaN; all systems have the same queries in the same
    order. In each comparison A is the baseline, or else the system that comes first in `scores`.
    """
    systems = list(scores)
    if baseline is None:
        pairs = list(combinations(range(len(systems)), 2))
    else:
        first = systems.index(baseline)
        pairs = [(first, index) for index in range(len(systems)) if index != first]
    if not pairs:
        return ()
    table = np.column_stack([scores[system] for system in systems])
    differences = np.column_stack([round_differences(table[:, a], table[:, b]) for a, b in pairs])
    randomized = run_randomization_tests(differences, seed=seed)
    resampled = resample_means(table, seed=seed, resamples=resamples)
    first, second = np.array(pairs).T
    t_tests: list[PairedTTest] = []
    wilcoxon: list[WilcoxonTest] = []
    intervals: list[tuple[float, float] | None] = []
    at_once = max(1, AT_ONCE // max(len(table), len(resampled), 1))
    for start in range(0, len(pairs), at_once):
        part = slice(start, start + at_once)
        t_tests += run_t_tests(differences[:, part])
        wilcoxon += run_wilcoxon_tests(differences[:, part])
        intervals += find_intervals(resampled[:, second[part]] - resampled[:, first[part]], len(table))
    queries = len(table)
    p_values = [
        None if queries < 2 else randomization.p if t_test.p is None else t_test.p
        for t_test, randomization in zip(t_tests, randomized, strict=True)
    ]
    adjusted = adjust_holm(p_values)
    means = _average_columns(differences)
    wins = (differences > EQUAL_WITHIN).sum(axis=0).tolist()
    losses = (differences < -EQUAL_WITHIN).sum(axis=0).tolist()
    return tuple(
        SystemComparison(
            a=systems[a],
            b=systems[b],
            measure=measure,
            queries=queries,
            difference=means[column],
            ci95=intervals[column] if queries > 1 else None,
            wins=wins[column],
            ties=queries - wins[column] - losses[column],
            losses=losses[column],
            t_test=t_tests[column],
            wilcoxon=wilcoxon[column],
            randomization=randomized[column],
            p_holm=adjusted[column],
        )
        for column, (a, b) in enumerate(pairs)
    )


def _average_columns(differences: Floats) -> list[float]:
    """Return the mean of each column, 0 without rows. The order of additions is that of a single column."""
    if not len(differences):
        return [0.0] * differences.shape[1]
    means: list[float] = np.ascontiguousarray(differences.T).mean(axis=1).tolist()
    return means


def count_wins(scores: Mapping[str, Floats]) -> dict[str, int]:
    """Return on how many queries each system has the highest score. Ties count for every tied system."""
    table = np.column_stack([scores[system] for system in scores])
    best = table.max(axis=1, keepdims=True)
    won = (table >= best - EQUAL_WITHIN).sum(axis=0)
    return dict(zip(scores, map(int, won), strict=True))


def find_best_systems(scores: Mapping[str, Floats]) -> tuple[str, ...]:
    """Return the systems with the highest mean score."""
    means = {system: float(values.mean()) for system, values in scores.items()}
    highest = max(means.values())
    return tuple(system for system, mean in means.items() if mean >= highest - EQUAL_WITHIN)


Counts = NDArray[np.int64]

ALPHA = 0.05
POWER = 0.8
SMALL_EFFECT = 0.3
"""The effect size (Cohen's d) of `queries_for_small_effect`."""
MOST_QUERIES = 10_000_000
LARGEST_DIFFERENCE = 1.0
"""Compared measures lie between 0 and 1."""


def compute_power(effect: float, queries: int, *, alpha: float = ALPHA) -> float:
    """Return the probability that a two-sided paired t-test finds a true effect of size `effect` (d)."""
    return float(_compute_powers(np.array([effect]), np.array([queries]), alpha)[0])


def _compute_powers(effects: Floats, queries: Counts, alpha: float) -> Floats:
    """Return the power for each effect size and number of queries; 0 with fewer than two queries."""
    from scipy.special import nctdtr, stdtrit  # scipy.stats takes a second to import

    freedom = np.maximum(queries - 1, 1)
    critical = stdtrit(freedom, 1 - alpha / 2)
    shifts = np.abs(effects) * np.sqrt(queries)
    powers = np.where(queries < 2, 0.0, 1.0)  # certain; the noncentral t loses its digits far out
    near = np.flatnonzero((queries >= 2) & (shifts - critical <= 30))
    powers[near] = nctdtr(freedom[near], -shifts[near], -critical[near])  # of more than the critical value
    both = near[shifts[near] < 5]
    powers[both] += nctdtr(freedom[both], shifts[both], -critical[both])
    return powers


def find_queries_needed(
    effect: float, *, power: float = POWER, alpha: float = ALPHA, most: int = MOST_QUERIES
) -> int | None:
    """Return the fewest queries with which a true effect of size `effect` (d) is found with probability `power`.

    None if the effect is 0 or needs more than `most` queries.
    """
    return list_queries_needed(np.array([effect]), power=power, alpha=alpha, most=most)[0]


def list_queries_needed(
    effects: Floats, *, power: float = POWER, alpha: float = ALPHA, most: int = MOST_QUERIES
) -> list[int | None]:
    """Return `find_queries_needed` of each effect.

    The search starts at the normal approximation ((z_α/2 + z_β) / d)² + z²_α/2 / 2, which is rarely off by
    more than one query.
    """
    normal = NormalDist()
    z_alpha, z_beta = normal.inv_cdf(1 - alpha / 2), normal.inv_cdf(power)
    sizes = np.abs(effects)
    reachable = np.flatnonzero(sizes > (z_alpha + z_beta) / math.sqrt(most))
    sizes = sizes[reachable]
    queries = np.maximum(2, np.ceil(((z_alpha + z_beta) / sizes) ** 2 + z_alpha**2 / 2)).astype(np.int64)
    open_rows = np.arange(len(sizes))
    while len(open_rows := open_rows[_compute_powers(sizes[open_rows], queries[open_rows], alpha) < power]):
        queries[open_rows] += 1
    open_rows = np.flatnonzero(queries > 2)
    while len(
        open_rows := open_rows[_compute_powers(sizes[open_rows], queries[open_rows] - 1, alpha) >= power]
    ):
        queries[open_rows] -= 1
        open_rows = open_rows[queries[open_rows] > 2]
    needed: list[int | None] = [None] * len(effects)
    for row, count in zip(reachable.tolist(), queries.tolist(), strict=True):
        needed[row] = count
    return needed


@lru_cache(maxsize=256)
def find_detectable_effect(queries: int, *, power: float = POWER, alpha: float = ALPHA) -> float | None:
    """Return the smallest effect size (d) that `queries` find with probability `power`.

    None with fewer than two queries. Multiplied by the standard deviation of the differences, it is the
    smallest detectable difference of a measure.
    """
    if queries < 2:
        return None
    from scipy.optimize import brentq

    high = 1.0
    while compute_power(high, queries, alpha=alpha) < power:
        high *= 2
    return float(
        brentq(lambda effect: compute_power(effect, queries, alpha=alpha) - power, 0.0, high, xtol=1e-9)
    )


@dataclass(frozen=True, slots=True)
class ComparisonPower:
    """The differences between two systems on one measure that the queries can detect.

    At 80 % power and a level of 0.05. `detectable`: the smallest true difference that is found; None if not
    even the largest possible difference is. `queries_for_difference`: how many queries find a true difference
    as large as the observed one; None if that is 0.
    """

    a: str
    b: str
    measure: str
    queries: int
    sd: float  # of the differences over queries
    detectable: float | None
    difference: float  # observed, B − A
    effect: float  # Cohen's d of the differences
    queries_for_difference: int | None

    @property
    def queries_for_small_effect(self) -> int | None:
        """Return how many queries find d = 0.3."""
        return _find_queries_for_small_effect()

    @property
    def sentence(self) -> Message:
        """Return the detectable difference in a sentence, with the number of queries that the observed one needs."""
        values = {
            "a": self.a,
            "b": self.b,
            "measure": self.measure,
            "queries": self.queries,
            "detectable": "" if self.detectable is None else show_number(self.detectable, 3),
            "difference": show_number(abs(self.difference), 3),
        }
        needed = self.queries_for_difference
        if self.detectable is None and needed is None:
            return say(
                "{queries:,} queries can show no difference between {a} and {b} on {measure}: their scores vary too much.",
                **values,
            )
        if self.detectable is None:
            return say(
                "{queries:,} queries can show no difference between {a} and {b} on {measure}: their scores vary too much. "
                "To confirm the observed {difference} you need about {needed:,} queries.",
                needed=needed,
                **values,
            )
        if needed is None:
            return say(
                "{queries:,} queries can show a difference of {detectable} or more between {a} and {b} on {measure}.",
                **values,
            )
        return say(
            "{queries:,} queries can show a difference of {detectable} or more between {a} and {b} on {measure}. "
            "To confirm the observed {difference} you need about {needed:,} queries.",
            needed=needed,
            **values,
        )


@lru_cache(maxsize=1)
def _find_queries_for_small_effect() -> int | None:
    return find_queries_needed(SMALL_EFFECT)


def measure_powers(comparisons: Sequence[SystemComparison]) -> list[ComparisonPower]:
    """Return the power of each comparison. Comparisons without variance are left out."""
    planned = [
        (comparison, found * comparison.t_test.sd, effect)
        for comparison in comparisons
        if (effect := comparison.t_test.cohens_d) is not None
        and (found := find_detectable_effect(comparison.queries)) is not None
    ]
    needed = list_queries_needed(np.array([effect for _, _, effect in planned]))
    return [
        ComparisonPower(
            a=comparison.a,
            b=comparison.b,
            measure=comparison.measure,
            queries=comparison.queries,
            sd=comparison.t_test.sd,
            detectable=detectable if detectable <= LARGEST_DIFFERENCE else None,
            difference=comparison.difference,
            effect=effect,
            queries_for_difference=queries,
        )
        for (comparison, detectable, effect), queries in zip(planned, needed, strict=True)
    ]
