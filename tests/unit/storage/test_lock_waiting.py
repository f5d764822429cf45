"""How long SQLite is waited for when somebody else holds it."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from annotator.domain.errors import DatabaseUnavailable, NotFound
from annotator.storage.database import KNOWN_LOCK_SECONDS, PATIENCE_SECONDS, Database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(f"sqlite:///{tmp_path / 'annotator.db'}")
    yield opened
    opened.dispose()


def test_a_new_connection_waits_no_longer_than_was_said_after_the_start(database: Database) -> None:
    with closing(sqlite3.connect(str(database.url.database), isolation_level=None)) as other:
        other.execute("CREATE TABLE t (a)")
        other.execute("BEGIN EXCLUSIVE")
        database.wait_at_most(0.05)
        began = time.monotonic()
        with pytest.raises(DatabaseUnavailable), database.read():
            pass
        assert time.monotonic() - began < PATIENCE_SECONDS


def test_a_write_that_had_the_lock_and_was_refused_lets_the_next_one_wait_in_full(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    session = Database._session

    def note(self: Database, *, write: bool, wait: float, **options: Any) -> Any:
        waits.append(wait)
        return session(self, write=write, wait=wait, **options)

    monkeypatch.setattr(Database, "_session", note)
    database.wait_at_most(0.5)
    with closing(sqlite3.connect(str(database.url.database), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseUnavailable), database.write() as opened:
            opened.execute(text("SELECT 1"))
    with pytest.raises(NotFound), database.write() as opened:
        opened.execute(text("SELECT 1"))
        raise NotFound("no such thing")
    with database.write():
        pass
    assert waits[1] <= KNOWN_LOCK_SECONDS < waits[2]
