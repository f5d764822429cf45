"""Order the results of a run, and hold their grades as a matrix.

By score: as 32-bit floats, highest first; equal scores by doc_id in descending order of bytes. A query is
ordered by rank if one of its results has no score, and keeps the order of the file if a rank is missing too.

Hold the grades of a run's results as a matrix with a row for each query and a column for each rank. Measures
that trec_eval lacks are computed on this matrix. Queries are split into blocks, so that a query with a
million results does not widen the rows of all queries. `UnjudgedResults` counts the unjudged documents among
the results of all evaluated systems.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotator.domain.errors import ValidationError
from annotator.domain.messages import Message, say_n
from annotator.evaluation.records import Grades, Order, RankedRun

Codes = NDArray[np.int64]

NO_RANK = -1
ORDERS: tuple[Order, ...] = ("score", "rank")


@dataclass(frozen=True, slots=True, eq=False)
class ResultColumns:
    """Results in the order of their file, as columns of equal length. Codes are indexes into the lists of ids."""

    query_ids: Sequence[str]
    queries: Codes
    doc_ids: Sequence[str]
    documents: Codes
    scores: NDArray[np.float64]  # NaN without a score
    ranks: Codes  # NO_RANK without a rank


@dataclass(frozen=True, slots=True, eq=False)
class ResultOrder:
    """The order of results: `rows` of the columns, grouped by query in order of appearance, best result first.

    `queries`: the codes of the queries in this order. `starts`: for each query the index of its first result
    in `rows`, then the number of all results.
    """

    rows: Codes
    queries: Codes
    starts: Codes
    contradictions: int  # queries whose ranks contradict their scores
    reordered_ties: int = 0  # results of equal score that the order by id has moved


def check_order(order: str) -> Order:
    """Return the order of this name. Raises ValidationError for an unknown name."""
    for name in ORDERS:
        if order == name:
            return name
    raise ValidationError(f"expected the order {' or '.join(ORDERS)}, found {order!r}")


def order_columns(columns: ResultColumns, order: Order) -> ResultOrder:
    """Return the order of all results."""
    queries = columns.queries
    codes, first_rows = np.unique(queries, return_index=True)
    by_appearance = codes[np.argsort(first_rows)]
    place = np.empty(len(columns.query_ids), dtype=np.int64)
    place[by_appearance] = np.arange(len(by_appearance))
    places = place[queries]

    unscored = _count_by_place(places, np.isnan(columns.scores), len(codes)) > 0
    unranked = _count_by_place(places, columns.ranks == NO_RANK, len(codes)) > 0
    by_score = ~unscored if order == "score" else np.zeros(len(codes), dtype=bool)
    by_rank = ~by_score & ~unranked
    with np.errstate(over="ignore"):  # a score above 3e38 is infinite to trec_eval too
        scores = -columns.scores.astype(np.float32).astype(np.float64)
    positions = np.arange(len(queries), dtype=np.float64)
    keys = np.where(by_score[places], scores, np.where(by_rank[places], columns.ranks, positions))
    rows = _sort(columns, places, keys, by_score)
    starts = np.concatenate([[0], np.cumsum(np.bincount(places, minlength=len(codes)))])
    both = ~unscored & ~unranked
    contradicting = _find_contradictions(columns, places, scores, both)
    counted = by_score & ~contradicting
    in_file = np.where(both[places], columns.ranks, positions)  # results that share a rank have not moved
    moved = _sort_by(in_file[rows], keys[rows], places[rows]) != np.arange(len(rows))
    ties = int((moved & counted[places[rows]]).sum())
    return ResultOrder(rows, by_appearance, starts, int(contradicting.sum()), ties)


def drop_repeats(columns: ResultColumns, order: ResultOrder) -> ResultOrder:
    """Return the order without results whose document ranks higher in the same query."""
    queries = columns.queries[order.rows].astype(np.int64)
    pairs = queries * max(1, len(columns.doc_ids)) + columns.documents[order.rows]
    kept = np.zeros(len(pairs), dtype=bool)
    kept[np.unique(pairs, return_index=True)[1]] = True
    starts = np.concatenate([[0], np.cumsum(kept)])[order.starts]
    return replace(order, rows=order.rows[kept], starts=starts)


def note_ties(count: int, *, option: str | None = None) -> list[Message]:
    """Return a sentence on reordered ties, or [] for 0. `option`: the option that keeps the file's order."""
    if not count:
        return []
    if option is None:
        return [
            say_n(
                "{n} result of equal score is not where its file has it: ordered by id, as trec_eval does",
                "{n:,} results of equal score are not where their file has them: ordered by id, as trec_eval does",
                count,
            )
        ]
    return [
        say_n(
            "{n} result of equal score is not where its file has it: ordered by id, as trec_eval does; "
            "{option} keeps the order of the file",
            "{n:,} results of equal score are not where their file has them: ordered by id, as trec_eval does; "
            "{option} keeps the order of the file",
            count,
            option=option,
        )
    ]


