"""Reads many rows of numbers and texts as the driver gives them: tuples, without a row object or a conversion each.

For what is read by the million. Only for columns that need no converting on either database: numbers, texts.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Executable
from sqlalchemy.orm import Session

from annotator.storage.sql import Prepared, run


def fetch_plain(session: Session, statement: Executable) -> list[Any]:
    """Every row of this statement."""
    session.flush()
    with session.connection().execute(statement) as result:
        return list(result.cursor.fetchall()) if result.cursor is not None else []


def run_plain(session: Session, statement: Prepared, values: Mapping[str, Any]) -> list[Any]:
    """Every row of a statement that is written out (`storage/sql.py`). What the session holds back is not written
    first."""
    with run(session, statement, values) as result:
        return list(result.cursor.fetchall()) if result.cursor is not None else []
