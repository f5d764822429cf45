"""A page of another origin cannot open the websocket by which Streamlit's pages are drawn and their buttons pressed."""

import http.server
import socket
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from starlette.requests import HTTPConnection
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect
from streamlit.web.server.starlette import starlette_websocket

from annotator.domain.people import OPERATOR, SignedIn
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.web.server.gate import RequestGate
from tests.browser.conftest import NOW, Server, SignIn
from tests.security.entrance.conftest import Attacker

STREAM = "/_stcore/stream"
FOREIGN = (
    {"origin": "http://localhost:9999"},
    {"origin": "http://127.0.0.1:9999"},
    {"origin": "http://0.0.0.0"},
    {"origin": "https://evil.example"},
    {"origin": "https://testserver"},
    {"origin": "http://testserver:8080"},
    {"origin": "http://testserver.evil.example"},
    {"origin": "http://testserver@evil.example"},
    {"origin": "http://user@testserver"},
    {"origin": "http://testserver/"},
    {"origin": "null"},
    {"origin": ""},
    {"origin": "http://["},
    {"origin": "http://testserver:x"},
    {},
    {"origin": "http://testserver", "sec-fetch-site": "same-site"},
    {"origin": "http://testserver", "sec-fetch-site": "cross-site"},
)


def opens(client: TestClient, headers: dict[str, str], address: str = STREAM) -> bool:
    """Whether the server takes the websocket up."""
    try:
        with client.websocket_connect(address, headers=dict(headers), subprotocols=["streamlit"]):
            return True
    except WebSocketDisconnect as closed:
        assert closed.code == 1008
        return False


@pytest.mark.parametrize("headers", FOREIGN, ids=lambda headers: " ".join(headers.values()) or "none")
def test_another_origin_is_refused_before_streamlit_hears_of_it(
    visitor: Attacker, headers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str | None] = []
    monkeypatch.setattr(
        starlette_websocket, "_is_origin_allowed", lambda origin, _host: bool(heard.append(origin)) or True
    )
    visitor.sign_in("ada")
    assert not opens(visitor.http, headers)
    assert heard == []


@pytest.mark.parametrize("headers", [{}, {"sec-fetch-site": "same-origin"}])
def test_a_page_of_our_own_origin_is_let_in(visitor: Attacker, headers: dict[str, str]) -> None:
    visitor.sign_in("ada")
    assert opens(visitor.http, {"origin": "http://testserver", **headers})


@pytest.mark.parametrize(
    ("origin", "host", "seen", "secure", "taken"),
    [
        ("https://annotator.example", "annotator.example", "http", True, True),
        ("https://annotator.example", "annotator.example:443", "http", True, True),
        ("https://annotator.example:8443", "annotator.example:8443", "http", True, True),
        ("https://Annotator.example", "annotator.EXAMPLE", "https", False, True),
        ("http://[::1]:8501", "[::1]:8501", "http", False, True),
        ("http://annotator.example", "annotator.example:80", "http", False, True),
        ("http://annotator.example", "annotator.example", "http", True, False),
        ("http://annotator.example", "annotator.example", "https", False, False),
        ("https://annotator.example", "annotator.example:8443", "http", True, False),
        ("https://annotator.example", "127.0.0.1:8501", "http", True, False),
    ],
)
def test_behind_a_proxy_with_https_the_origin_is_the_one_that_the_browser_sees(
    database: Database, origin: str, host: str, seen: str, secure: bool, taken: bool
) -> None:
    async def accept(_scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "websocket.accept", "subprotocol": "streamlit"})

    class Anybody(RequestGate):
        async def _find(self, _connection: HTTPConnection) -> SignedIn | None:
            return SignedIn(OPERATOR, "Ada", (), False, NOW)

    gate = Anybody(accept, database, Settings(secure_cookie=secure))
    address = f"{seen.replace('http', 'ws')}://testserver{STREAM}"
    assert opens(TestClient(gate), {"origin": origin, "host": host}, address) is taken


@pytest.fixture
def neighbour() -> Iterator[str]:
    """The address of a page on another port of this machine."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>Kittens</title>")

        def log_message(self, *_args: object) -> None:
            return

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as serving:
        thread = threading.Thread(target=serving.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{serving.server_address[1]}"
        serving.shutdown()


OPEN = """address => new Promise(resolve => {
    const socket = new WebSocket(address, ["streamlit"]);
    socket.onopen = () => resolve("open");
    socket.onerror = () => resolve("refused");
})"""


def test_a_page_on_another_port_cannot_use_a_leads_cookie(
    page: Page, context: BrowserContext, server: Server, sign_in: SignIn, neighbour: str
) -> None:
    sign_in(page, "lea", to="/people?dataset=demo")
    expect(page.get_by_text("minjun")).to_be_visible()
    stream = f"ws://127.0.0.1:{server.port}{STREAM}"
    assert page.evaluate(OPEN, stream) == "open", "our own page does"
    other = context.new_page()
    other.goto(neighbour)
    assert other.evaluate(OPEN, stream) == "refused"
    assert "websocket refused" in server.log


def test_a_script_with_an_admins_cookie_and_a_foreign_origin_is_refused_at_once(
    page: Page, context: BrowserContext, server: Server, sign_in: SignIn
) -> None:
    sign_in(page, "ada")
    (cookie,) = (
        item["value"] for item in context.cookies() if item["name"] == f"annotator_session_{server.port}"
    )
    for origin in ("Origin: http://evil.example\r\n", "Origin: http://localhost:1\r\n", ""):
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as wire:
            wire.sendall(
                f"GET {STREAM} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: Upgrade\r\n"
                f"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {'A' * 22}==\r\n"
                f"Cookie: annotator_session={cookie}\r\n{origin}\r\n".encode()
            )
            assert wire.recv(100).startswith(b"HTTP/1.1 403"), origin
