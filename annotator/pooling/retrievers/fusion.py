"""Fuse ranked lists by reciprocal ranks: a score is the sum over the lists of weight / (K + rank).

Cormack, Clarke and Büttcher (SIGIR 2009), Reciprocal rank fusion outperforms Condorcet and individual rank
learning methods.
"""

from collections.abc import Mapping, Sequence
from math import fsum
from typing import TYPE_CHECKING, Any, NamedTuple, overload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

K = 60
FUSED_RESULTS = 100  # the fewest results of each list that are fused


@overload
def weigh_ranks(ranks: int, weight: float = 1.0) -> float: ...
@overload
def weigh_ranks(ranks: "NDArray[np.integer]", weight: float = 1.0) -> "NDArray[np.float64]": ...
def weigh_ranks(ranks: Any, weight: float = 1.0) -> Any:
    """Return the contribution of a rank in a list (or of an array of ranks) to the fused score."""
    return weight / (K + ranks)


class ListedDocument(NamedTuple):
    """A document in a list. `rank`: from 1. `score`: the list's own."""

    doc_id: str
    rank: int
    score: float | None


class FusedDocument(NamedTuple):
    """A document of the fused list. `signals`: by list its rank, its score and its contribution to this score."""

    doc_id: str
    score: float
    signals: Mapping[str, Mapping[str, Any]]


def fuse_lists(
    lists: Mapping[str, Sequence[ListedDocument]], weights: Mapping[str, float], *, depth: int
) -> list[FusedDocument]:
    """Return the `depth` best documents, best first; equal scores by doc_id. `weights`: by list."""
    signals: dict[str, dict[str, dict[str, Any]]] = {}
    for name, documents in lists.items():
        for document in documents:
            signals.setdefault(document.doc_id, {})[name] = {
                "rank": document.rank,
                "score": document.score,
                "contribution": weigh_ranks(document.rank, weights[name]),
            }
    fused = [
        FusedDocument(doc_id, fsum(signal["contribution"] for signal in by_list.values()), by_list)
        for doc_id, by_list in signals.items()
    ]
    return sorted(fused, key=lambda document: (-document.score, document.doc_id))[:depth]
