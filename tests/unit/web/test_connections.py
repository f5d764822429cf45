"""How long a request may take to come, and how large it may be."""

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.requests import HTTPConnection
from starlette.types import Message

from annotator.web.server.connections import ConnectionLimits, WaitingConnections, ask_system
from annotator.web.server.gate import BodyTooLarge, find_most_bytes, limit_body
from annotator.web.server.uploads import MOST_IMPORT_BYTES


def read(path: str, *pieces: int, length: str | None = None) -> int:
    """How much of a body in pieces of these lengths is received."""
    headers = [] if length is None else [(b"content-length", length.encode())]
    request = HTTPConnection({"type": "http", "path": path, "headers": headers})
    messages: list[Message] = [{"type": "http.request", "body": b"x" * size} for size in pieces]

    async def receive() -> Message:
        return messages.pop(0)

    async def receive_all() -> int:
        limited = limit_body(request, receive)
        return sum([len((await limited())["body"]) for _ in pieces])

    with ThreadPoolExecutor(1) as apart:  # where another test of this process left an event loop running
        return apart.submit(asyncio.run, receive_all()).result()


def test_a_body_has_a_largest_size_by_its_address() -> None:
    assert find_most_bytes("/login") == 20_000
    assert find_most_bytes("/api/judgments") == 2_000_000
    assert find_most_bytes("/api/questions") == 100_000
    assert find_most_bytes("/_stcore/upload_file/s/f") == MOST_IMPORT_BYTES
    assert find_most_bytes("/people") == find_most_bytes("/api") == 1_000


def test_a_body_of_the_largest_size_is_received_and_no_byte_more() -> None:
    assert read("/login", 10_000, 10_000, length="20000") == 20_000
    assert read("/login", 10_000, 10_000) == 20_000
    assert read("/login", 20_000, length="20000") == 20_000
    for pieces in ((20_001,), (10_000, 10_000, 1)):
        with pytest.raises(BodyTooLarge):
            read("/login", *pieces)


@pytest.mark.parametrize("length", ["20001", "9" * 5000, "-1", "1e3", "", "²"])
def test_a_length_that_is_too_large_or_none_is_refused_at_once(length: str) -> None:
    with pytest.raises(BodyTooLarge):
        read("/login", length=length)


@pytest.mark.parametrize(
    ("received", "seconds"),
    [(0, 20.0), (2_000_000, 600.0), (100_000, 120.0), (20_000_000, 600.0)],
)
def test_a_body_has_the_more_time_the_more_of_it_has_come(received: int, seconds: float) -> None:
    assert ConnectionLimits().allow_body(received) == seconds


class Connection:
    """Notes that it was given up."""

    def __init__(self, waiting: WaitingConnections, address: str) -> None:
        self.waiting, self.address, self.gone = waiting, address, False

    def give_up(self) -> None:
        self.gone = True
        self.waiting.discard(self, self.address)  # type: ignore[arg-type]


def test_the_longest_waiting_goes_from_the_address_that_has_too_many_else_from_all() -> None:
    waiting, limits = WaitingConnections(), ConnectionLimits(waiting_per_address=2, waiting_in_total=4)
    made: list[Any] = []
    for address in ("a", "b", "b", "b", "a", "c"):
        made.append(Connection(waiting, address))
        waiting.add(made[-1], address, limits, now=0.0)
    assert [connection.gone for connection in made] == [True, True, False, False, False, False]
    made[2].give_up()
    made.append(Connection(waiting, "d"))
    waiting.add(made[-1], "d", limits, now=0.0)
    assert [connection.gone for connection in made[3:]] == [False] * 4


def test_a_closed_connection_keeps_nothing_and_is_no_error() -> None:
    """As after a page's websocket was closed: its watch looks once more."""
    near, far = socket.socketpair()
    near.close()
    far.close()
    assert ask_system(near) == (0, 0)
