"""Between which values a score lies, whatever grades the unjudged results of all evaluated systems have.

Any of them may have any grade from 0 to 3, whether a system has it among the results looked at, further down, or not at
all: in recall, AP and nDCG a document that only another system found is relevant too. Documents that no system found stay
as the truth has them. RBP alone also counts what follows the last result (its residual).

P, Success, RR, ERR and RBP depend on the system's own results alone and rise with every grade. R and F1 are highest if the
own unjudged results are relevant and no other, and lowest the other way round. In AP and nDCG a grade given to a low
result can cost more than it brings; their bounds are exact all the same, as `_bound_ap` and `bound_ndcg` say.

Bpref has no bounds here, and neither has a gain by position (`survey`): an unjudged document has no place in the list.
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
from annotator.evaluation.scores.grade_grid import ABSENT, UNJUDGED, Codes, GradeGrid

Values = NDArray[np.float64]
Bounds = tuple[Values, Values]

WITH_BOUNDS = frozenset(("nDCG", "P", "R", "F1", "AP", "Success", "RR", "ERR", "RBP"))
MAX_STEPS = 100


def bound_scores(grid: GradeGrid, measure: Measure, relevant_from: int, unjudged: Codes) -> Bounds | None:
    """Return the lowest and the highest value of each query; None for a measure without bounds.

    `unjudged`: how many unjudged documents all evaluated systems found, by query, those of the grid included.
    """
    if measure.kind not in WITH_BOUNDS or measure.ideal != "truth" or measure.gain == "position":
        return None
    if measure.kind == "ERR":
        best = GradeGrid(_grade_unjudged(grid.grades, HIGHEST_GRADE), grid.ideal)
        return compute_err(grid, cutoff=measure.cutoff), compute_err(best, cutoff=measure.cutoff)
    if measure.kind == "RBP":
        lowest = compute_rbp(
            grid, cutoff=measure.cutoff, persistence=measure.persistence, relevant_from=relevant_from
        )
        residual = compute_rbp_residual(grid, cutoff=measure.cutoff, persistence=measure.persistence)
        return lowest, lowest + residual
    top = grid.grades[:, : measure.cutoff]
    elsewhere = unjudged - (top == UNJUDGED).sum(axis=1)
    if measure.kind == "nDCG":
        return bound_ndcg(grid, elsewhere, cutoff=measure.cutoff, gain=measure.gain)
    relevant = (grid.ideal >= relevant_from).sum(axis=1).astype(np.float64)
    if measure.kind == "AP":
        return _bound_ap(top, elsewhere, relevant_from, relevant)
    return _bound_sets(top, elsewhere, measure, relevant_from, relevant)


def _bound_sets(
    top: NDArray[np.int16], elsewhere: Codes, measure: Measure, relevant_from: int, relevant: Values
) -> Bounds:
    """Return the bounds of measures that only ask whether a document is relevant.

    `elsewhere`: the number of unjudged documents outside `top`; `relevant`: of judged relevant ones.
    """
    lowest = _score_sets(top, measure, relevant_from, relevant + elsewhere)
    highest = _score_sets(
        _grade_unjudged(top, HIGHEST_GRADE),
        measure,
        relevant_from,
        relevant + (top == UNJUDGED).sum(axis=1),
    )
    return lowest, highest


def _bound_ap(top: NDArray[np.int16], elsewhere: Codes, relevant_from: int, relevant: Values) -> Bounds:
    """Return the exact lowest and highest AP.

    With the relevant results on the ranks r(1) < r(2) < …, AP is the sum of i / r(i) over all relevant documents. For a given
    number of relevant unjudged results, the sum is the smaller the lower they are, so all numbers are tried: from the lowest
    one upward, with everything elsewhere relevant, and from the highest one downward, with nothing elsewhere relevant.
    Each further one adds its own precision, and 1 / r for every relevant result below it.
    """
    unjudged, hits = top == UNJUDGED, top >= relevant_from
    inverse = 1 / np.arange(1, top.shape[1] + 1)
    found = np.cumsum(hits, axis=1)
    total = (hits * found * inverse).sum(axis=1)
    lowest, highest = divide(total, relevant + elsewhere), divide(total, relevant)
    rows = np.flatnonzero(unjudged.any(axis=1))
    if not len(rows):
        return lowest, highest
    unjudged, hits, found = unjudged[rows], hits[rows], found[rows]
    total, relevant, elsewhere = total[rows, None], relevant[rows, None], elsewhere[rows, None]

    def sum_below(counted: NDArray[np.bool_]) -> Values:
        """Return the sum of 1 / rank over the counted results below each result."""
        terms = counted * inverse
        sums: Values = terms.sum(axis=1, keepdims=True) - np.cumsum(terms, axis=1)
        return sums

    added = unjudged * ((found + 1) * inverse + sum_below(hits | unjudged))
    sums = total + np.cumsum(added[:, ::-1], axis=1)
    counts = np.cumsum(unjudged[:, ::-1], axis=1) + relevant + elsewhere
    scores = np.divide(sums, counts, out=np.full_like(sums, np.inf), where=counts > 0)
    lowest[rows] = np.minimum(lowest[rows], scores.min(axis=1))
    numbers = np.cumsum(unjudged, axis=1)
    added = unjudged * ((found + numbers) * inverse + sum_below(hits))
    sums = total + np.cumsum(added, axis=1)
    scores = np.divide(sums, numbers + relevant, out=np.zeros_like(sums), where=numbers + relevant > 0)
    highest[rows] = np.maximum(highest[rows], scores.max(axis=1))
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


def bound_ndcg(grid: GradeGrid, elsewhere: Codes, *, cutoff: int | None, gain: Gain) -> Bounds:
    """Return the exact lowest and highest nDCG. `elsewhere`: the unjudged documents outside the first results, by query.

    Let c(t) of the unjudged first results get a grade of t or more, n(t) be the truth's documents of grade t or more, w(t) the
    step of the gain from grade t - 1 to t, and S(n) the sum of the first n discount factors (at most `cutoff`). The ideal is
    the sum over t of w(t) S(n(t) + c(t)) and depends on the counts alone. For given counts DCG is highest when the best grades
    go to the highest unjudged results, and lowest when they go to the lowest. Documents elsewhere only raise the ideal: they
    have grade 0 for the highest nDCG, and for the lowest grade 3, which adds their number to each n(t).

    Highest: nDCG >= x holds for some counts exactly if max F(x) >= 0, F(x) = DCG - x * ideal (Dinkelbach 1967). F is a sum
    over t of terms in c(t) alone. Raising c(t) by one adds a discount factor and costs x times a factor of the ideal, which
    is the smaller the larger n(t) is; n(1) >= n(2) >= n(3), so the best counts, each taken alone and as large as possible,
    are in order, c(1) >= c(2) >= c(3), and so belong to grades. Starting from a real value, x = DCG / ideal of the best
    counts rises until it stays.

    Lowest: by the same argument turned round the counts want the opposite order, so some best counts are all equal: the c
    lowest unjudged results have grade 3, the others 0. All c are tried.
    """
    top = grid.grades[:, :cutoff]
    value = compute_ndcg(grid, cutoff=cutoff, gain=gain)
    lowest, highest = value.copy(), value.copy()
    rows = np.flatnonzero((top == UNJUDGED).any(axis=1) | (elsewhere > 0))
    if not len(rows):
        return lowest, highest
    problem = _NdcgProblem.of(top[rows], grid.ideal[rows], elsewhere[rows], cutoff, gain)
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
    ideal_sums: Values  # [n]: the first n discount factors; the last one stands for all larger n
    counts: list[Codes]  # for grades from 1: the truth's documents of that grade or more
    elsewhere: Codes  # unjudged documents outside the first results
    steps: Values  # how much gain each of these grades adds

    @classmethod
    def of(
        cls,
        top: NDArray[np.int16],
        ideal: NDArray[np.int16],
        elsewhere: Codes,
        cutoff: int | None,
        gain: Gain,
    ) -> "_NdcgProblem":
        unjudged = top == UNJUDGED
        most = int(unjudged.sum(axis=1).max())
        factors = np.where(unjudged, 1 / list_discounts(top.shape[1]), 0.0)
        order = np.argsort(~unjudged, axis=1, kind="stable")
        first = np.take_along_axis(factors, order, axis=1)[:, :most]
        last = np.take_along_axis(
            factors[:, ::-1], np.argsort(~unjudged[:, ::-1], axis=1, kind="stable"), axis=1
        )
        longest = ideal.shape[1] + most + int(elsewhere.max())
        ideal_factors = 1 / list_discounts(longest if cutoff is None else min(cutoff, longest))
        return cls(
            sum_dcg(top, gain),
            _sum_from_0(first),
            _sum_from_0(last[:, :most]),
            np.arange(most + 1) > unjudged.sum(axis=1)[:, None],
            _sum_from_0(ideal_factors[None, :])[0],
            [(ideal >= grade).sum(axis=1) for grade in range(1, HIGHEST_GRADE + 1)],
            elsewhere,
            np.diff(to_gains(np.arange(HIGHEST_GRADE + 1, dtype=np.int16), gain)),
        )

    def find_lowest(self) -> Values:
        """Try every number of lowest documents that have grade 3, as all documents elsewhere have."""
        dcg = self.dcg[:, None] + self.steps.sum() * self.last_sums
        ideal = sum(
            step * self._sum_ideal(counts + self.elsewhere)
            for step, counts in zip(self.steps, self.counts, strict=True)
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

    def _sum_ideal(self, counts: Codes) -> NDArray[np.float64]:
        """Return [query, c]: the sum of the first n + c discount factors, n being the query's count."""
        numbers = counts[:, None] + np.arange(self.first_sums.shape[1])
        sums: NDArray[np.float64] = self.ideal_sums[np.minimum(numbers, len(self.ideal_sums) - 1)]
        return sums


def _sum_from_0(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums of the first 0, 1, 2, … values of each row."""
    return np.concatenate([np.zeros((len(values), 1)), np.cumsum(values, axis=1)], axis=1)
