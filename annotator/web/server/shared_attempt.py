"""One attempt at something slow for all who ask for its outcome at the same time, or soon after."""

import asyncio
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from anyio import CapacityLimiter, to_thread

Outcome = TypeVar("Outcome")


class SharedAttempt(Generic[Outcome]):
    """`attempt` runs in a thread of its own, never twice at once; who asks meanwhile gets the same outcome.

    `keep`: for how many seconds an outcome is given out again. `within`: after how many seconds the answer is `late`, while
    the attempt goes on. One event loop at a time.
    """

    def __init__(
        self,
        attempt: Callable[[], Outcome],
        *,
        late: Outcome,
        within: float,
        keep: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._attempt, self._late, self._within, self._keep, self._clock = attempt, late, within, keep, clock
        self._kept: tuple[float, Outcome] | None = None
        self._running: asyncio.Task[Outcome] | None = None

    async def find_outcome(self) -> Outcome:
        """Return the outcome of the latest attempt if it is recent, else of the one that runs, else of a new one."""
        if self._kept is not None and self._clock() - self._kept[0] < self._keep:
            return self._kept[1]
        loop = asyncio.get_running_loop()
        if self._running is None or self._running.done() or self._running.get_loop() is not loop:
            self._running = loop.create_task(self._run())
        try:
            return await asyncio.wait_for(asyncio.shield(self._running), self._within)
        except TimeoutError:
            return self._late

    async def _run(self) -> Outcome:
        outcome = await to_thread.run_sync(self._attempt, limiter=CapacityLimiter(1), abandon_on_cancel=True)
        self._kept = (self._clock(), outcome)
        return outcome
