"""Turn judgments into the counts that every coefficient needs, for a dataset or by group.

Pure arrays. Everything is counted per query, because the bootstrap resamples queries. Annotators are numbered in the
order of their names. Each shared pair belongs to exactly one group (query or document field, guideline version, week),
so that the groups' pairs add up to the dataset's.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol

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
class GradedJudgments:
    """Graded judgments as four columns of equal length, sorted by pair, then annotator.

    `query`, `pair` and `annotator` are numbers that mean something only to the caller; `grade` is 0-3.
    One row per annotator and pair: the caller has left out what is not current and independent.
    """

    query: Ints
    pair: Ints
    annotator: Ints
    grade: Ints

    def where(self, flags: Flags) -> "GradedJudgments":
        """The rows for which `flags` holds."""
        return GradedJudgments(self.query[flags], self.pair[flags], self.annotator[flags], self.grade[flags])

    def are_shared(self) -> Flags:
        """Of each row whether another annotator graded its pair too."""
        met = np.zeros(len(self.pair), dtype=np.bool_)
        same = self.pair[1:] == self.pair[:-1]
        met[1:] = same
        met[:-1] |= same
        return met

    def shared(self) -> "GradedJudgments":
        """The rows of pairs that two or more annotators graded; a pair with one judgment does not count."""
        met = self.are_shared()
        return self if met.all() else self.where(met)


class ConfusionTables(NamedTuple):
    """How every two annotators who share a pair graded. `first` < `second` (p each) are the annotators; `counts` is sparse,
    p*16 rows by n `queries`: row 16 * t + 4 * r + c counts, per query, the pairs of table t that the first annotator
    gave r and the second c."""

    first: Ints
    second: Ints
    queries: Ints
    counts: "csr_array"


class GradeCounts(NamedTuple):
    """Per pair: the query it belongs to (n), and how many annotators gave each grade (n x 4)."""

    query: Ints
    counts: Floats


class GradePatterns(NamedTuple):
    """The different counts of grades that pairs have (u x 4), and how many pairs of each query have which: `pairs` is
    sparse, n `queries` by u. A million pairs of three or four judgments have 55 patterns."""

    counts: Floats
    queries: Ints
    pairs: "csr_array"


def sort_judged(query: Ints, pair: Ints, annotator: Ints, grade: Ints) -> GradedJudgments:
    """Judged, from columns in any order."""
    order = order_judged(pair, annotator)
    return GradedJudgments(query[order], pair[order], annotator[order], grade[order])


def order_judged(pair: Ints, annotator: Ints) -> Ints:
    """The order of the rows that sorts them by pair, then annotator (numbered from 0)."""
    people = int(annotator.max(initial=0)) + 1
    if len(pair) and int(pair.max()) < 2**62 // people:
        return np.argsort(pair * people + annotator, kind="stable")
    return np.lexsort((annotator, pair))


def number(values: Ints) -> tuple[Ints, Ints]:
    """The different values in order, and of each value its place among them: `np.unique`, without a sort where the values
    lie close together."""
    if not len(values):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    lowest = int(values.min())
    reach = int(values.max()) - lowest + 1
    if reach > 4 * len(values) + 1000:
        found, place = np.unique(values, return_inverse=True)
        return found, place
    there = np.zeros(reach, dtype=np.bool_)
    there[values - lowest] = True
    places = np.cumsum(there) - 1
    return np.flatnonzero(there) + lowest, places[values - lowest]


def count_tables(judged: GradedJudgments, queries: Ints, only: int | None = None) -> ConfusionTables:
    """The tables of every two annotators who share a pair, in order; with `only`, of that annotator's.

    `queries` (sorted) holds every query of `judged`, and perhaps others: the columns of the counts.
    """
    from scipy.sparse import csr_array

    found = _find_cells(judged, only)
    query = np.searchsorted(queries, judged.query)[found.left]
    kind = np.float32 if len(query) < EXACT_IN_SINGLE else np.float64
    shape = (len(found.first) * CELLS, len(queries))
    counts = csr_array((np.ones(len(query), dtype=kind), (found.cell, query)), shape=shape)
    return ConfusionTables(found.first, found.second, queries, counts)


def sum_tables(judged: GradedJudgments) -> Floats:
    """The same tables of all queries together: p x 4 x 4. In a moment, for what is shown first."""
    found = _find_cells(judged)
    counts = np.bincount(found.cell, minlength=len(found.first) * CELLS)
    return counts.reshape(-1, CATEGORIES, CATEGORIES).astype(np.float64)


class _Cells(NamedTuple):
    """Where every two judgments of a pair are counted. `first` < `second`: annotators, one of each table; `left` (a row of
    the judgments) and `cell` (CELLS of them a table, one table behind the other): one of each two judgments."""

    first: Ints
    second: Ints
    left: Ints
    cell: Ints


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
    """Row numbers of every two judgments of the same pair, `pair` being sorted; the first is the lower annotator's."""
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
    """How many annotators gave each grade, per pair, in the order of the pairs' numbers."""
    if not len(judged.pair):
        return GradeCounts(judged.query, np.zeros((0, CATEGORIES)))
    begins = np.concatenate([[True], judged.pair[1:] != judged.pair[:-1]])
    place = np.cumsum(begins) - 1
    pairs = int(place[-1]) + 1
    counts = np.bincount(place * CATEGORIES + judged.grade, minlength=pairs * CATEGORIES)
    return GradeCounts(judged.query[begins], counts.reshape(-1, CATEGORIES).astype(np.float64))


