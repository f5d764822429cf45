"""Several replicas that start at the same time: one migrates the database, the others wait for it."""

import time
from threading import Event, Thread

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from annotator.storage import schema
from annotator.storage.database import PATIENCE_SECONDS, Database
from annotator.storage.schema import list_migrations, upgrade_schema

PATIENCE = 0.2
_WAITING = text(
    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


def wait_for_the_other(session: Session, entered: list[int]) -> None:
    """Return when the other program waits, longer than it waits for any other lock, or when it migrates too."""
    for _ in range(2_400):
        if len(entered) > 1:
            return
        if session.scalar(_WAITING):
            time.sleep(2 * PATIENCE)
            return
        time.sleep(0.05)
    pytest.fail("the other program neither waited nor migrated")


def test_of_two_programs_that_start_at_once_one_migrates_and_the_other_waits(
    empty_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate, entered, began, failures = schema._upgrade, list[int](), Event(), list[Exception]()

    def migrate_slowly(session: Session) -> None:
        entered.append(1)
        began.set()
        if not empty_database.is_sqlite:
            wait_for_the_other(session, entered)
        migrate(session)

    monkeypatch.setattr(schema, "_upgrade", migrate_slowly)
    patience = PATIENCE_SECONDS if empty_database.is_sqlite else PATIENCE
    other = Database(empty_database.url, patience=patience)

    def start(database: Database) -> None:
        try:
            upgrade_schema(database)
        except Exception as error:  # noqa: BLE001 - the test shows it
            failures.append(error)

    first = Thread(target=start, args=(empty_database,))
    second = Thread(target=start, args=(other,))
    first.start()
    assert began.wait(120)
    second.start()
    first.join()
    second.join()
    assert failures == []
    assert len(entered) == 1
    for database in (empty_database, other):
        with database.read() as session:
            assert schema.find_revision(session) == list_migrations()[-1].revision
    with other.write() as session:
        if not other.is_sqlite:
            assert session.scalar(text("SELECT current_setting('lock_timeout')")) == "200ms"
    other.dispose()
