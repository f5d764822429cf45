"""Quality control's sample sizes: Clopper & Pearson (1934) for the binomial, Hoeffding (1956) for a finite population.

The published sizes for "fewer than 5 % errors with 95 % confidence", and the bounds and their coverage for every sample of
small populations, wherever the errors are among the strata. Hoeffding's theorem 4: of all sums of yes-or-no variables with
a given mean, one whose variables are always 0, always 1, or all equally likely has the heaviest tail.
"""

from fractions import Fraction
from math import ceil, comb
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom, binomtest

from annotator.agreement.intervals import exact_interval
from annotator.quality.sampling import (
    compute_bound,
    count_first_too_many,
    count_further,
    find_chance_of_passing,
    find_least,
    find_most,
    is_disproven,
    is_proven,
    share_out,
)

ALPHA = Fraction(1, 20)
ROUNDING = 1e-9


def chance(errors: int, population: int, all_errors: int, checked: int) -> Fraction:
    """The probability of exactly so many errors in the sample, in whole numbers."""
    ways = comb(all_errors, errors) * comb(population - all_errors, checked - errors)
    return Fraction(ways, comb(population, checked))


def at_most(errors: int, population: int, all_errors: int, checked: int) -> Fraction:
    return sum((chance(k, population, all_errors, checked) for k in range(errors + 1)), Fraction(0))


