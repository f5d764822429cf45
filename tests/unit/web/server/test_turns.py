"""A few requests at a time do the work of a dataset; the others wait in their order, and not for ever."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
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


def do_all(works: Sequence[Callable[[], T]]) -> list[T | Exception]:
    """Do each piece of work, in their order."""
    outcomes: list[T | Exception] = []
    for work in works:
        try:
            outcomes.append(work())
        except ValueError as error:
            outcomes.append(error)
    return outcomes


def test_so_many_at_a_time_of_one_subject(lost: Database) -> None:
    work = Work()

    async def ask() -> list[str]:
        turns = Turns(lost, do_all, most=2)
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
        turns = Turns(lost, do_all, most=1)
        asked = [asyncio.create_task(turns.run("d", work.make(name))) for name in "abcd"]
        await work.wait_until_begun("a")
        work.may_end.set()
        await asyncio.gather(*asked)

    run(ask())
    assert work.begun == ["a", "b", "c", "d"]


def test_who_gets_no_turn_in_time_is_told_that_the_database_is_overloaded(lost: Database) -> None:
    work = Work()

    async def ask() -> None:
        turns = Turns(lost, do_all, most=1, within=0.01)
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
        turns = Turns(lost, do_all, most=1, within=0.01)
        with pytest.raises(ValueError, match="broken"):
            await turns.run("d", fail)
        return await turns.run("d", lambda: "done")

    assert run(ask()) == "done"


def test_names_that_nobody_waits_for_are_forgotten(lost: Database) -> None:
    async def ask() -> bool:
        turns = Turns(lost, do_all, most=1)
        for number in range(100):  # names come from requests
            await turns.run(f"d{number}", lambda: None, person=number)
        return turns.is_idle

    assert run(ask())


def test_one_person_holds_one_turn_however_many_requests_they_send(lost: Database) -> None:
    work = Work()

    async def ask() -> None:
        turns = Turns(lost, do_all, most=2)
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
        turns = Turns(lost, do_all, most=2)
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
        assert turns.is_idle, "people who wait for nothing are forgotten"

    run(ask())
    assert "one more" not in work.begun


class Together:
    """Does works of Work together, and notes which."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def do_all(self, works: Sequence[Callable[[], T]]) -> list[T | Exception]:
        self.batches.append(len(works))
        return do_all(works)


def test_what_waits_is_done_together_and_nobody_waits_for_company(lost: Database) -> None:
    work, together = Work(), Together()

    async def ask() -> list[str]:
        turns = Turns(lost, together.do_all, most=1, together=3)
        first = asyncio.create_task(turns.run("d", work.make("a"), person=1))
        await work.wait_until_begun("a")
        others = [
            asyncio.create_task(turns.run("d", work.make(name), person=number))
            for number, name in enumerate("bcde", start=2)
        ]
        await asyncio.sleep(0)
        work.may_end.set()
        return await asyncio.gather(first, *others)

    assert run(ask()) == ["a", "b", "c", "d", "e"]
    assert together.batches == [1, 3, 1]


def test_of_one_person_only_one_request_is_done_together_with_those_of_others(lost: Database) -> None:
    work, together = Work(), Together()

    async def ask() -> None:
        turns = Turns(lost, together.do_all, most=1, together=10)
        first = asyncio.create_task(turns.run("d", work.make("first"), person=9))
        await work.wait_until_begun("first")
        flood = [
            asyncio.create_task(turns.run("d", work.make(f"flood {number}"), person=1)) for number in range(3)
        ]
        other = asyncio.create_task(turns.run("d", work.make("other"), person=2))
        await asyncio.sleep(0)
        work.may_end.set()
        await asyncio.gather(first, *flood, other)
        assert turns.is_idle

    run(ask())
    assert work.begun == ["first", "flood 0", "other", "flood 1", "flood 2"]
    assert together.batches == [1, 2, 1, 1]


def test_an_error_goes_to_whom_it_belongs_and_an_error_of_all_to_all(lost: Database) -> None:
    work = Work()

    def fail() -> str:
        raise ValueError("broken")

    def lose_two(works: Sequence[Callable[[], str]]) -> list[str | Exception]:
        if len(works) == 1:
            return do_all(works)
        raise OSError("the disk")

    async def ask() -> None:
        turns = Turns(lost, do_all, most=1, together=10)
        first = asyncio.create_task(turns.run("d", work.make("first")))
        await work.wait_until_begun("first")
        together = asyncio.gather(
            *(turns.run("d", item) for item in (fail, lambda: "done")), return_exceptions=True
        )
        await asyncio.sleep(0)
        work.may_end.set()
        assert await first == "first"
        failed, done = await together
        assert isinstance(failed, ValueError)
        assert done == "done"
        unlucky, slow = Turns(lost, lose_two, most=1, together=2), Work()
        alone = asyncio.create_task(unlucky.run("d", slow.make("alone"), person=1))
        await slow.wait_until_begun("alone")
        two = asyncio.gather(
            *(unlucky.run("d", lambda: "never", person=person) for person in (2, 3)), return_exceptions=True
        )
        await asyncio.sleep(0)
        slow.may_end.set()
        assert await alone == "alone"
        assert [str(error) for error in await two] == ["the disk", "the disk"]
        assert unlucky.is_idle

    run(ask())


def test_whoever_goes_away_gives_up_their_place(lost: Database) -> None:
    work = Work()

    async def ask() -> None:
        turns = Turns(lost, do_all, most=1)
        first = asyncio.create_task(turns.run("d", work.make("first"), person=1))
        await work.wait_until_begun("first")
        gone = [
            asyncio.create_task(turns.run("d", work.make(f"gone {person}"), person=person))
            for person in (1, 2)
        ]
        stays = asyncio.create_task(turns.run("d", work.make("stays"), person=2))
        await asyncio.sleep(0)
        for task in gone:
            task.cancel()
        work.may_end.set()
        assert await first == "first"
        assert await stays == "stays"
        assert turns.is_idle

    run(ask())
    assert work.begun == ["first", "stays"]


def test_work_is_done_in_the_context_of_who_asks(lost: Database) -> None:
    number = ContextVar[str]("number", default="none")

    async def ask(name: str) -> str:
        number.set(name)
        return await Turns(lost, do_all, most=1).run("d", number.get)

    assert run(ask("4711")) == "4711"
