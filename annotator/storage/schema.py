"""Migrate a database's schema, and refuse a database that a newer program made.

All pending migrations run in one write transaction: if killed half way, the database is as it was.
"""

from pathlib import Path

from sqlalchemy import and_, inspect, select, text
from sqlalchemy.orm import Session, aliased
from sqlmodel import col

from annotator.domain.errors import StateError
from annotator.storage.current_judgments import derive_current
from annotator.storage.database import Database
from annotator.storage.disagreements import derive_disputes
from annotator.storage.lookup import key_of
from annotator.storage.quality_pairs import follow_answers
from annotator.storage.tables import DatasetRow, JudgmentRow, PairRow

DISPUTES_SINCE = "0006"
RECEIPT_ORDER_SINCE = "0009"
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
            if present is not None and present < RECEIPT_ORDER_SINCE:
                _derive_where_the_clock_was_set_back(session)
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


def _derive_where_the_clock_was_set_back(session: Session) -> None:
    """Where another answer holds now than by the press times that used to decide: the few pairs on which an answer that is
    not late was received after one with a later press time."""
    earlier = aliased(JudgmentRow)
    statement = (
        select(col(PairRow.dataset_pk), col(JudgmentRow.annotator_pk), col(JudgmentRow.pair_pk))
        .join(PairRow, col(PairRow.pk) == col(JudgmentRow.pair_pk))
        .join(
            earlier,
            and_(
                col(earlier.pair_pk) == col(JudgmentRow.pair_pk),
                col(earlier.annotator_pk) == col(JudgmentRow.annotator_pk),
                col(earlier.pk) < col(JudgmentRow.pk),
                col(earlier.judged_at) > col(JudgmentRow.judged_at),
            ),
        )
        .where(col(JudgmentRow.late).is_(False))
        .distinct()
    )
    pairs: dict[int, set[int]] = {}
    people: dict[int, set[int]] = {}
    for dataset_pk, annotator_pk, pair_pk in session.execute(statement):
        pairs.setdefault(dataset_pk, set()).add(pair_pk)
        people.setdefault(annotator_pk, set()).add(pair_pk)
    for annotator_pk, pair_pks in people.items():
        follow_answers(session, annotator_pk, pair_pks)
    for dataset_pk, pair_pks in pairs.items():
        derive_current(session, dataset_pk, pair_pks)


def _upgrade(session: Session) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = session.connection()
    command.upgrade(config, "head")
