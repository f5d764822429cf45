"""Write slow statements into the log, with the request that ran them; at most LINES in LINE_SECONDS.

When everything is slow, every statement is, and the log would fill with what it has said already.
"""

import threading
import time
from collections.abc import Callable

import structlog

from annotator.storage.slow_statements import SlowStatement
from annotator.web.server.figures import note_slow_statement

LINES = 60
LINE_SECONDS = 60.0

log = structlog.stdlib.get_logger("annotator.web")


class SlowStatementLog:
    """Writes a line for each statement, and says how many it has left out. Safe to use from several threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._until, self._written, self._left_out = float("-inf"), 0, 0

    def report(self, statement: SlowStatement) -> None:
        """Write a line. The request's number and route come from the context of the request."""
        note_slow_statement()
        with self._lock:
            if self._clock() >= self._until:
                self._until, self._written = self._clock() + LINE_SECONDS, 0
            if self._written >= LINES:
                self._left_out += 1
                return
            self._written += 1
            left_out, self._left_out = self._left_out, 0
        further = {"left_out": left_out} if left_out else {}
        log.warning(
            "slow statement",
            statement=statement.text,
            ms=round(statement.seconds * 1_000),
            failed=statement.failed,
            **further,
        )
