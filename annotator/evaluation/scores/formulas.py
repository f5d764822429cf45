"""Measures written by hand: those that no provider of ir_measures has here, or has only inexactly.

nDCG with gain 2^grade - 1 and ERR come from a Perl script in ir_measures that rounds to five digits; RBP needs a package
that ships none of the rest; Judged@k breaks ties in another order than trec_eval. nDCG with an ideal from the results
exists nowhere, for good reason. Each function takes a grid of grades and returns a value for each row.

Sums run from the first rank to the last, as a loop adds them, so that the last digit is that of the loop.
"""

from math import log2

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.records import Gain
from annotator.evaluation.scores.grade_grid import ABSENT, GradeGrid

Values = NDArray[np.float64]

HIGHEST_GRADE = 3


def compute_ndcg(grid: GradeGrid, *, cutoff: int | None, gain: Gain, from_results: bool = False) -> Values:
    """Return nDCG: DCG = sum of gain / log2(rank + 1) over the DCG of the ideal order; 0 where that is 0.

    Järvelin & Kekäläinen 2002; exponential gain: Burges et al. 2005. `from_results`: the ideal order is that of the
    first `cutoff` results themselves, as some teams compute it.
    """
    top = grid.grades[:, :cutoff]
    ideal = -np.sort(-top, axis=1) if from_results else grid.ideal[:, :cutoff]
    return divide(sum_dcg(top, gain), sum_dcg(ideal, gain))


def sum_dcg(grades: NDArray[np.int16], gain: Gain) -> Values:
    """Return the discounted cumulative gain of each row."""
    return add_up(to_gains(grades, gain) / list_discounts(grades.shape[1]))


def to_gains(grades: NDArray[np.int16], gain: Gain) -> Values:
    """Return the gain of each grade; 0 for what is unjudged or absent."""
    positive = np.maximum(grades, 0).astype(np.float64)
    return positive if gain == "grade" else np.exp2(positive) - 1


def list_discounts(depth: int) -> Values:
    """Return log2(rank + 1) for ranks from 1. C's log2, as trec_eval and Python use it, not numpy's own."""
    return np.array([log2(rank + 1) for rank in range(1, depth + 1)])


def compute_err(grid: GradeGrid, *, cutoff: int | None) -> Values:
    """Return expected reciprocal rank (Chapelle et al. 2009): a reader stops at a document of grade g with the chance
    (2^g - 1) / 2^3, 3 being the scale's highest grade."""
    top = grid.grades[:, :cutoff]
    stops = to_gains(top, "exponential") / 2**HIGHEST_GRADE
    goes_on = np.cumprod(1 - stops, axis=1)
    reached = np.concatenate([np.ones((len(top), 1)), goes_on[:, :-1]], axis=1)
    return add_up(reached * stops / np.arange(1, top.shape[1] + 1))


def compute_rbp(grid: GradeGrid, *, cutoff: int | None, persistence: float, relevant_from: int) -> Values:
    """Return rank-biased precision (Moffat & Zobel 2008) of relevant and other documents."""
    top = grid.grades[:, :cutoff]
    return add_up((top >= relevant_from) * _list_weights(top.shape[1], persistence))


def compute_rbp_residual(grid: GradeGrid, *, cutoff: int | None, persistence: float) -> Values:
    """Return what unjudged documents could add to RBP: those in the results, and everything after the last result.

    With a cutoff, nothing after it is counted.
    """
    top = grid.grades[:, :cutoff]
    judged = add_up((top >= 0) * _list_weights(top.shape[1], persistence))
    everything = 1.0 if cutoff is None else 1 - persistence**cutoff
    return np.maximum(everything - judged, 0.0)


def _list_weights(depth: int, persistence: float) -> Values:
    return np.array([(1 - persistence) * persistence**rank for rank in range(depth)])


def compute_judged(grid: GradeGrid, *, cutoff: int | None) -> Values:
    """Return the share of judged documents among the first results; NaN where there is no result."""
    top = grid.grades[:, :cutoff]
    returned = (top != ABSENT).sum(axis=1).astype(np.float64)
    judged = (top >= 0).sum(axis=1)
    shares: Values = np.divide(judged, returned, out=np.full(len(top), np.nan), where=returned > 0)
    return shares


def round_scores(values: NDArray[np.float64], decimals: int) -> NDArray[np.float64]:
    """Round as Python does, exactly; numpy multiplies first, which moves some halves."""
    rounded = [round(value, decimals) for value in values.ravel().tolist()]
    return np.array(rounded).reshape(values.shape)


def divide(numerator: Values, denominator: Values) -> Values:
    """Return the quotients; 0 where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator > 0)


def add_up(terms: Values) -> Values:
    """Return the sum of each row, added from left to right."""
    return np.cumsum(terms, axis=1, dtype=np.float64)[:, -1]


def compute_precision_of_returned(grid: GradeGrid, *, cutoff: int | None, relevant_from: int) -> Values:
    """Return the relevant documents among the first results over the number returned there; 0 where none is."""
    top = grid.grades[:, :cutoff]
    return divide((top >= relevant_from).sum(axis=1) * 1.0, (top != ABSENT).sum(axis=1) * 1.0)
