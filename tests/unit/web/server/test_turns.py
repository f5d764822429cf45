"""A few requests at a time do the work of a dataset; the others wait in their order, and not for ever."""

import asyncio
import gc
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import pytest

from annotator.domain.errors import DatabaseUnavailable, TooManyRequests
from annotator.storage.database import Database
from annotator.web.server.turns import WAITING_OF_ONE, Turns

T = TypeVar("T")


@pytest.fixture
def lost(tmp_path: Path) -> Iterator[Database]:
    """A database that nobody opens."""
    database = Database(f"sqlite:///{tmp_path / 'annotator.db'}")
    yield database
    database.dispose()


def run(work: Coroutine[None, None, T]) -> T:
    with ThreadPoolExecutor(1) as apart:  # where another test of this process left an event loop running
        return apart.submit(asyncio.run, work).result()


class Work:
    """Work that goes on until it is told to end, and notes when it begins."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.may_end = threading.Event()

    def make(self, name: str) -> Callable[[], str]:
        def run() -> str:
            self.begun.append(name)
            assert self.may_end.wait(60)
            return name

        return run

    async def wait_until_begun(self, *names: str) -> None:
        while not set(names) <= set(self.begun):
            await asyncio.sleep(0.001)


def test_so_many_at_a_time_of_one_subject(lost: Database) -> None:
    work = Work()

    async def ask() -> list[str]:
        turns = Turns(lost, most=2)
        asked = [asyncio.create_task(turns.run("d", work.make(name))) for name in "abcd"]
        await work.wait_until_begun("a", "b")
        other = asyncio.create_task(turns.run("e", work.make("other")))
        await work.wait_until_begun("other")  # another subject waits for none of them
        assert sorted(work.begun) == ["a", "b", "other"]
        work.may_end.set()
        assert await other == "other"
        return await asyncio.gather(*asked)

    assert run(ask()) == ["a", "b", "c", "d"]


def test_the_others_wait_in_their_order(lost: Database) -> None:
    work = Work()

    async def ask() -> None:
        turns = Turns(lost, most=1)
        asked = [asyncio.create_task(turns.run("d", work.make(name))) for name in "abcd"]
        await work.wait_until_begun("a")
        work.may_end.set()
        await asyncio.gather(*asked)

    run(ask())
    assert work.begun == ["a", "b", "c", "d"]


def test_who_gets_no_turn_in_time_is_told_that_the_database_is_overloaded(lost: Database) -> None:
    work = Work()

    async def ask() -> None:
        turns = Turns(lost, most=1, within=0.01)
        first = asyncio.create_task(turns.run("d", work.make("first")))
        await work.wait_until_begun("first")
        with pytest.raises(DatabaseUnavailable, match="overloaded"):
            await turns.run("d", work.make("second"))
        work.may_end.set()
        assert await first == "first"
        assert await turns.run("d", work.make("third")) == "third"

    run(ask())
    assert work.begun == ["first", "third"], "what was refused is never done later"


def test_work_that_fails_gives_its_turn_back(lost: Database) -> None:
    def fail() -> None:
        raise ValueError("broken")

    async def ask() -> str:
        turns = Turns(lost, most=1, within=0.01)
        with pytest.raises(ValueError, match="broken"):
            await turns.run("d", fail)
        return await turns.run("d", lambda: "done")

    assert run(ask()) == "done"


def test_names_that_nobody_waits_for_are_forgotten(lost: Database) -> None:
    async def ask() -> int:
        turns = Turns(lost, most=1)
        for number in range(100):  # names come from requests
            await turns.run(f"d{number}", lambda: None)
        gc.collect()
        return len(turns._limiters)

    assert run(ask()) == 0


def test_one_person_holds_one_turn_however_many_requests_they_send(lost: Database) -> None:
    work = Work()

    async def ask() -> None:
        turns = Turns(lost, most=2)
        flood = [
            asyncio.create_task(turns.run("d", work.make(f"flood {number}"), person=1)) for number in range(6)
        ]
        await work.wait_until_begun("flood 0")
        other = asyncio.create_task(turns.run("d", work.make("other"), person=2))
        await work.wait_until_begun("other")
        assert work.begun == ["flood 0", "other"]
        elsewhere = asyncio.create_task(turns.run("e", work.make("elsewhere"), person=1))
        await asyncio.sleep(0)
        assert "elsewhere" not in work.begun, "another dataset gives the same person no second turn"
        work.may_end.set()
        await asyncio.gather(*flood, other, elsewhere)

    run(ask())
    assert len(work.begun) == 8, "whoever waits is served later"


def test_more_requests_of_one_person_than_a_browser_sends_are_refused_at_once(lost: Database) -> None:
    work = Work()

    async def ask() -> None:
        turns = Turns(lost, most=2)
        waiting = [
            asyncio.create_task(turns.run("d", work.make(str(number)), person=1))
            for number in range(WAITING_OF_ONE + 1)
        ]
        await work.wait_until_begun("0")
        with pytest.raises(TooManyRequests):
            await turns.run("d", work.make("one more"), person=1)
        work.may_end.set()
        await asyncio.gather(*waiting)
        assert await turns.run("d", work.make("later"), person=1) == "later"
        gc.collect()
        assert len(turns._own_limiters) == 0, "people who wait for nothing are forgotten"

    run(ask())
    assert "one more" not in work.begun
