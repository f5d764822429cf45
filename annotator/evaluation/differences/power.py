"""Compute the power of the paired t-test: the differences that a number of queries can detect.

The power of a two-sided paired t-test over n queries is that of a noncentral t distribution with n − 1
degrees of freedom and noncentrality d · √n, where d is the mean difference over the standard deviation of the
differences. Sakai (2016), Topic set size design, Information Retrieval Journal 19; Cohen (1988), Statistical
Power Analysis, ch. 2.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from annotator.domain.figures import show_number
from annotator.domain.messages import Message, say
from annotator.evaluation.differences.comparison import SystemComparison

Floats = NDArray[np.float64]
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
