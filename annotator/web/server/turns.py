"""Let a few requests at a time do what takes the processor and the database; the others wait in the order in which they came.

One process computes on one core. Thirty threads that take turns at it, each after every statement, all end late, hold their
locks for longer, and need thirty connections, each of which plans its statements anew (benchmarks/README.md).
"""

from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import TypeVar
from weakref import WeakValueDictionary

from anyio import CapacityLimiter, fail_after, to_thread

from annotator.domain.errors import DatabaseUnavailable, TooManyRequests
from annotator.domain.messages import say
from annotator.storage.database import OVERLOADED, Database
from annotator.web.server.outage import PATIENCE_SECONDS

Key = TypeVar("Key", str, int)
Result = TypeVar("Result")
WAITING_OF_ONE = 10
"""Requests of one person that may wait: more than a browser has under way with several tabs."""


class Turns:
    """Runs up to `most` pieces of work at a time for each subject. Work on one subject never waits for that on another.

    A person has one turn at a time, whatever the subject: nobody can hold all turns of a dataset, however many requests they send.
    """

    def __init__(self, database: Database, *, most: int, within: float = PATIENCE_SECONDS) -> None:
        """`within`: for how many seconds to wait for a turn, before DatabaseUnavailable is raised."""
        self._database, self._most, self._within = database, most, within
        self._limiters: WeakValueDictionary[str, CapacityLimiter] = WeakValueDictionary()
        self._own_limiters: WeakValueDictionary[int, CapacityLimiter] = WeakValueDictionary()

    async def run(self, subject: str, work: Callable[[], Result], *, person: int | None = None) -> Result:
        """Wait for a turn, run the work in a thread, and return its result.

        `person`: who asks; None where nobody is known yet. TooManyRequests if WAITING_OF_ONE requests of this person wait already.
        """
        limiter = _find_limiter(self._limiters, subject, self._most)
        own = CapacityLimiter(1) if person is None else _find_limiter(self._own_limiters, person, 1)
        if own.statistics().tasks_waiting >= WAITING_OF_ONE:
            raise TooManyRequests(say("you have too many requests at the same time; try again in a moment"))
        async with AsyncExitStack() as turns:
            try:
                with fail_after(self._within):
                    for needed in (
                        own,
                        limiter,
                    ):  # one's own turn first: waiting for it takes no turn of the subject
                        await turns.enter_async_context(needed)
            except TimeoutError:
                raise DatabaseUnavailable(
                    OVERLOADED, database=self._database.shown_url, detail="no turn in time"
                ) from None
            return await to_thread.run_sync(work)


def _find_limiter(
    limiters: WeakValueDictionary[Key, CapacityLimiter], key: Key, most: int
) -> CapacityLimiter:
    limiter = limiters.get(key)
    if limiter is None:
        limiter = limiters[key] = CapacityLimiter(most)
    return limiter
