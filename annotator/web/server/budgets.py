"""ASGI middleware behind the gate: no person, and no address without a session, can take the server from the others.

Each person has REQUESTS_AT_A_TIME requests computed at a time, whatever they ask for; further ones wait in the order in which they came,
without a thread. A newer search takes the place of one that waits. What a person's requests, page runs and websocket messages take of the
processor is counted (`Spending`); above the allowance the next ones wait. Nothing is lost by that: a message of a websocket
stays with its sender until it is read. A request that waits for its client (a slow upload or download) does not count
meanwhile. Judgments have turns of their own (`turns.py`) and never wait here. Every 429 is sent after a pause, so that asking
again and again is slow.
"""

import asyncio
import threading
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Hashable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, Literal, TypeVar

from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from annotator.domain.errors import TooManyRequests
from annotator.domain.messages import say
from annotator.domain.people import SignedIn, includes
from annotator.people.sign_in_limits import group_address
from annotator.web.server.figures import note_budget
from annotator.web.server.refusals import respond_to_refusal
from annotator.web.server.spending import Allowance, Spending
from annotator.web.session import find_signed_in

Value = TypeVar("Value")

REQUESTS_AT_A_TIME = 2
"""Requests of one person that are computed at a time."""
REQUESTS_OF_AN_ADDRESS = 6
"""The same of one address, of people who are not signed in: many people may share it."""
WAITING = 50
"""Requests of one person, and of one address, that may wait for that."""
RUNS_AT_A_TIME, RUNS_OF_LEADS = 1, 2
"""Runs of pages of one person at a time. Leads: while one tab computes for long, another one is drawn."""
CLOSED_SECONDS = 0.5
"""How often a run that waits looks whether its page is still open."""
DOWNLOADS_AT_A_TIME = 6
"""Downloads of one person under way. A slow one keeps a connection to the database, or open files, until its end."""
WEBSOCKETS = 40
"""Open pages of one person: tabs, on all their devices."""
PROCESSOR = Allowance(at_once=1.5, per_second=0.15, most_over=0.6)
"""Seconds of one processor core: so nobody waits for longer than 4 seconds at a time."""
PROCESSOR_OF_LEADS = Allowance(at_once=60.0, per_second=0.5, most_over=1.0)
"""The same for people who lead a dataset: their pages compute."""
NOTES = Allowance(at_once=200_000, per_second=50_000 / 60)
"""Bytes of notes, questions and other texts that one person sends to be kept."""
MESSAGE_SECONDS, MESSAGE_BYTES_PER_SECOND = 0.002, 20_000_000
"""What a websocket message is counted as, besides the time that the server takes for it."""
HANDSHAKE_SECONDS = 0.02
REFUSAL_SECONDS = 0.5
"""The server waits so many seconds before it sends a 429."""
TRY_AGAIN_LATER = 1013
SUPERSEDED = frozenset({"/api/search"})
"""Where only the newest request of a person is worth an answer."""
DOWNLOADS = (
    "/api/agreement/",
    "/api/audit",
    "/api/dataset",
    "/api/pool/left-out",
    "/api/queue",
    "/api/release",
    "/api/trail",
)
"""Addresses whose answers are sent piece by piece while they are read."""
OF_ONE_MOMENT = frozenset({"/api/audit", "/api/dataset"})
"""Those that keep one transaction open: SQLite's log grows meanwhile, by some 100 kB for each press of others."""
DOWNLOAD_SECONDS, DOWNLOAD_BYTES_PER_SECOND = 60.0, 100_000
"""A download of OF_ONE_MOMENT may wait for its client so many seconds in all, and one second more for so many bytes."""
OWN_TURNS = frozenset({"/api/judgments"})
FREE = ("/static/", "/healthz", "/readyz", "/metrics")


class _Waiting:
    """A request that waits for its place."""

    __slots__ = ("path", "place")

    def __init__(self, path: str | None, place: "asyncio.Future[None]") -> None:
        self.path, self.place = path, place


class _Line:
    """How many requests of one person are computed, and which wait."""

    __slots__ = ("computed", "waiting")

    def __init__(self) -> None:
        self.computed = 0
        self.waiting: deque[_Waiting] = deque()


