"""`annotator check-upgrade` says what an upgrade would do and whether it can, and changes nothing."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import text
from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.installation.service import BackupFolders, write_backup
from annotator.storage import schema
from annotator.storage.database import Database
from annotator.storage.schema import list_migrations
from tests import kept_databases
from tests.integration.judged_world import NOW
from tests.integration.storage.test_schema import read_all

LATER = '''"""Every annotator has a language

More that nobody needs to read here.
"""
import sqlalchemy as sa
from alembic import op
revision, down_revision, branch_labels, depends_on = '9998', {last!r}, None, None


def upgrade():
    op.execute("UPDATE person SET language = 'en' WHERE language IS NULL")
    op.create_index('uq_later', 'person', ['language'], unique={unique})
'''


def add_migration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, unique: bool = False) -> None:
    """One migration more; `unique`: one that the rows do not allow."""
    folder, last = tmp_path / "migrations", list_migrations()[-1].revision
    shutil.copytree(schema.MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "versions" / "9998_later.py").write_text(LATER.format(last=last, unique=unique))
    monkeypatch.setattr(schema, "MIGRATIONS", folder)


def check(database: Database, *options: str) -> tuple[int, dict[str, Any], str]:
    url = database.url.render_as_string(hide_password=False)
    done = CliRunner().invoke(app, ["check-upgrade", "--json", *options, "--database", url])
    return done.exit_code, json.loads(done.stdout), done.stderr


def test_with_the_present_schema_there_is_nothing_to_do(rich: Database) -> None:
    code, report, _ = check(rich)
    assert (code, report["ready"], report["migrations"]) == (0, True, [])
    assert report["schema"] == report["needed"] == list_migrations()[-1].revision
    url = rich.url.render_as_string(hide_password=False)
    assert "Nothing to do." in CliRunner().invoke(app, ["check-upgrade", "--database", url]).stdout


def test_pending_migrations_are_listed_and_rehearsed_and_nothing_is_changed(
    rich: Database, tmp_path: Path, pg_bin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.backup"
    write_backup(rich, path, BackupFolders(None, None), programs=pg_bin, now=NOW, progress=lambda *_: None)
    add_migration(tmp_path, monkeypatch)
    before, files = read_all(rich), sorted(tmp_path.iterdir())
    code, report, _ = check(rich, "--rehearse", "--backup", str(path))
    assert (code, report["ready"], report["rehearsed"]) == (0, True, True)
    assert report["migrations"] == [
        {"revision": "9998", "summary": "Every annotator has a language", "rolls": False}
    ]
    assert report["rolling"] is False
    assert report["backup_at"] == "2026-03-04T05:06:07Z" and report["judgments_since"] == 0
    assert (report["free_bytes"] is None) == (not rich.is_sqlite) and report["bytes"] > 100_000
    assert read_all(rich) == before and sorted(tmp_path.iterdir()) == files
    url = rich.url.render_as_string(hide_password=False)
    shown = CliRunner().invoke(app, ["check-upgrade", "--database", url]).stdout
    assert "Every annotator has a language" in shown and "annotator backup FILE" in shown
    assert "Not rehearsed" in shown
    assert "Stop all servers first: those of the version before cannot go on after 9998." in shown
    monkeypatch.setattr(schema, "ROLLING", frozenset({"9998"}))
    assert check(rich)[1]["rolling"] is True
    shown = CliRunner().invoke(app, ["check-upgrade", "--database", url]).stdout
    assert "restarted with the new version one after the other" in shown


def test_a_rehearsal_finds_rows_that_a_migration_does_not_allow(
    rich: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_migration(tmp_path, monkeypatch, unique=True)
    before = read_all(rich)
    code, report, stderr = check(rich, "--rehearse")
    assert (code, report["ready"]) == (1, False)
    assert "the migrations fail on the present rows: IntegrityError" in stderr
    assert read_all(rich) == before


def test_the_schema_of_a_newer_program_is_refused(rich: Database) -> None:
    with rich.write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    code, report, stderr = check(rich)
    assert (code, report["ready"], report["migrations"]) == (1, False, [])
    assert "made by a newer version of this program" in stderr


def test_a_full_disk_and_broken_rows_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.db"
    database = Database(f"sqlite:///{path}")
    kept_databases.fill(database, tmp_path / "exports")
    add_migration(tmp_path, monkeypatch)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1_000_000))
    code, _, stderr = check(database)
    assert code == 1 and "has 1 MB left" in stderr
    monkeypatch.undo()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE provenance SET pair_pk = 999 WHERE pair_pk = 1")
        connection.commit()
    code, _, stderr = check(database)
    assert code == 1 and "a row of provenance names no row of pair" in stderr
    database.dispose()


def test_a_database_that_is_not_there_is_refused_and_not_made(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["check-upgrade", "--database", f"sqlite:///{tmp_path / 'none.db'}"])
    assert done.exit_code == 1 and not (tmp_path / "none.db").exists()
