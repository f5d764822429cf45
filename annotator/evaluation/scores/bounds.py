"""Between which values a score lies, whatever grades the unjudged documents have that the measure looks at.

Any of them may have any grade from 0 to 3. Documents outside the results looked at stay as the truth has them: they could
only be graded by judging the whole collection. RBP alone also counts what follows the last result (its residual).

A gain by position (`survey`) has none either: an unjudged document has no place in the list.

P, R, F1, Success, RR, ERR and RBP rise with every grade, so their bounds are those of all 0 and all 3. nDCG does not: a
grade given to a low document raises the ideal more than the score. Its bounds are exact all the same; `bound_ndcg` says
why. AP and Bpref have no bounds here: with them, one document's grade changes the share of every other.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.records import Gain, Measure
from annotator.evaluation.scores.formulas import (
    HIGHEST_GRADE,
    compute_err,
    compute_ndcg,
    compute_rbp,
    compute_rbp_residual,
    divide,
    list_discounts,
    sum_dcg,
    to_gains,
)
from annotator.evaluation.scores.grade_grid import ABSENT, UNJUDGED, GradeGrid

Values = NDArray[np.float64]
Bounds = tuple[Values, Values]

WITH_BOUNDS = frozenset(("nDCG", "P", "R", "F1", "Success", "RR", "ERR", "RBP"))
MAX_STEPS = 100


def bound_scores(grid: GradeGrid, measure: Measure, relevant_from: int) -> Bounds | None:
    """Return the lowest and the highest value of each query; None for a measure without bounds."""
    if measure.kind not in WITH_BOUNDS or measure.ideal != "truth" or measure.gain == "position":
        return None
    if measure.kind == "nDCG":
        return bound_ndcg(grid, cutoff=measure.cutoff, gain=measure.gain)
    if measure.kind == "ERR":
        best = GradeGrid(_grade_unjudged(grid.grades, HIGHEST_GRADE), grid.ideal)
        return compute_err(grid, cutoff=measure.cutoff), compute_err(best, cutoff=measure.cutoff)
    if measure.kind == "RBP":
        lowest = compute_rbp(
            grid, cutoff=measure.cutoff, persistence=measure.persistence, relevant_from=relevant_from
        )
        residual = compute_rbp_residual(grid, cutoff=measure.cutoff, persistence=measure.persistence)
        return lowest, lowest + residual
    return _bound_sets(grid, measure, relevant_from)


def _bound_sets(grid: GradeGrid, measure: Measure, relevant_from: int) -> Bounds:
    """Return the bounds of measures that only ask whether a document is relevant."""
    top = grid.grades[:, : measure.cutoff]
    judged_relevant = (grid.ideal >= relevant_from).sum(axis=1).astype(float)
    unjudged = (top == UNJUDGED).sum(axis=1).astype(float)
    lowest = _score_sets(top, measure, relevant_from, judged_relevant)
    highest = _score_sets(
        _grade_unjudged(top, HIGHEST_GRADE), measure, relevant_from, judged_relevant + unjudged
    )
    return lowest, highest


def _score_sets(top: NDArray[np.int16], measure: Measure, relevant_from: int, relevant: Values) -> Values:
    hits = top >= relevant_from
    relevant_hits = hits.sum(axis=1).astype(np.float64)
    if measure.kind == "Success":
        return np.where(relevant_hits > 0, 1.0, 0.0)
    if measure.kind == "RR":
        return np.where(relevant_hits > 0, 1.0 / (hits.argmax(axis=1) + 1), 0.0)
    returned = (top != ABSENT).sum(axis=1).astype(np.float64)
    looked_at = returned if measure.over_returned else np.full(len(top), float(measure.cutoff or 0))
    if measure.kind == "P":
        return divide(relevant_hits, looked_at)
    if measure.kind == "R":
        return divide(relevant_hits, relevant)
    return divide(2 * relevant_hits, looked_at + relevant)  # F1, by 2PR / (P + R)


def _grade_unjudged(grades: NDArray[np.int16], grade: int) -> NDArray[np.int16]:
    return np.where(grades == UNJUDGED, grade, grades).astype(np.int16)


def bound_ndcg(grid: GradeGrid, *, cutoff: int | None, gain: Gain) -> Bounds:
    """Return the exact lowest and highest nDCG over all grades of the unjudged documents in the first results.

    Let c(t) of them get a grade of t or more, n(t) be the truth's documents of grade t or more, w(t) the step of the gain
    from grade t - 1 to t, and S(n) the sum of the first n discount factors (at most `cutoff`). The ideal is the sum over t
    of w(t) S(n(t) + c(t)) and depends on the counts alone. For given counts DCG is highest when the best grades go to the
    highest unjudged documents, and lowest when they go to the lowest.

    Highest: nDCG >= x holds for some counts exactly if max F(x) >= 0, F(x) = DCG - x * ideal (Dinkelbach 1967). F is a sum
    over t of terms in c(t) alone. Raising c(t) by one adds a discount factor and costs x times a factor of the ideal, which
    is the smaller the larger n(t) is; n(1) >= n(2) >= n(3), so the best counts, each taken alone and as large as possible,
    are in order, c(1) >= c(2) >= c(3), and so belong to grades. Starting from a real value, x = DCG / ideal of the best
    counts rises until it stays.

    Lowest: by the same argument turned round the counts want the opposite order, so some best counts are all equal: the c
    lowest unjudged documents have grade 3, the others 0. All c are tried.
    """
    top = grid.grades[:, :cutoff]
    value = compute_ndcg(grid, cutoff=cutoff, gain=gain)
    if not (top == UNJUDGED).any():
        return value, value
    lowest, highest = value.copy(), value.copy()
    rows = np.flatnonzero((top == UNJUDGED).any(axis=1))
    problem = _NdcgProblem.of(top[rows], grid.ideal[rows], cutoff, gain)
    lowest[rows] = np.minimum(value[rows], problem.find_lowest())
    highest[rows] = np.maximum(value[rows], problem.find_highest(value[rows]))
    return lowest, highest


@dataclass(frozen=True, slots=True, eq=False)
class _NdcgProblem:
    """nDCG of some queries as a function of how many unjudged documents get each grade."""

    dcg: Values  # of the judged documents
    first_sums: NDArray[np.float64]  # [query, c]: discount factors of the c highest unjudged documents
    last_sums: NDArray[np.float64]  # the same of the c lowest
    impossible: NDArray[np.bool_]  # [query, c]: there are fewer than c unjudged documents
    ideal_sums: Values  # [n]: the first n discount factors, up to the cutoff
    counts: list[NDArray[np.int64]]  # for grades from 1: the truth's documents of that grade or more
    steps: Values  # how much gain each of these grades adds

    @classmethod
    def of(
        cls, top: NDArray[np.int16], ideal: NDArray[np.int16], cutoff: int | None, gain: Gain
    ) -> "_NdcgProblem":
        unjudged = top == UNJUDGED
        most = int(unjudged.sum(axis=1).max())
        factors = np.where(unjudged, 1 / list_discounts(top.shape[1]), 0.0)
        order = np.argsort(~unjudged, axis=1, kind="stable")
        first = np.take_along_axis(factors, order, axis=1)[:, :most]
        last = np.take_along_axis(
            factors[:, ::-1], np.argsort(~unjudged[:, ::-1], axis=1, kind="stable"), axis=1
        )
        longest = ideal.shape[1] + most
        ideal_factors = 1 / list_discounts(longest)
        if cutoff is not None:
            ideal_factors[cutoff:] = 0
        return cls(
            sum_dcg(top, gain),
            _sum_from_0(first),
            _sum_from_0(last[:, :most]),
            np.arange(most + 1) > unjudged.sum(axis=1)[:, None],
            _sum_from_0(ideal_factors[None, :])[0],
            [(ideal >= grade).sum(axis=1) for grade in range(1, HIGHEST_GRADE + 1)],
            np.diff(to_gains(np.arange(HIGHEST_GRADE + 1, dtype=np.int16), gain)),
        )

    def find_lowest(self) -> Values:
        """Try every number of lowest documents that have grade 3."""
        dcg = self.dcg[:, None] + self.steps.sum() * self.last_sums
        ideal = sum(
            step * self._sum_ideal(counts) for step, counts in zip(self.steps, self.counts, strict=True)
        )
        scores = np.divide(dcg, ideal, out=np.zeros_like(dcg), where=ideal > 0)
        lowest: Values = np.where(self.impossible, np.inf, scores).min(axis=1)
        return lowest

    def find_highest(self, start: Values) -> Values:
        """Raise the score from `start` until the best counts for it give no higher one."""
        highest = start
        for _ in range(MAX_STEPS):
            dcg, ideal = self.dcg.copy(), np.zeros_like(start)
            for step, counts in zip(self.steps, self.counts, strict=True):
                sums = self._sum_ideal(counts)
                surplus = np.where(self.impossible, -np.inf, self.first_sums - highest[:, None] * sums)
                best = surplus.shape[1] - 1 - surplus[:, ::-1].argmax(axis=1)[:, None]
                dcg += step * np.take_along_axis(self.first_sums, best, axis=1)[:, 0]
                ideal += step * np.take_along_axis(sums, best, axis=1)[:, 0]
            higher = np.maximum(highest, divide(dcg, ideal))
            if (higher == highest).all():
                break
            highest = higher
        return highest

    def _sum_ideal(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return [query, c]: the sum of the first n + c discount factors, n being the query's count."""
        sums: NDArray[np.float64] = self.ideal_sums[counts[:, None] + np.arange(self.first_sums.shape[1])]
        return sums


def _sum_from_0(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums of the first 0, 1, 2, … values of each row."""
    return np.concatenate([np.zeros((len(values), 1)), np.cumsum(values, axis=1)], axis=1)
