"""List every comparison (two judgments of the same pair) as columns, for the diagnosis.

The list is made once for all signals: a million judgments give about a million comparisons. Also computes
Kendall's tau-b within queries, whether two annotators order documents alike: Kendall (1945), The treatment of
ties in ranking problems, Biometrika 33(3). It is pooled over queries and annotator pairs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from annotator.agreement.coefficients import DISAGREEMENT, cohen_kappa, mean_kappa
from annotator.agreement.judgment_table import (
    CATEGORIES,
    CELLS,
    Flags,
    Floats,
    GradedJudgments,
    Ints,
    divide,
    flatten,
    meet,
    number,
)

_APART = DISAGREEMENT["unweighted"]
_SIGNED = np.subtract.outer(np.arange(CATEGORIES), np.arange(CATEGORIES)).astype(np.float64).ravel()


@dataclass(frozen=True, slots=True)
class Comparisons:
    """All comparisons as columns: one row for every two judgments of the same pair."""

    left: Ints  # row of the judgment by the annotator with the lower number
    right: Ints  # row of the other judgment
    first: Ints  # annotator of the left judgment
    second: Ints  # annotator of the right judgment
    cell: Ints  # 4 x the first annotator's grade + the second's
    query: Ints  # queries of shared pairs are numbered from 0
    pair_number: Ints  # shared pairs are numbered from 0 in the order of the judgments
    queries: int  # the number of queries

    def take(self, rows: Flags | Ints | slice) -> "Comparisons":
        """Return some of the rows; pairs and queries keep their numbers."""
        return Comparisons(
            self.left[rows],
            self.right[rows],
            self.first[rows],
            self.second[rows],
            self.cell[rows],
            self.query[rows],
            self.pair_number[rows],
            self.queries,
        )

    def leave_out(self, *annotators: int) -> "Comparisons":
        """Return the comparisons that do not involve these annotators."""
        if not annotators:
            return self
        return self.take(~np.isin(self.first, annotators) & ~np.isin(self.second, annotators))

    @property
    def apart(self) -> Floats:
        """Return the first annotator's grade minus the second's."""
        return np.asarray(_SIGNED[self.cell])

    def of(self, annotator: int) -> "Comparisons":
        """Return the comparisons of this annotator's judgments."""
        return self.take(np.flatnonzero((self.first == annotator) | (self.second == annotator)))

    def estimate_mean(self, values: Flags | Floats, weights: Floats | None = None) -> "FigureEstimate":
        """Return the weighted mean of a value of each comparison; `weights` None: all count the same."""
        if weights is not None:
            values = values * weights
        sums = np.bincount(self.query, weights=values, minlength=self.queries)
        counts = np.bincount(self.query, weights=weights, minlength=self.queries)
        return estimate_mean(np.asarray(sums, dtype=np.float64), np.asarray(counts, dtype=np.float64))


def list_comparisons(judged: GradedJudgments) -> Comparisons:
    """Return every comparison of two judgments of the same pair."""
    left, right = meet(judged.pair)
    numbers, query = _number(judged) if len(left) else (left, left)
    pair_number = numbers[left]
    return Comparisons(
        left,
        right,
        judged.annotator[left],
        judged.annotator[right],
        judged.grade[left] * CATEGORIES + judged.grade[right],
        query[pair_number],
        pair_number,
        int(query.max()) + 1 if len(query) else 0,
    )


def _number(judged: GradedJudgments) -> tuple[Ints, Ints]:
    """Return the pair number of each row, valid if the pair is shared, and each shared pair's query."""
    starts = np.zeros(len(judged.pair), dtype=np.bool_)
    same = judged.pair[1:] == judged.pair[:-1]
    starts[:-1] = same
    starts[1:-1] &= ~same[:-1]
    _, query = np.unique(judged.query[starts], return_inverse=True)
    return np.cumsum(starts) - 1, query


@dataclass(frozen=True, slots=True)
class FigureEstimate:
    """A figure, with the influences from which `intervals.cluster_interval` computes its interval."""

    value: float  # NaN if undefined
    comparisons: int
    influence: Floats  # how much the comparisons of each query change the value
    seen: Flags  # for each query, whether it has comparisons


