"""Rank documents by a team's own vectors: the exact cosine of each query with every document.

Both tables are checked first: the same number of dimensions, no NaN and no infinity, a direction (not all
zeros), each id once, only ids of the dataset, and a vector for every query. Documents without a vector are
reported, not refused.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from annotator.domain.errors import BadInput, FormatError, Problems
from annotator.pooling.retrievers.cosine import has_direction, rank_by_cosine
from annotator.pooling.retrievers.order import rank_doc_ids
from annotator.pooling.retrievers.records import SearchHit
from annotator.pooling.retrievers.vector_files import VectorTable

CHECKED_NUMBERS = 8_000_000  # read at once


@dataclass(frozen=True, slots=True)
class VectorRanking:
    """The best documents of each query, numbered as in the table of documents, and the doc_ids without a vector."""

    hits: tuple[tuple[SearchHit, ...], ...]
    without_vector: tuple[str, ...]


def rank_vectors(
    query_ids: Sequence[str],
    doc_ids: Collection[str],
    documents: VectorTable,
    queries: VectorTable,
    *,
    depth: int,
    report_share: Callable[[float], None] = lambda _share: None,
) -> VectorRanking:
    """Return the `depth` documents with the highest cosine for each query; equal scores by doc_id.

    Raises BadInput with all problems of the tables.
    """
    check_tables(query_ids, doc_ids, documents, queries)
    if not documents.count or not queries.count:  # the model knows none of the words
        return VectorRanking(tuple(() for _ in query_ids), tuple(sorted(set(doc_ids) - set(documents.ids))))
    rows = {query_id: row for row, query_id in enumerate(queries.ids)}
    searched = queries.read(0, queries.count)[[rows[query_id] for query_id in query_ids]]
    hits = rank_by_cosine(
        documents, searched, rank_doc_ids(documents.ids), depth=depth, report_share=report_share
    )
    return VectorRanking(hits, tuple(sorted(set(doc_ids) - set(documents.ids))))


def check_tables(
    query_ids: Sequence[str], doc_ids: Collection[str], documents: VectorTable, queries: VectorTable
) -> None:
    """Raise BadInput with all problems of these tables, if there are any."""
    problems = [
        *_list_id_problems(documents, set(doc_ids), "document"),
        *_list_id_problems(queries, set(query_ids), "query"),
        *_list_row_problems(documents),
        *_list_row_problems(queries),
    ]
    if documents.count and queries.count and documents.dimensions != queries.dimensions:
        expected = f"vectors of {documents.dimensions:,} numbers, as in {documents.path}"
        problems.append(FormatError(queries.path, None, expected, f"{queries.dimensions:,}"))
    with_vector = set(queries.ids)
    problems += [
        FormatError(queries.path, None, f"a vector for the query {query_id!r}", "none")
        for query_id in query_ids
        if query_id not in with_vector
    ]
    if problems:
        raise BadInput(problems)


def _list_id_problems(table: VectorTable, ids: Collection[str], what: str) -> list[FormatError]:
    problems, rows = Problems(table.id_path), dict[str, int]()
    for row, name in enumerate(table.ids):
        first = rows.setdefault(name, row)
        if first != row:
            expected = f"each id once (it is in line {table.line_of(first)})"
            problems.add(table.line_of(row), expected, repr(name))
        elif name not in ids:
            problems.add(table.line_of(row), f"the id of a {what} of the dataset", repr(name))
    return problems.errors


def _list_row_problems(table: VectorTable) -> list[FormatError]:
    problems = Problems(table.path)
    step = max(1, CHECKED_NUMBERS // max(1, table.dimensions))
    for start in range(0, table.count, step):
        rows = table.read(start, min(start + step, table.count))
        finite = np.isfinite(rows).all(axis=1)
        for row in np.flatnonzero(~finite).tolist():
            value = rows[row][~np.isfinite(rows[row])][0]
            found = f"{value} in the vector of {table.ids[start + row]!r}"
            problems.add(table.line_of(start + row), "finite numbers", found)
        for row in np.flatnonzero(finite & ~has_direction(rows)).tolist():
            found = f"only zeros in the vector of {table.ids[start + row]!r}"
            problems.add(table.line_of(start + row), "a number other than 0", found)
    return problems.errors
