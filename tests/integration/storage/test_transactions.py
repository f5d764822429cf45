"""What a read and a labeling transaction ask of PostgreSQL beyond their statements. SQLite has none of this."""

from collections.abc import Callable
from typing import Any

import pytest
from psycopg.pq import TransactionStatus
from sqlalchemy import text
from sqlalchemy.exc import InternalError
from sqlalchemy.orm import Session

from annotator.dataset.service import create_dataset
from annotator.domain.errors import DatabaseUnavailable
from annotator.domain.people import OPERATOR
from annotator.labeling.exchange_sql import SharedLocks, share_dataset
from annotator.storage.database import Database, lock_dataset
from annotator.storage.tables.central import MembershipRow
from tests.integration.labeling_world import NOW, World

PLANS = text("SELECT current_setting('plan_cache_mode')")
KEYS = text("SELECT key, pk FROM pair ORDER BY pk LIMIT 2")
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


def test_one_statement_is_asked_for_without_a_transaction_and_the_next_ones_have_theirs(
    database: Database,
) -> None:
    def find_status(session: Session) -> TransactionStatus:
        session.execute(text("SELECT count(*) FROM lease")).scalar_one()
        driver: Any = session.connection().connection.driver_connection
        return TransactionStatus(driver.info.transaction_status)

    with database.ask() as session:
        assert find_status(session) is TransactionStatus.IDLE
    with database.read() as session:
        assert find_status(session) is TransactionStatus.INTRANS
    with database.write() as session:
        assert find_status(session) is TransactionStatus.INTRANS
        assert session.execute(text("SHOW transaction_isolation")).scalar_one() == "read committed"


@pytest.fixture
def people(database: Database) -> list[int]:
    """Two annotators of the datasets "d" (1) and "e" (2)."""
    world = World(database)
    create_dataset(database, OPERATOR, "e", now=NOW)
    actors = [world.person("ann"), world.person("bob")]
    with database.write() as session:
        for actor in actors:
            session.add(MembershipRow(person_pk=actor.person_id, dataset_pk=2, role="annotator"))
    return [actor.person_id or 0 for actor in actors]


def test_labeling_alone_asks_for_plans_for_any_values(database: Database, people: list[int]) -> None:
    with database.write() as session:
        share_dataset(session, "d", people[0])
        assert session.execute(PLANS).scalar_one() == "force_generic_plan"
    with database.write() as session:
        lock_dataset(session, 1)
        assert session.execute(PLANS).scalar_one() == "auto"


def test_people_share_a_dataset_which_nobody_can_lock_meanwhile(
    database: Database, people: list[int]
) -> None:
    with database.write() as session:
        share_dataset(session, "d", people[0])
        with database.write() as other:
            share_dataset(other, "d", people[1])
        assert not _can_lock(database, lambda other: lock_dataset(other, 1))
        assert _can_lock(database, lambda other: lock_dataset(other, 2))
    assert _can_lock(database, lambda other: lock_dataset(other, 1))


def test_whoever_has_locked_a_dataset_shares_it_with_nobody(database: Database, people: list[int]) -> None:
    with database.write() as session:
        lock_dataset(session, 1)
        assert not _can_lock(database, lambda other: share_dataset(other, "d", people[0]))
        assert _can_lock(database, lambda other: share_dataset(other, "e", people[0]))


def test_the_requests_of_one_person_follow_each_other(database: Database, people: list[int]) -> None:
    with database.write() as session:
        share_dataset(session, "d", people[0])
        assert not _can_lock(database, lambda other: share_dataset(other, "d", people[0]))
        assert _can_lock(database, lambda other: share_dataset(other, "e", people[0])), "their other dataset"


def test_a_submission_locks_its_pairs_and_no_others(database: Database, people: list[int]) -> None:
    with database.read() as session:
        (first, first_pk), (second, second_pk) = session.execute(KEYS).all()
    with database.write() as session:
        locks = share_dataset(session, "d", people[0], [first, "unknown"])
        assert locks is not None
        assert locks.cover({first_pk}) and not locks.cover({first_pk, second_pk})
        assert not _can_lock(database, lambda other: share_dataset(other, "d", people[1], [first]))
        assert _can_lock(database, lambda other: share_dataset(other, "d", people[1], [second]))


def test_somebody_without_a_role_locks_nothing(database: Database, people: list[int]) -> None:
    with database.write() as session:
        session.execute(text("DELETE FROM membership WHERE dataset_pk = 1"))
    with database.read() as session:
        key = session.execute(KEYS).first()[0]  # type: ignore[index]
    with database.write() as session:
        lock_dataset(session, 1)
        with database.write() as other:
            locks = share_dataset(other, "d", people[0], [key])
    assert locks == SharedLocks(False, frozenset())
    assert not locks.cover(())


def _can_lock(database: Database, lock: Callable[[Session], object]) -> bool:
    """Return whether the lock can be had at once."""
    try:
        with database.write() as session:
            session.execute(text("SET LOCAL lock_timeout = '100ms'"))
            lock(session)
    except DatabaseUnavailable:
        return False
    return True
