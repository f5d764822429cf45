"""Estimate grades and each annotator's error rates from judgments by Dawid and Skene's method.

Dawid & Skene (1979), Maximum likelihood estimation of observer error-rates using the EM algorithm, Applied
Statistics 28(1), 20–28; equations by its numbers. Deterministic: it starts from the share of each grade among
a pair's judgments. Plain EM takes thousands of rounds where hundreds of annotators judged little each, so two
rounds are extrapolated: Varadhan & Roland (2008), Simple and globally convergent methods for accelerating the
convergence of any EM algorithm, Scand. J. Statist. 35(2), scheme S3. A step that would lower the likelihood
is not taken. Why no library is used: docs/decisions.md.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from annotator.agreement.judgment_table import CATEGORIES, TINY, Floats, Ints

MOST_ROUNDS = 5_000
SMALL_CHANGE = 1e-6
LONGEST_STEP = 4.0  # at first; after a step of full length, the next may be this many times longer
LEAST_EXPECTED = 1e-3  # judgments of a grade; with fewer, error rates are meaningless
CHEAP = 20_000_000  # judgments times rounds of the plain algorithm: about a second
FEW_ROUNDS = 500  # the plain algorithm seldom converges in fewer
LIKELIER = 1e-3  # if the log-likelihoods differ by less, the accelerated result is kept
STAYS = 0.1  # an extrapolated probability keeps at least this part of its value: 0 would stay 0


@dataclass(frozen=True, slots=True)
class DawidSkene:
    """The result of Dawid and Skene's method."""

    probabilities: Floats  # pairs x grades
    shares: Floats  # of each grade
    errors: Floats
    """Annotators x estimated grade x grade given; zeros if no pair is estimated to have that grade."""
    rounds: int  # rounds of the algorithm
    converged: bool  # whether the last round changed nothing
    log_likelihoods: tuple[float, ...] = ()  # at the start of each step; never falls


def estimate(
    pair: Ints,
    annotator: Ints,
    grade: Ints,
    *,
    most_rounds: int = MOST_ROUNDS,
    accelerate: bool = True,
) -> DawidSkene:
    """Estimate grades and error rates from judgments as three columns.

    `pair` and `annotator` are numbered from 0 without gaps; an annotator may judge a pair more than once.
    Without any judgment the estimates are empty. `accelerate` False: the algorithm of 1979.
    """
    from scipy.sparse import csr_matrix

    pairs, people = int(pair.max(initial=-1)) + 1, int(annotator.max(initial=-1)) + 1
    given = csr_matrix(
        (np.ones(len(pair)), (pair, annotator * CATEGORIES + grade)), shape=(pairs, people * CATEGORIES)
    )
    model = _Model(given, given.T.tocsr(), people)
    probabilities = model.begin()
    now = model.maximize(probabilities)
    if not pairs:
        return DawidSkene(probabilities, *model.split(now), 0, True)
    rounds, longest, likelihoods, converged = 0, LONGEST_STEP, [], False
    while rounds < most_rounds:
        probabilities, likelihood = model.expect(now)
        likelihoods.append(likelihood)
        once = model.maximize(probabilities)
        rounds += 1
        converged = bool(np.abs(once - now).max() < SMALL_CHANGE)
        if converged or not accelerate:
            now = once
            if converged:
                break
            continue
        now, longest, taken = _leap(model, now, once, longest)
        rounds += taken
    shares, errors = model.split(now.copy())
    errors[model.count_expected(probabilities) < LEAST_EXPECTED] = 0.0
    return DawidSkene(probabilities, shares, errors, rounds, converged, tuple(likelihoods))


