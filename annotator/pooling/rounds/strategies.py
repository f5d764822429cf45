"""Choose the candidates that become pairs: first results, first of the fused list, or a sample.

- `depth`: every document among the first `depth` results of any list.
- `fused`: the first `depth` documents of all lists fused by reciprocal rank (`retrievers/fusion.py`). At
  least FUSED_LIST results of each list count.
- `stratified`: for each query, a random share of the documents with their best rank in a stratum, at least
  one. Each draw is simple random sampling without replacement, so a drawn pair's inclusion probability is
  drawn / candidates of its query and stratum (Yilmaz, Kanoulas & Aslam, A simple and efficient sampling
  method for estimating AP and NDCG, SIGIR 2008). Only the seed decides, not the judgments or the pool, so the
  same request draws the same pairs again.

`move-to-front` (high results of the best lists) and `adaptive` (the order of the systems) spend a budget and
learn from the grades so far; `adaptive/` has the methods. A budget is the number of pairs of budget rounds
that may wait for judgments. Unjudged pairs of earlier budget rounds count, so repeating a request adds
nothing until pairs are judged. The order of the lists never matters. Equal ranks are ordered by the
documents' keys.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from annotator.domain.errors import ValidationError
from annotator.domain.messages import say
from annotator.pooling.adaptive.choice import choose_pairs, estimate_order
from annotator.pooling.adaptive.measures import read_measure
from annotator.pooling.adaptive.records import (
    AdaptiveMethod,
    AdaptiveSettings,
    CandidateTable,
    build_candidates,
)
from annotator.pooling.retrievers.fusion import weigh_ranks
from annotator.pooling.rounds.pool_records import (
    CandidateLists,
    CandidatePairs,
    ExpectedScore,
    Numbers,
    OpenSystems,
    PoolChoice,
    PoolRequest,
    RankStratum,
    Strategy,
    StratumCounts,
    SystemOrder,
)

MAX_DEPTH = 10_000
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
FUSED_LIST = 100
BUDGETED: tuple[Strategy, ...] = ("move-to-front", "adaptive")
BUDGET_LIST = 100
MAX_BUDGET = 10_000_000
DEFAULT_STRATA = (RankStratum(1, 10, 1.0), RankStratum(11, 50, 0.2), RankStratum(51, 100, 0.05))
_STRATUM = re.compile(r"(\d{1,5})-(\d{1,5}):(\d*\.?\d+)")


def read_strata(text: str) -> tuple[RankStratum, ...]:
    """Return the strata of a text such as `1-10:1,11-50:0.2`. Raises ValidationError for wrong strata."""
    strata: list[RankStratum] = []
    for part in text.split(","):
        match = _STRATUM.fullmatch(part.strip())
        if not match:
            raise ValidationError(
                say(
                    "strata: expected ranks and a rate, as 1-10:1,11-50:0.2, found {found}",
                    found=f"{part.strip()!r:.80}",
                )
            )
        strata.append(RankStratum(int(match[1]), int(match[2]), float(match[3])))
    check_strata(strata)
    return tuple(strata)


def check_strata(strata: list[RankStratum] | tuple[RankStratum, ...]) -> None:
    """Raise ValidationError unless each stratum begins after the previous one and 0 < rate <= 1."""
    last_rank = 0
    for stratum in strata:
        if not last_rank < stratum.first <= stratum.last <= MAX_DEPTH:
            raise ValidationError(
                say(
                    "strata: expected ranks from {first:,} to at most {last:,}, found {found}",
                    first=last_rank + 1,
                    last=MAX_DEPTH,
                    found=stratum.name,
                )
            )
        if not 0 < stratum.rate <= 1:
            raise ValidationError(
                say(
                    "strata: expected a rate above 0 and at most 1 for {ranks}, found {found:g}",
                    ranks=stratum.name,
                    found=stratum.rate,
                )
            )
        last_rank = stratum.last


def read_strategy(name: str) -> Strategy:
    """Return the strategy of this name. Raises ValidationError for an unknown one."""
    for strategy in STRATEGIES:
        if strategy == name:
            return strategy
    raise ValidationError(f"strategy: expected one of {', '.join(STRATEGIES)}, found {name!r:.80}")


def check_request(request: PoolRequest) -> None:
    """Raise ValidationError for a request that no strategy can follow."""
    spends = request.strategy in BUDGETED
    if spends and (request.budget is None) == (request.per_category is None):
        raise ValidationError(
            f"budget: expected a number of pairs, in all or per category, for the strategy {request.strategy}"
        )
    if not spends and (request.budget is not None or request.per_category is not None):
        raise ValidationError(
            f"budget: it goes with {' and '.join(BUDGETED)}, found the strategy {request.strategy}"
        )
    for name, number in (("budget", request.budget), ("per category", request.per_category)):
        if number is not None and not 1 <= number <= MAX_BUDGET:
            raise ValidationError(f"{name}: expected 1 to {MAX_BUDGET:,}, found {number:,}")
    if request.strategy == "adaptive":
        read_measure(request.measure)
    if request.strata and request.strategy != "stratified":
        raise ValidationError("strata: they go with the strategy stratified only")
    if request.strategy == "stratified":
        check_strata(request.strata)
    elif request.depth is None and not spends:
        raise ValidationError(f"depth: expected a number for the strategy {request.strategy}, found none")
    if request.depth is not None and not 1 <= request.depth <= MAX_DEPTH:
        raise ValidationError(f"depth: expected 1 to {MAX_DEPTH}, found {request.depth}")


def find_strata(request: PoolRequest) -> tuple[RankStratum, ...]:
    """Return the request's strata, or DEFAULT_STRATA, down to `depth` if it has one."""
    strata = request.strata or DEFAULT_STRATA
    if request.depth is None:
        return strata
    return tuple(
        RankStratum(stratum.first, min(stratum.last, request.depth), stratum.rate)
        for stratum in strata
        if stratum.first <= request.depth
    )


