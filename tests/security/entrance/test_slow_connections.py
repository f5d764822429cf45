"""Whoever sends slowly, or reads nothing, keeps neither a connection nor the server from ending."""

import functools
import http.client
import resource
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import streamlit
from playwright.sync_api import Page, expect

from annotator.storage.database import Database
from annotator.web.server import serve
from annotator.web.server.connections import ConnectionLimits, LimitedProtocol
from tests.browser.conftest import Server, find_free_port

SLOW_BODY = b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 500\r\n\r\nusername=a"
LARGE_BODY = SLOW_BODY.replace(b"500", b"50000")
HALF_HEAD = b"GET /login HTTP/1.1\r\nHost: x\r\nX-Slow: "


def use_short_limits() -> None:
    """For an attack that need not last a minute."""
    LimitedProtocol.limits = ConnectionLimits(
        head_seconds=0.5, body_seconds=0.5, longest_body_seconds=5.0, answered_body_seconds=0.2, stalled_seconds=0.5
    )  # fmt: skip


def use_limits_for_a_slow_reader() -> None:
    """Longer than a machine with other work lets a reader sleep."""
    LimitedProtocol.limits = ConnectionLimits(stalled_seconds=3.0)


def use_small_numbers() -> None:
    """Few may wait, and for long."""
    LimitedProtocol.limits = ConnectionLimits(waiting_per_address=5)


def have_few_files() -> None:
    """As little as a system gives, and no more to be had."""
    LimitedProtocol.limits = ConnectionLimits(waiting_per_address=5)
    resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))


def never_end() -> None:
    """A thread of the program that no shutdown reaches."""
    serve.SHUTDOWN_SECONDS = 2.0
    threading.Thread(target=threading.Event().wait).start()


StartServer = Callable[[Callable[[], None] | None], Server]


@pytest.fixture
def start(database: Database, tmp_path: Path) -> Iterator[StartServer]:
    with ExitStack() as running:

        def begin(first: Callable[[], None] | None) -> Server:
            url = database.url.render_as_string(hide_password=False)
            server = Server(url, tmp_path, find_free_port(), first=first)
            server.start()
            running.callback(server.kill)
            return server

        yield begin


def connect(server: Server, *, receive_bytes: int = 0) -> socket.socket:
    wire = socket.socket()
    wire.settimeout(60)
    if receive_bytes:
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    wire.connect(("127.0.0.1", server.port))
    return wire


def read_all(wire: socket.socket) -> bytes:
    """What comes until the server closes the connection."""
    data = b""
    try:
        while piece := wire.recv(65536):
            data += piece
    except ConnectionResetError:
        pass
    return data


@functools.cache
def find_large_file() -> str:
    """The address of the largest file that is open to everybody."""
    folder = Path(streamlit.__file__).parent / "static"
    largest = max((folder / "static").rglob("*.js"), key=lambda path: path.stat().st_size)
    return f"/{largest.relative_to(folder)}"


