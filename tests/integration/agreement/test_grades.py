"""Reading the grades that count, on both databases: which rows, and each figure of theirs."""

from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select, text, update
from sqlmodel import col

from annotator.agreement.grades_sql import read_grades
from annotator.agreement.judgment_table import GradeRows
from annotator.agreement.records import CoefficientValue, PairSelection
from annotator.agreement.service import compute_agreement, list_groupings, list_selected_pairs, read_stamp
from annotator.dataset.service import change_settings
from annotator.domain.errors import NotAllowed, ValidationError
from annotator.domain.people import OPERATOR
from annotator.importing.judgments.judgments_service import import_judgments
from annotator.labeling.service import list_judgments
from annotator.storage.database import Database
from annotator.storage.judgments.current_judgments import derive_current
from annotator.storage.tables.central import CurrentJudgmentRow, JudgmentRow, PairRow, RubricRow
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld

MINUTE = 60
FIRST = int(NOW.timestamp())


class World(JudgedWorld):
    """Two queries, two annotators, three pairs."""

    def __init__(self, database: Database, name: str = "d") -> None:
        super().__init__(database, name=name)
        self.ann, self.bo = self.person(f"ann {name}"), self.person(f"bo {name}")
        self.query(f"q1 {name}", "권한", category="법령", extra={"source": "편람"})
        self.query(f"q2 {name}", "権限")
        for query_id, doc_id, law in (
            (f"q1 {name}", f"d1 {name}", "民法"),
            (f"q1 {name}", f"d2 {name}", None),
            (f"q2 {name}", f"d1 {name}", "民法"),
        ):
            extra: dict[str, Any] = {"law": law} if law else {}
            self.pair(query_id, doc_id, **extra)

    def read(self) -> GradeRows:
        with self.database.read() as session:
            return read_grades(session, self.dataset_pk)


@pytest.fixture
def world(copy_world: CopyWorld) -> World:
    return copy_world(World)


def test_each_judgment_that_counts_is_read_with_its_figures(world: World) -> None:
    world.judge(world.ann, "q1 d", "d1 d", 3)
    world.judge(world.bo, "q1 d", "d1 d", 0)
    world.judge(world.ann, "q1 d", "d2 d", None)
    world.judge(world.bo, "q1 d", "d2 d", 1, purpose="conditional")
    world.judge(world.ann, "q2 d", "d1 d", None, outcome="later")
    world.judge(world.bo, "q2 d", "d1 d", 2, purpose="quality")
    grades = world.read()
    assert grades.grade.tolist() == [3, 0]
    assert grades.annotator.tolist() == [world.ann.person_id, world.bo.person_id]
    assert grades.made_at.tolist() == [FIRST + MINUTE, FIRST + 2 * MINUTE]
    assert grades.seconds.tolist() == [2.5, 2.5]
    with world.database.read() as session:
        pair = session.get_one(PairRow, grades.pair.tolist()[0])
        assert (grades.query == pair.query_pk).all()
        assert (grades.pair == pair.pk).all()
        assert session.get_one(RubricRow, grades.rubric.tolist()[0]).dataset_pk == world.dataset_pk


def test_a_revision_is_read_in_the_place_of_what_it_revises(world: World) -> None:
    world.judge(world.ann, "q1 d", "d1 d", 3)
    world.judge(world.ann, "q1 d", "d1 d", 1)
    grades = world.read()
    assert (grades.grade.tolist(), grades.made_at.tolist()) == ([1], [FIRST + 2 * MINUTE])


def test_a_time_is_cut_to_its_second_and_an_unknown_duration_is_none(world: World) -> None:
    at = datetime(2026, 5, 6, 23, 59, 59, 999_999, tzinfo=UTC).astimezone()
    with world.database.write() as session:
        pair = session.query(PairRow).first()
        assert pair is not None
        session.add(JudgmentRow.model_validate({
            "event_id": "e", "pair_pk": pair.pk, "annotator_pk": world.ann.person_id, "rubric_pk": 1, "outcome": "graded",
            "grade": 2, "judged_at": at, "received_at": at + timedelta(hours=9), "seconds": None,
        }))  # fmt: skip
        derive_current(session, world.dataset_pk)
    grades = world.read()
    assert grades.made_at.tolist() == [int(at.timestamp())]
    assert np.isnan(grades.seconds).tolist() == [True]


