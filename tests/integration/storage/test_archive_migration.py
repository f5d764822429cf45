"""A dataset of the schema before archives is not archived, and is for the evaluator whose measures it had."""

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from annotator.dataset.service import archive_dataset, show_dataset
from annotator.domain.people import OPERATOR
from annotator.storage.database import Database
from annotator.storage.schema import MIGRATIONS, upgrade_schema
from tests.integration.judged_world import NOW
from tests.integration.storage.test_schema import FIRST_ROWS


def test_datasets_from_before_are_not_archived_and_can_be(empty_database: Database) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with empty_database.write() as session:
        config.attributes["connection"] = session.connection()
        command.upgrade(config, "0017")
        for table, values in FIRST_ROWS:
            placeholders = ", ".join(f":{name}" for name in values)
            statement = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({placeholders})"
            session.connection().execute(text(statement), values)
        name = str(session.execute(text("SELECT name FROM dataset")).scalar_one())
    upgrade_schema(empty_database)
    dataset, _ = show_dataset(empty_database, OPERATOR, name)
    assert (dataset.archived_at, dataset.profile) == (None, "trec")
    assert archive_dataset(empty_database, OPERATOR, name, now=NOW).archived_at == NOW
    with pytest.raises(IntegrityError, match="profile"), empty_database.write() as session:
        session.execute(text("UPDATE dataset SET profile = 'bleu'"))
