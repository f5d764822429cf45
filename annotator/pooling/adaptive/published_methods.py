"""Choose pairs by methods from the literature, for comparison: depth, move-to-front, bandits and hedge.

All but `depth` consider one query at a time and take equally many pairs from every query. They learn from the
grades of the query so far. If a round takes several pairs of a query, a chosen pair counts as judged without
a grade.

- `depth`: by the best rank in any list, then by the number of systems that return the document.
- `move-to-front`: the next document of the list with the best record (Cormack, Palmer & Clarke, SIGIR 1998).
- `max-mean`: the next document of the list with the highest mean of its Beta posterior (Losada, Parapar &
  Barreiro 2017, IP&M 53), in their stationary variant.
- `thompson`: the next document of the list with the highest random value from its Beta posterior (the same
  paper).
- `hedge`: the document with the highest sum of the lists' weights, each times log(depth / rank). A list loses
  weight with each non-relevant document at a high rank (Aslam, Pavlu & Savell, CIKM 2003).

A list's record is that of the judged documents above its first unjudged document.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from annotator.pooling.adaptive.records import UNJUDGED, AdaptiveChoice, AdaptiveSettings, CandidateTable

Rows = NDArray[np.int64]
Values = NDArray[np.float64]

HEDGE_BETA = 0.1
FAR = np.iinfo(np.int32).max


def choose_by_published_method(table: CandidateTable, settings: AdaptiveSettings) -> AdaptiveChoice:
    """Return the next rows by `settings.method`."""
    generator = np.random.default_rng(settings.seed)
    ties = generator.random(len(table.grades))
    if settings.method == "depth":
        rows = _choose_by_depth(table, settings.budget, ties)
    else:
        turns = [
            (turn, position, row)
            for position, (members, taken, number) in enumerate(
                _share_budget(table, settings.budget, generator)
            )
            for turn, row in enumerate(
                _choose_in_query(table, settings, members, number, ties, generator), taken
            )
        ]
        rows = np.array([row for _, _, row in sorted(turns)], dtype=np.int64)
    return AdaptiveChoice(rows, np.zeros(len(rows)))


def _choose_by_depth(table: CandidateTable, budget: int, ties: Values) -> Rows:
    rows = table.list_choosable()
    ranks = table.ranks[rows]
    best = np.where(ranks > 0, ranks, FAR).min(axis=1, initial=FAR)
    return rows[np.lexsort((ties[rows], -(ranks > 0).sum(axis=1), best))[:budget]]


def _share_budget(
    table: CandidateTable, budget: int, generator: np.random.Generator
) -> Iterator[tuple[Rows, int, int]]:
    """Yield (rows, pairs in the pool, pairs to take) of each query that gets pairs, the fewest pairs first."""
    unavailable = (table.grades != UNJUDGED) | table.in_pool
    taken = np.bincount(table.queries, unavailable, table.query_count).astype(np.int64)
    open_counts = np.bincount(table.queries, ~unavailable, table.query_count).astype(np.int64)
    level = _find_level(taken, open_counts, budget)
    to_take = np.clip(level - taken, 0, open_counts)
    spare = budget - int(to_take.sum())
    order = generator.permutation(table.query_count)
    more = order[(to_take < open_counts)[order] & (taken + to_take <= level)[order]][:spare]
    to_take[more] += 1
    by_query = np.argsort(table.queries, kind="stable")
    starts = np.searchsorted(table.queries[by_query], np.arange(table.query_count + 1))
    for query in order[to_take[order] > 0].tolist():
        yield by_query[starts[query] : starts[query + 1]], int(taken[query]), int(to_take[query])


def _find_level(taken: Rows, open_counts: Rows, budget: int) -> int:
    """Return the highest number of pairs per query that the budget can fill, where queries have enough."""
    low, high = 0, int((taken + open_counts).max(initial=0))
    while low < high:
        middle = (low + high + 1) // 2
        if int(np.clip(middle - taken, 0, open_counts).sum()) <= budget:
            low = middle
        else:
            high = middle - 1
    return low


def _choose_in_query(
    table: CandidateTable,
    settings: AdaptiveSettings,
    members: Rows,
    number: int,
    ties: Values,
    generator: np.random.Generator,
) -> Iterator[int]:
    ranks, grades = table.ranks[members], table.grades[members]
    is_open = (grades == UNJUDGED) & ~table.in_pool[members]
    far_ranks = np.where(ranks > 0, ranks, FAR)
    relevant, missed = (
        grades >= settings.relevant_from,
        (grades != UNJUDGED) & (grades < settings.relevant_from),
    )
    worth = _weigh_by_hedge(ranks, relevant, missed) if settings.method == "hedge" else None
    for _ in range(number):
        if worth is not None:
            best = int(np.lexsort((ties[members], -worth, ~is_open))[0])
        else:
            first = np.where(is_open[:, None], far_ranks, FAR).min(axis=0, initial=FAR)
            above = far_ranks < first
            hits, misses = (relevant[:, None] & above).sum(axis=0), (missed[:, None] & above).sum(axis=0)
            score = _score_lists(settings.method, hits, misses, generator)
            score[first == FAR] = -np.inf
            leaders = np.flatnonzero(score == score.max())
            nexts = np.flatnonzero(is_open & (far_ranks[:, leaders] == first[leaders]).any(axis=1))
            best = int(nexts[np.lexsort((ties[members][nexts], far_ranks[nexts][:, leaders].min(axis=1)))[0]])
        is_open[best] = False
        yield int(members[best])


def _score_lists(method: str, hits: Rows, misses: Rows, generator: np.random.Generator) -> Values:
    if method == "move-to-front":
        bonus = hits / (1.0 + hits.sum())  # as long as a list brings relevant documents, it stays in front
        return np.asarray(bonus - misses)
    if method == "max-mean":
        return np.asarray((hits + 1) / (hits + misses + 2))
    return np.asarray(generator.beta(hits + 1, misses + 1))


def _weigh_by_hedge(
    ranks: NDArray[np.int32], relevant: NDArray[np.bool_], missed: NDArray[np.bool_]
) -> Values:
    deepest = int(ranks.max(initial=1))
    height = np.where(ranks > 0, np.log((deepest + 1) / np.maximum(ranks, 1)), 0.0)
    losses = (height * (missed.astype(np.float64) - relevant)[:, None]).sum(axis=0) / 2
    weights = HEDGE_BETA ** (losses - losses.min(initial=0.0))
    mean: Values = height @ (weights / weights.sum())
    return mean
