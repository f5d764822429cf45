"""Rank documents by BM25, TF-IDF or LSA over character 2-grams and 3-grams, in any language without a tokenizer.

BM25: bm25s (Lucene's variant, k1 1.5, b 0.75); Lù (2024), BM25S: Orders of magnitude faster lexical search via
eager sparse scoring. Only grams of the queries are indexed, with each document's full length: the scores equal
those of a full index, which would need far more memory.

TF-IDF: the cosine; Salton and Buckley (1988), Term-weighting approaches in automatic text retrieval. A weight is
1 + ln(count) times the smoothed idf, in rows of length 1, by scikit-learn. Memory: 8 bytes for each different gram
of each document (some 0.4 GB for 100,000 documents of 500 characters), and twice that while the matrix is built.

LSA: Deerwester et al. (1990), Indexing by latent semantic analysis; with the randomized decomposition of
scikit-learn (Halko, Martinsson and Tropp 2011). At most SAMPLE documents, drawn with the seed, and their
MOST_GRAMS most frequent grams define the space; all other documents and the queries are folded in. LSA finds
documents that say the same in other words, but misses rare names: use it together with BM25. The same seed
and documents, in any order, give the same result.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotator.pooling.retrievers.grams import (
    Codes,
    TextGrams,
    answer_nothing,
    choose_best,
    cut_query,
    list_grams,
    list_without_grams,
    note_ids,
    rank_doc_ids,
)
from annotator.pooling.retrievers.records import Ranking, SearchHit
from annotator.pooling.retrievers.vector_files import has_direction
from annotator.pooling.retrievers.vectors import VectorsInMemory, rank_by_cosine


class _DocumentGrams:
    """A document as bm25s counts it: its length includes all its grams, and iteration gives the queries' grams."""

    __slots__ = ("gram_numbers", "length")

    def __init__(self) -> None:
        self.gram_numbers = array("i")
        self.length = 0

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[int]:
        return iter(self.gram_numbers)


def rank_bm25(
    queries: Sequence[str],
    documents: Iterable[tuple[str, str]],
    *,
    depth: int,
    report_share: Callable[[float], None] = lambda _share: None,
) -> Ranking:
    """Return the `depth` best documents (doc_id, text) for each query; equal scores by doc_id.

    A document without a gram of the query is never a hit. Calls `report_share(share of queries answered)`.
    """
    query_grams = [cut_query(query) for query in queries]
    vocabulary = np.unique(np.concatenate([np.zeros(0, dtype=np.uint64), *query_grams]))
    doc_ids: list[str] = []
    tokens: list[_DocumentGrams] = []
    for grams in list_grams(note_ids(documents, doc_ids)):
        tokens += [_DocumentGrams() for _ in range(len(doc_ids) - len(tokens))]
        _collect(grams, tokens, vocabulary)
    tokens += [_DocumentGrams() for _ in range(len(doc_ids) - len(tokens))]
    if not any(document.gram_numbers for document in tokens):
        return answer_nothing(query_grams)
    index = _index(tokens, len(vocabulary))
    id_order = rank_doc_ids(doc_ids)
    hits: list[tuple[SearchHit, ...]] = []
    for number, codes in enumerate(query_grams):
        ids = np.searchsorted(vocabulary, codes)
        hits.append(choose_best(index.get_scores_from_ids(ids), id_order, depth) if len(ids) else ())
        report_share((number + 1) / len(query_grams))
    return Ranking(tuple(hits), list_without_grams(query_grams))


def _collect(grams: TextGrams, tokens: Sequence[_DocumentGrams], vocabulary: Codes) -> None:
    """Count these grams for their documents, and keep those of the (sorted) vocabulary."""
    if not len(grams.codes) or not len(vocabulary):
        return
    first = int(grams.texts.min())
    for number, length in enumerate(np.bincount(grams.texts - first).tolist(), start=first):
        tokens[number].length += length
    indexes = np.minimum(np.searchsorted(vocabulary, grams.codes), len(vocabulary) - 1)
    in_vocabulary = vocabulary[indexes] == grams.codes
    owners, counts = np.unique(grams.texts[in_vocabulary], return_counts=True)
    order = np.argsort(grams.texts[in_vocabulary], kind="stable")
    gram_numbers = array("i", indexes[in_vocabulary][order].astype(np.intc).tobytes())
    start = 0
    for owner, count in zip(owners.tolist(), counts.tolist(), strict=True):
        tokens[owner].gram_numbers += gram_numbers[start : start + count]
        start += count


def _index(tokens: list[_DocumentGrams], vocabulary: int) -> Any:
    import bm25s

    index = bm25s.BM25(backend="numpy", csc_backend="numpy", dtype="float64")
    names = {str(number): number for number in range(vocabulary)}
    index.index((tokens, names), show_progress=False)
    return index


class _CountedGrams(NamedTuple):
    """The count of each gram in each text, by text and gram. `grams`: positions in `vocabulary`."""

    texts: NDArray[np.int32]
    grams: NDArray[np.int32]
    counts: NDArray[np.float32]
    vocabulary: Codes


