"""Compute intervals: percentile bootstrap over queries, exact bounds, and corrections for many claims.

Pairs of one query depend on each other (a hard query is hard in all its pairs), so whole queries are
resampled. A resample is a weighted sum of per-query counts, and all resamples are a few matrix products.
Efron & Tibshirani (1993), An Introduction to the Bootstrap, ch. 13. With twenty annotators, some 95 %
interval misses the truth by chance, so the diagnosis uses stricter intervals for many claims (Bonferroni): if
there is nothing to find, it makes a claim in at most `FALSE_CLAIMS` of the cases.

Compute Cohen's kappa of every two annotators and of the dataset, and leanings, with intervals. Processes some
annotator pairs at a time, so that 200 annotators need no more memory than 20. With many annotators, most
annotator pairs share pairs of one query only. Every resample then gives the same kappa, so their tables are
not summed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from annotator.agreement.coefficients import DISAGREEMENT, NAMES, compute_all, compute_at
from annotator.agreement.comparisons import FigureEstimate
from annotator.agreement.judgment_table import (
    CATEGORIES,
    CELLS,
    ConfusionTables,
    Floats,
    Ints,
    divide,
    flatten,
)
from annotator.agreement.records import FEW_QUERIES, TOO_FEW_QUERIES, CoefficientValue, Interval

if TYPE_CHECKING:
    from scipy.sparse import csr_array

AT_ONCE = 640_000  # weights at a time, as many as fit into a processor's cache
KEPT = 128_000_000  # weights that are kept for the next iteration, a byte each; more are drawn again
MIN_DEFINED = 0.5
FEWEST_QUERIES = 2
Singles = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class CountBlock:
    """Counts that add up: row i of `features` (n x f) belongs to the query with the number `queries[i]` (n)."""

    queries: Ints
    features: Floats


@dataclass(slots=True)
class Resamples:
    """How often each query is drawn in each of `count` resamples. `queries`: sorted, each once.

    The same seed and queries give the same resamples on every iteration.
    """

    queries: Ints
    count: int
    seed: int
    _kept: list[NDArray[np.uint8]] = field(default_factory=list, repr=False)

    def __iter__(self) -> Iterator[tuple[slice, Singles]]:
        """Yield some resamples at a time: their indexes, and their weights (queries x resamples)."""
        size = len(self.queries)
        if not size or not self.count:
            return
        step = max(1, min(self.count, AT_ONCE // size))
        random = default_rng(self.seed)
        whole = len(self._kept) == -(-self.count // step)
        keep = not whole and size * self.count <= KEPT
        if not whole:
            self._kept.clear()
        for turn, start in enumerate(range(0, self.count, step)):
            part = slice(start, min(start + step, self.count))
            if whole:
                yield part, self._kept[turn].astype(np.float32)
                continue
            weights = _draw(random, size, part.stop - start)
            if keep and weights.max() < 256:
                self._kept.append(weights.astype(np.uint8))
            yield part, weights.astype(np.float32)

    def sum(self, blocks: Sequence[CountBlock]) -> list[Floats]:
        """Return the features of each block summed over each resample: resamples x f."""
        widths = [block.features.shape[1] for block in blocks]
        features = np.zeros((len(self.queries), sum(widths)))
        ends = np.cumsum(widths, dtype=np.int64)
        for block, end, width in zip(blocks, ends, widths, strict=True):
            features[np.searchsorted(self.queries, block.queries), end - width : end] = block.features
        sums = np.zeros((self.count, features.shape[1]))
        for part, weights in self:
            sums[part] = weights.T.astype(np.float64) @ features
        return np.split(sums, ends[:-1], axis=1) if blocks else []


def _draw(random: Generator, queries: int, resamples: int) -> Ints:
    """Return how often each query is drawn: queries x resamples; each column sums to `queries`."""
    drawn = random.integers(0, queries, size=(resamples, queries), dtype=np.uint32).astype(np.int64)
    drawn *= resamples
    drawn += np.arange(resamples)[:, None]
    return np.bincount(drawn.ravel(), minlength=queries * resamples).reshape(queries, resamples)


def find_tail(queries: Ints | int) -> Floats:
    """Return the share of resamples outside a 95 % interval at each end: 0.025, less for few queries.

    The usual percentiles give too narrow intervals: resamples of n queries spread too little by sqrt((n - 1)
    / n), and they follow a normal distribution instead of Student's t. Percentiles further out correct both:
    Hesterberg (2015), What Teachers Should Know About the Bootstrap, Am. Stat. 69(4), the expanded percentile
    interval.
    """
    from scipy.special import ndtr, stdtrit

    counted = np.maximum(np.asarray(queries, dtype=np.float64), 2.0)
    return np.asarray(ndtr(np.sqrt(counted / (counted - 1)) * stdtrit(counted - 1, 0.025)))


def interval(values: Floats, queries: int) -> tuple[float, float] | None:
    """Return the 95 % interval of a figure from its resamples (n; NaN: undefined) over this many queries.

    None for a single query: every resample is the same, so the interval would have no width. None if fewer
    than half of the resamples define the figure: an interval of the rest would mislead.
    """
    defined = values[~np.isnan(values)]
    if queries < FEWEST_QUERIES or not len(values) or len(defined) < MIN_DEFINED * len(values):
        return None
    tail = float(find_tail(queries))
    low, high = np.quantile(defined, [tail, 1 - tail])
    return float(low), float(high)


def intervals(values: Floats, queries: Ints) -> list[tuple[float, float] | None]:
    """Return the `interval` of each row (m x n). `queries` (m): the number of queries of each row."""
    limits: list[tuple[float, float] | None] = [None] * len(values)
    if not values.size:
        return limits
    defined = np.count_nonzero(~np.isnan(values), axis=1)
    enough = np.flatnonzero((queries >= FEWEST_QUERIES) & (defined >= MIN_DEFINED * values.shape[1]))
    if len(enough):
        ordered, tail = np.sort(values[enough], axis=1), find_tail(queries[enough])
        lows, highs = (_quantile(ordered, defined[enough], share).tolist() for share in (tail, 1 - tail))
        for row, low, high in zip(enough.tolist(), lows, highs, strict=True):
            limits[row] = (low, high)
    return limits


def _quantile(ordered: Floats, defined: Ints, share: Floats) -> Floats:
    """Return a quantile of each row (m x n, ascending, NaN last), interpolated linearly.

    `share` (m): which quantile. `defined` (m): the number of values before NaN.
    """
    position = share * (defined - 1)
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, defined - 1)
    rows = np.arange(len(ordered))
    low, high, weight = ordered[rows, below], ordered[rows, above], position - below
    # np.quantile interpolates from the nearer neighbour, which can change the last digit. Published figures must not change.
    from_high = (weight >= 0.5) & (defined < ordered.shape[1])
    return np.where(from_high, high - (high - low) * (1 - weight), low + (high - low) * weight)


FALSE_CLAIMS = 0.02
SHOWN = 0.95


def confidence(claims: int) -> float:
    """Return the confidence that each of this many intervals needs, so that all of them hold together."""
    return 1 - FALSE_CLAIMS / max(1, claims)


def cluster_interval(estimate: FigureEstimate, *, level: float = SHOWN) -> Interval | None:
    """Return the interval of a figure from the influences of its queries; None below FEW_QUERIES queries.

    The infinitesimal jackknife, which the bootstrap by query approaches (Efron 1982, The Jackknife, the
    Bootstrap and Other Resampling Plans, ch. 6), with Student's t for few queries. Unlike percentiles of a
    thousand resamples, it works at any level.
    """
    from scipy.special import stdtrit

    queries = int(estimate.seen.sum())
    if queries < FEW_QUERIES or np.isnan(estimate.value):
        return None
    error = float(np.sqrt((estimate.influence**2).sum() * queries / (queries - 1)))
    reach = float(stdtrit(queries - 1, (1 + level) / 2)) * error
    return estimate.value - reach, estimate.value + reach


def normal_reach(level: float) -> float:
    """Return how many standard errors an interval of this level extends to each side."""
    return NormalDist().inv_cdf((1 + level) / 2)


def widen(value: float, ci95: Interval, claims: int) -> Interval:
    """Return a 95 % interval widened for this many claims; each side keeps its proportion."""
    factor = normal_reach(confidence(claims)) / normal_reach(SHOWN)
    low, high = ci95
    return value - (value - low) * factor, value + (high - value) * factor


def misses(interval: Interval | None, null: float) -> bool:
    """Return whether there is an interval and `null` lies outside it."""
    return interval is not None and (interval[0] > null or interval[1] < null)


def exact_interval(successes: float, of: float, *, level: float = SHOWN) -> Interval:
    """Return Clopper and Pearson's interval of a share (1934, Biometrika 26).

    `of` is above 0. It may be a fraction: an effective number of independent observations.
    """
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = 0.0 if successes <= 0 else float(betaincinv(successes, of - successes + 1, tail))
    high = 1.0 if successes >= of else float(betaincinv(successes + 1, of - successes, 1 - tail))
    return low, high


def to_coefficient(estimate: FigureEstimate, why: str) -> CoefficientValue:
    """Return the figure with its interval by query; if it is NaN, `why`."""
    if np.isnan(estimate.value):
        return CoefficientValue(None, None, why)
    ci95 = cluster_interval(estimate)
    return CoefficientValue(estimate.value, ci95, None if ci95 else TOO_FEW_QUERIES)


PAIRS_AT_ONCE = 512
IN_CACHE = 16_000  # tables that are worked on at a time
SHAPE = (CATEGORIES, CATEGORIES)
SIGNED = np.subtract.outer(np.arange(CATEGORIES), np.arange(CATEGORIES)).astype(np.float64)


@dataclass(slots=True)
class PairSums:
    """The tables of p annotator pairs, summed over some resamples."""

    totals: Floats  # the tables over all `queries` (p x 4 x 4)
    kappas: dict[str, list[Interval | None]]  # the interval of each annotator pair, by kind
    weighted: dict[str, Floats]
    """Kappa times shared pairs, summed over annotator pairs, per resample; by kind or cut."""
    weights: dict[str, Floats]  # shared pairs of annotator pairs with a kappa, per resample; by kind or cut
    differences: Floats  # own minus others' grades, summed (a x resamples)
    queries: int
    comparisons: Floats  # comparisons of each annotator (a x resamples)
    queries_by_pair: Ints  # queries with a pair that both annotators judged, for each annotator pair (p)
    queries_by_annotator: Ints  # queries with a pair that somebody else judged too, for each annotator (a)

    def mean_kappa(self, name: str) -> Floats:
        """Return the dataset's kappa of a kind or at a cut, of each resample; NaN if undefined."""
        return divide(self.weighted[name], self.weights[name])


