"""Slow statements are reported without their values, whichever way they are run."""

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError

from annotator.storage.database import Database
from annotator.storage.slow_statements import MOST_CHARACTERS, SlowStatement, watch_statements
from annotator.storage.sql import fetch_tuples, prepare_sql
from annotator.storage.tables.central import DatasetRow


def watch(database: Database, seconds: float) -> list[SlowStatement]:
    """What is reported of the database from now on."""
    reported: list[SlowStatement] = []
    watch_statements(database, seconds, reported.append)
    return reported


def test_expressions_and_prepared_sql_are_reported_on_one_line_without_values(database: Database) -> None:
    reported = watch(database, 0.0)
    with database.read() as session:
        session.scalars(select(DatasetRow).where(DatasetRow.name == "hunter2")).all()
        named = prepare_sql("SELECT pk\n  FROM dataset WHERE name = :name")
        fetch_tuples(session, named, {"name": "hunter2"})
    texts = [statement.text for statement in reported if "FROM dataset" in statement.text]
    assert len(texts) == 2
    assert texts[1].startswith("SELECT pk FROM dataset WHERE name = ")
    assert not [said for said in texts if "hunter2" in said or "\n" in said]
    assert not [statement for statement in reported if statement.failed or statement.seconds < 0]


def test_a_statement_that_failed_is_reported_as_such(database: Database) -> None:
    reported = watch(database, 0.0)
    with pytest.raises(DBAPIError), database.read() as session:
        session.execute(text("SELECT nothing FROM nowhere"))
    with pytest.raises(DBAPIError), database.read() as session:
        fetch_tuples(session, prepare_sql("SELECT nothing FROM nowhere"), {})
    assert [statement.failed for statement in reported if "nowhere" in statement.text] == [True, True]


def test_a_quick_statement_is_not_reported_and_a_long_text_is_cut(database: Database) -> None:
    quick = watch(database, 3_600.0)
    every = watch(database, 0.0)
    with database.read() as session:
        session.execute(text(f"SELECT '{'x' * 9_000}'"))
    assert quick == []
    assert max(len(statement.text) for statement in every) == MOST_CHARACTERS
