"""Two samples of one dataset: their probabilities together give unbiased estimates, and each alone does not."""

import numpy as np
import pytest

from annotator.domain.errors import StateError
from annotator.pooling.filters.filters import PoolFilters
from annotator.pooling.rounds.pool_records import CandidatePairs, PoolRequest, RankStratum
from annotator.pooling.rounds.round_records import PoolRound
from annotator.pooling.rounds.samples import (
    EarlierSample,
    carry_chances,
    check_independent,
    check_repeated,
    combine_chances,
    is_same_draw,
)
from annotator.pooling.rounds.strategies import count_strata, draw_by_rank, measure_chances, pair_candidates
from tests.integration.judged_world import NOW
from tests.unit.pooling.test_strategies import lists_of

FIRST = (RankStratum(1, 4, 0.5), RankStratum(5, 20, 0.1))
SECOND = (RankStratum(1, 10, 0.3), RankStratum(11, 30, 0.2))
LISTS = lists_of(*({query: list(range(1, 31)) for query in range(1, 9)},))
MORE = lists_of(
    {query: list(range(1, 31)) for query in range(1, 9)},
    {query: [40, 3, 29, 41] for query in range(1, 9)},
)


def test_the_probability_of_a_pair_is_how_often_it_is_drawn() -> None:
    pairs = pair_candidates(MORE)
    drawn = np.zeros(len(pairs.query))
    for seed in range(400):
        drawn[draw_by_rank(pairs, FIRST, seed).pairs] += 1
    chances = measure_chances(pairs, FIRST)
    assert np.abs(drawn / 400 - chances).max() < 4.5 * 0.5 / 20
    assert chances[pairs.best > 20].max() == 0


def test_combined_probabilities_give_unbiased_estimates_and_those_of_the_first_sample_do_not() -> None:
    earlier, pairs = pair_candidates(LISTS), pair_candidates(MORE)  # a run came between the samples
    worth = (pairs.document % 7 == 3) * 1.0 + (pairs.document == 29)
    reachable = (measure_chances(pairs, SECOND) > 0) | (pairs.best <= 20)
    truth = worth[reachable].sum()
    numbers = {name: index for index, name in enumerate(zip(pairs.query, pairs.document, strict=True))}
    of_earlier = np.array([numbers[name] for name in zip(earlier.query, earlier.document, strict=True)])
    combined_estimates, separate_estimates = [], []
    for seed in range(600):
        sample = EarlierSample(1, FIRST, seed, {}, {})
        first = of_earlier[draw_by_rank(earlier, FIRST, seed).pairs]
        second = draw_by_rank(pairs, SECOND, seed + 10_000).pairs
        before, now = carry_chances(sample, earlier, pairs), measure_chances(pairs, SECOND)
        both = np.union1d(first, second)
        chances = combine_chances(now, before)
        combined_estimates.append((worth[both] / chances[both]).sum())
        separate = np.where(np.isin(both, first), before[both], now[both])
        separate_estimates.append((worth[both] / separate).sum())
    error = np.std(combined_estimates) / np.sqrt(600)
    assert abs(np.mean(combined_estimates) - truth) < 4 * error
    assert np.mean(separate_estimates) > 1.3 * truth, "as if each pair came in its own round only"


def make_sample(seed: int = 5) -> tuple[EarlierSample, CandidatePairs, dict[tuple[int, int], str | None]]:
    pairs = pair_candidates(LISTS)
    choice = draw_by_rank(pairs, FIRST, seed)
    assert choice.stratum is not None
    names = [FIRST[number].name for number in choice.stratum.tolist()]
    documents = zip(pairs.query[choice.pairs].tolist(), pairs.document[choice.pairs].tolist(), strict=True)
    counts = [
        {"ranks": item.ranks, "rate": item.rate, "candidates": item.candidates, "drawn": item.drawn}
        for item in count_strata(pairs, choice)
    ]
    stored: dict[tuple[int, int], str | None] = dict(zip(documents, names, strict=True))
    return EarlierSample(2, FIRST, seed, {}, {"strata": counts}), pairs, stored


def test_a_sample_that_can_be_drawn_again_from_the_same_lists_is_accepted() -> None:
    sample, pairs, stored = make_sample()
    check_repeated(sample, pairs, stored, np.ones(len(pairs.query), dtype=np.bool_))
    stored.popitem()  # a pair that was in the pool before the sample has kept its round
    check_repeated(sample, pairs, stored, np.ones(len(pairs.query), dtype=np.bool_))


@pytest.mark.parametrize("change", ["not in the pool", "another stratum", "another pair", "another list"])
def test_a_sample_that_cannot_be_drawn_again_is_refused(change: str) -> None:
    sample, pairs, stored = make_sample()
    in_pool = np.ones(len(pairs.query), dtype=np.bool_)
    if change == "not in the pool":
        in_pool[:] = False
    elif change == "another stratum":
        stored[next(iter(stored))] = "11-50"
    elif change == "another pair":
        stored[99, 99] = "1-4"
    else:
        pairs = pair_candidates(lists_of(*({query: list(range(1, 20)) for query in range(1, 9)},)))
        stored = {}
    with pytest.raises(StateError, match="the runs have changed since round 2 drew its sample"):
        check_repeated(sample, pairs, stored, in_pool)


def make_round(**options: object) -> PoolRound:
    known = {"seed": 5, "retrievers": [], "strata": ["1-4:0.5"]}
    return PoolRound(1, NOW, None, "stratified", 3, {**known, **options}, {})


def test_samples_that_are_not_independent_or_not_known_are_refused() -> None:
    check_independent([make_round()], PoolRequest(strategy="stratified", seed=6))
    with pytest.raises(
        StateError, match=r"round 1 already drew a sample with the seed 5.*choose another seed"
    ):
        check_independent([make_round()], PoolRequest(strategy="stratified", seed=5))
    for made, request in (
        (make_round(retrievers=["bm25"]), PoolRequest(strategy="stratified", seed=6)),
        (make_round(filters=["min-length:5"]), PoolRequest(strategy="stratified", seed=6)),
        (make_round(), PoolRequest(strategy="stratified", seed=6, retrievers=("bm25",))),
        (make_round(), PoolRequest(strategy="stratified", seed=6, filters=PoolFilters(min_length=5))),
    ):
        with pytest.raises(StateError, match="only if both are drawn from imported runs without filters"):
            check_independent([made], request)


def test_the_same_draw_is_recognized_by_its_seed_and_ranks() -> None:
    sample, _, _ = make_sample()
    assert is_same_draw(sample, PoolRequest(strategy="stratified", strata=FIRST, seed=5))
    assert not is_same_draw(sample, PoolRequest(strategy="stratified", strata=FIRST, seed=6))
    assert not is_same_draw(sample, PoolRequest(strategy="stratified", strata=SECOND, seed=5))
