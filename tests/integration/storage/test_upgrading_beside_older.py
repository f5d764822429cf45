"""An upgrade beside servers of the version before: only if each migration is one with which they can go on."""

import os
import shutil
from pathlib import Path

import pytest
from sqlalchemy import text

from annotator.domain.errors import StateError
from annotator.storage import schema
from annotator.storage.database import Database, find_newest_revision, name_connection
from annotator.storage.schema import list_migrations, upgrade_schema

LATER = """
import sqlalchemy as sa
from alembic import op
revision, down_revision, branch_labels, depends_on = '9998', {last!r}, None, None


def upgrade():
    op.create_table('later', sa.Column('pk', sa.Integer, primary_key=True))
"""


@pytest.fixture
def later(empty_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Database:
    """A database of the present schema, and a program that knows one more."""
    upgrade_schema(empty_database)
    folder = tmp_path / "migrations"
    shutil.copytree(schema.MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    last = list_migrations()[-1].revision
    (folder / "versions" / "9998_later.py").write_text(LATER.format(last=last), encoding="utf-8")
    monkeypatch.setattr(schema, "MIGRATIONS", folder)
    return empty_database


def connect(database: Database, name: str) -> Database:
    """Another program that is connected under this name. SQLite knows no names."""
    url = database.url if database.is_sqlite else database.url.update_query_dict({"application_name": name})
    return Database(url)


def test_connections_have_the_name_of_the_schema_that_their_program_knows(empty_database: Database) -> None:
    assert name_connection().startswith(f"annotator {find_newest_revision()} {os.getpid()} ")
    assert find_newest_revision() == list_migrations()[-1].revision
    if empty_database.is_sqlite:
        return
    with empty_database.read() as session:
        assert session.scalar(text("SELECT current_setting('application_name')")) == name_connection()
    named = connect(empty_database, "mine")
    with named.read() as session:
        assert session.scalar(text("SELECT current_setting('application_name')")) == "mine"
    named.dispose()


def test_an_upgrade_that_does_not_roll_is_refused_while_an_older_program_is_connected(
    later: Database,
) -> None:
    older = connect(later, "annotator 0026 4711 app-2")
    with older.read() as session:
        if later.is_sqlite:  # one machine: docs/operations.md says to stop the server
            session.scalar(text("SELECT 1"))
        else:
            with pytest.raises(StateError, match="process and machine: 4711 app-2") as refused:
                upgrade_schema(later)
            assert "Nothing was changed" in str(refused.value)
            assert schema.find_revision(session) == find_newest_revision()
    older.dispose()
    upgrade_schema(later)
    with later.read() as session:
        assert schema.find_revision(session) == "9998"


def test_an_upgrade_that_rolls_and_programs_that_are_no_older_ones_are_let_through(
    later: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = [
        connect(later, name) for name in ("annotator 9998 1 app-2", "psql", "annotator 0026 4711 app-2")
    ]
    monkeypatch.setattr(schema, "ROLLING", frozenset({"9998"}))
    opened = [other.engine.connect() for other in others]
    upgrade_schema(later)
    for connection, other in zip(opened, others, strict=True):
        connection.close()
        other.dispose()
    with later.read() as session:
        assert schema.find_revision(session) == "9998"


def test_migrations_roll_only_where_it_is_said_and_none_is_named_that_is_not_there() -> None:
    known = list_migrations()
    assert {item.revision for item in known} >= schema.ROLLING
    assert {item.revision for item in known if item.rolls} == schema.ROLLING
