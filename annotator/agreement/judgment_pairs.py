"""List every two judgments of the same pair, as columns, for the signals about time, speed and grades.

Made once for all signals: a million judgments give about a million such couples.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from annotator.agreement.coefficients.cohen import DISAGREEMENT, cohen_kappa, mean_kappa
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
class JudgmentPairs:
    """One row for every two judgments of a pair. `left`, `right`: their rows in the judgments, the lower annotator's
    first; `first`, `second` are the annotators, `cell` is 4 x the first's grade + the second's. `place` numbers the
    shared pairs from 0 in the order of the judgments, `query` their queries from 0; there are `queries` in all."""

    left: Ints
    right: Ints
    first: Ints
    second: Ints
    cell: Ints
    query: Ints
    place: Ints
    queries: int

    def take(self, rows: Flags | Ints | slice) -> "JudgmentPairs":
        """Some of the rows; pairs and queries keep their numbers."""
        return JudgmentPairs(
            self.left[rows],
            self.right[rows],
            self.first[rows],
            self.second[rows],
            self.cell[rows],
            self.query[rows],
            self.place[rows],
            self.queries,
        )

    def leave_out(self, *annotators: int) -> "JudgmentPairs":
        """Those of the others."""
        if not annotators:
            return self
        return self.take(~np.isin(self.first, annotators) & ~np.isin(self.second, annotators))

    @property
    def apart(self) -> Floats:
        """The first's grade less the second's."""
        return np.asarray(_SIGNED[self.cell])


def list_couples(judged: GradedJudgments) -> JudgmentPairs:
    """Every two judgments of the same pair."""
    left, right = meet(judged.pair)
    numbers, query = _number(judged) if len(left) else (left, left)
    place = numbers[left]
    return JudgmentPairs(
        left,
        right,
        judged.annotator[left],
        judged.annotator[right],
        judged.grade[left] * CATEGORIES + judged.grade[right],
        query[place],
        place,
        int(query.max()) + 1 if len(query) else 0,
    )


def _number(judged: GradedJudgments) -> tuple[Ints, Ints]:
    """The number of each row's shared pair (meaningless where it is not shared), and each shared pair's query."""
    starts = np.zeros(len(judged.pair), dtype=np.bool_)
    same = judged.pair[1:] == judged.pair[:-1]
    starts[:-1] = same
    starts[1:-1] &= ~same[:-1]
    _, query = np.unique(judged.query[starts], return_inverse=True)
    return np.cumsum(starts) - 1, query


@dataclass(frozen=True, slots=True)
class FigureEstimate:
    """A figure (NaN: undefined) over `couples` couples; `influence`: how much the couples of each query change it;
    `seen`: the queries that have any."""

    value: float
    couples: int
    influence: Floats
    seen: Flags


def subtract(one: FigureEstimate, other: FigureEstimate) -> FigureEstimate:
    """The difference of two figures over different couples, maybe of the same queries."""
    return FigureEstimate(
        one.value - other.value,
        min(one.couples, other.couples),
        one.influence - other.influence,
        one.seen | other.seen,
    )


def estimate_kappa(couples: JudgmentPairs, annotators: int) -> FigureEstimate:
    """Cohen's kappa as of a dataset (the mean over annotator pairs, weighted by what they share), unweighted."""
    codes, both = number(couples.first * annotators + couples.second)
    tables = _count_tables(both, couples.cell, len(codes))
    value = float(mean_kappa(tables, _APART)) if len(tables) else float("nan")
    derived = np.zeros(len(both))
    if not np.isnan(value):
        derived = _derive_mean(tables, value)[both, couples.cell]
    summed = np.bincount(couples.query, weights=derived, minlength=couples.queries)
    seen = np.bincount(couples.query, minlength=couples.queries) > 0
    return FigureEstimate(value, len(both), np.asarray(summed, dtype=np.float64), seen)


def estimate_table(cell: Ints, query: Ints, queries: int) -> FigureEstimate:
    """Cohen's kappa, unweighted, of the one table that these couples make: `cell` (4 x the row + the column) and `query` of
    each."""
    ((_, found),) = estimate_tables(np.zeros_like(cell), cell, query, queries=queries, tables=1)
    return found


