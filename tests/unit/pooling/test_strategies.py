"""Which candidates a strategy chooses, by hand-made lists."""

import numpy as np
import pytest

from annotator.domain.errors import ValidationError
from annotator.pooling.rounds.pool_records import CandidateLists, CandidatePairs, PoolRequest, RankStratum
from annotator.pooling.rounds.strategies import (
    check_request,
    choose_candidates,
    count_strata,
    find_list_depth,
    find_strata,
    pair_candidates,
    read_strata,
    read_strategy,
)


def lists_of(*systems: dict[int, list[int]]) -> CandidateLists:
    """Lists by system: {query: [documents, best first]}."""
    rows = [
        (number, query, document, position)
        for number, system in enumerate(systems)
        for query, documents in system.items()
        for position, document in enumerate(documents, start=1)
    ]
    values = np.array(rows, dtype=np.int64).reshape(-1, 4)
    names = tuple(f"s{number}" for number in range(len(systems)))
    return CandidateLists(
        names, values[:, 0].astype(np.int32), values[:, 1], values[:, 2], values[:, 3].astype(np.int32)
    )


def choose(lists: CandidateLists, request: PoolRequest) -> list[tuple[int, int]]:
    pairs = pair_candidates(lists)
    chosen = choose_candidates(lists, pairs, request).pairs
    return list(zip(pairs.query[chosen].tolist(), pairs.document[chosen].tolist(), strict=True))


TWO = lists_of({1: [10, 11, 12], 2: [20]}, {1: [12, 13, 10]})


def test_pairs_know_their_best_rank_and_how_many_lists_name_them() -> None:
    pairs = pair_candidates(TWO)
    assert list(zip(pairs.query.tolist(), pairs.document.tolist(), strict=True)) == [
        (1, 10),
        (1, 11),
        (1, 12),
        (1, 13),
        (2, 20),
    ]
    assert pairs.best.tolist() == [1, 2, 1, 2, 1]
    assert pairs.lists.tolist() == [2, 1, 2, 1, 1]


def test_depth_takes_the_first_of_every_list() -> None:
    assert choose(TWO, PoolRequest(depth=1)) == [(1, 10), (1, 12), (2, 20)]
    assert len(choose(TWO, PoolRequest(depth=2))) == 5


def test_fused_takes_the_first_of_the_fused_list() -> None:
    # by hand: 10: 1/61 + 1/63; 12: 1/63 + 1/61, the same; 11 and 13: 1/62
    assert choose(TWO, PoolRequest(strategy="fused", depth=2)) == [(1, 10), (1, 12), (2, 20)]
    behind = lists_of({1: [10, 11, 12]}, {1: [13, 11, 14]})
    assert choose(behind, PoolRequest(strategy="fused", depth=1)) == [(1, 11)], "second in both is best"
    assert choose(lists_of({1: [10, 11, 12]}), PoolRequest(strategy="fused", depth=1)) == [(1, 10)]


def test_the_order_of_the_systems_does_not_matter() -> None:
    turned = lists_of({1: [12, 13, 10]}, {1: [10, 11, 12], 2: [20]})
    for request in (
        PoolRequest(strategy="fused", depth=1),
        PoolRequest(strategy="stratified", strata=(RankStratum(1, 2, 0.5),), seed=3),
    ):
        assert choose(TWO, request) == choose(turned, request)


DEEP = lists_of(*({query: list(range(1, 101)) for query in range(1, 41)},))
STRATA = (RankStratum(1, 10, 1.0), RankStratum(11, 50, 0.2), RankStratum(61, 100, 0.05))


