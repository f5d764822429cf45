"""From a key press to the next pair painted, in a real Chromium, at 1,000,000 pairs and 2,000,000 judgments.

    .venv/bin/python -m benchmarks.press_at_a_million [--kind sqlite postgresql] [--presses 100] [--pause 400] [--folder DIR]

The database is that of `at_a_million` (with --folder the same one); the times are taken as in `press_to_paint`, and have the
same aims: a median of at most 20 ms, a 95th percentile of at most 35 ms. Also printed: how long a new annotator waits
from opening the address to the first pair painted. The database is checked afterwards; exits with 1 unless all is there.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from sqlalchemy import text

from annotator.storage.database import Database
from benchmarks.at_a_million import DEPTH, PEOPLE
from benchmarks.labeling_load import fill, open_database, serve
from benchmarks.press_to_paint import open_page, press, show, wait_for_first_pair

SMALL = "--queries 20 --presses 2 --pause 200 --kind sqlite"  # what the tests start it with
ANNOTATOR = 58  # one who has judged nothing yet, and whom at_a_million leaves alone
_STORED = text(
    "SELECT p.key, j.grade FROM judgment j JOIN pair p ON p.pk = j.pair_pk "
    "WHERE j.annotator_pk = :annotator_pk AND j.pk > :before ORDER BY j.judged_at, j.pk"
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kind", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--presses", type=int, default=100)
    parser.add_argument("--pause", type=int, default=400, help="milliseconds between presses")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path)
    chosen = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory(prefix="annotator-bench-") as folder:
        for kind in chosen.kind:
            folder_path = (chosen.folder or Path(folder)) / f"{kind}-{chosen.queries}"
            with open_database(kind, folder_path) as (database, there):
                if not there:
                    fill(database, queries=chosen.queries, depth=DEPTH, judged_by=2, overlap=3, people=PEOPLE)
                print(f"{kind}, {chosen.queries * DEPTH:,} pairs:", end=" ", flush=True)
                good = measure(database, folder_path.parent, chosen) and good
                database.dispose()
    sys.exit(0 if good else 1)


def measure(database: Database, folder: Path, chosen: argparse.Namespace) -> bool:
    """Press, print, and compare with the database."""
    before = list_stored(database, -1)[1]
    with serve(database, folder) as (port, _pid), open_page() as page:
        page.context.add_cookies(
            [
                {
                    "name": "annotator_session",
                    "value": f"token{ANNOTATOR}",
                    "url": f"http://127.0.0.1:{port}",
                }
            ]
        )
        page.goto(f"http://127.0.0.1:{port}/help")  # the server and the browser are warm
        page.wait_for_timeout(2000)
        start = time.perf_counter()
        page.goto(f"http://127.0.0.1:{port}/label?dataset=big")
        page.wait_for_selector('.panel:not([data-pair-id=""])')
        print(f"first page with its first pair {time.perf_counter() - start:.2f} s")
        wait_for_first_pair(page)
        times, pressed = press(page, presses=chosen.presses, pause=chosen.pause, seed=chosen.seed)
    return show(times, pressed, list_stored(database, before)[0])


def list_stored(database: Database, before: int) -> tuple[list[list[object]], int]:
    """What the annotator's judgments after that one are, in the order of their presses; and the latest of all (pk)."""
    with database.read() as session:
        latest = int(session.execute(text("SELECT coalesce(max(pk), 0) FROM judgment")).scalar_one())
        if before < 0:
            return [], latest
        rows = session.execute(_STORED, {"annotator_pk": ANNOTATOR + 1, "before": before})
        return [list(row) for row in rows], latest


if __name__ == "__main__":
    main()
