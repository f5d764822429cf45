"""Copy a SQLite database while others write to it, and check a copy. Uses SQLite's backup API, never a file
copy.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import text
from sqlalchemy.engine import URL

from annotator.domain.errors import StateError
from annotator.installation.records import RECORDED_IN_PARTS, SHORT_LIVED, ReportProgress
from annotator.storage.database import Database, find_sqlite_file

PAGES = 4_096  # copied between two reports of progress


def copy_database(database: Database, target: Path, progress: ReportProgress) -> None:
    """Copy the database at one moment into an empty file. Others can write meanwhile.

    A read transaction fixes the moment; without it, every write by others would restart the copy.
    """
    with database.read() as session:
        session.execute(text("SELECT count(*) FROM sqlite_master")).all()
        source: Any = session.connection().connection.driver_connection
        with closing(sqlite3.connect(target)) as copied:
            source.backup(
                copied,
                pages=PAGES,
                progress=lambda _, remaining, total: progress("database", total - remaining, total),
            )
            copied.isolation_level = None
            copied.execute("PRAGMA journal_mode=DELETE")  # one file, without a log beside it


def clear_short_lived(path: Path) -> None:
    """Delete the rows that backups exclude, and overwrite them with zeros."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA secure_delete=ON")
        names = _list_names(connection)
        if "release_recording" in names:  # a release that is not published yet is not in a backup
            for table in RECORDED_IN_PARTS:
                connection.execute(
                    f"DELETE FROM {table} WHERE release_pk IN (SELECT release_pk FROM release_recording)"
                )
        for table in SHORT_LIVED:
            if table in names:
                connection.execute(f"DELETE FROM {table}")


def check_file(path: Path) -> dict[str, int]:
    """Return {table: row count}. Raises StateError if the file is damaged, or rows violate a foreign key."""
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if found != "ok":
                raise StateError(f"the database is damaged: {found}")
            broken = connection.execute("PRAGMA foreign_key_check").fetchone()
            if broken is not None:
                raise StateError(f"the database is damaged: a row of {broken[0]} names no row of {broken[2]}")
            return {
                name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]
                for name in _list_names(connection)
            }
    except sqlite3.DatabaseError as error:
        raise StateError(f"the database is damaged: {error}") from None


def _list_names(connection: sqlite3.Connection) -> list[str]:
    statement = (
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    )
    return [name for (name,) in connection.execute(statement)]


def find_content(url: URL) -> str | None:
    """Describe the content of a SQLite database in words; None without a file, or if all tables are empty."""
    path = find_sqlite_file(url)
    if path is None or not path.exists() or path.stat().st_size == 0:
        return None
    if not path.is_file():
        return "something that is no file"
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            for name in _list_names(connection):
                (rows,) = connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()
                if rows and name != "alembic_version":
                    return f"{rows:,} rows in {name}"
    except sqlite3.DatabaseError:
        return "content of another kind"
    return None