class Places:
    """A few places for each person. Their further requests wait in order. To be used on one event loop."""

    def __init__(self) -> None:
        self._lines: dict[Hashable, _Line] = {}

    @property
    def is_idle(self) -> bool:
        """Return whether nobody has a place: then nothing is kept of anybody."""
        return not self._lines

    async def take(self, who: Hashable, path: str | None, most: int) -> None:
        """Wait for a place. TooManyRequests if WAITING requests wait already, or a newer one took the place.

        `path`: what is asked for; None if the request had a place before, and gave it away while it waited for its client.
        """
        line = self._lines.setdefault(who, _Line())
        if line.computed < most and not line.waiting:
            line.computed += 1
            return
        if path is not None:
            if path in SUPERSEDED:
                self._supersede(line, path)
            if len(line.waiting) >= WAITING:
                raise TooManyRequests(
                    say("you have too many requests at the same time; try again in a moment")
                )
        request = _Waiting(path, asyncio.get_running_loop().create_future())
        line.waiting.append(request)
        try:
            await request.place
        except asyncio.CancelledError:
            if request.place.done() and not request.place.cancelled() and request.place.exception() is None:
                self.free(who)
            elif request in line.waiting:
                line.waiting.remove(request)
            raise

    def free(self, who: Hashable) -> None:
        """Give the place to the request that waits longest."""
        line = self._lines[who]
        while line.waiting:
            place = line.waiting.popleft().place
            if not place.done():
                place.set_result(None)
                return
        line.computed -= 1
        if not line.computed:
            del self._lines[who]

    @staticmethod
    def _supersede(line: _Line, path: str) -> None:
        for request in [waiting for waiting in line.waiting if waiting.path == path]:
            line.waiting.remove(request)
            if not request.place.done():
                request.place.set_exception(TooManyRequests(say("A newer search replaced this one.")))


class _Counted:
    """A request in its place: gives it away, and counts nothing, while it waits for its client."""

    def __init__(self, budgets: "Budgets", who: Hashable, allowance: Allowance | None, most: int) -> None:
        """`allowance`: of the person; None for people who are not signed in."""
        self._budgets, self.who, self._allowance, self._most = budgets, who, allowance, most
        self._has_place, self._began = False, 0.0
        self._outside = 0

    async def begin(self, path: str) -> None:
        """Wait for a place, and until the person is within the allowance."""
        await self._take(path)
        if self._allowance is not None:
            await self._budgets.wait("request", self.who, self._allowance)
            self._began = self._budgets.clock()

    def end(self) -> None:
        """Give the place away, and count how long it was taken."""
        if not self._has_place:
            return
        self._has_place = False
        if self._allowance is not None:
            self._budgets.processor.spend(self.who, self._budgets.clock() - self._began, self._allowance)
        self._budgets.places.free(self.who)

    async def wait_for_client(self, act: Awaitable[Value]) -> Value:
        """Wait for what the client does, without a place."""
        self._outside += 1
        self.end()
        try:
            value = await act
        finally:
            self._outside -= 1
        if not (self._outside or self._has_place):
            await self._take(None)
        return value

    async def _take(self, path: str | None) -> None:
        await self._budgets.places.take(self.who, path, self._most)
        self._has_place, self._began = True, self._budgets.clock()


