"""What a connection keeps: planned statements, and whether it is still there.

SQLite plans every statement anew after PRAGMA foreign_keys, so no transaction sets what is set already. On PostgreSQL each
connection plans its own.
"""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from annotator.domain.errors import DatabaseUnavailable
from annotator.storage.database import Database
from annotator.storage.sql import fetch_tuples, prepare_sql


def test_a_transaction_sets_foreign_keys_only_where_the_connection_has_them_otherwise(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'annotator.db'}")
    told: list[str] = []

    unchecked = {"annotator_pragmas": {"foreign_keys": "OFF", "synchronous": "FULL"}}

    def begin(**options: Any) -> int:
        with database.engine.connect().execution_options(**options) as connection, connection.begin():
            driver = connection.connection.driver_connection
            driver.set_trace_callback(told.append)  # type: ignore[union-attr]
            return int(connection.execute(text("PRAGMA foreign_keys")).scalar_one())

    assert [begin(), begin(), begin(**unchecked), begin(), begin()] == [1, 1, 0, 1, 1]
    changed = [statement for statement in told if statement.startswith("PRAGMA foreign_keys=")]
    assert changed == ["PRAGMA foreign_keys=OFF", "PRAGMA foreign_keys=ON"]
    database.dispose()


@pytest.fixture
def on_postgresql(database: Database) -> Database:
    """The database on PostgreSQL, with one connection in its pool."""
    with database.read() as session:
        session.execute(text("SELECT 1"))
    return database


@pytest.mark.parametrize("copy_database", ["postgresql"], indirect=True)
def test_postgresql_plans_a_statement_that_comes_again_once_for_each_connection(
    on_postgresql: Database,
) -> None:
    statement = prepare_sql("SELECT count(*) FROM pair WHERE pk = :pair_pk")
    planned = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE 'SELECT count(*) FROM pair%'"
    counts = []
    for _often in range(3):
        with on_postgresql.read() as session:
            fetch_tuples(session, statement, {"pair_pk": 1})
            counts.append(session.execute(text(planned)).scalar_one())
    assert counts == [0, 1, 1]


def _end_connections(database: Database) -> None:
    """Do what a restart of PostgreSQL does to the connections of this program."""
    other = Database(database.url)
    with other.read() as session:
        ended = session.execute(
            text(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid() "
                "AND backend_type = 'client backend'"  # PostgreSQL's own autovacuum may be at work
            )
        ).scalar_one()
    other.dispose()
    assert ended == 1


@pytest.mark.parametrize("copy_database", ["postgresql"], indirect=True)
def test_a_connection_that_was_lost_while_nobody_used_it_is_made_anew_unnoticed(
    on_postgresql: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotator.storage.database.UNTRIED_SECONDS", 0.0)
    _end_connections(on_postgresql)
    with on_postgresql.write() as session:
        assert session.execute(text("SELECT 1")).scalar_one() == 1


@pytest.mark.parametrize("copy_database", ["postgresql"], indirect=True)
def test_a_connection_that_is_lost_between_two_uses_fails_once_with_the_outage(
    on_postgresql: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotator.storage.database.UNTRIED_SECONDS", 1_000.0)
    tried: list[Any] = []
    monkeypatch.setattr(on_postgresql.engine.dialect, "do_ping", tried.append)
    _end_connections(on_postgresql)
    with pytest.raises(DatabaseUnavailable), on_postgresql.write() as session:
        session.execute(text("SELECT 1"))
    with on_postgresql.write() as session:
        assert session.execute(text("SELECT 1")).scalar_one() == 1
    assert tried == [], "no round trip of its own for each use"