def find_likelier(pair: Ints, annotator: Ints, grade: Ints) -> DawidSkene:
    """Estimate with acceleration and, if that is cheap (CHEAP), also without it. Return the likelier result.

    The two may end at different maxima of the likelihood.
    """
    accelerated = estimate(pair, annotator, grade)
    rounds = min(MOST_ROUNDS, CHEAP // max(1, len(pair)))
    if rounds < FEW_ROUNDS or not accelerated.log_likelihoods:
        return accelerated
    plain = estimate(pair, annotator, grade, most_rounds=rounds, accelerate=False)
    if not plain.converged:
        return accelerated
    gain = plain.log_likelihoods[-1] - accelerated.log_likelihoods[-1]
    return plain if gain > LIKELIER or not accelerated.converged else accelerated


@dataclass(frozen=True, slots=True)
class _Model:
    """The judgments and the steps of the algorithm.

    Parameters are one vector: the shares of the grades, then the annotators' errors."""

    given: Any  # pairs x (annotator, grade): how often
    by_answer: Any  # `given`, transposed
    people: int

    def split(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Return the shares of the grades, and the errors: annotators x estimated grade x grade given."""
        errors = parameters[CATEGORIES:].reshape(self.people, CATEGORIES, CATEGORIES)
        return parameters[:CATEGORIES], errors

    def begin(self) -> Floats:
        """Return the first probabilities (equation 3.1): the share of each grade among the pair's judgments."""
        counts: Floats = self.given @ np.tile(np.eye(CATEGORIES), (self.people, 1))
        probabilities: Floats = counts / np.maximum(counts.sum(axis=1, keepdims=True), TINY)
        return probabilities

    def maximize(self, probabilities: Floats) -> Floats:
        """Return the parameters that follow from the probabilities of each pair's grades.

        These are the shares (equation 2.4) and the error rates (equation 2.3) in one vector.
        """
        errors = self._count(probabilities).transpose(0, 2, 1)
        errors = errors / np.maximum(errors.sum(axis=2, keepdims=True), TINY)
        return np.concatenate([probabilities.sum(axis=0) / max(1, len(probabilities)), errors.ravel()])

    def count_expected(self, probabilities: Floats) -> Floats:
        """Return how many judgments of each annotator are expected on pairs of each grade: annotators x grades."""
        counts: Floats = self._count(probabilities).sum(axis=1)
        return counts

    def _count(self, probabilities: Floats) -> Floats:
        counts: Floats = (self.by_answer @ probabilities).reshape(self.people, CATEGORIES, CATEGORIES)
        return counts

    def expect(self, now: Floats) -> tuple[Floats, float]:
        """Return the probability of each grade of each pair (equation 2.5), and the logarithm of the likelihood.

        Computed with logarithms, because the product over many judgments would underflow.
        """
        shares, errors = self.split(now)
        with np.errstate(divide="ignore"):
            per_answer = np.log(errors).transpose(0, 2, 1).reshape(-1, CATEGORIES)
            likelihood = self.given @ per_answer + np.log(shares)
        highest = likelihood.max(axis=1, keepdims=True)
        probabilities: Floats = np.exp(likelihood - highest)
        sums = probabilities.sum(axis=1, keepdims=True)
        probabilities /= sums
        return probabilities, float((highest + np.log(sums)).sum())

    def keep_shares(self, now: Floats) -> Floats:
        """Return the parameters with every distribution scaled to sum 1; rows of zeros stay zero."""
        shares = now[:CATEGORIES] / now[:CATEGORIES].sum()
        errors = now[CATEGORIES:].reshape(-1, CATEGORIES)
        return np.concatenate(
            [shares, (errors / np.maximum(errors.sum(axis=1, keepdims=True), TINY)).ravel()]
        )


def _leap(model: _Model, now: Floats, once: Floats, longest: float) -> tuple[Floats, float, int]:
    """Extrapolate from two sets of parameters that are one round apart.

    Returns the extrapolated parameters, the longest step of the next extrapolation, and the rounds this took.
    If the likelihood would be lower than after one round, the result is that of two plain rounds.
    """
    probabilities, likelihood = model.expect(once)
    twice = model.maximize(probabilities)
    first = once - now
    change = (twice - once) - first
    size = float(np.linalg.norm(change))
    step = min(longest, float(np.linalg.norm(first)) / size) if size > TINY else 1.0
    if step <= 1.0:
        return twice, longest, 1
    leapt = np.maximum(now + 2 * step * first + step**2 * change, STAYS * twice)
    leapt = model.keep_shares(leapt)
    probabilities, reached = model.expect(leapt)
    if not reached >= likelihood:
        return twice, max(LONGEST_STEP, longest / LONGEST_STEP), 2
    return model.maximize(probabilities), longest * LONGEST_STEP if step == longest else longest, 2
