"""From the key press that decides a disagreement to the next disagreement painted, in a real Chromium, over a queue of thousands in SQLite.

    .venv/bin/python -m benchmarks.decide_to_paint [--queries 1000] [--presses 100] [--pause 400] [--seed 0]

Makes 100 pairs and 5 disagreements for each query, with 50 runs; starts `annotator serve`, signs a lead in, and decides that many
disagreements by keyboard: a rationale, a grade, Enter. Each time is taken in the page: from the key event's own time stamp until the
frame with the next disagreement has been painted. Enter is pressed once more where the panel warns of a document with nearly the
same text. The aim is a 95th percentile of at most 100 ms. Exits with 1 unless every decision is stored once, on the pair and
with the grade and words that were on the screen.
"""

import argparse
import random
import statistics
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page
from sqlalchemy import text

from annotator.storage.database import Database
from annotator.web.session import COOKIE
from benchmarks.disagreements_load import LEADS, PEOPLE, fill
from benchmarks.labeling_load import DATASET, serve
from benchmarks.press_to_paint import open_page

SMALL = "--queries 20 --presses 2 --pause 300"  # what the tests start it with
MEASURE = """
() => {
  window.times = [];
  const panel = () => [...document.querySelectorAll('*')].map((e) => e.shadowRoot?.querySelector('.panel')).find(Boolean);
  window.panel = panel;
  let before = null;
  window.addEventListener('keydown', () => { before = panel().dataset.pairId; }, true);
  window.addEventListener('keydown', (e) => {  // after the panel has heard of it
    if (e.key !== 'Enter' || !panel().dataset.pairId || panel().dataset.pairId === before) return;
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => window.times.push(performance.now() - e.timeStamp);
      channel.port2.postMessage(0);
    });
  });
}
"""
Decided = tuple[str, int, str]


def main() -> None:
    """Make the queue, serve it, decide, and print the figures."""
    options = read_options()
    with tempfile.TemporaryDirectory(prefix="annotator-benchmark-") as name:
        folder = Path(name)
        database = Database(f"sqlite:///{folder / 'annotator.db'}")
        fill(database, queries=options.queries)
        with serve(database, folder) as (port, _), open_page() as page:
            open_panel(page, f"http://127.0.0.1:{port}")
            decided = decide(page, presses=options.presses, pause=options.pause, seed=options.seed)
            times = page.evaluate("() => window.times")
        sys.exit(0 if show(times, decided, list_stored(database)) else 1)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--presses", type=int, default=100)
    parser.add_argument("--pause", type=int, default=400, help="milliseconds between decisions")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def open_panel(page: Page, address: str) -> None:
    """Go to the head of the queue as the first of the leads."""
    page.context.add_cookies([{"name": COOKIE, "value": f"token{PEOPLE - LEADS}", "url": address}])
    page.goto(f"{address}/disagreements?dataset={DATASET}&pair=next")
    page.wait_for_selector('.panel:not([data-pair-id=""])', timeout=120_000)
    page.wait_for_timeout(2000)
    page.evaluate(MEASURE)


def decide(page: Page, *, presses: int, pause: int, seed: int) -> list[Decided]:
    """Decide that many; what was on the screen each time. Returns when everything is stored."""
    draw = random.Random(seed)
    decided: list[Decided] = []
    for number in range(presses):
        page.wait_for_selector('.panel:not([data-pair-id=""])')
        pair = page.evaluate("() => window.panel().dataset.pairId")
        grade, words = draw.randrange(4), f"{number}: 第17条"
        page.keyboard.press("n")
        page.keyboard.insert_text(words)
        page.keyboard.press("Escape")
        page.keyboard.press(str(grade))
        page.keyboard.press("Enter")
        if page.evaluate("() => window.panel().dataset.pairId") == pair:
            page.keyboard.press("Enter")
        decided.append((pair, grade, words))
        page.wait_for_timeout(pause)
    page.wait_for_selector('.panel[data-unsaved="0"]')
    return decided


def list_stored(database: Database) -> list[Decided]:
    """Every decision in the database, in the order in which they came."""
    query = "SELECT p.key, a.grade, a.rationale FROM adjudication a JOIN pair p ON p.pk = a.pair_pk WHERE a.rationale LIKE '%: 第17条' ORDER BY a.pk"
    with database.read() as session:
        return [(key, grade, rationale) for key, grade, rationale in session.execute(text(query))]


def show(times: list[float], decided: list[Decided], stored: list[Decided]) -> bool:
    """Print the figures; whether every decision is stored once, as it was on the screen."""
    shown = sorted(times)
    print(
        f"decided {len(decided)}, next disagreement painted at once {len(shown)}, stored {len(stored)}, as on the screen {stored == decided}"
    )
    print(
        f"key press to next disagreement painted: median {statistics.median(shown):.1f} ms, "
        f"p95 {shown[max(0, int(len(shown) * 0.95) - 1)]:.1f} ms, max {shown[-1]:.1f} ms"
    )
    return stored == decided


if __name__ == "__main__":
    main()