def subtract(first: FigureEstimate, other: FigureEstimate) -> FigureEstimate:
    """Return the difference of two figures over different comparisons, which may be of the same queries."""
    return FigureEstimate(
        first.value - other.value,
        min(first.comparisons, other.comparisons),
        first.influence - other.influence,
        first.seen | other.seen,
    )


def estimate_kappa(comparisons: Comparisons, annotators: int) -> FigureEstimate:
    """Return the dataset's unweighted Cohen's kappa: the weighted mean over annotator pairs."""
    codes, both = number(comparisons.first * annotators + comparisons.second)
    tables = _count_tables(both, comparisons.cell, len(codes))
    value = float(mean_kappa(tables, _APART)) if len(tables) else float("nan")
    derived = np.zeros(len(both))
    if not np.isnan(value):
        derived = _derive_mean(tables, value)[both, comparisons.cell]
    summed = np.bincount(comparisons.query, weights=derived, minlength=comparisons.queries)
    has_comparison = np.bincount(comparisons.query, minlength=comparisons.queries) > 0
    return FigureEstimate(value, len(both), np.asarray(summed, dtype=np.float64), has_comparison)


def estimate_table(cell: Ints, query: Ints, queries: int) -> FigureEstimate:
    """Return the unweighted Cohen's kappa of the single table that these comparisons form.

    `cell`: 4 x row + column of each comparison; `query`: its query.
    """
    ((_, estimate),) = estimate_tables(np.zeros_like(cell), cell, query, queries=queries, tables=1)
    return estimate


def estimate_tables(
    table: Ints, cell: Ints, query: Ints, *, queries: int, tables: int
) -> Iterator[tuple[int, FigureEstimate]]:
    """Yield the number and the unweighted kappa of each table that has comparisons.

    `table`: the table of each comparison. Yields one table at a time: the influences of hundreds of
    annotators would fill the memory.
    """
    counts = _count_tables(table, cell, tables)
    values = cohen_kappa(counts, _APART).tolist()
    derived = _derive_each(counts)
    order = np.argsort(table, kind="stable")
    ends = [0, *np.cumsum(np.bincount(table, minlength=tables)).tolist()]
    for index, (begin, end) in enumerate(pairwise(ends)):
        if end == begin:
            continue
        rows = order[begin:end]
        summed = np.bincount(query[rows], weights=derived[index][cell[rows]], minlength=queries)
        has_comparison = np.bincount(query[rows], minlength=queries) > 0
        yield (
            index,
            FigureEstimate(values[index], len(rows), np.asarray(summed, dtype=np.float64), has_comparison),
        )


def _count_tables(table: Ints, cell: Ints, tables: int) -> Floats:
    counts = np.bincount(table * CELLS + cell, minlength=tables * CELLS)
    return counts.reshape(-1, CATEGORIES, CATEGORIES).astype(np.float64)


def _derive_mean(tables: Floats, value: float) -> Floats:
    """Return the derivative of the mean kappa by each cell: p x 16; 0 in tables without a kappa."""
    change, weight = _derive_kappa(tables, np.array([[value]]))
    return np.asarray(change / weight.sum())


def _derive_each(tables: Floats) -> Floats:
    """Return the derivative of each table's kappa by its cells: p x 16; 0 in tables without a kappa."""
    change, weight = _derive_kappa(tables, cohen_kappa(tables, _APART)[:, None])
    return np.asarray(change / np.where(weight > 0, weight, 1.0))