NEVER_WHOLE = (
    (b"", b""),
    (b"\r\n", b""),
    (HALF_HEAD, b"HTTP/1.1 408"),
    (SLOW_BODY, b"HTTP/1.1 408"),
    (LARGE_BODY, b"HTTP/1.1 413"),  # answered, and the rest is waited for no more
    (b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" + HALF_HEAD, b"HTTP/1.1 200"),
)


def test_a_request_that_never_comes_whole_is_given_up(start: StartServer) -> None:
    server = start(use_short_limits)
    for sent, answer in NEVER_WHOLE:
        with connect(server) as wire:
            wire.sendall(sent)
            assert read_all(wire).startswith(answer), sent
    assert "Traceback" not in server.log


UPGRADE = (
    b"Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
NO_HANDSHAKES = {
    "a body": b"GET /_stcore/stream HTTP/1.1\r\n" + UPGRADE + b"Content-Length: 5\r\n\r\n",
    "a body in pieces": b"GET /_stcore/stream HTTP/1.1\r\n" + UPGRADE + b"Transfer-Encoding: chunked\r\n\r\n",
    "a long path": b"GET /" + b"a" * 9_000 + b" HTTP/1.1\r\n" + UPGRADE + b"\r\n",
    "a long head": b"GET / HTTP/1.1\r\n" + UPGRADE + b"X: 1\r\n" * 300 + b"\r\n",
}


@pytest.mark.parametrize("sent", NO_HANDSHAKES.values(), ids=NO_HANDSHAKES)
def test_a_websocket_handshake_that_is_none_is_refused_and_closed(start: StartServer, sent: bytes) -> None:
    server = start(use_short_limits)
    with connect(server) as wire:
        wire.settimeout(10)
        wire.sendall(sent)
        assert read_all(wire).startswith(b"HTTP/1.1 400")
    assert "Traceback" not in server.log


def test_whoever_reads_nothing_of_an_answer_is_given_up(start: StartServer) -> None:
    server = start(use_short_limits)
    with connect(server, receive_bytes=4096) as wire:
        for _ in range(8):
            wire.sendall(f"GET {find_large_file()} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        with pytest.raises(ConnectionError):
            while True:  # the server answers nobody who does not read
                wire.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * 1000)
    assert "Traceback" not in server.log


def test_whoever_reads_an_answer_slowly_but_steadily_gets_it(start: StartServer) -> None:
    server = start(use_limits_for_a_slow_reader)
    with connect(server, receive_bytes=4096) as wire:
        wire.sendall(f"GET {find_large_file()} HTTP/1.1\r\nHost: x\r\n\r\n".encode() * 8)
        # whoever reads nothing is given up after 6 seconds; the system has enough to send, and asks for no more
        read_until = time.monotonic() + 3 * 3.0
        while time.monotonic() < read_until:
            assert wire.recv(2048)
            time.sleep(0.05)


def test_a_slow_body_that_keeps_coming_gets_through(start: StartServer) -> None:
    server = start(use_short_limits)
    form = b"username=hanako&password=wrong&next=" + b"x" * 2000
    slow = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    slow.putrequest("POST", "/login")
    slow.putheader("Content-Type", "application/x-www-form-urlencoded")
    slow.putheader("Content-Length", str(len(form)))
    slow.endheaders(form[:1000])
    slow.send(form[1000:])
    assert slow.getresponse().status == 401


def test_of_too_many_slow_connections_the_one_that_waited_longest_goes_and_others_are_served(
    start: StartServer,
) -> None:
    server = start(use_small_numbers)
    with ExitStack() as open_wires:
        wires = []
        for _ in range(12):
            wires.append(open_wires.enter_context(connect(server)))
            wires[-1].sendall(HALF_HEAD)
            assert http_get(server, "/healthz") == 200
        for wire in wires[:6]:
            assert read_all(wire).startswith(b"HTTP/1.1 408")
    assert "slow connections given up for new ones" in server.log


def test_of_too_many_who_read_nothing_the_one_that_waited_longest_goes_and_others_are_served(
    start: StartServer,
) -> None:
    server = start(use_small_numbers)
    closed = select.poll()
    with ExitStack() as open_wires:
        wires = []
        for _ in range(12):
            wires.append(open_wires.enter_context(connect(server, receive_bytes=4096)))
            wires[-1].sendall(f"GET {find_large_file()} HTTP/1.1\r\nHost: x\r\n\r\n".encode() * 8)
            assert wires[-1].recv(12) == b"HTTP/1.1 200"
            assert http_get(server, "/healthz") == 200
        for wire in wires[:6]:
            closed.register(wire, 0)
            assert closed.poll(30_000), "reset by the server"
            closed.unregister(wire)
        assert wires[-1].recv(65536), "it waited for the shortest time"
    assert "slow connections given up for new ones" in server.log
    assert "Traceback" not in server.log


def test_more_connections_than_the_server_may_have_files_leave_it_working(start: StartServer) -> None:
    server = start(have_few_files)
    with ExitStack() as open_wires:
        for _ in range(100):
            wire = open_wires.enter_context(connect(server, receive_bytes=4096))
            wire.sendall(f"GET {find_large_file()} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert http_get(server, "/healthz") == 200
    assert server.log.count("new connections wait") == 1
    assert "out of system resource" not in server.log


def http_get(server: Server, path: str) -> int:
    client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        client.request("GET", path)
        return client.getresponse().status
    finally:
        client.close()


def test_the_server_ends_whatever_is_open(start: StartServer, page: Page) -> None:
    server = start(None)
    page.goto(f"{server.address}/login")
    page.fill("#username", "lea")
    page.fill("#password", "correct horse 電池 staple")
    page.press("#password", "Enter")
    expect(page.locator(".stApp[data-test-connection-state=CONNECTED]")).to_be_attached()
    with ExitStack() as wires:
        for sent in (b"", HALF_HEAD, SLOW_BODY, LARGE_BODY):
            wires.enter_context(connect(server)).sendall(sent)
        reading_nothing = wires.enter_context(connect(server, receive_bytes=4096))
        reading_nothing.sendall(f"GET {find_large_file()} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert reading_nothing.recv(12) == b"HTTP/1.1 200"
        assert server.stop() == 0
    assert "Traceback" not in server.log


def test_the_server_ends_although_a_thread_of_it_does_not(start: StartServer) -> None:
    server = start(never_end)
    assert server.stop() == 0
    assert "work still open" in server.log


def test_a_body_that_is_too_large_is_refused_before_it_has_come(start: StartServer) -> None:
    server = start(None)
    for path in ("/login", "/logout", "/api/judgments", "/api/questions", "/nothing"):
        with connect(server) as wire:
            wire.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999999\r\n\r\n".encode())
            assert wire.recv(12) == b"HTTP/1.1 413", path
    assert "Traceback" not in server.log
