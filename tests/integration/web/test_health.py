"""`/healthz` reads and waits for no writer; `/readyz` knows whether a write would succeed, from one attempt for many."""

import resource
import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event, text
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient
from structlog.testing import capture_logs

from annotator import __version__
from annotator.settings import Settings
from annotator.storage.database import Database, DatabaseProbe
from annotator.web.server import health
from annotator.web.server.gate import RequestGate

FINE = {"status": "ok", "database": "ok", "version": __version__}


@contextmanager
def locked_from_outside(database: Database) -> Iterator[None]:
    """Another program holds what every write needs."""
    other = Database(database.url)
    with other.write() as session:
        lock = "SELECT 1" if other.is_sqlite else "LOCK TABLE judgment IN ACCESS EXCLUSIVE MODE"
        session.execute(text(lock))  # on SQLite the first statement takes the write lock, whatever it is
        yield
    other.dispose()


@pytest.fixture
def browser(database: Database) -> Iterator[TestClient]:
    """Somebody who is not signed in."""
    app = Starlette(
        routes=health.routes(database),
        middleware=[Middleware(RequestGate, database=database, settings=Settings())],
    )
    with TestClient(app) as client:
        yield client


def test_health_does_not_wait_for_a_writer(database: Database, browser: TestClient) -> None:
    with locked_from_outside(database):
        answer = browser.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, FINE)


def test_health_does_not_wait_for_this_programs_own_work(database: Database, browser: TestClient) -> None:
    """Every connection of the pool is taken."""
    database.wait_at_most(1)
    taken = [database.engine.connect() for _number in range(40)]
    answer = browser.get("/healthz")
    for connection in taken:
        connection.close()
    assert (answer.status_code, answer.json()) == (200, FINE)


def test_health_never_begins_a_write(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    create = Database._create_engine

    def create_and_listen(self: Database) -> object:
        engine = create(self)
        event.listen(engine, "before_cursor_execute", lambda *arguments: begun.append(arguments[2]))
        return engine

    monkeypatch.setattr(Database, "_create_engine", create_and_listen)
    assert DatabaseProbe(database).find_read_problem() is None
    assert [statement for statement in begun if statement.startswith("SELECT")]
    assert not [
        statement
        for statement in begun
        if "IMMEDIATE" in statement or "UPDATE" in statement or "LOCK" in statement
    ]


def test_a_lock_held_outside_means_not_ready_and_its_end_ready(
    database: Database, browser: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "READY_SECONDS", 0.0)
    app = Starlette(routes=health.routes(database))
    with TestClient(app) as client, capture_logs() as logs:
        with locked_from_outside(database):
            answers = [client.get("/readyz") for _often in range(2)]
        assert [(answer.status_code, answer.json()) for answer in answers] == [
            (503, {"status": "failing"})
        ] * 2
        answer = client.get("/readyz")
        assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    events = [entry["event"] for entry in logs]
    assert events == ["the database takes no writes", "the database takes writes again"], (
        "once for each change"
    )


def test_a_database_that_can_only_be_read_is_healthy_and_not_ready(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    create, reader = Database._create_engine, f"reader_{uuid.uuid4().hex}"
    if not database.is_sqlite:
        with database.write() as session:
            for statement in (
                f"CREATE ROLE {reader}",
                f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {reader}",
            ):
                session.execute(text(statement))

    def create_for_reading(self: Database) -> object:
        engine = create(self)

        def forbid(connection: Any, _record: object) -> None:
            connection.execute("PRAGMA query_only=ON" if self.is_sqlite else f"SET ROLE {reader}")
            if not self.is_sqlite:
                connection.commit()

        event.listen(engine, "connect", forbid)
        return engine

    monkeypatch.setattr(Database, "_create_engine", create_for_reading)
    with TestClient(Starlette(routes=health.routes(database))) as client, capture_logs() as logs:
        assert client.get("/healthz").status_code == 200
        assert client.get("/readyz").status_code == 503
    expected = "can only be read" if database.is_sqlite else "refuses this user"
    assert expected in logs[0]["why"]


def test_however_many_ask_whether_it_is_ready_there_is_one_attempt(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts, all_asked = [0], threading.Event()
    monkeypatch.setattr(health, "READY_SECONDS", 3_600.0)

    def attempt(_self: DatabaseProbe) -> None:
        attempts[0] += 1
        all_asked.wait(1)

    monkeypatch.setattr(DatabaseProbe, "find_write_problem", attempt)
    with TestClient(Starlette(routes=health.routes(database))) as client, ThreadPoolExecutor(12) as people:
        answers = [people.submit(client.get, "/readyz") for _person in range(60)]
        all_asked.set()
        assert {answer.result().status_code for answer in answers} == {200}
    assert attempts == [1]


def test_an_attempt_that_never_ends_is_not_ready(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    ended, begun = threading.Event(), []

    def hang(_self: DatabaseProbe) -> None:
        begun.append(1)
        ended.wait()

    monkeypatch.setattr(health, "WITHIN_SECONDS", 0.01)
    monkeypatch.setattr(DatabaseProbe, "find_write_problem", hang)
    try:
        with TestClient(Starlette(routes=health.routes(database))) as client:
            assert [client.get("/readyz").status_code for _often in range(3)] == [503] * 3
            assert begun == [1]
            ended.set()
    finally:
        ended.set()


@pytest.mark.parametrize("copy_database", ["sqlite"], indirect=True)
def test_a_disk_that_takes_no_more_is_healthy_and_not_ready(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel refuses what would make a file larger than this, as it does on a full disk."""
    monkeypatch.setattr(health, "READY_SECONDS", 0.0)
    with TestClient(Starlette(routes=health.routes(database))) as client, capture_logs() as logs:
        assert client.get("/readyz").status_code == 200
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
        try:
            answers = [client.get(path).status_code for path in ("/healthz", "/readyz")]
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert answers == [200, 503]
        assert client.get("/readyz").status_code == 200
    assert "the disk of the database reports an error" in logs[0]["why"]
