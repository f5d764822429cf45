"""Run prepared SQL, read typed rows, read many plain rows, and insert many rows at once.

For statements that run on every key press: SQLAlchemy builds an expression, its cache key and its result each
time, which takes longer than the database needs (benchmarks/at_a_million.py). Elsewhere expressions read
better and are used.

There are four ways: `fetch` returns typed rows, `fetch_by_pair` the same by pair; `fetch_tuples` returns the
driver's tuples, for a million rows or on every key press; `execute_sql` returns no rows. The tuples are only for
columns of numbers and texts, which need no conversion on either database. Bulk inserts use one compiled statement:
SQLAlchemy's bulk insert takes 50 % longer, and the ORM's twice as long. On PostgreSQL many rows are copied.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from json.encoder import encode_basestring_ascii
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from sqlalchemy import ColumnElement, Connection, Executable, Table, insert
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Mapped, Session
from sqlalchemy.sql.schema import ScalarElementColumnDefault
from sqlmodel import SQLModel

LENGTHS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
_NAME = re.compile(r"(?<![:\w]):(\w+)")
_LINE_END = re.compile(r"[ \t]*(?:--[^\n]*)?\n\s*")


@dataclass(frozen=True, slots=True)
class PreparedSql:
    """A statement with values written as `:name`."""

    text: str
    lists: tuple[str, ...] = ()  # the names of list values (`IN :name`)


def prepare_sql(statement: str, *, lists: Collection[str] = ()) -> PreparedSql:
    """Return a statement, in one line. `lists`: the names of list values (`IN :name`).

    Do not write a colon or a line end between quotes. psycopg parses a statement of more than 4,096
    characters again on every run.
    """
    return PreparedSql(_LINE_END.sub(" ", statement.strip()), tuple(lists))


def quote_texts(texts: Collection[str]) -> str:
    """Return constants of the program as a list in SQL: ('a', 'b'). Never use it for input of a user."""
    return "(" + ", ".join(f"'{text}'" for text in texts) + ")"


def execute_sql(
    session: Session, statement: PreparedSql, values: Mapping[str, Any] | Sequence[Mapping[str, Any]]
) -> int:
    """Run a statement that returns no rows, and return the number of changed rows. Does not flush the session.

    Ignores values that the statement does not name. With several sets of values, a statement without lists
    runs once for each, sent together.
    """
    connection = session.connection()
    if isinstance(values, Mapping):
        rendered, given = _bind(statement, values, connection.dialect.name)
        return int(_run_on_cursor(connection, rendered, given, _count_rows))
    if not values:
        return 0
    dialect = connection.dialect.name
    rendered, names = _render(statement, (), dialect)
    sent = [{name: _write(row[name], dialect) for name in names} for row in values]
    return int(_run_on_cursor(connection, rendered, sent, _count_rows, many=True))


def _count_rows(cursor: Any) -> int:
    return int(cursor.rowcount)


def _bind(statement: PreparedSql, values: Mapping[str, Any], dialect: str) -> tuple[str, dict[str, Any]]:
    """Return the statement and its values as the driver takes them."""
    given: dict[str, Any] = {}
    lengths = []
    for name in statement.lists:
        items = _fill(values[name])
        lengths.append(len(items))
        given.update((f"{name}_{index}", item) for index, item in enumerate(items))
    rendered, names = _render(statement, tuple(lengths), dialect)
    for name in names:
        given[name] = _write(values[name], dialect)
    return rendered, given


class _RunningStatement:
    """Stands in for SQLAlchemy's execution context in event listeners (`slow_statements.py`)."""

    annotator_began = 0.0

    def __init__(self, *, executemany: bool) -> None:
        self.executemany = executemany

    def handle_dbapi_exception(self, error: BaseException) -> None:
        """Called by SQLAlchemy before it raises the error as its own."""


