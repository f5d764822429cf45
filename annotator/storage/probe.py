"""Ask a database whether it can be read and written, apart from everybody's work.

A probe has connections of its own and waits for no lock longer than a second, so that its answer tells about the
database and not about how busy this program is.
"""

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from annotator.domain.errors import AnnotatorError, DatabaseUnavailable
from annotator.storage.database import Database
from annotator.storage.unavailable import find_detail

PATIENCE_SECONDS = 1.0
_READ = text("SELECT version_num FROM alembic_version")
_WRITE = text("UPDATE alembic_version SET version_num = version_num")
_LOCK_AS_A_JUDGMENT_DOES = text("LOCK TABLE judgment IN ROW EXCLUSIVE MODE")


class Probe:
    """See the module. Safe to use from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = Database(database.url, patience=PATIENCE_SECONDS, beside=database)

    def find_read_problem(self) -> str | None:
        """Read a row. Why that failed, for the log; None when it did not. Waits for no writer."""
        try:
            with self._database.read() as session:
                session.execute(_READ).scalar()
        except (AnnotatorError, SQLAlchemyError) as error:
            return _explain(error)
        return None

    def find_write_problem(self) -> str | None:
        """Commit a write that changes nothing. Why that failed, for the log; None when it did not."""
        try:
            with self._database.write() as session:
                if not self._database.is_sqlite:
                    session.execute(_LOCK_AS_A_JUDGMENT_DOES)
                session.execute(_WRITE)
        except (AnnotatorError, SQLAlchemyError) as error:
            return _explain(error)
        return None

    def dispose(self) -> None:
        self._database.dispose()


def _explain(error: Exception) -> str:
    return error.describe() if isinstance(error, DatabaseUnavailable) else find_detail(error)
