"""Tell a database that cannot work now from a mistake of the program.

The drivers use one class (OperationalError) for both: a locked file and a misspelled column. What tells them apart is
SQLite's result code and PostgreSQL's SQLSTATE. Only `storage/` calls this; everybody else sees `DatabaseUnavailable`.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from annotator.domain.errors import DatabaseUnavailable
from annotator.domain.messages import Message, say

BUSY = say("the database is locked by other work")
FULL = say("the disk of the database is full")
READ_ONLY = say("the database can only be read")
UNREACHABLE = say("the database cannot be reached")
REFUSED = say("the database refuses this user")
DAMAGED = say("the database file is damaged, or it is not a database")
DISK_ERROR = say("the disk of the database reports an error")
OVERLOADED = say("the database has more to do than it can take")

# https://www.sqlite.org/rescode.html; the lower eight bits are the primary result code
_SQLITE = {
    sqlite3.SQLITE_PERM: UNREACHABLE,
    sqlite3.SQLITE_BUSY: BUSY,
    sqlite3.SQLITE_LOCKED: BUSY,
    sqlite3.SQLITE_NOMEM: OVERLOADED,
    sqlite3.SQLITE_READONLY: READ_ONLY,
    sqlite3.SQLITE_IOERR: DISK_ERROR,
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_CANTOPEN: UNREACHABLE,
    sqlite3.SQLITE_PROTOCOL: BUSY,
    sqlite3.SQLITE_NOTADB: DAMAGED,
}
# https://www.postgresql.org/docs/current/errcodes-appendix.html; a whole class by its first two characters
_POSTGRESQL = {
    "08": UNREACHABLE,  # connection exceptions
    "28": REFUSED,  # the user, or the password
    "42501": REFUSED,  # no right to do this
    "3D": UNREACHABLE,  # there is no such database
    "53": OVERLOADED,  # insufficient resources
    "57": UNREACHABLE,  # shut down, starting, or the query was cancelled
    "58": DISK_ERROR,  # system error
    "XX": DAMAGED,  # internal error or corrupted data
    "53100": FULL,
    "55P03": BUSY,  # lock_timeout ran out
    "40001": BUSY,  # serialization failure
    "40P01": BUSY,  # deadlock
}
_WRITE_REFUSED = "25006"  # read-only transaction


@contextmanager
def explain_unavailable(shown_url: str, *, write: bool) -> Iterator[None]:
    """Raise DatabaseUnavailable for what the driver raises within the block because the database cannot work now.

    Everything else goes through unchanged. `write`: whether the block may write; a refused write in a read transaction is
    a mistake of the program.
    """
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error) as error:
        why = find_reason(error, write=write)
        if why is None:
            raise
        raise DatabaseUnavailable(why, database=shown_url, detail=find_detail(error)) from error


def find_reason(error: BaseException, *, write: bool) -> Message | None:
    """Why the database cannot work now; None for every other error."""
    if isinstance(error, PoolTimeout):
        return OVERLOADED
    cause = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(cause, sqlite3.Error):
        code = getattr(cause, "sqlite_errorcode", None)
        return None if code is None else _SQLITE.get(code & 0xFF)
    state = getattr(cause, "sqlstate", None)
    if state is not None:
        if state == _WRITE_REFUSED:
            return READ_ONLY if write else None
        return _POSTGRESQL.get(state) or _POSTGRESQL.get(state[:2])
    # psycopg without an SQLSTATE: no connection could be made, it broke, or the address has an option libpq does not know
    lost = isinstance(error, DBAPIError) and (
        error.connection_invalidated
        or error.statement is None
        or type(cause).__name__ in ("OperationalError", "InterfaceError")
    )
    return UNREACHABLE if lost else None


def find_detail(error: BaseException) -> str:
    """The first line of what the driver says; it names neither password nor statement."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    lines = str(cause).strip().splitlines()
    return lines[0] if lines else type(cause).__name__
