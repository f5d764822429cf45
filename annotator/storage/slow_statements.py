"""Report statements that take long.

Listens to the engine, so it sees SQLAlchemy's expressions and prepared SQL (`sql.py`). A statement's text
holds no values. Not measured: the COPY of an import on PostgreSQL, and on SQLite, which finds rows while they
are fetched, the time after the first row.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import ExceptionContext

from annotator.storage.database import Database

MOST_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class SlowStatement:
    """A statement that took long. `text`: without values, on one line, cut at MOST_CHARACTERS."""

    text: str
    seconds: float
    failed: bool


def watch_statements(database: Database, seconds: float, report: Callable[[SlowStatement], None]) -> None:
    """Call `report` for each statement that takes at least `seconds`, in the thread that ran it."""

    def begin(_connection: Any, _cursor: Any, _text: str, _values: Any, context: Any, _many: bool) -> None:
        context.annotator_began = time.perf_counter()

    def end(_connection: Any, _cursor: Any, text: str, _values: Any, context: Any, _many: bool) -> None:
        taken = time.perf_counter() - context.annotator_began
        if taken >= seconds:
            report(_describe(text, taken, failed=False))

    def fail(failure: ExceptionContext) -> None:
        began = getattr(failure.execution_context, "annotator_began", None)
        if began is not None and failure.statement is not None:
            taken = time.perf_counter() - began
            if taken >= seconds:
                report(_describe(failure.statement, taken, failed=True))

    event.listen(database.engine, "before_cursor_execute", begin)
    event.listen(database.engine, "after_cursor_execute", end)
    event.listen(database.engine, "handle_error", fail)


def _describe(text: str, seconds: float, *, failed: bool) -> SlowStatement:
    return SlowStatement(" ".join(text.split())[:MOST_CHARACTERS], seconds, failed)
