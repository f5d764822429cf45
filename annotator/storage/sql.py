"""Statements written out once and run often: what every press of a key asks the database.

SQLAlchemy builds an expression, its cache key and its result anew at each use, which takes longer than the database needs
for the answer (benchmarks/at_a_million.py). These are made when the program starts and handed to the driver as they are:
names become those of the driver, lists as many of them as there are items. Elsewhere expressions read better and are used.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import CursorResult
from sqlalchemy.orm import Session

LENGTHS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
_NAME = re.compile(r"(?<![:\w]):(\w+)")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A statement whose values are written `:name`; `lists`: those of them that stand for lists (`IN :name`)."""

    text: str
    lists: tuple[str, ...] = ()


def prepare(statement: str, *, lists: Collection[str] = ()) -> Prepared:
    """The statement, with the names that stand for lists. A name between quotes is none: write no colon there."""
    return Prepared(statement, tuple(lists))


def run(session: Session, statement: Prepared, values: Mapping[str, Any]) -> CursorResult[*tuple[Any, ...]]:
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


def run_many(session: Session, statement: Prepared, rows: Sequence[Mapping[str, Any]]) -> None:
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
def _render(statement: Prepared, lengths: tuple[int, ...], dialect: str) -> tuple[str, tuple[str, ...]]:
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