def estimate_tables(
    table: Ints, cell: Ints, query: Ints, *, queries: int, tables: int
) -> Iterator[tuple[int, FigureEstimate]]:
    """The same of each table that has couples, by number, `table` being that of each couple: one at a time, since the influences
    of a crowd fill the memory."""
    counts = _count_tables(table, cell, tables)
    values = cohen_kappa(counts, _APART).tolist()
    derived = _derive_each(counts)
    order = np.argsort(table, kind="stable")
    ends = [0, *np.cumsum(np.bincount(table, minlength=tables)).tolist()]
    for place, (begin, end) in enumerate(pairwise(ends)):
        if end == begin:
            continue
        rows = order[begin:end]
        summed = np.bincount(query[rows], weights=derived[place][cell[rows]], minlength=queries)
        seen = np.bincount(query[rows], minlength=queries) > 0
        yield place, FigureEstimate(values[place], len(rows), np.asarray(summed, dtype=np.float64), seen)


def _count_tables(table: Ints, cell: Ints, tables: int) -> Floats:
    counts = np.bincount(table * CELLS + cell, minlength=tables * CELLS)
    return counts.reshape(-1, CATEGORIES, CATEGORIES).astype(np.float64)


def _derive_mean(tables: Floats, value: float) -> Floats:
    """The derivative of the mean kappa by each cell of each table: p x 16; zeros where a table has no kappa."""
    change, weight = _derive_kappa(tables, np.array([[value]]))
    return np.asarray(change / weight.sum())


def _derive_each(tables: Floats) -> Floats:
    """The derivative of each table's own kappa by each of its cells: p x 16; zeros where it has none."""
    change, weight = _derive_kappa(tables, cohen_kappa(tables, _APART)[:, None])
    return np.asarray(change / np.where(weight > 0, weight, 1.0))


def _derive_kappa(tables: Floats, value: Floats) -> tuple[Floats, Floats]:
    """The derivative of the sum of weighted kappas, less `value` for each couple, by each cell: p x 16; and the weights, p x 1,
    0 where a table has no kappa."""
    kappa = cohen_kappa(tables, _APART)[:, None]
    shared = tables.sum(axis=(1, 2))[:, None]
    apart = flatten(tables) @ _APART.ravel()
    rows, columns = tables.sum(axis=2) @ _APART, tables.sum(axis=1) @ _APART
    chance = (rows * tables.sum(axis=1)).sum(axis=1)[:, None]
    change = flatten(columns[:, :, None] + rows[:, None, :])  # of `chance`, by one more couple in a cell
    own = -divide(apart[:, None] + shared * _APART.ravel(), chance)
    own += np.where(chance > 0, shared * apart[:, None] * divide(change, chance**2), np.nan)
    weight = np.where(np.isnan(kappa), 0.0, shared)
    return np.nan_to_num(weight * own + kappa - value) * (weight > 0), weight


def tally(couples: JudgmentPairs, annotators: int, first: Floats | None, second: Floats | None) -> Floats:
    """Summed by annotator and query (a x q): of each couple `first` for its first annotator, `second` for its second;
    None counts couples."""
    shape = (annotators, couples.queries)
    sides = ((couples.first, first), (couples.second, second))
    sums = [
        np.bincount(who * couples.queries + couples.query, weights=weights, minlength=shape[0] * shape[1])
        for who, weights in sides
    ]
    return np.asarray((sums[0] + sums[1]).reshape(shape), dtype=np.float64)


def estimate_mean(sums: Floats, counts: Floats) -> FigureEstimate:
    """The mean of something summed by query, with how many there were."""
    total = float(counts.sum())
    mean = float(sums.sum()) / total if total else float("nan")
    influence = (sums - mean * counts) / total if total else np.zeros(len(counts))
    return FigureEstimate(mean, int(total), influence, counts > 0)


def estimate_leanings(couples: JudgmentPairs, annotators: int) -> list[FigureEstimate]:
    """How much higher each annotator grades than the others on the same pairs."""
    apart = couples.apart
    sums = tally(couples, annotators, apart, -apart)
    counts = tally(couples, annotators, None, None)
    return [estimate_mean(*own) for own in zip(sums, counts, strict=True)]


def estimate_leaning(couples: JudgmentPairs, who: int) -> FigureEstimate:
    """The same of one annotator: in a crowd the others' would take long."""
    own = np.flatnonzero((couples.first == who) | (couples.second == who))
    query, apart = couples.query[own], _SIGNED[couples.cell[own]]
    sums = np.bincount(
        query, weights=np.where(couples.first[own] == who, apart, -apart), minlength=couples.queries
    )
    counts = np.bincount(query, minlength=couples.queries).astype(np.float64)
    return estimate_mean(np.asarray(sums, dtype=np.float64), counts)
