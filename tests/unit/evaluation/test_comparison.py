"""Comparison of systems: signs, intervals, Holm over the systems compared, and the sentence."""

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from annotator.domain.figures import show_p
from annotator.evaluation.differences.comparison import (
    compare_systems,
    count_wins,
    find_best_systems,
    find_intervals,
    find_range,
    list_mean_intervals,
    resample_means,
)


def make_scores(queries: int = 50, seed: int = 3) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    base = random.uniform(0.2, 0.8, queries)
    return {
        "A": base,
        "B": np.clip(base + random.normal(0.06, 0.08, queries), 0, 1),
        "C": np.clip(base + random.normal(0.0, 0.08, queries), 0, 1),
    }


def test_the_difference_is_b_minus_a_and_wins_belong_to_b() -> None:
    (comparison,) = compare_systems(
        {"A": np.array([0.1, 0.5, 0.5, 0.9]), "B": np.array([0.3, 0.5, 0.4, 1.0])}, "P@5", seed=1
    )
    assert (comparison.a, comparison.b) == ("A", "B")
    assert comparison.difference == pytest.approx(0.05)
    assert (comparison.wins, comparison.ties, comparison.losses) == (2, 1, 1)


def test_every_two_systems_are_compared_or_each_with_the_baseline() -> None:
    scores = make_scores()
    assert [(c.a, c.b) for c in compare_systems(scores, "AP", seed=1)] == [("A", "B"), ("A", "C"), ("B", "C")]
    with_baseline = compare_systems(scores, "AP", baseline="C", seed=1)
    assert [(c.a, c.b) for c in with_baseline] == [("C", "A"), ("C", "B")]


def test_holm_covers_exactly_the_pairs_that_are_compared() -> None:
    scores = make_scores()
    for baseline in (None, "A"):
        comparisons = compare_systems(scores, "AP", baseline=baseline, seed=1)
        expected = multipletests([c.t_test.p for c in comparisons], method="holm")[1]
        assert [c.p_holm for c in comparisons] == pytest.approx(list(expected))


def test_the_interval_is_the_bootstrap_of_the_difference_by_query() -> None:
    scores = make_scores()
    comparison = compare_systems(scores, "AP", seed=5, resamples=2_000)[0]
    random = np.random.default_rng(99)
    drawn = random.integers(0, 50, (4_000, 50))
    means = (scores["B"] - scores["A"])[drawn].mean(axis=1)
    assert comparison.ci95 == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])), abs=0.003)


def test_a_shown_difference_names_the_better_system_first_whatever_their_order() -> None:
    scores = make_scores()
    verdict = compare_systems({"A": scores["A"], "B": scores["B"]}, "nDCG@10", seed=1)[0].verdict
    turned = compare_systems({"B": scores["B"], "A": scores["A"]}, "nDCG@10", seed=1)[0].verdict
    assert verdict == turned
    assert verdict.startswith("B is better than A on nDCG@10 by 0.0")
    assert " [0.0" in verdict
    assert "after Holm; d = " in verdict


def test_a_difference_that_chance_explains_is_not_called_better() -> None:
    scores = make_scores()
    comparison = compare_systems({"A": scores["A"], "C": scores["C"]}, "AP", seed=1)[0]
    assert comparison.p_holm is not None and comparison.p_holm > 0.05
    assert comparison.verdict.startswith("No difference is shown between ")


def test_a_difference_lost_by_holms_correction_is_not_called_better() -> None:
    random = np.random.default_rng(8)
    base = random.uniform(0.2, 0.8, 40)
    near = base + random.normal(0, 0.1, 40)
    near += base.mean() - near.mean() + 0.036  # p about .03 alone
    alone = compare_systems({"A": base, "B": near}, "AP", seed=1)[0]
    assert alone.significant
    others = {f"S{i}": base + random.normal(0, 0.1, 40) for i in range(4)}
    among = compare_systems({"A": base, "B": near, **others}, "AP", seed=1)[0]
    assert among.t_test.p == alone.t_test.p
    assert not among.significant
    assert among.verdict.startswith("No difference is shown")


def test_identical_systems_are_called_the_same() -> None:
    values = np.array([0.2, 0.4, 0.9])
    (comparison,) = compare_systems({"A": values, "B": values.copy()}, "RR", seed=1)
    assert comparison.verdict == "A and B have the same RR on every query."
    assert comparison.t_test.p is None


def test_one_query_allows_no_test_and_the_sentence_says_so() -> None:
    (comparison,) = compare_systems({"A": np.array([0.2]), "B": np.array([0.4])}, "RR", seed=1)
    assert comparison.ci95 is None
    assert comparison.p_holm is None
    assert comparison.verdict == "A and B cannot be compared on RR: one query allows no test."


