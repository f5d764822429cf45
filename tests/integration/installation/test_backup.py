"""A backup made while people label is one moment of the database, and a restore brings all of it back, or nothing."""

import json
import os
import shutil
import sqlite3
import threading
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url
from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.domain.errors import BadInput, ConflictError, StateError
from annotator.formats.syntax.partial_files import SUFFIX
from annotator.installation import backup_file
from annotator.installation.backup_file import find_program
from annotator.installation.copy_service import copy_installation
from annotator.installation.records import SHORT_LIVED, BackupReport, RestoreReport
from annotator.installation.service import BackupFolders, restore_backup, split_secrets, write_backup
from annotator.installation.tables_sql import list_broken_references, list_table_names
from annotator.storage import schema
from annotator.storage.database import Database
from annotator.storage.judgments.current_judgments import derive_current
from annotator.storage.judgments.missing_judgments import derive_work
from annotator.storage.pairs.disagreements import derive_disagreements
from annotator.storage.schema import upgrade_schema
from tests import kept_databases
from tests.browser.warm_server import start_process
from tests.databases import CopyDatabase, _run
from tests.integration.installation.hashes import hash_tables
from tests.integration.installation.killed import act_until_killed
from tests.integration.judged_world import NOW
from tests.integration.labeling_world import World

MakeTarget = Callable[[], Database]
DERIVED = ("current_judgment", "query_work", "query_answers", "dispute", "pair", "current_adjudication")


@pytest.fixture
def make_target(
    request: pytest.FixtureRequest, copy_database: CopyDatabase, tmp_path: Path
) -> Iterator[MakeTarget]:
    """Makes empty databases of the kind that the test runs on."""
    is_sqlite = copy_database.__name__ == "copy_file"
    made: list[Database] = []

    def make() -> Database:
        if is_sqlite:
            made.append(Database(f"sqlite:///{tmp_path / f'restored-{len(made)}.db'}"))
        else:
            base, name = request.getfixturevalue("postgres_url"), f"restored_{len(made)}"
            _run(base, f"CREATE DATABASE {name}")
            made.append(Database(make_url(base).set(database=name)))
        return made[-1]

    yield make
    for opened in made:
        opened.dispose()
        if not is_sqlite:
            _run(request.getfixturevalue("postgres_url"), f"DROP DATABASE {opened.url.database} WITH (FORCE)")


@pytest.fixture
def save(folders: BackupFolders, pg_bin: Path) -> Callable[[Database, Path], BackupReport]:
    def write(database: Database, path: Path) -> BackupReport:
        return write_backup(database, path, folders, programs=pg_bin, now=NOW, progress=lambda *_: None)

    return write


@pytest.fixture
def bring_back(tmp_path: Path, pg_bin: Path) -> Callable[[Path, Database], RestoreReport]:
    """Restores into a database, and into new folders."""

    def restore(path: Path, database: Database) -> RestoreReport:
        new = BackupFolders(tmp_path / "new" / "exports", tmp_path / "new" / "fetched-runs")
        return restore_backup(path, database, new, programs=pg_bin, now=NOW, progress=lambda *_: None)

    return restore


def holds_nothing(database: Database) -> bool:
    if database.is_sqlite:
        return not Path(str(database.url.database)).exists()
    with database.read() as session:
        return list_table_names(session) == []


def list_files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def change_member(path: Path, name: str, change: Callable[[bytes], bytes]) -> None:
    """Write the zip again with one member changed."""
    with zipfile.ZipFile(path) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    members[name] = change(members[name])
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)


def act_and_die(
    act: str, moment: str, database: Database, path: Path, folders: BackupFolders, pg_bin: Path
) -> None:
    """Back up or restore in a process of its own, which kills itself at this moment."""
    errors = path.with_name("stderr.txt")
    process = start_process(
        act_until_killed,
        act,
        moment,
        database.url.render_as_string(hide_password=False),
        str(path),
        (str(folders.exports), str(folders.fetched_runs)),
        str(pg_bin),
        NOW.isoformat(),
        str(errors),
    )
    process.join()
    assert process.exitcode == -9, errors.read_text(encoding="utf-8")


