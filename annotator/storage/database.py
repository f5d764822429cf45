"""The database engine and its transactions on SQLite and PostgreSQL, its file, and why it may be unavailable.

SQLite runs in WAL mode with foreign keys, a busy timeout and full synchronization (an acknowledged judgment
survives a power cut). A write transaction takes the write lock at its start (BEGIN IMMEDIATE), so it never
fails half way with "database is locked". On PostgreSQL a write that must exclude others on the same dataset
calls `lock_dataset`; labeling calls `share_dataset`. Drivers raise OperationalError both for a
locked file and for a misspelled column; SQLite's result code and PostgreSQL's SQLSTATE distinguish them. Code
outside `storage/` sees `DatabaseUnavailable`. A health probe has its own connections and waits at most a
second for a lock: it tests the database, not the load of this program.
"""

import os
import platform
import sqlite3
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InvalidatePoolError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session

from annotator.domain.errors import (
    AnnotatorError,
    DatabaseUnavailable,
    DatasetArchived,
    StateError,
    ValidationError,
)
from annotator.domain.messages import Message, say

BUSY = say("the database is locked by other work")
FULL = say("the disk of the database is full")
READ_ONLY = say("the database can only be read")
UNREACHABLE = say("the database cannot be reached")
REFUSED = say("the database refuses this user")
DAMAGED = say("the database file is damaged, or it is not a database")
DISK_ERROR = say("the disk of the database reports an error")
OVERLOADED = say("the database is overloaded")

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
    "3D": UNREACHABLE,  # unknown database
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

Result = TypeVar("Result")


@contextmanager
def explain_unavailable(shown_url: str, *, write: bool) -> Iterator[None]:
    """Raise DatabaseUnavailable if the block fails because the database cannot work now.

    Other errors pass unchanged. `write`: whether the block may write; a refused write in a read transaction
    is a bug.
    """
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error) as error:
        why = find_reason(error, write=write)
        if why is None:
            raise
        raise DatabaseUnavailable(why, database=shown_url, detail=find_detail(error)) from error


def find_reason(error: BaseException, *, write: bool) -> Message | None:
    """Return why the database cannot work now; None for every other error."""
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
    """Return the first line of the driver's message. It contains neither password nor statement."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    lines = str(cause).strip().splitlines()
    return lines[0] if lines else type(cause).__name__


RIGHTS_OF_OTHERS = 0o077  # of everybody but the owner
FILE_ENDINGS = ("", "-wal", "-shm")  # SQLite gives its further files the rights of the database file


def find_sqlite_file(url: URL) -> Path | None:
    """Return the database file of a URL, or None (in memory, or a URL with its own options)."""
    if url.get_backend_name() != "sqlite" or not url.database:
        return None
    if url.database == ":memory:" or url.database.startswith("file:"):
        return None
    return Path(url.database).absolute()


def check_sqlite_file(url: URL) -> None:
    """Raise StateError if the URL names a folder, or a file in a folder that does not exist."""
    path = find_sqlite_file(url)
    if path is None:
        return
    if path.is_dir():
        raise StateError(f"expected a file as the database, found a folder: {path}")
    if not path.parent.is_dir():
        raise StateError(f"the folder of the database does not exist: {path.parent}")


def create_private_file(url: URL) -> None:
    """Create an empty database file that only its owner can read, unless it exists.

    SQLite reports failures.
    """
    path = find_sqlite_file(url)
    if path is not None:
        with suppress(OSError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def list_database_files(url: URL) -> list[Path]:
    """Return the files of the database: none where it is on a server."""
    path = find_sqlite_file(url)
    return [] if path is None else [path.with_name(path.name + ending) for ending in FILE_ENDINGS]


def list_open_to_others(paths: Iterable[Path]) -> list[Path]:
    """Return the existing paths that give other users of the machine any right."""
    open_paths = []
    for path in paths:
        with suppress(OSError):
            if path.stat().st_mode & RIGHTS_OF_OTHERS:
                open_paths.append(path)
    return open_paths


PATIENCE_SECONDS = 30
"""How long a command waits for a lock of another transaction."""
KNOWN_LOCK_SECONDS = 0.3
"""How long a write waits for SQLite's lock after the write before it waited in vain.

