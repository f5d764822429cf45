"""Provenance names pairs that exist, whoever writes it: a foreign key on SQLite, one look per statement on PostgreSQL."""

from collections.abc import Sequence
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, IntegrityError

from annotator.domain.errors import DatabaseUnavailable
from annotator.storage.database import Database
from annotator.storage.schema import MIGRATIONS, upgrade_schema
from annotator.storage.sql import COPIED, add_rows
from annotator.storage.tables.central import ProvenanceRow
from tests.databases import CopyWorld
from tests.integration.judged_world import JudgedWorld
from tests.integration.storage.test_schema import FIRST_ROWS, read_all

UNKNOWN = 999_999
REFUSED = "(?i)foreign key"
postgresql_only = pytest.mark.parametrize("copy_database", ["postgresql"], indirect=True)


class NamedPairs:
    """A dataset of two pairs, of which systems have named the first."""

    def __init__(self, database: Database) -> None:
        self.database = database
        world = JudgedWorld(database)
        world.query("Q1", "検索 🔎")
        for doc_id in ("문서/1", "문서/2"):
            world.pair("Q1", doc_id)
        self.named, self.free = self.column("SELECT pk FROM pair ORDER BY pk")
        self.run("DELETE FROM provenance")
        self.run(f"INSERT INTO provenance (pair_pk, system, signals) VALUES ({self.named}, 'bm25', '{{}}')")

    def column(self, statement: str) -> list[Any]:
        with self.database.read() as session:
            return list(session.connection().execute(text(statement)).scalars())

    def run(self, *statements: str) -> None:
        with self.database.write() as session:
            for statement in statements:
                session.connection().execute(text(statement))


@pytest.fixture
def pairs(copy_world: CopyWorld) -> NamedPairs:
    return copy_world(NamedPairs)


def list_refused(pairs: NamedPairs) -> dict[str, Sequence[str]]:
    insert = "INSERT INTO provenance (pair_pk, system, signals)"
    return {
        "a row": [f"{insert} VALUES ({UNKNOWN}, 'x', '{{}}')"],
        "one among others": [f"{insert} VALUES ({pairs.free}, 'x', '{{}}'), ({UNKNOWN}, 'x', '{{}}')"],
        "selected": [f"{insert} SELECT pk + {UNKNOWN}, 'x', '{{}}' FROM pair"],
        "unless there": [f"{insert} SELECT pk + {UNKNOWN}, 'x', '{{}}' FROM pair WHERE true ON CONFLICT DO NOTHING"],
        "changed": [f"UPDATE provenance SET pair_pk = {UNKNOWN}"],
        "upserted": [
            f"{insert} VALUES ({pairs.named}, 'bm25', '{{}}') ON CONFLICT (pair_pk, system) DO UPDATE SET pair_pk = {UNKNOWN}"
        ],
        "its pair deleted": [f"DELETE FROM pair WHERE pk = {pairs.named}"],
        "all pairs deleted": ["DELETE FROM pair"],
        "its pair renumbered": [f"UPDATE pair SET pk = {UNKNOWN} WHERE pk = {pairs.named}"],
    }  # fmt: skip


@pytest.mark.parametrize(
    "how",
    ["a row", "one among others", "selected", "unless there", "changed", "upserted", "its pair deleted", "all pairs deleted",
     "its pair renumbered"],
)  # fmt: skip
def test_what_would_name_no_pair_is_refused_and_leaves_nothing(pairs: NamedPairs, how: str) -> None:
    before = read_all(pairs.database)
    with pytest.raises(IntegrityError, match=REFUSED):
        pairs.run(*list_refused(pairs)[how])
    assert read_all(pairs.database) == before


def test_many_rows_with_one_that_names_no_pair_are_refused(pairs: NamedPairs) -> None:
    rows = [{"pair_pk": pairs.free, "system": f"s{at}", "signals": {}} for at in range(COPIED)]
    rows[-1]["pair_pk"] = UNKNOWN
    with pytest.raises(IntegrityError, match=REFUSED), pairs.database.write() as session:
        add_rows(session, ProvenanceRow, rows)
    assert pairs.column("SELECT system FROM provenance") == ["bm25"]


