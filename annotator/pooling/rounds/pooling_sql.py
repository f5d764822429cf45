"""Read candidates (of runs, and of our own retrievers) and the pool, and store the provenance of a round.

Runs and the pool are arrays of up to ten million results.

The database itself copies the names of systems (`INSERT … SELECT`): a pool of 50 runs has twenty times as
many of them as pairs. benchmarks/pooling.py measures it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import exists, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.errors import ValidationError
from annotator.domain.messages import join_first
from annotator.pooling.retrievers.fusion import FUSED_RESULTS, ListedDocument
from annotator.pooling.retrievers.records import (
    RetrieverNote,
    SearchedDocument,
    SearchedQuery,
    list_fused_runs,
)
from annotator.pooling.retrievers.registry import ReportProgress, retrieve_candidates
from annotator.pooling.rounds.pool_records import CandidateLists, Numbers, PoolRequest
from annotator.storage.pairs.pool import (
    PoolCandidate,
    RetrievalQuery,
    count_documents,
    list_first_results,
    list_runs,
    read_documents,
)
from annotator.storage.sql import execute_sql, fetch_tuples, join_many_rows, prepare_sql, split_into_chunks
from annotator.storage.tables.central import DocumentRow, PairRow

_NUMBERED = """
SELECT run_pk, query_pk, document_pk, rank, score, signals, rank - :offset AS position
FROM run_entry WHERE run_pk IN :runs AND rank <= :offset + :depth"""
_COUNTED = """
SELECT run_pk, query_pk, document_pk, rank, score, signals, position FROM (
  SELECT run_pk, query_pk, document_pk, rank, score, signals,
    row_number() OVER (PARTITION BY run_pk, query_pk ORDER BY rank) AS position
  FROM run_entry WHERE run_pk IN :runs{left}{queries}
) counted WHERE position <= :depth"""
_BUT_LEFT = " AND document_pk NOT IN (SELECT document_pk FROM pair WHERE retired_at IS NOT NULL)"
_QUERIES = " AND query_pk BETWEEN :first_query AND :last_query"
_RANKS = prepare_sql("""
SELECT min(first), max(first), max(last - first + 1 - entries) FROM (
  SELECT min(rank) AS first, max(rank) AS last, count(*) AS entries FROM run_entry WHERE run_pk = :run_pk GROUP BY query_pk
) ranks""")
_NAME_SYSTEMS = """
INSERT INTO provenance (pair_pk, system, rank, score, signals)
SELECT pair.pk, run.system, entry.rank, entry.score, entry.signals FROM ({first}) entry
JOIN run ON run.pk = entry.run_pk
JOIN pair ON pair.query_pk = entry.query_pk AND pair.document_pk = entry.document_pk
WHERE pair.dataset_pk = :dataset_pk AND pair.query_pk BETWEEN :first_query AND :last_query ORDER BY pair.pk, run.system{unless_there}"""
_UNLESS_THERE = " ON CONFLICT (pair_pk, system) DO NOTHING"
QUERIES_AT_ONCE = 100
_POOL = prepare_sql(
    "SELECT pk, query_pk, document_pk, judged > 0 OR kept, retired_at IS NULL FROM pair WHERE dataset_pk = :dataset_pk"
)


@dataclass(frozen=True, slots=True, eq=False)
class PoolArrays:
    """The pairs of a dataset as parallel arrays. `answered`: judged or settled by an import. `present`: not retired."""

    pk: Numbers
    query: Numbers
    document: Numbers
    answered: NDArray[np.bool_]
    present: NDArray[np.bool_]


def read_lists(session: Session, runs: Mapping[int, str], depth: int) -> CandidateLists:
    """Return the first `depth` results per query of each of these runs (systems by run_pk).

    Results count by their order: ranks may begin at 0 or 1, and replaced documents are skipped.
    """
    some_left = _has_left_documents(session)
    parts = []
    for number, run_pk in enumerate(runs):
        offset = None if some_left else _find_numbering(session, run_pk)
        statement = prepare_sql(
            f"SELECT query_pk, document_pk, position FROM ({_write_first(offset, some_left=some_left)}) entry",
            lists=["runs"],
        )
        rows = fetch_tuples(session, statement, {"runs": [run_pk], "depth": depth, "offset": offset})
        flat = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=3 * len(rows))
        parts.append((np.full(len(rows), number, dtype=np.int32), flat.reshape(-1, 3)))
    systems = [numbers for numbers, _ in parts] or [np.zeros(0, dtype=np.int32)]
    values = np.concatenate([part for _, part in parts] or [np.zeros((0, 3), dtype=np.int64)])
    return CandidateLists(
        tuple(runs.values()),
        np.concatenate(systems),
        values[:, 0],
        values[:, 1],
        values[:, 2].astype(np.int32),
    )


def read_pool(session: Session, dataset_pk: int) -> PoolArrays:
    """Return every pair of the dataset, including retired ones."""
    rows = fetch_tuples(session, _POOL, {"dataset_pk": dataset_pk})
    values = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=5 * len(rows)).reshape(-1, 5)
    return PoolArrays(
        values[:, 0], values[:, 1], values[:, 2], values[:, 3].astype(np.bool_), values[:, 4].astype(np.bool_)
    )


def name_systems(
    session: Session,
    dataset_pk: int,
    runs: Collection[int],
    query_pks: Collection[int],
    depth: int,
    *,
    is_new_pool: bool,
) -> None:
    """Add these runs to the provenance of the pairs among their first `depth` results.

    `is_new_pool`: no pair had any provenance before. Handles some queries at a time with all runs: the rows
    of a pair are adjacent in the table's index, so the index is written from start to end.
    """
    some_left = _has_left_documents(session)
    by_numbering: dict[int | None, list[int]] = {}
    for run_pk in runs:
        offset = None if some_left else _find_numbering(session, run_pk)
        by_numbering.setdefault(offset, []).append(run_pk)
    for chunk in split_into_chunks(sorted(query_pks), QUERIES_AT_ONCE):
        for offset, run_pks in by_numbering.items():
            statement = _NAME_SYSTEMS.format(
                first=_write_first(offset, some_left=some_left, queries=_QUERIES),
                unless_there="" if is_new_pool else _UNLESS_THERE,
            )
            values = {
                "runs": run_pks,
                "depth": depth,
                "offset": offset,
                "dataset_pk": dataset_pk,
                "first_query": chunk[0],
                "last_query": chunk[-1],
            }
            with join_many_rows(session):
                execute_sql(session, prepare_sql(statement, lists=["runs"]), values)


def list_doc_ids(session: Session, dataset_pk: int) -> dict[int, str]:
    """Return {document_pk: doc_id} of every document."""
    statement = select(col(DocumentRow.pk), col(DocumentRow.doc_id))
    rows = session.execute(statement.where(col(DocumentRow.dataset_pk) == dataset_pk))
    return {pk: doc_id for pk, doc_id in rows if pk is not None}


def _has_left_documents(session: Session) -> bool:
    return bool(session.scalar(select(exists().where(col(PairRow.retired_at).is_not(None)))))


def _find_numbering(session: Session, run_pk: int) -> int | None:
    """Return the first rank minus 1 if all queries have the same first rank and no gaps; else None.

    The position of a result is then its rank minus this number, so nothing needs sorting.
    """
    ((lowest, highest, most_missing),) = fetch_tuples(session, _RANKS, {"run_pk": run_pk})
    return lowest - 1 if lowest is not None and lowest == highest and not most_missing else None


def _write_first(offset: int | None, *, some_left: bool, queries: str = "") -> str:
    """Return the SQL for the first results of runs. `offset`: the result of `_find_numbering`."""
    if offset is not None:
        return _NUMBERED + queries
    return _COUNTED.format(left=_BUT_LEFT if some_left else "", queries=queries)


def retrieve_from_documents(
    session: Session,
    dataset_pk: int,
    queries: Mapping[int, RetrievalQuery],
    request: PoolRequest,
    depth: int,
    progress: ReportProgress | None,
) -> tuple[list[PoolCandidate], tuple[RetrieverNote, ...]]:
    """Return the retrievers' candidates with notes. `queries`: by query_pk. ValidationError if a run to fuse is missing."""
    names, options = request.retrievers, request.retrieval
    document_pks: dict[str, int] = {}

    def read() -> Iterator[SearchedDocument]:
        for document in read_documents(session, dataset_pk):
            document_pks[document.doc_id] = document.document_pk
            yield SearchedDocument(document.doc_id, document.title, document.searched)

    retrieval = retrieve_candidates(
        names,
        [SearchedQuery(query.query_id, query.text) for query in queries.values()],
        read,
        options,
        depth=depth,
        runs=_list_fused_results(session, dataset_pk, list_fused_runs(names, options), depth),
        expected=count_documents(session, dataset_pk),
        progress=progress,
    )
    query_pks = {query.query_id: query_pk for query_pk, query in queries.items()}
    candidates = [
        PoolCandidate(
            query_pks[item.query_id],
            item.query_id,
            document_pks[item.doc_id],
            item.doc_id,
            item.system,
            item.rank,
            item.score,
            item.signals,
        )
        for item in retrieval.candidates
    ]
    return candidates, retrieval.notes


def _list_fused_results(
    session: Session, dataset_pk: int, systems: Sequence[str], depth: int
) -> dict[str, dict[str, list[ListedDocument]]]:
    """Return the first results of these runs by system and query_id, with ranks from 1."""
    runs = list_runs(session, dataset_pk)
    for system in systems:
        if system not in runs.values():
            existing = join_first(sorted(runs.values())) or "none"
            raise ValidationError(
                f"weights: no run of the system {system!r} is imported; there is: {existing}"
            )
    fused = {pk: system for pk, system in runs.items() if system in systems}
    results: dict[str, dict[str, list[ListedDocument]]] = {system: {} for system in systems}
    for item in list_first_results(session, fused, max(depth, FUSED_RESULTS)) if fused else []:
        listed = results[item.system].setdefault(item.query_id, [])
        listed.append(ListedDocument(item.doc_id, len(listed) + 1, item.score))
    return results