def find_list_depth(request: PoolRequest) -> int:
    """Return how many results of each list the strategy considers."""
    if request.strategy == "stratified":
        return find_strata(request)[-1].last
    if request.strategy in BUDGETED:
        return request.depth or BUDGET_LIST
    depth = request.depth or 0
    return max(depth, FUSED_LIST) if request.strategy == "fused" else depth


def pair_candidates(lists: CandidateLists) -> CandidatePairs:
    """Return the different pairs of the lists, ordered by query and then document."""
    width = int(lists.document.max(initial=0)) + 1
    keys, of_entry = np.unique(lists.query * width + lists.document, return_inverse=True)
    best = np.full(len(keys), MAX_DEPTH + 1, dtype=np.int32)
    np.minimum.at(best, of_entry, lists.position)
    return CandidatePairs(
        keys // width, keys % width, best, np.bincount(of_entry, minlength=len(keys)), of_entry
    )


def drop_pairs(
    lists: CandidateLists, pairs: CandidatePairs, left_out: Sequence[tuple[int, int]]
) -> CandidateLists:
    """Return the lists without these (query, document) pairs. The positions of the other entries do not change."""
    width = int(lists.document.max(initial=0)) + 1
    keys = np.array([query * width + document for query, document in left_out], dtype=np.int64)
    stays = ~np.isin(pairs.query * width + pairs.document, keys)[pairs.of_entry]
    return CandidateLists(
        lists.systems, lists.system[stays], lists.query[stays], lists.document[stays], lists.position[stays]
    )


def choose_candidates(lists: CandidateLists, pairs: CandidatePairs, request: PoolRequest) -> PoolChoice:
    """Return the pairs that the request's strategy takes."""
    if request.strategy == "fused":
        return PoolChoice(choose_fused(lists, pairs, request.depth or 0))
    if request.strategy == "stratified":
        return draw_by_rank(pairs, find_strata(request), request.seed)
    return PoolChoice(np.flatnonzero(pairs.best <= (request.depth or 0)))