def list_worst_sums(
    population: int, all_errors: int, checked: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return (variables always 1, equally likely ones, their chance) of every sum that could have the heaviest tail."""
    terms = min(checked, all_errors)
    mean = Fraction(checked * all_errors, population)
    sums = [
        (ones, between, float((mean - ones) / between) if between else 0.0)
        for ones in range(terms + 1)
        for between in range(terms - ones + 1)
        if (ones <= mean <= ones + between if between else mean == ones)
    ]
    ones, between, likely = np.array(sums, dtype=float).T
    return ones, between, likely


def at_most_in_strata(errors: int, population: int, all_errors: int, checked: int) -> float:
    """The highest probability of at most so many errors, wherever they are."""
    ones, between, likely = list_worst_sums(population, all_errors, checked)
    return float(binom.cdf(errors - ones, between, likely).max())


def at_least_in_strata(errors: int, population: int, all_errors: int, checked: int) -> float:
    """The highest probability of at least so many errors, wherever they are."""
    ones, between, likely = list_worst_sums(population, all_errors, checked)
    return float(binom.sf(errors - 1 - ones, between, likely).max())


@pytest.mark.parametrize(("errors", "needed"), [(0, 59), (1, 93), (2, 124), (3, 153)])
def test_an_endless_population_needs_the_published_numbers(errors: int, needed: int) -> None:
    assert count_further(errors, errors, None) == needed - errors
    assert is_proven(errors, needed, None)
    assert not is_proven(errors, needed - 1, None)
    assert compute_bound(errors, needed, None) < 0.05 <= compute_bound(errors, needed - 1, None)


@pytest.mark.parametrize(("population", "needed"), [(200, 52), (1_000, 59)])
def test_a_finite_population_needs_fewer(population: int, needed: int) -> None:
    assert count_further(0, 0, population) == needed
    assert compute_bound(0, needed, population) < 0.05 <= compute_bound(0, needed - 1, population)


def test_of_1000_pairs_59_are_enough_without_an_error_and_148_with_three() -> None:
    assert [errors + (count_further(errors, errors, 1_000) or 0) for errors in range(4)] == [59, 92, 121, 148]


def test_a_tenth_of_a_thousand_that_shows_3_percent_proves_7_5() -> None:
    assert compute_bound(3, 100, 1_000) == 0.075
    assert not is_proven(3, 100, 1_000)
    assert not is_disproven(3, 100, 1_000)


@given(st.data())
def test_the_interval_is_that_of_scipys_exact_test(data: st.DataObject) -> None:
    checked = data.draw(st.integers(1, 400))
    errors = data.draw(st.integers(0, checked))
    expected = binomtest(errors, checked).proportion_ci(0.95, method="exact")
    assert exact_interval(errors, checked) == pytest.approx((expected.low, expected.high), abs=1e-9)


@given(st.data())
def test_the_bounds_exclude_what_is_unlikely_wherever_the_errors_are(data: st.DataObject) -> None:
    population = data.draw(st.integers(1, 30))
    checked = data.draw(st.integers(1, population))
    errors = data.draw(st.integers(0, checked))
    possible = range(errors, population - (checked - errors) + 1)
    limit = float(ALPHA) + ROUNDING
    left = [number for number in possible if at_most_in_strata(errors, population, number, checked) > limit]
    assert find_most(errors, checked, population) == max(left, default=errors)
    left = [number for number in possible if at_least_in_strata(errors, population, number, checked) > limit]
    assert find_least(errors, checked, population) == min(left)
    too_many = ceil(Fraction(population, 20))
    assert count_first_too_many(population) == too_many
    assert is_proven(errors, checked, population) == (find_most(errors, checked, population) < too_many)
    assert is_disproven(errors, checked, population) == (find_least(errors, checked, population) >= too_many)
    assert not (is_proven(errors, checked, population) and is_disproven(errors, checked, population))


@given(st.data())
def test_further_pairs_are_as_few_as_prove_it(data: st.DataObject) -> None:
    population = data.draw(st.integers(1, 300))
    checked = data.draw(st.integers(0, population))
    errors = data.draw(st.integers(0, min(checked, 12)))
    left = data.draw(st.none() | st.integers(0, population))
    further = count_further(errors, checked, population, left=left)
    most = population - checked if left is None else min(left, population - checked)
    if further is None:
        assert not is_proven(errors, checked + most, population)
        return
    assert further <= most
    assert is_proven(errors, checked + further, population)
    assert further == 0 or not is_proven(errors, checked + further - 1, population)


@pytest.mark.parametrize("population", [1, 7, 20, 40])
def test_both_bounds_cover_the_truth_in_95_of_100_samples_wherever_the_errors_are(population: int) -> None:
    """Over every size of sample, every number of errors and every place of the errors."""
    for checked in range(1, population + 1):
        highest = [find_most(errors, checked, population) for errors in range(checked + 1)]
        lowest = [find_least(errors, checked, population) for errors in range(checked + 1)]
        for truth in range(population + 1):
            possible = range(max(0, checked - (population - truth)), min(checked, truth) + 1)
            low = max((errors for errors in possible if highest[errors] < truth), default=None)
            high = min((errors for errors in possible if lowest[errors] > truth), default=None)
            if low is not None:
                assert at_most_in_strata(low, population, truth, checked) <= ALPHA + ROUNDING, (
                    checked,
                    truth,
                )
            if high is not None:
                assert at_least_in_strata(high, population, truth, checked) <= ALPHA + ROUNDING, (
                    checked,
                    truth,
                )


def test_two_errors_alone_in_their_strata_are_never_both_left_out() -> None:
    """So one is left out more often than in a simple random sample, 5.04 instead of 4.999 %, and 2 is not excluded."""
    strata = {("a", 0): 1, ("b", 0): 1, ("a", 1): 117}
    for seed in range(2_000):
        seats = share_out(strata, 116, Random(seed))
        assert seats["a", 0] + seats["b", 0] >= 1
    assert at_most(1, 119, 2, 116) < ALPHA < 2 * Fraction(3, 119)
    assert find_most(1, 116, 119) == 2


def test_a_claim_on_the_line_counts_in_whole_pairs() -> None:
    assert [count_first_too_many(number) for number in (1, 20, 21, 200, 1_000)] == [1, 1, 2, 10, 50]
    assert is_proven(0, 19, 20)  # one wrong pair of 20 is 5 %, and it would be the one left out with 1 of 20
    assert not is_proven(0, 18, 20)
    assert is_disproven(1, 1, 20)  # one error of 20 is 5 %: too many already
    assert is_disproven(1, 1, 21)  # one alone of 21 would be met with 1 of 21 only
    assert not is_disproven(1, 2, 21)
    assert count_further(1, 1, 20) is None


def test_a_single_look_errs_in_less_than_5_percent_and_more_looks_more_often() -> None:
    """Counted out without strata: 40 pairs of which just too many, 2, are errors; 1,000 pairs looked at twice."""
    assert find_chance_of_passing([59], 1_000) == pytest.approx(float(at_most(0, 1_000, 50, 59)), rel=1e-6)
    enough = count_further(0, 0, 40)
    assert enough is not None
    assert find_chance_of_passing([enough], 40) == pytest.approx(float(at_most(0, 40, 2, enough)), rel=1e-6)
    twice = find_chance_of_passing([59, 92], 1_000)
    first = at_most(0, 1_000, 50, 59)
    assert is_proven(1, 92, 1_000)
    assert not is_proven(2, 92, 1_000)
    then = chance(1, 1_000, 50, 59) * at_most(0, 941, 49, 33)
    assert twice == pytest.approx(float(first + then), rel=1e-6)
    assert twice > 0.06
