"""What a read and a labeling transaction ask of PostgreSQL beyond their statements. SQLite has none of this."""

import pytest
from sqlalchemy import text
from sqlalchemy.exc import InternalError

from annotator.storage.database import Database, lock_dataset

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


@pytest.mark.parametrize(("single_rows", "expected"), [(True, "force_generic_plan"), (False, "auto")])
def test_labeling_alone_asks_for_plans_for_any_values(
    database: Database, single_rows: bool, expected: str
) -> None:
    with database.write() as session:
        lock_dataset(session, 1, single_rows=single_rows)
        assert session.execute(PLANS).scalar_one() == expected
    with database.write() as session:
        assert session.execute(PLANS).scalar_one() == "auto"
