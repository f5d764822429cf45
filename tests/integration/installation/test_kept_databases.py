"""Every later version migrates the databases of earlier ones, and a migration that fails leaves everything as it was."""

import json
import shutil
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import inspect, text

from annotator.domain.people import Actor
from annotator.installation.tables_sql import count_rows, list_tables
from annotator.labeling.service import submit_judgments
from annotator.storage import schema
from annotator.storage.database import Database
from annotator.storage.schema import list_migrations, upgrade_schema
from annotator.storage.tables.labeling import LeaseRow
from tests import kept_databases
from tests.integration.storage.test_schema import read_all

VERSIONS = sorted(path.name for path in kept_databases.KEPT.iterdir())
BREAKS = """
from alembic import op
revision, down_revision, branch_labels, depends_on = '9999', '9998', None, None


def upgrade():
    op.execute("UPDATE person SET name = 'half'")
    op.execute("ALTER TABLE question DROP COLUMN answer")
    raise RuntimeError('the disk is full')
"""
CHANGES = """
import sqlalchemy as sa
from alembic import op
revision, down_revision, branch_labels, depends_on = '9998', {last!r}, None, None


def upgrade():
    op.create_table('later', sa.Column('pk', sa.Integer, primary_key=True))
    op.execute("INSERT INTO later (pk) VALUES (1)")
    with op.batch_alter_table('person') as batch:
        batch.add_column(sa.Column('later', sa.Text))
    op.execute("DROP INDEX ix_dispute_query_pk")
"""


def describe(database: Database) -> dict[str, object]:
    """Every column and index of every table."""
    with database.read() as session:
        inspector = inspect(session.connection())
        return {
            name: (
                [(column["name"], str(column["type"])) for column in inspector.get_columns(name)],
                sorted(str(index["name"]) for index in inspector.get_indexes(name)),
            )
            for name in sorted(inspector.get_table_names())
        }


@pytest.fixture
def failing_migrations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two migrations after the newest: one changes much, the next one fails in its middle."""
    folder = tmp_path / "migrations"
    shutil.copytree(schema.MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    last = list_migrations()[-1].revision
    (folder / "versions" / "9998_changes.py").write_text(CHANGES.format(last=last), encoding="utf-8")
    (folder / "versions" / "9999_breaks.py").write_text(BREAKS, encoding="utf-8")
    monkeypatch.setattr(schema, "MIGRATIONS", folder)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_database_of_a_released_version_is_migrated_and_keeps_what_counts(
    version: str, empty_database: Database
) -> None:
    expected = json.loads((kept_databases.KEPT / version / "expected.json").read_text(encoding="utf-8"))
    kept_databases.load(empty_database, version)
    upgrade_schema(empty_database)
    assert kept_databases.read_expected(empty_database) == expected
    assert len(expected["judgments"]) > 10 and expected["releases"] and expected["decisions"]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_kept_database_has_rows_in_every_table_of_its_time(version: str, empty_database: Database) -> None:
    kept_databases.load(empty_database, version)
    with empty_database.read() as session:
        names = inspect(session.connection()).get_table_names()
        empty = {name for name, rows in count_rows(session, names).items() if not rows}
    assert empty <= set(kept_databases.EMPTY)
    assert len(names) > 50


def test_the_database_of_this_version_would_have_rows_in_every_table(rich: Database) -> None:
    with rich.read() as session:
        counts = count_rows(session, [table.name for table in list_tables()])
    assert [name for name, rows in counts.items() if not rows] == list(kept_databases.EMPTY)


@pytest.mark.usefixtures("failing_migrations")
def test_a_migration_that_fails_in_the_middle_leaves_rows_tables_and_revision(
    empty_database: Database,
) -> None:
    kept_databases.load(empty_database, VERSIONS[-1])
    before = read_all(empty_database), describe(empty_database)
    with pytest.raises(RuntimeError, match="the disk is full"):
        upgrade_schema(empty_database)
    assert (read_all(empty_database), describe(empty_database)) == before
    (schema.MIGRATIONS / "versions" / "9999_breaks.py").unlink()
    upgrade_schema(empty_database)  # nothing of the failed attempt is in the way
    with empty_database.read() as session:
        assert session.scalar(text("SELECT pk FROM later")) == 1


@pytest.mark.parametrize("version", VERSIONS)
def test_what_open_browsers_hold_is_stored_after_the_upgrade(version: str, empty_database: Database) -> None:
    """Pairs on a running and on an expired lease, and own answers. Of a dataset without training, like most."""
    kept_databases.load(empty_database, version)
    now = kept_databases.AT + timedelta(days=1)
    with empty_database.write() as session:
        session.execute(text("DELETE FROM check_pair"))
        session.execute(text("DELETE FROM lease"))
        name, person_pk, username = session.execute(
            text(
                "SELECT d.name, e.pk, e.username FROM membership m JOIN dataset d ON d.pk = m.dataset_pk JOIN person e ON e.pk = m.person_pk "
                "WHERE m.role = 'annotator' AND e.disabled_at IS NULL AND m.categories IS NULL AND EXISTS (SELECT 1 FROM current_judgment c "
                "  WHERE c.annotator_pk = e.pk AND c.dataset_pk = d.pk) ORDER BY e.pk"
            )
        ).first() or pytest.fail("no annotator with a judgment")
        pairs = session.execute(
            text(
                "SELECT p.pk, p.key, EXISTS (SELECT 1 FROM judgment j WHERE j.pair_pk = p.pk AND j.annotator_pk = :who) FROM pair p "
                "JOIN dataset d ON d.pk = p.dataset_pk WHERE d.name = :name AND p.retired_at IS NULL "
                "AND NOT EXISTS (SELECT 1 FROM current_adjudication a WHERE a.pair_pk = p.pk) "
                "AND NOT EXISTS (SELECT 1 FROM assignment s WHERE s.query_pk = p.query_pk AND s.person_pk <> :who) "
                "AND NOT EXISTS (SELECT 1 FROM disclosure s WHERE s.pair_pk = p.pk AND s.person_pk = :who) ORDER BY p.pk"
            ),
            {"name": name, "who": person_pk},
        ).all()
        own = next(key for _, key, answered in pairs if answered)
        running, expired = [(pk, key) for pk, key, answered in pairs if not answered][:2]
        for (pk, _), hours in ((running, 1), (expired, -20)):
            session.add(
                LeaseRow(pair_pk=pk, annotator_pk=person_pk, expires_at=now + timedelta(hours=hours), tab="t")
            )
    upgrade_schema(empty_database)
    events = [
        {"id": str(uuid4()), "pair": key, "outcome": "graded", "grade": 2, "pressed_at": now.isoformat()}
        for key in (own, running[1], expired[1], "0" * 24)
    ]
    actor = Actor(person_pk, username)
    response = submit_judgments(empty_database, actor, name, events=events, have=[], want=0, now=now)
    assert response.acknowledged == tuple(event["id"] for event in events[:3]), response.refused
    assert [refusal.code for refusal in response.refused] == ["not_in_pool"]
