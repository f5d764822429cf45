"""Let a few requests at a time do what takes the processor and the database; the others wait in the order in which they came.

One process computes on one core. Thirty threads that take turns at it, each after every statement, all end late, hold their
locks for longer, and need thirty connections, each of which plans its statements anew (benchmarks/README.md).
"""

from collections.abc import Callable
from typing import TypeVar
from weakref import WeakValueDictionary

from anyio import CapacityLimiter, fail_after, to_thread

from annotator.domain.errors import DatabaseUnavailable
from annotator.storage.database import OVERLOADED, Database
from annotator.web.server.outage import PATIENCE_SECONDS

Result = TypeVar("Result")


class Turns:
    """Runs up to `most` pieces of work at a time for each subject. Work on one subject never waits for that on another."""

    def __init__(self, database: Database, *, most: int, within: float = PATIENCE_SECONDS) -> None:
        """`within`: for how many seconds to wait for a turn, before DatabaseUnavailable is raised."""
        self._database, self._most, self._within = database, most, within
        self._limiters: WeakValueDictionary[str, CapacityLimiter] = WeakValueDictionary()

    async def run(self, subject: str, work: Callable[[], Result]) -> Result:
        """Wait for a turn, run the work in a thread, and return its result."""
        limiter = self._limiters.get(subject)
        if limiter is None:
            limiter = self._limiters[subject] = CapacityLimiter(self._most)
        try:
            with fail_after(self._within):
                await limiter.acquire()
        except TimeoutError:
            raise DatabaseUnavailable(
                OVERLOADED, database=self._database.shown_url, detail="no turn in time"
            ) from None
        try:
            return await to_thread.run_sync(work)
        finally:
            limiter.release()
