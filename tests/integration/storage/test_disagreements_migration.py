"""A database of the schema before disagreements comes up with what holds and what waits, loses nothing, and is still locked."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from annotator.domain.errors import StateError
from annotator.domain.settling import QueueReason
from annotator.storage.database import Database
from annotator.storage.pairs.disagreements import derive_disagreements
from annotator.storage.schema import MIGRATIONS, upgrade_schema
from annotator.storage.tables.adjudication import AdjudicationRow, CurrentAdjudicationRow, DisagreementRow

BEGUN = datetime(2026, 3, 1, tzinfo=UTC)
SEMANTIC = datetime(2026, 3, 3, 12, tzinfo=UTC)
Row = tuple[str, dict[str, Any]]
ANN, BEA, LEAD, EXPERT = 1, 2, 3, 4
DIFFER, QUALITY, QUESTION, STALE, UNRATEABLE = (
    QueueReason.DIFFER, QueueReason.QUALITY, QueueReason.QUESTION, QueueReason.STALE, QueueReason.UNRATEABLE,
)  # fmt: skip
ANSWERS: dict[int, tuple[int | None, int | None]] = {
    1: (0, 3), 2: (1, 2), 3: (2, 2), 4: (1, None), 5: (2, 2), 6: (2, 2), 7: (3, 3), 8: (0, 1), 9: (2, 3), 10: (None, None),
}  # fmt: skip
DECISIONS = (
    (2, 1, 1, 2),
    (2, 2, 2, 2),
    (2, 3, 1, 2),
    (8, 1, 1, 2),
    (9, 1, 3, 1),
)  # pair, revision, grade, guideline
ERRORS = {5: 0, 8: 3}
OLDER = 7  # the pair with an answer under the older guideline
EXPECTED = {
    1: (True, DIFFER, DIFFER, 0, 3, 3), 2: (False, DIFFER, QueueReason(0), 1, 2, 1), 4: (True, UNRATEABLE, UNRATEABLE, None, None, 1),
    5: (True, QUALITY, QUALITY, 0, 2, 2), 6: (True, QUESTION, QUESTION, None, None, 0), 7: (True, STALE, STALE, None, None, 0),
    8: (False, DIFFER | QUALITY, QueueReason(0), 0, 3, 3), 9: (True, DIFFER | STALE, STALE, 2, 3, 1),
}  # fmt: skip


def at(minute: int) -> datetime:
    """The minute of the fourth of March: after the change of the guideline."""
    return datetime(2026, 3, 4, minute // 60, minute % 60, tzinfo=UTC)


def add(database: Database, *rows: Row) -> None:
    """Insert them in one transaction, in their order."""
    with database.write() as session:
        for table, values in rows:
            values_by_name = {name: _write(database, value) for name, value in values.items()}
            names, placeholders = ", ".join(values_by_name), ", ".join(f":{name}" for name in values_by_name)
            session.connection().execute(
                text(f"INSERT INTO {table} ({names}) VALUES ({placeholders})"), values_by_name
            )


def _write(database: Database, value: object) -> object:
    return value.isoformat(" ") if database.is_sqlite and isinstance(value, datetime) else value


@pytest.fixture
def old(empty_database: Database) -> Database:
    """Ten pairs in a database of schema 0005: what each of them is stands in EXPECTED."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with empty_database.write() as session:
        config.attributes["connection"] = session.connection()
        command.upgrade(config, "0005")
    add(empty_database, *_list_rows())
    return empty_database


