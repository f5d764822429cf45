"""Dawid and Skene's estimate of the grades behind the judgments, and of how each annotator errs.

Dawid & Skene (1979), Maximum likelihood estimation of observer error-rates using the EM algorithm, Applied Statistics
28(1), 20–28; equations by its numbers. Deterministic: it starts from the share of each grade among a pair's judgments.
No well-kept library does this alone: crowd-kit brings torch and transformers with it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from annotator.agreement.judged import CATEGORIES, TINY, Floats, Ints

MOST_ROUNDS = 1_000
SMALL_CHANGE = 1e-5


@dataclass(frozen=True, slots=True)
class DawidSkene:
    """`probabilities`: pairs x grades. `shares`: of each grade. `errors`: annotators x estimated grade x grade given; a row
    of zeros where nothing is estimated to have that grade. `rounds` of the algorithm; `converged`: the last changed nothing."""

    probabilities: Floats
    shares: Floats
    errors: Floats
    rounds: int
    converged: bool


def estimate(
    pair: Ints, annotator: Ints, grade: Ints, *, grades: int = CATEGORIES, most_rounds: int = MOST_ROUNDS
) -> DawidSkene:
    """From judgments as three columns. `pair` and `annotator` count from 0 without gaps; an annotator may have judged a pair
    more than once. With no judgment at all: empty estimates."""
    from scipy.sparse import csr_matrix

    pairs, people = int(pair.max(initial=-1)) + 1, int(annotator.max(initial=-1)) + 1
    given = csr_matrix(
        (np.ones(len(pair)), (pair, annotator * grades + grade)), shape=(pairs, people * grades)
    )
    by_answer = given.T.tocsr()
    found = _begin(given, people, grades)
    shares, errors = _maximize(by_answer, found, people)
    rounds, converged = 0, pairs == 0
    while not converged and rounds < most_rounds:
        found = _expect(given, shares, errors)
        before = shares, errors
        shares, errors = _maximize(by_answer, found, people)
        rounds += 1
        change = max(np.abs(shares - before[0]).max(), np.abs(errors - before[1]).max())
        converged = bool(change < SMALL_CHANGE)
    return DawidSkene(found, shares, errors, rounds, converged)


def _begin(given: Any, people: int, grades: int) -> Floats:
    """Equation 3.1: the share of each grade among the pair's judgments."""
    counts: Floats = given @ np.tile(np.eye(grades), (people, 1))
    found: Floats = counts / np.maximum(counts.sum(axis=1, keepdims=True), TINY)
    return found


def _maximize(by_answer: Any, found: Floats, people: int) -> tuple[Floats, Floats]:
    """Equations 2.3 and 2.4: error rates and shares, if the grades' probabilities are `found`."""
    grades = found.shape[1]
    errors = (by_answer @ found).reshape(people, grades, grades).transpose(0, 2, 1)
    errors = errors / np.maximum(errors.sum(axis=2, keepdims=True), TINY)
    return found.sum(axis=0) / max(1, len(found)), errors


def _expect(given: Any, shares: Floats, errors: Floats) -> Floats:
    """Equation 2.5: the probability of each grade of each pair; in logarithms, for pairs with many judgments."""
    grades = len(shares)
    with np.errstate(divide="ignore"):
        per_answer = np.log(errors).transpose(0, 2, 1).reshape(-1, grades)
        likelihood = given @ per_answer + np.log(shares)
    likelihood -= likelihood.max(axis=1, keepdims=True)
    found: Floats = np.exp(likelihood)
    found /= found.sum(axis=1, keepdims=True)
    return found
