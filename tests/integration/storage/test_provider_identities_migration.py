"""Identities of the provider in a database from before them, and that one belongs to one person."""

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from annotator.domain.people import OPERATOR
from annotator.people.service import add_person
from annotator.storage.database import Database
from annotator.storage.lookup import find_person
from annotator.storage.schema import MIGRATIONS, upgrade_schema
from annotator.storage.tables.sign_in import ProviderIdentityRow
from tests.integration.judged_world import NOW
from tests.integration.storage.test_schema import FIRST_ROWS


def test_a_database_from_before_identities_keeps_its_roles_as_given_by_hand(empty_database: Database) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with empty_database.write() as session:
        config.attributes["connection"] = session.connection()
        command.upgrade(config, "0025")
        for table, values in FIRST_ROWS:
            placeholders = ", ".join(f":{name}" for name in values)
            statement = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({placeholders})"
            session.connection().execute(text(statement), values)
        person_pk = session.execute(text("SELECT pk FROM person")).scalars().first()
        session.connection().execute(
            text("INSERT INTO membership (person_pk, role) VALUES (:pk, 'lead')"), {"pk": person_pk}
        )
        people = session.execute(text("SELECT * FROM person ORDER BY pk")).all()
    upgrade_schema(empty_database)
    with empty_database.read() as session:
        assert session.execute(text("SELECT * FROM person ORDER BY pk")).all() == people
        assert [
            bool(row) for row in session.execute(text("SELECT from_group FROM membership")).scalars()
        ] == [False]


def test_an_identity_opens_one_account(database: Database) -> None:
    add_person(database, OPERATOR, "ada", role="annotator", now=NOW)
    with pytest.raises(IntegrityError), database.write() as session:
        pk = find_person(session, "ada").pk
        values = {"person_pk": pk, "issuer": "https://a.example", "subject": "1", "created_at": NOW}
        session.add_all(ProviderIdentityRow.model_validate(values) for _ in range(2))