def _list_rows() -> Iterator[Row]:
    settings = {
        "title": "法律 🔎",
        "overlap": 2,
        "kappa_target": 0.7,
        "lease_minutes": 60,
        "seed": 0,
        "list_grade_0": False,
    }
    yield "dataset", {"pk": 1, "name": "d", **settings, "created_at": BEGUN}
    for pk, name in enumerate(("花子", "민준", "lead", "expert"), start=1):
        person = {"name": "", "must_change_password": False, "simulated": False, "created_at": BEGUN}
        yield "person", {"pk": pk, "username": name, **person}
    for version, made in ((1, BEGUN), (2, SEMANTIC)):
        person = {"title": "", "guideline": "", "grades": "[]", "created_at": made}
        yield "rubric", {"pk": version, "dataset_pk": 1, "version": version, **person}
    yield (
        "query",
        {"pk": 1, "dataset_pk": 1, "position": 1, "query_id": "Q1", "text": "제17조", "extra": "{}"},
    )
    for pair, answers in ANSWERS.items():
        yield from _list_pair(pair, answers)
    for pk, (pair, revision, grade, version) in enumerate(DECISIONS, start=1):
        person = {
            "lead_pk": LEAD,
            "rubric_pk": version,
            "grade": grade,
            "rationale": f"第{pk}条",
            "reason": "guideline unclear",
        }
        yield (
            "adjudication",
            {"pk": pk, "pair_pk": pair, "revision": revision, **person, "decided_at": at(600 + pk)},
        )
    for pair, grade in ERRORS.items():
        yield from _list_error(pair, grade)
    question = {"text": "왜?", "asked_at": at(300), "in_guideline": False}
    yield "question", {"pk": 1, "pair_pk": 6, "annotator_pk": ANN, **question}


def _list_pair(pair: int, answers: tuple[int | None, int | None]) -> Iterator[Row]:
    document = {"title": "", "media_type": "text/plain", "extra": "{}"}
    yield "document", {"pk": pair, "dataset_pk": 1, "doc_id": f"文書{pair}", **document}
    counts = {"judged": 2, "wanted": 2, "created_at": BEGUN}
    yield (
        "pair",
        {"pk": pair, "dataset_pk": 1, "query_pk": 1, "document_pk": pair, "key": f"k{pair}", **counts},
    )
    for who, grade in zip((ANN, BEA), answers, strict=True):
        older = pair == OLDER and who == ANN
        yield from _judge(pair, who, grade, "independent", rubric=1 if older else 2, stale=int(older))


def _judge(
    pair: int, who: int, grade: int | None, purpose: str, *, rubric: int = 2, stale: int = 0
) -> Iterator[Row]:
    pk, moment = pair * 10 + who, at(pair * 10 + who)
    judgment = {
        "pair_pk": pair, "annotator_pk": who, "outcome": "unrateable" if grade is None else "graded", "grade": grade,
        "purpose": purpose, "rubric_pk": rubric,
    }  # fmt: skip
    yield "judgment", {"pk": pk, "event_id": f"e{pk}", "judged_at": moment, "received_at": moment, **judgment}
    made = {"judgment_pk": pk, "dataset_pk": 1, "stale": stale, "made_at": int(moment.timestamp())}
    yield "current_judgment", {**judgment, **made}


def _list_error(pair: int, grade: int) -> Iterator[Row]:
    yield from _judge(pair, EXPERT, grade, "quality")
    draw = {"rate": 0.1, "seed": 0, "population": 9, "outside": 0, "drawn_at": at(200)}
    yield (
        "quality_draw",
        {"pk": pair, "dataset_pk": 1, "number": pair, "round": 1, "annotator_pk": EXPERT, **draw},
    )
    answer = {"judgment_pk": pair * 10 + EXPERT, "outcome": "graded", "grade": grade, "answered_at": at(250)}
    yield (
        "quality_pair",
        {"draw_pk": pair, "pair_pk": pair, "settled_grade": 2, "settled_by": "unanimous", **answer},
    )


def read_disagreements(database: Database) -> dict[int, tuple[Any, ...]]:
    with database.read() as session:
        rows = session.scalars(select(DisagreementRow)).all()
    return {
        row.pair_pk: (
            row.open,
            QueueReason(row.reasons),
            QueueReason(row.waiting),
            row.low,
            row.high,
            row.distance,
        )
        for row in rows
    }


