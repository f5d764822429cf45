"""Every page of the web app in a real Chromium: opened from its address, and chosen in the sidebar, at 100,000 pairs.

    .venv/bin/python -m benchmarks.page_speed [--queries 3334] [--kind sqlite postgresql] [--repeats 5] [--pages 3]

Printed for each page, by way: the time until its heading is painted (median and worst) and until its run has ended
(median), and the server's processor time for one opening, since the machine may be shared. The aims for the heading:
0.5 s from the sidebar, 1.2 s from an address. First comes the way from the sign-in
form to the first page (1.0 s). The browser and the server are warm: each page was opened once before.
"""

import argparse
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import mean, median
from time import perf_counter

from playwright.sync_api import Page

from annotator.domain.people import OPERATOR
from annotator.people.service import add_person
from annotator.web.navigation import MENU, PAGES, AppPage
from benchmarks import agreement_load
from benchmarks.labeling_load import DATASET, open_database, read_cpu, serve
from benchmarks.press_to_paint import PASSWORD, open_page

SMALL = "--queries 10 --repeats 1 --kind postgresql --pages 3"  # what the tests start it with
HEADING = "[data-testid='stMain'] h1"
ENDED = ".stApp[data-test-script-state='notRunning']"
START, START_HEADING = "help", "Help"  # quickly drawn: from here every page is chosen
NO_HEADING = "\N{REPLACEMENT CHARACTER}"
LABEL = "label"  # its sidebar is closed, and it has no heading of its own


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Every page of the web app.")
    parser.add_argument("--queries", type=int, default=3_334)
    parser.add_argument("--kind", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--pages", type=int, help="so many of the pages, instead of all")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="annotator-bench-") as folder:
        for kind in chosen.kind:
            with open_database(kind, Path(folder) / kind) as (database, _there), open_page() as page:
                agreement_load.fill(database, queries=chosen.queries)
                agreement_load.make_lead(database)
                add_person(
                    database,
                    OPERATOR,
                    "lena",
                    role="lead",
                    dataset=DATASET,
                    password=PASSWORD,
                    now=datetime.now(UTC),
                )
                with serve(database, Path(folder)) as (port, pid):
                    measure(kind, page, port, pid, chosen.repeats, PAGES[: chosen.pages])
                database.dispose()


def measure_sign_in(kind: str, page: Page, port: int, pid: int, repeats: int) -> None:
    """Sign in, once more than it is counted: from the button to the heading of the first page."""
    address, timings, before = f"http://127.0.0.1:{port}", [], 0.0
    for number in range(repeats + 1):
        page.context.clear_cookies()
        page.goto(f"{address}/login")
        page.fill("#username", "lena")
        page.fill("#password", PASSWORD)
        before = before if number > 1 else read_cpu(pid)
        begun = perf_counter()
        page.click("button[type=submit]", no_wait_after=True)
        page.locator(HEADING).first.wait_for()
        timings.append(perf_counter() - begun)
        page.locator(ENDED).wait_for()
    page.context.clear_cookies()
    figures = f"{median(timings[1:]):6.2f} {max(timings[1:]):6.2f} s heading (first {timings[0]:.2f} s)"
    cpu = (read_cpu(pid) - before) / repeats
    print(f"{f'{kind}, sign-in':<40} {figures} {cpu:6.2f} s processor", flush=True)


def measure(kind: str, page: Page, port: int, pid: int, repeats: int, pages: Sequence[AppPage]) -> None:
    """Open each of the pages that a lead sees, in both ways."""
    address = f"http://127.0.0.1:{port}"
    measure_sign_in(kind, page, port, pid, repeats)
    page.context.add_cookies([{"name": "annotator_session", "value": "token0", "url": address}])
    for listed in pages:
        if listed.least == "admin" or listed.address == LABEL:
            continue
        url = f"{address}/{listed.address}?dataset={DATASET}"
        time_opening(page, pid, partial(page.goto, url), 1)  # the first time is not counted
        show(kind, listed, "address", *time_opening(page, pid, partial(page.goto, url), repeats))
        if listed.group == MENU or listed.address == START:
            continue
        link = page.locator(f"[data-testid='stSidebar'] a[href^='{listed.address}?']")
        timings = []
        for _ in range(repeats):
            page.goto(f"{address}/{START}?dataset={DATASET}")
            wait_until_drawn(page)
            timings.append(time_opening(page, pid, link.click, 1, START_HEADING))
        headings, ends, cpu = zip(*timings, strict=True)
        show(kind, listed, "sidebar", [x[0] for x in headings], [x[0] for x in ends], mean(cpu))


def time_opening(
    page: Page, pid: int, opening: Callable[[], object], repeats: int, before_it: str = NO_HEADING
) -> tuple[list[float], list[float], float]:
    """Return the seconds until the heading and until the end of the run, and processor seconds for one opening.

    `before_it`: the heading of the page that is left, if its document stays.
    """
    headings, ends, before = [], [], read_cpu(pid)
    for _ in range(repeats):
        begun = perf_counter()
        opening()
        page.locator(HEADING).filter(has_not_text=before_it).first.wait_for()
        headings.append(perf_counter() - begun)
        page.locator(ENDED).wait_for()
        ends.append(perf_counter() - begun)
    return headings, ends, (read_cpu(pid) - before) / repeats


def wait_until_drawn(page: Page) -> None:
    """Wait for the heading, and for the end of the run."""
    page.locator(HEADING).first.wait_for()
    page.locator(ENDED).wait_for()


def show(kind: str, listed: AppPage, way: str, headings: list[float], ends: list[float], cpu: float) -> None:
    """Print one line."""
    figures = f"{median(headings):6.2f} {max(headings):6.2f} s heading {median(ends):6.2f} s end {cpu:6.2f} s processor"
    print(f"{f'{kind}, {listed.address}, {way}':<40} {figures}", flush=True)


if __name__ == "__main__":
    main()
