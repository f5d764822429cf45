"""Rank documents by latent semantic analysis of character 2-grams and 3-grams.

Deerwester et al. (1990), Indexing by latent semantic analysis; with the randomized decomposition of
scikit-learn (Halko, Martinsson and Tropp 2011). At most SAMPLE documents, drawn with the seed, and their
MOST_GRAMS most frequent grams define the space; all other documents and the queries are folded in. LSA finds
documents that say the same in other words, but misses rare names: use it together with BM25. The same seed
and documents, in any order, give the same result.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotator.pooling.retrievers.grams import cut_query
from annotator.pooling.retrievers.order import answer_nothing, list_without_grams, rank_doc_ids
from annotator.pooling.retrievers.records import Ranking, SearchHit
from annotator.pooling.retrievers.tfidf import weigh_documents
from annotator.pooling.retrievers.vectors import VectorsInMemory, has_direction, rank_by_cosine

DIMENSIONS = 128
SAMPLE = 20_000
MOST_GRAMS = 200_000
ROWS = 10_000  # folded in at once
LEAST_COSINE = 1e-6  # a lower cosine is only a rounding error


def rank_lsa(
    queries: Sequence[str],
    documents: Iterable[tuple[str, str]],
    *,
    depth: int,
    seed: int,
    report_share: Callable[[float], None] = lambda _share: None,
) -> Ranking:
    """Return the `depth` best documents (doc_id, text) for each query; equal scores by doc_id. Reports the share compared."""
    codes = [cut_query(query) for query in queries]
    weights = weigh_documents(documents)
    if weights is None or not codes:
        return answer_nothing(codes)
    id_order = rank_doc_ids(weights.doc_ids)
    grams, directions = _find_directions(weights.matrix, id_order, seed)
    latent_documents = _fold_in(weights.matrix, grams, directions)
    latent_queries = _fold_in(weights.weigh_queries(codes), grams, directions)
    inside = np.flatnonzero(has_direction(latent_documents))
    answerable = np.flatnonzero(has_direction(latent_queries))
    hits: list[tuple[SearchHit, ...]] = [() for _ in queries]
    if len(inside):
        ranked = rank_by_cosine(
            VectorsInMemory(latent_documents[inside]),
            latent_queries[answerable],
            id_order[inside],
            depth=depth,
            report_share=report_share,
        )
        for number, best in zip(answerable.tolist(), ranked, strict=True):
            hits[number] = tuple(
                SearchHit(int(inside[hit.document]), hit.score) for hit in best if hit.score >= LEAST_COSINE
            )
    return Ranking(tuple(hits), list_without_grams(codes))


def _find_directions(
    matrix: Any, id_order: NDArray[np.int64], seed: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the used columns, and their weights in each direction (columns × dimensions)."""
    from sklearn.utils.extmath import randomized_svd

    by_id = np.argsort(id_order)
    if len(by_id) > SAMPLE:
        by_id = by_id[np.sort(np.random.default_rng(seed).choice(len(by_id), SAMPLE, replace=False))]
    sample = matrix[by_id]
    frequency = np.bincount(sample.indices, minlength=sample.shape[1])
    grams = np.sort(np.lexsort((np.arange(len(frequency)), -frequency))[:MOST_GRAMS])
    grams = grams[frequency[grams] > 0]
    sample = sample[:, grams]
    dimensions = min(DIMENSIONS, *sample.shape)
    _, _, components = randomized_svd(sample, dimensions, n_iter=4, random_state=seed)
    return grams, np.ascontiguousarray(components.T, dtype=np.float32)


def _fold_in(matrix: Any, grams: NDArray[np.int64], directions: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the rows of the matrix in the latent space."""
    parts = [
        np.asarray(matrix[start : start + ROWS][:, grams] @ directions, dtype=np.float32)
        for start in range(0, matrix.shape[0], ROWS)
    ]
    return np.concatenate([np.zeros((0, directions.shape[1]), dtype=np.float32), *parts])
