"""Rank documents by TF-IDF over character 2-grams and 3-grams: the cosine of query and document.

Salton and Buckley (1988), Term-weighting approaches in automatic text retrieval. `gram_weights.py` has the
weights.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from annotator.pooling.retrievers.gram_weights import answer_nothing, list_without_grams, weigh_documents
from annotator.pooling.retrievers.order import choose_best, rank_doc_ids
from annotator.pooling.retrievers.records import Ranking
from annotator.pooling.search.grams import cut_query


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
