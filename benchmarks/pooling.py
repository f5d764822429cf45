"""How long `annotator pool --depth 20` takes with 50 runs of 10,000 queries: 10,000,000 results, on SQLite and PostgreSQL.

    .venv/bin/python -m benchmarks.pooling [--runs 50] [--queries 10000] [--depth 20] [--kind sqlite postgresql] [--folder DIR]

Each system ranks 20 of the 60 documents that a query has, good ones first, so that about 60 pairs per query are made and each is
named by a sixth of the systems and more. Measured: a dry run, the pooling itself, the same again (which changes nothing), and the
peak memory of the process; on PostgreSQL, the server's own processor time is not counted. The aim: the pooling in 60 s. With --folder the database is kept there before it is pooled, and used again.
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sqlalchemy import text
from sqlalchemy.orm import Session

from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR
from annotator.pooling.rounds.pool_records import PoolRequest
from annotator.pooling.rounds.rounds_service import make_round
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.schema import upgrade_schema
from annotator.storage.sql import add_rows
from annotator.storage.tables.central import DocumentRow, QueryRow, RunRow
from benchmarks.labeling_load import DATASET, NOW, open_database, trust

SMALL = "--runs 3 --queries 20 --depth 5 --kind sqlite"  # what the tests start it with
CANDIDATES = 60  # documents that the systems choose from, for each query


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="pool --depth at ten million results.")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--depth", type=int, default=20)
    parser.add_argument("--kind", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--folder", type=Path)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="annotator-bench-") as folder:
        for kind in chosen.kind:
            name = f"pooling-{kind}-{chosen.runs}-{chosen.queries}-{chosen.depth}"
            with open_database(kind, (chosen.folder or Path(folder)) / name) as (database, there):
                if not there:
                    fill(database, runs=chosen.runs, queries=chosen.queries, depth=chosen.depth)
                measure(kind, database, chosen.depth)
                database.dispose()


def measure(kind: str, database: Database, depth: int) -> None:
    """Print the seconds of a dry run, of the pooling and of the same again, and the memory."""
    for what, dry_run in (("dry run", True), ("pool", False), ("again", False)):
        start, busy = time.perf_counter(), time.process_time()
        report = make_round(database, OPERATOR, DATASET, PoolRequest(depth=depth), now=NOW, dry_run=dry_run)
        seconds, processor = time.perf_counter() - start, time.process_time() - busy
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(
            f"{kind:<11} {what:<8} {report.new:>9,} new pairs {seconds:7.1f} s, {processor:.1f} s of the processor here  peak {memory:,} MB",
            flush=True,
        )


def fill(database: Database, *, runs: int, queries: int, depth: int) -> None:
    """Write the queries, the documents and the results of all runs."""
    upgrade_schema(database)
    create_dataset(database, OPERATOR, DATASET, now=NOW)
    documents = max(CANDIDATES, queries * 5)
    with database.write() as session:
        dataset_pk = key_of(find_dataset(session, DATASET).pk)
        rows = [
            {
                "dataset_pk": dataset_pk,
                "position": at,
                "query_id": f"Q{at:05}",
                "text": f"検索 {at}",
                "extra": {},
            }
            for at in range(queries)
        ]
        add_rows(session, QueryRow, rows)
        add_rows(
            session,
            DocumentRow,
            [
                {
                    "dataset_pk": dataset_pk,
                    "doc_id": f"guide/page-{at:06}",
                    "title": f"第{at}章",
                    "text_sha256": None,
                    "extra": {},
                }
                for at in range(documents)
            ],
        )
        add_rows(
            session,
            RunRow,
            [
                {
                    "dataset_pk": dataset_pk,
                    "system": f"system-{at:02}",
                    "content_sha256": str(at),
                    "query_signals": {},
                    "imported_at": NOW,
                }
                for at in range(runs)
            ],
        )
    for run in range(runs):
        with database.write() as session:
            trust(session)
            _write(session, list(_rank(run, queries, documents, depth)))
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE"))


def _rank(run: int, queries: int, documents: int, depth: int) -> Iterator[tuple[int, int, int, int, float]]:
    """Yield (run_pk, query_pk, document_pk, rank, score): worth by place plus the noise of this system."""
    random = np.random.default_rng(run)
    worth = -np.arange(CANDIDATES) / 12
    noisy = worth + random.normal(size=(queries, CANDIDATES))
    best = np.argsort(-noisy, axis=1)[:, :depth]
    for query, places in enumerate(best.tolist()):
        for rank, place in enumerate(places, start=1):
            yield run + 1, query + 1, (query * 37 + place * 13) % documents + 1, rank, 1 / rank


def _write(session: Session, entries: list[tuple[int, int, int, int, float]]) -> None:
    columns = "run_pk, query_pk, document_pk, rank, score, signals"
    driver = session.connection().connection.driver_connection
    assert driver is not None
    if session.connection().dialect.name == "sqlite":
        driver.executemany(f"INSERT INTO run_entry ({columns}) VALUES (?, ?, ?, ?, ?, '{{}}')", entries)
        return
    with driver.cursor() as cursor, cursor.copy(f"COPY run_entry ({columns}) FROM STDIN") as copy:
        for entry in entries:
            copy.write_row((*entry, "{}"))


if __name__ == "__main__":
    main()
