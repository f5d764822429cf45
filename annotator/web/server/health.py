"""`GET /healthz`: whether the database is reached; `GET /readyz`: whether a write would succeed.

Open to everybody, so they say nothing else: why not is in the log. `/healthz` reads a row and waits for no writer.
`/readyz` really writes, at most once in READY_SECONDS however many ask.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Generic, TypeVar

import structlog
from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from annotator import __version__
from annotator.storage.database import Database, DatabaseProbe, find_newest_revision

READY_SECONDS = 5.0
WITHIN_SECONDS = 2.0

log = structlog.stdlib.get_logger("annotator.web")


def routes(database: Database) -> list[Route]:
    """Return the routes `/healthz` and `/readyz`: 200, or 503 when it is not so."""
    probe = DatabaseProbe(database)
    problems: list[str | None] = [None]
    known = find_newest_revision()  # not of files that are replaced while this server runs
    is_noted = [False]

    def try_read() -> str | None:
        problem = probe.find_read_problem()
        if not is_noted[0] and (probe.schema or known) > known:
            is_noted[0] = True
            log.warning(
                "a newer version has upgraded the database",
                schema=probe.schema,
                known=known,
                mend="restart with it",
            )
        return problem

    def try_write() -> str | None:
        problem, before = probe.find_write_problem(), problems[0]
        problems[0] = problem
        if problem is not None and before is None:
            log.warning("the database takes no writes", why=problem)
        elif problem is None and before is not None:
            log.info("the database takes writes again")
        return problem

    late = "no answer in time"
    reading = SharedAttempt[str | None](try_read, late=late, within=WITHIN_SECONDS)
    writing = SharedAttempt[str | None](try_write, late=late, within=WITHIN_SECONDS, keep=READY_SECONDS)

    async def report_health(_request: Request) -> Response:
        reached = await reading.find_outcome() is None
        word = "ok" if reached else "unreachable"
        body = {"status": "ok" if reached else "failing", "database": word, "version": __version__}
        return JSONResponse(body, 200 if reached else 503)

    async def report_readiness(_request: Request) -> Response:
        ready = await writing.find_outcome() is None
        return JSONResponse({"status": "ok" if ready else "failing"}, 200 if ready else 503)

    return [
        Route("/healthz", report_health, methods=["GET"]),
        Route("/readyz", report_readiness, methods=["GET"]),
    ]


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
