"""Write a backup of the whole installation while people work, and restore one: everything or nothing.

A backup holds the database at one moment, the folders of the releases in the database at that moment, and
fetched runs. Restoring requires an empty target. For the operator, who owns the database.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import text
from sqlalchemy.engine import URL
from sqlalchemy.orm import Session

from annotator import __version__
from annotator.domain.audit import AuditAction
from annotator.domain.errors import StateError
from annotator.domain.people import OPERATOR
from annotator.formats.syntax.partial_files import (
    hold_partial,
    hold_temporary_folder,
    name_partial,
    remove_abandoned,
)
from annotator.installation.backup_file import (
    DATABASE_MEMBER,
    EXPORTS,
    FETCHED_RUNS,
    BackupReader,
    BackupWriter,
    add_folder,
    add_release,
    dump_database,
    find_program,
    open_backup,
    open_partial_file,
    report_backup,
    restore_database,
)
from annotator.installation.records import (
    SHORT_LIVED,
    BackupManifest,
    BackupReport,
    ReportProgress,
    RestoreReport,
)
from annotator.installation.tables_sql import (
    analyze,
    check_file,
    clear_short_lived,
    copy_database,
    count_rows,
    drop_tables,
    find_content,
    list_broken_references,
    list_table_names,
    require_empty,
)
from annotator.storage.database import Database, find_sqlite_file, list_database_files
from annotator.storage.logs.audit_log import note_act
from annotator.storage.schema import describe_newer, find_revision, list_migrations, upgrade_schema

_KEPT = ("judgment", "adjudication", "release", "release_qrel")
"""Tables in which no migration adds or removes a row."""


@dataclass(frozen=True, slots=True)
class BackupFolders:
    """The folders outside the database. None: left out."""

    exports: Path | None
    fetched_runs: Path | None


def write_backup(
    database: Database,
    path: Path,
    folders: BackupFolders,
    *,
    programs: Path | None,
    now: datetime,
    progress: ReportProgress,
) -> BackupReport:
    """Write a backup into a new file, with everything that was acknowledged before. People can work meanwhile.

    `programs`: the folder of pg_dump. Raises ConflictError if the file exists, StateError if there is nothing
    to save, the database is damaged or pg_dump does not fit. Faults in a release's folder become problems in
    the manifest; the folder is saved unchanged.
    """
    with open_partial_file(path) as partial, partial.open("r+b") as file, ExitStack() as stack:
        writer = stack.enter_context(BackupWriter(file, now))
        if database.is_sqlite:
            saved = _save_sqlite(database, writer, stack.enter_context(_scratch_file(partial)), progress)
        else:
            saved = _save_postgresql(database, writer, programs, progress)
        problems: list[str] = []
        if folders.exports is not None:
            for name, sums in saved.releases.items():
                problems += add_release(writer, folders.exports / name, name, sums)
                progress("releases", len(writer.members), len(writer.members))
        if folders.fetched_runs is not None:
            add_folder(writer, folders.fetched_runs, FETCHED_RUNS)
        manifest = BackupManifest(
            __version__,
            saved.schema,
            "sqlite" if database.is_sqlite else "postgresql",
            now,
            saved.tables,
            tuple(writer.members),
            0 if folders.exports is None else len(saved.releases),
            tuple(problems),
        )
        writer.close(manifest)
        file.flush()
        return report_backup(path, partial, manifest)


@dataclass(frozen=True, slots=True)
class _SavedDatabase:
    """Data about the database for its backup. `releases`: {`dataset/version`: text of SHA256SUMS}."""

    schema: str
    tables: Mapping[str, int]
    releases: Mapping[str, str]


@contextmanager
def _scratch_file(beside: Path) -> Iterator[Path]:
    """Yield an empty file next to a partial one (`beside`), readable by its owner only, and remove it."""
    path = beside.with_name(f"{beside.name}.database")
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def _save_sqlite(
    database: Database, writer: BackupWriter, scratch: Path, progress: ReportProgress
) -> _SavedDatabase:
    source = find_sqlite_file(database.url)
    if source is None or not source.exists():
        raise StateError(f"expected a database at {database.shown_url}, found none")
    copy_database(database, scratch, progress)
    clear_short_lived(scratch)
    tables = check_file(scratch)
    copied = Database(database.url.set(database=str(scratch), query={}))
    try:
        with copied.read() as session:
            schema, releases = _read_schema(session, database.shown_url), _read_releases(session)
    finally:
        copied.dispose()
    with scratch.open("rb") as content:
        writer.add(DATABASE_MEMBER["sqlite"], content, compress=True)
    return _SavedDatabase(schema, tables, releases)


def _save_postgresql(
    database: Database, writer: BackupWriter, programs: Path | None, progress: ReportProgress
) -> _SavedDatabase:
    with database.read() as session:
        program = find_program("pg_dump", _read_server_version(session), programs)
        schema, releases = _read_schema(session, database.shown_url), _read_releases(session)
        snapshot = str(session.scalar(text("SELECT pg_export_snapshot()")))
        url, secret = split_secrets(database.url)
        with dump_database(program, url, secret, snapshot) as dump:
            progress("database", 0, 1)
            writer.add(DATABASE_MEMBER["postgresql"], dump, compress=False)
        tables = count_rows(session, list_table_names(session))
    progress("database", 1, 1)
    return _SavedDatabase(schema, {**tables, **dict.fromkeys(SHORT_LIVED, 0)}, releases)


def _read_server_version(session: Session) -> int:
    return int(session.scalar(text("SHOW server_version_num")) or 0) // 10_000


def _read_schema(session: Session, shown_url: str) -> str:
    """Return the revision. StateError if the database is empty, or a newer program made it."""
    schema, known = find_revision(session), [migration.revision for migration in list_migrations()]
    if schema is None:
        raise StateError(f"the database {shown_url} is empty: there is nothing to save")
    if schema not in known:
        raise StateError(describe_newer(shown_url, schema, known[-1]))
    return schema


def _read_releases(session: Session) -> dict[str, str]:
    statement = "SELECT d.name || '/' || r.version, r.sums FROM release r JOIN dataset d ON d.pk = r.dataset_pk ORDER BY r.pk"
    return {str(name): str(sums) for name, sums in session.execute(text(statement))}


def split_secrets(url: URL) -> tuple[str, dict[str, str]]:
    """Return a database URL for PostgreSQL's own programs, and its password as an environment variable."""
    query = dict(url.query)
    password = url.password or query.pop("password", None)
    if "sslpassword" in query:
        raise StateError(
            "a password of a key file (sslpassword) would be seen by everybody on this machine; use a key file without one"
        )
    plain = URL.create("postgresql", url.username, None, url.host, url.port, url.database, query)
    return plain.render_as_string(hide_password=False), {"PGPASSWORD": str(password)} if password else {}


