"""What a random sample proves about the errors of a finite population: exact, from the hypergeometric distribution.

`population` pairs hold an unknown number of errors; of `checked` drawn at random, `errors` were found to be wrong. A
number of errors is excluded when a sample as good as this one (or better) has at most a probability of 1 - confidence
under it. `population` None: without end, then the distribution is the binomial. Everything is counted in whole pairs:
in 1,000 pairs "less than 5 %" means at most 49 errors.

Sources: Clopper & Pearson 1934 (interval); Wright 1991, *Exact confidence bounds when sampling from small finite
universes* (its counterpart by inverting the hypergeometric distribution). See docs/statistics.md.
"""

from collections.abc import Callable
from fractions import Fraction
from math import ceil

from annotator.agreement.records import Interval
from annotator.quality.records import CONFIDENCE, LIMIT

LARGEST = 1_000_000  # further samples that are looked for without an end of the population
ROUNDING = 1e-9  # by which a probability may be off: 1 of 20 is 0.05


def compute_interval(errors: int, checked: int, *, confidence: float = CONFIDENCE) -> Interval:
    """The exact two-sided interval of the share of errors (Clopper & Pearson 1934)."""
    from scipy.stats import beta

    tail = (1 - confidence) / 2
    low = 0.0 if errors == 0 else float(beta.ppf(tail, errors, checked - errors + 1))
    high = 1.0 if errors == checked else float(beta.ppf(1 - tail, errors + 1, checked - errors))
    return low, high


def compute_bound(
    errors: int, checked: int, population: int | None, *, confidence: float = CONFIDENCE
) -> float:
    """The largest share of errors in the population that the sample does not exclude (one-sided)."""
    if population is not None:
        return find_most(errors, checked, population, confidence=confidence) / population
    if errors == checked:
        return 1.0
    from scipy.stats import beta

    return float(beta.ppf(confidence, errors + 1, checked - errors))


def find_most(errors: int, checked: int, population: int, *, confidence: float = CONFIDENCE) -> int:
    """The largest number of errors in the population that the sample does not exclude."""
    highest = population - (checked - errors)
    excluded = _find_first(
        errors + 1,
        highest,
        lambda all_errors: _few(errors, checked, population, all_errors) <= 1 - confidence + ROUNDING,
    )
    return highest if excluded is None else excluded - 1


def find_least(errors: int, checked: int, population: int, *, confidence: float = CONFIDENCE) -> int:
    """The smallest number of errors in the population that the sample does not exclude; never less than were found."""
    highest = population - (checked - errors)
    found = _find_first(
        errors,
        highest,
        lambda all_errors: _many(errors, checked, population, all_errors) > 1 - confidence + ROUNDING,
    )
    return highest if found is None else found


def count_first_too_many(population: int, *, limit: float = LIMIT) -> int:
    """The smallest number of errors at which the claim "fewer than `limit` of the population" is wrong."""
    return max(1, ceil(Fraction(str(limit)) * population))


def is_proven(
    errors: int,
    checked: int,
    population: int | None,
    *,
    limit: float = LIMIT,
    confidence: float = CONFIDENCE,
) -> bool:
    """Whether the sample proves that fewer than `limit` of the population are errors."""
    return checked > 0 and _chance_of_few(errors, checked, population, limit) <= 1 - confidence + ROUNDING


def is_disproven(
    errors: int, checked: int, population: int, *, limit: float = LIMIT, confidence: float = CONFIDENCE
) -> bool:
    """Whether the sample proves that `limit` of the population or more are errors."""
    too_many = count_first_too_many(population, limit=limit)
    return checked > 0 and find_least(errors, checked, population, confidence=confidence) >= too_many


def count_further(
    errors: int,
    checked: int,
    population: int | None,
    *,
    left: int | None = None,
    limit: float = LIMIT,
    confidence: float = CONFIDENCE,
) -> int | None:
    """How many more pairs without an error would prove it: 0 when it is proven, None when not even all that are `left`
    to be checked (None: the whole rest of the population) would."""
    rest = LARGEST if population is None else population - checked
    most = rest if left is None else min(left, rest)
    return _find_first(
        0,
        most,
        lambda more: is_proven(errors, checked + more, population, limit=limit, confidence=confidence),
    )


def _chance_of_few(errors: int, checked: int, population: int | None, limit: float) -> float:
    """The probability of at most so many errors in the sample if the population held just too many."""
    if population is not None:
        return _few(errors, checked, population, count_first_too_many(population, limit=limit))
    from scipy.stats import binom

    return float(binom.cdf(errors, checked, limit))


def _few(errors: int, checked: int, population: int, all_errors: int) -> float:
    """The probability of at most `errors` in the sample when the population holds `all_errors`."""
    if all_errors > population - (checked - errors):
        return 0.0  # more are right in the sample than there would be
    from scipy.stats import hypergeom

    return float(hypergeom.cdf(errors, population, all_errors, checked))


def _many(errors: int, checked: int, population: int, all_errors: int) -> float:
    """The probability of at least `errors` in the sample when the population holds `all_errors`."""
    from scipy.stats import hypergeom

    return float(hypergeom.sf(errors - 1, population, all_errors, checked))


def _find_first(low: int, high: int, holds: Callable[[int], bool]) -> int | None:
    """The first number from `low` to `high` of which it holds, when it holds of all after one of which it does; None
    when there is none."""
    if high < low or not holds(high):
        return None
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
