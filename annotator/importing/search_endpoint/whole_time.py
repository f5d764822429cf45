"""Limit the time of a whole request. The library's own limit begins again with each byte, so a head that never ends has none."""

import math
import threading
from collections.abc import Callable
from typing import Any

import httpx2


class WholeTime(threading.local):
    """When the request of this thread must have ended, in seconds of `clock`."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.end = math.inf

    def begin(self, seconds: float) -> None:
        """Begin a request that may take so many seconds."""
        self.end = self.clock() + seconds

    def cut(self, timeout: float | None) -> float | None:
        """Return the timeout of the next step, at most the time that is left. Raises ReadTimeout after the end."""
        left = self.end - self.clock()
        if left <= 0:
            raise httpx2.ReadTimeout("the whole time is over")
        return timeout if left == math.inf else min(left, math.inf if timeout is None else timeout)


class _TimedStream:
    """A network stream that reads and writes only until the time of the request is over."""

    def __init__(self, stream: Any, time: WholeTime) -> None:
        self._stream, self._time = stream, time

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data: bytes = self._stream.read(max_bytes, self._time.cut(timeout))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._time.cut(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(self, *args: Any, **options: Any) -> "_TimedStream":
        return _TimedStream(self._stream.start_tls(*args, **options), self._time)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _TimedNetwork:
    """A network that opens such streams."""

    def __init__(self, network: Any, time: WholeTime) -> None:
        self._network, self._time = network, time

    def connect_tcp(self, *args: Any, **options: Any) -> _TimedStream:
        return _TimedStream(self._network.connect_tcp(*args, **options), self._time)


def make_transport(time: WholeTime, **options: Any) -> httpx2.HTTPTransport:
    """Return a transport whose requests keep to `time`. `options`: of HTTPTransport, which has none for the network."""
    transport = httpx2.HTTPTransport(trust_env=False, **options)
    pool: Any = transport._pool
    pool._network_backend = _TimedNetwork(pool._network_backend, time)
    return transport
