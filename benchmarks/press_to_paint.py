"""From a key press to the next pair painted, in a real Chromium, over 100,000 pairs in SQLite.

    .venv/bin/python -m benchmarks.press_to_paint [--pairs 100000] [--presses 100] [--pause 400] [--seed 0]

Makes the pool with a seed, starts `annotator serve` on it, signs in, and presses 0-3 that many times. Each time is
taken in the page: from the key event's own time stamp until the frame with the next pair has been painted (the
first task after the next animation frame). The aim is a median of at most 20 ms and a 95th percentile of at most
35 ms, with one press per label. Prints the figures, the browser's memory aside, and checks the database afterwards.
"""

import argparse
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import Browser, Page, Playwright, sync_playwright

from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR
from annotator.importing.texts.texts_service import import_documents, import_pairs, import_queries
from annotator.labeling.service import list_judgments
from annotator.people.service import add_person
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from benchmarks.import_100k import make_files

SMALL = "--pairs 300 --presses 2 --pause 200"  # what the tests start it with
PASSWORD = "only for this benchmark"
FLAGS = "--disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync"
MEASURE = """
() => {
  window.times = [];
  const panel = () => [...document.querySelectorAll('*')].map((e) => e.shadowRoot?.querySelector('.panel')).find(Boolean);
  window.pressed = [];
  window.addEventListener('keydown', (e) => {
    const before = panel().dataset.pairId;
    window.pressed.push([before, Number(e.key)]);
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => window.times.push(panel().dataset.pairId === before ? null : performance.now() - e.timeStamp);
      channel.port2.postMessage(0);
    });
  }, true);
}
"""


def main() -> None:
    """Make the pool, serve it, press, and print the figures."""
    options = read_options()
    with tempfile.TemporaryDirectory(prefix="annotator-benchmark-") as name:
        folder = Path(name)
        database = make_pool(folder, pairs=options.pairs, seed=options.seed)
        port = find_free_port()
        server = start_server(folder, database, port)
        try:
            times, pressed = press_keys(
                f"http://127.0.0.1:{port}", presses=options.presses, pause=options.pause, seed=options.seed
            )
        finally:
            server.terminate()
            server.wait()
        report(times, pressed, database)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--presses", type=int, default=100)
    parser.add_argument("--pause", type=int, default=400, help="milliseconds between presses")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def make_pool(folder: Path, *, pairs: int, seed: int, url: str | None = None) -> Database:
    """A database with that many pairs, 100 for each query, and one annotator: at this address, or a file in the folder."""
    make_files(folder, pairs=pairs, queries=max(1, pairs // 100), seed=seed)
    database = Database(url or f"sqlite:///{folder / 'annotator.db'}")
    upgrade_schema(database)
    now = datetime.now(UTC)
    create_dataset(database, OPERATOR, "big", now=now)
    import_queries(database, OPERATOR, "big", folder / "queries.csv", now=now)
    import_documents(database, OPERATOR, "big", folder / "documents.jsonl", now=now)
    import_pairs(database, OPERATOR, "big", folder / "pairs.csv", now=now)
    add_person(
        database, OPERATOR, "ann", name="Ann", role="annotator", dataset="big", password=PASSWORD, now=now
    )
    return database


def find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_server(folder: Path, database: Database, port: int) -> subprocess.Popen[bytes]:
    """`annotator serve`, when it is healthy."""
    command = [
        sys.executable,
        "-c",
        "from annotator.cli.main import run; run()",
        "serve",
        "--port",
        str(port),
    ]
    command += ["--database", database.url.render_as_string(hide_password=False)]
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    for _ in range(1200):  # a minute: a busy machine starts it slowly
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=1):
                return server
        except OSError:
            time.sleep(0.05)
    sys.exit("the server did not start:\n" + (folder / "server.log").read_text(encoding="utf-8"))


def press_keys(
    address: str, *, presses: int, pause: int, seed: int
) -> tuple[list[float | None], list[list[object]]]:
    """Milliseconds from each press to the next pair painted (None: it did not change), and what was pressed."""
    with open_page() as page:
        sign_in(page, address)
        return press(page, presses=presses, pause=pause, seed=seed)


def launch(playwright: Playwright) -> Browser:
    """The system's Chromium, with its whole interface where there is one."""
    names = ("chromium", "google-chrome", "chromium-headless-shell")
    chromium = os.environ.get("ANNOTATOR_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    return playwright.chromium.launch(executable_path=chromium, args=[*FLAGS.split(), *sandbox])


@contextmanager
def open_page() -> Iterator[Page]:
    """A tab of a Chromium of its own."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser.new_page(viewport={"width": 1280, "height": 800})
        browser.close()


def press(
    page: Page, *, presses: int, pause: int, seed: int
) -> tuple[list[float | None], list[list[object]]]:
    """The same on a labeling page that is open; returns when everything is stored."""
    draw = random.Random(seed)
    page.evaluate(MEASURE)
    for _ in range(presses):
        page.keyboard.press(str(draw.randrange(4)))
        page.wait_for_timeout(pause)
    page.wait_for_selector('.panel[data-unsaved="0"]')
    times, pressed = page.evaluate("() => [window.times, window.pressed]")
    return times, pressed


def sign_in(page: Page, address: str) -> None:
    page.goto(f"{address}/login")
    page.fill("#username", "ann")
    page.fill("#password", PASSWORD)
    page.press("#password", "Enter")
    wait_for_first_pair(page)


def wait_for_first_pair(page: Page) -> None:
    page.wait_for_selector('.panel:not([data-pair-id=""])')
    page.keyboard.press("Escape")  # closes the sheet of the first visit
    page.wait_for_timeout(1000)


def report(times: list[float | None], pressed: list[list[object]], database: Database) -> None:
    """Print the figures; exit with 1 when a press was lost, doubled or misplaced."""
    judgments = list_judgments(database, OPERATOR, "big", history=True)
    stored: list[list[object]] = [[j.pair_key, j.grade] for j in sorted(judgments, key=lambda j: j.judged_at)]
    sys.exit(0 if show(times, pressed, stored) else 1)


def show(times: list[float | None], pressed: list[list[object]], stored: list[list[object]]) -> bool:
    """Print the figures; whether every press is stored once, on the pair that was on the screen, and showed the next."""
    shown = sorted(time for time in times if time is not None)
    print(
        f"presses {len(pressed)}, next pair shown {len(shown)}, stored {len(stored)}, as on the screen {stored == pressed}"
    )
    print(
        f"key press to next pair painted: median {statistics.median(shown):.1f} ms, "
        f"p95 {shown[int(len(shown) * 0.95) - 1]:.1f} ms, max {shown[-1]:.1f} ms"
    )
    return stored == pressed and len(shown) == len(pressed)


if __name__ == "__main__":
    main()
