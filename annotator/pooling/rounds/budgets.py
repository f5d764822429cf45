"""Spend a budget of pairs: on high results of the best lists, or on the order of the systems.

`move-to-front` and `adaptive` learn from the grades so far; `adaptive/` has the methods. A budget is the
number of pairs of budget rounds that may wait for judgments. Unjudged pairs of earlier budget rounds count,
so repeating a request adds nothing until pairs are judged.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from annotator.pooling.adaptive.choice import choose_pairs, estimate_order
from annotator.pooling.adaptive.records import (
    AdaptiveMethod,
    AdaptiveSettings,
    CandidateTable,
    build_candidates,
)
from annotator.pooling.rounds.pool_records import (
    CandidateLists,
    CandidatePairs,
    ExpectedScore,
    Numbers,
    OpenSystems,
    PoolChoice,
    PoolRequest,
    SystemOrder,
)


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
    return choose_pairs(table, settings).rows


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
