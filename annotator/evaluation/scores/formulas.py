"""Compute the measures that the providers of ir_measures lack or compute inexactly, and the curves of a report.

ir_measures computes nDCG with gain 2^grade - 1 and ERR with a Perl script that rounds to five digits; RBP
needs another package; its Judged@k orders ties differently from trec_eval. It has no nDCG with an ideal from
the results, for good reason. Each function takes a grid of grades and returns a value for each row (query).

Sums add from the first rank to the last, so that the last digit equals that of a loop.

Compute the lowest and highest value of a score over all grades that the unjudged results could have. Every
unjudged result of any evaluated system may have any grade from 0 to 3. This includes results below the cutoff
and results of other systems only: they count as relevant documents in recall, AP and nDCG. Documents that no
system found keep their state. RBP also counts documents after the last result (its residual).

P, Success, RR, ERR and RBP depend only on the system's own results and rise with every grade. R and F1 are
highest if exactly the system's own unjudged results are relevant, and lowest if exactly the others are. In AP
and nDCG a grade for a low result can cost more than it adds; `_bound_ap` and `bound_ndcg` explain why their
bounds are exact.

Bpref has no bounds, nor has a gain by position (`survey`), because an unjudged document has no position in
the list.
"""

from dataclasses import dataclass
from math import log2

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.records import Gain, Measure, RankedRun
from annotator.evaluation.scores.ranking import (
    ABSENT,
    UNJUDGED,
    Codes,
    GradeGrid,
    GradeLookup,
    list_blocks,
)

Values = NDArray[np.float64]

HIGHEST_GRADE = 3


def compute_ndcg(grid: GradeGrid, *, cutoff: int | None, gain: Gain, from_results: bool = False) -> Values:
    """Return nDCG: DCG divided by the DCG of the ideal order; 0 if the divisor is 0.

    DCG is the sum of gain / log2(rank + 1). Järvelin & Kekäläinen 2002; exponential gain: Burges et al. 2005.
    `from_results`: the ideal order is the best order of the first `cutoff` results themselves, as some teams
    compute it.
    """
    top = grid.grades[:, :cutoff]
    ideal = -np.sort(-top, axis=1) if from_results else grid.ideal[:, :cutoff]
    return divide(sum_dcg(top, gain), sum_dcg(ideal, gain))


def sum_dcg(grades: NDArray[np.int16], gain: Gain) -> Values:
    """Return the discounted cumulative gain of each row."""
    return add_up(to_gains(grades, gain) / list_discounts(grades.shape[1]))


def to_gains(grades: NDArray[np.int16], gain: Gain) -> Values:
    """Return the gain of each grade; 0 for UNJUDGED and ABSENT."""
    positive = np.maximum(grades, 0).astype(np.float64)
    return positive if gain == "grade" else np.exp2(positive) - 1


def list_discounts(depth: int) -> Values:
    """Return log2(rank + 1) for ranks from 1, by C's log2 as in trec_eval, not numpy's."""
    return np.array([log2(rank + 1) for rank in range(1, depth + 1)])


def compute_err(grid: GradeGrid, *, cutoff: int | None) -> Values:
    """Return expected reciprocal rank (Chapelle et al. 2009).

    A reader stops at a document of grade g with probability (2^g - 1) / 2^3; 3 is the highest grade.
    """
    top = grid.grades[:, :cutoff]
    stops = to_gains(top, "exponential") / 2**HIGHEST_GRADE
    goes_on = np.cumprod(1 - stops, axis=1)
    reached = np.concatenate([np.ones((len(top), 1)), goes_on[:, :-1]], axis=1)
    return add_up(reached * stops / np.arange(1, top.shape[1] + 1))


def compute_rbp(grid: GradeGrid, *, cutoff: int | None, persistence: float, relevant_from: int) -> Values:
    """Return rank-biased precision (Moffat & Zobel 2008) with binary relevance."""
    top = grid.grades[:, :cutoff]
    return add_up((top >= relevant_from) * _list_weights(top.shape[1], persistence))


def compute_rbp_residual(grid: GradeGrid, *, cutoff: int | None, persistence: float) -> Values:
    """Return the most that unjudged documents, in the results and after them, can add to RBP.

    With a cutoff, only ranks up to the cutoff count.
    """
    top = grid.grades[:, :cutoff]
    judged = add_up((top >= 0) * _list_weights(top.shape[1], persistence))
    everything = 1.0 if cutoff is None else 1 - persistence**cutoff
    return np.maximum(everything - judged, 0.0)


def _list_weights(depth: int, persistence: float) -> Values:
    return np.array([(1 - persistence) * persistence**rank for rank in range(depth)])


