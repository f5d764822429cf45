"""Where a request ends is open to one reading only, as the server's parser (h11, stricter) reads it (ASVS V4.2.1)."""

import re
import socket
import ssl
from pathlib import Path

import h11
import pytest
from uvicorn.protocols.http.h11_impl import H11Protocol

from annotator.web.server.connections import LimitedProtocol, StrictConnection
from tests.browser.conftest import Server
from tests.browser.web.proxied_replicas import Proxy

HEAD = b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
SECOND = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
REFUSED = {
    "a length and chunks": HEAD + b"Content-Length: 5\r\n" + CHUNKED + b"\r\n0\r\n\r\n",
    "chunks and a length": HEAD + CHUNKED + b"Content-Length: 5\r\n\r\n0\r\n\r\n",
    "two lengths": HEAD + b"Content-Length: 0\r\nContent-Length: %d\r\n\r\n" % len(SECOND),
    "a list of lengths": HEAD + b"Content-Length: 0, %d\r\n\r\n" % len(SECOND),
    "a length with a sign": HEAD + b"Content-Length: +0\r\n\r\n",
    "an unknown coding": HEAD + b"Transfer-Encoding: xchunked\r\n\r\n",
    "two codings": HEAD + b"Transfer-Encoding: chunked, identity\r\n\r\n",
    "white space before the colon": HEAD + b"Content-Length : 0\r\n\r\n",
    "a chunk of no hexadecimal size": HEAD + CHUNKED + b"\r\n0x0\r\n\r\n",
    "a chunk of a negative size": HEAD + CHUNKED + b"\r\n-1\r\n\r\n",
    "a chunk that a bare LF ends": HEAD + CHUNKED + b"\r\n0\n\n",
    "a NUL in a header": HEAD + b"X-A: a\x00b\r\n\r\n",
    "a bare CR in a header": HEAD + b"X-A: a\rContent-Length: 5\r\n\r\n",
    "no Host": b"GET /login HTTP/1.1\r\n\r\n",
    "two Hosts": b"GET /login HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
}
READ_ONE_WAY = {
    "an extension of a chunk": HEAD + CHUNKED + b"\r\n0;a=b\r\n\r\n",
    "a folded header": HEAD + b"X-A: a\r\n Content-Length: 5\r\nContent-Length: 0\r\n\r\n",
    "lines that a bare LF ends": HEAD.replace(b"\r\n", b"\n") + b"Content-Length: 0\n\n",
}
"""What RFC 9112 lets a server accept: a folded line belongs to its header, LF ends a line of the head."""


def read_requests(data: bytes) -> list[bytes]:
    """Return the targets of the requests that the server reads in these bytes. Raises what ends the connection."""
    connection, targets = StrictConnection(h11.SERVER), []
    connection.receive_data(data)
    while (event := connection.next_event()) not in (h11.NEED_DATA,):
        if isinstance(event, h11.Request):
            targets.append(event.target)
        if event is h11.PAUSED:
            connection.send(h11.Response(status_code=200, headers=[("Content-Length", "0")]))
            connection.send(h11.EndOfMessage())
            connection.start_next_cycle()
        if connection.their_state is h11.MUST_CLOSE:
            break
    return targets


def test_the_server_parses_with_h11() -> None:
    assert issubclass(LimitedProtocol, H11Protocol)


@pytest.mark.parametrize("request_bytes", REFUSED.values(), ids=REFUSED)
def test_a_request_with_an_unclear_end_is_refused(request_bytes: bytes) -> None:
    with pytest.raises(h11.RemoteProtocolError):
        read_requests(request_bytes + SECOND)


@pytest.mark.parametrize("request_bytes", READ_ONE_WAY.values(), ids=READ_ONE_WAY)
def test_the_next_request_begins_where_this_one_ends(request_bytes: bytes) -> None:
    assert read_requests(request_bytes + SECOND) == [b"/login", b"/healthz"]


def make_chunks(size: int, count: int) -> bytes:
    return HEAD + CHUNKED + b"\r\n" + (b"%x\r\n%b\r\n" % (size, b"a" * size)) * count + b"0\r\n\r\n"


def test_a_body_in_many_small_chunks_is_refused() -> None:
    """Each chunk takes the server a tenth of a millisecond, in which it answers nobody."""
    with pytest.raises(h11.RemoteProtocolError):
        read_requests(make_chunks(1, 5_000))
    with pytest.raises(h11.RemoteProtocolError):
        read_requests(make_chunks(800, 5_000))


def test_a_body_in_few_or_large_chunks_is_read() -> None:
    for chunks in (make_chunks(1, 90), make_chunks(4_096, 2_000)):
        assert read_requests(chunks + chunks + SECOND) == [b"/login", b"/login", b"/healthz"]


def send(port: int, data: bytes, *, over_tls: bool = False) -> bytes:
    """Return everything that comes back until the connection is closed."""
    answer = b""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as plain:
        wire = ssl._create_unverified_context().wrap_socket(plain) if over_tls else plain
        wire.sendall(data)
        while piece := wire.recv(65536):
            answer += piece
    return answer


BOTH = ("a length and chunks", "chunks and a length")


def test_a_length_together_with_chunks_gets_400_and_ends_the_connection(server: Server) -> None:
    for name in BOTH:
        answer = send(server.port, REFUSED[name] + SECOND)
        assert answer.startswith(b"HTTP/1.1 400"), name
        assert answer.count(b"HTTP/1.1") == 1, name
    first = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    answer = send(server.port, first + REFUSED[BOTH[0]] + SECOND)  # as the second on its connection
    assert re.findall(rb"HTTP/1\.1 (\d+)", answer) == [b"200", b"400"]
    assert "Traceback" not in server.log


def test_no_server_behind_nginx_reads_a_length_together_with_chunks(server: Server, tmp_path: Path) -> None:
    proxy = Proxy(tmp_path, [server, server])
    proxy.start()
    try:
        before = len(proxy.read_answered())
        for name in BOTH:
            answer = send(proxy.port, REFUSED[name] + SECOND, over_tls=True)
            assert answer.startswith(b"HTTP/1.1 400"), name
            assert answer.count(b"HTTP/1.1") == 1, name
        assert len(proxy.read_answered()) == before
    finally:
        proxy.stop()
