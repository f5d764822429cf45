"""Read and write whole tables in bulk, the same way on SQLite and PostgreSQL: for copies, and for a backup's
counts.

A row is a tuple of plain values that do not depend on the database: whole numbers, floats, texts, booleans,
bytes, times as text in UTC with microseconds, JSON as the stored text. The hash of a table is the sum of its
rows' SHA-256: independent of their order, which differs by collation. A SQLite database is copied by its backup API,
never as a file, while others write to it.
"""

import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    DateTime,
    Float,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    Table,
    inspect,
    text,
)
from sqlalchemy.engine import URL
from sqlalchemy.orm import Session
from sqlmodel import SQLModel

from annotator.domain.errors import StateError
from annotator.installation.records import RECORDED_IN_PARTS, SHORT_LIVED, ReportProgress
from annotator.storage.database import Database, find_sqlite_file
from annotator.storage.tables import every_table  # noqa: F401  (it defines the tables)
from annotator.storage.tables.columns import UtcDateTime

AT_ONCE = 5_000
VERSION_TABLE = "alembic_version"
_TIME = "%Y-%m-%d %H:%M:%S.%f"
_MODULUS = 2**256

Row = tuple[Any, ...]
Column = Sequence[Any]
Convert = Callable[[str, Column], Column]


class TableHash:
    """The hash of the added rows, independent of their order."""

    def __init__(self) -> None:
        self.rows = 0
        self._sum = 0

    def add(self, rows: Sequence[Row]) -> None:
        """Add rows."""
        sha256, to_number = hashlib.sha256, int.from_bytes
        self._sum += sum(to_number(sha256(repr(row).encode()).digest(), "big") for row in rows)
        self.rows += len(rows)

    def hexdigest(self) -> str:
        """Return the hash in hexadecimal."""
        return f"{self._sum % _MODULUS:064x}"


def list_tables() -> list[Table]:
    """Return the tables of this program, each after the tables it references."""
    return list(SQLModel.metadata.sorted_tables)


def is_postgresql(session: Session) -> bool:
    """Return whether the session's database is PostgreSQL."""
    return session.connection().dialect.name == "postgresql"


def list_table_names(session: Session) -> list[str]:
    """Return the names of all tables in the database, also of other programs."""
    return sorted(inspect(session.connection()).get_table_names())


def count_rows(session: Session, names: Sequence[str]) -> dict[str, int]:
    """Return {table: row count}."""
    return {name: int(session.scalar(text(f'SELECT count(*) FROM "{name}"')) or 0) for name in names}


def require_empty(session: Session, shown_url: str) -> None:
    """Raise StateError unless the database holds only empty tables of this program."""
    names = list_table_names(session)
    foreign = [name for name in names if name not in {*SQLModel.metadata.tables, VERSION_TABLE}]
    filled = [
        f"{name} ({rows:,})"
        for name, rows in count_rows(session, names).items()
        if rows and name != VERSION_TABLE
    ]
    if foreign or filled:
        shown = ", ".join(filled or foreign)
        raise StateError(
            f"expected an empty database at {shown_url}, found tables with content: {shown}. Nothing was changed"
        )


def drop_tables(session: Session) -> None:
    """Drop the tables of this program and its trigger functions. PostgreSQL only."""
    names = [name for name in list_table_names(session) if name in {*SQLModel.metadata.tables, VERSION_TABLE}]
    if names:
        session.execute(text("DROP TABLE " + ", ".join(f'"{name}"' for name in names) + " CASCADE"))
    functions = text(
        "SELECT p.oid::regprocedure::text FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace "
        "AND p.prorettype = 'trigger'::regtype AND NOT EXISTS "
        "(SELECT 1 FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')"
    )
    for name in session.scalars(functions).all():
        session.execute(text(f"DROP FUNCTION {name}"))


def list_broken_references(session: Session, names: Sequence[str]) -> list[str]:
    """Return a sentence for each foreign key that rows violate, also for those that PostgreSQL's triggers check.

    On PostgreSQL the schema must be this program's. `names`: the tables in the database.
    """
    if not is_postgresql(session):
        allowed = RECORDED_IN_PARTS if is_recording_release(session, names) else ()
        broken = (row for row in session.execute(text("PRAGMA foreign_key_check")) if row[0] not in allowed)
        return [f"a row of {row[0]} names no row of {row[2]}" for row in islice(broken, 1)]
    found = []
    for table in list_tables():
        for key in table.foreign_key_constraints:
            if {table.name, key.referred_table.name} <= set(names):
                rows = session.scalar(text(_count_broken(table, key)))
                if rows:
                    found.append(f"{rows:,} rows of {table.name} name no row of {key.referred_table.name}")
    return found


