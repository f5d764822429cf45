"""Keep the matrix products of an evaluation, or of an adaptive round, on one thread."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any


class OneThread:
    """Keep the matrix products of this process on one thread while an evaluation or an adaptive round runs.

    The products are small: on several threads they take three to fifteen times as long if other work uses the
    cores. The limit holds for the whole process until the last holder ends.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._running = 0
        self._limits: Any = None

    @contextmanager
    def limit(self) -> Iterator[None]:
        """Hold the limit for a with statement."""
        from threadpoolctl import threadpool_limits

        with self._lock:
            self._running += 1
            if self._running == 1:
                self._limits = threadpool_limits(limits=1, user_api="blas")
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1
                if self._running == 0:
                    self._limits.restore_original_limits()


ONE_THREAD = OneThread()
