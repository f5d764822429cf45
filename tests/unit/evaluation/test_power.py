"""Power of the paired t-test: against statsmodels, and published numbers of queries."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from statsmodels.stats.power import TTestPower

from annotator.evaluation.differences.comparison import (
    compare_systems,
    compute_power,
    find_detectable_effect,
    find_queries_needed,
    list_queries_needed,
    measure_powers,
)


@pytest.mark.parametrize("effect", [0.05, 0.2, 0.3, 0.8, 2.0])
@pytest.mark.parametrize("queries", [2, 5, 13, 50, 200])
def test_power_equals_that_of_statsmodels(effect: float, queries: int) -> None:
    expected = TTestPower().power(effect, queries, 0.05, alternative="two-sided")
    assert compute_power(effect, queries) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("deviation", "published"), [(0.15, 73), (0.20, 128), (0.25, 199)])
def test_a_difference_of_five_hundredths_needs_the_published_number_of_queries(
    deviation: float, published: int
) -> None:
    assert find_queries_needed(0.05 / deviation) == published


def test_the_number_of_queries_needed_is_the_smallest_one() -> None:
    needed = find_queries_needed(0.3)
    assert needed is not None
    assert compute_power(0.3, needed) >= 0.8 > compute_power(0.3, needed - 1)


def test_no_effect_needs_no_stated_number_of_queries() -> None:
    assert find_queries_needed(0.0) is None
    assert find_queries_needed(1e-9) is None


def test_many_effects_at_once_need_what_each_needs_alone() -> None:
    effects = [0.0, 0.3, -0.3, 1e-9, 0.05, 2.5, 40.0, 0.7]
    assert list_queries_needed(np.array(effects)) == [find_queries_needed(effect) for effect in effects]
    assert list_queries_needed(np.array([])) == []
    for effect in (0.05, 0.7):
        needed = find_queries_needed(effect)
        assert needed is not None
        assert compute_power(effect, needed) >= 0.8 > compute_power(effect, needed - 1)


def test_one_query_detects_nothing() -> None:
    assert find_detectable_effect(1) is None
    assert compute_power(5.0, 1) == 0.0


@pytest.mark.parametrize("queries", [2, 3, 13, 50, 1000])
def test_the_detectable_effect_is_found_with_80_percent_power(queries: int) -> None:
    effect = find_detectable_effect(queries)
    assert effect is not None
    assert compute_power(effect, queries) == pytest.approx(0.8, abs=1e-6)


def test_the_power_is_what_simulated_tests_reach() -> None:
    """5,000 simulated sets of 50 differences with d = 0.3: power 0.55, standard error of the simulation 0.007."""
    random = np.random.default_rng(7)
    differences = random.normal(0.3, 1.0, size=(50, 5_000))
    found = float((ttest_1samp(differences, 0.0, axis=0).pvalue < 0.05).mean())
    assert found == pytest.approx(compute_power(0.3, 50), abs=0.02)


def test_the_detectable_difference_is_the_detectable_effect_times_the_deviation() -> None:
    random = np.random.default_rng(2)
    base = random.uniform(0.2, 0.6, 50)
    (comparison,) = compare_systems({"A": base, "B": base + random.normal(0.02, 0.15, 50)}, "nDCG@10", seed=1)
    (power,) = measure_powers([comparison])
    effect = find_detectable_effect(50)
    assert effect is not None and power.detectable is not None
    assert power.detectable == pytest.approx(effect * power.sd)
    assert power.queries_for_small_effect == 90
    assert power.queries_for_difference == find_queries_needed(comparison.difference / power.sd)
    assert power.sentence.startswith("50 queries can show a difference of 0.0")


def test_what_would_exceed_the_largest_possible_difference_is_no_detectable_one() -> None:
    """Two queries detect d = 13.9 or more; 13.9 times the deviation of 0.28 is 3.9, and no measure exceeds 1."""
    scores = {"A": np.array([0.0, 0.5]), "B": np.array([0.6, 0.7])}
    (comparison,) = compare_systems(scores, "nDCG@10", seed=1)
    (power,) = measure_powers([comparison])
    assert power.detectable is None
    assert power.sentence == (
        "2 queries can show no difference between A and B on nDCG@10: their scores vary too much. To confirm the "
        f"observed 0.400 you need about {power.queries_for_difference} queries."
    )


def test_identical_systems_have_no_variance_to_plan_with() -> None:
    values = np.array([0.1, 0.5, 0.9])
    (comparison,) = compare_systems({"A": values, "B": values}, "nDCG@10", seed=1)
    assert measure_powers([comparison]) == []
