"""From judgments to the counts that every coefficient needs. Pure arrays in, pure arrays out.

Stands between the service, which reads the judgments, and the coefficients, which never see a single one.
Everything is counted per query, because the query is what the bootstrap resamples.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotator.domain.grades import GRADES

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
CATEGORIES = len(GRADES)
CELLS = CATEGORIES * CATEGORIES
TINY = 1e-12


def divide(numerator: Floats, denominator: Floats) -> Floats:
    """Elementwise; NaN, this package's mark of an undefined figure, where the denominator is not above 0."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    found = np.full(numerator.shape, np.nan)
    np.divide(numerator, denominator, out=found, where=denominator > TINY)
    return found


def flatten(tables: Floats) -> Floats:
    """… x k x k tables as … x k*k rows, for matrix products over their cells."""
    size = tables.shape[-1]
    return tables.reshape(*tables.shape[:-2], size * size)


@dataclass(frozen=True, slots=True)
class Judged:
    """Graded judgments as four columns of equal length, sorted by pair, then annotator.

    `query`, `pair` and `annotator` are numbers that mean something only to the caller; `grade` is 0-3.
    One row per annotator and pair: the caller has left out what is not current and independent.
    """

    query: Ints
    pair: Ints
    annotator: Ints
    grade: Ints

    def where(self, flags: Flags) -> "Judged":
        """The rows for which `flags` holds."""
        return Judged(self.query[flags], self.pair[flags], self.annotator[flags], self.grade[flags])

    def shared(self) -> "Judged":
        """The rows of pairs that two or more annotators graded; a pair with one judgment does not count."""
        met = np.zeros(len(self.pair), dtype=np.bool_)
        same = self.pair[1:] == self.pair[:-1]
        met[1:] = same
        met[:-1] |= same
        return self.where(met)


class Confusion(NamedTuple):
    """How two annotators graded the pairs both judged: `counts[i]` is the 4x4 table, flat, of `queries[i]`.

    Rows are the grades of `first`, columns those of `second`; `first` < `second`.
    """

    first: int
    second: int
    queries: Ints
    counts: Floats


class GradeCounts(NamedTuple):
    """Per pair: the query it belongs to (n), and how many annotators gave each grade (n x 4)."""

    query: Ints
    counts: Floats


def sort_judged(query: Ints, pair: Ints, annotator: Ints, grade: Ints) -> Judged:
    """Judged, from columns in any order."""
    order = np.lexsort((annotator, pair))
    return Judged(query[order], pair[order], annotator[order], grade[order])


def list_confusions(judged: Judged, only: int | None = None) -> Iterator[Confusion]:
    """The table of every two annotators who share a pair, in order; with `only`, of that annotator's."""
    left, right = _share(judged)
    if only is not None:
        own = (judged.annotator[left] == only) | (judged.annotator[right] == only)
        left, right = left[own], right[own]
    first, second = judged.annotator[left], judged.annotator[right]
    cell = judged.grade[left] * CATEGORIES + judged.grade[right]
    query = judged.query[left]
    order = np.lexsort((second, first))
    first, second, cell, query = first[order], second[order], cell[order], query[order]
    changes = np.flatnonzero((np.diff(first) != 0) | (np.diff(second) != 0)) + 1
    for rows in np.split(np.arange(len(first)), changes) if len(first) else ():
        queries, place = np.unique(query[rows], return_inverse=True)
        counts = np.bincount(place * CELLS + cell[rows], minlength=len(queries) * CELLS)
        yield Confusion(
            int(first[rows[0]]), int(second[rows[0]]), queries, counts.reshape(-1, CELLS).astype(np.float64)
        )


def _share(judged: Judged) -> tuple[Ints, Ints]:
    """Row numbers of every two judgments of the same pair; the first is the lower annotator's."""
    left: list[Ints] = []
    right: list[Ints] = []
    for lag in range(1, len(judged.pair)):
        rows = np.flatnonzero(judged.pair[lag:] == judged.pair[:-lag])
        if not len(rows):
            break
        left.append(rows)
        right.append(rows + lag)
    if not left:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    return np.concatenate(left), np.concatenate(right)


def count_grades(judged: Judged) -> GradeCounts:
    """How many annotators gave each grade, per pair, in the order of the pairs' numbers."""
    _, start, place = np.unique(judged.pair, return_index=True, return_inverse=True)
    counts = np.bincount(place * CATEGORIES + judged.grade, minlength=len(start) * CATEGORIES)
    return GradeCounts(judged.query[start], counts.reshape(-1, CATEGORIES).astype(np.float64))
