"""Quality control's sample sizes: Clopper & Pearson (1934) for the binomial, Wright (1991) for a finite population.

The published sizes for "fewer than 5 % errors with 95 % confidence", the bounds of every sample of small populations by
counting them out in fractions, and their coverage over all samples.
"""

from fractions import Fraction
from math import ceil, comb

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

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
)

ALPHA = Fraction(1, 20)


def chance(errors: int, population: int, all_errors: int, checked: int) -> Fraction:
    """The probability of exactly so many errors in the sample, in whole numbers."""
    ways = comb(all_errors, errors) * comb(population - all_errors, checked - errors)
    return Fraction(ways, comb(population, checked))


def at_most(errors: int, population: int, all_errors: int, checked: int) -> Fraction:
    return sum((chance(k, population, all_errors, checked) for k in range(errors + 1)), Fraction(0))


def at_least(errors: int, population: int, all_errors: int, checked: int) -> Fraction:
    return sum((chance(k, population, all_errors, checked) for k in range(errors, checked + 1)), Fraction(0))


@pytest.mark.parametrize(("errors", "needed"), [(0, 59), (1, 93), (2, 124), (3, 153)])
def test_an_endless_population_needs_the_published_numbers(errors: int, needed: int) -> None:
    assert count_further(errors, errors, None) == needed - errors
    assert is_proven(errors, needed, None)
    assert not is_proven(errors, needed - 1, None)
    assert compute_bound(errors, needed, None) < 0.05 <= compute_bound(errors, needed - 1, None)


@pytest.mark.parametrize(("population", "needed"), [(200, 51), (1_000, 57)])
def test_a_finite_population_needs_fewer(population: int, needed: int) -> None:
    assert count_further(0, 0, population) == needed
    assert compute_bound(0, needed, population) < 0.05 <= compute_bound(0, needed - 1, population)


def test_a_tenth_of_a_thousand_that_shows_3_percent_proves_7_3() -> None:
    assert compute_bound(3, 100, 1_000) == 0.073
    assert not is_proven(3, 100, 1_000)
    assert not is_disproven(3, 100, 1_000)


@given(st.data())
def test_the_interval_is_that_of_scipys_exact_test(data: st.DataObject) -> None:
    checked = data.draw(st.integers(1, 400))
    errors = data.draw(st.integers(0, checked))
    expected = binomtest(errors, checked).proportion_ci(0.95, method="exact")
    assert exact_interval(errors, checked) == pytest.approx((expected.low, expected.high), abs=1e-9)


@given(st.data())
def test_what_is_not_excluded_is_what_counting_out_leaves(data: st.DataObject) -> None:
    population = data.draw(st.integers(1, 60))
    checked = data.draw(st.integers(1, population))
    errors = data.draw(st.integers(0, checked))
    possible = range(errors, population - (checked - errors) + 1)
    left = [number for number in possible if at_most(errors, population, number, checked) > ALPHA]
    assert find_most(errors, checked, population) == max(left, default=errors)
    left = [number for number in possible if at_least(errors, population, number, checked) > ALPHA]
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


@pytest.mark.parametrize("population", [1, 7, 20, 40, 57])
def test_the_bound_covers_the_truth_in_95_of_100_samples_at_least(population: int) -> None:
    """Over every size of sample and every number of errors, counted out."""
    for checked in range(1, population + 1):
        bounds = [find_most(errors, checked, population) for errors in range(checked + 1)]
        for truth in range(population + 1):
            covered = sum(
                chance(errors, population, truth, checked)
                for errors in range(max(0, checked - (population - truth)), min(checked, truth) + 1)
                if bounds[errors] >= truth
            )
            assert covered >= 1 - ALPHA, (checked, truth)


def test_a_claim_on_the_line_counts_in_whole_pairs() -> None:
    assert [count_first_too_many(number) for number in (1, 20, 21, 200, 1_000)] == [1, 1, 2, 10, 50]
    assert is_proven(0, 19, 20)  # one wrong pair of 20 is 5 %, and it would be the one left out with 1 of 20
    assert not is_proven(0, 18, 20)
    assert is_disproven(1, 1, 20)  # one error of 20 is 5 %: too many already
    assert is_disproven(1, 1, 21)  # one alone of 21 would be met with 1 of 21 only
    assert not is_disproven(1, 2, 21)
    assert count_further(1, 1, 20) is None


def test_a_single_look_errs_in_5_percent_and_more_looks_more_often() -> None:
    """Counted out for 40 pairs of which just too many, 2, are errors, looked at after 31 and after 36."""
    assert find_chance_of_passing([57], 1_000) == pytest.approx(float(at_most(0, 1_000, 50, 57)), rel=1e-6)
    assert find_chance_of_passing([31], 40) == pytest.approx(float(at_most(0, 40, 2, 31)), rel=1e-6)
    twice = find_chance_of_passing([57, 91], 1_000)
    first = at_most(0, 1_000, 50, 57)
    allowed = 1 if is_proven(1, 91, 1_000) else 0
    assert allowed == 1
    then = chance(1, 1_000, 50, 57) * at_most(0, 943, 49, 34)
    assert twice == pytest.approx(float(first + then), rel=1e-6)
    assert twice > 0.07
