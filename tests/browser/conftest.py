"""A real Chromium against a real `annotator serve`.

`server` is a process of its own over a database of the test's own (SQLite, with a dataset and people made
through the services), at the same port for all tests of a worker. `page` is the worker's one tab, which has forgotten
the tests before: a new one would load and compile Streamlit again. `sign_in(page, username)` signs it in.
`server.kill()`, `server.start()` and `server.stop()` are for tests of what survives. A browser that is missing fails
the tests with what to do; nothing is skipped. ANNOTATOR_CHROMIUM names one that stands elsewhere. Of several the one
without windows is taken: the same engine, at a quarter of the processor's time for each tab.
"""

import itertools
import os
import shutil
import socket
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect, sync_playwright

from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR
from annotator.people.service import add_person
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from tests.browser.warm_server import start_server

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
PASSWORD = "correct horse 電池 staple"
DATASET = "demo"
PEOPLE = (
    ("hanako", "花子", "annotator"),
    ("minjun", "민준", "annotator"),
    ("lea", "Léa 🌱", "lead"),
    ("ada", "Ada", "admin"),
)
CANDIDATES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
)
VIEWPORT: ViewportSize = {"width": 1280, "height": 900}
STORED_BY_APP = "file_systems,indexeddb,local_storage,service_workers,cache_storage"
FLAGS = (
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip


def find_chromium() -> str:
    """The path of a system Chromium or Chrome; fails the test when there is none."""
    named = os.environ.get("ANNOTATOR_CHROMIUM")
    for candidate in (named,) if named else CANDIDATES:
        chromium = shutil.which(candidate)
        if chromium:
            return chromium
    pytest.fail(
        f"no Chromium at ANNOTATOR_CHROMIUM={named}"
        if named
        else "no Chromium found: install one (Debian: apt-get install chromium-headless-shell) or set ANNOTATOR_CHROMIUM=PATH"
    )


RUNNING: list[Browser] = []


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if RUNNING:  # tests/security share it: Playwright runs once in a process
        yield RUNNING[0]
        return
    sandbox = ("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()
    path = find_chromium()
    expect.set_options(timeout=60_000)  # a loaded machine is slow, not wrong
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=[*FLAGS, *sandbox], headless=True)
        RUNNING.append(running)
        yield running
        RUNNING.clear()
        running.close()


@dataclass
class Server:
    """`annotator serve` as a process. `address` has no slash at its end."""

    database_url: str
    folder: Path
    port: int
    environment: dict[str, str] = field(default_factory=dict)
    process: ForkServerProcess | None = None
    first: Callable[[], None] | None = None
    options: tuple[str, ...] = ()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        return (self.folder / "server.log").read_text(encoding="utf-8")

    def start(self) -> None:
        """Start it and wait until it is healthy."""
        environment = {**os.environ, "ANNOTATOR_DATABASE_URL": self.database_url, **self.environment}
        self.process = start_server(self.folder, environment, self.port, self.first, *self.options)
        for _ in range(6_000):
            if self.process.exitcode is not None:
                break
            try:
                with urllib.request.urlopen(f"{self.address}/healthz", timeout=1):
                    return
            except OSError:
                time.sleep(0.02)
        pytest.fail(f"the server did not start:\n{self.log}")

    def stop(self) -> int | None:
        """End it gracefully; its exit code."""
        return self._end("terminate")

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self._end("kill")

    def _end(self, how: Literal["terminate", "kill"]) -> int | None:
        if self.process is None:
            return 0
        getattr(self.process, how)()
        self.process.join(timeout=120)
        code = self.process.exitcode
        self.process = None
        return code


PORTS_OF_A_WORKER = 1_000
_offsets = itertools.count(os.getpid())


def find_free_port() -> int:
    """Return a port that stays free until a server listens there.

    Port 0 would give one of those that the system also gives to outgoing connections, of which there are many here: one
    may take it before the server starts. Those begin at 32768, and each worker of the tests has its own below.
    """
    first = 20_000 + PORTS_OF_A_WORKER * (int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 12)
    for _ in range(PORTS_OF_A_WORKER):
        port = first + next(_offsets) % PORTS_OF_A_WORKER
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    pytest.fail(f"every port from {first} to {first + PORTS_OF_A_WORKER} is in use")


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a database with the dataset and its people: made once, copied for every test."""
    path = tmp_path_factory.mktemp("prepared") / "annotator.db"
    opened = Database(f"sqlite:///{path}")
    upgrade_schema(opened)
    create_dataset(opened, OPERATOR, DATASET, now=NOW, title="デモ 데모")
    for username, name, role in PEOPLE:
        add_person(
            opened, OPERATOR, username, name=name, role=role, dataset=DATASET, password=PASSWORD, now=NOW
        )
    opened.dispose()
    assert not path.with_name("annotator.db-wal").exists(), "everything is in the one file that is copied"
    return path


@pytest.fixture
def database(prepared: Path, tmp_path: Path) -> Iterator[Database]:
    """The served database: the dataset DATASET and PEOPLE, who sign in with PASSWORD."""
    opened = Database(f"sqlite:///{shutil.copy(prepared, tmp_path / 'annotator.db')}")
    yield opened
    opened.dispose()


@pytest.fixture(scope="session")
def port() -> int:
    """The port of every `server` of this worker: the browser keeps what it has loaded and compiled from there."""
    return find_free_port()


@pytest.fixture
def server(database: Database, tmp_path: Path, port: int) -> Iterator[Server]:
    """The running app. What the test wants in the database before it starts, it adds through `database`."""
    running = Server(database.url.render_as_string(hide_password=False), tmp_path, port)
    running.start()
    yield running
    running.kill()


@pytest.fixture(scope="session")
def shared_context(browser: Browser, spent_pages: None) -> Iterator[BrowserContext]:
    """The profile that the tests of this worker share: a new one would load and compile Streamlit again."""
    made = browser.new_context(locale="en-US", viewport=VIEWPORT)
    made.set_default_timeout(60_000)
    SHARED.append(made)
    yield made
    made.close()


SHARED = list[BrowserContext]()  # one for each folder of tests with a browser


def close_own_contexts(browser: Browser) -> None:
    """Close what tests have opened: their pages would ask the next server at this port."""
    for context in browser.contexts:
        if context not in SHARED:
            context.close()


@pytest.fixture
def context(
    shared_context: BrowserContext, browser: Browser, port: int, request: pytest.FixtureRequest
) -> Iterator[BrowserContext]:
    """A profile that knows nothing of the tests before but the files of the app."""
    close_own_contexts(browser)
    failed = request.session.testsfailed
    yield shared_context
    close_own_contexts(browser)
    shared_context.unroute_all()
    shared_context.set_offline(False)
    shared_context.clear_permissions()
    shared_context.clear_cookies()
    kept = [page for page in shared_context.pages if page not in SPENT]
    if not kept or request.session.testsfailed > failed:
        kept = [shared_context.new_page()]
    for page in shared_context.pages:
        if page is not kept[0]:
            page.close()
    SPENT.clear()
    leave_app(kept[0], f"http://127.0.0.1:{port}")


def leave_app(page: Page, origin: str) -> None:
    """Leave the page empty in the process that has the app compiled, and have the browser forget what the app stored."""
    page.unroute_all()
    page.route(f"{origin}/", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    page.goto(f"{origin}/")
    page.unroute_all()
    page.evaluate("sessionStorage.clear()")
    tools = page.context.new_cdp_session(page)
    tools.send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": STORED_BY_APP})
    tools.detach()
    page.set_viewport_size(VIEWPORT)
    page.emulate_media(media="null", color_scheme="null", reduced_motion="null", forced_colors="null")


SPENT = list[Page]()  # pages that a test listens to, or has changed for good


@pytest.fixture(scope="session")
def spent_pages() -> Iterator[None]:
    """Note which pages no other test may use."""

    def spend(act: Callable[..., Any]) -> Callable[..., Any]:
        def spending(page: Page, *words: Any, **options: Any) -> Any:
            SPENT.append(page)
            return act(page, *words, **options)

        return spending

    with pytest.MonkeyPatch.context() as patch:
        for name in ("on", "add_init_script"):
            patch.setattr(Page, name, spend(getattr(Page, name)))
        yield


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.pages[0] if context.pages else context.new_page()


READY = '.stApp[data-test-connection-state="CONNECTED"][data-test-script-state="notRunning"]'
QUIET = """() => new Promise((resolve) => {
  let timer;
  const observer = new MutationObserver(() => wait());
  const end = () => { observer.disconnect(); resolve(); };
  const wait = () => { clearTimeout(timer); timer = setTimeout(end, 1000); };
  observer.observe(document.body, {childList: true, subtree: true});
  wait();
})"""


def wait_until_quiet(page: Page) -> None:
    """Wait until Streamlit has run its script, and has changed nothing on the page for a second."""
    expect(page.locator(READY)).to_be_attached()
    page.evaluate(QUIET)
    expect(page.locator(READY)).to_be_attached()


def wait_until(page: Page, expression: str, arg: object = None) -> None:
    """Wait until the page answers that this is so.

    Playwright's `wait_for_function` compiles the text in the page, which the app's policy forbids, unless it is so at once.
    """
    for _ in range(600):
        if page.evaluate(expression, arg):
            return
        page.wait_for_timeout(100)
    pytest.fail(f"never so within a minute: {expression}")


def list_complaints(page: Page) -> list[str]:
    """Collects what the browser's console complains about, from now on."""
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    return complaints


def go(page: Page, address: str) -> None:
    """Go to this address of the app as its own links and the browser's way back do: the app stays loaded.

    Loading it again takes seconds of the processor's time, this a fraction of one.
    """
    page.evaluate(
        "address => { history.pushState(null, '', address); dispatchEvent(new PopStateEvent('popstate')); }",
        address,
    )


def send_login(
    page: Page, username: str, *, server: Server, password: str = PASSWORD, to: str | None = None
) -> None:
    form = {"username": username, "password": password}
    answer = page.context.request.post(f"{server.address}/login", form=form, max_redirects=0, max_retries=3)
    assert answer.status == 303, answer.text()
    page.goto(server.address + (to or answer.headers["location"]))


SignIn = Callable[..., None]


@pytest.fixture
def sign_in(server: Server) -> SignIn:
    """`sign_in(page, "hanako")` sends the login form; ends on the page where that person's work begins, or on `to`,
    e.g. `to="/people"`. The form itself is drawn and filled in by people/test_sign_in.py."""

    return partial(send_login, server=server)
