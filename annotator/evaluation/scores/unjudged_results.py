"""Count the unjudged documents among the results of all evaluated systems, query by query.

A document that several systems list counts once. Each document is stored as one number made of its query and
a hash. With thousands of documents for each of 10,000 queries, two documents share a number in about one of a
thousand evaluations.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.records import RankedRun
from annotator.evaluation.scores.grade_grid import UNJUDGED, Codes, RunGrades

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
