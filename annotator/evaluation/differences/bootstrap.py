"""Resample queries, for 95 % intervals of mean scores and for the stability of the order.

The percentile bootstrap: queries are drawn with replacement, and all systems are scored on the same drawn
queries. Efron and Tibshirani (1993), An Introduction to the Bootstrap, ch. 13; for IR measures: Sakai (SIGIR
2006). With few queries the intervals are wider, as in `annotator/agreement/intervals.py` (Hesterberg 2015).
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from annotator.agreement.intervals import find_tail

Floats = NDArray[np.float64]

RESAMPLES = 1_000
AT_ONCE = 4_000_000
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
    at_once = max(1, AT_ONCE // queries)
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
