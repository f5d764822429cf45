"""A guideline of the schema before languages keeps its text and has no language; later versions can have several."""

from dataclasses import replace

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from annotator.domain.grades import DEFAULT_RUBRIC, Rubric
from annotator.domain.people import OPERATOR
from annotator.guideline.service import list_versions, publish_version
from annotator.storage.database import Database
from annotator.storage.schema import MIGRATIONS, upgrade_schema
from tests.integration.judged_world import NOW
from tests.integration.storage.test_schema import FIRST_ROWS

GRADES = (
    '[{"grade": 0, "name": "無関係", "definition": "d", "positive_examples": [], "negative_examples": ["例"]}'
    + "".join(
        f', {{"grade": {grade}, "name": "n", "definition": "d", "positive_examples": [], "negative_examples": []}}'
        for grade in (1, 2, 3)
    )
    + "]"
)


def test_guidelines_from_before_have_no_language_and_later_versions_can(empty_database: Database) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with empty_database.write() as session:
        config.attributes["connection"] = session.connection()
        command.upgrade(config, "0021")
        for table, values in FIRST_ROWS:
            stored = {**values, "grades": GRADES, "guideline": "本文"} if table == "rubric" else values
            placeholders = ", ".join(f":{name}" for name in stored)
            session.connection().execute(
                text(f"INSERT INTO {table} ({', '.join(stored)}) VALUES ({placeholders})"), stored
            )
        if session.get_bind().dialect.name == "postgresql":  # the rows above came with their numbers
            for table in ("rubric", "audit_event"):
                session.execute(text(f"SELECT setval(pg_get_serial_sequence('{table}', 'pk'), 100)"))
        name = str(session.execute(text("SELECT name FROM dataset")).scalar_one())
    upgrade_schema(empty_database)
    (before,) = list_versions(empty_database, OPERATOR, name)
    assert (before.rubric.language, before.rubric.translations) == ("", ())
    assert (before.rubric.grades[0].name, before.rubric.guideline) == ("無関係", "本文")
    korean = Rubric(DEFAULT_RUBRIC.grades, "지침", "제목", language="ko")
    rubric = replace(before.rubric, language="ja", translations=(korean,))
    publish_version(empty_database, OPERATOR, name, rubric, base_version=1, change="minor", now=NOW)
    after, unchanged = list_versions(empty_database, OPERATOR, name)
    assert (unchanged, after.rubric) == (before, rubric)
    with pytest.raises(IntegrityError, match="language"), empty_database.write() as session:
        session.execute(
            text(
                "INSERT INTO rubric (dataset_pk, version, title, guideline, grades, language, created_at) "
                "SELECT dataset_pk, 9, title, guideline, grades, '', created_at FROM rubric WHERE version = 1"
            )
        )
