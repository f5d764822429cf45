"""Compute Cohen's kappa of every two annotators and of the dataset, and who grades higher, with intervals.

Processes some annotator pairs at a time, so that 200 annotators need no more memory than 20. With many annotators, most
pairs of them share pairs of one query only; every resample then gives the same kappa, so their tables are not summed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from annotator.agreement.coefficients import cohen
from annotator.agreement.coefficients.cohen import NAMES, compute_all, compute_at
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
    """What is known of the tables of p annotator pairs over some resamples.

    `totals`: the tables over all `queries` (p x 4 x 4). `queries_by_pair` (p), `queries_by_annotator` (a): of how many of
    them each shares a pair. `kappas`: each pair's interval by kind. The others add up over the
    pairs, one figure for each resample, which `mean_kappas` and `mean_leanings` divide: by kind or cut, kappa times the
    pairs that share it, and those pairs; by annotator (a x resamples), signed differences and comparisons.
    """

    totals: Floats
    kappas: dict[str, list[Interval | None]]
    weighted: dict[str, Floats]
    weights: dict[str, Floats]
    differences: Floats
    queries: int
    couples: Floats
    queries_by_pair: Ints
    queries_by_annotator: Ints

    def mean_kappa(self, name: str) -> Floats:
        """The dataset's kappa (or that at a cut) of each resample; NaN where it is undefined."""
        return divide(self.weighted[name], self.weights[name])

    def mean_leaning(self) -> Floats:
        """How much higher each annotator grades than the others, of each resample: a x resamples."""
        return divide(self.differences, self.couples)


def sum_pairs(tables: ConfusionTables, resamples: Resamples, *, annotators: int) -> PairSums:
    """Every annotator pair over every resample. `resamples` is over the queries that `tables` counts."""
    pairs, count = len(tables.first), resamples.count
    queries, people = _count_shared(tables), _name_people(tables, annotators)
    found = PairSums(
        np.asarray(tables.counts.sum(axis=1), dtype=np.float64).reshape(pairs, *SHAPE),
        {kind: [None] * pairs for kind in cohen.DISAGREEMENT},
        {name: np.zeros(count) for name in NAMES},
        {name: np.zeros(count) for name in NAMES},
        np.zeros((annotators, count)),
        len(resamples.queries),
        np.zeros((annotators, count)),
        np.diff(queries.indptr).astype(np.int64),
        np.diff((abs(people) @ queries).indptr).astype(np.int64),
    )
    for start in range(0, pairs if count else 0, PAIRS_AT_ONCE):
        some = np.arange(start, min(start + PAIRS_AT_ONCE, pairs))
        size = len(some), count
        drawn = _ResampledPairs(np.empty(size), np.empty(size), {name: np.empty(size) for name in NAMES})
        single = found.queries_by_pair[some] == 1
        cells, times = _draw(tables, resamples, some[~single], queries.indices[queries.indptr[some[single]]])
        _fill_single(found, drawn, some, np.flatnonzero(single), times)
        _fill_several(found, drawn, some, np.flatnonzero(~single), cells)
        for name, weighted in drawn.weighted.items():
            found.weighted[name] += weighted.sum(axis=0)
        found.differences += people[:, some] @ drawn.differences
        found.couples += abs(people[:, some]) @ drawn.shared
    return found


def compute_mean_leanings(
    totals: Floats, first: Sequence[int], second: Sequence[int], annotators: int
) -> tuple[Floats, Floats]:
    """How much higher each annotator grades than the others on the same pairs, and over how many comparisons, from the
    tables (p x 4 x 4)."""
    flat = flatten(totals)
    difference, couples = flat @ SIGNED.ravel(), flat @ np.ones(CELLS)
    differences, counted = np.zeros(annotators), np.zeros(annotators)
    for people, sign in ((first, 1.0), (second, -1.0)):
        np.add.at(differences, people, sign * difference)
        np.add.at(counted, people, couples)
    return divide(differences, counted), counted


class _ResampledPairs(NamedTuple):
    """Some annotator pairs over every resample, p x resamples each: the pairs they share, the first's grades less the second's,
    and by kind or cut kappa times the pairs they share, 0 where it is undefined."""

    shared: Floats
    differences: Floats
    weighted: dict[str, Floats]


def _draw(
    tables: ConfusionTables, resamples: Resamples, several: Ints, queries: Ints
) -> tuple[Floats, Floats]:
    """The tables of the annotator pairs `several` over each resample, pairs x 16 x resamples; and how often each of these
    queries (by place) is drawn, queries x resamples."""
    counts = tables.counts[(several[:, None] * CELLS + np.arange(CELLS)).ravel()]
    cells = np.empty((len(several), CELLS, resamples.count), dtype=counts.dtype)
    times = np.empty((len(queries), resamples.count))
    for part, weights in resamples:
        summed = counts @ weights.astype(counts.dtype, copy=False)
        cells[:, :, part] = summed.reshape(len(several), CELLS, weights.shape[1])
        times[:, part] = weights[queries]
    return cells, times


def _count_shared(tables: ConfusionTables) -> "csr_array":
    """How many pairs of each query each annotator pair shares: sparse, p x n."""
    from scipy.sparse import csr_array

    cells, pairs = tables.counts.shape[0], len(tables.first)
    rows = np.arange(cells + CELLS, step=CELLS)[: pairs + 1]
    return csr_array((np.ones(cells), np.arange(cells), rows), shape=(pairs, cells)) @ tables.counts


def _name_people(tables: ConfusionTables, annotators: int) -> "csr_array":
    """Who the first and the second of each annotator pair is, as 1 and -1: sparse, annotators x p."""
    from scipy.sparse import csr_array

    pairs = np.arange(len(tables.first))
    who = np.concatenate([tables.first, tables.second]), np.tile(pairs, 2)
    return csr_array((np.repeat([1.0, -1.0], len(pairs)), who), shape=(annotators, len(pairs)))


def _fill_single(found: PairSums, drawn: _ResampledPairs, some: Ints, rows: Ints, times: Floats) -> None:
    """Those rows of `some` pairs that share pairs of one query, which is drawn so many `times`: rows x resamples."""
    totals = found.totals[some[rows]]
    shared = flatten(totals).sum(axis=1)[:, None] * times
    drawn.shared[rows] = shared
    drawn.differences[rows] = (flatten(totals) @ SIGNED.ravel())[:, None] * times
    for name in NAMES:
        kappa = compute_at(totals, name)
        drawn.weighted[name][rows] = np.nan_to_num(kappa)[:, None] * shared
        found.weights[name] += (~np.isnan(kappa)).astype(np.float64) @ shared


def _fill_several(found: PairSums, drawn: _ResampledPairs, some: Ints, rows: Ints, cells: Floats) -> None:
    """Those of several queries, from their tables over each resample (rows x 16 x resamples), and their intervals."""
    step = max(1, IN_CACHE // cells.shape[2])
    for start in range(0, len(rows), step):
        own, tables = rows[start : start + step], cells[start : start + step]
        pairs = some[own]
        drawn.shared[own] = shared = np.ones(CELLS) @ tables
        drawn.differences[own] = SIGNED.ravel() @ tables
        for name, kappa in compute_all(tables):
            if name in found.kappas:
                for pair, ci95 in zip(pairs, intervals(kappa, found.queries_by_pair[pairs]), strict=True):
                    found.kappas[name][pair] = ci95
            defined = ~np.isnan(kappa)
            drawn.weighted[name][own] = np.where(defined, kappa * shared, 0.0)
            found.weights[name] += np.where(defined, shared, 0.0).sum(axis=0)