def compute_judged(grid: GradeGrid, *, cutoff: int | None) -> Values:
    """Return the share of judged documents among the first results; NaN without results."""
    top = grid.grades[:, :cutoff]
    returned = (top != ABSENT).sum(axis=1).astype(np.float64)
    judged = (top >= 0).sum(axis=1)
    shares: Values = np.divide(judged, returned, out=np.full(len(top), np.nan), where=returned > 0)
    return shares


def round_scores(values: NDArray[np.float64], decimals: int) -> NDArray[np.float64]:
    """Round as Python does; numpy multiplies first, which rounds some halves differently."""
    rounded = [round(value, decimals) for value in values.ravel().tolist()]
    return np.array(rounded).reshape(values.shape)


def divide(numerator: Values, denominator: Values) -> Values:
    """Return the quotients; 0 if the denominator is 0."""
    return np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator > 0)


def add_up(terms: Values) -> Values:
    """Return the sum of each row, added from left to right."""
    return np.cumsum(terms, axis=1, dtype=np.float64)[:, -1]


def compute_precision_of_returned(grid: GradeGrid, *, cutoff: int | None, relevant_from: int) -> Values:
    """Return the share of relevant documents among the first results; 0 without results."""
    top = grid.grades[:, :cutoff]
    return divide((top >= relevant_from).sum(axis=1) * 1.0, (top != ABSENT).sum(axis=1) * 1.0)


RECALL_LEVELS = tuple(level / 10 for level in range(11))
EXACTLY = 1e-9  # 0.3 x 10 is a little more than 3


def measure_precision_curve(
    lookup: GradeLookup, run: RankedRun, relevant_from: int
) -> tuple[float, ...] | None:
    """Return the mean interpolated precision at RECALL_LEVELS; None if no query has a relevant document."""
    run_grades = lookup.find(run)
    total, queries = np.zeros(len(RECALL_LEVELS)), 0
    for first, last in list_blocks(np.maximum(run_grades.lengths, lookup.judged_counts).tolist()):
        grid = lookup.build_grid(run_grades, first, last)
        relevant = (grid.ideal >= relevant_from).sum(axis=1)
        counted = relevant > 0
        total += _interpolate(grid.grades[counted] >= relevant_from, relevant[counted]).sum(axis=0)
        queries += int(counted.sum())
    return tuple((total / queries).tolist()) if queries else None


def _interpolate(is_relevant: NDArray[np.bool_], relevant: NDArray[np.int64]) -> Values:
    """Return the interpolated precision: queries x levels of recall."""
    hits = np.cumsum(is_relevant, axis=1)
    precision = hits / np.arange(1, is_relevant.shape[1] + 1)
    best_from = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    columns = []
    for level in RECALL_LEVELS:
        needed = np.ceil(level * relevant - EXACTLY)
        ranks = (hits < needed[:, None]).sum(axis=1)
        reached = ranks < is_relevant.shape[1]
        at = np.minimum(ranks, is_relevant.shape[1] - 1)
        columns.append(np.where(reached, best_from[np.arange(len(at)), at], 0.0))
    return np.column_stack(columns)


def measure_depth_curve(grid: GradeGrid, depth: int, gain: Gain) -> list[float]:
    """Return mean nDCG@1, nDCG@2 … nDCG@depth."""
    return [float(compute_ndcg(grid, cutoff=cutoff, gain=gain).mean()) for cutoff in range(1, depth + 1)]


def list_precision_and_recall(grid: GradeGrid, depth: int, relevant_from: int) -> list[tuple[float, float]]:
    """Return (recall, precision) in the first `depth` results, for each query with a relevant document."""
    relevant = (grid.ideal >= relevant_from).sum(axis=1)
    hits = (grid.grades[:, :depth] >= relevant_from).sum(axis=1)
    kept = relevant > 0
    return list(zip((hits[kept] / relevant[kept]).tolist(), (hits[kept] / depth).tolist(), strict=True))


Bounds = tuple[Values, Values]

WITH_BOUNDS = frozenset(("nDCG", "P", "R", "F1", "AP", "Success", "RR", "ERR", "RBP"))
MAX_STEPS = 100


def bound_scores(grid: GradeGrid, measure: Measure, relevant_from: int, unjudged: Codes) -> Bounds | None:
    """Return the lowest and the highest value of each query; None for a measure without bounds.

    `unjudged`: by query, the number of unjudged documents that any evaluated system found, including those of
    the grid.
    """
    if measure.kind not in WITH_BOUNDS or measure.ideal != "truth" or measure.gain == "position":
        return None
    if measure.kind == "ERR":
        best = GradeGrid(_grade_unjudged(grid.grades), grid.ideal)
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
    lowest = _score_sets(top, measure, relevant_from, relevant + elsewhere)
    all_relevant = relevant + (top == UNJUDGED).sum(axis=1)
    return lowest, _score_sets(_grade_unjudged(top), measure, relevant_from, all_relevant)


