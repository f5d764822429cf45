"""Pieces of work that share a transaction on SQLite: each succeeds or fails by itself, and nothing counts before the commit."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event, text
from sqlalchemy.orm import Session

from annotator.domain.errors import DatabaseUnavailable, NotFound
from annotator.storage.database import FULL, Database, Writable, at_end

on_sqlite = pytest.mark.parametrize("copy_database", ["sqlite"], indirect=True)


def add(name: str) -> Callable[[Writable], str]:
    def work(writable: Writable) -> str:
        with writable.write() as session:
            insert(session, name)
        return name

    return work


def insert(session: Session, name: str) -> None:
    statement = text(
        "INSERT INTO person (username, name, created_at, must_change_password, simulated) VALUES (:name, '', '2026-01-01', FALSE, FALSE)"
    )
    session.execute(statement, {"name": name})


def list_names(database: Database) -> list[str]:
    with database.read() as session:
        return list(session.execute(text("SELECT username FROM person ORDER BY username")).scalars())


@contextmanager
def count_commits(database: Database) -> Iterator[list[Any]]:
    commits: list[Any] = []

    def note(connection: Any) -> None:
        commits.append(connection)

    event.listen(database.engine, "commit", note)
    yield commits
    event.remove(database.engine, "commit", note)


def test_each_fails_by_itself(database: Database) -> None:
    def fail(writable: Writable) -> str:
        with writable.write() as session:
            insert(session, "of the failed")
            raise NotFound("nothing")

    first, failed, last = database.write_together([add("a"), fail, add("b")])
    assert (first, last) == ("a", "b")
    assert isinstance(failed, NotFound)
    assert list_names(database) == ["a", "b"]


def test_work_may_try_again_after_an_error_of_its_own(database: Database) -> None:
    def try_twice(writable: Writable) -> str:
        with pytest.raises(NotFound), writable.write() as session:
            insert(session, "undone")
            raise NotFound("nothing")
        return add("b")(writable)

    assert database.write_together([add("a"), try_twice, add("c")]) == ["a", "b", "c"]
    assert list_names(database) == ["a", "b", "c"]


def test_what_is_put_off_to_the_end_is_done_at_the_end_of_each(database: Database) -> None:
    def put_off(writable: Writable) -> str:
        with writable.write() as session:
            at_end(session, lambda session: insert(session, "at the end"))
            insert(session, "before")
        return "done"

    def fail(writable: Writable) -> str:
        with writable.write() as session:
            at_end(session, lambda session: insert(session, "never"))
            raise NotFound("nothing")

    database.write_together([put_off, fail])
    assert list_names(database) == ["at the end", "before"]


@on_sqlite
def test_they_are_committed_once_and_nobody_sees_them_before(database: Database) -> None:
    def look(_writable: Writable) -> str:
        return ",".join(list_names(database))

    with count_commits(database) as commits:
        assert database.write_together([add("a"), add("b"), look]) == ["a", "b", ""]
    assert len(commits) == 1 + 1, "theirs, and that of the read"
    assert list_names(database) == ["a", "b"]


@on_sqlite
def test_none_is_stored_if_the_disk_fills(database: Database) -> None:
    def fill(writable: Writable) -> str:
        with writable.write() as session:
            session.execute(text("PRAGMA max_page_count = 1"))
            for number in range(1_000):
                insert(session, f"{number:05}" * 20)
        return "filled"

    outcomes: list[str | Exception] = []
    with pytest.raises(DatabaseUnavailable, match="disk of the database is full"):
        outcomes = database.write_together([add("a"), fill, add("b")])
    assert outcomes == []
    database.dispose()  # the connection keeps the limit
    assert list_names(database) == []
    assert database.write_together([add("a"), add("b")]) == ["a", "b"]


@on_sqlite
def test_none_is_stored_if_the_transaction_ends_too_early(database: Database) -> None:
    def end(writable: Writable) -> str:
        with pytest.raises(DatabaseUnavailable), writable.write() as session:
            driver: Any = session.connection().connection.dbapi_connection
            driver.execute("ROLLBACK")
            raise DatabaseUnavailable(FULL, database="", detail="as if SQLite had done it")
        with pytest.raises(DatabaseUnavailable, match="reports an error"):
            add("in a transaction of its own")(writable)
        return "ended"

    with pytest.raises(DatabaseUnavailable, match="reports an error"):
        database.write_together([add("a"), end, add("b")])
    assert list_names(database) == []


@on_sqlite
def test_none_is_stored_if_the_commit_fails(database: Database) -> None:
    def fail(_connection: Any) -> None:
        raise OSError("no commit")

    event.listen(database.engine, "commit", fail)
    with pytest.raises(OSError, match="no commit"):
        database.write_together([add("a"), add("b")])
    event.remove(database.engine, "commit", fail)
    assert list_names(database) == []


@on_sqlite
def test_one_alone_has_a_transaction_of_its_own(database: Database) -> None:
    def look(writable: Writable) -> str:
        assert writable is database
        return add("a")(writable)

    assert database.write_together([look]) == ["a"]
