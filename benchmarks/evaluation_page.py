"""The Evaluation page in a real Chromium: 5 systems with 100 results each for 50 queries, 1,500 pairs judged by 20 annotators.

    .venv/bin/python -m benchmarks.evaluation_page [--queries 50] [--systems 5] [--kind sqlite postgresql] [--repeats 10]

Printed: from opening the address to the first figures painted (a score of every system) and to the end of the page, first with a
new server whose first page this is, then with another new server on which the page Help was open before; from a click in the
sidebar to the first figures, once they were measured; the server's processor seconds and memory. The browser is warm each time.
The aims: first figures 2 s, opened again 1 s.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import Locator, Page

from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.sql import add_rows
from annotator.storage.tables.central import RunEntryRow, RunRow
from benchmarks import agreement_load
from benchmarks.agreement_page import read_memory
from benchmarks.labeling_load import DATASET, NOW, open_database, read_cpu, serve, show, trust
from benchmarks.press_to_paint import open_page

SMALL = "--queries 10 --systems 2 --repeats 1 --kind sqlite"  # what the tests start it with
RESULTS = 100
END = "Full report as JSON"  # the last link of the page


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="The Evaluation page.")
    parser.add_argument("--queries", type=int, default=50)
    parser.add_argument("--systems", type=int, default=5)
    parser.add_argument("--kind", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--repeats", type=int, default=10)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="annotator-bench-") as folder:
        for kind in chosen.kind:
            with open_database(kind, Path(folder) / kind) as (database, _there), open_page() as page:
                agreement_load.fill(database, queries=chosen.queries)
                agreement_load.make_lead(database)
                add_runs(database, queries=chosen.queries, systems=chosen.systems)
                for visits_help in (False, True):
                    with serve(database, Path(folder)) as (port, pid):
                        measure(kind, page, port, pid, chosen.repeats if visits_help else 0)
                database.dispose()


def add_runs(database: Database, *, queries: int, systems: int) -> None:
    """Add runs in which the pool's documents stand the higher, the better the system is."""
    documents = queries * 3
    chance = np.random.default_rng(0)
    with database.write() as session:
        trust(session)
        dataset_pk = key_of(find_dataset(session, DATASET).pk)
        add_rows(
            session,
            RunRow,
            [
                {
                    "pk": run + 1,
                    "dataset_pk": dataset_pk,
                    "system": f"system-{run}",
                    "content_sha256": f"{run:064x}",
                    "query_signals": {},
                    "imported_at": NOW,
                }
                for run in range(systems)
            ],
        )
        for run in range(systems):
            entries = []
            for query in range(queries):
                scores = chance.normal(size=documents)
                scores[(query * 37 + np.arange(agreement_load.DEPTH)) % documents] += 1 + run / 4
                best = np.argsort(-scores)[:RESULTS]
                entries += [
                    {
                        "run_pk": run + 1,
                        "query_pk": query + 1,
                        "document_pk": document + 1,
                        "rank": rank,
                        "score": float(scores[document]),
                        "signals": {},
                    }
                    for rank, document in enumerate(best.tolist(), 1)
                ]
            add_rows(session, RunEntryRow, entries)


def measure(kind: str, page: Page, port: int, pid: int, repeats: int) -> None:
    """Open the page; with `repeats`, visit Help before, then go away from the page and back to it."""
    address = f"http://127.0.0.1:{port}"
    page.context.add_cookies([{"name": "annotator_session", "value": "token0", "url": address}])
    if repeats:
        page.goto(f"{address}/help?dataset={DATASET}")
        page.wait_for_timeout(6000)
    else:
        page.goto(f"{address}/static/nothing")  # the browser itself is warm
    before = read_cpu(pid)
    start = time.perf_counter()
    page.goto(f"{address}/evaluation?dataset={DATASET}")
    find_first_figures(page).wait_for()
    first = time.perf_counter() - start
    page.get_by_role("link", name=END).wait_for()
    whole = time.perf_counter() - start
    page.wait_for_timeout(3000)
    print(
        f"{kind:<11} {'after Help' if repeats else 'a new server'}: first figures {first:.2f} s, whole page {whole:.2f} s; "
        f"the server's processor {read_cpu(pid) - before:.2f} s, memory {read_memory(pid)} MB",
        flush=True,
    )
    seconds = []
    for _ in range(repeats):
        page.get_by_role("link", name="Help", exact=True).click()
        find_first_figures(page).wait_for(state="detached")
        page.wait_for_timeout(1500)
        start = time.perf_counter()
        page.get_by_role("link", name="Evaluation", exact=True).click()
        find_first_figures(page).wait_for()
        seconds.append(time.perf_counter() - start)
    if seconds:
        print(f"{kind:<11} again, milliseconds: median, p95, longest {show(seconds)}", flush=True)


def find_first_figures(page: Page) -> Locator:
    """Return the table with the first measure of every system."""
    return page.get_by_role("table", name=" by system")


if __name__ == "__main__":
    main()