class Budgets:
    """The budgets of one process. `clock` and `pause` are replaced by tests."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], Awaitable[Any]] = asyncio.sleep,
        pause_thread: Callable[[float], None] = time.sleep,
    ) -> None:
        self.clock, self.pause, self.pause_thread = clock, pause, pause_thread
        self.processor, self.notes = Spending(clock), Spending(clock)
        self.places = Places()
        self.websockets: Counter[int] = Counter()  # open ones by person
        self.downloads: Counter[Hashable] = Counter()  # under way by person
        self._runs: dict[int, list[object]] = {}  # by person, in order: those that go on, and those that wait
        self._run_ended = threading.Condition()

    async def wait(
        self, kind: Literal["request", "message", "websocket"], who: Hashable, allowance: Allowance
    ) -> None:
        """Wait until the person is within the allowance of processor time."""
        seconds = self.processor.find_wait(who, allowance)
        if seconds > 0:
            note_budget(kind)
            await self.pause(seconds)

    @contextmanager
    def take_run(self, person: SignedIn, is_open: Callable[[], bool]) -> Iterator[bool]:
        """Around a run of a page, in its thread: wait for a turn among the person's runs, and count the processor time.

        Yields whether the page is to be drawn: it is not if it was closed meanwhile, or if WEBSOCKETS runs wait already.
        """
        who, allowance = person.actor.person_id, find_allowance(person)
        if who is None:
            yield True
            return
        run, most = object(), RUNS_OF_LEADS if allowance is PROCESSOR_OF_LEADS else RUNS_AT_A_TIME
        try:
            if not self._enter_run(who, run, most, is_open):
                yield False
                return
            seconds = self.processor.find_wait(who, allowance)
            if seconds > 0:
                note_budget("run")
                self.pause_thread(seconds)
            began = time.thread_time()
            try:
                yield is_open()
            finally:
                self.processor.spend(who, time.thread_time() - began, allowance)
        finally:
            self._leave_run(who, run)

    @contextmanager
    def download(self, who: Hashable) -> Iterator[None]:
        """Around a download. TooManyRequests if DOWNLOADS_AT_A_TIME of the person are under way."""
        if self.downloads[who] >= DOWNLOADS_AT_A_TIME:
            raise TooManyRequests(
                say("You have too many downloads at the same time. Try again when one of them has ended.")
            )
        self.downloads[who] += 1
        try:
            yield
        finally:
            self.downloads[who] -= 1
            if not self.downloads[who]:
                del self.downloads[who]

    @contextmanager
    def keep_notes(self, person_id: int | None, size: int) -> Iterator[None]:
        """Around storing texts of so many bytes. TooManyRequests while the person has sent more than NOTES; what fails is not counted."""
        if not size or person_id is None:
            yield
            return
        seconds = self.notes.find_wait(person_id, NOTES)
        if seconds > 0:
            note_budget("notes")
            raise TooManyRequests(
                say("You have sent many long texts in a short time. Try again in a few minutes."),
                seconds=seconds,
            )
        self.notes.spend(person_id, size, NOTES)
        try:
            yield
        except BaseException:
            self.notes.spend(person_id, -size, NOTES)
            raise

    def _enter_run(self, who: int, run: object, most: int, is_open: Callable[[], bool]) -> bool:
        """Wait until fewer than `most` runs of the person are before this one; return False if it is given up."""
        with self._run_ended:
            runs = self._runs.setdefault(who, [])
            runs.append(run)
            if len(runs) > most + WEBSOCKETS:
                note_budget("run")
                return False
            while runs.index(run) >= most:
                if not is_open():
                    return False
                self._run_ended.wait(CLOSED_SECONDS)
        return True

    def _leave_run(self, who: int, run: object) -> None:
        with self._run_ended:
            self._runs[who].remove(run)
            if not self._runs[who]:
                del self._runs[who]
            self._run_ended.notify_all()


def find_allowance(person: SignedIn) -> Allowance:
    """Return how much processor time the person may use."""
    leads = any(includes(membership.role, "lead") for membership in person.memberships)
    return PROCESSOR_OF_LEADS if leads else PROCESSOR


def _cut_slow_reader(send: Send) -> Send:
    """Return a `send` that raises ClientDisconnect once the client has been waited for too long in all."""
    clock = asyncio.get_running_loop().time
    allowed = DOWNLOAD_SECONDS

    async def send_in_time(message: Message) -> None:
        nonlocal allowed
        allowed += len(message.get("body", b"")) / DOWNLOAD_BYTES_PER_SECOND
        began = clock()
        try:
            async with asyncio.timeout(allowed):
                await send(message)
        except TimeoutError:
            raise ClientDisconnect from None
        allowed -= clock() - began

    return send_in_time


class BudgetGuard:
    def __init__(self, app: ASGIApp, budgets: Budgets) -> None:
        self.app, self.budgets = app, budgets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        scope.setdefault("state", {})["budgets"] = self.budgets
        if scope["type"] == "websocket":
            await self._connect(scope, receive, send)
        elif scope["path"].startswith(FREE):
            await self.app(scope, receive, send)
        elif scope["path"] in OWN_TURNS:
            await self.app(scope, receive, self._slow_refusals(send))
        else:
            await self._answer(scope, receive, self._slow_refusals(send))

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        counted = self._count(scope)
        is_whole = False

        async def receive_outside() -> Message:
            nonlocal is_whole
            if is_whole:  # whoever asks now waits for the client to go away, while the answer is computed
                return await receive()
            message = await counted.wait_for_client(receive())
            is_whole = not message.get("more_body", False)
            return message

        if scope["path"] in OF_ONE_MOMENT:
            send = _cut_slow_reader(send)

        async def send_outside(message: Message) -> None:
            await counted.wait_for_client(send(message))

        with ExitStack() as held:
            held.callback(counted.end)
            try:
                if scope["path"].startswith(DOWNLOADS):
                    held.enter_context(self.budgets.download(counted.who))
                await counted.begin(scope["path"])
            except TooManyRequests as error:
                note_budget("request")
                await (await respond_to_refusal(Request(scope), error))(scope, receive, send)
                return
            await self.app(scope, receive_outside, send_outside)

    def _count(self, scope: Scope) -> _Counted:
        person = scope.get("state", {}).get("signed_in")
        if isinstance(person, SignedIn):
            who: Hashable = person.actor.person_id
            return _Counted(self.budgets, who, find_allowance(person), REQUESTS_AT_A_TIME)
        client = scope.get("client")
        address = group_address(client[0]) if client else ""
        return _Counted(self.budgets, address, None, REQUESTS_OF_AN_ADDRESS)

    def _slow_refusals(self, send: Send) -> Send:
        async def send_slowly(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 429:
                await self.budgets.pause(REFUSAL_SECONDS)
            await send(message)

        return send_slowly

    async def _connect(self, scope: Scope, receive: Receive, send: Send) -> None:
        person = scope.get("state", {}).get("signed_in")
        who = person.actor.person_id if isinstance(person, SignedIn) else None
        if not isinstance(person, SignedIn) or who is None:
            await self.app(scope, receive, send)
            return
        budgets, allowance = self.budgets, find_allowance(person)
        budgets.processor.spend(who, HANDSHAKE_SECONDS, allowance)
        if budgets.websockets[who] >= WEBSOCKETS:
            note_budget("websocket")
            await receive()
            await budgets.pause(REFUSAL_SECONDS)
            await send({"type": "websocket.close", "code": TRY_AGAIN_LATER})
            return

        given: float | None = None

        async def receive_in_time() -> Message:
            nonlocal given
            if given is not None:  # Streamlit asks for the next message as soon as it has handled one
                budgets.processor.spend(who, budgets.clock() - given, allowance)
            given = None
            message = await receive()
            if message["type"] == "websocket.receive":
                size = len(message.get("bytes") or message.get("text") or b"")
                seconds = MESSAGE_SECONDS + size / MESSAGE_BYTES_PER_SECOND
                await budgets.wait("message", who, allowance)
                budgets.processor.spend(who, seconds, allowance)
                given = budgets.clock()
            return message

        budgets.websockets[who] += 1
        try:
            await budgets.wait("websocket", who, allowance)
            await self.app(scope, receive_in_time, send)
        finally:
            budgets.websockets[who] -= 1
            if not budgets.websockets[who]:
                del budgets.websockets[who]


def find_budgets(request: HTTPConnection) -> Budgets | None:
    """Return the budgets that hold for this request; None for a route that is called without the server around it."""
    budgets = request.scope.get("state", {}).get("budgets")
    return budgets if isinstance(budgets, Budgets) else None


def measure_text(value: object) -> int:
    """Return how many bytes it has as UTF-8; 0 if it is no text."""
    return len(value.encode("utf-8", "surrogatepass")) if isinstance(value, str) else 0


@contextmanager
def keep_notes(request: HTTPConnection, size: int) -> Iterator[None]:
    """Around storing texts of so many bytes that this request brings: see `Budgets.keep_notes`."""
    budgets, person = find_budgets(request), find_signed_in(request)
    if budgets is None or person is None:
        yield
        return
    with budgets.keep_notes(person.actor.person_id, size):
        yield


_counting: list[Budgets] = []


def count_page_runs(budgets: Budgets) -> None:
    """Let every run of a page, also of a part of it and of callbacks, wait for its person's turn and be counted.

    Streamlit has no place for that, so the function by which it runs a script is replaced, once in a process.
    """
    from streamlit.runtime import Runtime
    from streamlit.runtime.scriptrunner import script_runner
    from streamlit.runtime.scriptrunner_utils.exceptions import StopException

    runner: Any = script_runner
    if _counting:
        _counting[0] = budgets
        return
    _counting.append(budgets)
    run = runner.exec_func_with_error_handling

    def stop() -> None:
        raise StopException

    def run_counted(act: Callable[[], Any], context: Any) -> Any:
        if not Runtime.exists():  # outside a server
            return run(act, context)
        find_client = partial(Runtime.instance().get_client, context.session_id)
        client = find_client()
        if client is None:  # its websocket is closed
            return run(stop, context)
        person = _find_person(client)
        if person is None:
            return run(act, context)
        with _counting[0].take_run(person, lambda: find_client() is not None) as is_drawn:
            return run(act if is_drawn else stop, context)

    runner.exec_func_with_error_handling = run_counted


def _find_person(client: object) -> SignedIn | None:
    """Return who opened the websocket of this page."""
    websocket = getattr(client, "_websocket", None)
    person = websocket.scope.get("state", {}).get("signed_in") if websocket is not None else None
    return person if isinstance(person, SignedIn) else None
