"""Write in parts, each a short transaction, so that others write in between: a release of a million qrels, say.

SQLite lets one transaction write at a time. After a part its lock is left free for GAP_SECONDS if somebody else has written since
the part before, and at the latest when nobody could for UNBROKEN_SECONDS: whoever begins to label meanwhile waits that long once.

A part does not wait for the disk. The log is written in order, so the transaction that ends the long write (`Database.write`), and
each one of somebody else, makes every part before it durable. If the power fails, the last parts may be missing: whoever uses this
must be able to go on from there, or to remove what there is.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.orm import Session

from annotator.storage.database import Database

GAP_SECONDS = 0.012
"""How long the write lock is free between two parts."""
UNBROKEN_SECONDS = 0.06
"""After how many seconds without a gap the next one is due, also if nobody else writes."""


class LongWrite:
    """A write in parts. On PostgreSQL, where writers do not wait for each other, each part is a transaction and nothing more.

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
        """Open a session that commits if the block succeeds, then leave others their turn."""
        with self._database.write(before_parents=self._before_parents, durable=False) as session:
            self._look_for_others(session)
            yield session
        self.let_others_write()

    def let_others_write(self) -> None:
        """Leave the lock free for a moment, if that is due.

        A thread of this process takes its turn at once, another process asks every few milliseconds.
        """
        if not self._database.is_sqlite:
            return
        if self._others_write or time.monotonic() >= self._free_at + UNBROKEN_SECONDS:
            time.sleep(GAP_SECONDS)
            self._free_at = time.monotonic()

    def _look_for_others(self, session: Session) -> None:
        """Note whether another connection has written since the part before. With a new connection that is not known, so assume it."""
        if not self._database.is_sqlite:
            return
        driver = session.connection().connection.dbapi_connection
        if driver is None:
            return
        (state,) = driver.cursor().execute("PRAGMA data_version").fetchone()
        self._others_write = self._seen != (driver, state)
        self._seen = (driver, state)
