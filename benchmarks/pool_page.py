"""The service of the Pool page at 1,000,000 proposals: 10,000 queries, 300,000 pairs, 600,000 judgments, 10 systems.

    .venv/bin/python -m benchmarks.pool_page [--queries 10000] [--kind sqlite postgresql] [--repeats 3] [--folder DIR]

Printed: the median time of what each tab asks for, and the memory that all of it adds. The aim: 5 s for a tab whose figures
are counted anew, 1 s for a page of pairs. With --folder the database is kept there and used again.
"""

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from annotator.domain.people import OPERATOR
from annotator.pooling.analysis.pool_analysis import PairFilter
from annotator.pooling.analysis.pool_analysis_service import (
    list_pair_page,
    show_contents,
    show_depth,
    show_rounds,
)
from annotator.storage.database import Database
from annotator.storage.sql import add_rows
from annotator.storage.tables.central import ProvenanceRow
from benchmarks.agreement_page import read_memory
from benchmarks.labeling_load import DATASET, fill, open_database, trust

SMALL = "--queries 20 --repeats 1 --kind sqlite"  # what the tests start it with
DEPTH, SYSTEMS, PEOPLE = 30, 10, 20


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="The service of the Pool page.")
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--kind", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="annotator-bench-") as folder:
        for kind in chosen.kind:
            target = (chosen.folder or Path(folder)) / f"pool-{kind}-{chosen.queries}"
            with open_database(kind, target) as (database, there):
                if not there:
                    fill(database, queries=chosen.queries, depth=DEPTH, judged_by=2, overlap=2, people=PEOPLE)
                    propose(database, queries=chosen.queries)
                measure(database, f"{kind}, {chosen.queries:,} queries", chosen.repeats)
                database.dispose()


def propose(database: Database, *, queries: int) -> None:
    """Let every pair be proposed by one to ten systems, 3.3 on average, at a rank from 1 to 20."""
    chance = np.random.default_rng(0)
    for first in range(0, queries, 500):
        rows = []
        for pair in range(first * DEPTH, min(queries, first + 500) * DEPTH):
            count = min(SYSTEMS, int(chance.geometric(0.3)))
            for system in chance.choice(SYSTEMS, count, replace=False).tolist():
                rank = int(chance.integers(1, 21))
                rows.append(
                    {
                        "pair_pk": pair + 1,
                        "system": f"system-{system}",
                        "rank": rank,
                        "score": 1.0 / rank,
                        "signals": {},
                    }
                )
        with database.write() as session:
            trust(session)
            add_rows(session, ProvenanceRow, rows)


def measure(database: Database, title: str, repeats: int) -> None:
    """What every tab asks for."""
    before = read_memory_here()
    asked_for: dict[str, Callable[[], object]] = {
        "contents and sets": lambda: show_contents(database, OPERATOR, DATASET),
        "depth": lambda: show_depth(database, OPERATOR, DATASET),
        "rounds": lambda: show_rounds(database, OPERATOR, DATASET),
        "50 pairs": lambda: list_pair_page(database, OPERATOR, DATASET, PairFilter()),
        "50 pairs, the last ones": lambda: list_pair_page(
            database, OPERATOR, DATASET, PairFilter(), start=DEPTH * 500
        ),
        "50 pairs of one system alone": lambda: list_pair_page(
            database, OPERATOR, DATASET, PairFilter(system="system-3", alone=True)
        ),
        "50 pairs of one status": lambda: list_pair_page(
            database, OPERATOR, DATASET, PairFilter(status="disagreement")
        ),
        "50 pairs by a word": lambda: list_pair_page(database, OPERATOR, DATASET, PairFilter(text="Q00017")),
    }
    for name, ask in asked_for.items():
        seconds = []
        for _ in range(repeats):
            begun = perf_counter()
            ask()
            seconds.append(perf_counter() - begun)
        print(f"{title + ', ' + name:<60} {median(seconds):8.2f} s", flush=True)
    print(f"{title + ', memory added':<60} {read_memory_here() - before:8.0f} MB", flush=True)


def read_memory_here() -> float:
    """Return the memory of this process in MB."""
    import os

    return read_memory(os.getpid())


if __name__ == "__main__":
    main()
