"""The engine and its transactions: the same code on SQLite and PostgreSQL.

SQLite runs in WAL mode with foreign keys on, a busy timeout and full synchronisation (an acknowledged
judgment survives a power cut); a write transaction takes the write lock at its start (BEGIN IMMEDIATE),
so that it never fails half way with "database is locked". On PostgreSQL a write transaction that must
exclude others on the same dataset says so with `lock_dataset`.
"""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, OperationalError
from sqlalchemy.orm import Session

from annotator.domain.errors import StateError, ValidationError

BUSY_TIMEOUT_SECONDS = 30
_READING = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
_LOCK = text("SELECT pg_advisory_xact_lock(:d)")
_LOCK_RELEASES = text("SELECT pg_advisory_xact_lock(1, :d)")  # two numbers: never the same lock as of one
_LOCK_AND_PLAN_ONCE = text(
    "SELECT pg_advisory_xact_lock(:d), set_config('plan_cache_mode', 'force_generic_plan', true)"
)


class Database:
    """A database that is there: hands out read and write transactions.

    `read()` gives one consistent snapshot; `write()` commits when its block ends well, and leaves nothing
    behind otherwise.
    """

    def __init__(self, url: str | URL) -> None:
        self.url = _parse(url)
        self.engine = _create_engine(self.url)
        self._turn = threading.RLock()

    @property
    def is_sqlite(self) -> bool:
        return self.url.get_backend_name() == "sqlite"

    @property
    def shown_url(self) -> str:
        """The address without its password, for messages and logs."""
        return self.url.render_as_string(hide_password=True)

    @contextmanager
    def read(self) -> Iterator[Session]:
        with self._session(write=False) as session:
            yield session
            session.expunge_all()  # nothing that was read is ever written
            session.commit()  # a ROLLBACK makes psycopg forget every statement that PostgreSQL has planned

    @contextmanager
    def write(self) -> Iterator[Session]:
        with self._take_turn(), self._session(write=True) as session, session.begin():
            yield session

    def _take_turn(self) -> AbstractContextManager[object]:
        """On SQLite one writes at a time: the threads of a server stand in line here, rather than ask the file over
        and over (its own way of waiting, which other processes still need)."""
        return self._turn if self.is_sqlite else nullcontext()

    @contextmanager
    def _session(self, *, write: bool) -> Iterator[Session]:
        options: dict[str, Any] = {} if write or self.is_sqlite else _READING
        connection = self.engine.connect().execution_options(annotator_write=write, **options)
        try:
            with Session(connection, expire_on_commit=False) as session:
                yield session
        finally:
            connection.close()

    def is_reachable(self) -> bool:
        """Whether a query is answered now; used by the health route."""
        try:
            with self.engine.connect() as connection:
                connection.execute(text("SELECT 1"))
        except OperationalError:
            return False
        return True

    def dispose(self) -> None:
        self.engine.dispose()


def lock_dataset(session: Session, dataset_pk: int, *, single_rows: bool = False) -> None:
    """Let no other write transaction on this dataset past this point until this one ends.

    On SQLite a write transaction is alone already. `single_rows`: what follows looks rows up by their keys. PostgreSQL
    then plans each statement once, for any values: by its statistics it takes an annotator who has just begun for one
    of no judgments, and reads all that they have given since for each pair.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.connection().execute(_LOCK_AND_PLAN_ONCE if single_rows else _LOCK, {"d": dataset_pk})


def lock_releases(session: Session, dataset_pk: int) -> None:
    """Let nobody else publish this dataset until this transaction ends. Who judges and decides meanwhile does not wait for it on
    PostgreSQL: what is published was read before."""
    if session.get_bind().dialect.name == "postgresql":
        session.connection().execute(_LOCK_RELEASES, {"d": dataset_pk})


def _parse(url: str | URL) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise ValidationError(
            "expected a database URL such as sqlite:///annotator.db or postgresql+psycopg://user@host/name"
        ) from None
    if parsed.get_backend_name() not in ("sqlite", "postgresql"):
        raise ValidationError(f"expected a sqlite or postgresql database URL, found {parsed.drivername}")
    if parsed.get_backend_name() == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    return parsed


def _create_engine(url: URL) -> Engine:
    if url.get_backend_name() == "postgresql":
        return create_engine(url, pool_size=10, max_overflow=30, pool_pre_ping=True)
    if url.database and url.database != ":memory:" and not Path(url.database).absolute().parent.is_dir():
        raise StateError(f"the folder of the database does not exist: {Path(url.database).absolute().parent}")
    engine = create_engine(url, connect_args={"timeout": BUSY_TIMEOUT_SECONDS}, pool_size=10, max_overflow=30)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # the driver must not begin transactions of its own
    # recursive triggers: INSERT OR REPLACE then fires the delete triggers that keep append-only tables so
    for pragma in (
        "journal_mode=WAL", "foreign_keys=ON", "synchronous=FULL", "cache_size=-65536", "recursive_triggers=ON",
    ):  # fmt: skip
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Any) -> None:
    write = connection.get_execution_options().get("annotator_write", True)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
