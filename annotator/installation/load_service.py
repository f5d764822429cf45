"""Count the waiting work of an installation, over all datasets together: for operators, who may see no
dataset.
"""

from dataclasses import dataclass
from datetime import datetime

from annotator.storage.database import Database
from annotator.storage.sql import fetch, prepare_sql


@dataclass(frozen=True, slots=True)
class InstallationLoad:
    """Counts over all datasets, including archived ones."""

    open_pairs: int  # that lack judgments
    open_disagreements: int  # pairs that wait for a lead
    open_questions: int
    leases: int
    sessions: int
    waiting_locks: int  # on PostgreSQL, in this database; 0 on SQLite
    published_at: datetime | None  # of the latest release


_COUNTS = """
    SELECT CAST((SELECT COALESCE(SUM(open_pairs), 0) FROM query_work) AS BIGINT) AS open_pairs,
           (SELECT COUNT(*) FROM dispute WHERE open) AS open_disagreements,
           (SELECT COUNT(*) FROM question WHERE answered_at IS NULL) AS open_questions,
           (SELECT COUNT(*) FROM lease WHERE expires_at > :now) AS leases,
           (SELECT COUNT(*) FROM login_session WHERE revoked_at IS NULL AND expires_at > :now) AS sessions,
           {locks} AS waiting_locks,
           (SELECT MAX(created_at) FROM release) AS published_at
"""
_ON_SQLITE = prepare_sql(_COUNTS.format(locks="0"))
_ON_POSTGRESQL = prepare_sql(_COUNTS.format(locks="(SELECT COUNT(*) FROM pg_locks WHERE NOT granted)"))


def measure_load(database: Database, *, now: datetime) -> InstallationLoad:
    """Return the counts. Raises DatabaseUnavailable if the database cannot be read now."""
    with database.read() as session:
        statement = _ON_SQLITE if database.is_sqlite else _ON_POSTGRESQL
        return fetch(session, statement, InstallationLoad, {"now": now})[0]
