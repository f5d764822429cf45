"""What the database itself refuses, whoever writes to it: raw SQL, past every service and model."""

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

import pytest
from sqlalchemy import inspect, text
from sqlalchemy.exc import DataError, IntegrityError

from annotator.storage.database import Database
from annotator.storage.tables.central import APPEND_ONLY
from tests.databases import CopyWorld
from tests.integration.judged_world import JudgedWorld

REFUSED = (IntegrityError, DataError)
AT = "2026-01-02 03:04:05+00:00"


class Stored:
    """A judged pair, a decision and a release, and a way to write past everything."""

    def __init__(self, database: Database) -> None:
        self.database = database
        world = JudgedWorld(database)
        self.hanako, self.minjun = world.person("花子"), world.person("민준")
        world.query("Q1", "検索 🔎")
        world.pair("Q1", "문서/1")
        world.pair("Q1", "문서/2")
        world.judge(self.hanako, "Q1", "문서/1", 2)
        world.judge(self.hanako, "Q1", "문서/2", 1)
        self.first, self.second = self.column("SELECT pk FROM judgment ORDER BY pk")
        self.pair, self.other_pair = self.column("SELECT pair_pk FROM judgment ORDER BY pk")
        (self.rubric,) = self.column("SELECT pk FROM rubric")
        (self.dataset,) = self.column("SELECT pk FROM dataset")

    def column(self, statement: str) -> list[Any]:
        with self.database.read() as session:
            return list(session.connection().execute(text(statement)).scalars())

    def run(self, statement: str, values: Mapping[str, Any] | None = None) -> int:
        with self.database.write() as session:
            return session.connection().execute(text(statement), values or {}).rowcount

    def insert(self, table: str, values: Mapping[str, Any]) -> None:
        names = ", ".join(values)
        placeholders = ", ".join(f":{name}" for name in values)
        self.run(f"INSERT INTO {table} ({names}) VALUES ({placeholders})", values)

    def judgment(self, **changes: Any) -> dict[str, Any]:
        return {
            "event_id": "e-new", "pair_pk": self.pair, "annotator_pk": self.minjun.person_id, "rubric_pk": self.rubric,
            "outcome": "graded", "grade": 2, "purpose": "independent", "judged_at": AT, "received_at": AT, **changes,
        }  # fmt: skip

    def decision(self, **changes: Any) -> dict[str, Any]:
        return {
            "pair_pk": self.pair, "revision": 1, "lead_pk": self.minjun.person_id, "rubric_pk": self.rubric,
            "grade": 2, "rationale": "第17条", "decided_at": AT, **changes,
        }  # fmt: skip

    def release(self, **changes: Any) -> dict[str, Any]:
        return {
            "dataset_pk": self.dataset, "version": "1.0.0", "created_at": AT, "note": "", "content_sha256": "00",
            "sums": "", "manifest": "{}", **changes,
        }  # fmt: skip

    def qrel(self, **changes: Any) -> dict[str, Any]:
        (release,) = self.column("SELECT pk FROM release")
        return {
            "release_pk": release, "position": 0, "query_id": "Q1", "doc_id": "문서/1", "grade": 2, "origin": "single",
            **changes,
        }  # fmt: skip

    def published_query(self) -> dict[str, Any]:
        (release,) = self.column("SELECT pk FROM release")
        return {"release_pk": release, "position": 0, "query_id": "Q1", "text": "検索 🔎"}

    def imported_qrel(self, **changes: Any) -> dict[str, Any]:
        return {
            "pair_pk": self.pair, "grade": 2, "keep": True, "source": "{}", "annotator_grades": "[]", "extra": "{}",
            "imported_at": AT, **changes,
        }  # fmt: skip

    def remap(self, **changes: Any) -> dict[str, Any]:
        return {
            "dataset_pk": self.dataset, "old_doc_id": "문서/1", "new_doc_id": "문서/1#1", "kind": "renamed",
            "remapped_at": AT, **changes,
        }  # fmt: skip

    def audit_event(self, **changes: Any) -> dict[str, Any]:
        return {"dataset_pk": self.dataset, "pair_pk": self.pair, "action": "decided", "at": AT, **changes}

    def import_record(self, **changes: Any) -> dict[str, Any]:
        empty = {"options": "{}", "figures": "{}"}
        return {
            "dataset_pk": self.dataset,
            "kind": "run",
            "path": "r.txt",
            "imported_at": AT,
            **empty,
            **changes,
        }

    def document_order(self, **changes: Any) -> dict[str, Any]:
        (query,) = self.column("SELECT pk FROM query")
        values = {"query_pk": query, "lead_pk": self.minjun.person_id, "pair_pks": "[1]", "ordered_at": AT}
        return {**values, **changes}


@pytest.fixture
def stored(copy_world: CopyWorld) -> Stored:
    return copy_world(Stored)


