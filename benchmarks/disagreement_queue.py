"""The queue of 50,000 disagreements among 1,000,000 pairs and 50 runs: its first page, what disagreements move, and one decision.

    .venv/bin/python -m benchmarks.disagreement_queue [--queries 10000] [--kind sqlite postgresql] [--folder DIR] [--repeats 20]

Printed, with the processor's seconds where they say more than the clock: computing from nothing what every disagreement's choice moves;
a page of the queue by each sort, and the last page; what a decision adds to its transaction; the page in Chromium, from the address
to its first row. The aims: first page 1 s, everything computed 30 s, a decision 50 ms. A database made by an earlier run is
used again (--folder).
"""

import argparse
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import Page
from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.adjudication.impact.impact_service import bring_up_to_date, recompute
from annotator.adjudication.queue.queue_records import SORTS, QueueFilter
from annotator.adjudication.queue.queue_service import list_queue
from annotator.adjudication.service import adjudicate, show_disagreement
from annotator.domain.people import OPERATOR, Actor
from annotator.storage.database import Database, lock_dataset
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.pairs.disagreements import note_all_due, note_due
from annotator.storage.schema import upgrade_schema
from annotator.storage.tables.central import PersonRow
from benchmarks.disagreements_load import LEADS, PEOPLE, fill
from benchmarks.labeling_load import DATASET, open_database, serve, show
from benchmarks.press_to_paint import open_page

SMALL = "--queries 20 --repeats 2 --kind postgresql"  # what the tests start it with
FIRST_ROW = ".rows tbody tr"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="The queue of disagreements at a million pairs.")
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--kind", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--repeats", type=int, default=20)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="annotator-bench-") as folder:
        for kind in chosen.kind:
            folder_path = (chosen.folder or Path(folder)) / f"disagreements-{kind}-{chosen.queries}"
            with open_database(kind, folder_path) as (database, there):
                if not there:
                    fill(database, queries=chosen.queries)
                upgrade_schema(database)
                measure_impact(kind, database)
                measure_pages(kind, database, chosen.repeats)
                measure_decisions(kind, database, chosen.repeats)
                with serve(database, folder_path.parent) as (port, _), open_page() as page:
                    measure_page(kind, page, port, chosen.repeats)
                database.dispose()


def measure_impact(kind: str, database: Database) -> None:
    """Everything from nothing."""
    with database.write() as session:
        note_all_due(session, _find(session))
    computed, start = time.process_time(), time.perf_counter()
    left = bring_up_to_date(database, DATASET)
    seconds, processor = time.perf_counter() - start, time.process_time() - computed
    print(
        f"{kind:<11} impact from nothing {seconds:.1f} s, {processor:.1f} s of this process; left {left}",
        flush=True,
    )


def measure_pages(kind: str, database: Database, repeats: int) -> None:
    """A page of the queue by each sort."""
    for sort in SORTS:
        seconds = []
        for _ in range(max(3, repeats // 4)):
            start = time.perf_counter()
            page = list_queue(database, OPERATOR, DATASET, QueueFilter(), sort=sort, now=datetime.now(UTC))
            seconds.append(time.perf_counter() - start)
        print(f"{kind:<11} a page of {page.total:,} by {sort:<10} milliseconds: {show(seconds)}", flush=True)
    start = time.perf_counter()
    list_queue(
        database, OPERATOR, DATASET, QueueFilter(), offset=max(0, page.total - 50), now=datetime.now(UTC)
    )
    print(f"{kind:<11} the last page {(time.perf_counter() - start) * 1000:.0f} ms", flush=True)


def measure_decisions(kind: str, database: Database, repeats: int) -> None:
    """What a decision costs, and how much of it is computing its query anew."""
    with database.read() as session:
        number = session.scalar(
            select(col(PersonRow.pk)).where(col(PersonRow.username) == f"ann{PEOPLE - LEADS + 1:03}")
        )
    lead = Actor(key_of(number), f"ann{PEOPLE - LEADS + 1:03}")
    page = list_queue(
        database, lead, DATASET, QueueFilter(), sort="impact", limit=repeats, now=datetime.now(UTC)
    )
    whole, own = [], []
    for item in page.items:
        seen = show_disagreement(database, lead, DATASET, item.pair, now=datetime.now(UTC)).seen
        start = time.perf_counter()
        adjudicate(
            database, lead, DATASET, item.pair, grade=2, rationale="第17条", seen=seen, now=datetime.now(UTC)
        )
        whole.append(time.perf_counter() - start)
    with database.write() as session:
        dataset_pk = _find(session)
        lock_dataset(session, dataset_pk)
        for query_pk in range(1, repeats + 1):
            note_due(session, [query_pk])
            start = time.perf_counter()
            recompute(session, dataset_pk, [query_pk])
            own.append(time.perf_counter() - start)
    print(f"{kind:<11} a decision, milliseconds: {show(whole)}", flush=True)
    print(f"{kind:<11} of it the impact of its query: {show(own)}", flush=True)


def measure_page(kind: str, page: Page, port: int, repeats: int) -> None:
    """The page in a warm browser, from its address to the first row."""
    address = f"http://127.0.0.1:{port}"
    token = {"name": "annotator_session", "value": f"token{PEOPLE - LEADS + 1}", "url": address}
    page.context.add_cookies([token])
    page.goto(f"{address}/help?dataset={DATASET}")
    page.wait_for_timeout(3000)
    seconds = []
    for _ in range(max(3, repeats // 4)):
        start = time.perf_counter()
        page.goto(f"{address}/disagreements?dataset={DATASET}&sort=impact")
        page.wait_for_selector(FIRST_ROW)
        seconds.append(time.perf_counter() - start)
    print(f"{kind:<11} the page in Chromium, milliseconds: {show(seconds)}", flush=True)


def _find(session: Session) -> int:
    return key_of(find_dataset(session, DATASET).pk)


if __name__ == "__main__":
    main()
