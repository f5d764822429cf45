"""Turn judgments into the counts that every coefficient needs, for a dataset or by group.

Arrays only, no database. Everything is counted per query, because the bootstrap resamples queries. Annotators
are numbered in the order of their names. Each shared pair belongs to exactly one group (query or document
field, guideline version, week), so the groups' pairs add up to the dataset's.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotator.domain.grades import GRADES

if TYPE_CHECKING:
    from scipy.sparse import csr_array


Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
CATEGORIES = len(GRADES)
CELLS = CATEGORIES * CATEGORIES
TINY = 1e-12
EXACT_IN_SINGLE = 2**24  # whole numbers up to here are exact in 32 bits, so sums of counts below it are


def divide(numerator: Floats, denominator: Floats) -> Floats:
    """Divide element by element. NaN, which stands for an undefined figure, where the denominator is 0."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    quotients = np.full(numerator.shape, np.nan)
    np.divide(numerator, denominator, out=quotients, where=denominator > TINY)
    return quotients


def flatten(tables: Floats) -> Floats:
    """Return … x k x k tables as … x k*k rows, for matrix products over their cells."""
    size = tables.shape[-1]
    return tables.reshape(*tables.shape[:-2], size * size)


@dataclass(frozen=True, slots=True)
class GradedJudgments:
    """Graded judgments as four columns of equal length, sorted by pair, then annotator.

    One row per annotator and pair. The caller passes only current, independent judgments.
    """

    query: Ints  # a number chosen by the caller
    pair: Ints  # a number chosen by the caller
    annotator: Ints  # a number chosen by the caller
    grade: Ints  # 0 to 3

    def where(self, flags: Flags) -> "GradedJudgments":
        """Return the rows for which `flags` is true."""
        return GradedJudgments(self.query[flags], self.pair[flags], self.annotator[flags], self.grade[flags])

    def are_shared(self) -> Flags:
        """Return, for each row, whether another annotator graded its pair too."""
        shared = np.zeros(len(self.pair), dtype=np.bool_)
        same = self.pair[1:] == self.pair[:-1]
        shared[1:] = same
        shared[:-1] |= same
        return shared

    def shared(self) -> "GradedJudgments":
        """Return the rows of pairs that two or more annotators graded."""
        shared = self.are_shared()
        return self if shared.all() else self.where(shared)


class ConfusionTables(NamedTuple):
    """The grades of every two annotators who share a pair, as p tables counted per query (n)."""

    first: Ints  # annotator of the rows (p); below `second`
    second: Ints  # annotator of the columns (p)
    queries: Ints  # the query of each column of `counts`, sorted (n)
    counts: "csr_array"
    """Sparse, p*16 x n; row 16 * t + 4 * r + c counts pairs of table t with the grades r and c."""


class GradeCounts(NamedTuple):
    """The number of annotators who gave each grade, per pair."""

    query: Ints  # the query of each pair (n)
    counts: Floats  # n x 4


class GradePatterns(NamedTuple):
    """The distinct counts of grades on a pair. A million pairs of three or four judgments have 55 patterns."""

    counts: Floats  # annotators per grade (u x 4)
    queries: Ints  # sorted (n)
    pairs: "csr_array"  # sparse, n x u: how many pairs of each query have each pattern


def sort_judged(query: Ints, pair: Ints, annotator: Ints, grade: Ints) -> GradedJudgments:
    """Return the judgments sorted, from columns in any order."""
    order = order_judged(pair, annotator)
    return GradedJudgments(query[order], pair[order], annotator[order], grade[order])


def order_judged(pair: Ints, annotator: Ints) -> Ints:
    """Return the order of rows that sorts them by pair, then annotator (numbered from 0)."""
    people = int(annotator.max(initial=0)) + 1
    if len(pair) and int(pair.max()) < 2**62 // people:
        return np.argsort(pair * people + annotator, kind="stable")
    return np.lexsort((annotator, pair))


def number(values: Ints) -> tuple[Ints, Ints]:
    """Return the distinct values in order, and the index of each value among them.

    The same as `np.unique`, but without a sort if the values lie close together.
    """
    if not len(values):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    lowest = int(values.min())
    reach = int(values.max()) - lowest + 1
    if reach > 4 * len(values) + 1000:
        different, index = np.unique(values, return_inverse=True)
        return different, index
    there = np.zeros(reach, dtype=np.bool_)
    there[values - lowest] = True
    numbers = np.cumsum(there) - 1
    return np.flatnonzero(there) + lowest, numbers[values - lowest]


