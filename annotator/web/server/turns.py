"""Run a few requests at a time that need processor and database; the others wait in the order in which they came.

One process computes on one core. Thirty threads that share it all end late, hold their locks longer, and need thirty
connections, which each plan their statements (benchmarks/README.md).

Waiting requests may be done together: in one transaction, or by one statement. A request that finds a free turn takes it
at once; the requests that come meanwhile are done together afterwards.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import Context, copy_context
from typing import Generic, TypeVar

from annotator.domain.errors import DatabaseUnavailable, TooManyRequests
from annotator.domain.messages import say
from annotator.storage.database import OVERLOADED, Database
from annotator.web.server.outage import PATIENCE_SECONDS

Item = TypeVar("Item")
Result = TypeVar("Result")
WAITING_OF_ONE = 10
"""Requests of one person that may wait: more than a browser has under way with several tabs."""
MOST_THREADS = 40
"""Of one `Turns`: as many as it may need connections to the database."""


class _Request(Generic[Item, Result]):
    """A request for a turn. `begun`: a thread works on it. `queued`: it waits for its subject, otherwise for its person."""

    __slots__ = ("answer", "begun", "context", "item", "person", "queued", "subject")

    def __init__(
        self, subject: str, item: Item, person: int | None, answer: "asyncio.Future[Result]"
    ) -> None:
        self.subject, self.item, self.person, self.answer = subject, item, person, answer
        self.context: Context = copy_context()  # the request's number and language, for what the thread logs
        self.begun = self.queued = False


class _Subject(Generic[Item, Result]):
    """The requests that wait on one subject, and how many threads work on it."""

    __slots__ = ("running", "waiting")

    def __init__(self) -> None:
        self.waiting: deque[_Request[Item, Result]] = deque()
        self.running = 0


class Turns(Generic[Item, Result]):
    """Does up to `most` pieces of work at a time for each subject, of up to `together` items each.

    Work on one subject never waits for work on another. A person has one turn at a time, over all subjects, so nobody can
    take all turns of a dataset by sending many requests. For use on one event loop.
    """

    def __init__(
        self,
        database: Database,
        work: Callable[[Sequence[Item]], Sequence[Result | Exception]],
        *,
        most: int,
        together: int = 1,
        within: float = PATIENCE_SECONDS,
        waiting: int = WAITING_OF_ONE,
    ) -> None:
        """`work(items)` runs in a thread, in the context of the first item; it returns a result or an error for each item.

        `within`: seconds to wait for a turn before DatabaseUnavailable is raised. `waiting`: how many requests of one person
        may wait.
        """
        self._database, self._work = database, work
        self._most, self._together, self._within, self._waiting = most, together, within, waiting
        self._subjects: dict[str, _Subject[Item, Result]] = {}
        self._people: dict[int, deque[_Request[Item, Result]]] = {}  # who has a turn, and what waits for it
        self._threads = ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="turn")

    @property
    def is_idle(self) -> bool:
        """Return whether no work is under way and no request waits."""
        return not (self._subjects or self._people)

    async def run(self, subject: str, item: Item, *, person: int | None = None) -> Result:
        """Wait for a turn, do the work on the item in a thread, and return its result.

        `person`: the key of the asking person, or None. Raises TooManyRequests if `waiting` requests of this person wait.
        """
        loop = asyncio.get_running_loop()
        request: _Request[Item, Result] = _Request(subject, item, person, loop.create_future())
        own = None if person is None else self._people.get(person)
        if own is None:
            if person is not None:
                self._people[person] = deque()
            self._queue(request)
        elif len(own) >= self._waiting:
            raise TooManyRequests(say("you have too many requests at the same time; try again in a moment"))
        else:
            own.append(request)  # one's own turn first: waiting for it takes no turn of the subject
        if request.begun:
            return await request.answer
        deadline = loop.call_later(self._within, self._give_up, request)
        try:
            return await request.answer
        finally:
            deadline.cancel()
            if not request.begun:
                self._withdraw(request)

    def _queue(self, request: _Request[Item, Result]) -> None:
        """Add the request to its subject's queue, and start it if a turn is free."""
        subject = self._subjects.get(request.subject)
        if subject is None:
            subject = self._subjects[request.subject] = _Subject()
        subject.waiting.append(request)
        request.queued = True
        self._begin(request.subject, subject)

    def _begin(self, name: str, subject: _Subject[Item, Result]) -> None:
        """Start as many requests of a subject as may run now; forget the subject if none is left."""
        while subject.waiting and subject.running < self._most:
            requests: list[_Request[Item, Result]] = []
            while subject.waiting and len(requests) < self._together:
                request = subject.waiting.popleft()
                if not request.answer.done():  # else it is about to be withdrawn
                    request.begun = True
                    requests.append(request)
            if requests:
                subject.running += 1
                self._threads.submit(self._do, asyncio.get_running_loop(), name, requests)
        if not (subject.waiting or subject.running):
            self._subjects.pop(name, None)

    def _do(
        self, loop: asyncio.AbstractEventLoop, name: str, requests: Sequence[_Request[Item, Result]]
    ) -> None:
        outcomes: Sequence[Result | BaseException]
        try:
            outcomes = requests[0].context.run(self._work, [request.item for request in requests])
        except BaseException as error:  # noqa: BLE001 - raised where the work was asked for
            outcomes = [error] * len(requests)
        with suppress(RuntimeError):  # the server has ended
            loop.call_soon_threadsafe(self._end, name, requests, outcomes)

    def _end(
        self,
        name: str,
        requests: Sequence[_Request[Item, Result]],
        outcomes: Sequence[Result | BaseException],
    ) -> None:
        for request, outcome in zip(requests, outcomes, strict=True):
            if not request.answer.done():  # otherwise the client is gone
                if isinstance(outcome, BaseException):
                    request.answer.set_exception(outcome)
                else:
                    request.answer.set_result(outcome)
        for request in requests:
            self._release(request.person)
        subject = self._subjects[name]
        subject.running -= 1
        self._begin(name, subject)

    def _release(self, person: int | None) -> None:
        """Queue the person's next waiting request, or forget the person."""
        if person is None:
            return
        own = self._people[person]
        while own:
            request = own.popleft()
            if not request.answer.done():
                self._queue(request)
                return
        del self._people[person]

    def _give_up(self, request: _Request[Item, Result]) -> None:
        if not (request.begun or request.answer.done()):
            self._withdraw(request)
            request.answer.set_exception(
                DatabaseUnavailable(OVERLOADED, database=self._database.shown_url, detail="no turn in time")
            )

    def _withdraw(self, request: _Request[Item, Result]) -> None:
        """Remove a request that has not begun from the queues."""
        if request.queued:
            request.queued = False
            subject = self._subjects.get(request.subject)
            if subject is not None:
                with suppress(ValueError):  # passed over already
                    subject.waiting.remove(request)
                self._begin(request.subject, subject)
            self._release(request.person)
        elif request.person in self._people:
            with suppress(ValueError):
                self._people[request.person].remove(request)