def find_patterns(counted: GradeCounts) -> GradePatterns:
    """The same counts, each pattern once."""
    from scipy.sparse import csr_array

    counts, pattern = number_rows(counted.counts)
    queries, query = number(counted.query)
    pairs = csr_array((np.ones(len(query)), (query, pattern)), shape=(len(queries), len(counts)))
    return GradePatterns(counts, queries, pairs)


def number_rows(counts: Floats | Ints) -> tuple[Floats, Ints]:
    """The different rows of whole numbers (n x 4), and which of them each row is."""
    base = int(counts.max(initial=0)) + 1
    codes, row = number((counts @ base ** np.arange(CATEGORIES)).astype(np.int64))
    found = np.stack([codes // base**grade % base for grade in range(CATEGORIES)], axis=1)
    return found.astype(np.float64), row


def count_by_annotator(judged: GradedJudgments, annotators: int) -> Ints:
    """How often each annotator gave each grade: annotators x 4."""
    cells = np.bincount(judged.annotator * CATEGORIES + judged.grade, minlength=annotators * CATEGORIES)
    return cells.reshape(-1, CATEGORIES)


class JudgmentColumns(Protocol):
    """The judgments as they were read, in no particular order; query, pair, annotator and rubric are primary keys."""

    @property
    def query(self) -> Ints: ...
    @property
    def pair(self) -> Ints: ...
    @property
    def annotator(self) -> Ints: ...
    @property
    def rubric(self) -> Ints: ...
    @property
    def grade(self) -> Ints: ...
    @property
    def made_at(self) -> Ints: ...
    @property
    def seconds(self) -> Floats: ...


@dataclass(frozen=True, slots=True)
class NamedJudgments:
    """`judged`: the judgments (query and pair: primary keys; annotator: place in `names`). `people`: the annotators' primary
    keys; `simulated`: the names of those who are nobody. One row for every row of `judged`: `made_at`, seconds since 1970;
    `seconds`, how long it took, NaN where nobody knows; `rubric`, the guideline's primary key."""

    judged: GradedJudgments
    names: tuple[str, ...]
    people: tuple[int, ...]
    simulated: tuple[str, ...]
    made_at: Ints
    seconds: Floats
    rubric: Ints


def name_judged(
    read: JudgmentColumns, people: Mapping[int, tuple[str, bool]], pseudonyms: Mapping[int, str] | None = None
) -> NamedJudgments:
    """The judgments sorted by pair and name. `people`: username and whether simulated, by primary key; `pseudonyms` stand
    for the usernames."""
    pks, annotator = number(read.annotator)
    named = [people[pk][0] if pseudonyms is None else pseudonyms[pk] for pk in pks.tolist()]
    places = sorted(range(len(named)), key=lambda place: named[place])
    by_name = np.empty(len(named), dtype=np.int64)
    by_name[places] = np.arange(len(named))
    who = by_name[annotator]
    order = order_judged(read.pair, who)
    return NamedJudgments(
        GradedJudgments(read.query[order], read.pair[order], who[order], read.grade[order]),
        tuple(named[place] for place in places),
        tuple(int(pks[place]) for place in places),
        tuple(named[place] for place in places if people[int(pks[place])][1]),
        read.made_at[order],
        read.seconds[order],
        read.rubric[order],
    )


DAY = 86_400


@dataclass(frozen=True, slots=True)
class GroupLabels:
    """The groups' names in the order in which they are shown, and the group of each row of the judgments (-1: none)."""

    values: Sequence[str | None]
    group: Ints

    def __iter__(self) -> Iterator[tuple[str | None, Flags]]:
        """Each group's name, and the rows that belong to it."""
        for place, value in enumerate(self.values):
            yield value, self.group == place


def label_by(keys: Ints, labels: Mapping[int, str | None]) -> GroupLabels:
    """By the label of each row's key (its query, its document): in the order of the text, rows without one last. Every label
    is a group, also those that no row has."""
    values = sorted(set(labels.values()), key=lambda label: (label is None, label or ""))
    places = {value: place for place, value in enumerate(values)}
    known, place = number(keys)
    of_key = np.array([places.get(labels.get(key), -1) for key in known.tolist()], dtype=np.int64)
    return GroupLabels(values, of_key[place] if len(place) else place)


def look_up(keys: Ints, values: Mapping[int, int]) -> Ints:
    """The value of each key; 0 for keys without one."""
    known, place = number(keys)
    found = np.array([values.get(key, 0) for key in known.tolist()], dtype=np.int64)
    return found[place] if len(place) else place


def label_by_version(judged: GradedJudgments, versions: Ints) -> GroupLabels:
    """By the guideline versions that a pair was judged under, `versions` being that of each row: "2", or "1–2" where its
    annotators worked by different ones; none where that is not known of one of its judgments (0)."""
    pairs, place = number(judged.pair)
    first = np.full(len(pairs), np.iinfo(np.int64).max)
    last = np.zeros(len(pairs), dtype=np.int64)
    np.minimum.at(first, place, versions)
    np.maximum.at(last, place, versions)
    last[first == 0] = 0
    spans, group = np.unique(np.stack([first, last], axis=1), axis=0, return_inverse=True)
    names = [str(low) if low == high else f"{low}–{high}" for low, high in spans.tolist()]
    values = [None if name == "0" else name for name in names]
    if None in values:  # it comes first, and is shown last
        values, group = [*values[1:], None], (group - 1) % len(values)
    return GroupLabels(values, group.reshape(-1)[place])


def label_by_week(judged: GradedJudgments, made_at: Ints) -> GroupLabels:
    """By the ISO week (UTC) in which a pair was judged a second time, `made_at` being the time of each row: "2026-W09";
    none where that is not known (0)."""
    never = np.iinfo(np.int64).max
    times = np.where(made_at > 0, made_at, never)
    order = np.lexsort((times, judged.pair))
    pairs, place = number(judged.pair)
    begins = np.searchsorted(judged.pair[order], pairs)
    ends = np.append(begins[1:], len(order))
    second = np.minimum(begins + 1, ends - 1)
    day = times[order][second] // DAY if len(pairs) else pairs
    days, of_pair = number(day)
    names = [None if one == never // DAY else _name_week(one) for one in days.tolist()]
    values = sorted(set(names), key=lambda name: (name is None, name or ""))
    group = np.array([values.index(name) for name in names], dtype=np.int64)
    return GroupLabels(values, group[of_pair][place] if len(place) else place)


def _name_week(day: int) -> str:
    week = datetime.fromtimestamp(day * DAY, UTC).isocalendar()
    return f"{week.year}-W{week.week:02}"
