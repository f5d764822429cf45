"""Describe the effect of a schema upgrade, and whether it would succeed, without changing anything."""

import shutil
from pathlib import Path

from sqlalchemy import text
from sqlalchemy.orm import Session

from annotator.domain.errors import AnnotatorError, StateError
from annotator.domain.usernames import describe_look_alikes
from annotator.formats.syntax.partial_files import hold_temporary_folder
from annotator.installation.records import PendingMigration, UpgradeCheck
from annotator.installation.service import read_manifest
from annotator.installation.tables_sql import (
    check_file,
    clear_short_lived,
    copy_database,
    is_postgresql,
    list_broken_references,
    list_table_names,
)
from annotator.storage.database import Database, list_database_files
from annotator.storage.schema import (
    describe_newer,
    find_revision,
    list_migrations,
    upgrade_schema,
    upgrade_within,
)

ROOM = 3
"""How many times its own size a SQLite database may need while it is migrated: the log holds what is rewritten, and so may the file."""


class _RehearsalDone(Exception):
    """Rolls back the transaction of the rehearsed migrations."""


def check_upgrade(database: Database, *, backup: Path | None, rehearse: bool) -> UpgradeCheck:
    """Compare the database's schema with the program's, and look for reasons why the migrations would fail.

    `rehearse`: run the migrations on a copy (SQLite), or in a transaction that is rolled back (PostgreSQL;
    everybody waits meanwhile).
    """
    files = list_database_files(database.url)
    if files and not files[0].exists():
        raise StateError(f"expected a database at {database.shown_url}, found none")
    known = list_migrations()
    refusals: list[str] = []
    with database.read() as session:
        schema = find_revision(session)
        names = list_table_names(session)
        is_newer = schema is not None and schema not in [migration.revision for migration in known]
        if is_newer:
            refusals.append(describe_newer(database.shown_url, str(schema), known[-1].revision))
        if not is_postgresql(session) or schema == known[-1].revision:
            refusals += list_broken_references(session, names)
        judgments = session.scalar(text("SELECT count(*) FROM judgment")) if "judgment" in names else 0
        usernames = (
            session.scalars(text("SELECT username FROM person ORDER BY pk")) if "person" in names else ()
        )
        look_alikes = describe_look_alikes(usernames)
        size, free = _measure(session, files)
    pending = [] if is_newer else [item for item in known if schema is None or item.revision > schema]
    if pending and free is not None and free < ROOM * size:
        refusals.append(
            f"the disk of the database has {free / 1e6:,.0f} MB left, and the migrations may need {ROOM * size / 1e6:,.0f} MB"
        )
    if rehearse and pending and not refusals:
        refusals += _rehearse(database)
    saved = read_manifest(backup) if backup is not None else None
    return UpgradeCheck(
        database.shown_url,
        schema,
        known[-1].revision,
        tuple(PendingMigration(item.revision, item.summary, item.rolls) for item in pending),
        tuple(refusals),
        size,
        free,
        rehearse and bool(pending),
        saved.created_at if saved else None,
        int(judgments or 0) - saved.tables.get("judgment", 0) if saved else None,
        look_alikes,
    )


def _measure(session: Session, files: list[Path]) -> tuple[int, int | None]:
    """Return (size of the database, free space on its disk); None for the disk of another machine."""
    if files:
        size = sum(path.stat().st_size for path in files if path.exists())
        return size, shutil.disk_usage(files[0].parent).free
    return int(session.scalar(text("SELECT pg_database_size(current_database())")) or 0), None


def _rehearse(database: Database) -> list[str]:
    """Run the migrations and undo them. Returns the reasons why they fail."""
    try:
        if database.is_sqlite:
            _rehearse_on_a_copy(database)
        else:
            with database.write() as session:
                upgrade_within(session, database.shown_url)
                raise _RehearsalDone
    except _RehearsalDone:
        return []
    except Exception as error:  # noqa: BLE001  (whatever a migration raises is what the caller wants to know)
        shown = str(error) if isinstance(error, AnnotatorError) else f"{type(error).__name__}: {error}"
        return [f"the migrations fail on the present rows: {shown.splitlines()[0]}"]
    return []


def _rehearse_on_a_copy(database: Database) -> None:
    beside = list_database_files(database.url)[0].parent
    with hold_temporary_folder("rehearsal", beside) as folder:
        path = folder / "copy.db"
        path.touch(mode=0o600)
        copy_database(database, path, lambda *_: None)
        clear_short_lived(path)
        check_file(path)
        copy = Database(database.url.set(database=str(path), query={}))
        try:
            upgrade_schema(copy)
        finally:
            copy.dispose()
        check_file(path)
