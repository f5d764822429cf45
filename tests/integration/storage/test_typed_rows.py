"""Typed rows: both databases give the same values, and a column that is not its field is refused."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest

from annotator.storage.database import Database
from annotator.storage.sql import fetch, prepare_sql
from annotator.storage.tables.central import ImportRecordRow, PersonRow
from tests.integration.judged_world import JudgedWorld

NOON = datetime(2026, 1, 2, 12, 30, 15, 250, tzinfo=UTC)


class Person(NamedTuple):
    username: str
    is_simulated: bool
    disabled_at: datetime | None
    created_at: datetime


class Import(NamedTuple):
    path: str
    options: dict[str, Any]
    figures: Mapping[str, int]
    declared: dict[str, Any] | None


PEOPLE = prepare_sql(
    "SELECT username, simulated AS is_simulated, disabled_at, created_at FROM person "
    "WHERE username IN :names ORDER BY username",
    lists=["names"],
)
IMPORTS = prepare_sql("SELECT path, options, figures, declared FROM import_record")


def test_times_flags_and_json_are_the_same_on_both_databases(database: Database) -> None:
    world = JudgedWorld(database)
    with database.write() as session:
        session.add(PersonRow(username="花子", simulated=True, disabled_at=NOON, created_at=NOON))
        session.add(PersonRow(username="민준", created_at=NOON))
        session.add(
            ImportRecordRow(
                dataset_pk=world.dataset_pk,
                kind="run",
                path="検索.json",
                imported_at=NOON,
                options={"system": "検索"},
                figures={"read": 3},
            )
        )
        assert fetch(session, PEOPLE, Person, {"names": ["花子", "민준"]}) == [
            Person("花子", True, NOON, NOON),
            Person("민준", False, None, NOON),
        ]
        assert fetch(session, IMPORTS, Import) == [Import("検索.json", {"system": "検索"}, {"read": 3}, None)]


def test_no_row_comes_where_nothing_matches(database: Database) -> None:
    with database.read() as session:
        assert fetch(session, PEOPLE, Person, {"names": ["nobody"]}) == []


def test_a_column_that_is_not_its_field_is_refused(database: Database) -> None:
    swapped = prepare_sql("SELECT options, path, figures, declared FROM import_record")
    missing = prepare_sql("SELECT path, options FROM import_record")
    with database.read() as session:
        for statement in (swapped, missing):
            with pytest.raises(ValueError, match="expected the columns"):
                fetch(session, statement, Import)


def test_times_are_aware_and_in_utc(database: Database) -> None:
    with database.write() as session:
        session.add(PersonRow(username="ada", created_at=NOON))
        [person] = fetch(session, PEOPLE, Person, {"names": ["ada"]})
    assert person.created_at.tzinfo is UTC
