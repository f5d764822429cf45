"""The Agreement page in a real Chromium, at 1,000,000 judgments by 20 annotators on 300,000 pairs of 10,000 queries.

    .venv/bin/python -m benchmarks.agreement_page [--queries 10000] [--kind sqlite postgresql] [--folder DIR] [--repeats 10]

The database is that of `agreement` (with --folder the same one). Printed: from opening the address to the first figures painted, and
to the verdict with its intervals; from a click in the sidebar to the verdict, once it has been measured; the server's memory after
it. The server and the browser are warm: the page Help was open before. The aims: first figures 2 s, repeats 300 ms.
"""

import argparse
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page

from annotator.storage.schema import upgrade_schema
from benchmarks.agreement_load import fill, make_lead
from benchmarks.labeling_load import open_database, serve, show
from benchmarks.press_to_paint import open_page

SMALL = "--queries 20 --repeats 1 --kind postgresql"  # what the tests start it with
VERDICT = "main .annotator-state"
FIRST_FIGURES = f"main .annotator-measuring, {VERDICT}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="The Agreement page at a million judgments.")
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--kind", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--repeats", type=int, default=10)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="annotator-bench-") as folder:
        for kind in chosen.kind:
            folder_path = (chosen.folder or Path(folder)) / f"agreement-{kind}-{chosen.queries}"
            with open_database(kind, folder_path) as (database, there):
                if not there:
                    fill(database, queries=chosen.queries)
                upgrade_schema(database)
                make_lead(database)
                with serve(database, folder_path.parent) as (port, pid), open_page() as page:
                    measure(kind, page, port, chosen.repeats)
                    print(f"{kind:<11} the server's memory: {read_memory(pid)} MB", flush=True)
                database.dispose()


def measure(kind: str, page: Page, port: int, repeats: int) -> None:
    """Open the page, then go away from it and back to it."""
    address = f"http://127.0.0.1:{port}"
    page.context.add_cookies([{"name": "annotator_session", "value": "token0", "url": address}])
    page.goto(f"{address}/help?dataset=big")
    page.wait_for_timeout(3000)
    start = time.perf_counter()
    page.goto(f"{address}/agreement?dataset=big")
    page.wait_for_selector(FIRST_FIGURES)
    first = time.perf_counter() - start
    page.wait_for_selector(VERDICT, timeout=120_000)
    print(f"{kind:<11} first figures {first:.2f} s, verdict {time.perf_counter() - start:.2f} s", flush=True)
    page.wait_for_timeout(5000)
    seconds = []
    for _ in range(repeats):
        page.get_by_role("link", name="Help", exact=True).click()
        page.wait_for_selector(VERDICT, state="detached")
        page.wait_for_timeout(1500)
        start = time.perf_counter()
        page.get_by_role("link", name="Agreement", exact=True).click()
        page.wait_for_selector(VERDICT)
        seconds.append(time.perf_counter() - start)
    print(f"{kind:<11} again, milliseconds: median, p95, longest {show(seconds)}", flush=True)


def read_memory(pid: int) -> int:
    """What the process holds, in MB (Linux)."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) // 1024
    return 0


if __name__ == "__main__":
    main()