def test_of_an_imported_judgment_nobody_claims_the_guideline_nor_a_time_that_its_file_does_not_give(
    world: World, tmp_path: Path
) -> None:
    given = ("2019-05-06T07:08:09Z", "2019-05-07T07:08:09Z")
    lines = [f"q1 d,d1 d,ann d,1,{given[0]}", f"q1 d,d1 d,bo d,1,{given[1]}"]
    lines += [f"{pair},{who} d,2," for pair in ("q1 d,d2 d", "q2 d,d1 d") for who in ("ann", "bo")]
    file = tmp_path / "j.csv"
    file.write_text("\n".join(["query_id,doc_id,annotator,grade,judged_at", *lines]), encoding="utf-8")
    import_judgments(world.database, OPERATOR, "d", file, now=NOW)
    grades = world.read()
    assert set(grades.rubric.tolist()) == {0}
    times = [int(datetime.fromisoformat(time).timestamp()) for time in given]
    assert sorted(grades.made_at.tolist()) == [0] * 4 + times
    world.judge(world.person("cho"), "q2 d", "d1 d", 1)
    migration = import_module("annotator.storage.migrations.versions.0015_which_judgments_came_with_a_file")
    with world.database.write() as session:
        columns = select(col(CurrentJudgmentRow.judgment_pk), col(CurrentJudgmentRow.imported))
        imported_by_judgment = dict(
            session.execute(columns.order_by(col(CurrentJudgmentRow.judgment_pk))).all()
        )
        assert sorted(imported_by_judgment.values()) == [0, 1, 1, 2, 2, 2, 2]
        session.execute(update(CurrentJudgmentRow).values(imported=0))
        session.execute(text(migration.FILL))
        assert dict(session.execute(columns).all()) == imported_by_judgment
    listed = list_judgments(world.database, OPERATOR, "d")
    assert sum(judgment.judged_at is None for judgment in listed) == 4, (
        "the same rule as that of the judgments' list"
    )
    for by, expected in (
        ("week", [("2019-W19", 1), (None, 2)]),
        ("guideline_version", [(None, 3)]),
    ):
        groups = compute_agreement(world.database, OPERATOR, "d", by=by, resamples=0).groups
        assert [(group.value, group.measured.pairs) for group in groups] == expected
        for value, pairs in expected:
            for names in ((), ("ann d",), ("ann d", "bo d")):
                selection = PairSelection(kind="shared", annotators=names, by=by, value=value)
                behind = list_selected_pairs(world.database, OPERATOR, "d", selection, limit=9, now=NOW)
                assert (behind.total, len(behind.pairs)) == (pairs, pairs)


def test_only_this_datasets_pairs_in_the_pool_are_read(world: World) -> None:
    other = World(world.database, name="other")
    other.judged = 500  # event ids of its own
    for item in (world, other):
        for doc in (f"d1 {item.name}", f"d2 {item.name}"):
            item.judge(item.ann, f"q1 {item.name}", doc, 1)
    with world.database.write() as session:
        session.execute(
            update(PairRow).where(col(PairRow.dataset_pk) == other.dataset_pk).values(retired_at=NOW)
        )
    assert len(world.read().grade) == 2
    assert set(world.read().annotator.tolist()) == {world.ann.person_id}
    assert other.read().grade.tolist() == []


def test_what_the_same_transaction_has_changed_is_read_as_it_is_then(world: World) -> None:
    world.judge(world.ann, "q1 d", "d1 d", 3)
    with world.database.write() as session:
        for pair in session.query(PairRow):
            pair.retired_at = NOW
        assert read_grades(session, world.dataset_pk).grade.tolist() == []


@pytest.mark.parametrize("share", [1, 10**9])
def test_walking_through_the_table_or_its_index_finds_the_same(
    world: World, monkeypatch: pytest.MonkeyPatch, share: int
) -> None:
    monkeypatch.setattr("annotator.agreement.grades_sql.MOST_OF_THE_TABLE", share)
    for grade, doc in enumerate(("d1 d", "d2 d")):
        world.judge(world.ann, "q1 d", doc, grade)
    assert sorted(world.read().grade.tolist()) == [0, 1]