def test_what_the_following_tests_change_is_accepted_unchanged(stored: Stored) -> None:
    stored.insert("judgment", stored.judgment())
    stored.insert("judgment", stored.judgment(event_id="e2", outcome="unrateable", grade=None))
    stored.insert("adjudication", stored.decision())
    stored.insert("release", stored.release())
    stored.insert("release_qrel", stored.qrel())
    assert len(stored.column("SELECT pk FROM judgment")) == 4


@pytest.mark.parametrize("grade", [4, -1, "2.5", "high"])
def test_a_grade_outside_0_to_3_is_refused_everywhere(stored: Stored, grade: object) -> None:
    stored.insert("release", stored.release())
    for table, values in (
        ("judgment", stored.judgment(grade=grade)),
        ("adjudication", stored.decision(grade=grade)),
        ("release_qrel", stored.qrel(grade=grade)),
    ):
        with pytest.raises(REFUSED):
            stored.insert(table, values)
        assert stored.column(f"SELECT grade FROM {table} WHERE grade NOT IN (1, 2)") == []


@pytest.mark.parametrize(
    "changes",
    [
        {"grade": None},
        {"outcome": "unrateable"},
        {"outcome": "later", "grade": 0},
        {"outcome": "perhaps", "grade": None},
        {"rubric_pk": None},
        {"rubric_pk": 999},
        {"pair_pk": 999},
        {"annotator_pk": 999},
        {"seconds": -1},
        {"event_id": "00000000-0000-4000-8000-000000000001"},
    ],
    ids=str,
)
def test_a_judgment_that_could_not_have_been_made_is_refused(stored: Stored, changes: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError):
        stored.insert("judgment", stored.judgment(**changes))
    assert len(stored.column("SELECT pk FROM judgment")) == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"outcome": "unrateable"},
        {"grade": None},
        {"cause": "mood"},
        {"seconds": -1},
        {"revision": 0},
        {"lead_pk": None},
    ],
    ids=str,
)
def test_a_decision_without_words_revision_or_lead_is_refused(
    stored: Stored, changes: dict[str, Any]
) -> None:
    with pytest.raises(IntegrityError):
        stored.insert("adjudication", stored.decision(**changes))


def test_a_revision_a_version_and_a_qrel_are_given_once(stored: Stored) -> None:
    stored.insert("adjudication", stored.decision())
    stored.insert("release", stored.release())
    stored.insert("release_qrel", stored.qrel())
    for table, values in (
        ("adjudication", stored.decision(grade=3)),
        ("release", stored.release(note="again")),
        ("release_qrel", stored.qrel(position=1, grade=3)),
        ("release_qrel", stored.qrel(doc_id="문서/2")),
    ):
        with pytest.raises(IntegrityError):
            stored.insert(table, values)


def test_an_annotator_has_one_current_judgment_on_a_pair(stored: Stored) -> None:
    stored.insert("judgment", stored.judgment(annotator_pk=stored.hanako.person_id))
    (newest,) = stored.column("SELECT max(pk) FROM judgment")
    current = {
        "pair_pk": stored.pair, "annotator_pk": stored.hanako.person_id, "judgment_pk": newest,
        "dataset_pk": stored.dataset, "outcome": "graded", "purpose": "independent",
    }  # fmt: skip
    with pytest.raises(IntegrityError):
        stored.insert("current_judgment", current)


@pytest.mark.parametrize("of", ["another pair", "another annotator", "nobody"])
def test_what_is_current_is_a_judgment_of_that_pair_by_that_annotator(stored: Stored, of: str) -> None:
    stored.insert("judgment", stored.judgment())
    (newest,) = stored.column("SELECT max(pk) FROM judgment")
    current = {
        "pair_pk": stored.other_pair if of == "another pair" else stored.pair,
        "annotator_pk": stored.hanako.person_id if of == "another annotator" else stored.minjun.person_id,
        "judgment_pk": 999 if of == "nobody" else newest,
        "dataset_pk": stored.dataset, "outcome": "graded", "purpose": "independent",
    }  # fmt: skip
    if of == "another annotator":
        stored.run("DELETE FROM current_judgment")
    with pytest.raises(IntegrityError):
        stored.insert("current_judgment", current)


def test_a_pair_a_query_and_a_document_are_in_a_dataset_once(stored: Stored) -> None:
    for table, columns in (
        ("pair", "dataset_pk, query_pk, document_pk, created_at, key"),
        ("query", "dataset_pk, query_id, text, extra, position"),
        ("document", "dataset_pk, doc_id, title, media_type, extra"),
    ):
        copied = columns.replace(" key", " key || 'another'")
        with pytest.raises(IntegrityError):
            stored.run(f"INSERT INTO {table} ({columns}) SELECT {copied} FROM {table}")


