"""Estimate the grades behind the judgments, and each annotator's error rates, by Dawid and Skene's method.

Dawid & Skene (1979), Maximum likelihood estimation of observer error-rates using the EM algorithm, Applied Statistics
28(1), 20–28; equations by its numbers. Deterministic: it starts from the share of each grade among a pair's judgments.
Plain EM takes thousands of rounds where hundreds of annotators judged little each, so two rounds are extrapolated:
Varadhan & Roland (2008), Simple and globally convergent methods for accelerating the convergence of any EM algorithm,
Scand. J. Statist. 35(2), scheme S3. A step that would lower the likelihood is not taken. Why no library is used:
docs/decisions.md.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from annotator.agreement.judgment_table import CATEGORIES, TINY, Floats, Ints

MOST_ROUNDS = 5_000
SMALL_CHANGE = 1e-6
LONGEST_STEP = 4.0  # at first; each step that is taken in full lets the next be as many times longer
LEAST_EXPECTED = 1e-3  # judgments of a grade: error rates from less are of nothing
CHEAP = 20_000_000  # judgments times rounds of the plain algorithm: about a second
FEW_ROUNDS = 500  # fewer seldom suffice for the plain algorithm
LIKELIER = 1e-3  # of two ends whose log-likelihoods differ by less, the accelerated one is kept
STAYS = 0.1  # an extrapolated probability keeps at least this part of what it was: 0 would be 0 for ever


@dataclass(frozen=True, slots=True)
class DawidSkene:
    """`probabilities`: pairs x grades. `shares`: of each grade. `errors`: annotators x estimated grade x grade given; a row
    of zeros where nothing is estimated to have that grade. `rounds` of the algorithm; `converged`: the last changed nothing.
    `log_likelihoods`: of what each of its steps started from, never falling."""

    probabilities: Floats
    shares: Floats
    errors: Floats
    rounds: int
    converged: bool
    log_likelihoods: tuple[float, ...] = ()


def estimate(
    pair: Ints,
    annotator: Ints,
    grade: Ints,
    *,
    grades: int = CATEGORIES,
    most_rounds: int = MOST_ROUNDS,
    accelerate: bool = True,
) -> DawidSkene:
    """From judgments as three columns. `pair` and `annotator` count from 0 without gaps; an annotator may have judged a pair
    more than once. With no judgment at all: empty estimates. `accelerate` False: the algorithm of 1979, which the tests hold
    the other to."""
    from scipy.sparse import csr_matrix

    pairs, people = int(pair.max(initial=-1)) + 1, int(annotator.max(initial=-1)) + 1
    given = csr_matrix(
        (np.ones(len(pair)), (pair, annotator * grades + grade)), shape=(pairs, people * grades)
    )
    model = _Model(given, given.T.tocsr(), people, grades)
    found = model.begin()
    now = model.maximize(found)
    if not pairs:
        return DawidSkene(found, now[:grades], now[grades:].reshape(people, grades, grades), 0, True)
    rounds, longest, likelihoods, converged = 0, LONGEST_STEP, [], False
    while rounds < most_rounds:
        found, likelihood = model.expect(now)
        likelihoods.append(likelihood)
        once = model.maximize(found)
        rounds += 1
        converged = bool(np.abs(once - now).max() < SMALL_CHANGE)
        if converged or not accelerate:
            now = once
            if converged:
                break
            continue
        now, longest, taken = _leap(model, now, once, longest)
        rounds += taken
    shares, errors = now[:grades], now[grades:].reshape(people, grades, grades).copy()
    errors[model.count_expected(found) < LEAST_EXPECTED] = 0.0
    return DawidSkene(found, shares, errors, rounds, converged, tuple(likelihoods))


def find_likelier(pair: Ints, annotator: Ints, grade: Ints) -> DawidSkene:
    """Estimate with acceleration and, where that is cheap, without it too: the two may end at different maxima of the likelihood.
    What is likelier is returned. So it takes at most CHEAP rounds times judgments more."""
    found = estimate(pair, annotator, grade)
    rounds = min(MOST_ROUNDS, CHEAP // max(1, len(pair)))
    if rounds < FEW_ROUNDS or not found.log_likelihoods:
        return found
    plain = estimate(pair, annotator, grade, most_rounds=rounds, accelerate=False)
    if not plain.converged:
        return found
    gain = plain.log_likelihoods[-1] - found.log_likelihoods[-1]
    return plain if gain > LIKELIER or not found.converged else found


@dataclass(frozen=True, slots=True)
class _Model:
    """The judgments. `given`: pairs x (annotator, grade), how often; `by_answer`: the same, turned. Parameters are one vector:
    the shares of the grades, then each annotator's errors."""

    given: Any
    by_answer: Any
    people: int
    grades: int

    def begin(self) -> Floats:
        """Equation 3.1: the share of each grade among the pair's judgments."""
        counts: Floats = self.given @ np.tile(np.eye(self.grades), (self.people, 1))
        found: Floats = counts / np.maximum(counts.sum(axis=1, keepdims=True), TINY)
        return found

    def maximize(self, found: Floats) -> Floats:
        """Equations 2.3 and 2.4: shares and error rates, if the grades' probabilities are `found`."""
        errors = (self.by_answer @ found).reshape(self.people, self.grades, self.grades).transpose(0, 2, 1)
        errors = errors / np.maximum(errors.sum(axis=2, keepdims=True), TINY)
        return np.concatenate([found.sum(axis=0) / max(1, len(found)), errors.ravel()])

    def count_expected(self, found: Floats) -> Floats:
        """How many judgments of each annotator are expected to be of pairs of each grade: annotators x grades."""
        counts: Floats = (self.by_answer @ found).reshape(self.people, self.grades, self.grades).sum(axis=1)
        return counts

    def expect(self, now: Floats) -> tuple[Floats, float]:
        """Equation 2.5, in logarithms for pairs with many judgments: the probability of each grade of each pair; and the
        logarithm of the likelihood."""
        shares = now[: self.grades]
        errors = now[self.grades :].reshape(self.people, self.grades, self.grades)
        with np.errstate(divide="ignore"):
            per_answer = np.log(errors).transpose(0, 2, 1).reshape(-1, self.grades)
            likelihood = self.given @ per_answer + np.log(shares)
        highest = likelihood.max(axis=1, keepdims=True)
        found: Floats = np.exp(likelihood - highest)
        sums = found.sum(axis=1, keepdims=True)
        found /= sums
        return found, float((highest + np.log(sums)).sum())

    def keep_shares(self, now: Floats) -> Floats:
        """The parameters with every distribution summing to 1 again; rows of zeros stay so."""
        shares = now[: self.grades] / now[: self.grades].sum()
        errors = now[self.grades :].reshape(-1, self.grades)
        return np.concatenate(
            [shares, (errors / np.maximum(errors.sum(axis=1, keepdims=True), TINY)).ravel()]
        )


def _leap(model: _Model, now: Floats, once: Floats, longest: float) -> tuple[Floats, float, int]:
    """From two sets of parameters, one round apart: where the rounds seem to lead, the longest step of the next leap, and the
    rounds this took. Where the likelihood would be lower than after one round, it is two rounds."""
    found, likelihood = model.expect(once)
    twice = model.maximize(found)
    first = once - now
    change = (twice - once) - first
    size = float(np.linalg.norm(change))
    step = min(longest, float(np.linalg.norm(first)) / size) if size > TINY else 1.0
    if step <= 1.0:
        return twice, longest, 1
    leapt = np.maximum(now + 2 * step * first + step**2 * change, STAYS * twice)
    leapt = model.keep_shares(leapt)
    found, reached = model.expect(leapt)
    if not reached >= likelihood:
        return twice, max(LONGEST_STEP, longest / LONGEST_STEP), 2
    return model.maximize(found), longest * LONGEST_STEP if step == longest else longest, 2