def sum_pairs(tables: ConfusionTables, resamples: Resamples, *, annotators: int) -> PairSums:
    """Sum every annotator pair over every resample. `resamples` is over the queries that `tables` counts."""
    pairs, count = len(tables.first), resamples.count
    queries, people = _count_shared(tables), _name_people(tables, annotators)
    sums = PairSums(
        np.asarray(tables.counts.sum(axis=1), dtype=np.float64).reshape(pairs, *SHAPE),
        {kind: [None] * pairs for kind in DISAGREEMENT},
        {name: np.zeros(count) for name in NAMES},
        {name: np.zeros(count) for name in NAMES},
        np.zeros((annotators, count)),
        len(resamples.queries),
        np.zeros((annotators, count)),
        np.diff(queries.indptr).astype(np.int64),
        np.diff((abs(people) @ queries).indptr).astype(np.int64),
    )
    for start in range(0, pairs if count else 0, PAIRS_AT_ONCE):
        rows_of_pairs = np.arange(start, min(start + PAIRS_AT_ONCE, pairs))
        size = len(rows_of_pairs), count
        drawn = _ResampledPairs(np.empty(size), np.empty(size), {name: np.empty(size) for name in NAMES})
        single = sums.queries_by_pair[rows_of_pairs] == 1
        cells, times = _draw_tables(
            tables, resamples, rows_of_pairs[~single], queries.indices[queries.indptr[rows_of_pairs[single]]]
        )
        _fill_single(sums, drawn, rows_of_pairs, np.flatnonzero(single), times)
        _fill_several(sums, drawn, rows_of_pairs, np.flatnonzero(~single), cells)
        for name, weighted in drawn.weighted.items():
            sums.weighted[name] += weighted.sum(axis=0)
        sums.differences += people[:, rows_of_pairs] @ drawn.differences
        sums.comparisons += abs(people[:, rows_of_pairs]) @ drawn.shared
    return sums