def count_tables(judged: GradedJudgments, queries: Ints, only: int | None = None) -> ConfusionTables:
    """Return the tables of every two annotators who share a pair; with `only`, of that annotator.

    `queries` (sorted) are the columns of the counts: every query of `judged`, and possibly others.
    """
    from scipy.sparse import csr_array

    cells = _find_cells(judged, only)
    query = np.searchsorted(queries, judged.query)[cells.left]
    kind = np.float32 if len(query) < EXACT_IN_SINGLE else np.float64
    shape = (len(cells.first) * CELLS, len(queries))
    counts = csr_array((np.ones(len(query), dtype=kind), (cells.cell, query)), shape=shape)
    return ConfusionTables(cells.first, cells.second, queries, counts)


def sum_tables(judged: GradedJudgments) -> Floats:
    """Return the tables of every two annotators who share a pair, summed over all queries: p x 4 x 4.

    Faster than `count_tables`, for the figures that are shown first.
    """
    cells = _find_cells(judged)
    counts = np.bincount(cells.cell, minlength=len(cells.first) * CELLS)
    return counts.reshape(-1, CATEGORIES, CATEGORIES).astype(np.float64)


class _Cells(NamedTuple):
    """The table cells in which every two judgments of a pair are counted."""

    first: Ints  # lower annotator of each table
    second: Ints  # higher annotator of each table
    left: Ints  # row of the first judgment of each comparison
    cell: Ints  # cell of each comparison; CELLS per table, tables one after the other


