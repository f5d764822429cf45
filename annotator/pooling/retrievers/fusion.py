"""Fuse ranked lists by their reciprocal ranks, and keep what each list contributed.

Cormack, Clarke and Büttcher (2009), Reciprocal rank fusion outperforms Condorcet and individual rank learning methods: a
document's score is the sum over the lists of weight / (K + rank), ranks from 1. Title matches are two more lists.
"""

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any, NamedTuple

K = 60
FUSED_RESULTS = 100  # of each list, or as many as are pooled if that is more


class ListedDocument(NamedTuple):
    """A document in a list; `rank` begins at 1, `score` is the list's own."""

    doc_id: str
    rank: int
    score: float | None


class FusedDocument(NamedTuple):
    """A document of the fused list. `signals`: by list its rank, its score and what it contributed to this score."""

    doc_id: str
    score: float
    signals: Mapping[str, Mapping[str, Any]]


def fuse_lists(
    lists: Mapping[str, Sequence[ListedDocument]], weights: Mapping[str, float], *, depth: int
) -> list[FusedDocument]:
    """Return the `depth` best documents, best first; of equal scores the lower doc_id. `weights`: by list."""
    signals: dict[str, dict[str, dict[str, Any]]] = {}
    for name, documents in lists.items():
        for document in documents:
            signals.setdefault(document.doc_id, {})[name] = {
                "rank": document.rank,
                "score": document.score,
                "contribution": weights[name] / (K + document.rank),
            }
    fused = [
        FusedDocument(doc_id, fsum(signal["contribution"] for signal in by_list.values()), by_list)
        for doc_id, by_list in signals.items()
    ]
    return sorted(fused, key=lambda document: (-document.score, document.doc_id))[:depth]
