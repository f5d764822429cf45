"""A database of the schema before the order of receipt keeps what is current, but where the server's clock was set back."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from annotator.storage.database import Database
from annotator.storage.judgments.current_judgments import derive_current
from annotator.storage.schema import upgrade_schema
from annotator.storage.tables.central import CurrentJudgmentRow, JudgmentRow, PairRow
from tests.integration.storage.old_databases import fill_old

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
# pair: (grade, pressed, received) in the order of receipt, times in hours from noon; then what was current, and what holds now
CASES: dict[int, tuple[list[tuple[int, float, float]], int, int]] = {
    1: ([(1, 0, 0)], 1, 1),
    2: ([(1, 0, 0), (3, 1, 1)], 3, 3),
    3: ([(3, 1, 1), (1, 0, 2)], 3, 3),  # an older press that was delivered late
    4: ([(1, 0, 0), (3, -72, -72)], 1, 3),  # the clock was three days behind
    5: ([(1, 9_600, 9_600), (3, 1, 1)], 1, 3),  # the clock came back from 400 days ahead
    6: (
        [(2, 1, 1), (3, -72, -72), (0, -80, -71)],
        2,
        3,
    ),  # … and an older press was delivered late after that
}


def at(hours: float) -> datetime:
    return NOON + timedelta(hours=hours)


@pytest.fixture
def old(empty_database: Database) -> Database:
    """A database of schema 0008 with one judgment after the other of one annotator on six pairs."""
    return fill_old(empty_database, "0008", rows())


def rows() -> Iterator[tuple[str, dict[str, Any]]]:
    yield "person", {"pk": 1, "username": "ann", "name": "", "must_change_password": False, "simulated": False, "created_at": NOON}  # fmt: skip
    yield "dataset", {"pk": 1, "name": "d", "title": "", "overlap": 1, "kappa_target": 0.7, "lease_minutes": 60, "seed": 0, "list_grade_0": False, "created_at": NOON}  # fmt: skip
    yield "rubric", {"pk": 1, "dataset_pk": 1, "version": 1, "title": "", "guideline": "", "grades": "[]", "created_at": NOON}  # fmt: skip
    yield "query", {"pk": 1, "dataset_pk": 1, "position": 0, "query_id": "Q", "text": "t", "extra": "{}"}
    number = 0
    for pair, (answers, current, _now) in CASES.items():
        yield "document", {"pk": pair, "dataset_pk": 1, "doc_id": f"D{pair}", "title": "", "media_type": "text/plain", "extra": "{}"}  # fmt: skip
        yield "pair", {"pk": pair, "dataset_pk": 1, "query_pk": 1, "document_pk": pair, "key": f"k{pair}", "judged": 1, "wanted": 1, "created_at": NOON}  # fmt: skip
        held = {}
        for grade, pressed, received in answers:
            number += 1
            held[grade] = (number, at(pressed))
            yield "judgment", {"pk": number, "event_id": f"e{number}", "pair_pk": pair, "annotator_pk": 1, "rubric_pk": 1, "outcome": "graded", "grade": grade, "purpose": "independent", "judged_at": at(pressed), "received_at": at(received)}  # fmt: skip
        yield "current_judgment", {"pair_pk": pair, "annotator_pk": 1, "judgment_pk": held[current][0], "dataset_pk": 1, "outcome": "graded", "grade": current, "purpose": "independent", "rubric_pk": 1, "made_at": int(held[current][1].timestamp()), "stale": 0}  # fmt: skip


def read_current(database: Database) -> dict[int, int | None]:
    with database.read() as session:
        rows = session.scalars(select(CurrentJudgmentRow)).all()
        return {row.pair_pk: row.grade for row in rows}


def test_what_is_current_stays_so_except_where_the_clock_was_set_back(old: Database) -> None:
    upgrade_schema(old)
    expected = {pair: now for pair, (_answers, _before, now) in CASES.items()}
    assert read_current(old) == expected
    with old.write() as session:
        session.connection().execute(text("DELETE FROM current_judgment"))
        derive_current(session, 1)
    assert read_current(old) == expected, "the same when all is derived anew"
    with old.read() as session:
        assert set(session.scalars(select(col(PairRow.judged)))) == {1}
        times = session.execute(
            select(col(JudgmentRow.pk), col(JudgmentRow.judged_at)).order_by(col(JudgmentRow.pk))
        )
        pressed = [at(answer[1]) for answers, *_ in CASES.values() for answer in answers]
        assert [when for _pk, when in times] == pressed, "no judgment is changed"


@pytest.mark.parametrize("statement", ["UPDATE judgment SET late = true", "DELETE FROM judgment"])
def test_judgments_are_locked_again_after_the_migration(old: Database, statement: str) -> None:
    upgrade_schema(old)
    with pytest.raises(IntegrityError, match="append-only"), old.write() as session:
        session.connection().execute(text(statement))
