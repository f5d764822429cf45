"""The server's HTTP protocol with time limits for slow and stuck connections, which uvicorn does not have.

A request has a time limit for its head and one for its body; the body's limit grows with every byte, so a slow phone
gets through and a trickle does not. The number of waiting connections is limited per address and in all; beyond it, the
one that has waited longest is closed. The wait of a download begins again with each progress, so a stalled one is closed
first. A client that reads nothing for `stalled_seconds` is closed, at the latest after twice that time; a slow but steady
reader is not. Open websockets have only this last limit.
"""

import asyncio
import socket
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import h11
import structlog
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from annotator.web.server.request_id import keep_id_of_proxy

KEEP_OPEN_TO_SEND = 1.0  # seconds for the answer to somebody given up
NO_HANDSHAKE = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
TAKEN_AT = 120  # where tcpi_bytes_acked stands in Linux's tcp_info
MOST_HEAD_BYTES = 64 * 1024  # of a request's head, as uvicorn's own default
MOST_SMALL_CHUNKS, SMALL_CHUNK = 100, 1_000
"""A chunked body may have so many chunks, and one more for so many bytes."""
FORGET_UNSENT = struct.pack("ii", 1, 0)  # SO_LINGER of 0 seconds
LOG_EVERY = 60.0  # seconds between two lines about connections that went for others

