"""Limit the time of a whole request. The library's own limit begins again with each byte, so a head that never ends has none."""

import math
import threading
from collections.abc import Callable, Iterable
from typing import Any

import httpcore2
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
        """Return the timeout of the next step, at most the time that is left. Raises ReadTimeout if none is."""
        left = self.end - self.clock()
        if left <= 0:
            raise httpcore2.ReadTimeout
        return timeout if left == math.inf else min(left, math.inf if timeout is None else timeout)


class _TimedStream(httpcore2.NetworkStream):
    def __init__(self, stream: httpcore2.NetworkStream, time: WholeTime) -> None:
        self._stream, self._time = stream, time

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._time.cut(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._time.cut(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(self, *args: Any, **options: Any) -> httpcore2.NetworkStream:
        return _TimedStream(self._stream.start_tls(*args, **options), self._time)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _TimedNetwork(httpcore2.SyncBackend):
    def __init__(self, time: WholeTime) -> None:
        self._time = time

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        stream = super().connect_tcp(host, port, timeout, local_address, socket_options)
        return _TimedStream(stream, self._time)


def make_transport(time: WholeTime, **options: Any) -> httpx2.HTTPTransport:
    """Return a transport whose requests keep to `time`. `options`: of HTTPTransport, which has none for the network."""
    transport = httpx2.HTTPTransport(trust_env=False, **options)
    pool: Any = transport._pool
    pool._network_backend = _TimedNetwork(time)
    return transport
