"""Draw a stratified sample of settled pairs, and bound the error rate that it proves.

The same data and seed give the same sample, in any order of rows. Only this database knows the secret in the
seed. A stratum is a query category with a settled grade. Each stratum, and each grade, gets its share up to
one pair; chance decides where to round up, by the pivotal method (Deville & Tillé 1998, *Unequal probability
sampling without replacement through a splitting method*). Every pair has the same chance: drawn pairs /
pairs. A further draw gives all remaining pairs the same chance.

The bound excludes a number of errors under which a sample this good or better has at most probability
1 - confidence, wherever the errors are among the strata. In whole pairs: of 1,000, "less than 5 %" is at most 49.
The errors in a sample are distributed as a sum of independent yes-or-no variables (Borcea, Brändén & Liggett
2009, *Negative dependence and the geometry of polynomials*). The binomial distribution limits the tails of such
sums (Hoeffding 1956, *On the distribution of the number of successes in independent trials*). See
docs/statistics.md. Each look at a sample drawn in steps holds alone; repeated looks raise the chance of a false
pass, which is computed too.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from heapq import nsmallest
from itertools import pairwise
from math import ceil
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from annotator.domain.shuffling import Seed, order_key
from annotator.quality.records import CONFIDENCE, LIMIT, QualityStratum

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


Stratum = tuple[str, int]
"""A category (empty: none) and a settled grade."""


class DrawablePair(NamedTuple):
    """A pair that could be drawn."""

    key: str  # the same in every database
    category: str | None
    grade: int

    @property
    def stratum(self) -> Stratum:
        return self.category or "", self.grade


def find_target(population: int, rate: float) -> int:
    """Return the number of pairs for a share, rounded up exactly: 0.07 of 100 is 7 in spite of binary fractions."""
    return min(population, ceil(Fraction(str(rate)) * population))


def find_seats(
    left: Mapping[Stratum, int], held: int, target: int, *, seed: Seed, sample_round: int
) -> dict[Stratum, int]:
    """Return how many remaining pairs of each stratum to add for a sample of `target` pairs.

    `held`: the pairs of the sample so far. All remaining pairs if there are too few.
    """
    generator = Random(int.from_bytes(_draw(seed, sample_round, f"seats after {held}")))
    return share_out(left, target - held, generator)


def draw_pairs(
    free: Iterable[DrawablePair], held: int, target: int, *, seed: Seed, sample_round: int
) -> list[DrawablePair]:
    """Return the pairs of `free` to add to the `held` ones, for a sample of `target` pairs."""
    by_stratum: dict[Stratum, list[DrawablePair]] = {}
    for pair in free:
        by_stratum.setdefault(pair.stratum, []).append(pair)
    left = {stratum: len(pairs) for stratum, pairs in by_stratum.items()}
    drawn: list[DrawablePair] = []
    for stratum, number in find_seats(left, held, target, seed=seed, sample_round=sample_round).items():
        drawn += nsmallest(
            number, by_stratum[stratum], key=lambda pair: (_draw(seed, sample_round, pair.key), pair.key)
        )
    return drawn


def count_strata(
    left: Mapping[Stratum, int], already: Mapping[Stratum, int], new: Mapping[Stratum, int]
) -> tuple[QualityStratum, ...]:
    """Count the existing, held and drawn pairs of each category and grade; queries without a category come last."""
    return tuple(
        QualityStratum(
            stratum[0] or None,
            stratum[1],
            left.get(stratum, 0) + already.get(stratum, 0),
            already.get(stratum, 0),
            new.get(stratum, 0),
        )
        for stratum in sorted({*left, *already}, key=lambda stratum: (not stratum[0], *stratum))
    )


def share_out(left: Mapping[Stratum, int], number: int, generator: Random) -> dict[Stratum, int]:
    """Return how many of `number` pairs to draw from each stratum, in proportion to its remaining pairs.

    Strata of one grade compete first, then the rests of the grades. So grades also get their shares up to one
    pair.
    """
    population = sum(left.values())
    number = min(number, population)
    if number <= 0:
        return dict.fromkeys(left, 0)
    seats: dict[Stratum, int] = {}
    rests: dict[int, list[tuple[Stratum, int]]] = {}  # by grade: strata with their fraction, in 1/population
    for stratum in sorted(left):
        seats[stratum], rest = divmod(left[stratum] * number, population)
        rests.setdefault(stratum[1], []).append((stratum, rest))
    finalists = [_settle_rests(rests[grade], population, seats, generator) for grade in sorted(rests)]
    _settle_rests(finalists, population, seats, generator)
    return seats


def _settle_rests(
    rests: list[tuple[Stratum, int]], whole: int, seats: dict[Stratum, int], generator: Random
) -> tuple[Stratum, int]:
    """Let strata compete in random order, two at a time, until at most one has a rest above 0; return it.

    Each whole rest becomes a seat. The chance of each stratum is its rest / `whole`.
    """
    generator.shuffle(rests)
    leader, rest = rests[0]
    for stratum, other in rests[1:]:
        both = rest + other
        if 0 < both < whole:  # one of the two takes both rests
            leader = stratum if generator.randrange(both) < other else leader
            rest = both
        elif both:  # one of the two gets a seat, the other keeps the remaining rest
            is_leader_seated = generator.randrange(2 * whole - both) < whole - other
            seats[leader if is_leader_seated else stratum] += 1
            leader, rest = (stratum if is_leader_seated else leader), both - whole
    return leader, rest


def _draw(seed: Seed, sample_round: int, name: str) -> bytes:
    """Return 8 pseudorandom bytes that are the same every time and differ between rounds."""
    return order_key(seed, f"quality control, round {sample_round}", name)


LARGEST = 1_000_000  # further samples that are looked for without an end of the population
MOST_DOUBT = 1 - CONFIDENCE + 1e-9  # a probability may be off by rounding: 1 of 20 is 0.05


def compute_bound(errors: int, checked: int, population: int | None) -> float:
    """Return the largest share of errors in the population that the sample does not exclude (one-sided)."""
    if population is not None:
        return find_most(errors, checked, population) / population
    if errors == checked:
        return 1.0
    from scipy.stats import beta

    return float(beta.ppf(CONFIDENCE, errors + 1, checked - errors))


def find_most(errors: int, checked: int, population: int) -> int:
    """Return the largest number of errors in the population that the sample does not exclude."""
    highest = population - (checked - errors)
    excluded = _find_first(
        errors + 1,
        highest,
        lambda all_errors: _few(errors, checked, population, all_errors) <= MOST_DOUBT,
    )
    return highest if excluded is None else excluded - 1


def find_least(errors: int, checked: int, population: int) -> int:
    """Return the smallest number of errors in the population that the sample does not exclude.

    It is never smaller than the observed number.
    """
    highest = population - (checked - errors)
    least = _find_first(
        errors,
        highest,
        lambda all_errors: _many(errors, checked, population, all_errors) > MOST_DOUBT,
    )
    return highest if least is None else least


def count_first_too_many(population: int) -> int:
    """Return the smallest number of errors at which the claim "fewer than LIMIT of the population" is wrong."""
    return max(1, ceil(Fraction(str(LIMIT)) * population))


def is_proven(errors: int, checked: int, population: int | None) -> bool:
    """Return whether the sample proves that fewer than LIMIT of the population are errors."""
    return checked > 0 and _chance_of_few(errors, checked, population) <= MOST_DOUBT


def is_disproven(errors: int, checked: int, population: int) -> bool:
    """Return whether the sample proves that LIMIT of the population or more are errors."""
    return checked > 0 and find_least(errors, checked, population) >= count_first_too_many(population)


def count_further(
    errors: int, checked: int, population: int | None, *, left: int | None = None
) -> int | None:
    """Return how many more pairs without an error would prove the claim: 0 if proven, None if impossible.

    `left`: pairs left to check; None: the whole rest of the population.
    """
    rest = LARGEST if population is None else population - checked
    most = rest if left is None else min(left, rest)
    return _find_first(0, most, lambda more: is_proven(errors, checked + more, population))


def _chance_of_few(errors: int, checked: int, population: int | None) -> float:
    """Return the probability of at most this many errors in the sample if the population has just too many."""
    if population is not None:
        return _few(errors, checked, population, count_first_too_many(population))
    from scipy.stats import binom

    return float(binom.cdf(errors, checked, LIMIT))


def _few(errors: int, checked: int, population: int, all_errors: int) -> float:
    """Return a limit on the probability of at most `errors` in the sample if the population has `all_errors`."""
    if all_errors > population - (checked - errors):
        return 0.0  # the sample has more correct pairs than the population would have
    terms = min(checked, all_errors)
    return _limit_tail(terms - errors, terms, terms - checked * all_errors / population)


def _many(errors: int, checked: int, population: int, all_errors: int) -> float:
    """Return a limit on the probability of at least `errors` in the sample if the population has `all_errors`."""
    return _limit_tail(errors, min(checked, all_errors), checked * all_errors / population)


def _limit_tail(number: int, terms: int, mean: float) -> float:
    """Return the highest probability that at least `number` of `terms` independent events happen.

    `mean`: how many happen on average. Exact where it is below 0.25, otherwise some number above that.
    """
    from scipy.stats import binom

    if number <= 0:
        return 1.0
    if number == 1:
        return min(1.0, mean)  # if never two of them happen together
    return float(binom.sf(number - 1, terms, mean / terms))


def _find_first(low: int, high: int, holds: Callable[[int], bool]) -> int | None:
    """Return the first number from `low` to `high` for which the condition is true; None if there is none.

    The condition must stay true from there on.
    """
    if high < low or not holds(high):
        return None
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


NEGLIGIBLE = 1e-12  # a number of errors less likely than that is left out


def find_chance_of_passing(sizes: Sequence[int], population: int) -> float:
    """Return the probability of a false pass at one or more of these sample sizes.

    The population has the smallest number of errors that breaks the claim, and the sample has no strata. `sizes`
    ascend. With one size the probability is at most 1 - CONFIDENCE.
    """
    import numpy as np

    too_many = count_first_too_many(population)
    passes = [_count_allowed(size, population) for size in sizes]
    kept = max(passes) + 1  # with more errors than that it passes at no look any more
    chances = np.zeros(kept)  # of each number of errors, as long as it has not passed
    if kept:
        chances[0] = 1.0
    passed = 0.0
    for (before, size), allowed in zip(pairwise([0, *sizes]), passes, strict=True):
        after = np.zeros(kept)
        for errors in np.nonzero(chances > NEGLIGIBLE)[0]:
            drawn = _list_chances(
                kept - int(errors), population - before, too_many - int(errors), size - before
            )
            after[errors:] += chances[errors] * drawn
        passed += float(after[: allowed + 1].sum())
        after[: allowed + 1] = 0.0
        chances = after
    return passed


def _list_chances(first: int, population: int, errors: int, size: int) -> "NDArray[np.float64]":
    """Return the probabilities of 0 to `first` - 1 errors in a sample.

    Hypergeometric; scipy's own function takes 20 times as long.
    """
    import numpy as np
    from scipy.special import gammaln

    def log_ways(there: "NDArray[np.int64] | int", taken: "NDArray[np.int64] | int") -> "NDArray[np.float64]":
        ways: NDArray[np.float64] = (
            gammaln(np.add(there, 1.0))
            - gammaln(np.add(taken, 1.0))
            - gammaln(np.subtract(there, taken) + 1.0)
        )
        return ways

    chances = np.zeros(first)
    drawn = np.arange(max(0, size - (population - errors)), min(first - 1, errors, size) + 1)
    chances[drawn] = np.exp(
        log_ways(errors, drawn) + log_ways(population - errors, size - drawn) - log_ways(population, size)
    )
    return chances


def _count_allowed(size: int, population: int) -> int:
    """Return the most errors in a sample of this size with which the claim passes; -1 if it cannot pass."""
    low, high = -1, size
    while low < high:
        middle = (low + high + 1) // 2
        if is_proven(middle, size, population):
            low = middle
        else:
            high = middle - 1
    return low


BEYOND = 1.25  # how far past the deciding number the curve goes
STEPS = 32


def project(errors: int, checked: int, population: int, further: int) -> tuple[tuple[int, float], ...]:
    """Return (further pairs without an error, bound) from 0 to beyond `further`, which is included; evenly spaced."""
    last = min(population - checked, max(further + 1, ceil(BEYOND * further)))
    step = max(1, ceil(last / STEPS))
    numbers = sorted({*range(0, last, step), further, last})
    return tuple((number, compute_bound(errors, checked + number, population)) for number in numbers)
