"""Percentile bootstrap that resamples queries, for any coefficient that is a function of summed counts.

Pairs of one query are not independent of each other (one hard query is hard in all its pairs), so a whole
query is drawn or left out. A resample is then a weighted sum of per-query counts, and all resamples are a
few matrix products. Efron & Tibshirani (1993), An Introduction to the Bootstrap, ch. 13.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, default_rng

from annotator.agreement.judged import Floats, Ints

CHUNK = 4_000_000
MIN_DEFINED = 0.5


@dataclass(frozen=True, slots=True)
class Block:
    """Counts that add up: `features[i]` (n x f) belongs to the query numbered `queries[i]` (n)."""

    queries: Ints
    features: Floats


def sum_by_query(query: Ints, features: Floats) -> Block:
    """One row per query from one row per pair (n x f)."""
    queries, place = np.unique(query, return_inverse=True)
    columns = [np.bincount(place, weights=column, minlength=len(queries)) for column in features.T]
    return Block(queries, np.column_stack(columns) if columns else np.zeros((len(queries), 0)))


def resample_sums(blocks: Sequence[Block], *, resamples: int, seed: int) -> list[Floats]:
    """For each block its features summed over each resample of the queries: resamples x f.

    All blocks see the same resamples, drawn from the queries that any of them has. Same seed, same result.
    """
    known = np.unique(np.concatenate([block.queries for block in blocks])) if blocks else np.zeros(0)
    sums = [np.zeros((resamples, block.features.shape[1])) for block in blocks]
    if not len(known):
        return sums
    places = [np.searchsorted(known, block.queries) for block in blocks]
    random = default_rng(seed)
    step = max(1, CHUNK // len(known))
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        weights = _draw(random, len(known), rows)
        for total, block, place in zip(sums, blocks, places, strict=True):
            total[start : start + rows] = weights[place].T @ block.features
    return sums


def _draw(random: Generator, queries: int, resamples: int) -> Floats:
    """How often each query is drawn in each resample: queries x resamples; every column sums to `queries`."""
    drawn = random.integers(0, queries, size=(resamples, queries))
    drawn *= resamples
    drawn += np.arange(resamples)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=queries * resamples)
    return counts.reshape(queries, resamples).astype(np.float64)


def interval(values: Floats) -> tuple[float, float] | None:
    """The 2.5th and 97.5th percentile of a figure's resamples (n); NaN marks where it was undefined.

    None when fewer than half of the resamples define it: an interval over the rest would mislead.
    """
    defined = values[~np.isnan(values)]
    if not len(values) or len(defined) < MIN_DEFINED * len(values):
        return None
    low, high = np.percentile(defined, [2.5, 97.5])
    return float(low), float(high)
