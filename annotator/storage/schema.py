"""Migrate a database's schema, and refuse a database that a newer program made.

All pending migrations run in one write transaction: if one fails, or the program is killed, the database is
unchanged. The audit log has an entry for each upgrade of an existing database. If several programs start at
once, one migrates; the others wait and then have nothing to do.
"""

import ast
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import inspect, select, text
from sqlalchemy.orm import Session

from annotator.domain.errors import StateError
from annotator.storage.database import CONNECTION, Database, name_connection

DISAGREEMENTS_SINCE = "0006"
RECEIPT_ORDER_SINCE = "0009"
_WAIT_FOR_WHOEVER_MIGRATES = (
    text("SELECT set_config('lock_timeout', '0', true)"),
    text(
        "SELECT pg_advisory_xact_lock(2, 0)"
    ),  # two numbers, the first neither 1 (publishing) nor negative (people)
)
ROLLING = frozenset({"0021", "0026", "0031", "0032"})
"""Migrations that can run while servers of the previous schema work: they add only parts that these servers
neither read nor must write. All other migrations require that every server is stopped, even if they only add
a table from which a newer program derives something."""
_OLDER_PROGRAMS = text(
    "SELECT application_name FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE :own"
)
MIGRATIONS = Path(__file__).parent / "migrations"


@dataclass(frozen=True, slots=True)
class Migration:
    """A step of the schema. `rolls`: servers of the previous schema may run during it."""

    revision: str
    summary: str
    rolls: bool


def list_migrations() -> list[Migration]:
    """Return every migration that this program knows, in order. Does not import Alembic, which is slow."""
    paths = sorted((MIGRATIONS / "versions").glob("[0-9]*.py"))
    return [Migration(path.name[:4], _read_summary(path), path.name[:4] in ROLLING) for path in paths]


def _read_summary(path: Path) -> str:
    description = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or path.stem[5:]
    return description.partition("\n\n")[0].replace("\n", " ")


def upgrade_schema(database: Database, *, now: datetime | None = None) -> None:
    """Create or update the tables. StateError when the database belongs to a newer program.

    `now`: the time of the audit entry (None: the present). An up-to-date schema is only read, so a reading
    command never waits for a writer.
    """
    revisions = sorted(path.name[:4] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))
    with database.read() as session:
        if find_revision(session) == revisions[-1]:
            return
    with database.write() as session:
        upgrade_within(session, database.shown_url, beside_older=False, now=now)


def upgrade_within(
    session: Session, shown_url: str, *, beside_older: bool = True, now: datetime | None = None
) -> None:
    """Create or update the tables in an open write transaction, as `upgrade_schema`.

    `beside_older`: allow connected older programs, because nothing will be committed.
    """
    _let_one_migrate(session)
    revisions = sorted(path.name[:4] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))
    revision = find_revision(session)
    if revision is not None and revision not in revisions:
        raise StateError(describe_newer(shown_url, revision, revisions[-1]))
    if revision != revisions[-1]:
        if not beside_older and not {each for each in revisions if each > (revision or "")} <= ROLLING:
            _require_no_older_program(session, revisions[-1])
        _upgrade(session)
        if revision is not None and revision < RECEIPT_ORDER_SINCE:
            _derive_where_the_clock_was_set_back(session)
        if revision is not None and revision < DISAGREEMENTS_SINCE:
            _derive_all_disagreements(session)
        if revision is not None:
            _note_upgrade(session, revision, revisions[-1], now=now or datetime.now(UTC))


def _let_one_migrate(session: Session) -> None:
    """Wait, without a time limit, for another program that migrates this database (PostgreSQL).

    Then restore the connection's usual limit for other locks.
    """
    if session.get_bind().dialect.name != "postgresql":
        return
    usual = session.scalar(text("SELECT current_setting('lock_timeout')"))
    for statement in _WAIT_FOR_WHOEVER_MIGRATES:
        session.execute(statement)
    session.execute(text("SELECT set_config('lock_timeout', :usual, true)"), {"usual": usual})


def _require_no_older_program(session: Session, newest: str) -> None:
    """Raise StateError while a program of an older schema is connected: it would store wrong data.

    PostgreSQL lists the names that programs give their connections (`name_connection`).
    """
    if session.get_bind().dialect.name != "postgresql":
        return
    names = session.scalars(_OLDER_PROGRAMS, {"own": f"{CONNECTION} %"}).all()
    own = name_connection()
    older = {name for name in names if name != own and name.split()[1] < newest}
    if older:
        processes = ", ".join(" ".join(name.split()[2:]) for name in sorted(older))
        raise StateError(
            f"older versions of this program are connected to the database (process and machine: {processes}), and this "
            "upgrade cannot be done beside them; stop them first (annotator check-upgrade lists the migrations). "
            "Nothing was changed"
        )


def describe_newer(shown_url: str, revision: str, newest: str) -> str:
    """Describe that a newer program made the database, and what helps."""
    return (
        f"the database {shown_url} was made by a newer version of this program "
        f"(its schema is {revision}, this program knows up to {newest}); "
        "update the program, or use another database. Nothing was changed"
    )


def find_revision(session: Session) -> str | None:
    """Return the revision of the database, or None without this program's tables."""
    if not inspect(session.connection()).has_table("alembic_version"):
        return None
    revision: str | None = session.scalar(text("SELECT version_num FROM alembic_version"))
    return revision


def _derive_all_disagreements(session: Session) -> None:
    """Fill the table of disagreements of a database from before that table."""
    from sqlmodel import col

    from annotator.storage.lookup import key_of
    from annotator.storage.pairs.disagreements import derive_disagreements
    from annotator.storage.tables.central import DatasetRow

    for dataset_pk in session.scalars(select(col(DatasetRow.pk))).all():
        derive_disagreements(session, key_of(dataset_pk))


_PASSED_BY = """
SELECT DISTINCT p.dataset_pk, j.annotator_pk, j.pair_pk FROM judgment j JOIN pair p ON p.pk = j.pair_pk
JOIN judgment e ON e.pair_pk = j.pair_pk AND e.annotator_pk = j.annotator_pk AND e.pk < j.pk AND e.judged_at > j.judged_at
WHERE NOT j.late"""


def _derive_where_the_clock_was_set_back(session: Session) -> None:
    """Derive the pairs again whose current judgment differs from the old rule, which compared press times.

    These are the few pairs with a judgment that is not late but was received after one with a later press
    time.
    """
    from annotator.storage.judgments.current_judgments import derive_current
    from annotator.storage.judgments.quality_pairs import follow_answers

    pairs: dict[int, set[int]] = {}
    people: dict[int, set[int]] = {}
    for dataset_pk, annotator_pk, pair_pk in session.execute(text(_PASSED_BY)):
        pairs.setdefault(dataset_pk, set()).add(pair_pk)
        people.setdefault(annotator_pk, set()).add(pair_pk)
    for annotator_pk, pair_pks in people.items():
        follow_answers(session, annotator_pk, pair_pks)
    for dataset_pk, pair_pks in pairs.items():
        derive_current(session, dataset_pk, pair_pks)


def _note_upgrade(session: Session, earlier: str, newest: str, *, now: datetime) -> None:
    from annotator.domain.audit import AuditAction
    from annotator.storage.logs.audit_log import note_act

    details = {"schema": newest, "earlier": earlier}
    note_act(session, AuditAction.schema_migrated, "program", at=now, details=details)


def _upgrade(session: Session) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = session.connection()
    command.upgrade(config, "head")
