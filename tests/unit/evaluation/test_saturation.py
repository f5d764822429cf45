"""Which measures cannot rank the systems, and which queries carry what they show."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.evaluation.dataset_analysis.system_order import measure_saturation


def name_queries(count: int) -> list[str]:
    return [f"q{number}" for number in range(count)]


def test_a_measure_that_is_1_nearly_everywhere_cannot_rank_the_systems() -> None:
    table = np.ones((50, 3))
    table[:9, 0] = 0.96
    saturation = measure_saturation("MRR", name_queries(50), table)
    assert saturation.saturated
    assert saturation.perfect_queries == 41
    assert saturation.sentence == "MRR cannot rank these systems: 41 of 50 queries give 1.0 to all of them."


def test_means_that_hardly_differ_cannot_rank_the_systems() -> None:
    table = np.tile([[0.4, 0.404]], (10, 1))
    saturation = measure_saturation("AP", name_queries(10), table)
    assert saturation.saturated
    assert saturation.sentence == "AP cannot rank these systems: their means lie within 0.004."


def test_a_spread_is_never_shown_as_zero() -> None:
    saturation = measure_saturation("P@1000", name_queries(10), np.tile([[0.4, 0.40002]], (10, 1)))
    assert saturation.sentence == "P@1000 cannot rank these systems: their means lie within 0.001."


def test_equal_means_cannot_rank_the_systems() -> None:
    saturation = measure_saturation("P@5", name_queries(4), np.full((4, 2), 0.2))
    assert saturation.sentence == "P@5 cannot rank these systems: all have the same mean."


def test_means_that_differ_by_the_limit_are_not_saturated() -> None:
    table = np.tile([[0.4, 0.4055]], (10, 1))
    assert not measure_saturation("AP", name_queries(10), table).saturated


def test_a_measure_that_rests_on_few_queries_says_so() -> None:
    table = np.full((10, 2), 0.5)
    table[0] = [0.0, 1.0]
    saturation = measure_saturation("AP", name_queries(10), table)
    assert saturation.equal_queries == 9
    assert saturation.sentence == "Only 1 of 10 queries separates the systems on AP."


def test_a_measure_that_ranks_well_needs_no_sentence() -> None:
    table = np.random.default_rng(1).uniform(size=(30, 3))
    assert measure_saturation("AP", name_queries(30), table).sentence is None


def test_one_system_cannot_be_saturated() -> None:
    saturation = measure_saturation("AP", name_queries(3), np.ones((3, 1)))
    assert not saturation.saturated
    assert saturation.sentence is None


def test_a_single_query_that_carries_the_spread_stands_first() -> None:
    table = np.full((5, 2), 0.5)
    table[3] = [0.0, 1.0]
    shares = measure_saturation("nDCG@10", name_queries(5), table).shares
    assert (shares[0].query_id, shares[0].share) == ("q3", pytest.approx(1.0))


@given(st.integers(1, 8), st.integers(2, 5), st.integers(0, 10_000))
def test_the_shares_of_all_queries_sum_to_1(queries: int, systems: int, seed: int) -> None:
    table = np.random.default_rng(seed).uniform(size=(queries, systems))
    shares = measure_saturation("AP", name_queries(queries), table).shares
    assert sum(share.share for share in shares) == pytest.approx(1.0)
    assert [share.share for share in shares] == sorted((share.share for share in shares), reverse=True)
