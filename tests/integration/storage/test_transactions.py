"""What a read and a labeling transaction ask of PostgreSQL beyond their statements. SQLite has none of this."""

from collections.abc import Callable

import pytest
from sqlalchemy import text
from sqlalchemy.exc import InternalError
from sqlalchemy.orm import Session

from annotator.domain.errors import DatabaseUnavailable
from annotator.storage.database import Database, lock_dataset, share_dataset

PLANS = text("SELECT current_setting('plan_cache_mode')")
KEPT = text("SELECT count(*) FROM pg_prepared_statements")

pytestmark = pytest.mark.parametrize("copy_database", ["postgresql"], indirect=True)


def test_a_read_cannot_write(database: Database) -> None:
    with pytest.raises(InternalError, match="read-only transaction"), database.read() as session:
        session.execute(text("DELETE FROM lease"))


def test_what_is_planned_once_is_kept_over_reads(database: Database) -> None:
    for _often in range(8):
        with database.read() as session:
            session.execute(text("SELECT count(*) FROM lease")).scalar_one()
    with database.read() as session:
        assert session.execute(KEPT).scalar_one() > 0


def test_labeling_alone_asks_for_plans_for_any_values(database: Database) -> None:
    with database.write() as session:
        share_dataset(session, 1, 1)
        assert session.execute(PLANS).scalar_one() == "force_generic_plan"
    with database.write() as session:
        lock_dataset(session, 1)
        assert session.execute(PLANS).scalar_one() == "auto"


def test_people_share_a_dataset_which_nobody_can_lock_meanwhile(database: Database) -> None:
    with database.write() as session:
        share_dataset(session, 1, 1)
        with database.write() as other:
            share_dataset(other, 1, 2)
        assert not _can_lock(database, lambda other: lock_dataset(other, 1))
        assert _can_lock(database, lambda other: lock_dataset(other, 2))
    assert _can_lock(database, lambda other: lock_dataset(other, 1))


def test_whoever_has_locked_a_dataset_shares_it_with_nobody(database: Database) -> None:
    with database.write() as session:
        lock_dataset(session, 1)
        assert not _can_lock(database, lambda other: share_dataset(other, 1, 1))
        assert _can_lock(database, lambda other: share_dataset(other, 2, 1))


def test_the_requests_of_one_person_follow_each_other(database: Database) -> None:
    with database.write() as session:
        share_dataset(session, 1, 1)
        assert not _can_lock(database, lambda other: share_dataset(other, 1, 1))
        assert _can_lock(database, lambda other: share_dataset(other, 2, 1)), "their other dataset"


def _can_lock(database: Database, lock: Callable[[Session], None]) -> bool:
    """Return whether the lock can be had at once."""
    try:
        with database.write() as session:
            session.execute(text("SET LOCAL lock_timeout = '100ms'"))
            lock(session)
    except DatabaseUnavailable:
        return False
    return True
