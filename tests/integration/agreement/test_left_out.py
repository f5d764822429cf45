"""What does not count for agreement: every judgment under exactly one reason; on both databases."""

import random
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select, update
from sqlmodel import col

from annotator.agreement.left_out_sql import WHY, count_left_out, count_outdated, list_left_out
from annotator.agreement.service import compute_agreement
from annotator.domain.errors import ValidationError
from annotator.domain.people import OPERATOR
from annotator.storage.database import Database
from annotator.storage.judgments.current_judgments import derive_current, forget_current
from annotator.storage.lookup import find_rubric, key_of
from annotator.storage.tables.central import CurrentJudgmentRow, JudgmentRow, PairRow
from tests.integration.judged_world import NOW, JudgedWorld

PURPOSES = (*["independent"] * 9, "conditional", "training", "gold", "repeat", "quality", "draft")
ANSWERS = (("graded", 0), ("graded", 1), ("graded", 3), ("unrateable", None), ("later", None))


class RandomWorld(JudgedWorld):
    """A dataset of eight pairs that four people judged at random, for every purpose, again and again; two pairs then
    leave the pool."""

    def __init__(self, database: Database, *, seed: int, name: str) -> None:
        super().__init__(database, name=name)
        drawn = random.Random(seed)
        people = [self.person(f"{name}-{who}") for who in ("고양이", "高橋", "zoë", "<script>")]
        self.query(f"{name}-q", "شجرة 🌳")
        for number in range(8):
            self.pair(f"{name}-q", f"{name}/文書{number}")
        with database.write() as session:
            statement = select(col(PairRow.pk)).where(col(PairRow.dataset_pk) == self.dataset_pk)
            pairs = [key_of(pk) for pk in session.scalars(statement.order_by(col(PairRow.pk)))]
            for number in range(drawn.choice((0, 5, 60, 60))):
                outcome, grade = drawn.choice(ANSWERS)
                at = NOW + timedelta(minutes=drawn.randrange(20))
                session.add(
                    JudgmentRow.model_validate(
                        {
                            "event_id": str(UUID(int=seed * 1000 + number, version=4)),
                            "pair_pk": drawn.choice(pairs),
                            "annotator_pk": drawn.choice(people).person_id,
                            "rubric_pk": find_rubric(session, self.dataset_pk).pk,
                            "outcome": outcome,
                            "grade": grade,
                            "purpose": drawn.choice(PURPOSES),
                            "judged_at": at,
                            "received_at": at,
                        }
                    )
                )
            derive_current(session, self.dataset_pk)
            gone = pairs[:2]
            session.execute(update(PairRow).where(col(PairRow.pk).in_(gone)).values(retired_at=NOW))
            forget_current(session, self.dataset_pk, gone)

    def sort_out(self) -> dict[str, set[str]]:
        """The event ids by reason, "counted" for those that count: read one by one, by the rule as documented."""
        with self.database.read() as session:
            joined = (
                select(JudgmentRow, col(PairRow.retired_at))
                .join(PairRow, col(PairRow.pk) == col(JudgmentRow.pair_pk))
                .where(col(PairRow.dataset_pk) == self.dataset_pk)
            )
            stored = [(row.model_dump(), retired) for row, retired in session.execute(joined)]
        ordinary = [
            row for row, gone in stored if not gone and row["purpose"] in ("independent", "conditional")
        ]
        latest: dict[tuple[int, int], dict[str, Any]] = {}
        for row in sorted(ordinary, key=lambda item: item["pk"]):
            latest[row["pair_pk"], row["annotator_pk"]] = row
        current = {row["event_id"] for row in latest.values()}
        grades = Counter(row["pair_pk"] for row in latest.values() if _is_grade(row))
        by_kind: dict[str, set[str]] = {}
        for row, gone in stored:
            kind = "left_pool" if gone else _name_kind(row, current, grades)
            by_kind.setdefault(kind, set()).add(row["event_id"])
        return by_kind


def _is_grade(row: dict[str, Any]) -> bool:
    return bool(row["purpose"] == "independent" and row["outcome"] == "graded")