def _run_on_cursor(
    connection: Connection,
    statement: str,
    given: Any,
    take: Callable[[Any], Any],
    *,
    many: bool = False,
) -> Any:
    """Run a statement on a cursor of the driver, and return `take(cursor)`.

    Calls the engine's event listeners, and raises errors as SQLAlchemy does, which also drops a lost
    connection. SQLAlchemy's further work for each statement and result takes longer than a short statement.
    """
    cursor: Any = None
    running: Any = _RunningStatement(executemany=many)
    dispatch = connection.engine.dispatch
    try:
        cursor = connection.connection.cursor()
        for tell in dispatch.before_cursor_execute:
            tell(connection, cursor, statement, given, running, many)
        (cursor.executemany if many else cursor.execute)(statement, given)
        for tell in dispatch.after_cursor_execute:
            tell(connection, cursor, statement, given, running, many)
        taken = take(cursor)
        cursor.close()
    except BaseException as error:  # noqa: BLE001 - raised again, as SQLAlchemy's
        connection._handle_dbapi_exception(error, statement, given, cursor, running)
    return taken


def _fetch_all(cursor: Any) -> list[Any]:
    rows: list[Any] = cursor.fetchall()
    return rows


Row = TypeVar("Row")
Convert = Callable[[Any], Any]


def fetch(
    session: Session, statement: PreparedSql, row_type: type[Row], values: Mapping[str, Any] | None = None
) -> list[Row]:
    """Return the rows as `row_type`, a NamedTuple or dataclass with one field per column in order:

        class _Answer(NamedTuple):
            pair_pk: int
            is_late: bool
            judged_at: datetime | None

        _ANSWERS = prepare_sql("SELECT pair_pk, late AS is_late, judged_at FROM judgment WHERE annotator_pk = :person_pk")
        answers = fetch(session, _ANSWERS, _Answer, {"person_pk": person_pk})

    ValueError if a column has another name than its field: write `AS name`. Fields of type `datetime` (aware,
    UTC), `bool`, `dict`, `list` and `Mapping` (JSON columns) are converted, so both databases give the same
    values; all other columns come as the driver gives them. Flushes the session first.

    Each row takes 0.5 µs more than with `fetch_tuples`.
    """
    session.flush()
    connection = session.connection()
    rendered, given = _bind(statement, values or {}, connection.dialect.name)
    take = partial(_fetch_typed, row_type, rendered)
    (make, conversions), rows = _run_on_cursor(connection, rendered, given, take)
    if conversions:
        return [make(_convert(row, conversions)) for row in rows]
    return list(map(make, rows))


Record = TypeVar("Record")
PAIRS_AT_ONCE = 500


def fetch_by_pair(
    session: Session, statement: PreparedSql, record_type: type[Record], pair_pks: Collection[int]
) -> dict[int, list[Record]]:
    """Return the records of each pair by pair_pk, in the statement's order; pairs without one are absent.

    The statement names the pairs as the list `:pairs`. Its first column is the pair_pk, the others are fields
    of `record_type`, a dataclass or NamedTuple, by name and in any order; they are converted as `fetch` does.
    A plain type, such as `str`, means one more column, which is not converted. Flushes the session first.
    """
    session.flush()
    connection = session.connection()
    records: dict[int, list[Record]] = {}
    for pairs in split_into_chunks(sorted(set(pair_pks)), PAIRS_AT_ONCE):
        rendered, given = _bind(statement, {"pairs": pairs}, connection.dialect.name)
        names, rows = _run_on_cursor(connection, rendered, given, _fetch_named)
        if not is_dataclass(record_type) and not hasattr(record_type, "_fields"):
            for pair_pk, value in rows:
                records.setdefault(pair_pk, []).append(value)
            continue
        hints = get_type_hints(record_type)
        planned = [(index, _find_conversion(hints[name])) for index, name in enumerate(names[1:], 1)]
        conversions = [(index, convert) for index, convert in planned if convert is not None]
        for row in rows:
            pair_pk, *values = _convert(row, conversions)
            record = record_type(**dict(zip(names[1:], values, strict=True)))
            records.setdefault(pair_pk, []).append(record)
    return records


