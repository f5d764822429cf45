"""Rank documents by TF-IDF over character 2-grams and 3-grams: the cosine of query and document.

Salton and Buckley (1988), Term-weighting approaches in automatic text retrieval. A weight is 1 + ln(count)
times the smoothed idf, in rows of length 1, by scikit-learn. Memory: 8 bytes for each different gram of each
document (some 0.4 GB for 100,000 documents of 500 characters), and twice that while the matrix is built.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotator.pooling.retrievers.grams import Codes, TextGrams, cut_query, list_grams, note_ids
from annotator.pooling.retrievers.order import answer_nothing, choose_best, list_without_grams, rank_doc_ids
from annotator.pooling.retrievers.records import Ranking


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
