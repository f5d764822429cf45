"""The file of a SQLite database: whether there can be one, and who may read it."""

from pathlib import Path

from sqlalchemy.engine import URL

from annotator.domain.errors import StateError


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