def compute_mean_leanings(
    totals: Floats, first: Sequence[int], second: Sequence[int], annotators: int
) -> tuple[Floats, Floats]:
    """Return each annotator's mean difference from the others, and the number of comparisons.

    `totals`: the tables of the annotator pairs (p x 4 x 4). `first` and `second`: their annotators (p).
    """
    flat = flatten(totals)
    difference, comparisons = flat @ SIGNED.ravel(), flat @ np.ones(CELLS)
    differences, counted = np.zeros(annotators), np.zeros(annotators)
    for people, sign in ((first, 1.0), (second, -1.0)):
        np.add.at(differences, people, sign * difference)
        np.add.at(counted, people, comparisons)
    return divide(differences, counted), counted


class _ResampledPairs(NamedTuple):
    """Some annotator pairs over every resample; every array is p x resamples."""

    shared: Floats  # shared pairs
    differences: Floats  # the first annotator's grades minus the second's, summed
    weighted: dict[str, Floats]  # kappa times shared pairs, 0 if kappa is undefined; by kind or cut


def _draw_tables(
    tables: ConfusionTables, resamples: Resamples, several: Ints, queries: Ints
) -> tuple[Floats, Floats]:
    """Return the tables of `several` annotator pairs over each resample, and the draws of `queries`.

    The shapes are pairs x 16 x resamples, and queries x resamples. `several`, `queries`: indexes.
    """
    counts = tables.counts[(several[:, None] * CELLS + np.arange(CELLS)).ravel()]
    cells = np.empty((len(several), CELLS, resamples.count), dtype=counts.dtype)
    times = np.empty((len(queries), resamples.count))
    for part, weights in resamples:
        summed = counts @ weights.astype(counts.dtype, copy=False)
        cells[:, :, part] = summed.reshape(len(several), CELLS, weights.shape[1])
        times[:, part] = weights[queries]
    return cells, times


