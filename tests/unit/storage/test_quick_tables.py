"""The tests' quick way to the tables of a new SQLite database leads to the same database as the migrations."""

import sqlite3
from pathlib import Path

import pytest

from annotator.storage import schema
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema

MIGRATE = schema._upgrade  # before any fixture has exchanged it


def dump(path: Path) -> list[str]:
    database = Database(f"sqlite:///{path}")
    upgrade_schema(database)
    database.dispose()
    connection = sqlite3.connect(path)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


def test_the_statements_of_the_first_database_make_the_one_that_the_migrations_make(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump(tmp_path / "first.db")
    assert schema._upgrade is not MIGRATE
    quick = dump(tmp_path / "quick.db")
    monkeypatch.setattr(schema, "_upgrade", MIGRATE)
    assert quick == dump(tmp_path / "migrated.db")
