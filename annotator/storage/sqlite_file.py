"""The file of a SQLite database: whether there can be one, and who may read it."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from sqlalchemy.engine import URL

from annotator.domain.errors import StateError

OTHERS = 0o077  # the rights of everybody but the owner
BESIDE = (
    "",
    "-wal",
    "-shm",
)  # what SQLite keeps beside the file; it gives them the rights of the file itself


def find_sqlite_file(url: URL) -> Path | None:
    """The file that the address names; None where there is none (in memory, or an address with options of its own)."""
    if url.get_backend_name() != "sqlite" or not url.database:
        return None
    if url.database == ":memory:" or url.database.startswith("file:"):
        return None
    return Path(url.database).absolute()


def check_sqlite_file(url: URL) -> None:
    """StateError when the address names a folder, or a file in a folder that does not exist."""
    path = find_sqlite_file(url)
    if path is None:
        return
    if path.is_dir():
        raise StateError(f"expected a file as the database, found a folder: {path}")
    if not path.parent.is_dir():
        raise StateError(f"the folder of the database does not exist: {path.parent}")


def create_private_file(url: URL) -> None:
    """Create the file, empty and readable by its owner only, unless it exists. What cannot be created, SQLite reports."""
    path = find_sqlite_file(url)
    if path is not None:
        with suppress(OSError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def list_database_files(url: URL) -> list[Path]:
    """Return the files of the database: none where it is on a server."""
    path = find_sqlite_file(url)
    return [] if path is None else [path.with_name(path.name + ending) for ending in BESIDE]


def list_open_to_others(paths: Iterable[Path]) -> list[Path]:
    """Return those of the paths that exist and give other users of the machine any right."""
    found = []
    for path in paths:
        with suppress(OSError):
            if path.stat().st_mode & OTHERS:
                found.append(path)
    return found