def test_a_stratum_is_drawn_at_its_rate_from_every_query() -> None:
    pairs = pair_candidates(DEEP)
    choice = choose_candidates(DEEP, pairs, PoolRequest(strategy="stratified", strata=STRATA))
    assert choice.stratum is not None and choice.inclusion is not None
    for query in range(1, 41):
        own = pairs.query[choice.pairs] == query
        assert np.bincount(choice.stratum[own]).tolist() == [10, 8, 2]
    assert {51, 60}.isdisjoint(pairs.document[choice.pairs].tolist()), "of ranks in no stratum, nothing"
    assert np.isnan(choice.inclusion[choice.stratum == 0]).all(), "all of them: chosen for certain"
    assert set(choice.inclusion[choice.stratum == 1]) == {8 / 40}
    assert set(choice.inclusion[choice.stratum == 2]) == {2 / 40}
    counts = count_strata(pairs, choice)
    assert [(item.ranks, item.candidates, item.drawn) for item in counts] == [
        ("1-10", 400, 400),
        ("11-50", 1600, 320),
        ("61-100", 1600, 80),
    ]


def estimate(pairs: CandidatePairs, seed: int) -> float:
    """How many documents below 31 there are, as the sample says: each drawn one counts 1 / its probability."""
    choice = choose_candidates(DEEP, pairs, PoolRequest(strategy="stratified", strata=STRATA[1:2], seed=seed))
    assert choice.inclusion is not None
    return float((1 / choice.inclusion)[pairs.document[choice.pairs] < 31].sum())


def test_weighted_by_the_probabilities_the_sample_gives_the_true_number_on_average() -> None:
    pairs = pair_candidates(DEEP)
    estimates = [estimate(pairs, seed) for seed in range(200)]
    # 20 of the 40 ranks of each of 40 queries; the standard error of the mean of 200 draws is about 3
    assert np.mean(estimates) == pytest.approx(800, abs=12)
    assert np.std(estimates) > 10, "another seed draws other pairs"


def test_the_same_seed_draws_the_same_pairs_and_another_draws_others() -> None:
    request = PoolRequest(strategy="stratified", strata=STRATA, seed=7)
    assert choose(DEEP, request) == choose(DEEP, request)
    assert choose(DEEP, request) != choose(DEEP, PoolRequest(strategy="stratified", strata=STRATA, seed=8))


def test_a_stratum_with_few_candidates_gives_at_least_one() -> None:
    few = lists_of({1: [5], 2: [6, 7]})
    chosen = choose(few, PoolRequest(strategy="stratified", strata=(RankStratum(1, 10, 0.01),)))
    assert [query for query, _ in chosen] == [1, 2]


def test_no_candidates_are_no_choice() -> None:
    nothing = lists_of({})
    for request in (PoolRequest(depth=3), PoolRequest("fused", 3), PoolRequest("stratified")):
        assert choose(nothing, request) == []


def test_how_deep_the_lists_are_read() -> None:
    assert find_list_depth(PoolRequest(depth=7)) == 7
    assert find_list_depth(PoolRequest("fused", 7)) == 100
    assert find_list_depth(PoolRequest("stratified")) == 100
    assert find_strata(PoolRequest("stratified", 30)) == (RankStratum(1, 10, 1.0), RankStratum(11, 30, 0.2))


def test_strata_are_read_from_text() -> None:
    assert read_strata("1-10:1, 11-50:.2") == (RankStratum(1, 10, 1.0), RankStratum(11, 50, 0.2))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1-10", r"expected ranks and a rate, as 1-10:1,11-50:0.2, found '1-10'"),
        ("", r"found ''"),
        ("1-10:1,5-20:1", r"expected ranks from 11 to at most 10,000, found 5-20"),
        ("10-1:1", r"found 10-1"),
        ("0-5:1", r"expected ranks from 1 .* found 0-5"),
        ("1-20000:1", r"found 1-20000"),
        ("1-10:0", r"expected a rate above 0 and at most 1 for 1-10, found 0"),
        ("1-10:1.5", r"found 1.5"),
    ],
)
def test_strata_that_make_no_sense_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        read_strata(text)


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (PoolRequest(), "depth: expected a number for the strategy depth, found none"),
        (PoolRequest("fused", 0), "depth: expected 1 to 10000, found 0"),
        (PoolRequest("depth", 5, strata=STRATA), "strata: they go with the strategy stratified only"),
    ],
)
def test_requests_that_cannot_be_followed_are_refused(request_: PoolRequest, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        check_request(request_)
    with pytest.raises(ValidationError, match=r"strategy: expected one of depth, fused, .*, found 'x'"):
        read_strategy("x")
