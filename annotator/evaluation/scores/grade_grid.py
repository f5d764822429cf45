"""Hold the grades of a run's results as a matrix with a row for each query and a column for each rank.

Measures that trec_eval lacks are computed on this matrix. Queries are split into blocks, so that a query with
a million results does not widen the rows of all queries. `UnjudgedResults` counts the unjudged documents
among the results of all evaluated systems.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.records import Grades, RankedRun

Codes = NDArray[np.int64]

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
