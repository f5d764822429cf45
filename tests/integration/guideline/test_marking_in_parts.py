"""A new meaning of the grades is marked in parts: others label in between, counts change at once, and a kill is followed up."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select, text
from sqlmodel import col

from annotator.agreement.left_out_sql import count_outdated as count_outdated_grades
from annotator.guideline.service import count_outdated, finish_guideline_changes
from annotator.releases.releases_sql import list_old_judgments
from annotator.storage.database import Database
from annotator.storage.judgments import outdated
from annotator.storage.judgments.outdated import OutdatedCount, mark_outdated
from annotator.storage.long_writes import LongWrite
from annotator.storage.pairs.disagreements import derive_disagreements
from annotator.storage.tables.central import CurrentJudgmentRow, GuidelineMarkingRow
from tests.browser.warm_server import start_process
from tests.databases import CopyWorld
from tests.integration.adjudication.test_stale_disagreements import read
from tests.integration.guideline.killed_marking import publish_until_killed
from tests.integration.guideline.test_outdated import asked
from tests.integration.guideline_world import LATER, GuidelineWorld
from tests.integration.judged_world import JudgedWorld

PAIRS = 4  # each a part of its own here
COUNTED = [OutdatedCount("花子", "花子 Realname", 4, 4, 0), OutdatedCount("민준", "민준 Realname", 1, 1, 0)]


@pytest.fixture
def world(copy_world: CopyWorld, monkeypatch: pytest.MonkeyPatch) -> GuidelineWorld:
    monkeypatch.setattr(outdated, "PART", 1)
    return copy_world(GuidelineWorld)


def meanwhile(world: JudgedWorld, monkeypatch: pytest.MonkeyPatch, act: Callable[[Database], None]) -> None:
    """Do something with a connection of its own, which waits for nobody, after each part that is marked."""
    other = Database(world.url, patience=0.05)
    monkeypatch.setattr(LongWrite, "let_others_write", lambda _: act(other))


def read_counts(world: GuidelineWorld) -> tuple[list[OutdatedCount], int, int]:
    """What leads are told is outdated: by annotator, grades in agreement, pairs of a release."""
    with world.database.read() as session:
        grades = count_outdated_grades(session, world.dataset_pk)
        pairs = len(list_old_judgments(session, world.dataset_pk))
    return (
        sorted(count_outdated(world.database, world.lea, "d"), key=lambda count: -count.answers),
        grades,
        pairs,
    )  # type: ignore[attr-defined]


def read_marks(world: JudgedWorld) -> list[int]:
    with world.database.read() as session:
        statement = select(col(CurrentJudgmentRow.stale))
        order = (col(CurrentJudgmentRow.pair_pk), col(CurrentJudgmentRow.annotator_pk))
        return list(session.scalars(statement.order_by(*order)))


def is_marking(world: JudgedWorld) -> bool:
    with world.database.read() as session:
        return session.get(GuidelineMarkingRow, world.dataset_pk) is not None


def publish(world: GuidelineWorld, definition: str = "甲") -> None:
    world.publish(world.lea, change="semantic", why="x", definition=definition)


def check_marks(world: JudgedWorld) -> None:
    """All marks and the whole queue are what deriving them anew comes to."""
    marks, queue = read_marks(world), read(world.database)
    with world.database.write() as session:
        mark_outdated(session, world.dataset_pk)
        derive_disagreements(session, world.dataset_pk)
    assert (read_marks(world), read(world.database)) == (marks, queue)


def test_somebody_labels_between_any_two_parts_and_every_count_changes_at_once(
    world: GuidelineWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, marks = [], []

    def write_and_look(database: Database) -> None:
        with database.write() as session:
            session.execute(text("UPDATE pair SET judged = judged WHERE dataset_pk = 1"))
        seen.append(read_counts(world))
        marks.append(sum(read_marks(world)))

    meanwhile(world, monkeypatch, write_and_look)
    assert read_counts(world) == ([], 0, 0)
    publish(world)
    assert marks == [2, 3, 4, 5, 5]  # a part for each pair, and one that finds no further
    assert seen == [(COUNTED, 5, 4)] * (PAIRS + 1)
    assert read_counts(world) == (COUNTED, 5, 4)
    assert not is_marking(world)
    check_marks(world)


@pytest.mark.parametrize("parts", [1, 3, 4])
def test_after_a_kill_the_counts_are_the_new_ones_and_the_rest_is_marked_later(
    world: GuidelineWorld, tmp_path: Path, parts: int
) -> None:
    errors = tmp_path / "stderr.txt"
    process = start_process(publish_until_killed, world.url, LATER.isoformat(), parts, str(errors))
    process.join()
    assert process.exitcode == -9, errors.read_text(encoding="utf-8")
    assert is_marking(world)
    assert read_counts(world) == (COUNTED, 5, 4)
    assert asked(world, world.hanako) == {}, "not before answers on checks are found too"
    finish_guideline_changes(world.database)
    assert len(asked(world, world.hanako)) == 4
    assert read_marks(world) == [1, 1, 1, 1, 1]
    assert not is_marking(world)
    check_marks(world)


def test_what_is_judged_or_decided_under_the_new_meaning_is_not_marked(
    world: GuidelineWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [1]

    def label_once(_: Database) -> None:
        if left and left.pop():
            world.judge(world.hanako, "Q1", "d2", 1)
            world.add_decision(world.lou, "Q2", "d3", 2)

    meanwhile(world, monkeypatch, label_once)
    publish(world)
    assert read_marks(world) == [1, 1, 0, 1, 1]
    queue = {doc_id: read(world.database).get(key) for doc_id, key in world.keys.items()}
    assert queue["d2"] is None
    assert queue["d4"] is not None
    check_marks(world)


def test_a_next_change_of_the_meaning_first_finishes_the_one_before(
    world: GuidelineWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Database) -> None:
        raise KeyboardInterrupt

    meanwhile(world, monkeypatch, fail)
    with pytest.raises(KeyboardInterrupt):
        publish(world)
    assert is_marking(world)
    meanwhile(world, monkeypatch, lambda _: None)
    publish(world, "乙")
    assert read_marks(world) == [1, 1, 1, 1, 1]
    assert not is_marking(world)
    check_marks(world)
