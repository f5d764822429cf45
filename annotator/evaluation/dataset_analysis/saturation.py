"""Find out which measures and queries cannot tell the systems apart.

A measure is saturated if every system's mean is at least 0.99, or if all means lie within 0.005. The spread
of a measure is the variance of the systems' means. It equals the sum over queries of cov(score on the query,
mean) / number of queries, with the covariance over systems. Each query therefore carries a share of the
spread; a share below 0 works against the order of the means.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.domain.messages import Message, say, say_n

Floats = NDArray[np.float64]
PERFECT = 0.99
NO_SPREAD = 0.005
EQUAL_WITHIN = 1e-12


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
                "{measure} depends on {n} of {queries:,} queries: all others give every system the same "
                "score.",
                "{measure} depends on {n:,} of {queries:,} queries: all others give every system the same "
                "score.",
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