def restore_backup(
    path: Path,
    database: Database,
    folders: BackupFolders,
    *,
    programs: Path | None,
    now: datetime,
    progress: ReportProgress,
) -> RestoreReport:
    """Restore a backup into an empty database and its folders: everything or nothing.

    Compares every checksum and every row count. Migrates a database of an older schema. Afterwards nobody is
    signed in, no pair is leased, and unused links are void. Raises BadInput for an incomplete file,
    StateError if the target is not empty or of another kind, or if a newer program made the backup.
    """
    with open_backup(path) as backup, ExitStack() as stack:
        _require_fitting(backup.manifest, database)
        moves = _plan_moves(backup, folders)
        backup.check_members(list(backup.manifest.members), progress)
        for folder in _list_folders(folders):
            remove_abandoned(folder)
        for target in sorted({move.target.parent for move in moves}):
            target.mkdir(parents=True, exist_ok=True, mode=0o700)
        for move in moves:
            stack.enter_context(move.unpack(backup))
        progress("database", 0, 1)
        if database.is_sqlite:
            withdrawn = _restore_sqlite(backup, database, moves, now)
        else:
            withdrawn = _restore_postgresql(backup, database, moves, programs, now)
        progress("database", 1, 1)
    newest = list_migrations()[-1].revision
    return RestoreReport(
        path,
        database.shown_url,
        backup.manifest,
        sum(move.is_release for move in moves),
        sum(not move.is_release for move in moves),
        None if backup.manifest.schema == newest else newest,
        withdrawn,
    )