def _derive_kappa(tables: Floats, value: Floats) -> tuple[Floats, Floats]:
    """Return the derivative of the weighted sum of kappas by each cell (p x 16), and weights (p x 1).

    `value` is subtracted from the kappa of each comparison. The weight of a table without a kappa is 0.
    """
    kappa = cohen_kappa(tables, _APART)[:, None]
    shared = tables.sum(axis=(1, 2))[:, None]
    apart = flatten(tables) @ _APART.ravel()
    rows, columns = tables.sum(axis=2) @ _APART, tables.sum(axis=1) @ _APART
    chance = (rows * tables.sum(axis=1)).sum(axis=1)[:, None]
    change = flatten(columns[:, :, None] + rows[:, None, :])  # of `chance`, by one more comparison in a cell
    own = -divide(apart[:, None] + shared * _APART.ravel(), chance)
    own += np.where(chance > 0, shared * apart[:, None] * divide(change, chance**2), np.nan)
    weight = np.where(np.isnan(kappa), 0.0, shared)
    return np.nan_to_num(weight * own + kappa - value) * (weight > 0), weight


def tally(comparisons: Comparisons, annotators: int, first: Floats | None, second: Floats | None) -> Floats:
    """Return sums by annotator and query: a x q.

    `first` and `second`: the values that each comparison adds to its two annotators. None counts comparisons.
    """
    shape = (annotators, comparisons.queries)
    sides = ((comparisons.first, first), (comparisons.second, second))
    sums = [
        np.bincount(
            who * comparisons.queries + comparisons.query, weights=weights, minlength=shape[0] * shape[1]
        )
        for who, weights in sides
    ]
    return np.asarray((sums[0] + sums[1]).reshape(shape), dtype=np.float64)


def estimate_mean(sums: Floats, counts: Floats) -> FigureEstimate:
    """Return the mean of values that are summed by query. `counts`: the number of values in each sum."""
    total = float(counts.sum())
    mean = float(sums.sum()) / total if total else float("nan")
    influence = (sums - mean * counts) / total if total else np.zeros(len(counts))
    return FigureEstimate(mean, int(total), influence, counts > 0)


def estimate_leanings(comparisons: Comparisons, annotators: int) -> list[FigureEstimate]:
    """Return how much higher each annotator grades than the others on the same pairs."""
    apart = comparisons.apart
    sums = tally(comparisons, annotators, apart, -apart)
    counts = tally(comparisons, annotators, None, None)
    return [estimate_mean(*own) for own in zip(sums, counts, strict=True)]


def estimate_leaning(comparisons: Comparisons, who: int) -> FigureEstimate:
    """Return how much higher one annotator grades than the others; faster than `estimate_leanings`."""
    own = comparisons.of(who)
    return own.estimate_mean(np.where(own.first == who, own.apart, -own.apart))


FEW_ORDERED = 30
GROUPS_AT_ONCE = 100_000
_FIRST, _SECOND = np.divmod(np.arange(CELLS), CATEGORIES)
_BY_FIRST = np.sign(np.subtract.outer(_FIRST, _FIRST)).astype(np.float64)
_BY_SECOND = np.sign(np.subtract.outer(_SECOND, _SECOND)).astype(np.float64)
_SAME_ORDER = _BY_FIRST * _BY_SECOND


def measure_order(comparisons: Comparisons, annotators: int) -> float | None:
    """Return tau-b; None if an annotator has fewer than FEW_ORDERED untied comparisons of documents."""
    both = (comparisons.first * annotators + comparisons.second) * max(
        1, comparisons.queries
    ) + comparisons.query
    groups, group = number(both)
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group, minlength=len(groups)))
    agreeing = untied_first = untied_second = 0.0
    for start in range(0, len(groups), GROUPS_AT_ONCE):
        stop = min(start + GROUPS_AT_ONCE, len(groups))
        rows = order[ends[start - 1] if start else 0 : ends[stop - 1]]
        cells = (group[rows] - start) * CELLS + comparisons.cell[rows]
        counts = np.bincount(cells, minlength=(stop - start) * CELLS).reshape(-1, CELLS).astype(np.float64)
        agreeing += float(((counts @ _SAME_ORDER) * counts).sum()) / 2
        untied_first += float(((counts @ np.abs(_BY_FIRST)) * counts).sum()) / 2
        untied_second += float(((counts @ np.abs(_BY_SECOND)) * counts).sum()) / 2
    if min(untied_first, untied_second) < FEW_ORDERED:
        return None
    return agreeing / float(np.sqrt(untied_first * untied_second))