def _fetch_named(cursor: Any) -> tuple[list[str], list[Any]]:
    return [column[0] for column in cursor.description], cursor.fetchall()


_Plan = tuple[Callable[[Any], Any], tuple[tuple[int, Convert], ...]]
_plans: dict[tuple[type[Any], str], _Plan] = {}  # by the statement: its columns are asked for once
_MOST_PLANS = 2_048


def _fetch_typed(row_type: type[Any], statement: str, cursor: Any) -> tuple[_Plan, list[Any]]:
    plan = _plans.get((row_type, statement))
    if plan is None:
        plan = _plan_rows(row_type, tuple(column[0] for column in cursor.description))
        if len(_plans) >= _MOST_PLANS:
            _plans.clear()
        _plans[row_type, statement] = plan
    return plan, cursor.fetchall()


def _plan_rows(
    row_type: type[Row], columns: tuple[str, ...]
) -> tuple[Callable[[Any], Row], tuple[tuple[int, Convert], ...]]:
    """Return the function that makes a row of a tuple, and the conversions of its values by index."""
    hints = get_type_hints(row_type)
    if columns != tuple(hints):
        raise ValueError(f"expected the columns {tuple(hints)} for {row_type.__name__}, found {columns}")
    conversions = (_find_conversion(hints[column]) for column in columns)
    # the names are checked above, so the length of each row needs no check, unlike in `_make`
    make: Any = (lambda row: row_type(*row)) if is_dataclass(row_type) else partial(tuple.__new__, row_type)
    return (
        make,
        tuple((index, convert) for index, convert in enumerate(conversions) if convert is not None),
    )


def _find_conversion(hint: Any) -> Convert | None:
    alternatives = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    kinds = {get_origin(kind) or kind for kind in alternatives if kind is not NoneType}
    if kinds == {datetime}:
        return _read_time_or_none
    if kinds == {bool}:
        return _read_flag_or_none
    if kinds & {dict, list, Mapping, Sequence}:
        return read_json
    return None


def _convert(row: Any, conversions: Sequence[tuple[int, Convert]]) -> list[Any]:
    values = list(row)
    for index, convert in conversions:
        values[index] = convert(values[index])
    return values


def _read_time_or_none(value: Any) -> datetime | None:
    return None if value is None else read_time(value)


def _read_flag_or_none(value: Any) -> bool | None:
    return None if value is None else bool(value)


def read_json(value: Any) -> Any:
    """Return the content of a JSON column, which SQLite keeps as text."""
    return json.loads(value) if isinstance(value, str) else value


def read_time(value: Any) -> datetime:
    """Return a time as an aware time in UTC. SQLite keeps it as text in UTC."""
    time = datetime.fromisoformat(value) if isinstance(value, str) else value
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def read_iso_time(stored: str | datetime) -> str:
    """Return a stored time as ISO 8601 in UTC with Z.

    `stored`: SQLite's text, or PostgreSQL's time with a zone.
    """
    if isinstance(stored, str):
        fraction = "" if stored.endswith(".000000") else stored[19:]
        return f"{stored[:10]}T{stored[11:19]}{fraction}Z"
    return stored.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _write(value: Any, dialect: str) -> Any:
    return value if type(value) is not datetime else _write_time(value, dialect)


def _write_time(time: datetime, dialect: str) -> datetime | str:
    """Return the time as the driver stores it for `columns.UtcDateTime`."""
    if time.tzinfo is None:
        raise ValueError("a time without a zone")
    return time if dialect != "sqlite" else time.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")


def _fill(items: Collection[Any]) -> list[Any]:
    """Return the items, with the last one repeated up to one of a few lengths.

    `IN` finds the same rows. PostgreSQL plans each length of list separately, so few lengths mean few plans.
    """
    filled = list(items)
    length = next((length for length in LENGTHS if length >= len(filled)), len(filled))
    return filled + filled[-1:] * (length - len(filled))


