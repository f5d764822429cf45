"""A long write leaves others their turn between its parts, and does not wait for the disk until its end."""

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from annotator.storage import long_writes
from annotator.storage.database import Database
from annotator.storage.long_writes import GAP_SECONDS, UNBROKEN_SECONDS, LongWrite

WRITE = text("UPDATE alembic_version SET version_num = version_num")


class Clock:
    """Time as `long_writes` sees it: it passes when told, and in each gap."""

    def __init__(self) -> None:
        self.now, self.gaps = 1_000.0, list[float]()

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.gaps.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(long_writes, "time", clock)
    return clock


def write_part(long_write: LongWrite, clock: Clock, *, seconds: float = 0.0) -> int:
    """Write a part that takes so long; return how many gaps there were after it."""
    before = len(clock.gaps)
    with long_write.part() as session:
        session.execute(WRITE)
        clock.now += seconds
    return len(clock.gaps) - before


def write_once(database: Database) -> None:
    with database.write() as session:
        session.execute(WRITE)


def test_while_nobody_else_writes_there_is_a_gap_only_after_some_time(
    database: Database, clock: Clock
) -> None:
    long_write = LongWrite(database)
    write_part(long_write, clock)  # whether somebody wrote before it is not known
    third = UNBROKEN_SECONDS / 3 + 0.001
    gaps = [write_part(long_write, clock, seconds=third) for _ in range(6)]
    assert gaps == ([0, 0, 1, 0, 0, 1] if database.is_sqlite else [0] * 6)
    assert set(clock.gaps) == ({GAP_SECONDS} if database.is_sqlite else set())


def test_while_somebody_else_writes_there_is_a_gap_after_each_part(database: Database, clock: Clock) -> None:
    other = Database(database.url)
    long_write = LongWrite(database)
    write_part(long_write, clock)
    gaps = []
    for writes in (True, True, False, True):
        if writes:
            write_once(other)
        gaps.append(write_part(long_write, clock))
    other.dispose()
    assert gaps == ([1, 1, 0, 1] if database.is_sqlite else [0] * 4)


def test_a_part_that_fails_is_undone_and_the_parts_before_it_stay(database: Database, clock: Clock) -> None:
    long_write = LongWrite(database)
    with long_write.part() as session:
        session.execute(text("UPDATE alembic_version SET version_num = 'one'"))
    with pytest.raises(KeyboardInterrupt), long_write.part() as session:
        session.execute(text("UPDATE alembic_version SET version_num = 'two'"))
        raise KeyboardInterrupt
    with database.read() as session:
        assert session.execute(text("SELECT version_num FROM alembic_version")).scalar_one() == "one"
    assert len(clock.gaps) <= 1


@pytest.mark.parametrize("copy_database", ["sqlite"], indirect=True)
def test_a_part_leaves_the_waiting_for_the_disk_to_the_transaction_after_the_last(
    database: Database,
) -> None:
    def ask(session: Session) -> tuple[int, int]:
        return tuple(
            session.execute(text(f"PRAGMA {name}")).scalar_one() for name in ("synchronous", "foreign_keys")
        )  # type: ignore[return-value]

    normal, full = 1, 2
    seen = []
    for before_parents in (False, True):
        with LongWrite(database, before_parents=before_parents).part() as session:
            seen.append(ask(session))
        with database.write() as session:
            seen.append(ask(session))
    assert seen == [(normal, 1), (full, 1), (normal, 0), (full, 1)]
