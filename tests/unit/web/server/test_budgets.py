"""Nobody takes the server from the others: requests, page runs, websocket messages and texts of one person have a budget."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from datetime import UTC, datetime
from typing import Any, TypeVar

import pytest
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from annotator.domain.errors import TooManyRequests
from annotator.domain.people import Actor, Membership, SignedIn
from annotator.web.server import budgets as server_budgets
from annotator.web.server.budgets import (
    DOWNLOADS_AT_A_TIME,
    NOTES,
    PROCESSOR,
    REQUESTS_AT_A_TIME,
    REQUESTS_OF_AN_ADDRESS,
    RUNS_AT_A_TIME,
    WAITING,
    WEBSOCKETS,
    BudgetGuard,
    Budgets,
    find_allowance,
)

T = TypeVar("T")
EXPIRES = datetime(2030, 1, 1, tzinfo=UTC)


def make_person(number: int = 1, role: str = "annotator") -> SignedIn:
    return SignedIn(Actor(number, f"p{number}"), "P", (Membership("demo", role),), False, EXPIRES)


class World:
    """A server whose clock stands still; whoever is made to wait moves it on."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.pauses: list[float] = []
        self.budgets = Budgets(lambda: self.now, self._pause, self._pause_thread)

    async def _pause(self, seconds: float) -> None:
        self._pause_thread(seconds)

    def _pause_thread(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


class Handler:
    """A route that answers when it may. `most`: how many were computed at the same time."""

    def __init__(self, world: World, seconds: float = 0.0) -> None:
        self.world, self.seconds = world, seconds
        self.computed = self.most = 0
        self.begun: list[str] = []
        self.may_end = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.begun.append(scope["query_string"].decode())
        self.computed += 1
        self.most = max(self.most, self.computed)
        await self.may_end.wait()
        self.world.now += self.seconds
        self.computed -= 1
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


def run(work: Coroutine[None, None, T]) -> T:
    with ThreadPoolExecutor(1) as apart:  # where another test of this process left an event loop running
        return apart.submit(asyncio.run, work).result()


async def ask(
    guard: BudgetGuard,
    person: SignedIn | None,
    path: str = "/work",
    *,
    query: str = "",
    receive: Callable[[], Awaitable[Message]] | None = None,
    send: Callable[[Message], Awaitable[None]] | None = None,
) -> int:
    """The status of the answer."""
    statuses: list[int] = []

    async def nothing_more() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def note(message: Message) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    scope: dict[str, Any] = {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": query.encode(),
        "headers": [],
        "client": ("192.0.2.7", 1),
        "state": {"signed_in": person},
    }
    await guard(scope, receive or nothing_more, send or note)
    return statuses[0] if statuses else 0


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


class TestRequests:
    @pytest.mark.parametrize(
        ("person", "most"), [(make_person(), REQUESTS_AT_A_TIME), (None, REQUESTS_OF_AN_ADDRESS)]
    )
    def test_a_few_of_one_person_are_computed_at_a_time_and_the_others_follow(
        self, person: SignedIn | None, most: int
    ) -> None:
        async def flood() -> None:
            world = World()
            handler = Handler(world)
            guard = BudgetGuard(handler, world.budgets)
            asked = [asyncio.create_task(ask(guard, person, query=str(number))) for number in range(20)]
            await settle()
            assert handler.computed == most
            other = asyncio.create_task(ask(guard, make_person(2), query="other"))
            await settle()
            assert handler.begun[-1] == "other"
            handler.may_end.set()
            assert await asyncio.gather(*asked, other) == [200] * 21
            assert handler.most == most + 1
            assert [name for name in handler.begun if name != "other"] == [
                str(number) for number in range(20)
            ]
            assert world.budgets.places.is_idle

        run(flood())

    def test_whoever_has_too_many_waiting_is_refused_after_a_pause(self) -> None:
        async def flood() -> None:
            world = World()
            handler = Handler(world)
            guard = BudgetGuard(handler, world.budgets)
            asked = [
                asyncio.create_task(ask(guard, make_person())) for _ in range(REQUESTS_AT_A_TIME + WAITING)
            ]
            await settle()
            assert world.pauses == []
            assert await ask(guard, make_person()) == 429
            assert world.pauses == [0.5]
            handler.may_end.set()
            assert set(await asyncio.gather(*asked)) == {200}

        run(flood())

    def test_a_newer_search_takes_the_place_of_one_that_waits(self) -> None:
        async def flood() -> None:
            world = World()
            handler = Handler(world)
            guard = BudgetGuard(handler, world.budgets)
            asked = [
                asyncio.create_task(ask(guard, make_person(), "/api/search", query=str(number)))
                for number in range(60)
            ]
            await settle()
            handler.may_end.set()
            statuses = await asyncio.gather(*asked)
            assert handler.begun == [*map(str, range(REQUESTS_AT_A_TIME)), "59"]
            assert statuses.count(429) == 60 - REQUESTS_AT_A_TIME - 1
            assert world.budgets.places.is_idle

        run(flood())

    def test_a_request_that_is_given_up_leaves_its_place(self) -> None:
        async def flood() -> None:
            world = World()
            handler = Handler(world)
            guard = BudgetGuard(handler, world.budgets)
            asked = [asyncio.create_task(ask(guard, make_person())) for _ in range(10)]
            await settle()
            for task in asked:
                task.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
            assert world.budgets.places.is_idle

        run(flood())

    def test_slow_uploads_and_downloads_take_no_place_and_no_time(self) -> None:
        async def flood() -> None:
            world = World()
            goes_on = asyncio.Event()

            async def read_all(_scope: Scope, receive: Receive, send: Send) -> None:
                while (await receive()).get("more_body"):
                    pass
                await send({"type": "http.response.start", "status": 200, "headers": []})
                await send({"type": "http.response.body", "body": b"", "more_body": True})

            async def receive_slowly() -> Message:
                await goes_on.wait()
                world.now += 100
                return {"type": "http.request", "body": b"x", "more_body": False}

            async def send_slowly(_message: Message) -> None:
                world.now += 100

            guard = BudgetGuard(read_all, world.budgets)
            slow = [
                asyncio.create_task(ask(guard, make_person(), receive=receive_slowly, send=send_slowly))
                for _ in range(10)
            ]
            await settle()
            assert await ask(guard, make_person()) == 200
            goes_on.set()
            await asyncio.gather(*slow)
            assert world.budgets.processor.find_wait(1, PROCESSOR) == 0
            assert world.budgets.places.is_idle

        run(flood())

    def test_one_person_has_a_few_downloads_at_a_time_and_the_panel_and_others_go_on(self) -> None:
        async def flood() -> None:
            world = World()
            begun, goes_on = 0, asyncio.Event()

            async def send_pieces(_scope: Scope, _receive: Receive, send: Send) -> None:
                nonlocal begun
                begun += 1  # a slow one keeps a connection to the database, of which there are 40
                await send({"type": "http.response.start", "status": 200, "headers": []})
                await send({"type": "http.response.body", "body": b"", "more_body": True})

            async def send_slowly(_message: Message) -> None:
                await goes_on.wait()

            guard = BudgetGuard(send_pieces, world.budgets)
            slow = [
                asyncio.create_task(ask(guard, make_person(), path, send=send_slowly))
                for path in ["/api/dataset", "/api/release", "/api/trail", "/api/audit"] * 10
            ]
            await settle()
            assert begun == DOWNLOADS_AT_A_TIME
            assert await ask(guard, make_person(), "/api/dataset") == 429
            assert await ask(guard, make_person(), "/api/text") == 200
            assert await ask(guard, make_person(2), "/api/dataset") == 200
            goes_on.set()
            await asyncio.gather(*slow)
            assert await ask(guard, make_person(), "/api/dataset") == 200
            assert not world.budgets.downloads
            assert world.budgets.places.is_idle

        run(flood())

    @pytest.mark.parametrize(
        ("path", "seconds", "is_cut"),
        [("/api/dataset", 0.2, True), ("/api/dataset", 0.0, False), ("/api/release", 0.2, False)],
    )
    def test_a_download_that_is_read_too_slowly_is_cut_if_it_keeps_a_transaction_open(
        self, monkeypatch: pytest.MonkeyPatch, path: str, seconds: float, *, is_cut: bool
    ) -> None:
        """Meanwhile SQLite keeps everything that others write in its log, some 100 kB for each press."""
        monkeypatch.setattr(server_budgets, "DOWNLOAD_SECONDS", 0.5)
        pieces = 0

        async def send_pieces(_scope: Scope, _receive: Receive, send: Send) -> None:
            nonlocal pieces
            await send({"type": "http.response.start", "status": 200, "headers": []})
            for _ in range(10):
                await send({"type": "http.response.body", "body": b"few", "more_body": True})
                pieces += 1

        async def send_slowly(_message: Message) -> None:
            await asyncio.sleep(seconds)  # never long, but always

        async def download() -> None:
            world = World()
            guard = BudgetGuard(send_pieces, world.budgets)
            with pytest.raises(ClientDisconnect) if is_cut else nullcontext():
                await ask(guard, make_person(), path, send=send_slowly)
            assert not world.budgets.downloads
            assert world.budgets.places.is_idle

        run(download())
        assert (pieces < 10) == is_cut

    def test_whoever_used_too_much_of_the_processor_waits_and_nobody_else(self) -> None:
        async def flood() -> None:
            world = World()
            handler = Handler(world, seconds=1.0)
            handler.may_end.set()
            guard = BudgetGuard(handler, world.budgets)
            for _ in range(2):
                await ask(guard, make_person())
            assert world.pauses == []
            await ask(guard, make_person())
            assert world.pauses == [pytest.approx((1.0 + 1.0 - 0.15 - 1.5) / 0.15)]
            await ask(guard, make_person(2))
            assert len(world.pauses) == 1

        run(flood())

    def test_judgments_do_not_wait_behind_the_persons_other_requests(self) -> None:
        async def flood() -> None:
            world = World()
            handler = Handler(world)
            guard = BudgetGuard(handler, world.budgets)
            asked = [asyncio.create_task(ask(guard, make_person())) for _ in range(10)]
            await settle()
            pressed = asyncio.create_task(ask(guard, make_person(), "/api/judgments", query="press"))
            await settle()
            assert handler.begun[-1] == "press"
            handler.may_end.set()
            await asyncio.gather(*asked, pressed)

        run(flood())


class TestPageRuns:
    def test_a_few_runs_of_one_person_go_on_at_a_time(self) -> None:
        world = World()
        running, most, lock = 0, 0, threading.Lock()
        may_end = threading.Event()

        def draw(number: int) -> None:
            nonlocal running, most
            with world.budgets.take_run(make_person(number), lambda: True) as is_drawn:
                assert is_drawn
                with lock:
                    running += 1
                    most = max(most, running)
                assert may_end.wait(60)
                with lock:
                    running -= 1

        with ThreadPoolExecutor(10) as threads:
            drawn = [threads.submit(draw, 1) for _ in range(8)]
            while running < RUNS_AT_A_TIME:
                pass
            other = threads.submit(draw, 2)
            while running < RUNS_AT_A_TIME + 1:
                pass
            may_end.set()
            for future in (*drawn, other):
                future.result(60)
        assert most <= RUNS_AT_A_TIME + 1
        assert not world.budgets._runs

    def test_a_run_waits_while_its_person_has_used_too_much(self) -> None:
        world = World()
        world.budgets.processor.spend(1, PROCESSOR.at_once + 0.5, PROCESSOR)
        with world.budgets.take_run(make_person(), lambda: True) as is_drawn:
            assert is_drawn
        assert world.pauses == [pytest.approx(0.5 / 0.15)]

    def test_a_run_whose_page_is_closed_while_it_waits_leaves_at_once_and_is_not_drawn(self) -> None:
        world, is_open = World(), threading.Event()
        is_open.set()

        def draw() -> bool:
            with world.budgets.take_run(make_person(), is_open.is_set) as is_drawn:
                return is_drawn

        with (
            ThreadPoolExecutor(10) as threads,
            world.budgets.take_run(make_person(), lambda: True),  # goes on all the time
        ):
            drawn = [threads.submit(draw) for _ in range(10)]
            while len(world.budgets._runs[1]) < 11:
                pass
            is_open.clear()
            assert [future.result(60) for future in drawn] == [False] * 10
        assert not world.budgets._runs

    def test_so_many_runs_of_one_person_wait_at_most(self) -> None:
        world, may_end = World(), threading.Event()

        def draw() -> bool:
            with world.budgets.take_run(make_person(), lambda: True) as is_drawn:
                assert may_end.wait(60)
                return is_drawn

        with ThreadPoolExecutor(WEBSOCKETS + 1) as threads:
            waiting = [threads.submit(draw) for _ in range(RUNS_AT_A_TIME + WEBSOCKETS)]
            while len(world.budgets._runs.get(1, ())) < RUNS_AT_A_TIME + WEBSOCKETS:
                pass
            with world.budgets.take_run(make_person(), lambda: True) as is_drawn:
                assert not is_drawn
            may_end.set()
            assert all(future.result(60) for future in waiting)
        assert not world.budgets._runs

    def test_leads_may_compute_more(self) -> None:
        assert find_allowance(make_person(role="lead")).at_once > find_allowance(make_person()).at_once


class TestWebsockets:
    def test_messages_above_the_budget_are_read_later_and_none_is_lost(self) -> None:
        async def flood() -> None:
            world = World()
            world.budgets.processor.spend(1, PROCESSOR.at_once, PROCESSOR)
            heard: list[bytes] = []

            async def listen(_scope: Scope, receive: Receive, _send: Send) -> None:
                for _ in range(500):
                    heard.append((await receive())["bytes"])

            sent = iter(range(500))

            async def receive() -> Message:
                return {"type": "websocket.receive", "bytes": b"%d" % next(sent)}

            async def send(_message: Message) -> None:
                raise AssertionError

            began = world.now
            scope = {"type": "websocket", "path": "/_stcore/stream", "state": {"signed_in": make_person()}}
            await BudgetGuard(listen, world.budgets)(scope, receive, send)
            assert heard == [b"%d" % number for number in range(500)]
            assert world.now - began > 3
            assert max(world.pauses) <= 4
            assert not world.budgets.websockets

        run(flood())

    def test_a_person_has_so_many_pages_open_at_most(self) -> None:
        async def flood() -> None:
            world = World()
            world.budgets.websockets = {1: WEBSOCKETS}
            sent: list[Message] = []

            async def never(_scope: Scope, _receive: Receive, _send: Send) -> None:
                raise AssertionError

            async def receive() -> Message:
                return {"type": "websocket.connect"}

            async def send(message: Message) -> None:
                sent.append(message)

            scope = {"type": "websocket", "path": "/_stcore/stream", "state": {"signed_in": make_person()}}
            await BudgetGuard(never, world.budgets)(scope, receive, send)
            assert [(message["type"], message["code"]) for message in sent] == [("websocket.close", 1013)]
            assert world.budgets.websockets == {1: WEBSOCKETS}

        run(flood())


class TestNotes:
    def test_long_texts_are_taken_later(self) -> None:
        world = World()
        with world.budgets.keep_notes(1, 201_000):
            pass
        with pytest.raises(TooManyRequests) as refused, world.budgets.keep_notes(1, 1):
            raise AssertionError
        assert refused.value.seconds == pytest.approx(1.2)
        with world.budgets.keep_notes(1, 0), world.budgets.keep_notes(2, 1):
            pass
        world.now += refused.value.seconds + 0.1
        with world.budgets.keep_notes(1, 1):
            pass

    def test_texts_that_were_not_stored_do_not_count(self) -> None:
        world = World()
        for _ in range(10):
            with pytest.raises(KeyError), world.budgets.keep_notes(1, int(NOTES.at_once)):
                raise KeyError
        with world.budgets.keep_notes(1, 100):
            pass
