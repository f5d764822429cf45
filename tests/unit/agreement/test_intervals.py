"""Resampling by query: what is drawn, and what an interval is made of."""

import numpy as np
import pytest

from annotator.agreement import intervals as agreement_intervals
from annotator.agreement.intervals import (
    CountBlock,
    Resamples,
    find_tail,
    interval,
    intervals,
)
from annotator.agreement.judgment_table import Floats


def _block(queries: list[int], features: list[list[float]]) -> CountBlock:
    return CountBlock(np.array(queries), np.array(features, dtype=float))


def _sum(blocks: list[CountBlock], *, resamples: int, seed: int) -> list[Floats]:
    queries = np.unique(np.concatenate([block.queries for block in blocks]))
    return Resamples(queries, resamples, seed).sum(blocks)


def test_a_query_is_drawn_or_left_out_as_a_whole() -> None:
    block = _block([3, 8], [[1, 10], [100, 1000]])
    (sums,) = _sum([block], resamples=200, seed=0)
    possible = {(2.0, 20.0), (101.0, 1010.0), (200.0, 2000.0)}
    assert {tuple(row) for row in sums.tolist()} == possible


def test_all_blocks_see_the_same_resamples() -> None:
    first, second = _sum(
        [_block([1, 2, 3], [[1], [2], [4]]), _block([3, 1], [[4], [1]])], resamples=300, seed=5
    )
    drawn_2 = (first - second)[:, 0]
    assert set(drawn_2) == {0.0, 2.0, 4.0, 6.0}


def test_the_same_seed_gives_the_same_resamples_and_another_others() -> None:
    block = _block(list(range(50)), [[float(n)] for n in range(50)])
    sums, again, other = (_sum([block], resamples=20, seed=seed)[0] for seed in (1, 1, 2))
    assert sums.tolist() == again.tolist()
    assert sums.tolist() != other.tolist()


def test_a_large_dataset_is_resampled_in_pieces_that_miss_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreement_intervals, "AT_ONCE", 25)
    (sums,) = _sum([_block(list(range(10)), [[1.0]] * 10)], resamples=11, seed=0)
    assert sums.tolist() == [[10.0]] * 11


def test_the_draws_of_a_mean_spread_as_theory_says() -> None:
    values = np.random.default_rng(0).normal(size=400)
    block = CountBlock(np.arange(400), np.column_stack([values, np.ones(400)]))
    (sums,) = _sum([block], resamples=4000, seed=0)
    spread = float(np.std(sums[:, 0] / sums[:, 1]))
    assert spread == pytest.approx(values.std() / 20, rel=0.05)


def test_the_interval_holds_the_middle_95_percent() -> None:
    """Of endlessly many queries; of few a little more (Hesterberg 2015: 1.58 % at each end for 20)."""
    assert interval(np.arange(1001.0), 10**9) == pytest.approx((25.0, 975.0), abs=1e-3)
    assert find_tail(20) == pytest.approx(0.0159, abs=1e-4)
    assert find_tail(np.array([2, 5, 50])) == pytest.approx([0.0, 0.00096, 0.0212], abs=1e-4)


def test_undefined_resamples_are_left_out_until_they_are_the_most() -> None:
    assert interval(np.array([1.0, np.nan, 1.0]), 9) == (1.0, 1.0)
    assert interval(np.array([1.0, np.nan, np.nan]), 9) is None
    assert interval(np.array([1.0, np.nan]), 9) == (1.0, 1.0)  # half of them
    assert interval(np.array([1.0] * 49 + [np.nan] * 51), 9) is None
    assert interval(np.zeros(0), 9) is None


def test_nothing_to_resample_is_no_error() -> None:
    assert Resamples(np.zeros(0, dtype=np.int64), 10, 0).sum([]) == []
    (sums,) = _sum([CountBlock(np.zeros(0, dtype=np.int64), np.zeros((0, 3)))], resamples=2, seed=0)
    assert sums.tolist() == [[0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("kept", [0, 10**9])
def test_a_second_walk_meets_the_same_resamples_whether_they_were_kept_or_not(
    monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    monkeypatch.setattr(agreement_intervals, "KEPT", kept)
    monkeypatch.setattr(agreement_intervals, "AT_ONCE", 25)
    drawn = Resamples(np.arange(10), 7, seed=3)
    walks = [[(part, weights.tolist()) for part, weights in drawn] for _ in range(3)]
    assert walks[0] == walks[1] == walks[2]
    assert [part for part, _ in walks[0]] == [slice(0, 2), slice(2, 4), slice(4, 6), slice(6, 7)]
    assert {sum(row[n] for row in weights) for _, weights in walks[0] for n in range(len(weights[0]))} == {
        10.0
    }


def test_a_query_that_is_drawn_more_often_than_a_byte_holds_is_not_kept_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        agreement_intervals, "_draw", lambda _random, queries, resamples: np.full((queries, resamples), 300)
    )
    drawn = Resamples(np.arange(3), 4, seed=0)
    assert [[weights.tolist() for _, weights in drawn] for _ in range(2)] == [[[[300.0] * 4] * 3]] * 2


def test_a_walk_that_was_broken_off_spoils_no_later_one() -> None:
    drawn = Resamples(np.arange(1000), 2000, seed=3)
    next(iter(drawn))
    whole, again = (np.concatenate([weights for _, weights in drawn], axis=1) for _ in range(2))
    assert whole.shape == (1000, 2000)
    assert (whole == again).all()


def test_walks_broken_off_at_different_places_add_up_to_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreement_intervals, "AT_ONCE", 20)
    drawn = Resamples(np.arange(10), 8, seed=3)  # in four pieces
    whole = [weights.tolist() for _, weights in Resamples(np.arange(10), 8, seed=3)]
    next(iter(drawn))
    for _, _ in zip(range(3), drawn, strict=False):
        pass
    assert [weights.tolist() for _, weights in drawn] == whole


def test_many_intervals_at_once_are_those_of_each() -> None:
    values = np.random.default_rng(0).normal(size=(4, 101))
    values[1, :10] = np.nan
    values[2, :60] = np.nan
    queries = np.array([9, 20, 30, 500])
    for computed, row, own in zip(intervals(values, queries), values, queries, strict=True):
        assert computed == pytest.approx(interval(row, int(own)))
    assert intervals(values, queries)[2] is None
    assert intervals(np.zeros((2, 0)), np.array([3, 3])) == [None, None]
