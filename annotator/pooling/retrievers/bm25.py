"""Rank documents by BM25 over character 2-grams and 3-grams, in any language without a tokenizer.

bm25s computes the scores (Lucene's variant, k1 1.5, b 0.75); Lù (2024), BM25S: Orders of magnitude faster
lexical search via eager sparse scoring. Only grams of the queries are indexed, with each document's full
length. The scores equal those of a full index, which would need far more memory.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from annotator.pooling.retrievers.grams import Codes, TextGrams, cut_query, list_grams, note_ids
from annotator.pooling.retrievers.order import answer_nothing, choose_best, list_without_grams, rank_doc_ids
from annotator.pooling.retrievers.records import Ranking, SearchHit


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