@pytest.mark.parametrize("table", APPEND_ONLY)
def test_rows_that_are_written_once_can_neither_be_changed_nor_deleted(stored: Stored, table: str) -> None:
    store_one_of_each(stored)
    before = stored.column(f"SELECT count(*) FROM {table}")
    keys = {"release_qrel": "position", "release_query": "position", "audit_entry": "sequence"}
    column = keys.get(table, "pk")
    statements = [f"UPDATE {table} SET {column} = {column}", f"DELETE FROM {table}"]
    if not stored.database.is_sqlite:
        statements.append(f"TRUNCATE {table} CASCADE")
    for statement in statements:
        with pytest.raises(IntegrityError, match="append-only"):
            stored.run(statement)
    assert stored.column(f"SELECT count(*) FROM {table}") == before


def store_one_of_each(stored: Stored) -> None:
    """A row in every table whose rows are written once."""
    stored.insert("adjudication", stored.decision())
    stored.insert("release", stored.release())
    stored.insert("release_qrel", stored.qrel())
    stored.insert("release_query", stored.published_query())
    stored.insert("imported_qrel", stored.imported_qrel())
    stored.insert("remap", stored.remap())
    stored.insert("audit_event", stored.audit_event())
    stored.insert("import_record", stored.import_record())
    stored.insert("document_order", stored.document_order())
    stored.run(
        "INSERT INTO audit_personal (sequence, field, value, salt) SELECT min(sequence), 'address', '::1', 'ab' FROM audit_entry"
    )


def list_tables_kept(stored: Stored) -> list[str]:
    """The tables with a trigger that refuses UPDATE, as the database itself has them."""
    statement = (
        "SELECT DISTINCT tbl_name FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%BEFORE UPDATE ON%'"
        if stored.database.is_sqlite
        else "SELECT DISTINCT event_object_table FROM information_schema.triggers "
        "WHERE event_manipulation = 'UPDATE' AND action_timing = 'BEFORE'"
    )
    return sorted(stored.column(statement))


def list_unique_keys(stored: Stored, table: str) -> list[list[str]]:
    with stored.database.read() as session:
        inspector = inspect(session.connection())
        unique = [*inspector.get_unique_constraints(table), *inspector.get_indexes(table)]
        keys = [each["column_names"] for each in unique if each.get("unique", True)]
        return [inspector.get_pk_constraint(table)["constrained_columns"], *keys]


def test_no_row_that_is_written_once_can_be_replaced_whatever_program_opens_the_database(
    stored: Stored,
) -> None:
    """SQLite's REPLACE fires delete triggers only if the connection asked for it, which another program does not."""
    store_one_of_each(stored)
    tables = list_tables_kept(stored)
    assert set(tables) >= {*APPEND_ONLY, "audit_personal"}
    for table in tables:
        with stored.database.read() as session:
            row = dict(session.connection().execute(text(f"SELECT * FROM {table} LIMIT 1")).mappings().one())
        for key in list_unique_keys(stored, table):
            before = stored.column(f"SELECT count(*) FROM {table}")
            with pytest.raises((IntegrityError, sqlite3.IntegrityError)):
                replace(stored, table, row, key)
            assert stored.column(f"SELECT count(*) FROM {table}") == before, (table, key)


def replace(stored: Stored, table: str, row: Mapping[str, Any], key: list[str]) -> None:
    """Write the row again as another program would: with the same values in `key`, and another primary key if that is not `key`."""
    values = {**row, **({"pk": 10_000} if "pk" in row and "pk" not in key else {})}
    if not stored.database.is_sqlite:
        values = {
            name: json.dumps(value) if isinstance(value, dict | list) else value
            for name, value in values.items()
        }
        names, places = ", ".join(values), ", ".join(f":{name}" for name in values)
        last = list(values)[-1]
        stored.run(
            f"INSERT INTO {table} ({names}) VALUES ({places}) ON CONFLICT ({', '.join(key)}) DO UPDATE SET {last} = excluded.{last}",
            values,
        )
        return
    connection = sqlite3.connect(str(stored.database.url.database))
    try:
        names, places = ", ".join(values), ", ".join("?" * len(values))
        connection.execute(
            f"INSERT OR REPLACE INTO {table} ({names}) VALUES ({places})", list(values.values())
        )
        connection.commit()
    finally:
        connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE dataset SET overlap = 0",
        "UPDATE dataset SET kappa_target = 1.5",
        "UPDATE dataset SET lease_minutes = 0",
        "UPDATE membership SET role = 'owner'",
        "INSERT INTO membership (person_pk, dataset_pk, role) SELECT person_pk, dataset_pk, 'lead' FROM membership",
    ],
)
def test_settings_and_roles_have_their_limits(stored: Stored, statement: str) -> None:
    with pytest.raises(IntegrityError):
        stored.run(statement)
