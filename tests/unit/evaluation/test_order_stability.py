"""Orders of systems: τ against scipy, τ_AP against its definition, swaps under resampled queries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from annotator.evaluation.dataset_analysis.system_order import (
    compare_orders,
    compute_tau,
    compute_tau_ap,
    measure_resampled_order,
)
from annotator.evaluation.differences.comparison import resample_means

scores = st.lists(st.integers(0, 5), min_size=2, max_size=8)


@given(st.data())
def test_tau_equals_scipys_tau_b(data: st.DataObject) -> None:
    first = data.draw(scores)
    second = data.draw(st.lists(st.integers(0, 5), min_size=len(first), max_size=len(first)))
    expected = kendalltau(first, second).statistic
    tau = compute_tau(np.array(first, dtype=float), np.array(second, dtype=float))
    assert tau is None if np.isnan(expected) else tau == pytest.approx(expected)


def test_the_same_order_agrees_and_the_reversed_one_disagrees() -> None:
    values = np.array([0.5, 0.4, 0.3, 0.2])
    assert compare_orders("ABCD", values, values * 2).tau_ap == pytest.approx(1.0)
    assert compare_orders("ABCD", values, -values).tau_ap == pytest.approx(-1.0)
    assert compare_orders("ABCD", values, -values).tau == pytest.approx(-1.0)


def test_tau_ap_weighs_a_swap_at_the_top_more_than_one_at_the_bottom() -> None:
    """Order 2 1 3 4: shares above are 0, 1, 1 → 2 · (2/3) − 1 = 1/3. Order 1 2 4 3: 1, 1, 2/3 → 7/9."""
    reference = np.array([4.0, 3.0, 2.0, 1.0])
    assert compute_tau_ap(reference, np.array([3.0, 4.0, 2.0, 1.0])) == pytest.approx(1 / 3)
    assert compute_tau_ap(reference, np.array([4.0, 3.0, 1.0, 2.0])) == pytest.approx(7 / 9)


def test_equal_scores_have_no_order_to_compare() -> None:
    equal, values = np.array([0.5, 0.5]), np.array([0.1, 0.2])
    assert compute_tau(equal, values) is None
    assert compute_tau_ap(equal, values) is None
    assert compute_tau_ap(values, equal) is None
    assert compute_tau_ap(np.array([0.5]), np.array([0.5])) is None


def test_swapped_pairs_name_the_system_that_was_higher_first() -> None:
    agreement = compare_orders(("A", "B", "C"), np.array([0.3, 0.2, 0.1]), np.array([0.2, 0.3, 0.1]))
    assert agreement.swapped == (("A", "B"),)


def test_resampled_queries_swap_close_neighbours_and_leave_distant_ones() -> None:
    random = np.random.default_rng(2)
    base = random.uniform(0.2, 0.6, 40)
    table = np.column_stack(
        [base - 0.15, base + random.normal(0.0, 0.1, 40), base + random.normal(0.0, 0.1, 40)]
    )
    order = measure_resampled_order(("low", "x", "y"), table.mean(axis=0), resample_means(table, seed=1))
    assert order.systems[-1] == "low"
    assert set(order.systems[:2]) == {"x", "y"}
    close, distant = order.neighbours
    assert {close.higher, close.lower} == {"x", "y"}
    assert 0.02 < close.share < 0.5
    assert distant.share == 0.0
    assert order.same_winner == pytest.approx(1 - close.share, abs=0.01)
    assert order.tau is not None and order.tau_range is not None
    assert order.tau_range[0] <= order.tau <= order.tau_range[1]


def test_identical_systems_never_count_as_swapped() -> None:
    table = np.column_stack([np.linspace(0, 1, 9)] * 2)
    order = measure_resampled_order(
        ("A", "B"), table.mean(axis=0), resample_means(table, seed=1, resamples=100)
    )
    assert order.neighbours[0].share == 0.0
    assert order.tau is None
    assert order.same_winner == 1.0


@given(st.integers(0, 10_000))
def test_all_resamples_at_once_agree_with_one_by_one(seed: int) -> None:
    random = np.random.default_rng(seed)
    table = random.integers(0, 4, (6, 4)) / 4
    resampled = resample_means(table, seed=seed, resamples=20)
    means = table.mean(axis=0)
    order = measure_resampled_order("ABCD", means, resampled)
    taus = [tau for row in resampled if (tau := compute_tau(means, row)) is not None]
    tau_aps = [tau for row in resampled if (tau := compute_tau_ap(means, row)) is not None]
    assert order.tau == (pytest.approx(np.mean(taus)) if taus else None)
    assert order.tau_ap == (pytest.approx(np.mean(tau_aps)) if tau_aps else None)
