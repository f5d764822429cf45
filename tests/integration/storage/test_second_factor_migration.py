"""Sessions in a database from before second factors: nobody was asked for a code."""

from alembic import command
from alembic.config import Config
from sqlalchemy import text

from annotator.storage.database import Database
from annotator.storage.schema import MIGRATIONS, upgrade_schema
from tests.integration.storage.test_schema import FIRST_ROWS

SESSION = (
    "INSERT INTO login_session (token_sha256, person_pk, created_at, expires_at) "
    "VALUES ('a', :pk, '2026-01-02 03:04:05', '2026-01-02 15:04:05')"
)


def test_a_session_from_before_counts_as_one_without_a_code(empty_database: Database) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with empty_database.write() as session:
        config.attributes["connection"] = session.connection()
        command.upgrade(config, "0027")
        for table, values in FIRST_ROWS:
            placeholders = ", ".join(f":{name}" for name in values)
            statement = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({placeholders})"
            session.connection().execute(text(statement), values)
        pk = session.execute(text("SELECT pk FROM person")).scalars().first()
        session.connection().execute(text(SESSION), {"pk": pk})
    upgrade_schema(empty_database)
    with empty_database.read() as session:
        rows = session.execute(text("SELECT second_factor FROM login_session")).scalars().all()
        assert [bool(row) for row in rows] == [False]
        assert session.execute(text("SELECT count(*) FROM second_factor")).scalar() == 0