def _count_shared(tables: ConfusionTables) -> "csr_array":
    """Return the number of pairs that each annotator pair shares in each query: sparse, p x n."""
    from scipy.sparse import csr_array

    cells, pairs = tables.counts.shape[0], len(tables.first)
    rows = np.arange(cells + CELLS, step=CELLS)[: pairs + 1]
    return csr_array((np.ones(cells), np.arange(cells), rows), shape=(pairs, cells)) @ tables.counts


def _name_people(tables: ConfusionTables, annotators: int) -> "csr_array":
    """Return a sparse matrix (annotators x p): 1 and -1 for the first and the second annotator of each pair."""
    from scipy.sparse import csr_array

    pairs = np.arange(len(tables.first))
    who = np.concatenate([tables.first, tables.second]), np.tile(pairs, 2)
    return csr_array((np.repeat([1.0, -1.0], len(pairs)), who), shape=(annotators, len(pairs)))


def _fill_single(
    sums: PairSums, drawn: _ResampledPairs, rows_of_pairs: Ints, rows: Ints, times: Floats
) -> None:
    """Fill the rows of annotator pairs that share pairs of one query. `times` it is drawn: rows x resamples."""
    totals = sums.totals[rows_of_pairs[rows]]
    shared = flatten(totals).sum(axis=1)[:, None] * times
    drawn.shared[rows] = shared
    drawn.differences[rows] = (flatten(totals) @ SIGNED.ravel())[:, None] * times
    for name in NAMES:
        kappa = compute_at(totals, name)
        drawn.weighted[name][rows] = np.nan_to_num(kappa)[:, None] * shared
        sums.weights[name] += (~np.isnan(kappa)).astype(np.float64) @ shared


def _fill_several(
    sums: PairSums, drawn: _ResampledPairs, rows_of_pairs: Ints, rows: Ints, cells: Floats
) -> None:
    """Fill the rows of annotator pairs with several queries, and their intervals.

    `cells`: their tables over each resample, rows x 16 x resamples.
    """
    step = max(1, IN_CACHE // cells.shape[2])
    for start in range(0, len(rows), step):
        own, tables = rows[start : start + step], cells[start : start + step]
        pairs = rows_of_pairs[own]
        drawn.shared[own] = shared = np.ones(CELLS) @ tables
        drawn.differences[own] = SIGNED.ravel() @ tables
        for name, kappa in compute_all(tables):
            if name in sums.kappas:
                for pair, ci95 in zip(pairs, intervals(kappa, sums.queries_by_pair[pairs]), strict=True):
                    sums.kappas[name][pair] = ci95
            defined = ~np.isnan(kappa)
            drawn.weighted[name][own] = np.where(defined, kappa * shared, 0.0)
            sums.weights[name] += np.where(defined, shared, 0.0).sum(axis=0)
