"""Compute Cohen's kappa of every two annotators and of the dataset, and leanings, with intervals.

Processes some annotator pairs at a time, so that 200 annotators need no more memory than 20. With many
annotators, most annotator pairs share pairs of one query only. Every resample then gives the same kappa, so
their tables are not summed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from annotator.agreement.coefficients import DISAGREEMENT, NAMES, compute_all, compute_at
from annotator.agreement.intervals import Resamples, intervals
from annotator.agreement.judgment_table import (
    CATEGORIES,
    CELLS,
    ConfusionTables,
    Floats,
    Ints,
    divide,
    flatten,
)
from annotator.agreement.records import Interval

if TYPE_CHECKING:
    from scipy.sparse import csr_array

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
    queries_by_pair: Ints  # queries of which each annotator pair shares a pair (p)
    queries_by_annotator: Ints  # queries of which each annotator shares a pair (a)

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
        cells, times = _draw(
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


def _draw(
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
