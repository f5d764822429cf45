"""Whether a press is ever lost, doubled or misplaced: bursts, and four kinds of bad luck, over and over.

    .venv/bin/python -m benchmarks.losses [--rounds 5] [--presses 30] [--pairs 20000] [--seed 0]

Each round presses 30 grades at 50 ms in a real Chromium against a real `annotator serve`, five times: undisturbed; with a
reload in mid-burst; with kill -9 of the server and a restart; offline and back; with the tab closed in mid-burst. What was
pressed, with the pair on the screen at that moment, is compared with the database. Exits with 1 unless all counts are 0.
"""

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import BrowserContext, sync_playwright

from annotator.domain.people import OPERATOR
from annotator.labeling.service import list_judgments
from annotator.storage.database import Database
from benchmarks.press_to_paint import PASSWORD, find_free_port, launch, make_pool, start_server

SMALL = "--rounds 1 --presses 6 --pairs 300"  # what the tests start it with
PAUSE = 50
WATCH = """
window.pressed = [];
window.panel = () => [...document.querySelectorAll('*')].map((e) => e.shadowRoot?.querySelector('.panel')).find(Boolean);
window.addEventListener('keydown', (e) => window.pressed.push([window.panel()?.dataset.pairId ?? '', Number(e.key)]), true);
"""


class World:
    """A served pool, a signed-in browser, and everything pressed so far with the pair on the screen."""

    def __init__(self, folder: Path, context: BrowserContext, *, presses: int, pairs: int, seed: int) -> None:
        self.folder, self.context, self.draw = folder, context, random.Random(seed)
        self.presses = presses
        self.database: Database = make_pool(folder, pairs=pairs, seed=seed)
        self.port = find_free_port()
        self.server = start_server(folder, self.database, self.port)
        self.pressed: list[tuple[str, int]] = []
        self.page = context.new_page()
        self.page.goto(f"{self.address}/login")
        self.page.fill("#username", "ann")
        self.page.fill("#password", PASSWORD)
        self.page.press("#password", "Enter")
        self.settle()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def settle(self) -> None:
        """Wait until a pair is on the screen and nothing is unsaved; then listen."""
        self.page.wait_for_selector('.panel[data-unsaved="0"]:not([data-pair-id=""])', timeout=60_000)
        if not self.page.evaluate("() => 'pressed' in window"):
            self.page.evaluate(WATCH)

    def press(self, count: int) -> None:
        for _ in range(count):
            self.page.keyboard.press(str(self.draw.randrange(4)))
            self.page.wait_for_timeout(PAUSE)

    def collect(self) -> None:
        """Take over what the page noted; a press with no pair on the screen is none."""
        self.pressed += [
            (pair, grade) for pair, grade in self.page.evaluate("() => window.pressed.splice(0)") if pair
        ]

    def open_again(self) -> None:
        self.page = self.context.new_page()
        self.page.goto(f"{self.address}/label?dataset=big")
        self.settle()


def undisturbed(world: World) -> None:
    world.press(world.presses)


def reload(world: World) -> None:
    world.press(world.presses // 2)
    world.collect()
    world.page.reload()
    world.settle()
    world.press(world.presses // 2)


def kill_9(world: World) -> None:
    world.press(world.presses // 3)
    world.server.kill()
    world.server.wait()
    world.press(world.presses // 3)
    world.server = start_server(world.folder, world.database, world.port)
    world.settle()
    world.press(world.presses // 3)


def offline(world: World) -> None:
    world.press(world.presses // 3)
    world.context.set_offline(True)
    world.press(world.presses // 3)
    world.context.set_offline(False)
    world.press(world.presses // 3)


def tab_closed(world: World) -> None:
    world.press(world.presses)
    world.collect()
    world.page.close()
    world.open_again()


SCENES: tuple[Callable[[World], None], ...] = (undisturbed, reload, kill_9, offline, tab_closed)


def main() -> None:
    """Play every scene in every round, and print what went wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--presses", type=int, default=30)
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    totals: dict[str, Counter[str]] = {scene.__name__: Counter() for scene in SCENES}
    with tempfile.TemporaryDirectory(prefix="annotator-losses-") as name, sync_playwright() as playwright:
        browser = launch(playwright)
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        figures = {"presses": options.presses, "pairs": options.pairs, "seed": options.seed}
        world = World(Path(name), context, **figures)
        for _ in range(options.rounds):
            for scene in SCENES:
                before = len(world.pressed)
                scene(world)
                world.collect()
                world.settle()
                totals[scene.__name__].update(compare(world.pressed[before:], read_stored(world)))
        browser.close()
        world.server.terminate()
    for name, counts in totals.items():
        print(
            f"{name:12} pressed {counts['pressed']:4}, lost {counts['lost']}, doubled {counts['doubled']}, misplaced {counts['misplaced']}"
        )
    sys.exit(
        1
        if any(counts[word] for counts in totals.values() for word in ("lost", "doubled", "misplaced"))
        else 0
    )


def read_stored(world: World) -> Counter[tuple[str, int]]:
    judgments = list_judgments(world.database, OPERATOR, "big", history=True)
    return Counter((judgment.pair_key, judgment.grade or 0) for judgment in judgments)


def compare(pressed: list[tuple[str, int]], stored: Counter[tuple[str, int]]) -> dict[str, int]:
    """Presses that are not stored, stored more than once, and pairs pressed that hold another grade."""
    pairs = {pair for pair, _grade in pressed}
    grades = dict(pressed)
    return {
        "pressed": len(pressed),
        "lost": sum(stored[press] == 0 for press in pressed),
        "doubled": sum(stored[press] > 1 for press in pressed),
        "misplaced": sum(pair in pairs and grades[pair] != grade for pair, grade in stored),
    }


if __name__ == "__main__":
    main()