def test_every_pair_comes_up_as_the_dispute_that_it_is_and_no_decision_is_lost(old: Database) -> None:
    upgrade_schema(old)
    assert read_disagreements(old) == EXPECTED
    with old.read() as session:
        since = {row.pair_pk: row.since for row in session.scalars(select(DisagreementRow))}
    assert (since[1], since[5], since[6], since[7], since[9]) == (
        at(12),
        at(250),
        at(300),
        SEMANTIC,
        SEMANTIC,
    )
    with old.write() as session:
        derive_disagreements(session, 1)
    assert read_disagreements(old) == EXPECTED
    _check_decisions(old)


def _check_decisions(old: Database) -> None:
    with old.read() as session:
        held = session.scalars(
            select(CurrentAdjudicationRow).order_by(col(CurrentAdjudicationRow.pair_pk))
        ).all()
        kept = session.scalars(select(AdjudicationRow).order_by(col(AdjudicationRow.pk))).all()
    assert [(row.pair_pk, row.adjudication_pk, row.grade, row.outcome, row.lead_pk) for row in held] == [
        (2, 3, 1, "graded", LEAD), (8, 4, 1, "graded", LEAD), (9, 5, 3, "graded", LEAD),
    ]  # fmt: skip
    assert [row.decided_at for row in held] == [at(603), at(604), at(605)]
    assert [(row.pair_pk, row.revision, row.grade, row.rubric_pk) for row in kept] == list(DECISIONS)
    assert {(row.rationale, row.reason) for row in kept} == {
        (f"第{pk}条", "guideline unclear") for pk in range(1, 6)
    }
    new = {(row.outcome, row.cause, row.in_guideline, row.seconds, row.batch_pk) for row in kept}
    assert new == {("graded", None, False, None, None)}


def test_decisions_are_append_only_as_before_and_still_belong_to_pairs_and_people(old: Database) -> None:
    upgrade_schema(old)
    statements = ["UPDATE adjudication SET grade = 0", "DELETE FROM adjudication"]
    statements.append("INSERT OR REPLACE INTO adjudication SELECT * FROM adjudication" if old.is_sqlite else "TRUNCATE adjudication CASCADE")  # fmt: skip
    for statement in statements:
        with pytest.raises(IntegrityError, match="append-only"), old.write() as session:
            session.connection().execute(text(statement))
    decision = {"revision": 9, "rubric_pk": 2, "grade": 1, "rationale": "", "decided_at": at(700)}
    for wrong in ({"pair_pk": 99, "lead_pk": LEAD}, {"pair_pk": 1, "lead_pk": 99}):
        with pytest.raises(IntegrityError):
            add(old, ("adjudication", {**decision, **wrong}))
    for broken in (
        {"grade": 4},
        {"outcome": "unrateable"},
        {"outcome": "guessed"},
        {"revision": 0},
        {"cause": "none"},
    ):
        with pytest.raises(IntegrityError):
            add(old, ("adjudication", {**decision, "pair_pk": 1, "lead_pk": LEAD, **broken}))
    add(old, ("adjudication", {**decision, "pair_pk": 1, "lead_pk": LEAD}))
    if old.is_sqlite:
        with old.read() as session:
            assert session.connection().execute(text("PRAGMA foreign_key_check")).all() == []


def test_the_program_before_refuses_the_database_and_leaves_it(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    *_, last, newest = sorted(path.name[:4] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))
    before = tmp_path / "migrations"
    shutil.copytree(MIGRATIONS, before, ignore=shutil.ignore_patterns(f"{newest}*", "__pycache__"))
    monkeypatch.setattr("annotator.storage.schema.MIGRATIONS", before)
    expected = rf"its schema is {newest}, this program knows up to {last}.*Nothing was changed"
    with pytest.raises(StateError, match=expected):
        upgrade_schema(database)
    assert read_disagreements(database) == {}
