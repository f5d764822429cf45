"""Make the table of candidates from the results of all systems."""

import numpy as np
from numpy.typing import NDArray

from annotator.pooling.adaptive.records import NOT_RETRIEVED, UNJUDGED, CandidateTable

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