def test_what_names_pairs_is_stored_and_free_pairs_may_go(pairs: NamedPairs) -> None:
    rows = [{"pair_pk": pairs.named, "system": f"s{at}", "signals": {}} for at in range(COPIED)]
    with pairs.database.write() as session:
        add_rows(session, ProvenanceRow, rows)
    pairs.run(
        f"DELETE FROM pair WHERE pk = {pairs.free}",
        f"UPDATE pair SET judged = 7, pk = pk WHERE pk = {pairs.named}",
        "INSERT INTO provenance (pair_pk, system, signals) SELECT pk, 'none', '{}' FROM pair WHERE pk < 0",
    )
    assert pairs.column("SELECT count(*) FROM provenance") == [COPIED + 1]
    pairs.run("DELETE FROM provenance", f"DELETE FROM pair WHERE pk = {pairs.named}")
    assert pairs.column("SELECT count(*) FROM pair") == [0]


@postgresql_only
def test_while_provenance_is_being_added_its_pair_can_be_judged_and_not_deleted(pairs: NamedPairs) -> None:
    impatient = Database(pairs.database.url, patience=0.2)
    try:
        with pairs.database.write() as session:
            session.execute(
                text(f"INSERT INTO provenance (pair_pk, system, signals) VALUES ({pairs.free}, 'x', '{{}}')")
            )
            with impatient.write() as other:
                other.execute(text(f"UPDATE pair SET judged = 1, lacking = 1 WHERE pk = {pairs.free}"))
            with pytest.raises(DatabaseUnavailable), impatient.write() as other:
                other.execute(text(f"DELETE FROM pair WHERE pk = {pairs.free}"))
    finally:
        impatient.dispose()


@postgresql_only
def test_provenance_waits_for_who_deletes_its_pair(pairs: NamedPairs) -> None:
    impatient = Database(pairs.database.url, patience=0.2)
    try:
        with pairs.database.write() as session:
            session.execute(text(f"DELETE FROM pair WHERE pk = {pairs.free}"))
            with pytest.raises(DatabaseUnavailable), impatient.write() as other:
                other.execute(
                    text(
                        f"INSERT INTO provenance (pair_pk, system, signals) VALUES ({pairs.free}, 'x', '{{}}')"
                    )
                )
    finally:
        impatient.dispose()


@postgresql_only
def test_pairs_are_not_deleted_by_what_an_old_snapshot_shows(pairs: NamedPairs) -> None:
    with pytest.raises(DBAPIError, match="READ COMMITTED or SERIALIZABLE"), pairs.database.write() as session:
        session.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
        session.execute(text(f"DELETE FROM pair WHERE pk = {pairs.free}"))


def test_a_database_with_provenance_keeps_it_and_refuses_bad_rows_from_then_on(
    empty_database: Database,
) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with empty_database.write() as session:
        config.attributes["connection"] = session.connection()
        command.upgrade(config, "0001")
        for table, values in FIRST_ROWS:
            placeholders = ", ".join(f":{name}" for name in values)
            statement = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({placeholders})"
            session.connection().execute(text(statement), values)
        command.upgrade(config, "0019")
        session.connection().execute(
            text(
                "INSERT INTO provenance (pair_pk, system, rank, score, signals) VALUES (1, '検索', 3, 1.5, '{}')"
            )
        )
    before = read_all(empty_database)
    upgrade_schema(empty_database)
    after = read_all(empty_database)
    changed = (
        "alembic_version",
        "dataset",
        "judgment",
        "rubric",
    )  # which later migrations give further columns
    assert {name: after[name] for name in before if name not in changed} == {
        name: rows for name, rows in before.items() if name not in changed
    }
    for statement in (
        f"INSERT INTO provenance (pair_pk, system, signals) VALUES ({UNKNOWN}, 'x', '{{}}')",
        "UPDATE pair SET pk = 2",
    ):
        with pytest.raises(IntegrityError, match=REFUSED), empty_database.write() as session:
            session.connection().execute(text(statement))
