"""Many rows at once are stored as few are, and refused as a whole; on both databases."""

from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from annotator.storage.database import Database
from annotator.storage.sql import COPIED, add_rows
from annotator.storage.tables.central import DocumentRow
from tests.integration.judged_world import JudgedWorld

NASTY = (
    "tab\there",
    "line\nbreak\r\n",
    "\\N",
    "\\.",
    "back\\slash",
    "\"quoted\", 'too'",
    "%s :name",
    "農地 🔎",
    "",
)


def make_rows(dataset_pk: int) -> list[dict[str, Any]]:
    return [
        {
            "dataset_pk": dataset_pk,
            "doc_id": f"{number} {NASTY[number % len(NASTY)]}",
            "title": NASTY[(number + 1) % len(NASTY)],
            "text_sha256": None if number % 2 else "aa",
            "extra": {"値\n": [NASTY[number % len(NASTY)], None, 1.5, True]},
        }
        for number in range(COPIED)
    ]


def test_every_value_of_many_rows_is_stored_as_given(database: Database) -> None:
    rows = make_rows(JudgedWorld(database).dataset_pk)
    with database.write() as session:
        add_rows(session, DocumentRow, rows)
    columns = [col(getattr(DocumentRow, name)) for name in rows[0]]
    with database.read() as session:
        stored = session.execute(select(*columns, col(DocumentRow.media_type)).order_by(col(DocumentRow.pk)))
        assert [dict(row._mapping) for row in stored] == [{**row, "media_type": "text/plain"} for row in rows]


def test_many_rows_with_one_that_the_database_refuses_leave_nothing(database: Database) -> None:
    rows = make_rows(JudgedWorld(database).dataset_pk)
    rows[-1]["doc_id"] = rows[0]["doc_id"]
    with pytest.raises(IntegrityError), database.write() as session:
        add_rows(session, DocumentRow, rows)
    with database.read() as session:
        assert session.scalar(select(func.count()).select_from(DocumentRow)) == 0
