"""How long a user waits: `annotator --help`, and `annotator serve` until the first page; and what an idle server holds.

    .venv/bin/python -m benchmarks.startup [--runs 5] [--seed 0]

Serves an existing database of 1,000 pairs. "first page" is the sign-in page answered over HTTP; "label page" is
the labeling page with its first pair painted in Chromium, after signing in; "label page again" is the same from its
address, in a browser that knows it (median of five). Memory is the server process's
resident set (VmRSS, Linux), when the sign-in page has been served, and when the label page has been open. The
aims: help 0.2 s, a command that reads 0.4 s, first page 1 s, label page again 0.6 s, idle memory 107 MB, then 114 MB.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from benchmarks.press_to_paint import find_free_port, launch, make_pool, sign_in

SMALL = "--runs 1"  # what the tests start it with
PROGRAM = [sys.executable, "-c", "from annotator.cli.main import run; run()"]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    helps = [time_command("--help") for _ in range(options.runs)]
    print(f"annotator --help: {show(helps)} s")
    with tempfile.TemporaryDirectory(prefix="annotator-benchmark-") as name:
        database = make_pool(Path(name), pairs=1000, seed=options.seed)
        url = database.url.render_as_string(hide_password=False)
        reads = [time_command("dataset", "list", "--database", url) for _ in range(options.runs)]
        print(f"annotator dataset list: {show(reads)} s")
        measured = [time_serve(Path(name), url) for _ in range(options.runs)]
    for title, values in zip(
        ("first page", "label page", "label page again"),
        zip(*(times for times, _ in measured), strict=True),
        strict=True,
    ):
        print(f"annotator serve to the {title}: {show(values)} s")
    for title, values in zip(
        ("sign-in page", "label page"), zip(*(sizes for _, sizes in measured), strict=True), strict=True
    ):
        print(f"memory after the {title}: {show(values)} MB")


def show(values: list[float] | tuple[float, ...]) -> str:
    return f"median {statistics.median(values):.2f}, min {min(values):.2f}, max {max(values):.2f}"


def time_command(*words: str) -> float:
    start = time.perf_counter()
    subprocess.run([*PROGRAM, *words], check=True, capture_output=True)
    return time.perf_counter() - start


def time_serve(folder: Path, url: str) -> tuple[tuple[float, float, float], tuple[float, float]]:
    """Seconds to the sign-in page, to the label page, and to the label page from its address; megabytes after the first two."""
    port = find_free_port()
    address = f"http://127.0.0.1:{port}"
    start = time.perf_counter()
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [*PROGRAM, "serve", "--port", str(port), "--database", url], stdout=log, stderr=log
        )
    try:
        wait_for(f"{address}/login")
        first, before = time.perf_counter() - start, read_memory(server.pid)
        with sync_playwright() as playwright:
            browser = launch(playwright)
            begun = time.perf_counter()
            page = browser.new_page()
            sign_in(page, address)
            label = time.perf_counter() - begun - 1  # sign_in rests for a second at its end
            after = read_memory(server.pid)
            again = [time_label_page(page, f"{address}/label?dataset=big") for _ in range(5)]
            browser.close()
        return (first, first + label, statistics.median(again)), (before, after)
    finally:
        server.terminate()
        server.wait()


def time_label_page(page: Page, address: str) -> float:
    """Seconds from the address to the first pair on the screen."""
    start = time.perf_counter()
    page.goto(address, wait_until="commit")
    page.locator(".panel .work:not([hidden])").wait_for()
    seconds = time.perf_counter() - start
    page.wait_for_timeout(300)
    return seconds


def wait_for(address: str) -> None:
    for _ in range(6000):
        try:
            with urllib.request.urlopen(address, timeout=1):
                return
        except OSError:
            time.sleep(0.01)
    sys.exit("the server did not start")


def read_memory(pid: int) -> float:
    """Resident megabytes of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


if __name__ == "__main__":
    main()
