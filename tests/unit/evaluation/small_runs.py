"""Small truths and runs for the tests of evaluation."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.records import Order, RankedRun
from annotator.evaluation.scores.ranking import NO_RANK, ResultColumns, gather_rows, order_columns

Results = Mapping[str, Sequence[tuple[str, float]]]


def make_columns(results: Results, ranks: Mapping[str, Sequence[int]] | None = None) -> ResultColumns:
    """The results as columns, as a file lists them."""
    query_ids = list(results)
    rows = [
        (query, doc_id, score)
        for query, query_id in enumerate(query_ids)
        for doc_id, score in results[query_id]
    ]
    doc_ids = list(dict.fromkeys(doc_id for _, doc_id, _ in rows))
    flat = [rank for query_id in query_ids for rank in ranks[query_id]] if ranks else [NO_RANK] * len(rows)
    return ResultColumns(
        query_ids,
        np.array([query for query, _, _ in rows], dtype=np.int64),
        doc_ids,
        np.array([doc_ids.index(doc_id) for _, doc_id, _ in rows], dtype=np.int64),
        np.array([score for _, _, score in rows], dtype=np.float64),
        np.array(flat, dtype=np.int64),
    )


def make_scored_run(system: str, results: Results, *, order: Order = "score") -> RankedRun:
    """A run of results with scores."""
    columns = make_columns(results)
    found = order_columns(columns, order)
    return RankedRun(
        system,
        tuple(columns.query_ids[code] for code in found.queries.tolist()),
        found.starts,
        columns.doc_ids,
        columns.documents[found.rows].astype(np.int32),
        scores=columns.scores[found.rows],
        contradictions=found.contradictions,
    )


def make_run(system: str, ranked: Mapping[str, Sequence[str]]) -> RankedRun:
    """A run of ranked lists."""
    return make_scored_run(
        system,
        {
            query_id: [(doc_id, -float(rank)) for rank, doc_id in enumerate(doc_ids)]
            for query_id, doc_ids in ranked.items()
        },
    )


def fill_rows(rows: Sequence[Sequence[int]]) -> NDArray[np.int16]:
    """The grades of some queries as a matrix, filled up with ABSENT."""
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    values = np.array([value for row in rows for value in row], dtype=np.int16)
    return gather_rows(values, np.cumsum(lengths) - lengths, lengths)
