"""A database that nothing uses any more leaves the memory, with its engine and its compiled statements."""

import gc
from datetime import UTC, datetime
from weakref import ref

from sqlalchemy import select
from sqlmodel import col

from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR
from annotator.storage.database import Database
from annotator.storage.sql import add_rows
from annotator.storage.tables.central import PersonRow

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


def test_a_database_is_freed_after_services_rows_and_bulk_inserts_have_used_it(database_url: str) -> None:
    opened = Database(database_url)
    create_dataset(opened, OPERATOR, "demo", now=NOW, title="demo")
    with opened.write() as session:
        session.add(PersonRow(username="hanako", name="花子", created_at=NOW))
        add_rows(session, PersonRow, [{"username": "minjun", "name": "민준", "created_at": NOW}])
        assert len(session.scalars(select(col(PersonRow.pk))).all()) == 2
    opened.dispose()
    database, engine = ref(opened), ref(opened.engine)
    del opened, session
    gc.collect()
    assert (database(), engine()) == (None, None)