def is_recording_release(session: Session, names: Sequence[str]) -> bool:
    """Check whether a release is being published, or its publishing was killed. `names`: the tables."""
    table = "release_recording"
    return table in names and bool(count_rows(session, [table])[table])


def _count_broken(table: Table, key: ForeignKeyConstraint) -> str:
    pairs = [(element.parent.name, element.column.name) for element in key.elements]
    filled = " AND ".join(f'a."{name}" IS NOT NULL' for name, _ in pairs)
    same = " AND ".join(f'b."{other}" = a."{name}"' for name, other in pairs)
    return (
        f'SELECT count(*) FROM "{table.name}" a WHERE {filled} AND NOT EXISTS '
        f'(SELECT 1 FROM "{key.referred_table.name}" b WHERE {same})'
    )


def read_rows(session: Session, table: Table) -> Iterator[list[Row]]:
    """Yield lists with all rows of a table, as plain values."""
    converts = [_find_reading(column) for column in table.columns]
    for rows in _fetch(session, table):
        yield _convert(table, rows, converts)


def _fetch(session: Session, table: Table) -> Iterator[list[Row]]:
    driver = _find_driver(session)
    if is_postgresql(session):
        columns = ", ".join(_write_column(column) for column in table.columns)
        with driver.cursor(name="annotator_copy") as cursor:
            cursor.execute(f'SELECT {columns} FROM "{table.name}"')
            while rows := cursor.fetchmany(AT_ONCE):
                yield rows
        return
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    cursor = driver.execute(f'SELECT {names} FROM "{table.name}"')
    while rows := cursor.fetchmany(AT_ONCE):
        yield rows


def _find_driver(session: Session) -> Any:
    return session.connection().connection.driver_connection


def _write_column(column: Any) -> str:
    """Return SQL for a column as PostgreSQL's text, if the driver would convert it to something else."""
    if _is_time(column):
        return f"to_char(\"{column.name}\" AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')"
    return f'"{column.name}"::text' if isinstance(column.type, JSON) else f'"{column.name}"'


def _is_time(column: Any) -> bool:
    return isinstance(column.type, UtcDateTime | DateTime)


def _find_reading(column: Any) -> Convert:
    if _is_time(column):
        return _read_times
    types, expected, convert = next(
        reading for kind, reading in _READINGS.items() if isinstance(column.type, kind)
    )

    def read(name: str, values: Column) -> Column:
        _require(name, values, types, expected)
        if convert is None:
            return values
        return [None if value is None else convert(value) for value in values]

    return read


def _convert(table: Table, rows: Sequence[Row], converts: Sequence[Convert]) -> list[Row]:
    names = [f"{table.name}.{column.name}" for column in table.columns]
    columns = zip(*rows, strict=True)
    converted = [
        convert(name, list(values)) for name, convert, values in zip(names, converts, columns, strict=True)
    ]
    return list(zip(*converted, strict=True))


def _require(name: str, values: Column, kinds: set[type], expected: str) -> None:
    """Raise StateError if a value has another type. SQLite accepts any type."""
    strange = set(map(type, values)) - kinds - {type(None)}
    if strange:
        found = next(value for value in values if type(value) in strange)
        raise StateError(f"expected {expected} in {name}, found {found!r:.80}. Nothing was changed")


_READINGS: Mapping[Any, tuple[set[type], str, Callable[[Any], Any] | None]] = {
    Boolean: ({bool, int}, "true or false", bool),
    Float: ({float, int}, "numbers", lambda value: value + 0.0),  # SQLite keeps no sign of a zero
    LargeBinary: ({bytes}, "bytes", None),
    Integer: ({int}, "whole numbers", None),
    object: ({str}, "texts", None),
}
"""By the kind of column: the types that a value may have, what they are called, and what makes them alike."""


def _read_times(name: str, values: Column) -> Column:
    _require(name, values, {str}, "times")
    return [
        value if value is None or _is_plain_time(value) else _normalize_time(name, value) for value in values
    ]


def _is_plain_time(value: str) -> bool:
    return len(value) == 26 and value[10] == " " and value[19] == "."


def _normalize_time(name: str, value: str) -> str:
    """Return a time in the form of this program's columns, if another program wrote it."""
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        raise StateError(f"expected a time in {name}, found {value!r:.80}. Nothing was changed") from None
    return (time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)).strftime(_TIME)


