"""Measure how stable the order of systems is, and which measures and queries cannot tell the systems apart.

The order may change with the queries, the annotators or disputed grades. Orders are compared by Kendall's τ
(tau-b, because ties occur) and by τ_AP, which weighs changes at the top more: Yilmaz, Aslam and Robertson (SIGIR
2008). Orders under other judgments: Voorhees (2000), Variations in relevance judgments and the measurement of
retrieval effectiveness, Information Processing & Management 36.

A measure is saturated if every system's mean is at least 0.99, or if all means lie within 0.005. The spread
of a measure is the variance of the systems' means. It equals the sum over queries of cov(score on the query,
mean) / number of queries, with the covariance over systems. Each query therefore carries a share of the
spread; a share below 0 works against the order of the means.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from annotator.domain.messages import Message, say, say_n
from annotator.evaluation.differences.comparison import find_range

Floats = NDArray[np.float64]
EQUAL_WITHIN = 1e-12
AT_ONCE = 4_000_000
"""The maximum number of comparisons (pairs of systems x resamples) in memory at a time."""


@dataclass(frozen=True, slots=True)
class OrderAgreement:
    """How well two orders of the same systems agree.

    1: the same order, −1: reversed, None: all systems tie in one order. `swapped`: pairs of systems in
    reversed order; the system that is higher in the first order comes first.
    """

    tau: float | None
    tau_ap: float | None
    swapped: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class NeighbourSwaps:
    """Two neighbours in the order, and the share of resamples in which the lower system scores higher."""

    higher: str
    lower: str
    share: float


@dataclass(frozen=True, slots=True)
class ResampledOrder:
    """The order of systems under resampled queries. `tau`, `tau_ap`: means over resamples."""

    systems: tuple[str, ...]  # best first
    tau: float | None
    tau_range: tuple[float, float] | None
    tau_ap: float | None
    same_winner: float  # the share of resamples in which the best system stays best
    neighbours: tuple[NeighbourSwaps, ...]


def compare_orders(systems: Sequence[str], first: Floats, second: Floats) -> OrderAgreement:
    """Compare the orders that two sets of mean scores give the same systems."""
    swapped = tuple(
        (systems[high], systems[low])
        for high in np.argsort(-first, kind="stable")
        for low in range(len(systems))
        if first[high] > first[low] + EQUAL_WITHIN and second[low] > second[high] + EQUAL_WITHIN
    )
    return OrderAgreement(compute_tau(first, second), compute_tau_ap(first, second), swapped)


def compute_tau(first: Floats, second: Floats) -> float | None:
    """Return Kendall's tau-b of two sets of scores; None if all scores of one set are equal."""
    upper = np.triu_indices(len(first), 1)
    first_signs = _compare_scores(first)[upper]
    second_signs = _compare_scores(second)[upper]
    untied_first, untied_second = np.count_nonzero(first_signs), np.count_nonzero(second_signs)
    if not untied_first or not untied_second:
        return None
    return float((first_signs * second_signs).sum() / np.sqrt(float(untied_first) * float(untied_second)))


def compute_tau_ap(reference: Floats, scores: Floats) -> float | None:
    """Return τ_AP of the order by `scores` against the order by `reference`; None if either is all ties.

    For each system except the first: the share of the systems above it that the reference also ranks above
    it. τ_AP is twice the mean of these shares, minus 1. A pair tied in either order counts half. Systems tied
    in `scores` keep the order of the arrays.
    """
    count = len(reference)
    signs, reference_signs = _compare_scores(scores), _compare_scores(reference)
    if count < 2 or not signs.any() or not reference_signs.any():
        return None
    order = np.argsort(-scores, kind="stable")
    total = 0.0
    for position in range(1, count):
        above, system = order[:position], order[position]
        agreement = signs[above, system] * reference_signs[above, system]
        total += float(((agreement + 1) / 2).mean())
    return 2 * total / (count - 1) - 1


def _compare_scores(scores: Floats) -> NDArray[np.int64]:
    """Return [row, column]: 1 if the row's score is higher, −1 if lower, 0 if equal."""
    differences = scores[:, None] - scores[None, :]
    return np.where(np.abs(differences) <= EQUAL_WITHIN, 0, np.sign(differences)).astype(np.int64)


def measure_resampled_order(systems: Sequence[str], means: Floats, resampled: Floats) -> ResampledOrder:
    """Return how the order of `systems` by `means` changes when queries are resampled.

    `means`: one per system; `resampled`: resamples x systems (`resample_means`).
    """
    order = np.argsort(-means, kind="stable")
    names = tuple(systems[index] for index in order)
    taus, tau_aps = _compute_resampled_taus(means, resampled)
    best = resampled[:, order[0]] >= resampled.max(axis=1) - EQUAL_WITHIN if len(resampled) else np.zeros(0)
    return ResampledOrder(
        systems=names,
        tau=float(taus.mean()) if len(taus) else None,
        tau_range=find_range(taus),
        tau_ap=float(tau_aps.mean()) if len(tau_aps) else None,
        same_winner=float(best.mean()) if len(best) else 1.0,
        neighbours=tuple(
            NeighbourSwaps(
                systems[high],
                systems[low],
                float((resampled[:, low] > resampled[:, high] + EQUAL_WITHIN).mean())
                if len(resampled)
                else 0.0,
            )
            for high, low in pairwise(order)
        ),
    )