log = structlog.stdlib.get_logger("annotator.web")


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits of a connection in seconds, bytes and numbers.

    A body may take `body_seconds`, and one more second per `body_rate` received bytes, but at most
    `longest_body_seconds`: 20 MB at 0.3 Mbit/s."""

    head_seconds: float = 20.0
    body_seconds: float = 20.0
    body_rate: int = 1_000
    longest_body_seconds: float = 600.0
    answered_body_seconds: float = 5.0
    stalled_seconds: float = 60.0
    waiting_per_address: int = 100
    waiting_in_total: int = 400

    def allow_body(self, received: int) -> float:
        """Return how many seconds a body may take after so many received bytes."""
        return min(self.body_seconds + received / self.body_rate, self.longest_body_seconds)


class WaitingConnections:
    """Connections that have not sent a whole request or do not read their response; the longest waiting comes first."""

    def __init__(self) -> None:
        self._all: dict[LimitedProtocol, None] = {}
        self._of: dict[str, dict[LimitedProtocol, None]] = {}
        self._dropped, self._logged = 0, float("-inf")

    def add(
        self, connection: "LimitedProtocol", address: str, limits: ConnectionLimits, *, now: float
    ) -> None:
        """Add a waiting connection; close the longest waiting one if there are too many."""
        self._all[connection] = None
        connections = self._of.setdefault(address, {})
        connections[connection] = None
        if len(connections) > limits.waiting_per_address:
            self._drop(next(iter(connections)), now)
        elif len(self._all) > limits.waiting_in_total:
            self._drop(next(iter(self._all)), now)

    def discard(self, connection: "LimitedProtocol", address: str) -> None:
        """Remove a connection that no longer waits."""
        self._all.pop(connection, None)
        connections = self._of.get(address, {})
        connections.pop(connection, None)
        if not connections:
            self._of.pop(address, None)

    def _drop(self, connection: "LimitedProtocol", now: float) -> None:
        connection.give_up()
        self._dropped += 1
        if now - self._logged >= LOG_EVERY:
            log.warning("slow connections given up for new ones", connections=self._dropped)
            self._dropped, self._logged = 0, now


class SendingWatch:
    """Closes a connection or websocket that reads nothing for one to two times `seconds` although data waits for it.

    `is_answering`: returns whether a response is still being sent.
    """

    def __init__(
        self,
        transport: asyncio.Transport,
        loop: asyncio.AbstractEventLoop,
        seconds: float,
        is_answering: Callable[[], bool],
    ) -> None:
        self._transport, self._loop, self._seconds, self._is_answering = (
            transport,
            loop,
            seconds,
            is_answering,
        )
        self._seen = (0, 0, 0)
        self._next = loop.call_later(seconds, self._look)

    def stop(self) -> None:
        """Stop watching, since the connection is lost."""
        self._next.cancel()

    def _look(self) -> None:
        here = self._transport.get_write_buffer_size()
        progress = (here, *ask_system(self._transport.get_extra_info("socket")))
        waits = here > 0 or (progress[1] > 0 and self._is_answering())
        if waits and progress == self._seen:
            break_off(self._transport)
        elif here or not self._transport.is_closing():
            self._seen = progress
            self._next = self._loop.call_later(self._seconds, self._look)


def ask_system(wire: socket.socket) -> tuple[int, int]:
    """Return (bytes that the system has buffered for the client, bytes that the client has acknowledged so far).

    0 where the system does not tell. The buffer holds megabytes, which a slow reader needs minutes to empty.
    """
    kept = taken = 0
    with suppress(ImportError, AttributeError, OSError, ValueError):  # ValueError: the socket is closed
        import fcntl
        import termios

        (kept,) = struct.unpack("i", fcntl.ioctl(wire, termios.TIOCOUTQ, bytes(4)))
    if sys.platform == "linux":
        with suppress(OSError, struct.error):
            info = wire.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TAKEN_AT + 8)
            (taken,) = struct.unpack_from("Q", info, TAKEN_AT)
    return kept, taken


def break_off(transport: asyncio.Transport) -> None:
    """Close at once and drop unsent data; otherwise the system would keep the connection open for minutes."""
    with suppress(OSError):  # it is closed already
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, FORGET_UNSENT)
    transport.abort()


class StrictConnection(h11.Connection):
    """h11's parser, except that it refuses a request with a length and a transfer coding, and many small chunks.

    Of a length and a transfer coding (RFC 9112, 6.1), h11 lets the coding count and drops the length. A proxy may do the
    opposite, and then read another request. Reading a chunk takes a tenth of a millisecond, however small it is.
    """

    _spare_chunks = 0.0

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Request):
            self._spare_chunks = MOST_SMALL_CHUNKS
            if _has_length_and_coding(event):
                raise h11.RemoteProtocolError("both Content-Length and Transfer-Encoding")
        elif isinstance(event, h11.Data):
            self._spare_chunks += len(event.data) / SMALL_CHUNK - event.chunk_start
            if self._spare_chunks < 0:
                raise h11.RemoteProtocolError("many small chunks")
        return event


def _has_length_and_coding(request: h11.Request) -> bool:
    return {b"content-length", b"transfer-encoding"} <= {name for name, _value in request.headers}


class LimitedProtocol(H11Protocol):
    """uvicorn's HTTP protocol with the limits of this module. `limits` and `waiting` are those of the server."""

    limits = ConnectionLimits()
    waiting = WaitingConnections()

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.conn = StrictConnection(h11.SERVER, MOST_HEAD_BYTES)
        self._phase: Literal["head", "body", "answer"] | None = None
        self._unread = False  # whether more waits to be sent than is kept for a connection
        self._address = ""
        self._began, self._received = 0.0, 0
        self._deadline: asyncio.TimerHandle | None = None
        self._sending: SendingWatch | None = None
        self._served, self.app = self.app, self._serve_while_there

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._address = self.client[0] if self.client else ""
        self._follow()
        self._sending = SendingWatch(
            transport, self.loop, self.limits.stalled_seconds, is_answering=self._is_answering
        )

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        if self._sending is not None:
            self._sending.stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        super().data_received(data)
        self._follow()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Refuse a handshake that the websocket library does not accept (with a body, or a path or head that is too long).

        uvicorn would neither answer it nor end it, and call no program.
        """
        super().handle_websocket_upgrade(event)
        if not getattr(self.transport.get_protocol(), "handshake_initiated", True):
            self.transport.write(NO_HANDSHAKE)
            self._close()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP; only close if the request has been answered already."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self._close()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = True
        self._stop_waiting()
        self._follow()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._unread = False
        self._stop_waiting()
        self._follow()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._follow()
        if self._phase == "body":  # nobody needs the rest of it
            self._set_deadline(self.limits.answered_body_seconds)

    def shutdown(self) -> None:
        if self._phase == "body":
            self.give_up()
        else:
            super().shutdown()

    def give_up(self) -> None:
        """Close the connection; answer 408 first if part of a request has come."""
        begun, unread = self._phase == "body" or self._received > 0, self._phase == "answer"
        self._stop_waiting()
        if self.transport.is_closing():
            return
        unanswered = self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE)
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True  # nothing more is sent for it
            self.cycle.message_event.set()
        if unread:
            break_off(self.transport)
            return
        if begun and unanswered:
            answer = h11.Response(
                status_code=408, headers=[(b"connection", b"close"), (b"content-length", b"0")]
            )
            self.transport.write(self.conn.send(answer))
        self._close()

    def _close(self) -> None:
        """Close the connection, and break it off if its last data is not sent within KEEP_OPEN_TO_SEND seconds."""
        self.transport.close()
        self.loop.call_later(KEEP_OPEN_TO_SEND, break_off, self.transport)

    async def _serve_while_there(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the application; stop it when the client disconnects, because uvicorn would let it read a whole file."""
        cycle = self.cycle
        keep_id_of_proxy(scope, self._address, self.config.forwarded_allow_ips)

        async def send_while_there(message: Message) -> None:
            if cycle.disconnected:
                raise ClientDisconnect
            await send(message)

        with suppress(ClientDisconnect):
            await self._served(scope, receive, send_while_there)

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _follow(self) -> None:
        """Set the phase that the connection waits for; its time limit begins when the phase changes."""
        client_state = self.conn.their_state
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            self._stop_waiting()
        elif self._unread:
            self._wait_for("answer", None)  # SendingWatch has the time for it
        elif client_state is h11.IDLE:
            self._wait_for("head", self.limits.head_seconds)
        elif client_state is h11.SEND_BODY:
            self._wait_for("body", self.limits.body_seconds)
        else:
            self._stop_waiting()

    def _wait_for(self, phase: Literal["head", "body", "answer"], seconds: float | None) -> None:
        if self._phase == phase:
            return
        earlier, self._phase = self._phase, phase
        self._began, self._received = self.loop.time(), 0
        if seconds is not None:
            self._set_deadline(seconds)
        if earlier is None:
            self.waiting.add(self, self._address, self.limits, now=self._began)

    def _stop_waiting(self) -> None:
        if self._phase is not None:
            self.waiting.discard(self, self._address)
            self._phase = None
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _set_deadline(self, seconds: float) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(seconds, self._check_deadline)

    def _check_deadline(self) -> None:
        answered = self.cycle is not None and self.cycle.response_complete
        if self._phase == "body" and not answered:
            if self.flow.read_paused:  # it is the program that has not read what came
                self._began = self.loop.time()
            left = self._began + self.limits.allow_body(self._received) - self.loop.time()
            if left > 0:
                self._set_deadline(left)
                return
        self.give_up()
