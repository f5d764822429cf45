"""Records of adaptive rounds: candidates, settings, the choice, and open orders of systems.

A service uses them like this (docs/pooling.md has the method with its formulas):

1. Number queries, documents and systems from 0 in a fixed order, such as that of their ids.
   `build_candidates` makes a `CandidateTable` from the results of all systems, one row per candidate.
2. Set `grades` (0-3, or UNJUDGED) and `in_pool`. A pair that waits for its judgment, or that nobody could
   rate, is in the pool without a grade.
3. `choose_pairs(table, settings)` returns the rows of the next `budget` pairs, most useful first.
4. `estimate_order(table, settings)` says which systems could still swap: for the report of a round, and for
   the order of the systems while only a part of the pool is judged.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

UNJUDGED = -1
NOT_RETRIEVED = 0
HIGHEST_GRADE = 3

AdaptiveMethod = Literal["swaps", "move-to-front"]
"""How pairs are chosen. `swaps`: documents whose grade could still swap two systems. `move-to-front`: the
next document of the list with the best record; every query with enough candidates gets equally many pairs."""


@dataclass(frozen=True, slots=True, eq=False)
class CandidateTable:
    """The documents that systems returned for each query, one row per candidate.

    `ranks` [candidate, system]: from 1; NOT_RETRIEVED if the system did not return it. `grades`: UNJUDGED
    without a settled grade. A system without results for a query scores 0 there, as in the evaluation.
    """

    queries: NDArray[np.int64]  # [candidate]: the number of its query, from 0
    documents: NDArray[np.int64]  # [candidate]: the caller's number of its document
    ranks: NDArray[np.int32]
    grades: NDArray[np.int8]
    in_pool: NDArray[np.bool_]  # may not be chosen; neither may a judged candidate
    query_count: int

    @property
    def system_count(self) -> int:
        return int(self.ranks.shape[1])

    def list_choosable(self) -> NDArray[np.int64]:
        """Return the rows that may be chosen."""
        return np.flatnonzero((self.grades == UNJUDGED) & ~self.in_pool)


@dataclass(frozen=True, slots=True)
class AdaptiveSettings:
    """The settings of a round. `measure`: `nDCG@k`, `P@k` or `AP`."""

    budget: int  # pairs
    measure: str = "nDCG@10"
    method: AdaptiveMethod = "swaps"
    seed: int = 0  # decides between candidates of equal worth


@dataclass(frozen=True, slots=True)
class OpenOrder:
    """Two systems that may still swap. `higher` leads by `difference` now."""

    higher: int
    lower: int
    difference: float
    swap_probability: float  # by the model, if everything was judged


@dataclass(frozen=True, slots=True, eq=False)
class OrderEstimate:
    """The expected order of the systems if everything was judged.

    Judged documents count with their grades, the others with their expected grades, never as 0. The scores
    are only for the order: an error of the expected grades moves all scores together. Swap probabilities are
    about the missing grades of these queries, not about other queries.
    """

    scores: NDArray[np.float64]  # [system]
    open_orders: tuple[OpenOrder, ...]  # least certain first


Numbers = NDArray[np.int64]


def build_candidates(
    systems: Numbers,
    queries: Numbers,
    documents: Numbers,
    ranks: Numbers,
    *,
    system_count: int,
    query_count: int,
) -> CandidateTable:
    """Return one row per query and document, in this order, without grades and with an empty pool.

    The four arrays are parallel: entry i is one result, at rank `ranks[i]` (from 1) of a system's list. If a
    list contains a document twice, its best rank counts.
    """
    width = int(documents.max(initial=0)) + 1
    keys, rows = np.unique(queries * width + documents, return_inverse=True)
    table = np.full((len(keys), system_count), np.iinfo(np.int32).max, dtype=np.int32)
    np.minimum.at(table, (rows, systems), ranks.astype(np.int32))
    table[table == np.iinfo(np.int32).max] = NOT_RETRIEVED
    return CandidateTable(
        queries=keys // width,
        documents=keys % width,
        ranks=table,
        grades=np.full(len(keys), UNJUDGED, dtype=np.int8),
        in_pool=np.zeros(len(keys), dtype=np.bool_),
        query_count=query_count,
    )
