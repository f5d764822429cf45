"""Tests of paired differences: published examples, other libraries, and counting by brute force."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.multitest import multipletests

from annotator.evaluation.differences.paired_tests import (
    adjust_holm,
    round_differences,
    run_randomization_tests,
    run_t_tests,
    run_wilcoxon_tests,
)
from tests.short_run import draw_few

Floats = NDArray[np.float64]

DARWIN = np.array([6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75], dtype=float)
DEPRESSION_BEFORE = np.array([1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30])
DEPRESSION_AFTER = np.array([0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29])
SLEEP_1 = np.array([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0])
SLEEP_2 = np.array([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])

small_differences = st.lists(st.integers(-4, 4), min_size=1, max_size=9)


def test_wilcoxon_of_darwins_plants_is_the_published_one() -> None:
    (result,) = run_wilcoxon_tests(DARWIN[:, None])
    assert (result.statistic, result.p, result.exact) == (24.0, 0.041259765625, True)


def test_wilcoxon_of_hollander_and_wolfe_is_the_published_one() -> None:
    (result,) = run_wilcoxon_tests(round_differences(DEPRESSION_BEFORE, DEPRESSION_AFTER)[:, None])
    assert (result.statistic, result.p, result.exact) == (5.0, 0.0390625, True)  # 45 − V = 40


def test_paired_t_test_of_the_sleep_data_is_the_published_one() -> None:
    (result,) = run_t_tests(round_differences(SLEEP_2, SLEEP_1)[:, None])
    assert result.t == pytest.approx(-4.06213, abs=1e-5)
    assert result.p == pytest.approx(0.0028329, abs=1e-7)
    assert result.ci95 == pytest.approx((-2.45989, -0.70011), abs=1e-5)
    assert result.cohens_d == pytest.approx(-4.06213 / np.sqrt(10), abs=1e-5)


@given(small_differences)
def test_wilcoxon_counts_every_assignment_of_signs_also_with_ties_and_zeros(values: list[int]) -> None:
    differences = np.array(values, dtype=float) / 10
    changed = differences[differences != 0]
    ranks = stats.rankdata(np.round(np.abs(changed), 6))
    observed = min(ranks[changed > 0].sum(), ranks[changed < 0].sum()) if len(changed) else 0.0
    sums = [
        sum(r for r, up in zip(ranks, ups, strict=True) if up) for ups in product((0, 1), repeat=len(ranks))
    ]
    expected = min(1.0, 2 * float(np.mean([s <= observed + 1e-9 for s in sums])))
    (result,) = run_wilcoxon_tests(differences[:, None])
    assert result.exact
    assert result.statistic == pytest.approx(observed)
    assert result.p == pytest.approx(expected)


def test_columns_together_give_what_each_gives_alone() -> None:
    random = np.random.default_rng(6)
    differences = round_differences(np.zeros((260, 7)), random.normal(0.02, 0.3, (260, 7)))
    differences[:, 1] = differences[:, 1].round(1)  # ties and zeros
    differences[20:, 2] = 0.0
    differences[:, 3] = 0.0
    differences[:, 4] = 0.25  # no t-test
    differences[60:, 5:] = 0.0
    differences[:60, 6] = np.abs(differences[:60, 5])  # the same ranks
    alone = [differences[:, [column]].copy() for column in range(7)]
    assert run_t_tests(differences) == [run_t_tests(column)[0] for column in alone]
    together = run_wilcoxon_tests(differences)
    assert together == [run_wilcoxon_tests(column)[0] for column in alone]
    assert [test.exact for test in together] == [False, False, True, True, False, True, True]
    assert together[6].statistic == 0.0


def test_wilcoxon_of_very_many_queries_is_the_normal_approximation_and_says_so() -> None:
    differences = np.random.default_rng(3).normal(0.02, 0.3, 1_000).round(2)
    (result,) = run_wilcoxon_tests(differences[:, None])
    expected = stats.wilcoxon(differences, method="approx", correction=False)
    assert not result.exact
    assert result.p == pytest.approx(float(expected.pvalue), rel=1e-9)


def test_the_exact_wilcoxon_approaches_the_normal_approximation() -> None:
    differences = np.random.default_rng(4).normal(0.02, 0.3, 200)
    (exact,) = run_wilcoxon_tests(differences[:, None])
    approximate = stats.wilcoxon(differences, method="approx", correction=False)
    assert exact.exact
    assert exact.p == pytest.approx(float(approximate.pvalue), rel=0.02)


@given(small_differences)
def test_the_randomization_test_counts_every_assignment_of_signs(values: list[int]) -> None:
    differences = np.array(values, dtype=float) / 10
    observed = abs(differences.sum())
    sums = [abs(np.dot(signs, differences)) for signs in product((-1, 1), repeat=len(differences))]
    expected = float(np.mean([s >= observed - 1e-9 for s in sums]))
    (result,) = run_randomization_tests(differences[:, None], seed=1)
    assert result.exact
    assert result.p == pytest.approx(expected)


@draw_few()
@given(st.lists(st.floats(-1, 1).map(lambda x: round(x, 3)), min_size=20, max_size=20))
def test_twenty_non_zero_differences_are_still_counted_exactly(values: list[float]) -> None:
    differences = np.array(values)
    (result,) = run_randomization_tests(differences[:, None], seed=1)
    sums = np.zeros(1)
    for difference in differences:
        sums = np.concatenate([sums - difference, sums + difference])
    assert len(sums) == 2**20
    expected = float((np.abs(sums) >= abs(differences.sum()) - 1e-9).mean())
    assert result.exact
    assert result.p == pytest.approx(expected)


def test_more_than_twenty_differences_are_sampled_with_the_seed() -> None:
    differences = np.random.default_rng(5).normal(0.05, 0.2, (60, 3))
    differences[:50, 2] = 0.0
    first = run_randomization_tests(differences, seed=11)
    again = run_randomization_tests(differences, seed=11)
    other = run_randomization_tests(differences, seed=12)
    assert first == again != other
    assert [test.exact for test in first] == [False, False, True]
    for column in (0, 1):
        reference = stats.permutation_test(
            (differences[:, column],),
            np.mean,
            permutation_type="samples",
            n_resamples=20_000,
            rng=np.random.default_rng(1),
        )
        assert first[column].p == pytest.approx(float(reference.pvalue), abs=0.02)


def test_a_sampled_p_value_is_never_0() -> None:
    (result,) = run_randomization_tests(
        np.full((30, 1), 0.5) + np.arange(30)[:, None] / 100, seed=1, resamples=99
    )
    assert result.p == pytest.approx(0.01)


def test_identical_systems_have_no_difference_to_test() -> None:
    nothing = np.zeros(12)
    assert run_t_tests(nothing[:, None])[0].p is None
    assert run_wilcoxon_tests(nothing[:, None])[0].p == 1.0
    assert run_randomization_tests(nothing[:, None], seed=1)[0].p == 1.0


def test_one_query_allows_no_t_test() -> None:
    assert run_t_tests(np.array([0.3])[:, None])[0].p is None
    assert run_wilcoxon_tests(np.array([0.3])[:, None])[0].p == 1.0


def test_equal_differences_allow_no_t_test() -> None:
    assert (
        run_t_tests(round_differences(np.array([0.1, 0.2, 0.3]), np.array([0.2, 0.3, 0.4]))[:, None])[0].p
        is None
    )


def test_rounding_of_floats_makes_no_difference() -> None:
    assert list(round_differences(np.array([0.3]), np.array([0.1 + 0.2]))) == [0.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_equals_statsmodels(p_values: list[float]) -> None:
    assert adjust_holm(p_values) == pytest.approx(list(multipletests(p_values, method="holm")[1]))


def test_holm_leaves_an_undefined_p_value_out() -> None:
    assert adjust_holm([0.01, None, 0.04]) == [0.02, None, 0.04]