class TableWriter:
    """Writes plain rows into the empty tables of a database, in an open write transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._driver = _find_driver(session)
        self._rebuilt: list[str] = []
        if not is_postgresql(session):
            self._driver.execute("PRAGMA defer_foreign_keys=ON")

    def drop_indexes(self) -> None:
        """Drop PostgreSQL's foreign keys and indexes: `rebuild_indexes` builds them in a fraction of the time."""
        if not is_postgresql(self._session):
            return
        keys = text(
            "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
            "WHERE contype = 'f' AND connamespace = current_schema()::regnamespace ORDER BY 1, 2"
        )
        indexes = text(
            "SELECT i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid) FROM pg_index i "
            "JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relnamespace = current_schema()::regnamespace "
            "AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid) ORDER BY 1"
        )
        made_keys = [
            (table, name, definition) for table, name, definition in self._session.execute(keys).all()
        ]
        for table, name, _ in made_keys:
            self._session.execute(text(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"'))
        for name, definition in self._session.execute(indexes).all():
            self._session.execute(text(f"DROP INDEX {name}"))
            self._rebuilt.append(definition)
        self._rebuilt += [
            f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {definition}'
            for table, name, definition in made_keys
        ]

    def rebuild_indexes(self) -> None:
        """Rebuild the indexes and foreign keys that `drop_indexes` dropped. The database checks every row."""
        for statement in self._rebuilt:
            self._session.connection().exec_driver_sql(statement)
        self._rebuilt = []

    def write(self, table: Table, chunks: Iterator[list[Row]]) -> None:
        """Insert rows. Raises StateError with table and reason for values that the database cannot hold."""
        connection = self._session.connection()
        errors = connection.dialect.loaded_dbapi.Error
        names = ", ".join(f'"{column.name}"' for column in table.columns)
        try:
            if is_postgresql(self._session):
                self._copy(table, names, chunks)
            else:
                values = ", ".join("?" for _ in table.columns)
                for rows in chunks:
                    self._driver.executemany(f'INSERT INTO "{table.name}" ({names}) VALUES ({values})', rows)
        except errors as error:
            raise StateError(
                f"{table.name}: the database does not take a row, so nothing was copied ({str(error).splitlines()[0]})"
            ) from None

    def _copy(self, table: Table, names: str, chunks: Iterator[list[Row]]) -> None:
        times = [index for index, column in enumerate(table.columns) if _is_time(column)]
        with (
            self._driver.cursor() as cursor,
            cursor.copy(f'COPY "{table.name}" ({names}) FROM STDIN') as copy,
        ):
            for rows in chunks:
                _refuse_nul(table, rows)
                for row in rows:
                    copy.write_row(_add_zone(row, times))

    def set_sequences(self) -> None:
        """Set PostgreSQL's sequences above the written keys."""
        if not is_postgresql(self._session):
            return
        for table in list_tables():
            for column in table.primary_key.columns:
                sequence = self._session.scalar(
                    text("SELECT pg_get_serial_sequence(:table, :column)"),
                    {"table": f'"{table.name}"', "column": column.name},
                )
                if sequence is not None:
                    highest = f'(SELECT max("{column.name}") FROM "{table.name}")'
                    self._session.execute(
                        text(f"SELECT setval('{sequence}', coalesce({highest}, 1), {highest} IS NOT NULL)")
                    )


def _add_zone(row: Row, times: Sequence[int]) -> Sequence[Any]:
    if not times:
        return row
    values = list(row)
    for index in times:
        if values[index] is not None:
            values[index] += "+00"
    return values


def _refuse_nul(table: Table, rows: Sequence[Row]) -> None:
    """Raise StateError for a text with a NUL character. SQLite accepts it, PostgreSQL does not."""
    for column, values in zip(table.columns, zip(*rows, strict=True), strict=True):
        for at, value in enumerate(values):
            if type(value) is str and "\x00" in value:
                keys = zip(table.columns, rows[at], strict=True)
                key = ", ".join(f"{item.name} {found}" for item, found in keys if item.primary_key)
                raise StateError(
                    f"{table.name}.{column.name} of the row with {key} holds a NUL character, which PostgreSQL cannot store. "
                    "Nothing was copied"
                )


def analyze(session: Session) -> None:
    """Update PostgreSQL's statistics, so it plans the first queries well."""
    if is_postgresql(session):
        session.execute(text("ANALYZE"))


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
