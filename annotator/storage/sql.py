"""Run prepared SQL, read many plain rows, and insert many at once.

For statements that run on every key press: SQLAlchemy builds an expression, its cache key and its result anew each
time, which takes longer than the database needs (benchmarks/at_a_million.py). Elsewhere expressions read better and are
used. Bulk reads return the driver's tuples, for columns of numbers and texts only, which need no conversion on either
database. Bulk inserts use one compiled statement: SQLAlchemy's bulk insert takes half as long again, and the ORM's
twice as long.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TypeVar

from sqlalchemy import CursorResult, Executable, Table, insert
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import Session
from sqlalchemy.sql.schema import ScalarElementColumnDefault
from sqlmodel import SQLModel

LENGTHS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
_NAME = re.compile(r"(?<![:\w]):(\w+)")


@dataclass(frozen=True, slots=True)
class PreparedSql:
    """A statement whose values are written `:name`; `lists`: those of them that stand for lists (`IN :name`)."""

    text: str
    lists: tuple[str, ...] = ()


def prepare_sql(statement: str, *, lists: Collection[str] = ()) -> PreparedSql:
    """The statement, with the names that stand for lists. A name between quotes is none: write no colon there."""
    return PreparedSql(statement, tuple(lists))


def execute_sql(
    session: Session, statement: PreparedSql, values: Mapping[str, Any]
) -> CursorResult[*tuple[Any, ...]]:
    """Run it in the session's transaction; values that it does not name are left out. What the session holds back is not
    written first: flush where that matters. Columns come as the driver gives them: see `read_json` and `read_time`."""
    connection = session.connection()
    given: dict[str, Any] = {}
    lengths = []
    for name in statement.lists:
        items = _fill(values[name])
        lengths.append(len(items))
        given.update((f"{name}_{place}", item) for place, item in enumerate(items))
    rendered, names = _render(statement, tuple(lengths), connection.dialect.name)
    for name in names:
        given[name] = _write(values[name], connection.dialect.name)
    done: CursorResult[*tuple[Any, ...]] = connection.exec_driver_sql(rendered, given)
    return done


def run_many(session: Session, statement: PreparedSql, rows: Sequence[Mapping[str, Any]]) -> None:
    """Run it once for each of these values, sent together; it has no lists."""
    if not rows:
        return
    connection = session.connection()
    dialect = connection.dialect.name
    rendered, names = _render(statement, (), dialect)
    given = [{name: _write(row[name], dialect) for name in names} for row in rows]
    connection.exec_driver_sql(rendered, given)


def read_json(found: Any) -> Any:
    """A JSON column, which SQLite keeps as text."""
    return json.loads(found) if isinstance(found, str) else found


def read_time(found: Any) -> datetime:
    """A time, which SQLite keeps as text in UTC."""
    time = datetime.fromisoformat(found) if isinstance(found, str) else found
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def _write(value: Any, dialect: str) -> Any:
    return value if type(value) is not datetime else _write_time(value, dialect)


def _write_time(time: datetime, dialect: str) -> datetime | str:
    """As storage/columns.py has the driver write it."""
    if time.tzinfo is None:
        raise ValueError("a time without a zone")
    return time if dialect != "sqlite" else time.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")


def _fill(items: Collection[Any]) -> list[Any]:
    """The list, its last item repeated up to one of a few lengths: `IN` finds the same, and PostgreSQL, which plans every
    length anew, has few statements to keep."""
    given = list(items)
    length = next((length for length in LENGTHS if length >= len(given)), len(given))
    return given + given[-1:] * (length - len(given))


@lru_cache(maxsize=2_048)
def _render(statement: PreparedSql, lengths: tuple[int, ...], dialect: str) -> tuple[str, tuple[str, ...]]:
    """The statement as the driver reads it, and the names of its values but for those in lists."""
    many = dict(zip(statement.lists, lengths, strict=True))
    names: dict[str, None] = {}

    def write(found: re.Match[str]) -> str:
        name = found[1]
        if name not in many:
            names[name] = None
            return _mark(name, dialect)
        return f"({', '.join(_mark(f'{name}_{place}', dialect) for place in range(many[name])) or 'NULL'})"

    written = statement.text if dialect == "sqlite" else statement.text.replace("%", "%%")
    return _NAME.sub(write, written), tuple(names)


def _mark(name: str, dialect: str) -> str:
    return f":{name}" if dialect == "sqlite" else f"%({name})s"


def fetch_plain(session: Session, statement: Executable) -> list[Any]:
    """Every row of this statement."""
    session.flush()
    with session.connection().execute(statement) as result:
        return list(result.cursor.fetchall()) if result.cursor is not None else []


def fetch_tuples(session: Session, statement: PreparedSql, values: Mapping[str, Any]) -> list[Any]:
    """Every row of a statement that is written out (`storage/sql.py`). What the session holds back is not written
    first."""
    with execute_sql(session, statement, values) as result:
        return list(result.cursor.fetchall()) if result.cursor is not None else []


CHUNK = 5_000
T = TypeVar("T")
Prepare = Callable[[Any], Any]


def add_rows(session: Session, row_class: type[SQLModel], rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows of one table; all of them name the same columns. A column that none names gets its default."""
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
        whole = [{**constants, **row} for row in chunk] if constants else chunk
        connection.exec_driver_sql(statement, _parameters(whole, steps, positional=positional))


@lru_cache(maxsize=256)
def _compile(
    table: Table, names: tuple[str, ...], dialect: Dialect
) -> tuple[str, bool, list[tuple[str, Prepare | None]]]:
    """The statement, whether it takes its values by position, and how each of them is prepared."""
    compiled = insert(table).compile(dialect=dialect, column_keys=list(names))
    order = compiled.positiontup or names
    kinds = {name: table.c[name].type.dialect_impl(dialect) for name in order}
    steps: list[tuple[str, Prepare | None]] = [
        (name, kind.bind_processor(dialect)) for name, kind in kinds.items()
    ]
    return str(compiled), bool(compiled.positional), steps


def split_into_chunks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """The items in slices of at most `size`."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _parameters(
    rows: Sequence[Mapping[str, Any]], steps: Sequence[tuple[str, Prepare | None]], *, positional: bool
) -> list[Any]:
    """Prepared column by column: a fifth of the time that row by row takes."""
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
    return [step(value) for value in values]