def fuse_ranks(lists: CandidateLists, pairs: CandidatePairs) -> NDArray[np.float64]:
    """Return the reciprocal rank fusion score of each pair."""
    scores = np.zeros(len(pairs.query))
    np.add.at(scores, pairs.of_entry, weigh_ranks(lists.position))
    return scores


def choose_fused(lists: CandidateLists, pairs: CandidatePairs, depth: int) -> Numbers:
    """Return the first `depth` pairs of each query's fused list; equal scores by best rank, then by key."""
    order = np.lexsort((pairs.document, pairs.best, -fuse_ranks(lists, pairs), pairs.query))
    chosen: Numbers = np.sort(order[_number_in_groups(pairs.query[order]) < depth])
    return chosen


def measure_chances(pairs: CandidatePairs, strata: tuple[RankStratum, ...]) -> NDArray[np.float64]:
    """Return the probability that `draw_by_rank` draws each pair, over all seeds; 0 outside the strata."""
    inside, stratum = _find_strata_of(pairs, strata)
    _, of_pair, sizes = np.unique(
        pairs.query[inside] * len(strata) + stratum, return_inverse=True, return_counts=True
    )
    chances = np.zeros(len(pairs.query))
    chances[inside] = _count_drawn(strata, stratum, sizes[of_pair]) / sizes[of_pair]
    return chances


def draw_by_rank(pairs: CandidatePairs, strata: tuple[RankStratum, ...], seed: int) -> PoolChoice:
    """Draw from each query's candidates by the stratum of their best rank. See the top of this file."""
    inside, stratum = _find_strata_of(pairs, strata)
    by_hash = np.lexsort(
        (_hash_pairs(pairs.query[inside], pairs.document[inside], seed), stratum, pairs.query[inside])
    )
    order, stratum = inside[by_hash], stratum[by_hash]
    groups = pairs.query[order] * len(strata) + stratum
    _, of_pair, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    drawn = _count_drawn(strata, stratum, sizes[of_pair])
    taken = _number_in_groups(groups) < drawn
    probability = np.where(drawn < sizes[of_pair], drawn / sizes[of_pair], np.nan)
    by_pair = np.argsort(order[taken])
    return PoolChoice(order[taken][by_pair], strata, stratum[taken][by_pair], probability[taken][by_pair])


def _find_strata_of(pairs: CandidatePairs, strata: tuple[RankStratum, ...]) -> tuple[Numbers, Numbers]:
    """Return the indexes of the pairs with their best rank in a stratum, and the stratum of each."""
    firsts = np.array([stratum.first for stratum in strata])
    stratum = np.searchsorted(firsts, pairs.best, side="right") - 1
    lasts = np.array([item.last for item in strata])
    inside = np.flatnonzero((stratum >= 0) & (pairs.best <= lasts[stratum]))
    return inside, stratum[inside]


def _count_drawn(strata: tuple[RankStratum, ...], stratum: Numbers, sizes: Numbers) -> NDArray[np.float64]:
    """Return the number of pairs to draw from each stratum of a query, by its size."""
    rates = np.array([item.rate for item in strata])[stratum]
    drawn: NDArray[np.float64] = np.ceil(np.round(rates * sizes, 9))
    return drawn


def count_strata(pairs: CandidatePairs, choice: PoolChoice) -> tuple[StratumCounts, ...]:
    """Count the candidates and the drawn pairs of each stratum."""
    counts = []
    for number, stratum in enumerate(choice.strata):
        candidates = int(((pairs.best >= stratum.first) & (pairs.best <= stratum.last)).sum())
        drawn = 0 if choice.stratum is None else int((choice.stratum == number).sum())
        counts.append(StratumCounts(stratum.name, stratum.rate, candidates, drawn))
    return tuple(counts)