def test_equal_differences_are_tested_by_randomization() -> None:
    base = np.linspace(0.1, 0.7, 12)
    (comparison,) = compare_systems({"A": base, "B": base + 0.1}, "RR", seed=1)
    assert comparison.t_test.p is None
    assert comparison.p_holm == comparison.randomization.p == pytest.approx(2 / 2**12)
    assert comparison.verdict == "B is better than A on RR by 0.100 on every query; p < .001 after Holm."


def test_one_system_has_nothing_to_be_compared_with() -> None:
    assert compare_systems({"A": np.array([0.2, 0.3])}, "RR", seed=1) == ()


def test_the_same_seed_gives_the_same_comparison() -> None:
    scores = make_scores()
    assert compare_systems(scores, "AP", seed=4) == compare_systems(scores, "AP", seed=4)
    assert compare_systems(scores, "AP", seed=4) != compare_systems(scores, "AP", seed=5)


@pytest.mark.parametrize(
    ("p", "printed"),
    [(0.0041, "p = .004"), (0.00049, "p < .001"), (0.41, "p = .410"), (1.0, "p = 1"), (None, "p undefined")],
)
def test_p_values_are_printed_as_in_papers(p: float | None, printed: str) -> None:
    assert show_p(p) == printed


def test_systems_that_share_the_highest_score_of_a_query_all_win() -> None:
    assert count_wins({"A": np.array([1.0, 0.5]), "B": np.array([1.0, 0.2])}) == {"A": 2, "B": 1}


def test_the_systems_with_the_highest_mean_are_the_best() -> None:
    assert find_best_systems({"A": np.array([1.0, 0.0]), "B": np.array([0.5, 0.5])}) == ("A", "B")
    assert find_best_systems({"A": np.array([0.3]), "B": np.array([0.9])}) == ("B",)


def test_resampled_means_of_a_constant_are_the_constant() -> None:
    means = resample_means(np.full((7, 2), 0.25), seed=1, resamples=50)
    assert means.shape == (50, 2)
    assert np.allclose(means, 0.25)
    assert find_range(means[:, 0]) == pytest.approx((0.25, 0.25))
    assert find_intervals(means, 7) == [pytest.approx((0.25, 0.25))] * 2


def test_all_systems_are_resampled_on_the_same_queries() -> None:
    values = np.random.default_rng(1).uniform(size=20)
    means = resample_means(np.column_stack([values, values + 0.1]), seed=2, resamples=200)
    assert np.allclose(means[:, 1] - means[:, 0], 0.1)
    assert means[:, 0].std() > 0


def test_intervals_of_many_columns_are_those_of_each_alone() -> None:
    random = np.random.default_rng(4)
    columns = [random.uniform(size=count) for count in (30, 12, 30, 1, 0)]
    intervals = list_mean_intervals(columns, seed=7, resamples=100)
    for column, interval in zip(columns[:3], intervals, strict=False):
        resampled = resample_means(column[:, None], seed=7, resamples=100)
        assert [interval] == find_intervals(resampled, len(column))
    assert intervals[3:] == [None, None]


def test_more_resamples_than_are_drawn_at_a_time_give_one_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "annotator.evaluation.differences.comparison.WEIGHTS_AT_ONCE", 300
    )  # 10 resamples of 30 queries
    column = np.random.default_rng(4).uniform(size=30)
    (interval,) = list_mean_intervals([column], seed=7, resamples=25)
    assert [interval] == find_intervals(resample_means(column[:, None], seed=7, resamples=25), 30)


def test_no_query_has_no_interval() -> None:
    nothing = resample_means(np.empty((0, 2)), seed=1)
    assert find_intervals(nothing, 0) == [None, None]
    assert find_range(nothing[:, 0]) is None


@pytest.mark.parametrize("queries", [10, 50])
def test_an_interval_of_few_queries_holds_the_true_mean_as_often_as_it_says(queries: int) -> None:
    """600 simulated sets of skewed scores; plain percentiles hold it in 89 and 94 % of them."""
    random = np.random.default_rng(3)
    columns = list(random.beta(1.5, 1.0, size=(600, queries)))
    intervals = list_mean_intervals(columns, seed=0, resamples=400)
    held = np.mean([low <= 0.6 <= high for low, high in filter(None, intervals)])
    assert 0.93 <= held <= 0.97


def test_a_bound_that_rounds_to_0_has_no_sign() -> None:
    scores = {"A": np.array([0.5, 0.5, 0.5, 0.6]), "B": np.array([0.5, 0.5, 0.5, 0.4])}
    (comparison,) = compare_systems(scores, "AP", seed=1)
    assert "-0.000" not in comparison.verdict
    assert comparison.ci95 is not None
    assert max(comparison.ci95) == 0
