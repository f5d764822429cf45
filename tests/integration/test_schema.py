"""The migrations make exactly the tables of the program, and a newer database is left alone."""

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import CheckConstraint, inspect, text
from sqlmodel import SQLModel

from annotator.domain.errors import StateError
from annotator.storage import schema
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from tests.integration.judged_world import JudgedWorld


def run(database: Database, statement: str) -> None:
    with database.write() as session:
        session.connection().execute(text(statement))


def read_all(database: Database) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table."""
    with database.read() as session:
        names = sorted(inspect(session.connection()).get_table_names())
        return {
            name: sorted(
                (tuple(row) for row in session.connection().execute(text(f"SELECT * FROM {name}"))), key=repr
            )
            for name in names
        }


def test_the_migrations_make_exactly_the_tables(database: Database) -> None:
    with database.read() as session:
        context = MigrationContext.configure(
            session.connection(), opts={"compare_type": True, "compare_server_default": False}
        )
        assert compare_metadata(context, SQLModel.metadata) == []


def test_every_check_of_the_tables_is_in_the_database(database: Database) -> None:
    with database.read() as session:
        found = inspect(session.connection())
        for name, table in SQLModel.metadata.tables.items():
            declared = {str(item.name) for item in table.constraints if isinstance(item, CheckConstraint)}
            assert {str(item["name"]) for item in found.get_check_constraints(name)} == declared, name


def test_upgrading_again_changes_nothing(database: Database) -> None:
    JudgedWorld(database).person("花子")
    before = read_all(database)
    upgrade_schema(database)
    assert read_all(database) == before
    assert len(before["alembic_version"]) == 1


def test_a_database_of_a_newer_program_is_refused_and_left_as_it_was(database: Database) -> None:
    JudgedWorld(database)
    run(database, "UPDATE alembic_version SET version_num = '9999'")
    before = read_all(database)
    with pytest.raises(
        StateError, match=r"newer version of this program .*schema is 9999.*Nothing was changed"
    ):
        upgrade_schema(database)
    assert read_all(database) == before


def test_a_migration_that_fails_half_way_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(f"sqlite:///{tmp_path / 'new.db'}")
    upgrade = schema.command.upgrade

    def fail_at_the_end(*args: object) -> None:
        upgrade(*args)
        raise RuntimeError

    monkeypatch.setattr(schema.command, "upgrade", fail_at_the_end)
    with pytest.raises(RuntimeError):
        upgrade_schema(database)
    monkeypatch.undo()
    assert read_all(database) == {}
    upgrade_schema(database)
    assert "judgment" in read_all(database)
    database.dispose()