def _compute_resampled_taus(means: Floats, resampled: Floats) -> tuple[Floats, Floats]:
    """Return `compute_tau` and `compute_tau_ap` of each resample against `means`, computed for many at a time.

    Resamples in which all systems tie are left out.
    """
    count = len(means)
    reference = _compare_scores(means).astype(np.int8)
    if count < 2 or not reference.any() or not len(resampled):
        return np.empty(0), np.empty(0)
    earlier = np.triu(
        np.ones((count, count), dtype=bool), 1
    )  # tied systems keep the order in which they are given
    taus, tau_aps = [], []
    at_once = max(1, AT_ONCE // count**2)
    for start in range(0, len(resampled), at_once):
        part = resampled[start : start + at_once]
        differences = part[:, :, None] - part[:, None, :]
        signs = (differences > EQUAL_WITHIN).astype(np.int8) - (differences < -EQUAL_WITHIN)
        agreement = signs * reference
        untied = np.count_nonzero(signs, axis=(1, 2)).astype(np.float64)
        kept = untied > 0
        total = agreement.sum(axis=(1, 2), dtype=np.float64)
        taus.append(total[kept] / np.sqrt(untied[kept] * np.count_nonzero(reference)))
        above = (differences > 0) | ((differences == 0) & earlier)
        ranked_above = above.sum(axis=1, dtype=np.float64)
        agreeing = ((agreement + 1) * above).sum(axis=1, dtype=np.float64) / 2
        shares = np.divide(agreeing, ranked_above, out=np.zeros_like(agreeing), where=ranked_above > 0)
        tau_aps.append((2 * shares.sum(axis=1) / (count - 1) - 1)[kept])
    return np.concatenate(taus), np.concatenate(tau_aps)


PERFECT = 0.99
NO_SPREAD = 0.005


@dataclass(frozen=True, slots=True)
class QueryShare:
    """The share of a measure's spread between systems that one query carries; all shares sum to 1."""

    query_id: str
    share: float


@dataclass(frozen=True, slots=True)
class MeasureSaturation:
    """How well a measure can rank the systems.

    `lowest`, `highest`: of the systems' means. `equal_queries`: queries with one score for all systems;
    `perfect_queries`: queries with 1.0 for all systems.
    """

    measure: str
    systems: int
    queries: int
    lowest: float
    highest: float
    equal_queries: int
    perfect_queries: int
    saturated: bool
    shares: tuple[QueryShare, ...]  # largest first; empty if the means do not differ

    @property
    def sentence(self) -> Message | None:
        """Return why the measure ranks the systems poorly; None if it does not."""
        if self.systems < 2 or not self.queries:
            return None
        values = {"measure": self.measure, "queries": self.queries}
        if self.saturated and self.perfect_queries:
            return say_n(
                "{measure} cannot rank these systems: {n} of {queries:,} queries gives 1.0 to all of them.",
                "{measure} cannot rank these systems: {n:,} of {queries:,} queries give 1.0 to all of them.",
                self.perfect_queries,
                **values,
            )
        if self.saturated and self.highest - self.lowest <= EQUAL_WITHIN:
            return say("{measure} cannot rank these systems: all have the same mean.", **values)
        if self.saturated:
            return say(
                "{measure} cannot rank these systems: their means lie within {spread:.3f}.",
                spread=math.ceil(round((self.highest - self.lowest) * 1000, 6)) / 1000,  # never 0.000
                **values,
            )
        if self.equal_queries * 2 > self.queries:
            return say_n(
                "Only {n} of {queries:,} queries separates the systems on {measure}.",
                "Only {n:,} of {queries:,} queries separate the systems on {measure}.",
                self.queries - self.equal_queries,
                **values,
            )
        return None


def measure_saturation(measure: str, query_ids: Sequence[str], scores: Floats) -> MeasureSaturation:
    """Return how well `scores` (queries x systems, without NaN) can rank the systems."""
    queries, systems = scores.shape
    means = scores.mean(axis=0) if queries else np.zeros(systems)
    span = np.ptp(scores, axis=1) if systems else np.zeros(queries)
    equal = span <= EQUAL_WITHIN
    perfect = equal & (scores.min(axis=1) >= 1 - EQUAL_WITHIN) if systems else equal
    lowest, highest = (float(means.min()), float(means.max())) if systems else (0.0, 0.0)
    saturated = systems > 1 and queries > 0 and (lowest >= PERFECT or highest - lowest < NO_SPREAD)
    return MeasureSaturation(
        measure=measure,
        systems=systems,
        queries=queries,
        lowest=lowest,
        highest=highest,
        equal_queries=int(equal.sum()),
        perfect_queries=int(perfect.sum()),
        saturated=saturated,
        shares=_list_shares(query_ids, scores, means),
    )


def _list_shares(query_ids: Sequence[str], scores: Floats, means: Floats) -> tuple[QueryShare, ...]:
    if len(means) < 2 or np.ptp(means) <= EQUAL_WITHIN:
        return ()
    centred = means - means.mean()
    contributions = (scores - scores.mean(axis=1, keepdims=True)) @ centred
    shares = contributions / (len(scores) * float(centred @ centred))
    order = np.argsort(-shares, kind="stable")
    return tuple(QueryShare(query_ids[index], float(shares[index])) for index in order)