def find_duplicate_row(columns: ResultColumns) -> int | None:
    """Return the first row that repeats a document of its query, or None."""
    pairs = columns.queries.astype(np.int64) * max(1, len(columns.doc_ids)) + columns.documents
    ordered = np.sort(pairs)  # much faster than finding the row, which is rarely needed
    if not (ordered[1:] == ordered[:-1]).any():
        return None
    order = np.argsort(pairs, kind="stable")
    repeated = np.flatnonzero(pairs[order][1:] == pairs[order][:-1])
    return int(order[repeated + 1].min()) if len(repeated) else None


def _sort(
    columns: ResultColumns, places: Codes, keys: NDArray[np.float64], by_score: NDArray[np.bool_]
) -> Codes:
    """Sort by query and key, and equal scores by doc_id in descending order."""
    rows = _sort_by(keys, places)
    equal = (
        (places[rows][1:] == places[rows][:-1])
        & (keys[rows][1:] == keys[rows][:-1])
        & by_score[places[rows][1:]]
    )
    if not equal.any():
        return rows
    tied = np.zeros(len(rows), dtype=bool)
    tied[:-1] |= equal
    tied[1:] |= equal
    codes = np.unique(columns.documents[rows[tied]]).tolist()
    codes.sort(key=lambda code: columns.doc_ids[code], reverse=True)  # code points compare as UTF-8 bytes do
    id_order = np.zeros(len(columns.doc_ids), dtype=np.int64)
    id_order[codes] = np.arange(len(codes))
    tie_keys = np.where(by_score[places], id_order[columns.documents], 0)
    return np.lexsort((tie_keys, keys, places))