def _bound_ap(top: NDArray[np.int16], elsewhere: Codes, relevant_from: int, relevant: Values) -> Bounds:
    """Return the exact lowest and highest AP.

    If the relevant results have the ranks r(1) < r(2) < …, AP is the sum of i / r(i), divided by the number
    of relevant documents. For a fixed number of relevant unjudged results, the sum is smallest if they have
    the lowest positions, and largest if they have the highest. So all numbers are tried. For the lowest AP
    every document elsewhere is relevant, for the highest AP none is. Each further relevant result adds its
    own precision, and 1 / r for every relevant result below it.
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
        """Return for each result the sum of 1 / rank over the counted results below it."""
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
    """Return P, R, F1, Success or RR, for which only relevance counts. `relevant`: documents of each query."""
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


def _grade_unjudged(grades: NDArray[np.int16]) -> NDArray[np.int16]:
    return np.where(grades == UNJUDGED, HIGHEST_GRADE, grades).astype(np.int16)


def bound_ndcg(grid: GradeGrid, elsewhere: Codes, *, cutoff: int | None, gain: Gain) -> Bounds:
    """Return the exact lowest and highest nDCG of each query.

    `elsewhere`: by query, the number of unjudged documents outside the first results.

    Notation: c(t) is the number of unjudged first results that get grade t or more; n(t) the number of the
    truth's documents of grade t or more; w(t) the step of the gain from grade t - 1 to t; S(n) the sum of the
    first n discount factors (at most `cutoff`). The ideal is the sum over t of w(t) S(n(t) + c(t)), so it
    depends only on the counts. For given counts, DCG is highest if the best grades go to the highest unjudged
    results, and lowest if they go to the lowest. Documents elsewhere only raise the ideal: they get grade 0
    for the highest nDCG, and grade 3 for the lowest, which adds their number to each n(t).

    Highest: nDCG >= x is possible exactly if max F(x) >= 0 with F(x) = DCG - x * ideal (Dinkelbach 1967). F
    is a sum over t of terms that depend only on c(t), so each c(t) can be chosen alone. Raising c(t) by one
    adds a discount factor and costs x times a factor of the ideal. This cost is smaller if n(t) is larger,
    and n(1) >= n(2) >= n(3); so the largest best counts satisfy c(1) >= c(2) >= c(3), and grades with these
    counts exist. x starts at a reachable value and becomes DCG / ideal of the best counts, until it does not
    rise.

    Lowest: here the best counts have the opposite order. With c(1) >= c(2) >= c(3) some best counts are
    therefore equal: the c lowest unjudged results get grade 3, the others 0. All c are tried.
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
    first_sums: NDArray[
        np.float64
    ]  # [query, c]: sum of the discount factors of the c highest unjudged results
    last_sums: NDArray[np.float64]  # the same for the c lowest unjudged results
    impossible: NDArray[np.bool_]  # [query, c]: there are fewer than c unjudged results
    ideal_sums: Values  # [n]: sum of the first n discount factors; the last value holds for all larger n
    counts: list[Codes]  # for each grade from 1, by query: the truth's documents of that grade or more
    elsewhere: Codes  # unjudged documents outside the first results
    steps: Values  # the gain that each of these grades adds

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
        """Return the lowest nDCG: every number of lowest results is tried with grade 3."""
        dcg = self.dcg[:, None] + self.steps.sum() * self.last_sums
        ideal = sum(
            step * self._sum_ideal(counts + self.elsewhere)
            for step, counts in zip(self.steps, self.counts, strict=True)
        )
        scores = np.divide(dcg, ideal, out=np.zeros_like(dcg), where=ideal > 0)
        lowest: Values = np.where(self.impossible, np.inf, scores).min(axis=1)
        return lowest

    def find_highest(self, start: Values) -> Values:
        """Return the highest nDCG: raise the score from `start` until the best counts give no higher one."""
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
        """Return [query, c]: the sum of the first n + c discount factors, where n is the query's count."""
        numbers = counts[:, None] + np.arange(self.first_sums.shape[1])
        sums: NDArray[np.float64] = self.ideal_sums[np.minimum(numbers, len(self.ideal_sums) - 1)]
        return sums


def _sum_from_0(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums of the first 0, 1, 2, … values of each row."""
    return np.concatenate([np.zeros((len(values), 1)), np.cumsum(values, axis=1)], axis=1)