@lru_cache(maxsize=2_048)
def _render(statement: PreparedSql, lengths: tuple[int, ...], dialect: str) -> tuple[str, tuple[str, ...]]:
    """Return the statement as the driver reads it, and the names of its values that are no lists."""
    list_lengths = dict(zip(statement.lists, lengths, strict=True))
    names: dict[str, None] = {}

    def write(match: re.Match[str]) -> str:
        name = match[1]
        if name not in list_lengths:
            names[name] = None
            return _write_name(name, dialect)
        items = (_write_name(f"{name}_{index}", dialect) for index in range(list_lengths[name]))
        return f"({', '.join(items) or 'NULL'})"

    written = statement.text if dialect == "sqlite" else statement.text.replace("%", "%%")
    return _NAME.sub(write, written), tuple(names)


def _write_name(name: str, dialect: str) -> str:
    return f":{name}" if dialect == "sqlite" else f"%({name})s"


def fetch_tuples(
    session: Session, statement: PreparedSql | Executable, values: Mapping[str, Any] | None = None
) -> list[Any]:
    """Return every row as the driver's tuple. Flushes the session only before an expression of SQLAlchemy.

    For reads of a million rows and for statements that run on every key press.
    """
    connection = session.connection()
    if isinstance(statement, PreparedSql):
        rendered, given = _bind(statement, values or {}, connection.dialect.name)
        return list(_run_on_cursor(connection, rendered, given, _fetch_all))
    session.flush()
    with connection.execute(statement, values) as result:
        return list(result.cursor.fetchall()) if result.cursor is not None else []


_JOIN_BY_HASH = prepare_sql(
    "SELECT set_config('enable_nestloop', 'off', true), set_config('work_mem', '64MB', true)"
)
_PLAN_AS_USUAL = ("SET LOCAL enable_nestloop TO DEFAULT", "SET LOCAL work_mem TO DEFAULT")


@contextmanager
def join_many_rows(session: Session) -> Iterator[None]:
    """Within the block, make PostgreSQL join by hash and sort in memory.

    For joins with many rows that this transaction has added. The statistics do not include such rows yet:
    PostgreSQL expects one of them, uses nested loops, and takes ten times as long (benchmarks/pooling.py).
    """
    is_postgresql = session.connection().dialect.name == "postgresql"
    if is_postgresql:
        execute_sql(session, _JOIN_BY_HASH, {})
    yield
    if is_postgresql:  # not after an error, which ends the transaction with its settings
        for statement in _PLAN_AS_USUAL:
            execute_sql(session, prepare_sql(statement), {})


CHUNK = 5_000
COPIED = 1_000  # from so many rows on
T = TypeVar("T")
Prepare = Callable[[Any], Any]


