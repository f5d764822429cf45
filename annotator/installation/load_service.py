"""Count the waiting work of an installation, over all datasets together: for operators, who may see no
dataset.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

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


class _Counts(NamedTuple):
    open_pairs: int
    open_disagreements: int
    open_questions: int
    leases: int
    sessions: int
    published_at: datetime | None


class _Locks(NamedTuple):
    waiting: int


_COUNTS = prepare_sql("""
    SELECT (SELECT COALESCE(SUM(open_pairs), 0) FROM query_work) AS open_pairs,
           (SELECT COUNT(*) FROM dispute WHERE open) AS open_disagreements,
           (SELECT COUNT(*) FROM question WHERE answered_at IS NULL) AS open_questions,
           (SELECT COUNT(*) FROM lease WHERE expires_at > :now) AS leases,
           (SELECT COUNT(*) FROM login_session WHERE revoked_at IS NULL AND expires_at > :now) AS sessions,
           (SELECT MAX(created_at) FROM release) AS published_at
""")
_LOCKS = prepare_sql("SELECT COUNT(*) AS waiting FROM pg_locks WHERE NOT granted")


def measure_load(database: Database, *, now: datetime) -> InstallationLoad:
    """Return the counts. Raises DatabaseUnavailable if the database cannot be read now."""
    with database.read() as session:
        (counts,) = fetch(session, _COUNTS, _Counts, {"now": now})
        waiting = 0 if database.is_sqlite else fetch(session, _LOCKS, _Locks)[0].waiting
    return InstallationLoad(
        open_pairs=int(counts.open_pairs),
        open_disagreements=counts.open_disagreements,
        open_questions=counts.open_questions,
        leases=counts.leases,
        sessions=counts.sessions,
        waiting_locks=waiting,
        published_at=counts.published_at,
    )