def list_partials(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if SUFFIX in path.name]


@pytest.mark.parametrize("step", range(3))
def test_what_a_killed_backup_leaves_is_gone_after_the_next_one(
    rich: Database, tmp_path: Path, save: Any, folders: BackupFolders, pg_bin: Path, step: int
) -> None:
    moment = ("database", "check_file" if rich.is_sqlite else "count_rows", "add_folder")[step]
    saved = tmp_path / "saved"
    saved.mkdir()
    act_and_die("backup", moment, rich, saved / "monday.backup", folders, pg_bin)
    assert list_partials(saved) and not (saved / "monday.backup").exists()
    save(rich, saved / "tuesday.backup")
    assert sorted(path.name for path in saved.iterdir()) == ["stderr.txt", "tuesday.backup"]


@pytest.mark.parametrize("moment", ["database", "_compare", "_finish"])
def test_what_a_killed_restore_leaves_is_gone_after_the_next_one(
    rich: Database,
    tmp_path: Path,
    save: Any,
    pg_bin: Path,
    make_target: MakeTarget,
    bring_back: Any,
    moment: str,
) -> None:
    path = tmp_path / "a.backup"
    save(rich, path)
    new = BackupFolders(tmp_path / "new" / "exports", tmp_path / "new" / "fetched-runs")
    target = make_target()
    act_and_die("restore", moment, target, path, new, pg_bin)
    assert list_partials(tmp_path)
    assert not [file for file in list_files(tmp_path / "new") if SUFFIX not in str(file)]
    if not target.is_sqlite and moment != "database":
        target = make_target()  # PostgreSQL has the rows already: an operator takes another database
    assert holds_nothing(target)
    bring_back(path, target)
    assert not list_partials(tmp_path)
    assert hash_tables(target).keys() == hash_tables(rich).keys()
    assert list_files(tmp_path / "new")


def test_a_backup_under_load_holds_every_judgment_acknowledged_before_it_and_is_one_moment(
    database: Database, tmp_path: Path, make_target: MakeTarget, pg_bin: Path
) -> None:
    world = World(database, queries=6, documents=10)
    people = [world.person(name) for name in ("花子", "민준", "amir")]
    with database.read() as session:
        keys = list(session.scalars(text("SELECT key FROM pair ORDER BY pk")))
    acknowledged: list[str] = []
    warm, done = threading.Barrier(len(people) + 1, timeout=60), threading.Event()

    def label(number: int) -> None:
        mine = World.__new__(
            World
        )  # the same dataset through connections of its own, as other processes have
        mine.database, mine.now, mine.sent = Database(database.url), world.now, number * 1_000_000
        for turn in range(100_000):
            event = mine.event(keys[(turn * 7 + number) % len(keys)], turn % 4)
            acknowledged.extend(mine.send(people[number], event).acknowledged)
            if turn == 5:
                warm.wait()
            if turn > 5 and done.is_set():
                break
        mine.database.dispose()

    path = tmp_path / "under-load.backup"
    with ThreadPoolExecutor(len(people)) as threads:
        writers = [threads.submit(label, number) for number in range(len(people))]
        warm.wait()
        before = set(acknowledged)
        report = write_backup(
            database, path, BackupFolders(None, None), programs=pg_bin, now=NOW, progress=lambda *_: None
        )
        done.set()
        for writer in writers:
            writer.result()
    target = make_target()
    restore_backup(
        path, target, BackupFolders(None, None), programs=pg_bin, now=NOW, progress=lambda *_: None
    )
    with target.read() as session:
        stored = list(session.scalars(text("SELECT event_id FROM judgment")))
        assert list_broken_references(session, list_table_names(session)) == []
    assert len(before) >= 18 and before <= set(stored) <= set(acknowledged)
    assert len(set(stored)) == len(stored) == report.manifest.tables["judgment"]
    assert len(stored) < len(acknowledged)  # people went on while it was made
    first = hash_tables(target)
    with target.write() as session:
        derive_current(session, 1)
        derive_work(session, 1)
        derive_disagreements(session, 1)
    again = hash_tables(target)
    assert {name: again[name] for name in DERIVED} == {name: first[name] for name in DERIVED}


