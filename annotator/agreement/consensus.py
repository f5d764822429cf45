"""Estimate the grade behind several judgments, and compare it with leads' decisions.

An estimate settles nothing and enters no release. Only pairs with two or more judgments are estimated, and
only adjudicated pairs are compared: where all gave the same grade, every method agrees anyway.

Dawid & Skene (1979), Maximum likelihood estimation of observer error-rates using the EM algorithm, Applied
Statistics 28(1), 20–28; equations by its numbers. Deterministic: it starts from the share of each grade among
a pair's judgments. Plain EM takes thousands of rounds where hundreds of annotators judged little each, so two
rounds are extrapolated: Varadhan & Roland (2008), Simple and globally convergent methods for accelerating the
convergence of any EM algorithm, Scand. J. Statist. 35(2), scheme S3. A step that would lower the likelihood
is not taken. Why no library is used: docs/decisions.md.
"""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from annotator.agreement.consensus_records import Consensus, DecisionMatch, EstimatedAnnotator, EstimatedPair
from annotator.agreement.judgment_table import CATEGORIES, TINY, Floats, Ints
from annotator.domain.grades import GRADES

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


SETTLED = ("unanimous", "adjudicated")


class ConsensusPair(NamedTuple):
    """A pair with its current independent grades by annotator, and its settled grade."""

    query_id: str
    doc_id: str
    grades: Mapping[int, int]
    settled: int | None
    settled_by: str


def find_majority(grades: Sequence[int]) -> int | None:
    """Return the grade given most often; None if two grades are given equally often."""
    counts = sorted(((grades.count(grade), grade) for grade in set(grades)), reverse=True)
    return counts[0][1] if len(counts) == 1 or counts[0][0] > counts[1][0] else None


def compare_estimates(dataset: str, pairs: Iterable[ConsensusPair], names: Mapping[int, str]) -> Consensus:
    """Return the estimates of pairs with two or more judgments; none if Dawid and Skene's fails.

    `names`: of the annotators, by the keys of `ConsensusPair.grades`.
    """
    shared = [pair for pair in pairs if len(pair.grades) > 1]
    people, columns = _gather(shared, names)
    model = find_likelier(*columns)
    if not model.converged:
        return Consensus(dataset, (), (), (), (), model.rounds, False)
    best, surest = model.probabilities.argmax(axis=1).tolist(), model.probabilities.max(axis=1).tolist()
    estimated = [
        _describe(pair, grade, probability)
        for pair, grade, probability in zip(shared, best, surest, strict=True)
    ]
    return Consensus(
        dataset=dataset,
        pairs=estimated,
        annotators=_describe_people(people, columns, model),
        matches=_match(estimated),
        shares=tuple(model.shares.tolist()),
        iterations=model.rounds,
        converged=model.converged,
    )


def _gather(
    pairs: Sequence[ConsensusPair], names: Mapping[int, str]
) -> tuple[list[str], tuple[Ints, Ints, Ints]]:
    """Return the annotators by name, and the pair index, annotator index and grade of every judgment."""
    person, grade = array("q"), array("q")
    for pair in pairs:
        person.extend(pair.grades)
        grade.extend(pair.grades.values())
    pair_number = np.repeat(
        np.arange(len(pairs)), np.array([len(pair.grades) for pair in pairs], dtype=np.int64)
    )
    keys, number = np.unique(np.array(person, dtype=np.int64), return_inverse=True)
    people = [names[key] for key in keys.tolist()]
    by_name = sorted(range(len(people)), key=lambda at: people[at])
    order = np.empty(len(people), dtype=np.int64)
    order[by_name] = np.arange(len(people))
    return [people[at] for at in by_name], (pair_number, order[number], np.array(grade, dtype=np.int64))


@lru_cache(4096)
def _sum_up(grades: tuple[int, ...]) -> tuple[int | None, float]:
    """Return majority and median. Cached: a million pairs have a few hundred different tuples of grades."""
    return find_majority(grades), float(median(grades))


def _describe(pair: ConsensusPair, grade: int, probability: float) -> EstimatedPair:
    majority, middle = _sum_up(tuple(pair.grades.values()))
    settles = pair.settled_by in SETTLED
    return EstimatedPair(
        pair.query_id,
        pair.doc_id,
        len(pair.grades),
        majority,
        middle,
        grade,
        probability,
        pair.settled if settles else None,
        pair.settled_by if settles else None,
    )


def _describe_people(
    names: Sequence[str], columns: tuple[Ints, Ints, Ints], estimated: DawidSkene
) -> tuple[EstimatedAnnotator, ...]:
    pair, annotator, grade = columns
    judgments = np.bincount(annotator, minlength=len(names))
    right = np.bincount(annotator, weights=estimated.probabilities[pair, grade], minlength=len(names))
    return tuple(
        EstimatedAnnotator(
            name,
            int(judgments[index]),
            float(right[index] / judgments[index]),
            tuple(tuple(row) if sum(row) > 0 else None for row in estimated.errors[index].tolist()),
        )
        for index, name in enumerate(names)
    )


METHODS: Mapping[str, Callable[[EstimatedPair], int | None]] = {
    "majority": lambda pair: pair.majority,
    "median": lambda pair: int(pair.median) if pair.median in GRADES else None,
    "Dawid and Skene": lambda pair: pair.dawid_skene,
}


def _match(pairs: Sequence[EstimatedPair]) -> tuple[DecisionMatch, ...]:
    decided = [pair for pair in pairs if pair.settled_by == "adjudicated"]
    matches = []
    for name, value in METHODS.items():
        equal = [grade == pair.settled for pair in decided if (grade := value(pair)) is not None]
        matches.append(DecisionMatch(name, len(equal), sum(equal), len(decided) - len(equal)))
    return tuple(matches)
