"""Compute the measures that the providers of ir_measures lack or compute inexactly, and the curves of a report.

ir_measures computes nDCG with gain 2^grade - 1 and ERR with a Perl script that rounds to five digits; RBP
needs another package; its Judged@k orders ties differently from trec_eval. It has no nDCG with an ideal from
the results, for good reason. Each function takes a grid of grades and returns a value for each row (query).

Sums add from the first rank to the last, so that the last digit equals that of a loop.
"""

from math import log2

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.records import Gain, RankedRun
from annotator.evaluation.scores.grade_grid import ABSENT, GradeGrid, GradeLookup, list_blocks

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
