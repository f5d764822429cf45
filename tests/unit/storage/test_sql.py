"""Prepared statements: names become the driver's, lists as many as there are items, times as every column keeps them."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from annotator.storage.sql import (
    LENGTHS,
    _fill,
    _render,
    execute_sql,
    fetch_tuples,
    prepare_sql,
    read_json,
    read_time,
    write_json,
)
from annotator.storage.tables.central import PersonRow

NOW = datetime(2026, 3, 4, 5, 6, 7, 89, tzinfo=UTC)
FOUND = prepare_sql("SELECT pk FROM person WHERE username IN :names AND created_at = :at", lists=["names"])


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(f"sqlite:///{tmp_path / 'annotator.db'}")
    upgrade_schema(opened)
    with opened.write() as session:
        for name in ("花子", "민준", "ada"):
            session.add(PersonRow(username=name, created_at=NOW))
            session.flush()
    yield opened
    opened.dispose()


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        ("sqlite", "SELECT '50 %' WHERE a = :a AND b IN (:b_0, :b_1) AND a::text = :a"),
        ("postgresql", "SELECT '50 %%' WHERE a = %(a)s AND b IN (%(b_0)s, %(b_1)s) AND a::text = %(a)s"),
    ],
)
def test_a_statement_is_written_as_its_driver_reads_it(dialect: str, expected: str) -> None:
    statement = prepare_sql("SELECT '50 %' WHERE a = :a AND b IN :b AND a::text = :a", lists=["b"])
    assert _render(statement, (2,), dialect) == (expected, ("a",))


def test_a_statement_is_one_line_without_comments() -> None:
    statement = prepare_sql("\nSELECT a -- in this order: few rows\n  FROM b\n\n  WHERE c = 1 - -1 ")
    assert statement.text == "SELECT a FROM b WHERE c = 1 - -1"


def test_what_runs_on_a_cursor_of_the_driver_finds_the_same_and_fails_the_same(database: Database) -> None:
    add = prepare_sql(
        "INSERT INTO person (username, name, must_change_password, simulated, created_at) "
        "VALUES (:username, '', false, false, :at)"
    )
    with database.write() as session:
        assert sorted(fetch_tuples(session, FOUND, {"names": ["花子", "ada"], "at": NOW})) == [(1,), (3,)]
        assert execute_sql(session, add, {"username": "bob", "at": NOW}) == 1
        assert (
            execute_sql(session, add, [{"username": "eve", "at": NOW}, {"username": "mia", "at": NOW}]) == 2
        )
        assert execute_sql(session, add, []) == 0
        added = fetch_tuples(session, FOUND, {"names": ["bob", "eve", "mia"], "at": NOW})
        assert sorted(added) == [(4,), (5,), (6,)]
    again = {"username": "ada", "at": NOW}
    for values in (again, [again]):
        with pytest.raises(IntegrityError) as raised, database.write() as session:
            execute_sql(session, add, values)
        assert "INSERT INTO person" in (raised.value.statement or "")


def test_a_list_finds_each_of_its_items_and_an_empty_one_nothing(database: Database) -> None:
    with database.read() as session:
        found = fetch_tuples(session, FOUND, {"names": ["花子", "ada", "nobody"], "at": NOW})
        assert sorted(found) == [(1,), (3,)]
        assert fetch_tuples(session, FOUND, {"names": [], "at": NOW}) == []


def test_a_time_is_compared_as_it_is_kept_whatever_its_zone(database: Database) -> None:
    korea = NOW.astimezone(timezone(timedelta(hours=9)))
    with database.read() as session:
        assert fetch_tuples(session, FOUND, {"names": ["花子"], "at": korea}) == [(1,)]
        with pytest.raises(ValueError, match="without a zone"):
            fetch_tuples(session, FOUND, {"names": ["花子"], "at": NOW.replace(tzinfo=None)})


@pytest.mark.parametrize("count", [0, 1, 3, 20, 21, 1_000, 1_001])
def test_lists_come_in_few_lengths_and_mean_the_same(count: int) -> None:
    filled = _fill(range(count))
    assert set(filled) == set(range(count))
    assert len(filled) in (0, 1_001, *LENGTHS)
    assert filled[:count] == list(range(count))


def test_what_the_driver_gives_is_read_alike_from_both_databases() -> None:
    assert read_time("2026-03-04 05:06:07.000089") == read_time(NOW) == NOW
    assert read_json('{"a": ["検索"]}') == read_json({"a": ["検索"]})
    assert read_json(None) is None
    assert read_json("null") is None


def test_what_was_read_is_never_written(database: Database) -> None:
    with database.read() as session:
        session.get_one(PersonRow, 1).name = "changed"
    with database.read() as session:
        assert session.execute(text("SELECT name FROM person WHERE pk = 1")).scalar() == ""


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"source": "benchmark"},
        {"": "", "b": '"\\ \n\t\x7f', "日本": "판례🔎\u2028"},
        {"a": "1", "b": 2, "c": None, "d": [True, 1.5], "e": {"f": {}}},
    ],
)
def test_a_json_column_is_written_as_json_dumps_writes_it(content: dict[str, Any]) -> None:
    assert write_json(content) == write_json(MappingProxyType(content)) == json.dumps(content)