def _find_contradictions(
    columns: ResultColumns, places: Codes, scores: NDArray[np.float64], both: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return for each query whether a result ranks below one with a lower score. `scores` are negated."""
    rows = _sort_by(scores, columns.ranks, places)
    falls = (places[rows][1:] == places[rows][:-1]) & (scores[rows][1:] < scores[rows][:-1])
    return both & (_count_by_place(places[rows][1:], falls, len(both)) > 0)


def _count_by_place(places: Codes, condition: NDArray[np.bool_], count: int) -> Codes:
    return np.bincount(places[condition], minlength=count)


def _sort_by(*keys: NDArray[Any]) -> Codes:
    """Return np.lexsort of the keys (the last key decides first), fast if the rows are already in order."""
    undecided = np.ones(len(keys[0]) - 1, dtype=bool) if len(keys[0]) else np.zeros(0, dtype=bool)
    for key in reversed(keys):
        if (undecided & (key[1:] < key[:-1])).any():
            return np.lexsort(keys)
        undecided &= key[1:] == key[:-1]
    return np.arange(len(keys[0]))


UNJUDGED, ABSENT = -1, -2
MAX_CELLS = 2_000_000


@dataclass(frozen=True, slots=True, eq=False)
class GradeGrid:
    """`grades[query, rank - 1]`: the grade, UNJUDGED, or ABSENT after the last result.

    `ideal`: the grades of the truth's documents, best first, then ABSENT.
    """

    grades: NDArray[np.int16]
    ideal: NDArray[np.int16]

    def condense(self) -> "GradeGrid":
        """Return the grid without unjudged documents; lower results move up."""
        left_out = self.grades < 0
        order = np.argsort(left_out, axis=1, kind="stable")
        moved = np.take_along_axis(self.grades, order, axis=1)
        return GradeGrid(np.where(moved < 0, ABSENT, moved).astype(np.int16), self.ideal)


def list_blocks(widths: Sequence[int], *, max_cells: int = MAX_CELLS) -> Iterator[tuple[int, int]]:
    """Yield (first, last + 1) for blocks of consecutive queries that fill at most `max_cells` cells."""
    first, widest = 0, 0
    for index, width in enumerate(widths):
        if index > first and max(widest, width) * (index - first + 1) > max_cells:
            yield first, index
            first, widest = index, 0
        widest = max(widest, width)
    if first < len(widths):
        yield first, len(widths)


@dataclass(frozen=True, slots=True, eq=False)
class RunGrades:
    """The grades of one run's results for the queries of a truth."""

    grades: NDArray[np.int16]  # of each result of the run; UNJUDGED without a qrel
    starts: Codes  # for each query of the truth: the index of its first result
    lengths: Codes  # for each query of the truth: its number of results


@dataclass(frozen=True, slots=True, eq=False)
class GradeLookup:
    """The grades of a truth, prepared so that `find` looks up all results of a run at once."""

    rows: Mapping[str, int]  # by query_id
    codes: Mapping[str, int]  # by doc_id
    keys: Codes  # row * number of documents + code of each qrel, sorted
    grades: NDArray[np.int16]  # aligned with `keys`
    ideal: NDArray[np.int16]  # the grades of each query, best first
    ideal_starts: Codes

    @classmethod
    def build(cls, grades: Grades, query_ids: Sequence[str]) -> "GradeLookup":
        """Prepare the grades of these queries."""
        codes: dict[str, int] = {}
        numbers = [
            codes.setdefault(doc_id, len(codes)) for query_id in query_ids for doc_id in grades[query_id]
        ]
        values = np.array(
            [grade for query_id in query_ids for grade in grades[query_id].values()], dtype=np.int16
        )
        counts = np.array([len(grades[query_id]) for query_id in query_ids], dtype=np.int64)
        rows = np.repeat(np.arange(len(query_ids)), counts)
        keys = rows * max(1, len(codes)) + np.array(numbers, dtype=np.int64)
        order = np.argsort(keys)
        return cls(
            {query_id: row for row, query_id in enumerate(query_ids)},
            codes,
            keys[order],
            values[order],
            values[np.lexsort((-values, rows))],
            np.concatenate([[0], np.cumsum(counts)]),
        )

    @property
    def judged_counts(self) -> Codes:
        """Return the number of qrels of each query."""
        return np.diff(self.ideal_starts)

    @property
    def highest_grades(self) -> NDArray[np.int16]:
        """Return the highest grade of each query; UNJUDGED without a qrel."""
        highest = np.full(len(self.rows), UNJUDGED, dtype=np.int16)
        judged = self.judged_counts > 0
        highest[judged] = self.ideal[self.ideal_starts[:-1][judged]]
        return highest

    def find(self, run: RankedRun) -> RunGrades:
        """Return the grades of a run's results."""
        rows = np.array([self.rows.get(query_id, -1) for query_id in run.query_ids], dtype=np.int64)
        counts = np.diff(run.starts)
        codes = np.array([self.codes.get(doc_id, -1) for doc_id in run.doc_ids], dtype=np.int64)[run.codes]
        keys = np.where(codes < 0, -1, np.repeat(rows, counts) * max(1, len(self.codes)) + codes)
        grades = np.full(len(keys), UNJUDGED, dtype=np.int16)
        if len(self.keys):
            at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
            grades = np.where(self.keys[at] == keys, self.grades[at], grades)
        in_run = rows >= 0
        starts, lengths = np.zeros((2, len(self.rows)), dtype=np.int64)
        starts[rows[in_run]], lengths[rows[in_run]] = run.starts[:-1][in_run], counts[in_run]
        return RunGrades(grades, starts, lengths)

    def build_grid(self, run_grades: RunGrades, first: int, last: int) -> GradeGrid:
        """Return the grid of the queries in these rows."""
        return GradeGrid(
            gather_rows(run_grades.grades, run_grades.starts[first:last], run_grades.lengths[first:last]),
            gather_rows(self.ideal, self.ideal_starts[first:last], self.judged_counts[first:last]),
        )


def gather_rows(values: NDArray[np.int16], starts: Codes, lengths: Codes) -> NDArray[np.int16]:
    """Return slices of `values` as rows of a matrix with at least one column, padded with ABSENT."""
    matrix = np.full((len(lengths), max(1, int(lengths.max(initial=0)))), ABSENT, dtype=np.int16)
    ends = np.cumsum(lengths)
    positions = np.repeat(starts - (ends - lengths), lengths) + np.arange(ends[-1] if len(ends) else 0)
    matrix[np.arange(matrix.shape[1]) < lengths[:, None]] = values[positions]
    return matrix


Keys = NDArray[np.int64]


@dataclass(slots=True)
class UnjudgedResults:
    """The unjudged results and the grades of the added runs. `queries`: their number in the truth."""

    queries: int
    runs: dict[str, RunGrades] = field(default_factory=dict)  # by system
    _keys: Keys = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # each document once, sorted

    def add(self, run: RankedRun, run_grades: RunGrades) -> None:
        """Add the results of one run."""
        self.runs[run.system] = run_grades
        hashes = np.fromiter(map(hash, run.doc_ids), dtype=np.int64, count=len(run.doc_ids))
        hashes &= (1 << self._shift) - 1
        rows = np.full(len(run_grades.grades), -1, dtype=np.int64)
        listed = np.flatnonzero(run_grades.lengths)
        starts, lengths = run_grades.starts[listed], run_grades.lengths[listed]
        at = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths) + np.arange(lengths.sum())
        rows[at] = np.repeat(listed, lengths)
        unjudged = np.flatnonzero((run_grades.grades == UNJUDGED) & (rows >= 0))
        keys = (rows[unjudged] << self._shift) | hashes[run.codes[unjudged]]
        self._keys = np.unique(np.concatenate([self._keys, keys]))

    def count(self) -> Codes:
        """Return the number of unjudged documents of each query."""
        return np.bincount(self._keys >> self._shift, minlength=self.queries)

    @property
    def _shift(self) -> int:
        """Return how many low bits of a key hold the hash of the document."""
        return 63 - self.queries.bit_length()
