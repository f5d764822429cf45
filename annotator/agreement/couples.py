"""Every two judgments of the same pair, as columns: what signals about time, speed and grades are drawn from.

Made once for all of them: a million judgments make about as many couples.
"""

from dataclasses import dataclass

import numpy as np

from annotator.agreement.cohen import DISAGREEMENT, cohen_kappa, mean_kappa
from annotator.agreement.judged import CATEGORIES, CELLS, Flags, Floats, Ints, Judged, divide, flatten, meet

_APART = DISAGREEMENT["unweighted"]
_SIGNED = np.subtract.outer(np.arange(CATEGORIES), np.arange(CATEGORIES)).astype(np.float64).ravel()


@dataclass(frozen=True, slots=True)
class Couples:
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

    def take(self, rows: Flags | Ints | slice) -> "Couples":
        """Some of the rows; pairs and queries keep their numbers."""
        return Couples(
            self.left[rows], self.right[rows], self.first[rows], self.second[rows], self.cell[rows],
            self.query[rows], self.place[rows], self.queries,
        )  # fmt: skip

    def leave_out(self, annotator: int) -> "Couples":
        """Those of the others."""
        return self.take((self.first != annotator) & (self.second != annotator))

    @property
    def apart(self) -> Floats:
        """The first's grade less the second's."""
        return np.asarray(_SIGNED[self.cell])


def list_couples(judged: Judged) -> Couples:
    """Every two judgments of the same pair."""
    left, right = meet(judged.pair)
    number, query = _number(judged) if len(left) else (left, left)
    place = number[left]
    return Couples(
        left, right, judged.annotator[left], judged.annotator[right],
        judged.grade[left] * CATEGORIES + judged.grade[right], query[place], place,
        int(query.max()) + 1 if len(query) else 0,
    )  # fmt: skip


def _number(judged: Judged) -> tuple[Ints, Ints]:
    """The number of each row's shared pair (meaningless where it is not shared), and each shared pair's query."""
    starts = np.zeros(len(judged.pair), dtype=np.bool_)
    same = judged.pair[1:] == judged.pair[:-1]
    starts[:-1] = same
    starts[1:-1] &= ~same[:-1]
    _, query = np.unique(judged.query[starts], return_inverse=True)
    return np.cumsum(starts) - 1, query


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure (NaN: undefined) over `couples` couples; `influence`: how much the couples of each query change it;
    `seen`: the queries that have any."""

    value: float
    couples: int
    influence: Floats
    seen: Flags


def subtract(one: Estimate, other: Estimate) -> Estimate:
    """The difference of two figures over different couples, maybe of the same queries."""
    return Estimate(
        one.value - other.value, min(one.couples, other.couples), one.influence - other.influence,
        one.seen | other.seen,
    )  # fmt: skip


def estimate_kappa(couples: Couples, annotators: int) -> Estimate:
    """Cohen's kappa as of a dataset (the mean over annotator pairs, weighted by what they share), unweighted."""
    both = couples.first * annotators + couples.second
    counts = np.bincount(both * CELLS + couples.cell, minlength=annotators**2 * CELLS).reshape(-1, CELLS)
    present = counts.any(axis=1)
    tables = counts[present].reshape(-1, CATEGORIES, CATEGORIES).astype(np.float64)
    value = float(mean_kappa(tables, _APART)) if len(tables) else float("nan")
    derived = np.zeros(len(both))
    if not np.isnan(value):
        derived = _derive_kappa(tables, value)[(np.cumsum(present) - 1)[both], couples.cell]
    summed = np.bincount(couples.query, weights=derived, minlength=couples.queries)
    seen = np.bincount(couples.query, minlength=couples.queries) > 0
    return Estimate(value, len(both), np.asarray(summed, dtype=np.float64), seen)


def estimate_table(cell: Ints, query: Ints, queries: int) -> Estimate:
    """Cohen's kappa, unweighted, of the one table that these couples make: `cell` (4 x the row + the column) and `query` of
    each."""
    table = np.bincount(cell, minlength=CELLS).reshape(1, CATEGORIES, CATEGORIES).astype(np.float64)
    value = float(cohen_kappa(table, _APART)[0])
    derived = np.zeros(CELLS) if np.isnan(value) else _derive_kappa(table, value)[0]
    summed = np.bincount(query, weights=derived[cell], minlength=queries)
    seen = np.bincount(query, minlength=queries) > 0
    return Estimate(value, len(cell), np.asarray(summed, dtype=np.float64), seen)


def _derive_kappa(tables: Floats, value: float) -> Floats:
    """The derivative of the mean kappa by each cell of each table: p x 16; zeros where a table has no kappa."""
    kappa = cohen_kappa(tables, _APART)[:, None]
    shared = tables.sum(axis=(1, 2))[:, None]
    apart = flatten(tables) @ _APART.ravel()
    rows, columns = tables.sum(axis=2) @ _APART, tables.sum(axis=1) @ _APART
    chance = (rows * tables.sum(axis=1)).sum(axis=1)[:, None]
    change = flatten(columns[:, :, None] + rows[:, None, :])  # of `chance`, by one more couple in a cell
    own = -divide(apart[:, None] + shared * _APART.ravel(), chance)
    own += np.where(chance > 0, shared * apart[:, None] * divide(change, chance**2), np.nan)
    weight = np.where(np.isnan(kappa), 0.0, shared)
    return np.asarray(np.nan_to_num(weight * own + kappa - value) * (weight > 0) / weight.sum())


def tally(couples: Couples, annotators: int, first: Floats | None, second: Floats | None) -> Floats:
    """Summed by annotator and query (a x q): of each couple `first` for its first annotator, `second` for its second;
    None counts couples."""
    shape = (annotators, couples.queries)
    sides = ((couples.first, first), (couples.second, second))
    sums = [
        np.bincount(who * couples.queries + couples.query, weights=weights, minlength=shape[0] * shape[1])
        for who, weights in sides
    ]
    return np.asarray((sums[0] + sums[1]).reshape(shape), dtype=np.float64)


def estimate_mean(sums: Floats, counts: Floats) -> Estimate:
    """The mean of something summed by query, with how many there were."""
    total = float(counts.sum())
    mean = float(sums.sum()) / total if total else float("nan")
    influence = (sums - mean * counts) / total if total else np.zeros(len(counts))
    return Estimate(mean, int(total), influence, counts > 0)


def estimate_leanings(couples: Couples, annotators: int) -> list[Estimate]:
    """How much higher each annotator grades than the others on the same pairs."""
    apart = couples.apart
    sums = tally(couples, annotators, apart, -apart)
    counts = tally(couples, annotators, None, None)
    return [estimate_mean(*own) for own in zip(sums, counts, strict=True)]
