"""Records of adaptive rounds: the candidates with their ranks and grades, what is wanted, what is chosen, what is still open.

How a service uses them (docs/pooling.md has the method, with its formulas):

1. Number the queries, the documents and the systems from 0, in an order that stays the same, e.g. that of their ids.
   `build_candidates` of `candidates.py` makes a `CandidateTable` from the results of all systems, one row per candidate.
2. Put in the grades so far (`grades`: 0-3, or UNJUDGED) and mark what is in the pool already (`in_pool`). A pair that waits
   for its judgment is in the pool without a grade. So is a pair that nobody could rate.
3. `choose_pairs(table, settings)` of `choice.py` returns the rows of the next `budget` pairs, most useful first. It never
   returns a row that is in the pool or judged.
4. `estimate_order(table, settings)` of `choice.py` says which pairs of systems could still swap. It is the report of a round,
   and the order of the systems while the pool is judged only in part.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

UNJUDGED = -1
NOT_RETRIEVED = 0
HIGHEST_GRADE = 3

AdaptiveMethod = Literal["swaps", "move-to-front", "max-mean", "thompson", "hedge", "depth"]
"""How pairs are chosen. `swaps`: the documents whose grade could still swap two systems. The others are the published
methods that it is compared with; each takes the same number of pairs from every query, as far as a query has them."""


@dataclass(frozen=True, slots=True, eq=False)
class CandidateTable:
    """Every document that a system returned for a query, one row each; judged documents that no system returned are absent.

    `ranks` is [candidate, system] from 1; NOT_RETRIEVED where the system did not return the document. `grades` is UNJUDGED
    where there is no settled grade. A system that returned nothing for a query scores 0 there, as in the evaluation.
    """

    queries: NDArray[np.int64]  # [candidate]: the number of its query, from 0
    documents: NDArray[np.int64]  # [candidate]: the caller's number of its document
    ranks: NDArray[np.int32]
    grades: NDArray[np.int8]
    in_pool: NDArray[np.bool_]  # may not be chosen; a judged candidate may not be either
    query_count: int

    @property
    def system_count(self) -> int:
        """Return the number of systems."""
        return int(self.ranks.shape[1])

    def list_choosable(self) -> NDArray[np.int64]:
        """Return the rows that may be chosen."""
        return np.flatnonzero((self.grades == UNJUDGED) & ~self.in_pool)


@dataclass(frozen=True, slots=True)
class AdaptiveSettings:
    """What a round is for. `measure` is `nDCG@k`, `P@k` or `AP`; `relevant_from` counts for the last two only."""

    budget: int  # pairs
    measure: str = "nDCG@10"
    relevant_from: int = 1
    method: AdaptiveMethod = "swaps"
    seed: int = 0  # decides between candidates of equal worth


@dataclass(frozen=True, slots=True, eq=False)
class AdaptiveChoice:
    """The chosen rows of the table, most useful first, each with what its grade is expected to settle.

    `effects` is the expected fall in the uncertainty of the systems' order, summed over the pairs of systems that are open;
    only `swaps` has it, for the other methods it is all 0. Its unit has no meaning of its own: compare it within a round.
    """

    rows: NDArray[np.int64]
    effects: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class OpenOrder:
    """Two systems whose order may still change. `higher` leads by `difference` at present."""

    higher: int
    lower: int
    difference: float
    swap_probability: float  # that the order is the other one with everything judged, by the model


@dataclass(frozen=True, slots=True, eq=False)
class OrderEstimate:
    """The order of the systems with everything judged, as far as it can be told now.

    Judged documents count with their grades, the others with their expected grades: an unjudged document never counts as 0.
    The scores are for the order only. An error of the expected grades moves all scores together, so a score says little of the
    final one. Swap probabilities are about the grades that are missing. They say nothing of other queries.
    """

    scores: NDArray[np.float64]  # [system]
    swap_probabilities: NDArray[np.float64]  # [system, system], 0 on the diagonal
    open_orders: tuple[OpenOrder, ...]  # least certain first