def _find_cells(judged: GradedJudgments, only: int | None = None) -> _Cells:
    left, right = meet(judged.pair)
    if only is not None:
        own = (judged.annotator[left] == only) | (judged.annotator[right] == only)
        left, right = left[own], right[own]
    first, second = judged.annotator[left], judged.annotator[right]
    people = int(second.max()) + 1 if len(second) else 1
    codes, table = number(first * people + second)
    cell = table * CELLS + judged.grade[left] * CATEGORIES + judged.grade[right]
    return _Cells(codes // people, codes % people, left, cell)


def meet(pair: Ints) -> tuple[Ints, Ints]:
    """Return the rows of every two judgments of the same pair, in order. `pair`: sorted."""
    left: list[Ints] = []
    right: list[Ints] = []
    for lag in range(1, len(pair)):
        rows = np.flatnonzero(pair[lag:] == pair[:-lag])
        if not len(rows):
            break
        left.append(rows)
        right.append(rows + lag)
    if not left:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    return np.concatenate(left), np.concatenate(right)


def count_grades(judged: GradedJudgments) -> GradeCounts:
    """Return how many annotators gave each grade, per pair, in the order of the pairs' numbers."""
    if not len(judged.pair):
        return GradeCounts(judged.query, np.zeros((0, CATEGORIES)))
    begins = np.concatenate([[True], judged.pair[1:] != judged.pair[:-1]])
    pair_number = np.cumsum(begins) - 1
    pairs = int(pair_number[-1]) + 1
    counts = np.bincount(pair_number * CATEGORIES + judged.grade, minlength=pairs * CATEGORIES)
    return GradeCounts(judged.query[begins], counts.reshape(-1, CATEGORIES).astype(np.float64))


def find_patterns(counted: GradeCounts) -> GradePatterns:
    """Return the same counts with each pattern once."""
    from scipy.sparse import csr_array

    counts, pattern = number_rows(counted.counts)
    queries, query = number(counted.query)
    pairs = csr_array((np.ones(len(query)), (query, pattern)), shape=(len(queries), len(counts)))
    return GradePatterns(counts, queries, pairs)


def number_rows(counts: Floats | Ints) -> tuple[Floats, Ints]:
    """Return the distinct rows of whole numbers (n x 4), and the index of each row among them."""
    base = int(counts.max(initial=0)) + 1
    codes, row = number((counts @ base ** np.arange(CATEGORIES)).astype(np.int64))
    patterns = np.stack([codes // base**grade % base for grade in range(CATEGORIES)], axis=1)
    return patterns.astype(np.float64), row


def count_by_annotator(judged: GradedJudgments, annotators: int) -> Ints:
    """Return how often each annotator gave each grade: annotators x 4."""
    cells = np.bincount(judged.annotator * CATEGORIES + judged.grade, minlength=annotators * CATEGORIES)
    return cells.reshape(-1, CATEGORIES)


class GradeRows(NamedTuple):
    """The judgments that count, as columns in no particular order."""

    query: Ints  # primary key, like the next three
    pair: Ints
    annotator: Ints
    rubric: Ints  # 0 for an imported judgment
    grade: Ints
    made_at: Ints  # whole seconds since 1970, UTC; 0 if unknown
    seconds: Floats  # how long the judgment took; NaN if unknown


@dataclass(frozen=True, slots=True)
class NamedJudgments:
    """Judgments with the names of their annotators; the columns have one value per row of `judged`."""

    judged: GradedJudgments  # query and pair: primary keys; annotator: index in `names`
    names: tuple[str, ...]
    people: tuple[int, ...]  # primary keys of the annotators
    simulated: tuple[str, ...]  # names of the annotators who are not people
    made_at: Ints  # seconds since 1970, UTC; 0 if unknown
    seconds: Floats  # how long the judgment took; NaN if unknown
    rubric: Ints  # primary key of the guideline; 0 if unknown


def name_judged(
    read: GradeRows, people: Mapping[int, tuple[str, bool]], pseudonyms: Mapping[int, str] | None = None
) -> NamedJudgments:
    """Return the judgments sorted by pair and name.

    `people`: username and whether simulated, by primary key. `pseudonyms`: used instead of usernames if
    given.
    """
    pks, annotator = number(read.annotator)
    named = [people[pk][0] if pseudonyms is None else pseudonyms[pk] for pk in pks.tolist()]
    name_order = sorted(range(len(named)), key=lambda index: named[index])
    by_name = np.empty(len(named), dtype=np.int64)
    by_name[name_order] = np.arange(len(named))
    who = by_name[annotator]
    order = order_judged(read.pair, who)
    return NamedJudgments(
        GradedJudgments(read.query[order], read.pair[order], who[order], read.grade[order]),
        tuple(named[index] for index in name_order),
        tuple(int(pks[index]) for index in name_order),
        tuple(named[index] for index in name_order if people[int(pks[index])][1]),
        read.made_at[order],
        read.seconds[order],
        read.rubric[order],
    )


DAY = 86_400


@dataclass(frozen=True, slots=True)
class GroupLabels:
    """The groups in the order in which they are shown."""

    values: Sequence[str | None]  # the name of each group
    group: Ints  # index of the group of each row of the judgments; -1: none

    def __iter__(self) -> Iterator[tuple[str | None, Flags]]:
        """Yield each group's name and the rows that belong to it."""
        for index, value in enumerate(self.values):
            yield value, self.group == index


def label_by(keys: Ints, labels: Mapping[int, str | None]) -> GroupLabels:
    """Group rows by the label of their key (a query or a document), in the order of the labels, None last.

    Every label is a group, even without rows.
    """
    values = sorted(set(labels.values()), key=lambda label: (label is None, label or ""))
    group_by_value = {value: index for index, value in enumerate(values)}
    different, position = number(keys)
    of_key = np.array([group_by_value.get(labels.get(key), -1) for key in different.tolist()], dtype=np.int64)
    return GroupLabels(values, of_key[position] if len(position) else position)


def look_up(keys: Ints, values: Mapping[int, int]) -> Ints:
    """Return the value of each key; 0 for keys without one."""
    different, index = number(keys)
    of_keys = np.array([values.get(key, 0) for key in different.tolist()], dtype=np.int64)
    return of_keys[index] if len(index) else index


def label_by_version(judged: GradedJudgments, versions: Ints) -> GroupLabels:
    """Group rows by the guideline versions of their pair: "2", or "1–2" if annotators used different ones.

    `versions`: that of each row. Pairs with an unknown version (0) are in no group.
    """
    pairs, pair_number = number(judged.pair)
    first = np.full(len(pairs), np.iinfo(np.int64).max)
    last = np.zeros(len(pairs), dtype=np.int64)
    np.minimum.at(first, pair_number, versions)
    np.maximum.at(last, pair_number, versions)
    last[first == 0] = 0
    spans, group = np.unique(np.stack([first, last], axis=1), axis=0, return_inverse=True)
    names = [str(low) if low == high else f"{low}–{high}" for low, high in spans.tolist()]
    values = [None if name == "0" else name for name in names]
    if None in values:  # None is the first one here, and is shown last
        values, group = [*values[1:], None], (group - 1) % len(values)
    return GroupLabels(values, group.reshape(-1)[pair_number])


def label_by_week(judged: GradedJudgments, made_at: Ints) -> GroupLabels:
    """Group rows by the ISO week (UTC) in which their pair was judged a second time: "2026-W09".

    `made_at`: the time of each row. Pairs without a known second time (0) are in no group.
    """
    never = np.iinfo(np.int64).max
    times = np.where(made_at > 0, made_at, never)
    order = np.lexsort((times, judged.pair))
    pairs, pair_number = number(judged.pair)
    begins = np.searchsorted(judged.pair[order], pairs)
    ends = np.append(begins[1:], len(order))
    second = np.minimum(begins + 1, ends - 1)
    day = times[order][second] // DAY if len(pairs) else pairs
    days, of_pair = number(day)
    names = [None if day == never // DAY else _name_week(day) for day in days.tolist()]
    values = sorted(set(names), key=lambda name: (name is None, name or ""))
    group = np.array([values.index(name) for name in names], dtype=np.int64)
    return GroupLabels(values, group[of_pair][pair_number] if len(pair_number) else pair_number)


def _name_week(day: int) -> str:
    week = datetime.fromtimestamp(day * DAY, UTC).isocalendar()
    return f"{week.year}-W{week.week:02}"
