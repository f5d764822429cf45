"""Order documents by score, equal scores by doc_id (by code points), and answer queries that match nothing."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from annotator.pooling.retrievers.grams import Codes
from annotator.pooling.retrievers.records import Ranking, SearchHit


def rank_doc_ids(doc_ids: Sequence[str]) -> NDArray[np.int64]:
    """Return each document's position in the sorted order of doc_ids, from 0."""
    id_order = np.empty(len(doc_ids), dtype=np.int64)
    id_order[sorted(range(len(doc_ids)), key=lambda number: doc_ids[number])] = np.arange(len(doc_ids))
    return id_order


def choose_best(
    scores: NDArray[np.floating], id_order: NDArray[np.int64], depth: int
) -> tuple[SearchHit, ...]:
    """Return the `depth` documents with the highest scores above 0, best first. `scores`: one for each document."""
    candidates = np.flatnonzero(scores > 0)
    if len(candidates) > depth:
        least = np.partition(scores[candidates], len(candidates) - depth)[len(candidates) - depth]
        candidates = candidates[scores[candidates] >= least]
    order = np.lexsort((id_order[candidates], -scores[candidates]))[:depth]
    return tuple(SearchHit(int(number), float(scores[number])) for number in candidates[order])


def answer_nothing(queries: Sequence[Codes]) -> Ranking:
    """Return a ranking without hits for the grams of these queries."""
    hits: tuple[tuple[SearchHit, ...], ...] = tuple(() for _ in queries)
    return Ranking(hits, list_without_grams(queries))


def list_without_grams(queries: Sequence[Codes]) -> tuple[int, ...]:
    """Return the numbers of the queries that are too short to match."""
    return tuple(number for number, codes in enumerate(queries) if not len(codes))
