"""Rank documents by vectors: the exact cosine of each query with every document, in bounded memory.

A first pass in single precision, block by block, keeps every document that could be among the best. A second
pass computes their cosine in double precision, row by row. So a score depends only on its two vectors, and
equal vectors have equal scores.

A team's own tables are checked first: the same number of dimensions, no NaN and no infinity, a direction (not all
zeros), each id once, only ids of the dataset, and a vector for every query. Documents without a vector are
reported, not refused.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from annotator.domain.errors import BadInput, FormatError, Problems
from annotator.pooling.retrievers.grams import rank_doc_ids
from annotator.pooling.retrievers.records import SearchHit
from annotator.pooling.retrievers.vector_files import VectorTable, has_direction

LEAST_ROWS = 256  # of a block, whatever the number of queries
MOST_SCORES = 4_000_000  # of a block: queries × documents
MOST_NUMBERS = 8_000_000  # of a block: documents × dimensions
RESCORED = 4_096  # results at once
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class VectorsInMemory:
    """Vectors of an array, as `VectorTable` has them of a file."""

    array: NDArray[np.floating]

    @property
    def count(self) -> int:
        return int(self.array.shape[0])

    @property
    def dimensions(self) -> int:
        return int(self.array.shape[1])

    def read(self, start: int, stop: int) -> NDArray[np.floating]:
        return self.array[start:stop]


VectorSource: TypeAlias = (
    VectorTable | VectorsInMemory
)  # one row each, without NaN, infinities or rows of zeros


@dataclass(slots=True)
class _Contenders:
    """The results that can still be among the best of their query, by query and falling score."""

    queries: NDArray[np.int64]
    rows: NDArray[np.int64]
    scores: Floats


def rank_by_cosine(
    documents: VectorSource,
    queries: NDArray[np.floating],
    id_order: NDArray[np.int64],
    *,
    depth: int,
    report_share: Callable[[float], None] = lambda _share: None,
) -> tuple[tuple[SearchHit, ...], ...]:
    """Return the `depth` documents with the highest cosine for each query, best first.

    `id_order`: each document's position in the order of doc_ids, which decides between equal scores. Calls
    `report_share(share of documents compared)`.
    """
    unit_queries = normalize_rows(queries)
    rows = max(LEAST_ROWS, min(MOST_SCORES // max(len(queries), 1), MOST_NUMBERS // documents.dimensions))
    contenders = _find_contenders(documents, unit_queries.astype(np.float32), rows, depth, report_share)
    scores = _rescore(documents, unit_queries, contenders, rows)
    order = np.lexsort((id_order[contenders.rows], -scores, contenders.queries))
    starts = np.searchsorted(contenders.queries[order], np.arange(len(queries) + 1))
    return tuple(
        tuple(
            SearchHit(int(contenders.rows[index]), float(scores[index]))
            for index in order[start:stop][:depth]
        )
        for start, stop in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
    )


def normalize_rows(rows: NDArray[np.floating]) -> Doubles:
    """Scale the rows to length 1, in double precision. Safe for very large and very small numbers."""
    doubles = rows.astype(np.float64)
    doubles /= np.abs(doubles).max(axis=1, keepdims=True)
    doubles /= np.sqrt((doubles * doubles).sum(axis=1, keepdims=True))
    return doubles


def _normalize_quickly(rows: NDArray[np.floating]) -> Floats:
    if rows.dtype == np.float64:
        return normalize_rows(rows).astype(np.float32)
    floats = rows.astype(np.float32)
    floats /= np.abs(floats).max(axis=1, keepdims=True)
    floats /= np.sqrt(np.einsum("ij,ij->i", floats, floats))[:, None]
    return floats


def _find_contenders(
    documents: VectorSource,
    queries: Floats,
    rows: int,
    depth: int,
    report_share: Callable[[float], None],
) -> _Contenders:
    tolerance = np.float32(4 * documents.dimensions * np.finfo(np.float32).eps)  # above any error of rounding
    least = np.full(len(queries), -np.inf, dtype=np.float32)  # the lowest of the best scores so far
    empty = np.zeros(0, dtype=np.int64)
    contenders = _Contenders(empty, empty, np.zeros(0, dtype=np.float32))
    for start in range(0, documents.count, rows):
        stop = min(start + rows, documents.count)
        scores = queries @ _normalize_quickly(documents.read(start, stop)).T
        if start == 0 and stop > depth:
            least = np.partition(scores, stop - depth, axis=1)[:, stop - depth]
        query_numbers, columns = np.nonzero(scores >= (least - tolerance)[:, None])
        new = _Contenders(query_numbers, columns + start, scores[query_numbers, columns])
        contenders = _keep_best(contenders, new, least, depth, tolerance)
        report_share(stop / documents.count)
    return contenders


def _keep_best(
    earlier: _Contenders, new: _Contenders, least: Floats, depth: int, tolerance: np.float32
) -> _Contenders:
    """Return the results not clearly below the `depth` best of their query. Writes the lowest of these to `least`."""
    queries = np.concatenate([earlier.queries, new.queries])
    rows = np.concatenate([earlier.rows, new.rows])
    scores = np.concatenate([earlier.scores, new.scores])
    order = np.lexsort((-scores, queries))
    queries, rows, scores = queries[order], rows[order], scores[order]
    starts = np.searchsorted(queries, np.arange(len(least) + 1))
    full = np.flatnonzero(np.diff(starts) >= depth)
    least[full] = scores[starts[full] + depth - 1]
    kept = scores >= (least - tolerance)[queries]
    return _Contenders(queries[kept], rows[kept], scores[kept])


def _rescore(documents: VectorSource, queries: Doubles, contenders: _Contenders, rows: int) -> Doubles:
    """Return the cosine of each contender in double precision."""
    scores = np.empty(len(contenders.rows), dtype=np.float64)
    order = np.argsort(contenders.rows, kind="stable")
    ordered_rows = contenders.rows[order]
    for start in range(0, documents.count, rows):
        first, last = np.searchsorted(ordered_rows, [start, start + rows])
        if first == last:
            continue
        block = documents.read(start, min(start + rows, documents.count))
        different, positions = np.unique(ordered_rows[first:last], return_inverse=True)
        units = normalize_rows(block[different - start])
        for begin in range(first, last, RESCORED):
            end = min(begin + RESCORED, last)
            chosen = order[begin:end]
            products = units[positions[begin - first : end - first]] * queries[contenders.queries[chosen]]
            scores[chosen] = products.sum(axis=1)
    return scores


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
    """Return the `depth` documents with the highest cosine for each query; equal scores by doc_id. BadInput for bad tables."""
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