def _require_fitting(manifest: BackupManifest, database: Database) -> None:
    known = [migration.revision for migration in list_migrations()]
    if manifest.schema not in known:
        raise StateError(
            f"a newer program made the backup (annotator {manifest.program}, schema {manifest.schema}; this program knows up to "
            f"{known[-1]}). Restore it with that version. Nothing was changed"
        )
    kind = "sqlite" if database.is_sqlite else "postgresql"
    if manifest.database != kind:
        raise StateError(
            f"the backup is of a {manifest.database} database, and {database.shown_url} is {kind}. Restore it into a new "
            f"{manifest.database} database, then move it: annotator copy --to URL. Nothing was changed"
        )
    if database.is_sqlite:
        content = find_content(database.url)
        if content is not None:
            raise StateError(
                f"expected no database at {database.shown_url}, found one with {content}. Nothing was changed"
            )
        return
    with database.read() as session:
        require_empty(session, database.shown_url)


def _list_folders(folders: BackupFolders) -> list[Path]:
    """Return the folders in which a killed restore can have left files."""
    exports = folders.exports
    datasets = sorted(exports.iterdir()) if exports is not None and exports.is_dir() else []
    return [folder for folder in (exports, folders.fetched_runs, *datasets) if folder is not None]


@dataclass(frozen=True, slots=True)
class _Move:
    """A release's folder or a fetched run: unpacked under a hidden name, then renamed."""

    source: str
    target: Path
    hidden: Path
    is_release: bool

    @contextmanager
    def unpack(self, backup: BackupReader) -> Iterator[None]:
        """Unpack under the hidden name. At the end, remove files that are still hidden."""
        members = backup.list_members(self.source)
        is_file = any(member.path == self.source for member in members)
        try:
            with hold_partial(self.hidden, is_folder=not is_file):
                for member in members:
                    place = Path(f"{self.hidden}{member.path[len(self.source) :]}")
                    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                    with os.fdopen(os.open(place, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
                        backup.copy_member(member, file)
                        file.flush()
                        os.fsync(file.fileno())
                yield
        finally:
            with suppress(OSError):
                self.target.parent.rmdir()  # empty after a failure


def _plan_moves(backup: BackupReader, folders: BackupFolders) -> list[_Move]:
    """Return the folders and runs to unpack. Raises StateError if a target exists."""
    found: dict[str, tuple[Path, bool]] = {}
    for top, folder, parts in ((EXPORTS, folders.exports, 3), (FETCHED_RUNS, folders.fetched_runs, 2)):
        for member in backup.list_members(top) if folder is not None else ():
            names = member.path.split("/")[:parts]
            found["/".join(names)] = (Path(folder or "", *names[1:]), parts == 3)
    taken = [str(target) for target, _ in found.values() if os.path.lexists(target)]
    if taken:
        raise StateError(f"expected no folder at {taken[0]}, found one. Nothing was changed")
    return [
        _Move(source, target, name_partial(target), is_release)
        for source, (target, is_release) in sorted(found.items())
    ]


@contextmanager
def _put_in_place(moves: list[_Move]) -> Iterator[None]:
    """Rename the hidden folders. Removes them again if the block fails."""
    moved: list[_Move] = []
    try:
        for move in moves:
            os.rename(move.hidden, move.target)  # noqa: PTH104  (fails if something is there)
            moved.append(move)
        yield
    except BaseException:
        for move in moved:
            os.rename(move.target, move.hidden)  # noqa: PTH104
        raise


def _restore_sqlite(backup: BackupReader, database: Database, moves: list[_Move], now: datetime) -> int:
    """Restore next to the database's file and rename. Returns the number of void links."""
    path = find_sqlite_file(database.url)
    if path is None:
        raise StateError(f"expected the name of a file, found {database.shown_url}")
    with ExitStack() as stack:
        scratch = stack.enter_context(open_place(database.url, path))
        with scratch.open("wb") as file:
            backup.copy_member(backup.find_database(), file)
        _compare(backup.manifest.tables, check_file(scratch))
        restored = Database(database.url.set(database=str(scratch), query={}))
        try:
            withdrawn = _finish(restored, backup.manifest, now)
        finally:
            restored.dispose()
        check_file(scratch)
        with _put_in_place(moves):
            stack.close()  # the file gets its name; if that fails, the folders are taken back
    return withdrawn


@contextmanager
def open_place(url: URL, path: Path) -> Iterator[Path]:
    """Yield a new file that replaces an empty or absent SQLite database if the block succeeds."""
    with hold_temporary_folder(f"{path.name}.empty", path.absolute().parent) as hidden:
        aside = [file for file in list_database_files(url) if file.exists()]
        for file in aside:
            file.rename(hidden / file.name)
        try:
            with open_partial_file(path) as partial:
                yield partial
        except BaseException:
            for file in aside:
                (hidden / file.name).rename(file)
            raise


def _restore_postgresql(
    backup: BackupReader, database: Database, moves: list[_Move], programs: Path | None, now: datetime
) -> int:
    """Restore in one transaction, then migrate and compare. Returns the number of void links."""
    with database.write() as session:
        program = find_program("pg_restore", _read_server_version(session), programs)
        drop_tables(session)  # they are empty, and the backup brings its own
    url, secret = split_secrets(database.url)
    try:
        with restore_database(program, url, secret) as dump:
            backup.copy_member(backup.find_database(), dump)
        with database.read() as session:
            _compare(backup.manifest.tables, count_rows(session, list_table_names(session)))
        withdrawn = _finish(database, backup.manifest, now)
        with _put_in_place(moves), database.write() as session:
            analyze(session)
    except BaseException:
        with database.write() as session:
            drop_tables(session)
        raise
    return withdrawn


def _finish(database: Database, manifest: BackupManifest, now: datetime) -> int:
    """Void unused links, migrate, and compare again. Returns the number of void links."""
    with database.write() as session:
        withdrawn = 0
        if "one_time_link" in manifest.tables:
            unused = text(
                "UPDATE one_time_link SET revoked_at = :now WHERE used_at IS NULL AND revoked_at IS NULL"
            )
            given = now if not database.is_sqlite else now.strftime("%Y-%m-%d %H:%M:%S.%f")
            withdrawn = int(session.connection().execute(unused, {"now": given}).rowcount)
    upgrade_schema(database, now=now)
    with database.read() as session:
        names = list_table_names(session)
        counts = count_rows(session, names)
        broken = list_broken_references(session, names)
    if manifest.schema == list_migrations()[-1].revision:
        _compare(manifest.tables, counts)
    kept = {name: rows for name, rows in manifest.tables.items() if name in _KEPT}
    _compare(kept, {name: counts[name] for name in kept})
    if broken:
        raise StateError(f"the rows of the backup do not fit together: {broken[0]}. Nothing was kept")
    return withdrawn


def _compare(expected: Mapping[str, int], found: Mapping[str, int]) -> None:
    different = [
        f"{name}: {expected.get(name, 0):,} rows in the backup, {found.get(name, 0):,} restored"
        for name in sorted({*expected, *found})
        if expected.get(name, 0) != found.get(name, 0)
    ]
    if different:
        raise StateError(f"{'; '.join(different[:5])}. Nothing was kept")


def read_manifest(path: Path) -> BackupManifest:
    """Return the manifest of a backup, without reading its members."""
    with open_backup(path) as backup:
        return backup.manifest


def note_installation_act(
    database: Database, action: AuditAction, *, target: str, details: Mapping[str, Any], now: datetime
) -> bool:
    """Append an entry. Returns False, without writing, if the database's schema is older."""
    with database.read() as session:
        if find_revision(session) != list_migrations()[-1].revision:
            return False
    with database.write() as session:
        note_act(session, action, OPERATOR, at=now, target=target, details=details)
    return True
