"""Makes a database as an earlier version of the program left it, for the tests of one migration."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import text

from annotator.storage.database import Database
from annotator.storage.schema import MIGRATIONS


def fill_old(database: Database, revision: str, rows: Iterable[tuple[str, Mapping[str, Any]]]) -> Database:
    """Give an empty database the schema of this revision and these rows, (table, values by column); return it."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with database.write() as session:
        config.attributes["connection"] = session.connection()
        command.upgrade(config, revision)
        for table, values in rows:
            plain = {
                name: value.isoformat(" ") if database.is_sqlite and isinstance(value, datetime) else value
                for name, value in values.items()
            }
            names, placeholders = ", ".join(plain), ", ".join(f":{name}" for name in plain)
            session.connection().execute(
                text(f"INSERT INTO {table} ({names}) VALUES ({placeholders})"), plain
            )
    return database