def test_a_restored_installation_is_the_same_but_nobody_is_signed_in_and_links_are_void(
    rich: Database,
    folders: BackupFolders,
    tmp_path: Path,
    make_target: MakeTarget,
    save: Any,
    bring_back: Any,
) -> None:
    report = save(rich, tmp_path / "a.backup")
    target = make_target()
    restored = bring_back(tmp_path / "a.backup", target)
    expected, found = hash_tables(rich), hash_tables(target)
    changed = {*SHORT_LIVED, "one_time_link"}
    assert {name: found[name] for name in found if name not in changed} == {
        name: expected[name] for name in expected if name not in changed
    }
    with target.read() as session:
        for table in SHORT_LIVED:
            assert session.scalar(text(f"SELECT count(*) FROM {table}")) == 0
        assert session.scalar(text("SELECT count(*) FROM one_time_link WHERE revoked_at IS NOT NULL")) == 1
    assert (restored.releases, restored.fetched_runs, restored.withdrawn_links) == (1, 1, 1)
    assert restored.migrated_to is None and report.manifest.problems == ()
    saved = {
        path.relative_to(tmp_path).as_posix(): path.read_bytes()
        for path in tmp_path.glob("exports/**/*")
        if path.is_file()
    }
    again = {path.relative_to(tmp_path / "new").as_posix(): path.read_bytes()
             for path in (tmp_path / "new").glob("exports/**/*") if path.is_file()}  # fmt: skip
    assert saved == again and len(saved) > 10
    assert (tmp_path / "new/fetched-runs/検索/bm25.jsonl").exists()
    with pytest.raises(Exception, match="append-only"), target.write() as session:
        session.execute(text("DELETE FROM judgment"))


def test_a_backup_holds_no_session_not_even_in_free_pages_and_is_for_its_owner_only(
    rich: Database, tmp_path: Path, save: Any
) -> None:
    save(rich, tmp_path / "a.backup")
    assert (tmp_path / "a.backup").stat().st_mode & 0o077 == 0
    with zipfile.ZipFile(tmp_path / "a.backup") as archive:
        content = b"".join(archive.read(name) for name in archive.namelist())
    assert b"f" * 64 not in content
    assert [path.name for path in tmp_path.glob(".*")] == []


def test_a_backup_file_that_exists_is_never_written_over(rich: Database, tmp_path: Path, save: Any) -> None:
    (tmp_path / "a.backup").write_text("mine")
    with pytest.raises(ConflictError, match="exists already"):
        save(rich, tmp_path / "a.backup")
    assert (tmp_path / "a.backup").read_text() == "mine"
    assert [path.name for path in tmp_path.glob(".*")] == []


def test_a_release_that_is_not_as_it_was_published_is_a_problem_of_the_backup(
    rich: Database, folders: BackupFolders, tmp_path: Path, save: Any
) -> None:
    (folder,) = (path.parent for path in (folders.exports or Path()).glob("*/*/manifest.json"))
    (folder / "qrels.trec.txt").write_text("Q1 0 d 3\n")
    (folder / "ranked.json").unlink()
    (folder / "added.txt").write_text("?")
    problems = save(rich, tmp_path / "a.backup").manifest.problems
    assert sorted(problem.partition("1.0.0: ")[2] for problem in problems) == [
        "added.txt was not published with it",
        "qrels.trec.txt is not the file that was published",
        "ranked.json is missing",
    ]
    shutil.rmtree(folder)
    (problem,) = save(rich, tmp_path / "b.backup").manifest.problems
    assert "its folder is missing" in problem


