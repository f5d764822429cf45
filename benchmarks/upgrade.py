"""The upgrade of every kept database with 1,000,000 judgments in it to the schema of this version.

    .venv/bin/python -m benchmarks.upgrade [--judgments 1000000] [--kind sqlite postgresql] [--version 0.1.0]

Makes the database of an earlier version from tests/golden/databases, adds pairs and judgments in bulk, and runs `upgrade_schema`: all
migrations in one transaction. And the same from the first schema, which runs all of them.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from annotator.storage import schema
from annotator.storage.database import Database
from annotator.storage.schema import find_revision, list_migrations, upgrade_schema
from benchmarks.labeling_load import open_database, trust
from tests import kept_databases
from tests.integration.storage.test_schema import FIRST_ROWS

SMALL = "--judgments 200 --kind sqlite"  # what the tests start it with
AT = "2026-01-02 03:04:05.000000"
PER_QUERY, ANNOTATORS = 100, 20


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Upgrades with a million judgments.")
    parser.add_argument("--judgments", type=int, default=1_000_000)
    parser.add_argument("--kind", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument(
        "--version", nargs="+", default=sorted(path.name for path in kept_databases.KEPT.iterdir())
    )
    chosen = parser.parse_args()
    newest = list_migrations()[-1].revision
    with tempfile.TemporaryDirectory(prefix="annotator-bench-") as scratch:
        for kind in chosen.kind:
            for version in ("0001", *chosen.version):
                with open_database(kind, Path(scratch) / f"{kind}-{version}") as (database, _):
                    first, seconds = measure(database, version, chosen.judgments)
                    print(
                        f"{kind}, {version}, schema {first} to {newest}, {chosen.judgments:,} judgments: {seconds:.1f} s",
                        flush=True,
                    )
                    database.dispose()


def measure(database: Database, version: str, judgments: int) -> tuple[str, float]:
    """Return the schema of the old database, and how long its upgrade took."""
    if version == "0001":
        make_first(database)
    else:
        if database.is_sqlite:
            database.engine.dispose()
        kept_databases.load(database, version)
    with database.write() as session:
        trust(session)
        add_judgments(session, judgments)
        first = str(find_revision(session))
    if not database.is_sqlite:
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("ANALYZE"))
    start = time.perf_counter()
    upgrade_schema(database)
    took = time.perf_counter() - start
    with database.read() as session:
        if (session.scalar(text("SELECT count(*) FROM judgment")) or 0) < judgments:
            raise SystemExit("judgments are missing")
    return first, took


def make_first(database: Database) -> None:
    """Make the tables of the first schema, with a row in the central ones."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(schema.MIGRATIONS))
    with database.write() as session:
        config.attributes["connection"] = session.connection()
        command.upgrade(config, "0001")
        for table, values in FIRST_ROWS:
            if table in ("dataset", "person", "rubric"):
                names = ", ".join(f":{name}" for name in values)
                session.execute(text(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({names})"), values)


def add_judgments(session: Session, judgments: int) -> None:
    """Add queries, documents, pairs, judgments and current judgments, by the columns that every schema has."""
    first = 1_000_000
    pairs = max(1, judgments // 2)
    people = range(first, first + ANNOTATORS)
    queries = range(first, first + -(-pairs // PER_QUERY))
    insert(session, "person", [
        {"pk": pk, "username": f"a{pk}", "name": "", "must_change_password": False, "simulated": False, "created_at": AT}
        for pk in people
    ])  # fmt: skip
    insert(session, "query", [
        {"pk": pk, "dataset_pk": 1, "position": pk, "query_id": f"B{pk}", "text": "検索", "extra": "{}"} for pk in queries
    ])  # fmt: skip
    insert(session, "document", [
        {"pk": first + at, "dataset_pk": 1, "doc_id": f"b{at}", "title": "", "media_type": "text/plain", "extra": "{}"}
        for at in range(PER_QUERY)
    ])  # fmt: skip
    for start in range(0, pairs, 50_000):
        some = range(start, min(pairs, start + 50_000))
        insert(session, "pair", [
            {"pk": first + at, "dataset_pk": 1, "query_pk": first + at // PER_QUERY, "document_pk": first + at % PER_QUERY,
             "key": f"b{at:023x}", "judged": 2, "created_at": AT} for at in some
        ])  # fmt: skip
        answers = [(at, number) for at in some for number in range(2)]
        insert(session, "judgment", [
            {"pk": first + at * 2 + number, "event_id": f"b{at}-{number}", "pair_pk": first + at,
             "annotator_pk": first + (at // PER_QUERY + number) % ANNOTATORS, "rubric_pk": 1, "outcome": "graded",
             "grade": (at + number * (at % 7 == 0)) % 4, "purpose": "independent", "judged_at": AT, "received_at": AT,
             "seconds": 1.5} for at, number in answers
        ])  # fmt: skip
        current = [
            {"pair_pk": first + at, "annotator_pk": first + (at // PER_QUERY + number) % ANNOTATORS,
             "judgment_pk": first + at * 2 + number, "dataset_pk": 1, "outcome": "graded",
             "grade": (at + number * (at % 7 == 0)) % 4, "purpose": "independent"} for at, number in answers
        ]  # fmt: skip
        if "rubric_pk" in list_columns(session, "current_judgment"):
            current = [{**row, "rubric_pk": 1, "seconds": 1.5, "made_at": 1_767_323_045} for row in current]
        insert(session, "current_judgment", current)


def list_columns(session: Session, table: str) -> set[str]:
    """Return the columns of a table."""
    return set(session.execute(text(f"SELECT * FROM {table} LIMIT 0")).keys())


def insert(session: Session, table: str, rows: list[dict[str, Any]]) -> None:
    """Insert rows."""
    names = list(rows[0])
    values = [tuple(row.values()) for row in rows]
    driver: Any = session.connection().connection.driver_connection
    if session.connection().dialect.name == "sqlite":
        driver.executemany(
            f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' for _ in names)})", values
        )
        return
    with driver.cursor() as cursor, cursor.copy(f"COPY {table} ({', '.join(names)}) FROM STDIN") as copy:
        for row in values:
            copy.write_row(row)


if __name__ == "__main__":
    main()