@dataclass(frozen=True, slots=True)
class WeightedGrams:
    """The weighted grams of documents.

    `vocabulary`: all grams, sorted. `matrix`: weights of documents × vocabulary (a sparse CSR matrix of
    scipy). `transformer`: weighs further texts in the same way.
    """

    doc_ids: tuple[str, ...]
    vocabulary: Codes
    matrix: Any
    transformer: Any

    def weigh_queries(self, queries: Sequence[Codes]) -> Any:
        """Return the weights of queries × vocabulary, for at least one query. Grams without a document are skipped."""
        from scipy.sparse import csr_matrix

        columns, counts, starts = [], [], [0]
        for codes in queries:
            different, times = np.unique(codes, return_counts=True)
            indexes = np.minimum(np.searchsorted(self.vocabulary, different), len(self.vocabulary) - 1)
            in_vocabulary = self.vocabulary[indexes] == different
            columns.append(indexes[in_vocabulary])
            counts.append(times[in_vocabulary].astype(np.float32))
            starts.append(starts[-1] + int(in_vocabulary.sum()))
        entries = np.concatenate(counts), np.concatenate(columns), np.array(starts)
        matrix = csr_matrix(entries, shape=(len(queries), len(self.vocabulary)))
        return self.transformer.transform(matrix)


def weigh_documents(documents: Iterable[tuple[str, str]]) -> WeightedGrams | None:
    """Return the weights of the documents (doc_id, text), or None without any gram."""
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import TfidfTransformer

    doc_ids: list[str] = []
    parts = [_count(grams) for grams in list_grams(note_ids(documents, doc_ids)) if len(grams.codes)]
    if not parts:
        return None
    vocabulary = parts[0].vocabulary
    for part in parts[1:]:
        vocabulary = _list_different(np.concatenate([vocabulary, part.vocabulary]))
    lengths = np.zeros(len(doc_ids) + 1, dtype=np.int64)
    size = sum(len(part.texts) for part in parts)
    columns, counts = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.float32)
    start = 0
    while parts:
        part = parts.pop(0)
        stop = start + len(part.texts)
        columns[start:stop] = np.searchsorted(vocabulary, part.vocabulary)[part.grams]
        counts[start:stop] = part.counts
        lengths += np.bincount(part.texts + 1, minlength=len(lengths))
        start = stop
    matrix = csr_matrix((counts, columns, np.cumsum(lengths)), shape=(len(doc_ids), len(vocabulary)))
    matrix.sum_duplicates()  # a long text is cut in several parts
    transformer = TfidfTransformer(sublinear_tf=True).fit(matrix)
    return WeightedGrams(tuple(doc_ids), vocabulary, transformer.transform(matrix, copy=False), transformer)


def _count(grams: TextGrams) -> _CountedGrams:
    vocabulary = _list_different(grams.codes)
    keys = grams.texts * len(vocabulary) + np.searchsorted(vocabulary, grams.codes)
    keys.sort()
    begins = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    texts, columns = np.divmod(keys[begins], len(vocabulary))
    counts = np.diff(np.append(begins, len(keys))).astype(np.float32)
    return _CountedGrams(texts.astype(np.int32), columns.astype(np.int32), counts, vocabulary)


def _list_different(codes: Codes) -> Codes:
    """Return the different codes, sorted. np.unique is slower here, because it hashes."""
    ordered: Codes = np.sort(codes)
    different: Codes = ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])]
    return different


def rank_tfidf(
    queries: Sequence[str],
    documents: Iterable[tuple[str, str]],
    *,
    depth: int,
    report_share: Callable[[float], None] = lambda _share: None,
) -> Ranking:
    """Return the `depth` best documents (doc_id, text) for each query; equal scores by doc_id.

    A document without a gram of the query is never a hit. Calls `report_share(share of queries answered)`.
    """
    codes = [cut_query(query) for query in queries]
    weights = weigh_documents(documents)
    if weights is None or not codes:
        return answer_nothing(codes)
    query_weights = weights.weigh_queries(codes)
    columns = np.unique(query_weights.indices)
    documents_by_gram = weights.matrix[:, columns].T.tocsr()
    query_weights = query_weights[:, columns]
    id_order = rank_doc_ids(weights.doc_ids)
    hits = []
    for number in range(len(queries)):
        row = query_weights[number] @ documents_by_gram
        scores = np.zeros(len(weights.doc_ids), dtype=np.float32)
        scores[row.indices] = row.data
        hits.append(choose_best(scores, id_order, depth))
        report_share((number + 1) / len(queries))
    return Ranking(tuple(hits), list_without_grams(codes))


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
    parts = [
        np.asarray(matrix[start : start + ROWS][:, grams] @ directions, dtype=np.float32)
        for start in range(0, matrix.shape[0], ROWS)
    ]
    return np.concatenate([np.zeros((0, directions.shape[1]), dtype=np.float32), *parts])