@pytest.mark.parametrize("member", ["database", "exports", "manifest.json"])
def test_a_damaged_backup_is_refused_and_nothing_is_restored(
    member: str, rich: Database, tmp_path: Path, make_target: MakeTarget, save: Any, bring_back: Any
) -> None:
    path = tmp_path / "a.backup"
    save(rich, path)
    with zipfile.ZipFile(path) as archive:
        (name, *_) = [name for name in archive.namelist() if name.startswith(member)]
    change_member(path, name, lambda content: content[:-9] + b"\x00" + content[-8:])
    target = make_target()
    with pytest.raises(BadInput):
        bring_back(path, target)
    assert holds_nothing(target) and list_files(tmp_path / "new") == []


def test_another_count_than_the_manifests_is_refused_and_nothing_is_restored(
    rich: Database, tmp_path: Path, make_target: MakeTarget, save: Any, bring_back: Any
) -> None:
    path = tmp_path / "a.backup"
    save(rich, path)

    def add_one(content: bytes) -> bytes:
        manifest = json.loads(content)
        manifest["tables"]["judgment"] += 1
        return json.dumps(manifest).encode()

    change_member(path, "manifest.json", add_one)
    target = make_target()
    with pytest.raises(StateError, match="judgment: 14 rows in the backup, 13 restored"):
        bring_back(path, target)
    assert holds_nothing(target) and list_files(tmp_path / "new") == []


def test_a_target_with_content_is_refused_and_empty_tables_are_none(
    rich: Database, tmp_path: Path, make_target: MakeTarget, save: Any, bring_back: Any
) -> None:
    path = tmp_path / "a.backup"
    save(rich, path)
    before = hash_tables(rich)
    with pytest.raises(StateError, match="found"):
        bring_back(path, rich)
    assert hash_tables(rich) == before
    target = make_target()
    upgrade_schema(target)
    target.dispose()
    release = tmp_path / "new" / "exports" / "検索-법령" / "1.0.0"
    release.mkdir(parents=True)
    with pytest.raises(StateError, match="expected no folder"):
        bring_back(path, target)
    release.rmdir()
    bring_back(path, target)
    assert hash_tables(target)["judgment"] == before["judgment"]