def test_large_primary_keys_are_read_exactly(world: World) -> None:
    with world.database.write() as session:
        session.execute(text("UPDATE person SET pk = 2000000011 WHERE username = 'zoë'"))
        session.execute(text(
            "INSERT INTO person (pk, username, name, must_change_password, simulated, created_at) "
            "VALUES (2000000011, 'zoë', '', false, false, '2026-01-01')"
        ))  # fmt: skip
        pair = session.query(PairRow).first()
        assert pair is not None
        session.add(JudgmentRow.model_validate({
            "event_id": "e", "pair_pk": pair.pk, "annotator_pk": 2_000_000_011, "rubric_pk": 1, "outcome": "graded",
            "grade": 3, "judged_at": NOW, "received_at": NOW,
        }))  # fmt: skip
        derive_current(session, world.dataset_pk)
    grades = world.read()
    assert (grades.annotator.tolist(), grades.rubric.tolist(), grades.grade.tolist()) == (
        [2_000_000_011],
        [1],
        [3],
    )


def test_everything_to_group_by_is_listed_and_can_be_grouped_by(world: World) -> None:
    for annotator, grade in ((world.ann, 1), (world.bo, 2)):
        for query_id, doc_id in (("q1 d", "d1 d"), ("q1 d", "d2 d"), ("q2 d", "d1 d")):
            world.judge(annotator, query_id, doc_id, grade)
    expected = {
        "category": {"법령": 2, None: 1},
        "source": {"편람": 2, None: 1},
        "document:law": {"民法": 2, None: 1},
        "annotator": {"ann d": 3, "bo d": 3},
        "guideline_version": {"1": 3},
        "week": {"2026-W10": 3},
    }
    assert list_groupings(world.database, OPERATOR, "d") == list(expected)
    for by, groups in expected.items():
        report = compute_agreement(world.database, OPERATOR, "d", by=by, resamples=20)
        assert {group.value: group.measured.pairs for group in report.groups} == groups
        assert all("too few pairs for a conclusion" in (group.warning or "") for group in report.groups)
    with pytest.raises(NotAllowed):
        list_groupings(world.database, world.ann, "d")
    with pytest.raises(
        ValidationError,
        match="Cannot group by 'document:colour': choose one of category, source, document:law",
    ):
        compute_agreement(world.database, OPERATOR, "d", by="document:colour")


def test_more_groups_than_can_be_compared_are_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotator.agreement.report.MOST_COMPARED_GROUPS", 1)
    world.judge(world.ann, "q1 d", "d1 d", 1)
    with pytest.raises(ValidationError, match="source has 2 different values; at most 1 can be compared"):
        compute_agreement(world.database, OPERATOR, "d", by="source")
    assert compute_agreement(world.database, OPERATOR, "d").groups == ()


def test_the_stamp_of_a_report_changes_with_what_it_rests_on_and_with_nothing_else(world: World) -> None:
    seen = [read_stamp(world.database, OPERATOR, "d")]

    def changes() -> bool:
        seen.append(read_stamp(world.database, OPERATOR, "d"))
        return seen[-1] != seen[-2]

    assert not changes()
    world.judge(world.ann, "q1 d", "d1 d", 3)
    assert changes()
    change_settings(world.database, OPERATOR, "d", {"lease_minutes": "5"}, now=NOW)
    assert not changes()
    change_settings(world.database, OPERATOR, "d", {"kappa_target": "0.6"}, now=NOW)
    assert changes()
    change_settings(world.database, OPERATOR, "d", {"seed": "8"}, now=NOW)
    assert changes()
    world.person("somebody new")
    assert changes()
    world.query("q9", "새 질의")
    assert changes()
    assert not changes()
    with pytest.raises(NotAllowed):
        read_stamp(world.database, world.ann, "d")


def test_the_first_figures_are_told_before_the_report_and_are_its_own(world: World) -> None:
    first_figures: list[tuple[int, CoefficientValue]] = []
    for annotator, grades in ((world.ann, (0, 1, 2)), (world.bo, (0, 1, 1))):
        for grade, (query_id, doc_id) in zip(
            grades, (("q1 d", "d1 d"), ("q1 d", "d2 d"), ("q2 d", "d1 d")), strict=True
        ):
            world.judge(annotator, query_id, doc_id, grade)
    report = compute_agreement(
        world.database,
        OPERATOR,
        "d",
        resamples=10,
        report_progress=lambda pairs, kappa: first_figures.append((pairs, kappa)),
    )
    ((pairs, kappa),) = first_figures
    assert (pairs, kappa.value) == (report.measured.pairs, report.measured.cohen_kappa["unweighted"].value)