def _name_kind(row: dict[str, Any], current: set[str], grades: Counter[int]) -> str:
    if row["purpose"] not in ("independent", "conditional"):
        return "other" if row["purpose"] == "draft" else str(row["purpose"])
    if row["event_id"] not in current:
        return "revised"
    if row["outcome"] == "later":
        return "later"
    if row["purpose"] == "conditional":
        return "conditional"
    if row["outcome"] == "unrateable":
        return "unrateable"
    return "single" if grades[row["pair_pk"]] == 1 else "counted"


@pytest.mark.parametrize("seeds", [range(1, 6), pytest.param(range(6, 11), marks=pytest.mark.long)], ids=str)
def test_every_judgment_counts_or_is_left_out_for_one_reason(
    database: Database, seeds: Sequence[int]
) -> None:
    worlds = [RandomWorld(database, seed=seed, name=f"w{seed}") for seed in seeds]
    seen = set()
    for world in worlds:
        expected = world.sort_out()
        counted = len(expected.pop("counted", ()))
        with database.read() as session:
            by_kind = {
                excluded.kind: excluded.judgments for excluded in count_left_out(session, world.dataset_pk)
            }
            listed = {
                kind: {
                    excluded.event_id
                    for excluded in list_left_out(session, world.dataset_pk, kind, limit=100)
                }
                for kind in WHY
            }
            stored = (
                select(col(JudgmentRow.pk)).join(PairRow).where(col(PairRow.dataset_pk) == world.dataset_pk)
            )
            total = len(session.scalars(stored).all())
        assert by_kind == {kind: len(ids) for kind, ids in expected.items()}
        assert {kind: ids for kind, ids in listed.items() if ids} == expected
        assert counted + sum(by_kind.values()) == total
        seen |= set(by_kind)
    assert seen == set(WHY)


def test_what_counts_is_what_agreement_is_measured_on(database: Database) -> None:
    world = RandomWorld(database, seed=7, name="w7")
    counted = len(world.sort_out()["counted"])
    measured = compute_agreement(database, OPERATOR, "w7", resamples=0).measured
    assert counted == sum(measured.grade_counts) > 0


def test_a_list_is_cut_into_pages_and_names_the_judgment(database: Database) -> None:
    world = JudgedWorld(database)
    cat = world.person("고양이")
    world.query("법-1", "농지")
    events = []
    for number in range(3):
        key = world.pair("법-1", f"文書{number}")
        events.append(world.judge(cat, "법-1", f"文書{number}", number))
    with database.read() as session:
        first = list_left_out(session, world.dataset_pk, "single", limit=2)
        rest = list_left_out(session, world.dataset_pk, "single", limit=2, offset=2)
        (counted,) = count_left_out(session, world.dataset_pk)
    assert [item.event_id for item in (*first, *rest)] == events
    assert (counted.kind, counted.judgments) == ("single", 3)
    (last,) = rest
    assert (last.pair, last.query_id, last.doc_id, last.annotator) == (key, "법-1", "文書2", "고양이")
    assert (last.outcome, last.grade, last.purpose) == ("graded", 2, "independent")
    assert last.judged_at == NOW + timedelta(minutes=3)


def test_a_reason_that_there_is_not_is_refused(database: Database) -> None:
    world = JudgedWorld(database)
    with (
        database.read() as session,
        pytest.raises(ValidationError, match=r"Unknown reason 'tired'.*unrateable, later"),
    ):
        list_left_out(session, world.dataset_pk, "tired", limit=1)


def test_a_grade_under_an_older_standard_counts_and_is_counted(database: Database) -> None:
    world = JudgedWorld(database)
    people = [world.person(name) for name in ("a", "b", "c")]
    world.query("q", "x")
    world.pair("q", "d")
    for person, grade in zip(people, (1, 2, None), strict=True):
        world.judge(person, "q", "d", grade)
    with database.write() as session:
        assert count_outdated(session, world.dataset_pk) == 0
        session.execute(update(CurrentJudgmentRow).values(stale=1))
        assert count_outdated(session, world.dataset_pk) == 2
        assert [excluded.kind for excluded in count_left_out(session, world.dataset_pk)] == ["unrateable"]
