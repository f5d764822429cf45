"""Statements written out once and run often: what every press of a key asks the database.

SQLAlchemy builds an expression, its cache key and its result anew at each use, which takes longer than SQLite needs for
the answer: a hand-in of forty statements took 12 ms so, and takes half of it with texts that are made when the program
starts (benchmarks/at_a_million.py). Elsewhere expressions read better and are used.
"""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import CursorResult, TextClause, bindparam, text
from sqlalchemy.orm import Session
from sqlalchemy.types import TypeEngine

from annotator.storage.columns import UtcDateTime

LENGTHS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)


def prepare(statement: str, *, lists: Collection[str] = (), times: Collection[str] = ()) -> TextClause:
    """The statement with the names that stand for lists (`IN :names`), and those that stand for times."""
    kinds: Mapping[str, TypeEngine[Any]] = {name: UtcDateTime() for name in times}
    return text(statement).bindparams(
        *(bindparam(name, expanding=True) for name in lists),
        *(bindparam(name, type_=kind) for name, kind in kinds.items()),
    )


def run(session: Session, statement: Any, values: Mapping[str, Any]) -> CursorResult[*tuple[Any, ...]]:
    """Run it in the session's transaction. What the session holds back is not written first: flush where that matters."""
    filled = {name: _fill(value) if isinstance(value, list) else value for name, value in values.items()}
    done: CursorResult[*tuple[Any, ...]] = session.connection().execute(statement, filled)
    return done


def _fill(items: list[Any]) -> list[Any]:
    """The list, its last item repeated up to one of a few lengths: `IN` finds the same, and PostgreSQL, which plans every
    length anew, has few statements to keep."""
    length = next((length for length in LENGTHS if length >= len(items)), len(items))
    return items + items[-1:] * (length - len(items))