def test_a_failure_at_the_end_takes_everything_back(
    rich: Database,
    tmp_path: Path,
    make_target: MakeTarget,
    save: Any,
    bring_back: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "a.backup"
    save(rich, path)
    target = make_target()
    rename, renamed = os.rename, []

    def fail_at_the_second(source: Any, place: Any) -> None:
        renamed.append(place)
        if len(renamed) == 2:
            raise OSError(28, "No space left on device")
        rename(source, place)

    monkeypatch.setattr(os, "rename", fail_at_the_second)
    with pytest.raises(OSError, match="No space"):
        bring_back(path, target)
    assert holds_nothing(target)
    assert list_files(tmp_path / "new") == []


def test_an_older_backup_is_restored_and_migrated_and_a_newer_one_refused(
    empty_database: Database,
    tmp_path: Path,
    pg_bin: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    kept_databases.load(empty_database, sorted(path.name for path in kept_databases.KEPT.iterdir())[0])
    expected = kept_databases.read_expected
    nothing = BackupFolders(None, None)
    path = tmp_path / "old.backup"
    write_backup(empty_database, path, nothing, programs=pg_bin, now=NOW, progress=lambda *_: None)
    folder = tmp_path / "migrations"
    shutil.copytree(schema.MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    last = schema.list_migrations()[-1].revision
    (folder / "versions" / "9998_later.py").write_text(
        f"from alembic import op\nrevision, down_revision, branch_labels, depends_on = '9998', {last!r}, None, None\n"
        "def upgrade():\n    op.execute(\"UPDATE person SET language = 'ko'\")\n"
    )
    monkeypatch.setattr(schema, "MIGRATIONS", folder)
    if empty_database.is_sqlite:
        target = Database(f"sqlite:///{tmp_path / 'new.db'}")
    else:
        base = request.getfixturevalue("postgres_url")
        _run(base, "CREATE DATABASE from_old")
        target = Database(make_url(base).set(database="from_old"))
    report = restore_backup(path, target, nothing, programs=pg_bin, now=NOW, progress=lambda *_: None)
    assert report.migrated_to == "9998"
    with target.read() as session:
        assert set(session.scalars(text("SELECT language FROM person"))) == {"ko"}
    newer = tmp_path / "newer.backup"
    write_backup(target, newer, nothing, programs=pg_bin, now=NOW, progress=lambda *_: None)
    assert expected(target)["judgments"] == expected(empty_database)["judgments"]
    monkeypatch.undo()
    target.dispose()
    if not empty_database.is_sqlite:
        _run(request.getfixturevalue("postgres_url"), "DROP DATABASE from_old WITH (FORCE)")
    with pytest.raises(StateError, match="a newer program made the backup"):
        restore_backup(newer, target, nothing, programs=pg_bin, now=NOW, progress=lambda *_: None)


def test_a_backup_of_the_other_kind_is_refused_with_the_way_to_move_it(
    rich: Database, tmp_path: Path, save: Any, pg_bin: Path, postgres_url: str
) -> None:
    save(rich, tmp_path / "a.backup")
    other = Database(postgres_url if rich.is_sqlite else f"sqlite:///{tmp_path / 'other.db'}")
    with pytest.raises(StateError, match="annotator copy --to URL"):
        restore_backup(
            tmp_path / "a.backup",
            other,
            BackupFolders(None, None),
            programs=pg_bin,
            now=NOW,
            progress=lambda *_: None,
        )
    other.dispose()


def test_the_commands_report_as_json_and_end_with_3_for_a_damaged_release(
    rich: Database,
    folders: BackupFolders,
    tmp_path: Path,
    make_target: MakeTarget,
    pg_bin: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANNOTATOR_EXPORTS_DIR", str(folders.exports))
    monkeypatch.setenv("ANNOTATOR_FETCHED_RUNS_DIR", str(folders.fetched_runs))
    monkeypatch.setenv("ANNOTATOR_PG_BIN", str(pg_bin))
    url, path = rich.url.render_as_string(hide_password=False), str(tmp_path / "a.backup")
    done = CliRunner().invoke(app, ["backup", path, "--json", "--database", url])
    saved = json.loads(done.stdout)
    assert done.exit_code == 0 and saved["tables"]["judgment"] == 13 and saved["releases"] == 1
    target = make_target().url.render_as_string(hide_password=False)
    monkeypatch.setenv("ANNOTATOR_FETCHED_RUNS_DIR", str(tmp_path / "runs"))
    done = CliRunner().invoke(
        app, ["restore", path, "--json", "--database", target, "--exports", str(tmp_path / "elsewhere")]
    )
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["tables"] == saved["tables"]
    assert (tmp_path / "elsewhere" / "検索-법령" / "1.0.0" / "SHA256SUMS").exists()
    shutil.rmtree(folders.exports or "")
    done = CliRunner().invoke(app, ["backup", str(tmp_path / "b.backup"), "--database", url])
    assert done.exit_code == 3 and "its folder is missing" in done.stderr
    done = CliRunner().invoke(app, ["backup", str(tmp_path / "c.backup"), "--no-exports", "--database", url])
    assert done.exit_code == 0 and "0 releases" in done.stdout


def test_a_damaged_or_missing_sqlite_database_is_not_saved(tmp_path: Path, save: Any) -> None:
    missing = Database(f"sqlite:///{tmp_path / 'none.db'}")
    with pytest.raises(StateError, match="found none"):
        save(missing, tmp_path / "a.backup")
    path = tmp_path / "odd.db"
    database = Database(f"sqlite:///{path}")
    kept_databases.fill(database, tmp_path / "exports")
    database.dispose()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE provenance SET pair_pk = 999 WHERE pair_pk = 1")
        connection.commit()
    with pytest.raises(StateError, match="a row of provenance names no row of pair"):
        save(database, tmp_path / "b.backup")
    assert list(tmp_path.glob("*.backup")) == [] and not (tmp_path / "none.db").exists()
    database.dispose()


def test_pg_dump_must_be_as_new_as_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backup_file, "DEBIAN", tmp_path / "none")
    for name, version in (("old", 15), ("new", 18)):
        program = tmp_path / name / "pg_dump"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\necho 'pg_dump (PostgreSQL) {version}.4 (Debian)'\n")
        program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path / 'old'}:/bin")
    with pytest.raises(
        StateError,
        match=r"pg_dump of PostgreSQL 16 or newer.*is of version 15.*postgresql-client-16.*--pg-bin",
    ):
        find_program("pg_dump", 16, None)
    assert find_program("pg_dump", 15, None) == tmp_path / "old" / "pg_dump"
    assert find_program("pg_dump", 16, tmp_path / "new") == tmp_path / "new" / "pg_dump"
    with pytest.raises(StateError, match="none in"):
        find_program("pg_restore", 16, tmp_path / "new")


def test_a_password_never_is_in_a_command_line() -> None:
    url = make_url("postgresql+psycopg://me:s%40cret@host:5433/name?sslmode=require")
    plain, secrets = split_secrets(url)
    assert plain == "postgresql://me@host:5433/name?sslmode=require" and secrets == {"PGPASSWORD": "s@cret"}
    plain, secrets = split_secrets(make_url("postgresql+psycopg://me@host/name?password=cret"))
    assert "cret" not in plain and secrets == {"PGPASSWORD": "cret"}
    with pytest.raises(StateError, match="sslpassword"):
        split_secrets(make_url("postgresql+psycopg://me@host/name?sslpassword=x"))


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "exports/../../evil", "exports\\..\\evil"])
def test_a_member_outside_its_folders_is_refused(
    name: str, tmp_path: Path, save: Any, bring_back: Any
) -> None:
    database = Database(f"sqlite:///{tmp_path / 'a.db'}")
    kept_databases.fill(database, tmp_path / "exports")
    path = tmp_path / "a.backup"
    save(database, path)

    def name_it(content: bytes) -> bytes:
        manifest = json.loads(content)
        manifest["members"].append(
            {
                "path": name,
                "bytes": 0,
                "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            }
        )
        return json.dumps(manifest).encode()

    change_member(path, "manifest.json", name_it)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(name, b"")
    with pytest.raises(BadInput, match="paths below"):
        bring_back(path, Database(f"sqlite:///{tmp_path / 'b.db'}"))
    database.dispose()


def test_a_release_that_is_being_recorded_is_not_in_a_backup_and_no_copy_is_made_meanwhile(
    tmp_path: Path, save: Any, bring_back: Any
) -> None:
    """SQLite records a large release in parts: its rows come before their release."""
    path = tmp_path / "a.db"
    database = Database(f"sqlite:///{path}")
    kept_databases.fill(database, tmp_path / "exports")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO release_recording VALUES (2, 1, '2026-03-04 05:06:07.000000')")
        connection.execute(
            "INSERT INTO release_query (release_pk, position, query_id, text) VALUES (2, 0, 'Q1', '')"
        )
        connection.commit()
    restored = Database(f"sqlite:///{tmp_path / 'b.db'}")
    save(database, tmp_path / "a.backup")
    bring_back(tmp_path / "a.backup", restored)
    with restored.read() as session:
        assert list(session.scalars(text("SELECT DISTINCT release_pk FROM release_query"))) == [1]
        assert list_broken_references(session, list_table_names(session)) == []
    with database.read() as session:
        assert list_broken_references(session, list_table_names(session)) == []  # as it should be for now
    with pytest.raises(StateError, match="a release is being published"):
        copy_installation(database, Database(f"sqlite:///{tmp_path / 'c.db'}"), lambda *_: None)
    database.dispose()
    restored.dispose()