def add_rows(session: Session, row_class: type[SQLModel], rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows of one table. All rows must have the same columns; other columns get their defaults."""
    if not rows:
        return
    session.flush()
    connection = session.connection()
    table = SQLModel.metadata.tables[str(row_class.__tablename__)]
    constants = {
        column.name: column.default.arg
        for column in table.c
        if column.name not in rows[0] and isinstance(column.default, ScalarElementColumnDefault)
    }
    statement, positional, steps = _compile(table, (*rows[0], *constants), connection.dialect)
    for chunk in split_into_chunks(rows, CHUNK):
        complete = [{**constants, **row} for row in chunk] if constants else chunk
        if connection.dialect.name == "postgresql" and len(rows) >= COPIED:
            _copy_rows(connection, table, complete, steps)
        else:
            connection.exec_driver_sql(statement, _list_parameters(complete, steps, positional=positional))


def holds_any(session: Session, column: Mapped[str], characters: str) -> ColumnElement[bool]:
    """Return the condition that a text contains one of these characters (no bracket, hyphen or caret)."""
    if session.get_bind().dialect.name == "postgresql":
        return column.op("~", is_comparison=True)(f"[{characters}]")
    return column.op("GLOB", is_comparison=True)(f"*[{characters}]*")


def add_tuples(
    session: Session, row_class: type[SQLModel], names: Sequence[str], rows: Sequence[Sequence[Any]]
) -> None:
    """Insert up to a million rows as tuples, with values in the order of `names`, without checks.

    The values are in the drivers' form: numbers, texts, bools, `write_time(…)`, and JSON as text. Other
    columns get the database's own defaults.
    """
    if not rows:
        return
    session.flush()
    connection = session.connection()
    table = SQLModel.metadata.tables[str(row_class.__tablename__)]
    if connection.dialect.name == "postgresql":
        _copy_tuples(connection, table.name, names, rows)
        return
    columns, places = ", ".join(f'"{name}"' for name in names), ", ".join("?" * len(names))
    connection.exec_driver_sql(f'INSERT INTO "{table.name}" ({columns}) VALUES ({places})', list(rows))


def write_time(session: Session, time: datetime) -> datetime | str:
    """Return a time as `add_tuples` takes it."""
    return _write_time(time, session.connection().dialect.name)


def write_json(content: Mapping[str, Any]) -> str:
    """Return the content of a JSON column as `add_tuples` takes it: the text of `json.dumps`.

    Mappings of texts are encoded here: a table of documents has a million, and `json.dumps` makes a new
    encoder for each.
    """
    if not content:
        return "{}"
    try:
        items = [
            f"{encode_basestring_ascii(name)}: {encode_basestring_ascii(value)}"
            for name, value in content.items()
        ]
    except TypeError:  # a value that is no text
        return json.dumps(dict(content))
    return f"{{{', '.join(items)}}}"


def _copy_rows(
    connection: Connection,
    table: Table,
    rows: Sequence[Mapping[str, Any]],
    steps: Sequence[tuple[str, Prepare | None]],
) -> None:
    values = _list_parameters(rows, steps, positional=True)
    _copy_tuples(connection, table.name, [name for name, _ in steps], values)


def _copy_tuples(
    connection: Connection, table: str, names: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    """Insert rows by PostgreSQL's COPY, which is much faster than INSERT. It raises the same errors."""
    columns = ", ".join(f'"{name}"' for name in names)
    statement = f'COPY "{table}" ({columns}) FROM STDIN'
    driver: Any = connection.connection.driver_connection
    errors = connection.dialect.loaded_dbapi.Error
    try:
        with driver.cursor() as cursor, cursor.copy(statement) as copy:
            for values in rows:
                copy.write_row(values)
    except errors as error:
        raise DBAPIError.instance(statement, None, error, errors, dialect=connection.dialect) from error


@lru_cache(maxsize=256)
def _compile(
    table: Table, names: tuple[str, ...], dialect: Dialect
) -> tuple[str, bool, list[tuple[str, Prepare | None]]]:
    """Return the INSERT statement, whether it takes values by position, and how each value is prepared."""
    compiled = insert(table).compile(dialect=dialect, column_keys=list(names))
    order = compiled.positiontup or names
    kinds = {name: table.c[name].type.dialect_impl(dialect) for name in order}
    steps: list[tuple[str, Prepare | None]] = [
        (name, kind.bind_processor(dialect)) for name, kind in kinds.items()
    ]
    return str(compiled), bool(compiled.positional), steps


def split_into_chunks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield the items in slices of at most `size`."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _list_parameters(
    rows: Sequence[Mapping[str, Any]], steps: Sequence[tuple[str, Prepare | None]], *, positional: bool
) -> list[Any]:
    """Return the values of the rows for the driver. Works by column: five times faster than by row."""
    columns = [_prepare_column(rows, name, step) for name, step in steps]
    if positional:
        return list(zip(*columns, strict=True))
    names = [name for name, _ in steps]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def _prepare_column(rows: Sequence[Mapping[str, Any]], name: str, step: Prepare | None) -> Sequence[Any]:
    values = [row[name] for row in rows]
    if step is None:
        return values
    first = values[0]
    if all(value is first for value in values):  # the time of an import, for instance
        return [step(first)] * len(values)
    prepared: dict[int, Any] = {}  # by identity: rows share many values, such as the source of their grades
    for value in values:
        if id(value) not in prepared:
            prepared[id(value)] = step(value)
    return [prepared[id(value)] for value in values]
