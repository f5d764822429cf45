"""How many statements an exchange with an annotator's browser takes, the look at the session included.

On PostgreSQL each is a round trip, and locks are held meanwhile. BEGIN and COMMIT are not counted.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from psycopg._queries import MAX_CACHED_STATEMENT_LENGTH
from sqlalchemy import event

from annotator.domain.judgments import PairView
from annotator.labeling.my_work_service import read_own_pair
from annotator.labeling.service import SubmitResponse, submit_judgments
from annotator.people.sign_in_service import add_session, find_session
from annotator.storage.database import Database
from annotator.storage.judgments.missing_judgments import derive_work
from annotator.storage.lookup import find_dataset, find_pair_pk, key_of
from annotator.storage.tables.labeling import CheckRow
from tests.databases import CopyWorld
from tests.integration.labeling_world import World

WITHIN_A_QUERY = 10
AT_THE_CHANGE_OF_QUERY = 12


class Browser:
    """A signed-in annotator's browser, whose requests are counted in statements."""

    def __init__(self, world: World, name: str) -> None:
        self.world = world
        actor = world.person(name)
        with world.database.write() as session:
            self.token = add_session(
                session, actor.person_id or 0, now=world.now, lifetime=timedelta(hours=1)
            )
        self.shown: list[PairView] = []

    def exchange(self, answers: int, want: int) -> SubmitResponse:
        pressed = [self.shown.pop(0) for _ in range(answers)]
        signed_in = find_session(self.world.database, self.token, now=self.world.now)
        assert signed_in is not None
        response = submit_judgments(
            self.world.database,
            signed_in.actor,
            "d",
            events=[
                self.world.event(pair.pair, number % 4, document_sha256="aa", guideline_version=1)
                for number, pair in enumerate(pressed)
            ],
            have=[pair.pair for pair in self.shown],
            want=want,
            tab="t",
            now=self.world.now,
        )
        assert len(response.acknowledged) == answers
        self.shown += response.pairs
        return response


@contextmanager
def count(database: Database) -> Iterator[list[str]]:
    statements: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        if not statement.startswith(("BEGIN", "CREATE TEMP")):  # the latter once for each connection
            statements.append(statement)

    event.listen(database.engine, "before_cursor_execute", note)
    yield statements
    event.remove(database.engine, "before_cursor_execute", note)


def make_answered(database: Database) -> World:
    world = World(database, queries=2, documents=60, overlap=3)
    for name in ("bob", "eve"):
        browser = Browser(world, name)
        while browser.exchange(0, 50).pairs:
            browser.exchange(len(browser.shown), 0)
    return world


@pytest.fixture
def ann(copy_world: CopyWorld) -> Browser:
    """An annotator in the middle of a query that others have answered differently, so that disagreements come and go."""
    return Browser(copy_world(make_answered), "ann")


@pytest.mark.parametrize(("answers", "want"), [(1, 1), (1, 20), (0, 20), (20, 20), (20, 0)], ids=str)
def test_within_a_query(ann: Browser, answers: int, want: int) -> None:
    ann.exchange(0, 25)
    ann.exchange(1, 1)
    with count(ann.world.database) as statements:
        response = ann.exchange(answers, want)
    assert len(response.pairs) == want
    assert len(statements) <= WITHIN_A_QUERY, "\n".join(statements)
    longest = max(statements, key=len)
    assert len(longest.encode()) <= MAX_CACHED_STATEMENT_LENGTH, f"psycopg reads it anew each time: {longest}"


def test_the_first_pairs_of_a_page(ann: Browser) -> None:
    with count(ann.world.database) as statements:
        assert len(ann.exchange(0, 20).pairs) == 20
    assert len(statements) <= WITHIN_A_QUERY + 1, "\n".join(statements)


def test_at_the_change_of_query(ann: Browser) -> None:
    ann.exchange(0, 50)
    ann.exchange(20, 5)
    with count(ann.world.database) as statements:
        response = ann.exchange(1, 20)
    assert len({pair.query_id for pair in response.pairs}) == 2
    assert len(statements) <= AT_THE_CHANGE_OF_QUERY, "\n".join(statements)


def test_the_number_does_not_depend_on_the_number_of_queries_and_people(database: Database) -> None:
    def count_one(world: World, name: str, prepare: Callable[[Browser], object]) -> int:
        browser = Browser(world, name)
        prepare(browser)
        with count(database) as statements:
            browser.exchange(1, 1)
        return len(statements)

    world = World(database, queries=12, documents=5)
    few = count_one(world, "ann", lambda browser: browser.exchange(0, 2))
    for number in range(8):
        other = Browser(world, f"p{number}")
        other.exchange(0, 7)
        other.exchange(7, 3)
    assert count_one(world, "eve", lambda browser: browser.exchange(0, 2)) <= few + 1


def test_reading_an_own_answer_on_a_gold_pair_takes_as_many_statements_as_any_other(
    database: Database,
) -> None:
    """How long the server takes would tell which pair is a check: it can be asked for again and again."""
    world = World(database)
    actor = world.person("hanako")
    keys = [pair.pair for pair in world.send(actor, want=12).pairs][:2]
    with database.write() as session:
        dataset_pk = key_of(find_dataset(session, "d").pk)
        pair_pk = find_pair_pk(session, dataset_pk, keys[0])
        assert pair_pk is not None
        session.add(CheckRow(pair_pk=pair_pk, kind="gold", grade=1, marked_at=world.now))
        derive_work(session, dataset_pk, [pair_pk])
    world.send(actor, *map(world.event, keys))
    numbers = []
    for key in keys:
        with count(database) as statements:
            read_own_pair(database, actor, "d", key, now=world.now)
        numbers.append(len(statements))
    assert numbers[0] == numbers[1]
