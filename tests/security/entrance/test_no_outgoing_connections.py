"""The server connects to nobody, and its pages load nothing from elsewhere, whatever is asked of it."""

import socket
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from starlette.testclient import TestClient
from streamlit import config, net_util
from streamlit.web.server import server_util

from annotator.demo import build_demo
from annotator.domain.people import OPERATOR
from annotator.people.service import add_person
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from annotator.web.navigation import PAGES, AppPage
from annotator.web.server.streamlit_options import CLOSED, make_config
from tests.browser.conftest import PASSWORD, Server, find_free_port, go
from tests.browser.walled import RECORD, refuse_to_connect
from tests.security.entrance.conftest import Attacker

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
PEOPLE = {"ada": "admin", "lea": "lead", "hanako": "annotator"}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a database with the demo dataset, its judgments, and PEOPLE."""
    url = f"sqlite:///{tmp_path_factory.mktemp('demo') / 'annotator.db'}"
    opened = Database(url)
    upgrade_schema(opened)
    built = build_demo(opened, now=NOW, with_judgments=True)
    for username, role in PEOPLE.items():
        add_person(opened, OPERATOR, username, role=role, dataset=built.dataset, password=PASSWORD, now=NOW)
    opened.dispose()
    return url


def open_stream(port: int, origin: str, cookie: str) -> bytes:
    """What is answered to a websocket handshake of that origin."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as wire:
        wire.sendall(
            f"GET /_stcore/stream HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {'A' * 22}==\r\nOrigin: {origin}\r\n"
            f"Cookie: annotator_session={cookie}\r\n\r\n".encode()
        )
        return wire.recv(12)


def list_open_pages(role: str) -> list[AppPage]:
    return [page for page in PAGES if page.is_open_to(role)]


def visit(page: Page, server: Server, username: str, pages: Sequence[AppPage]) -> None:
    """Sign in, and open every one of these pages."""
    page.goto(f"{server.address}/login")
    page.fill("#username", username)
    page.fill("#password", PASSWORD)
    page.press("#password", "Enter")
    page.wait_for_url(lambda url: "/login" not in url)
    drawn = page.locator(".stApp[data-test-script-state=notRunning]")
    expect(drawn).to_be_attached(timeout=60_000)
    for listed_page in pages:
        go(page, f"/{listed_page.address}?dataset=demo")
        expect(page).to_have_title(f"{listed_page.title} · Annotator")
        expect(page.locator("h1").first).to_be_attached(timeout=60_000)
        expect(drawn).to_be_attached(timeout=60_000)


@pytest.mark.long(
    "browser/web/test_accessibility.py::test_no_page_violates_wcag_22_aa_or_its_own_policy_and_headings_come_in_order"
)
@pytest.mark.parametrize("username", PEOPLE)
def test_no_page_makes_the_server_or_the_browser_ask_anybody_else(
    demo: str, tmp_path: Path, context: BrowserContext, username: str
) -> None:
    server = Server(demo, tmp_path, find_free_port(), first=refuse_to_connect)
    server.start()
    page, urls = context.new_page(), list[str]()
    page.on("request", lambda request: urls.append(request.url))
    try:
        pages = list_open_pages(PEOPLE[username])
        assert len(pages) >= 6
        visit(page, server, username, pages)
        (cookie,) = (
            item["value"] for item in context.cookies() if item["name"] == f"annotator_session_{server.port}"
        )
        for origin in ("http://evil.example", "http://192.0.2.7:8501", "null"):
            assert open_stream(server.port, origin, cookie) == b"HTTP/1.1 403"
        assert (tmp_path / RECORD).read_text(encoding="utf-8") == ""
    finally:
        server.kill()
    hosts = {urlsplit(url).netloc for url in urls if not url.startswith(("data:", "blob:"))}
    assert hosts == {f"127.0.0.1:{server.port}"}


def test_streamlit_asks_nobody_for_the_addresses_of_this_machine(
    visitor: Attacker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(*_args: object, **_options: object) -> str:
        raise AssertionError("asked")

    monkeypatch.setattr(net_util, "_make_blocking_http_get", ask)
    monkeypatch.setattr(socket.socket, "connect", ask)
    assert isinstance(visitor.http, TestClient), "the app is made"
    assert not server_util.is_url_from_allowed_origins("http://evil.example")
    assert net_util.get_internal_ip() is None


def test_a_config_file_of_the_operator_opens_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / ".streamlit"
    folder.mkdir()
    (folder / "config.toml").write_text(
        '[server]\nenableCORS = false\nenableAgentApi = true\ncorsAllowedOrigins = ["https://evil.example"]\n'
        "[browser]\ngatherUsageStats = true\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STREAMLIT_SERVER_ENABLE_XSRF_PROTECTION", "false")
    try:
        given = make_config("127.0.0.1", 8501)
        config.get_config_options(force_reparse=True, options_from_flags=dict(given))
        assert {name: config.get_option(name) for name in CLOSED} == CLOSED
    finally:
        monkeypatch.undo()
        config.get_config_options(force_reparse=True)
