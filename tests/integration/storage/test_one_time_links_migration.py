"""One-time links in a database from before them, and what the table itself refuses."""

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from annotator.storage.database import Database
from annotator.storage.schema import MIGRATIONS, upgrade_schema
from annotator.storage.tables.sign_in import OneTimeLinkRow
from tests.integration.judged_world import NOW
from tests.integration.storage.test_schema import FIRST_ROWS

LINK = {"token_sha256": "0" * 64, "purpose": "setup", "created_at": NOW, "expires_at": NOW}
REFUSED = {
    "purpose": {"purpose": "other"},
    "role": {"purpose": "invitation", "role": "root"},
    "role_iff_invitation": {"purpose": "setup", "role": "admin"},
    "person_iff_password": {"purpose": "password"},
    "user_iff_used": {"used_at": NOW},
}


def test_a_database_from_before_links_gets_them_and_keeps_its_rows(empty_database: Database) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with empty_database.write() as session:
        config.attributes["connection"] = session.connection()
        command.upgrade(config, "0018")
        for table, values in FIRST_ROWS:
            placeholders = ", ".join(f":{name}" for name in values)
            statement = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({placeholders})"
            session.connection().execute(text(statement), values)
        people = session.execute(text("SELECT * FROM person ORDER BY pk")).all()
    upgrade_schema(empty_database)
    with empty_database.write() as session:
        assert session.execute(text("SELECT * FROM person ORDER BY pk")).all() == people
        session.add(OneTimeLinkRow.model_validate(LINK))


@pytest.mark.parametrize("constraint", REFUSED)
def test_the_database_refuses_a_link_that_means_nothing(database: Database, constraint: str) -> None:
    row = OneTimeLinkRow.model_validate({**LINK, **REFUSED[constraint]})
    with pytest.raises(IntegrityError, match=f"ck_one_time_link_{constraint}"), database.write() as session:
        session.add(row)


def test_a_token_belongs_to_one_link(database: Database) -> None:
    with pytest.raises(IntegrityError), database.write() as session:
        session.add_all([OneTimeLinkRow.model_validate(LINK), OneTimeLinkRow.model_validate(LINK)])
