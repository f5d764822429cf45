"""Read the results of runs and the pairs of the pool as arrays, and store what a round adds: ten million results at a time.

Names of systems are added by the database itself (`INSERT … SELECT`), run after run: a pool of 50 runs has ten times as many of
them as pairs. benchmarks/pooling.py measures it.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import exists, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.pooling.rounds.pool_records import CandidateLists, Numbers
from annotator.storage.sql import execute_sql, fetch_tuples, prepare_sql
from annotator.storage.tables import DocumentRow, PairRow

_FIRST = """
SELECT query_pk, document_pk, {columns} FROM (
  SELECT query_pk, document_pk, rank, score, signals,
    row_number() OVER (PARTITION BY query_pk ORDER BY rank) AS position
  FROM run_entry WHERE run_pk = :run_pk {left}
) entry WHERE position <= :depth"""
_BUT_LEFT = "AND document_pk NOT IN (SELECT document_pk FROM pair WHERE retired_at IS NOT NULL)"
_NAME_SYSTEM = """
INSERT INTO provenance (pair_pk, system, rank, score, signals)
SELECT pair.pk, run.system, first.rank, first.score, first.signals FROM ({first}) first
JOIN pair ON pair.query_pk = first.query_pk AND pair.document_pk = first.document_pk
JOIN run ON run.pk = :run_pk
WHERE pair.dataset_pk = :dataset_pk ORDER BY pair.pk
ON CONFLICT (pair_pk, system) DO NOTHING"""
_POOL = prepare_sql(
    "SELECT pk, query_pk, document_pk, judged > 0 OR kept, retired_at IS NULL FROM pair WHERE dataset_pk = :dataset_pk"
)


@dataclass(frozen=True, slots=True, eq=False)
class PoolArrays:
    """The pairs of a dataset as parallel arrays, also those that left the pool. `answered`: judged, or settled by an import."""

    pk: Numbers
    query: Numbers
    document: Numbers
    answered: NDArray[np.bool_]
    present: NDArray[np.bool_]


def read_lists(session: Session, runs: Mapping[int, str], depth: int) -> CandidateLists:
    """Return the first `depth` results per query of each of these runs (systems by run_pk).

    Results are counted by their order, whether ranks begin at 0 or 1, without documents that were replaced by others.
    """
    first = prepare_sql(_write_first(session, "position"))
    parts = []
    for number, run_pk in enumerate(runs):
        rows = fetch_tuples(session, first, {"run_pk": run_pk, "depth": depth})
        values = np.array(rows, dtype=np.int64).reshape(-1, 3)
        parts.append((np.full(len(values), number, dtype=np.int32), values))
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
    """Return every pair of the dataset."""
    rows = fetch_tuples(session, _POOL, {"dataset_pk": dataset_pk})
    values = np.array(rows, dtype=np.int64).reshape(-1, 5)
    return PoolArrays(
        values[:, 0], values[:, 1], values[:, 2], values[:, 3].astype(np.bool_), values[:, 4].astype(np.bool_)
    )


def name_systems(session: Session, dataset_pk: int, runs: Collection[int], depth: int) -> None:
    """Add each of these runs to the provenance of the pairs among its first `depth` results, unless it is there."""
    statement = prepare_sql(_NAME_SYSTEM.format(first=_write_first(session, "rank, score, signals")))
    for run_pk in runs:
        execute_sql(session, statement, {"run_pk": run_pk, "depth": depth, "dataset_pk": dataset_pk})


def list_doc_ids(session: Session, dataset_pk: int) -> dict[int, str]:
    """Return the doc_id of every document, by document_pk."""
    statement = select(col(DocumentRow.pk), col(DocumentRow.doc_id))
    rows = session.execute(statement.where(col(DocumentRow.dataset_pk) == dataset_pk))
    return {pk: doc_id for pk, doc_id in rows if pk is not None}


def _write_first(session: Session, columns: str) -> str:
    """Return the statement of a run's first results. It looks for replaced documents only where there are some."""
    some_left = session.scalar(select(exists().where(col(PairRow.retired_at).is_not(None))))
    return _FIRST.format(columns=columns, left=_BUT_LEFT if some_left else "")