Otherwise every write in the queue would wait for the full time.
"""
ASK_MILLISECONDS = 4
"""After how long at the latest a write asks again for SQLite's lock."""
CONNECT_SECONDS = 5
UNTRIED_SECONDS = 1.0
"""A connection to PostgreSQL that was used so short a time ago is not tried before it is used again."""
_POSTGRESQL_OPTIONS = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": 30,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,  # milliseconds: a server that fell off the network is noticed
}
CONNECTION = "annotator"
"""What the name of each connection to PostgreSQL begins with; then the newest schema that the program knows,
its process, its machine."""
_MIGRATIONS = Path(__file__).parent / "migrations" / "versions"
_PRAGMAS = {"foreign_keys": "ON", "synchronous": "FULL"}
"""What each connection to SQLite begins with, and some transactions change."""
_READING = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
_ASKING = {"isolation_level": "AUTOCOMMIT"}
_ARCHIVED_NAME = text("SELECT name FROM dataset WHERE pk = :d AND archived_at IS NOT NULL")
_LOCK = text("SELECT pg_advisory_xact_lock(:d)")
_LOCK_RELEASES = text("SELECT pg_advisory_xact_lock(1, :d)")  # two numbers: never the same lock as of one


class _ThreadLock(Protocol):
    """A lock of `threading`. Its type has no name before Python 3.13."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool: ...
    def release(self) -> None: ...


class Database:
    """A database with its connections.

    `read()` sees one consistent snapshot; `write()` commits if its block succeeds, and otherwise changes
    nothing.
    """

    def __init__(
        self, url: str | URL, *, patience: float = PATIENCE_SECONDS, beside: "Database | None" = None
    ) -> None:
        """Connect to a database.

        `patience`: seconds to wait for another transaction's lock. `beside`: share the queue of writers of
        this database.
        """
        self.url = _parse(url)
        self._patience = patience
        self._locked_outside = False
        self._turn: _ThreadLock = beside._turn if beside else threading.RLock()
        self.note_time: Callable[[str, float], None] = lambda _what, _seconds: None
        """Called with seconds of a "connection" or "turn" that was waited for, and of each "read" or "write"
        transaction."""
        self.engine = self._create_engine()
        self._kept: dict[Hashable, Any] = {}
        """Values that reading sessions share as `session.info["kept"]`.

        Each has a stamp that shows whether it is still valid.
        """

    @property
    def is_sqlite(self) -> bool:
        return self.url.get_backend_name() == "sqlite"

    @property
    def shown_url(self) -> str:
        """Return the URL without its secrets, for messages and logs."""
        return show_url(self.url)

    def wait_at_most(self, seconds: float) -> None:
        """Wait at most this long for a lock from now on, then raise DatabaseUnavailable."""
        self._patience = seconds
        self.engine.dispose()  # new connections of PostgreSQL get it when they are made

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Open a session that reads one consistent snapshot.

        Raises DatabaseUnavailable if the database cannot work now.
        """
        with self._session(write=False, wait=self._patience) as session:
            session.info["kept"] = self._kept
            yield session
            session.expunge_all()  # nothing that was read is ever written
            session.commit()  # a ROLLBACK makes psycopg forget every statement that PostgreSQL has planned

    @contextmanager
    def ask(self) -> Iterator[Session]:
        """Open a session for one statement that reads: one round trip on PostgreSQL, without BEGIN and
        COMMIT.

        Raises DatabaseUnavailable if the database cannot work now.
        """
        with self._session(write=False, wait=self._patience, options=_ASKING) as session:
            yield session
            session.commit()

    @contextmanager
    def write(self, *, before_parents: bool = False, durable: bool = True) -> Iterator[Session]:
        """Open a session that commits if the block succeeds.

        `before_parents`: on SQLite, rows may have foreign keys to rows that a later transaction adds.
        `durable`: if False on SQLite, the commit does not wait for the disk; the next durable transaction
        makes it durable. Raises DatabaseUnavailable if the database cannot work now.
        """
        pragmas = {
            "foreign_keys": "OFF" if before_parents else "ON",
            "synchronous": "FULL" if durable else "NORMAL",
        }
        with (
            self._take_turn() as wait,
            self._session(write=True, wait=wait, pragmas=pragmas) as session,
            session.begin(),
        ):
            yield session
            if session.in_transaction():
                _finish(session)

    def write_together(self, works: Sequence[Callable[["Writable"], Result]]) -> list[Result | Exception]:
        """Run several functions that write, in order; return the result or the error of each.

        On SQLite they share one transaction and wait for the disk once; a function that fails is rolled back
        alone. Results are valid only after this method returns, because the transaction commits at the end.
        If the transaction fails, its error is raised and nothing is stored. On PostgreSQL, and for a single
        function, each opens its own transactions.
        """
        if len(works) == 1 or not self.is_sqlite:
            return [_attempt(work, self) for work in works]
        with (
            self._take_turn() as wait,
            self._connect(write=True, wait=wait) as connection,
            connection.begin(),
        ):
            shared = SharedTransaction(connection, self.shown_url)
            return [shared.attempt(work) for work in works]

    @contextmanager
    def _take_turn(self) -> Iterator[float]:
        """On SQLite, wait until no other thread writes. Yields the seconds to wait for the file's own lock.

        SQLite itself waits by polling; that is needed only for locks of other processes.
        """
        if not self.is_sqlite:
            yield self._patience
            return
        began = time.monotonic()
        until = began + self._patience
        if not self._turn.acquire(timeout=self._patience):
            raise DatabaseUnavailable(BUSY, database=self.shown_url, detail="database is locked")
        try:
            now = time.monotonic()
            self.note_time("turn", now - began)
            left = max(0.0, until - now)
            was_locked, self._locked_outside = self._locked_outside, False
            yield min(left, KNOWN_LOCK_SECONDS) if was_locked else left
        except DatabaseUnavailable as error:
            self._locked_outside = error.why == BUSY
            raise
        finally:
            self._turn.release()

    @contextmanager
    def _session(
        self,
        *,
        write: bool,
        wait: float,
        pragmas: Mapping[str, str] = _PRAGMAS,
        options: Mapping[str, Any] = _READING,
    ) -> Iterator[Session]:
        with (
            self._connect(write=write, wait=wait, pragmas=pragmas, options=options) as connection,
            Session(connection, expire_on_commit=False) as session,
        ):
            yield session

    @contextmanager
    def _connect(
        self,
        *,
        write: bool,
        wait: float,
        pragmas: Mapping[str, str] = _PRAGMAS,
        options: Mapping[str, Any] = _READING,
    ) -> Iterator[Connection]:
        """`pragmas`: of SQLite's connection. `options`: with which a connection to PostgreSQL reads."""
        with explain_unavailable(self.shown_url, write=write):
            asked = time.perf_counter()
            connection = self.engine.connect().execution_options(
                annotator_write=write,
                annotator_wait=wait,
                annotator_pragmas=pragmas,
                **({} if write or self.is_sqlite else options),
            )
            began = time.perf_counter()
            self.note_time("connection", began - asked)
            try:
                yield connection
            finally:
                connection.close()
                self.note_time("write" if write else "read", time.perf_counter() - began)

    def dispose(self) -> None:
        self.engine.dispose()

    def _create_engine(self) -> Engine:
        if not self.is_sqlite:
            options = {**_POSTGRESQL_OPTIONS, **self.url.query}  # the URL overrides ours
            engine = create_engine(
                self.url,
                connect_args={
                    **{key: options[key] for key in _POSTGRESQL_OPTIONS},
                    "prepare_threshold": 1,  # a statement that comes a second time is planned for the last time
                },
                pool_size=40,  # all stay open: a new one costs a server process, and has planned no statement
                max_overflow=0,
                pool_use_lifo=True,  # the latest first: it has planned the statements that are asked for most
                pool_timeout=CONNECT_SECONDS,
            )
            event.listen(engine, "connect", self._prepare_postgresql)
            event.listen(engine, "checkin", _note_use)
            event.listen(engine, "checkout", partial(_try_unused, engine.dialect))
            return engine
        check_sqlite_file(self.url)
        engine = create_engine(
            self.url,
            pool_size=10,
            max_overflow=30,
            pool_timeout=CONNECT_SECONDS,
        )
        # SQLAlchemy's mappers keep every dialect they compiled for, and the dialect keeps this listener: with a method of
        # the database they would keep its engine and all its statements
        event.listen(engine, "do_connect", partial(_prepare_file, self.url))
        event.listen(engine, "connect", self._prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        _use_driver_for_savepoints(engine.dialect)
        return engine

    def _prepare_sqlite(self, connection: Any, _record: Any) -> None:
        """Set up a new connection. The timeout comes first, because switching to WAL may wait for a lock."""
        connection.isolation_level = None  # the driver must not begin transactions of its own
        # recursive triggers: INSERT OR REPLACE then fires the delete triggers that keep append-only tables so
        for pragma in (
            f"busy_timeout={round(self._patience * 1_000)}",
            "journal_mode=WAL",
            *(f"{name}={value}" for name, value in _PRAGMAS.items()),
            "cache_size=-65536",
            "recursive_triggers=ON",
        ):
            connection.execute(f"PRAGMA {pragma}")

    def _prepare_postgresql(self, connection: Any, _record: Any) -> None:
        """Limit how long a statement waits for a lock, and name the connection, unless the URL names it."""
        with connection.cursor() as cursor:
            cursor.execute(f"SET lock_timeout = {round(self._patience * 1_000)}")
            if "application_name" not in self.url.query:
                cursor.execute("SELECT set_config('application_name', %s, false)", (name_connection(),))
        connection.commit()


class Writable(Protocol):
    """Opens write transactions: a database, or a shared transaction."""

    def write(self) -> AbstractContextManager[Session]: ...


class SharedTransaction:
    """A write transaction of SQLite that several functions share. Each writes in its own savepoints."""

    def __init__(self, connection: Connection, shown_url: str) -> None:
        self._connection, self._shown_url = connection, shown_url

    def attempt(self, work: Callable[[Writable], Result]) -> Result | Exception:
        """Call `work`; return its result or its error.

        Raises the error if it has rolled back the whole transaction: SQLite does so if the disk is full, for
        example.
        """
        outcome = _attempt(work, self)
        if not self._is_open() and isinstance(outcome, Exception):
            raise outcome
        self._require_open()
        return outcome

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Open a session that writes in a savepoint. It is rolled back if the block fails."""
        self._require_open()  # else the savepoint would be a transaction of its own
        savepoint = self._connection.begin_nested()
        try:
            with (
                explain_unavailable(self._shown_url, write=True),
                Session(
                    self._connection, expire_on_commit=False, join_transaction_mode="rollback_only"
                ) as session,
            ):
                yield session
                _finish(session)
                session.flush()
        except BaseException:
            if self._is_open():
                savepoint.rollback()
            raise
        savepoint.commit()

    def _require_open(self) -> None:
        if not self._is_open():
            raise DatabaseUnavailable(
                DISK_ERROR, database=self._shown_url, detail="the transaction was undone"
            )

    def _is_open(self) -> bool:
        return bool(self._connection.connection.dbapi_connection.in_transaction)  # type: ignore[union-attr]


def _attempt(work: Callable[[Writable], Result], writable: Writable) -> Result | Exception:
    try:
        return work(writable)
    except Exception as error:  # noqa: BLE001 - returned to whoever asked for this piece of work
        return error


def _finish(session: Session) -> None:
    for finish in session.info.pop(_AT_END, ()):
        finish(session)


def name_connection() -> str:
    """Return the name of this process's connections in PostgreSQL: `annotator 0026 4711 host`.

    A newer program detects connected older ones by it.
    """
    host = platform.node().encode("ascii", "replace").decode()
    return f"{CONNECTION} {find_newest_revision()} {os.getpid()} {host}"[:63]


@cache
def find_newest_revision() -> str:
    """Return the number of the newest migration, such as "0026"."""
    return max(path.name[:4] for path in _MIGRATIONS.glob("[0-9]*.py"))


_USED_AT = "annotator_used_at"  # in the pool's notes on a connection


def _note_use(_connection: Any, record: Any) -> None:
    record.info[_USED_AT] = time.monotonic()


def _try_unused(dialect: Any, connection: Any, record: Any, _fairy: Any) -> None:
    """Test a connection that was idle. If it is lost, PostgreSQL was restarted: reopen all connections.

    A busy connection is not tested. If it is lost, its request fails, the pool reopens all connections, and
    the browser repeats the request.
    """
    used_at = record.info.get(_USED_AT)
    if used_at is None or time.monotonic() - used_at < UNTRIED_SECONDS:
        return
    try:
        dialect.do_ping(connection)
    except dialect.loaded_dbapi.Error as error:
        raise InvalidatePoolError from error


_AT_END = "annotator_at_end"  # in the session's notes


def at_end(session: Session, finish: Callable[[Session], None]) -> None:
    """Call `finish` just before this write transaction commits; never if it fails or is rolled back."""
    session.info.setdefault(_AT_END, []).append(finish)


def is_writing(session: Session) -> bool:
    """Return whether the session is one of `Database.write`."""
    return bool(session.connection().get_execution_options().get("annotator_write", False))


def require_not_archived(session: Session, dataset_pk: int) -> None:
    """Raise DatasetArchived if the dataset is archived."""
    name = session.connection().execute(_ARCHIVED_NAME, {"d": dataset_pk}).scalar()
    if name is not None:
        raise DatasetArchived(describe_archived(name), dataset=name)


def describe_archived(name: str) -> Message:
    """Describe that a dataset is archived, and what helps."""
    return say(
        "{name} is archived, so nothing in it can be judged or changed. A lead can unarchive it on the page Settings",
        name=name,
    )


def lock_dataset(session: Session, dataset_pk: int, *, archived_too: bool = False) -> None:
    """Lock the dataset until this transaction ends, against this function and `share_dataset`.

    Raises DatasetArchived if the dataset is archived, unless `archived_too`: it may have been archived during
    the wait. SQLite runs one write transaction at a time, so it needs no lock.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.connection().execute(_LOCK, {"d": dataset_pk})
    if not archived_too:
        require_not_archived(session, dataset_pk)


def lock_releases(session: Session, dataset_pk: int) -> None:
    """Block other releases of this dataset until this transaction ends.

    On PostgreSQL, judgments and decisions do not wait: the published content is read before.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.connection().execute(_LOCK_RELEASES, {"d": dataset_pk})


def show_url(url: URL) -> str:
    """Return the URL without its password, also if that is among the options."""
    hidden = {key: "***" for key in url.query if "pass" in key.lower() or "secret" in key.lower()}
    return url.update_query_dict(hidden).render_as_string(hide_password=True)


def _parse(url: str | URL) -> URL:
    try:
        parsed = make_url(url)
        backend = parsed.get_backend_name()
    except (ArgumentError, ValueError):
        raise ValidationError(
            "expected a database URL such as sqlite:///annotator.db or postgresql+psycopg://user@host/name"
        ) from None
    if backend not in ("sqlite", "postgresql"):
        raise ValidationError(f"expected a sqlite or postgresql database URL, found {parsed.drivername}")
    return parsed.set(drivername="postgresql+psycopg" if backend == "postgresql" else "sqlite")


def _prepare_file(url: URL, _dialect: Any, _record: Any, _given: Any, _options: dict[str, Any]) -> None:
    """Create the file readable by its owner only, whatever the umask, before the driver opens it."""
    create_private_file(url)


_OF_SAVEPOINTS = {  # by SQLAlchemy's method of the dialect
    "do_savepoint": "SAVEPOINT",
    "do_release_savepoint": "RELEASE",
    "do_rollback_to_savepoint": "ROLLBACK TO",
}


def _use_driver_for_savepoints(dialect: Any) -> None:
    """Run the statements of savepoints with SQLite's driver.

    SQLAlchemy compiles each one again, which takes longer than a judgment's INSERT.
    """

    def make(statement: str) -> Callable[[Connection, str], None]:
        def run(connection: Connection, name: str) -> None:
            driver: Any = connection.connection.dbapi_connection
            driver.execute(f"{statement} {name}")

        return run

    for method, statement in _OF_SAVEPOINTS.items():
        setattr(dialect, method, make(statement))


_CHANGED = "annotator_pragmas"  # in the pool's notes on a connection: what its last transaction asked for


def _begin_sqlite(connection: Any) -> None:
    options = connection.get_execution_options()
    wait = options.get("annotator_wait", PATIENCE_SECONDS)
    driver = connection.connection.dbapi_connection
    # only if the connection still has the last transaction's pragmas: a pragma makes SQLite plan every statement again
    pragmas, before = options.get("annotator_pragmas", _PRAGMAS), connection.info.get(_CHANGED, _PRAGMAS)
    if pragmas != before:
        for name, value in pragmas.items():
            if value != before[name]:
                driver.execute(f"PRAGMA {name}={value}")
        connection.info[_CHANGED] = pragmas
    write = options.get("annotator_write", True)
    if write and _begin_soon(driver, wait):
        return
    driver.execute(f"PRAGMA busy_timeout={round(wait * 1_000)}")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _begin_soon(driver: Any, wait: float) -> bool:
    """Try every few milliseconds to begin a write, for `wait` seconds. Return whether it succeeded.

    SQLite itself tries more and more rarely, in the end every 0.1 s: it would miss the gaps between the parts
    of a long write. This function tries at least once in each gap (`long_writes.GAP_SECONDS`).
    """
    until = time.monotonic() + wait
    driver.execute(f"PRAGMA busy_timeout={min(ASK_MILLISECONDS, round(wait * 1_000))}")
    while True:
        try:
            driver.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                return False
            if time.monotonic() >= until:
                return False
        else:
            driver.execute(f"PRAGMA busy_timeout={round(wait * 1_000)}")
            return True


PROBE_SECONDS = 1.0
_READ = text("SELECT version_num FROM alembic_version")
_WRITE = text("UPDATE alembic_version SET version_num = version_num")
_LOCK_AS_A_JUDGMENT_DOES = text("LOCK TABLE judgment IN ROW EXCLUSIVE MODE")


class DatabaseProbe:
    """Checks whether a database can be read and written. Safe to use from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = Database(database.url, patience=PROBE_SECONDS, beside=database)
        self.schema: str | None = None  # of the database when it was read last

    def find_read_problem(self) -> str | None:
        """Read a row. Returns why that failed, for the log; None if it succeeded. Waits for no writer."""
        try:
            with self._database.ask() as session:
                self.schema = session.execute(_READ).scalar()
        except (AnnotatorError, SQLAlchemyError) as error:
            return _explain(error)
        return None

    def find_write_problem(self) -> str | None:
        """Commit a write that changes nothing. Returns why that failed, for the log; None if it succeeded."""
        try:
            with self._database.write() as session:
                if not self._database.is_sqlite:
                    session.execute(_LOCK_AS_A_JUDGMENT_DOES)
                session.execute(_WRITE)
        except (AnnotatorError, SQLAlchemyError) as error:
            return _explain(error)
        return None

    def dispose(self) -> None:
        self._database.dispose()


def _explain(error: Exception) -> str:
    return error.describe() if isinstance(error, DatabaseUnavailable) else find_detail(error)
