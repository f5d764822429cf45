"""The migrations make exactly the tables of the program, and a newer database is left alone."""

import json
from datetime import datetime
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import CheckConstraint, inspect, text
from sqlalchemy.exc import IntegrityError
from sqlmodel import SQLModel

from annotator.audit.records import AuditFilter
from annotator.audit.service import iterate_audit_log, verify_audit_log
from annotator.domain.errors import StateError
from annotator.domain.people import OPERATOR
from annotator.storage.database import Database
from annotator.storage.schema import MIGRATIONS, list_migrations, upgrade_schema
from tests.integration.judged_world import NOW, JudgedWorld


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
        differences = compare_metadata(context, SQLModel.metadata)
    expected = (
        [] if database.is_sqlite else [("add_fk", "fk_provenance_pair_pk")]
    )  # checked by triggers there
    assert [(kind, item.name) for kind, item in differences] == expected


def test_every_check_of_the_tables_is_in_the_database(database: Database) -> None:
    with database.read() as session:
        inspector = inspect(session.connection())
        for name, table in SQLModel.metadata.tables.items():
            declared = {str(item.name) for item in table.constraints if isinstance(item, CheckConstraint)}
            assert {str(item["name"]) for item in inspector.get_check_constraints(name)} == declared, name


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
    upgrade = command.upgrade

    def fail_at_the_end(*args: object) -> None:
        upgrade(*args)
        raise RuntimeError

    monkeypatch.setattr(command, "upgrade", fail_at_the_end)
    with pytest.raises(RuntimeError):
        upgrade_schema(database)
    monkeypatch.undo()
    assert read_all(database) == {}
    upgrade_schema(database)
    assert "judgment" in read_all(database)
    database.dispose()


AT = "2026-01-02 03:04:05+00:00"
FIRST_ROWS = (
    ("dataset", {"pk": 1, "name": "d", "title": "法律 🔎", "overlap": 2, "kappa_target": 0.7, "lease_minutes": 60, "seed": 0,
                 "list_grade_0": False, "created_at": AT}),
    ("person", {"pk": 1, "username": "花子", "name": "", "must_change_password": False, "simulated": False, "created_at": AT}),
    ("rubric", {"pk": 1, "dataset_pk": 1, "version": 1, "title": "", "guideline": "", "grades": "[]", "created_at": AT}),
    ("query", {"pk": 1, "dataset_pk": 1, "position": 1, "query_id": "Q1", "text": "제17조", "extra": "{}"}),
    ("document", {"pk": 1, "dataset_pk": 1, "doc_id": "법률_제17조", "title": "", "media_type": "text/plain", "extra": "{}"}),
    ("pair", {"pk": 1, "dataset_pk": 1, "query_pk": 1, "document_pk": 1, "key": "k", "judged": 1, "created_at": AT}),
    ("judgment", {"pk": 1, "event_id": "e", "pair_pk": 1, "annotator_pk": 1, "rubric_pk": 1, "outcome": "graded", "grade": 3,
                  "purpose": "independent", "judged_at": AT, "received_at": AT, "seconds": 1.5}),
    ("current_judgment", {"pair_pk": 1, "annotator_pk": 1, "judgment_pk": 1, "dataset_pk": 1, "outcome": "graded", "grade": 3,
                          "purpose": "independent"}),
    ("release", {"pk": 1, "dataset_pk": 1, "version": "1.0.0", "created_at": AT, "note": "", "content_sha256": "0",
                 "sums": "", "manifest": "{}"}),
    ("release_qrel", {"release_pk": 1, "position": 0, "query_id": "Q1", "doc_id": "법률_제17조", "grade": 3, "origin": "single"}),
)  # fmt: skip


def test_a_database_of_the_first_schema_keeps_every_row_and_its_locks(empty_database: Database) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with empty_database.write() as session:
        config.attributes["connection"] = session.connection()
        command.upgrade(config, "0001")
        for table, values in FIRST_ROWS:
            placeholders = ", ".join(f":{name}" for name in values)
            statement = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({placeholders})"
            session.connection().execute(text(statement), values)
    before = read_all(empty_database)
    upgrade_schema(empty_database)
    after = read_all(empty_database)
    for table, _ in FIRST_ROWS:
        ((old,), (row,)) = before[table], after[table]
        assert row[: len(old)] == old, table
    with empty_database.read() as session:
        connection = session.connection()
        new = connection.execute(text("SELECT kept, retired_at FROM pair")).one()
        assert (bool(new[0]), new[1]) == (False, None)
        made = connection.execute(text("SELECT rubric_pk, seconds, made_at FROM current_judgment")).one()
        assert tuple(made) == (1, 1.5, int(datetime.fromisoformat(AT).timestamp()))
        assert connection.execute(text("SELECT change FROM rubric")).scalar_one() == "semantic"
        assert connection.execute(text("SELECT name, requirements FROM dataset")).one() == ("d", None)
        assert connection.execute(text("SELECT judgments, grade FROM release_qrel")).one() == (None, 3)
    for table in ("rubric", "judgment", "release", "release_qrel"):
        with pytest.raises(IntegrityError, match="append-only"):
            run(empty_database, f"DELETE FROM {table}")


def test_an_upgrade_of_an_earlier_schema_is_in_the_audit_log(
    empty_database: Database,
) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with empty_database.write() as session:
        config.attributes["connection"] = session.connection()
        command.upgrade(config, "0021")
    newest = list_migrations()[-1].revision
    for _ in range(2):  # the second time nothing is left to do
        upgrade_schema(empty_database, now=NOW)
        (entry,) = iterate_audit_log(empty_database, OPERATOR, AuditFilter())
    assert (entry.chained.action, entry.chained.actor_kind, entry.chained.at) == (
        "schema_migrated",
        "program",
        NOW,
    )
    assert json.loads(entry.chained.details) == {"earlier": "0021", "schema": newest}
    assert verify_audit_log(empty_database, OPERATOR).problem is None


def test_a_new_database_begins_with_an_empty_audit_log(empty_database: Database) -> None:
    upgrade_schema(empty_database, now=NOW)
    assert list(iterate_audit_log(empty_database, OPERATOR, AuditFilter())) == []


def test_a_schema_that_is_up_to_date_waits_for_nobody_who_writes(tmp_path: Path) -> None:
    writer = Database(f"sqlite:///{tmp_path / 'annotator.db'}")
    upgrade_schema(writer)
    reader = Database(writer.url, patience=0.05)
    with writer.write() as session:
        session.execute(text("SELECT 1"))
        upgrade_schema(reader)
    reader.dispose()
    writer.dispose()
