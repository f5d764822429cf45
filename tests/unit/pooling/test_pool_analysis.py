"""The rules of the page Pool: groups of ranks, intervals of shares, and whether a pool is deep enough."""

import pytest

from annotator.pooling.analysis.pool_analysis import (
    ClusterSums,
    PairCount,
    compute_share_interval,
    count_from_one,
    describe_ranks,
    describe_system_ranks,
    find_last_ranks,
    judge_depth,
    list_bounds,
    name_sets,
)


def spread(relevant_by_query: list[tuple[int, int]]) -> tuple[PairCount, ClusterSums]:
    """The counts of queries with so many settled and so many relevant pairs."""
    settled = sum(pairs for pairs, _ in relevant_by_query)
    counted = PairCount(settled, settled, sum(relevant for _, relevant in relevant_by_query))
    return counted, ClusterSums(
        len(relevant_by_query),
        sum(pairs * pairs for pairs, _ in relevant_by_query),
        sum(pairs * relevant for pairs, relevant in relevant_by_query),
        sum(relevant * relevant for _, relevant in relevant_by_query),
    )


def test_every_rank_of_a_shallow_pool_is_a_group_and_deep_ranks_are_grouped() -> None:
    assert list_bounds(3) == (1, 2, 3)
    assert list_bounds(20) == tuple(range(1, 21))
    assert list_bounds(21) == (1, 2, 3, 4, 5, 10, 20, 21)
    assert list_bounds(1000) == (1, 2, 3, 4, 5, 10, 20, 50, 100, 200, 500, 1000)


@pytest.mark.parametrize(("deepest", "first"), [(1, 1), (4, 4), (5, 5), (10, 9), (20, 17), (100, 81)])
def test_depth_is_judged_by_the_last_fifth_of_the_ranks(deepest: int, first: int) -> None:
    assert find_last_ranks(deepest) == first


def test_the_interval_of_independent_pairs_is_wilsons() -> None:
    """Newcombe (1998), table I, method 3: 81 of 263, 15 of 148, 0 of 20 and 1 of 29."""
    for relevant, settled, low, high in (
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ):
        pairs = [(1, 1)] * relevant + [(1, 0)] * (settled - relevant)
        assert compute_share_interval(*spread(pairs)) == pytest.approx((low, high), abs=5e-5)


def test_pairs_that_depend_on_their_query_count_for_less() -> None:
    apart, together = spread([(2, 1)] * 40), spread([(2, 2)] * 20 + [(2, 0)] * 20)
    assert apart[0] == together[0]
    alone, clustered = compute_share_interval(*apart), compute_share_interval(*together)
    assert alone is not None and clustered is not None
    assert clustered[1] - clustered[0] > 1.3 * (alone[1] - alone[0]), "80 pairs are worth about 40"
    assert alone == compute_share_interval(*spread([(1, 1)] * 40 + [(1, 0)] * 40)), "never narrower"


def test_unjudged_pairs_have_no_share() -> None:
    assert compute_share_interval(PairCount(5, 0, 0), ClusterSums()) is None
    (first, second) = describe_ranks((1, 5), {1: (PairCount(5, 0, 0), ClusterSums())})
    assert (first.first, first.last, first.counted, first.interval) == (1, 1, PairCount(5, 0, 0), None)
    assert (second.first, second.last, second.counted) == (2, 5, PairCount())
    assert first.counted.share is None


@pytest.mark.parametrize(
    ("relevant", "settled", "pairs", "state"),
    [
        (0, 200, 200, "deep enough"),
        (60, 200, 200, "too shallow"),
        (12, 200, 200, "cannot tell"),
        (0, 200, 401, "too few"),
        (10, 29, 29, "too few"),
        (0, 0, 0, "too few"),
    ],
)
def test_a_pool_is_deep_enough_if_almost_nothing_at_its_last_ranks_is_relevant(
    relevant: int, settled: int, pairs: int, state: str
) -> None:
    _, sums = spread([(1, 1)] * relevant + [(1, 0)] * (settled - relevant))
    assert judge_depth(9, 10, PairCount(pairs, settled, relevant), sums).state == state


def test_the_verdict_has_its_numbers_and_the_effect_of_one_more_rank() -> None:
    counted, sums = spread([(1, 1)] * 60 + [(1, 0)] * 140)
    assert judge_depth(9, 10, counted, sums).sentence == (
        "The pool is not deep enough: 30 % of the pairs first found at its last ranks (9–10) are relevant [24 %, 37 %] "
        "(60 of 200), more than 5 %. New pairs with one more rank: about 100, of these relevant: about 30."
    )
    few = judge_depth(10, 10, PairCount(40, 3, 1), ClusterSums())
    assert few.sentence == (
        "Settled pairs at the last ranks (10): 3 of 40. That is too few to tell whether the pool is deep enough."
    )


def test_ranks_from_0_are_counted_from_1_and_groups_of_ranks_have_no_interval() -> None:
    counted = count_from_one(
        {0: PairCount(4, 4, 2), 5: PairCount(3, 3, 0), 6: PairCount(1), None: PairCount(9)}
    )
    assert counted == {1: PairCount(4, 4, 2), 6: PairCount(3, 3, 0), 7: PairCount(1), None: PairCount(9)}
    (first, second) = describe_system_ranks((1, 10), counted)
    assert (first.counted, second.counted) == (PairCount(4, 4, 2), PairCount(4, 3, 0))
    assert first.interval == pytest.approx((0.15, 0.85), abs=5e-3)
    assert second.interval is None


def test_sets_are_named_by_their_bits_and_the_largest_come_first() -> None:
    sets = name_sets(
        ("b", "a"),
        [
            (1, 0, "single", PairCount(1, 1, 1)),
            (1, 0, "unjudged", PairCount(1)),
            (3, 0, "single", PairCount(5)),
            (0, 1, "single", PairCount(2)),
            (2, 1, "single", PairCount(9)),
        ],
    )
    assert sets[2].counted == PairCount(2, 1, 1)
    assert [(item.systems, item.others) for item in sets] == [
        (("a",), True),
        (("b", "a"), False),
        (("b",), False),
        ((), True),
    ]
