"""A database of the schema before secrets keeps its orders and its imports, and its checks can no longer be computed."""

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from annotator.domain.people import OPERATOR
from annotator.importing.judgments.judgments_service import import_judgments
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset
from annotator.storage.schema import upgrade_schema
from annotator.storage.tables.central import CurrentJudgmentRow, JudgmentRow
from tests.integration.storage.old_databases import fill_old

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
LATER = datetime(2026, 3, 5, tzinfo=UTC)
OLD_ID = str(
    uuid.uuid5(
        uuid.UUID("8b6f2f5e-3f0e-5a53-9d0c-0f6d5c0f7c11"),
        '["d", "Q", "D1", "ann", "graded", 2, null, null, null]',
    )
)
EVENTS = {1: OLD_ID, 2: str(uuid.UUID(int=2, version=4)), 3: str(uuid.UUID(int=3, version=5))}
"""By dataset: of a file, from a browser, and from a browser in a dataset that was restored under another name."""


@pytest.fixture
def old(empty_database: Database) -> Database:
    """A database of schema 0029 with a judgment in each of three datasets; a fourth one has no pairs."""
    return fill_old(empty_database, "0029", rows())


def rows() -> Iterator[tuple[str, dict[str, Any]]]:
    yield "person", {"pk": 1, "username": "ann", "name": "", "must_change_password": False, "simulated": False, "created_at": NOON}  # fmt: skip
    for pk, name in enumerate(("d", "other", "copy", "empty"), 1):
        yield "dataset", {"pk": pk, "name": name, "title": "", "overlap": 1, "kappa_target": 0.7, "lease_minutes": 60, "seed": 0, "list_grade_0": False, "created_at": NOON}  # fmt: skip
        yield "rubric", {"pk": pk, "dataset_pk": pk, "version": 1, "title": "", "guideline": "", "grades": "[]", "change": "minor", "created_at": NOON}  # fmt: skip
        if pk == 4:
            break
        yield (
            "query",
            {"pk": pk, "dataset_pk": pk, "position": 0, "query_id": "Q", "text": "t", "extra": "{}"},
        )
        yield "document", {"pk": pk, "dataset_pk": pk, "doc_id": "D1", "title": "", "media_type": "text/plain", "extra": "{}"}  # fmt: skip
        yield "pair", {"pk": pk, "dataset_pk": pk, "query_pk": pk, "document_pk": pk, "key": f"k{pk}", "judged": 1, "wanted": 1, "created_at": NOON}  # fmt: skip
        yield "judgment", {"pk": pk, "event_id": EVENTS[pk], "pair_pk": pk, "annotator_pk": 1, "rubric_pk": pk, "outcome": "graded", "grade": 2, "purpose": "independent", "judged_at": NOON, "received_at": NOON}  # fmt: skip
        yield "current_judgment", {"pair_pk": pk, "annotator_pk": 1, "judgment_pk": pk, "dataset_pk": pk, "outcome": "graded", "grade": 2, "purpose": "independent", "rubric_pk": pk, "made_at": 0, "stale": 0, "imported": 0 if pk == 2 else 2}  # fmt: skip
    yield "audit_event", {"pk": 1, "dataset_pk": 3, "action": "restored dataset", "after": '{"from": "d"}', "at": NOON}  # fmt: skip


def test_checks_get_a_secret_and_orders_that_are_under_way_stay(old: Database) -> None:
    upgrade_schema(old)
    with old.read() as session:
        datasets = {name: find_dataset(session, name) for name in ("d", "other", "copy", "empty")}
        assert len({dataset.check_secret for dataset in datasets.values()}) == 4
        assert min(len(dataset.check_secret) for dataset in datasets.values()) == 64
        assert [dataset.order_seed for dataset in datasets.values()][:3] == [0, 0, 0]
        assert len(datasets["empty"].order_secret) == 64


def test_a_judgment_of_a_file_is_known_by_a_column_and_the_same_file_changes_nothing(
    old: Database, tmp_path: Path
) -> None:
    upgrade_schema(old)
    with old.read() as session:
        lines = session.execute(select(col(JudgmentRow.pk), col(JudgmentRow.line_id)))
        assert dict(map(tuple, lines)) == {1: OLD_ID, 2: None, 3: None}
        imported = session.execute(select(col(CurrentJudgmentRow.pair_pk), col(CurrentJudgmentRow.imported)))
        assert dict(map(tuple, imported)) == {1: 2, 2: 0, 3: 0}
    path = tmp_path / "grades.csv"
    path.write_text("query_id,doc_id,annotator,grade\nQ,D1,ann,2\n", "utf-8")
    done = import_judgments(old, OPERATOR, "d", path, now=LATER)
    assert (done.added, done.changed, done.unchanged) == (0, 0, 1)


@pytest.mark.parametrize("statement", ["UPDATE judgment SET line_id = NULL", "DELETE FROM judgment"])
def test_judgments_are_locked_again_after_the_migration(old: Database, statement: str) -> None:
    upgrade_schema(old)
    with pytest.raises(IntegrityError, match="append-only"), old.write() as session:
        session.connection().execute(text(statement))
