"""Brings a database's schema up to date, and refuses one that a newer program made.

All pending migrations run in one write transaction: killed half way, the database is as it was.
"""

from pathlib import Path

from sqlalchemy import inspect, select, text
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.errors import StateError
from annotator.storage.database import Database
from annotator.storage.disputes import derive_disputes
from annotator.storage.find import key_of
from annotator.storage.tables import DatasetRow

DISPUTES_SINCE = "0006"
MIGRATIONS = Path(__file__).parent / "migrations"


def upgrade_schema(database: Database) -> None:
    """Create or update the tables. StateError when the database belongs to a newer program."""
    known = sorted(path.name[:4] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))
    with database.write() as session:
        present = _find_present(session)
        if present is not None and present not in known:
            raise StateError(
                f"the database {database.shown_url} was made by a newer version of this program "
                f"(its schema is {present}, this program knows up to {known[-1]}); "
                "update the program, or use another database. Nothing was changed"
            )
        if present != known[-1]:
            _upgrade(session)
            if present is not None and present < DISPUTES_SINCE:
                _derive_all_disputes(session)


def _find_present(session: Session) -> str | None:
    """The revision of the database; None for an empty one. Asked without Alembic, which takes long to import."""
    if not inspect(session.connection()).has_table("alembic_version"):
        return None
    found: str | None = session.scalar(text("SELECT version_num FROM alembic_version"))
    return found


def _derive_all_disputes(session: Session) -> None:
    """A database that is older than the table of disputes has them as soon as it has the table."""
    for dataset_pk in session.scalars(select(col(DatasetRow.pk))).all():
        derive_disputes(session, key_of(dataset_pk))


def _upgrade(session: Session) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = session.connection()
    command.upgrade(config, "head")