def _number_in_groups(groups: Numbers) -> Numbers:
    """Return the number of each entry within its group, from 0. Equal groups are adjacent."""
    if not len(groups):
        return groups
    begins = np.concatenate([[0], np.flatnonzero(groups[1:] != groups[:-1]) + 1])
    lengths = np.diff(np.append(begins, len(groups)))
    numbers: Numbers = np.arange(len(groups)) - np.repeat(begins, lengths)
    return numbers


def _hash_pairs(query: Numbers, document: Numbers, seed: int) -> NDArray[np.uint64]:
    """Return 64 pseudorandom bits for each pair, which depend only on the pair and the seed (SplitMix64)."""
    state = _mix(np.full(len(query), seed % 2**64, dtype=np.uint64))
    state = _mix(state ^ query.astype(np.uint64))
    return _mix(state ^ document.astype(np.uint64))


def _mix(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    state = state + np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@dataclass(frozen=True, slots=True, eq=False)
class PoolState:
    """The state of the pool by candidate pair.

    `grades`: -1 without a settled grade. `categories`: {query_pk: category} of all queries. `waiting`:
    {category: unjudged pairs of budget rounds}.
    """

    grades: NDArray[np.int8]
    in_pool: NDArray[np.bool_]
    categories: Mapping[int, str | None]
    waiting: Mapping[str | None, int]


def tabulate(lists: CandidateLists, state: PoolState) -> CandidateTable:
    """Return the candidates as a table for adaptive rounds. Row i is pair i; queries and documents are in key order."""
    query_pks = np.array(sorted(state.categories), dtype=np.int64)
    document_pks = np.unique(lists.document)
    table = build_candidates(
        lists.system.astype(np.int64),
        np.searchsorted(query_pks, lists.query),
        np.searchsorted(document_pks, lists.document),
        lists.position.astype(np.int64),
        system_count=len(lists.systems),
        query_count=len(query_pks),
    )
    return replace(table, grades=state.grades, in_pool=state.in_pool)


def spend_budget(
    table: CandidateTable, pairs: CandidatePairs, state: PoolState, request: PoolRequest
) -> PoolChoice:
    """Choose pairs for the rest of the budget, by the request's strategy."""
    if request.per_category is None:
        rest = (request.budget or 0) - sum(state.waiting.values())
        return PoolChoice(np.sort(_choose(table, rest, request)))
    categories = np.array([state.categories[query_pk] or "" for query_pk in pairs.query.tolist()])
    parts: list[Numbers] = [np.zeros(0, dtype=np.int64)]
    for category in sorted({name or "" for name in state.categories.values()}):
        own = replace(table, in_pool=table.in_pool | (categories != category))
        waiting = sum(number for name, number in state.waiting.items() if (name or "") == category)
        parts.append(_choose(own, request.per_category - waiting, request))
    return PoolChoice(np.sort(np.concatenate(parts)))


def _choose(table: CandidateTable, rest: int, request: PoolRequest) -> Numbers:
    if rest <= 0:
        return np.zeros(0, dtype=np.int64)
    method: AdaptiveMethod = "swaps" if request.strategy == "adaptive" else "move-to-front"
    settings = AdaptiveSettings(rest, measure=request.measure, method=method, seed=request.seed)
    return choose_pairs(table, settings)


def describe_order(table: CandidateTable, systems: Sequence[str], request: PoolRequest) -> SystemOrder:
    """Return the order of the systems by the grades so far, and which of them could still swap."""
    settings = AdaptiveSettings(0, measure=request.measure, seed=request.seed)
    estimate = estimate_order(table, settings)
    scores = [
        ExpectedScore(system, score) for system, score in zip(systems, estimate.scores.tolist(), strict=True)
    ]
    return SystemOrder(
        measure=request.measure,
        judged=int((table.grades >= 0).sum()),
        systems=tuple(sorted(scores, key=lambda item: (-item.score, item.system))),
        open=tuple(
            OpenSystems(
                systems[item.higher],
                systems[item.lower],
                float(item.difference),
                float(item.swap_probability),
            )
            for item in estimate.open_orders
        ),
        compared=len(systems) * (len(systems) - 1) // 2,
    )
