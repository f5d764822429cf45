"""Choose the next pairs from the grades so far, and estimate the order of the systems.

Services call `choose_pairs` and `estimate_order`; `records.py` describes how. Both depend only on the seed
and the data, not on the order of the systems. Move-to-front (Cormack, Palmer & Clarke, SIGIR 1998) takes the
next document of the list with the best record, and gives every query equally many pairs. A list's record is
that of the judged documents above its first unjudged document, in this query. If a round takes several pairs
of a query, a chosen pair counts as judged without a grade.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from annotator.domain.grades import RELEVANT_FROM
from annotator.pooling.adaptive.measures import read_measure
from annotator.pooling.adaptive.records import (
    UNJUDGED,
    AdaptiveSettings,
    CandidateTable,
    OpenOrder,
    OrderEstimate,
)
from annotator.pooling.adaptive.swaps import choose_by_swaps, estimate_scores, sort_systems
from annotator.pooling.one_thread import ONE_THREAD

Rows = NDArray[np.int64]
Values = NDArray[np.float64]
ChooseInQuery = Callable[[CandidateTable, Rows, int, Values, np.random.Generator], Iterator[int]]
FAR = np.iinfo(np.int32).max


def choose_pairs(table: CandidateTable, settings: AdaptiveSettings) -> Rows:
    """Return the next `settings.budget` rows (or fewer), most useful first.

    Returns no judged or pooled row, and no row twice. Raises ValidationError for an unknown measure.
    """
    measure = read_measure(settings.measure)
    sorted_table, _ = sort_systems(table)
    if not len(table.list_choosable()) or not settings.budget:
        return np.zeros(0, dtype=np.int64)
    if settings.method == "swaps":
        with ONE_THREAD.limit():
            return choose_by_swaps(sorted_table, measure, settings.budget, settings.seed)
    return choose_by_move_to_front(sorted_table, settings)


def estimate_order(table: CandidateTable, settings: AdaptiveSettings) -> OrderEstimate:
    """Estimate the order of the systems if all was judged, and possible swaps. ValidationError for an unknown measure."""
    sorted_table, systems = sort_systems(table)
    measure = read_measure(settings.measure)
    with ONE_THREAD.limit():
        estimate = estimate_scores(sorted_table, measure)
    columns = np.argsort(systems)
    return replace(
        estimate,
        scores=estimate.scores[columns],
        swap_probabilities=estimate.swap_probabilities[np.ix_(columns, columns)],
        open_orders=tuple(_rename_systems(order, systems.tolist()) for order in estimate.open_orders),
    )


def _rename_systems(order: OpenOrder, systems: list[int]) -> OpenOrder:
    return replace(order, higher=systems[order.higher], lower=systems[order.lower])


def choose_by_move_to_front(table: CandidateTable, settings: AdaptiveSettings) -> Rows:
    """Return the next `settings.budget` rows. Queries with the fewest pairs come first."""
    return choose_evenly(table, settings, partial(choose_from_lists, score_lists=_score_lists))


def choose_evenly(table: CandidateTable, settings: AdaptiveSettings, choose_in_query: ChooseInQuery) -> Rows:
    """Share the budget evenly among the queries, and let `choose_in_query` choose in each of them."""
    generator = np.random.default_rng(settings.seed)
    ties = generator.random(len(table.grades))
    turns = [
        (turn, position, row)
        for position, (members, taken, number) in enumerate(_share_budget(table, settings.budget, generator))
        for turn, row in enumerate(choose_in_query(table, members, number, ties, generator), taken)
    ]
    return np.array([row for _, _, row in sorted(turns)], dtype=np.int64)


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


def choose_from_lists(
    table: CandidateTable,
    members: Rows,
    number: int,
    ties: Values,
    generator: np.random.Generator,
    *,
    score_lists: Callable[[Rows, Rows, np.random.Generator], Values],
) -> Iterator[int]:
    """Yield `number` rows of a query (`members`), each the next document of the list with the best score.

    `score_lists`: returns a score for each list from its relevant and its other judged documents.
    """
    far_ranks = np.where(table.ranks[members] > 0, table.ranks[members], FAR)
    grades = table.grades[members]
    is_open = (grades == UNJUDGED) & ~table.in_pool[members]
    relevant = grades >= RELEVANT_FROM
    missed = (grades != UNJUDGED) & ~relevant
    for _ in range(number):
        first = np.where(is_open[:, None], far_ranks, FAR).min(axis=0, initial=FAR)
        above = far_ranks < first
        hits, misses = (relevant[:, None] & above).sum(axis=0), (missed[:, None] & above).sum(axis=0)
        score = score_lists(hits, misses, generator)
        score[first == FAR] = -np.inf
        leaders = np.flatnonzero(score == score.max())
        nexts = np.flatnonzero(is_open & (far_ranks[:, leaders] == first[leaders]).any(axis=1))
        best = int(nexts[np.lexsort((ties[members][nexts], far_ranks[nexts][:, leaders].min(axis=1)))[0]])
        is_open[best] = False
        yield int(members[best])


def _score_lists(hits: Rows, misses: Rows, _generator: np.random.Generator) -> Values:
    bonus = hits / (1.0 + hits.sum())  # a list stays in front as long as it brings relevant documents
    return np.asarray(bonus - misses)
