"""Brings a database's schema up to date, and refuses one that a newer program made.

All pending migrations run in one write transaction: killed half way, the database is as it was.
"""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from annotator.domain.errors import StateError
from annotator.storage.database import Database

MIGRATIONS = Path(__file__).parent / "migrations"


def upgrade_schema(database: Database) -> None:
    """Create or update the tables. StateError when the database belongs to a newer program."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    script = ScriptDirectory.from_config(config)
    known = {revision.revision for revision in script.walk_revisions()}
    with database.write() as session:
        connection = session.connection()
        present = MigrationContext.configure(connection).get_current_revision()
        if present is not None and present not in known:
            raise StateError(
                f"the database {database.shown_url} was made by a newer version of this program "
                f"(its schema is {present}, this program knows up to {script.get_current_head()}); "
                "update the program, or use another database. Nothing was changed"
            )
        if present == script.get_current_head():
            return
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
