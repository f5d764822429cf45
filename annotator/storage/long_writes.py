"""Split a long write, such as a release of a million qrels, into short transactions, so others can write.

SQLite allows one writer at a time. After a part, its lock stays free for GAP_SECONDS if others have written
since the part before, and otherwise every UNBROKEN_SECONDS: a person who begins to label waits that long at
most once.

A part does not wait for the disk. The log is written in order, so the final transaction of the long write
(`Database.write`), and each transaction of others, makes every earlier part durable. After a power failure
the last parts may be missing: callers must be able to continue from there, or to remove the parts.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.orm import Session

from annotator.storage.database import Database

GAP_SECONDS = 0.012
"""How long the write lock is free between two parts."""
UNBROKEN_SECONDS = 0.06
"""The longest time without a gap, even if no one else writes."""


class LongWrite:
    """A write in parts.

    On PostgreSQL each part is only a transaction, because writers do not wait for each other.

    `before_parents`: see `Database.write`.
    """

    def __init__(self, database: Database, *, before_parents: bool = False) -> None:
        self._database = database
        self._before_parents = before_parents
        self._seen: tuple[object, int] | None = None  # the connection, and which state of the database it saw
        self._others_write = False
        self._free_at = time.monotonic()  # when the lock was last left free

    @contextmanager
    def part(self) -> Iterator[Session]:
        """Open a session that commits if the block succeeds, then let others write."""
        with self._database.write(before_parents=self._before_parents, durable=False) as session:
            self._look_for_others(session)
            yield session
        self.let_others_write()

    def let_others_write(self) -> None:
        """Leave the lock free for a moment, if that is due.

        A thread of this process takes it at once; another process asks every few milliseconds.
        """
        if not self._database.is_sqlite:
            return
        if self._others_write or time.monotonic() >= self._free_at + UNBROKEN_SECONDS:
            time.sleep(GAP_SECONDS)
            self._free_at = time.monotonic()

    def _look_for_others(self, session: Session) -> None:
        """Note whether another connection has written since the last part. Assume it on a new connection."""
        if not self._database.is_sqlite:
            return
        driver = session.connection().connection.dbapi_connection
        if driver is None:
            return
        (state,) = driver.cursor().execute("PRAGMA data_version").fetchone()
        self._others_write = self._seen != (driver, state)
        self._seen = (driver, state)
