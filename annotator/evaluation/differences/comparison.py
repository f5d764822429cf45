"""Compare pairs of systems on the same queries: difference, interval, tests, and a verdict.

Intervals and the stability of the order come from the percentile bootstrap: queries are drawn with replacement,
and all systems are scored on the same drawn queries. Efron and Tibshirani (1993), An Introduction to the
Bootstrap, ch. 13; for IR measures: Sakai (SIGIR 2006). With few queries the intervals are wider, as in
`annotator/agreement/intervals.py` (Hesterberg 2015).

Holm's correction covers all pairs compared on one measure. It takes the p-value of the paired t-test, or of
the randomization test if the t-test is undefined because every query differs by the same amount.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

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
