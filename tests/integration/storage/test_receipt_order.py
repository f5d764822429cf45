"""Which judgment holds follows from what the server received, whatever clocks say: on both databases."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select, text
from sqlmodel import col

from annotator.domain.people import OPERATOR, Actor
from annotator.importing.judgments.judgments_service import import_judgments
from annotator.labeling.service import list_judgments
from annotator.storage.judgments.current_judgments import derive_current
from annotator.storage.logs.import_records import list_import_records
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.tables.central import CurrentJudgmentRow, JudgmentRow
from tests.databases import CopyWorld
from tests.integration.labeling_world import NOW, World
from tests.short_run import draw_few


@pytest.fixture
def world(copy_world: CopyWorld) -> World:
    return copy_world(World)


def current(world: World) -> list[int | None]:
    return [judgment.grade for judgment in list_judgments(world.database, OPERATOR, "d")]


@pytest.mark.parametrize("days", [3, 400])
@pytest.mark.parametrize("browser", [None, "desk"])
def test_a_revision_holds_after_the_servers_clock_was_set_back(
    world: World, days: int, browser: str | None
) -> None:
    ann = world.person("ann")
    pair = world.send(ann, want=1).pairs[0].pair
    times = (
        (lambda number: {"browser": browser, "browser_number": number}) if browser else (lambda _number: {})
    )
    world.send(ann, world.event(pair, 1, **times(1)))
    world.later(days=-days)
    assert world.send(ann, world.event(pair, 3, **times(2))).acknowledged
    assert current(world) == [3]
    world.later(days=2 * days)
    world.send(ann, world.event(pair, 0, **times(3)))
    assert current(world) == [0]


def test_an_older_press_of_another_browser_that_arrives_last_holds(world: World) -> None:
    ann = world.person("ann")
    pair = world.send(ann, want=1).pairs[0].pair
    offline = world.event(pair, 1, browser="phone", browser_number=10**12)
    world.later(hours=2)
    world.send(ann, world.event(pair, 3, browser="desk", browser_number=7))
    world.send(ann, offline)
    assert current(world) == [1]


def test_an_older_press_of_the_same_browser_never_undoes_a_newer_one_whatever_else_arrives(
    world: World,
) -> None:
    ann = world.person("ann")
    pair = world.send(ann, want=1).pairs[0].pair
    older = world.event(pair, 0, browser="phone", browser_number=1)
    world.send(ann, world.event(pair, 1, browser="phone", browser_number=2))
    world.send(ann, world.event(pair, 3, browser="desk", browser_number=1))
    world.later(days=-30)
    assert world.send(ann, older).acknowledged
    assert current(world) == [3]
    assert len(list_judgments(world.database, OPERATOR, "d", history=True)) == 3


def history(world: World) -> list[int | None]:
    return [judgment.grade for judgment in list_judgments(world.database, OPERATOR, "d", history=True)]


def test_the_history_is_in_the_order_of_receipt_whatever_the_servers_clock_said(world: World) -> None:
    ann = world.person("ann")
    pair = world.send(ann, want=1).pairs[0].pair
    world.send(ann, world.event(pair, 1, browser="desk", browser_number=1))
    world.later(days=-3)
    world.send(ann, world.event(pair, 3, browser="desk", browser_number=2))
    world.send(ann, world.event(pair, 2, browser="phone", browser_number=1))
    assert history(world) == [1, 3, 2]
    assert current(world) == [2]


def test_the_history_puts_a_late_press_before_the_newer_ones_of_its_own_browser_only(world: World) -> None:
    ann = world.person("ann")
    pair = world.send(ann, want=1).pairs[0].pair
    for grade, browser, number in (
        (0, "desk", 1),
        (3, "phone", 3),
        (2, "desk", 2),
        (1, "phone", 2),
        (0, "phone", 1),
    ):
        world.send(ann, world.event(pair, grade, browser=browser, browser_number=number))
    assert history(world) == [0, 0, 1, 3, 2]
    assert current(world) == [2], "the last of the history holds"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"browser": "desk"}, "browser_number"),
        ({"browser_number": 4}, "browser"),
        ({"browser": "x" * 65, "browser_number": 4}, "browser"),
        ({"browser": "a\x00b", "browser_number": 4}, "browser"),
        ({"browser": "desk", "browser_number": True}, "browser_number"),
        ({"browser": "desk", "browser_number": -1}, "browser_number"),
        ({"browser": "desk", "browser_number": 2**64}, "browser_number"),
        ({"late": True}, "late"),
    ],
)
def test_a_press_whose_place_no_browser_could_have_given_is_refused(
    world: World, changes: dict[str, Any], why: str
) -> None:
    ann = world.person("ann")
    pair = world.send(ann, want=1).pairs[0].pair
    answer = world.send(ann, world.event(pair, 1, **changes))
    assert why in answer.refused[0].why
    assert not answer.acknowledged


# Any clocks, any order of deliveries ---------------------------------------------------------------------


@dataclass(frozen=True)
class Press:
    """One press in one of two browsers, and on which of them the server's clock jumps by so many hours before it."""

    browser: str
    grade: int
    jump: int
    again: bool


PRESSES = st.lists(
    st.builds(
        Press,
        browser=st.sampled_from(["desk", "phone"]),
        grade=st.integers(0, 3),
        jump=st.sampled_from([0, 0, 0, -72, 72, -9_600, 9_600, 1]),
        again=st.booleans(),
    ),
    min_size=1,
    max_size=8,
)


class Deliveries:
    """A pair of its own kind for each example: a new annotator judges the same pair."""

    def __init__(self, world: World) -> None:
        self.world, self.number = world, count()
        self.pair = world.send(world.person("first"), want=1).pairs[0].pair

    def deliver(self, presses: Sequence[Press], order: Sequence[int]) -> tuple[int | None, list[int]]:
        """The grade that holds after the presses arrived in this order; and the order of the stored grades."""
        world = self.world
        ann = world.person(f"ann-{next(self.number)}")
        world.now = NOW
        events = []
        for number, press in enumerate(presses):
            world.later(seconds=1)
            world.now = max(world.now + timedelta(hours=press.jump), datetime(2000, 1, 1, tzinfo=UTC))
            events.append(
                world.event(self.pair, press.grade, browser=press.browser, browser_number=number + 1)
            )
        for index in order:
            world.now = max(
                world.now + timedelta(hours=presses[index].jump), datetime(2000, 1, 1, tzinfo=UTC)
            )
            for _ in range(2 if presses[index].again else 1):
                assert world.send(ann, events[index]).acknowledged
        return self.read(ann)

    def read(self, ann: Actor) -> tuple[int | None, list[int]]:
        with self.world.database.read() as session:
            held = session.scalars(
                select(CurrentJudgmentRow).where(col(CurrentJudgmentRow.annotator_pk) == ann.person_id)
            ).one()
            rows = session.scalars(
                select(JudgmentRow)
                .where(col(JudgmentRow.annotator_pk) == ann.person_id)
                .order_by(col(JudgmentRow.pk))
            ).all()
            return held.grade, [row.grade for row in rows if row.grade is not None]


def test_presses_that_arrive_in_their_order_leave_the_last_one_whatever_the_clocks_say(world: World) -> None:
    table = Deliveries(world)

    @draw_few()
    @given(presses=PRESSES)
    def holds(presses: list[Press]) -> None:
        held, stored = table.deliver(presses, range(len(presses)))
        assert held == presses[-1].grade
        assert stored == [press.grade for press in presses], "each press is stored once"

    holds()


def test_of_one_browser_the_last_press_holds_in_whatever_order_its_presses_arrive(world: World) -> None:
    table = Deliveries(world)

    @draw_few()
    @given(presses=PRESSES, chance=st.randoms(use_true_random=False))
    def holds(presses: list[Press], chance: Any) -> None:
        alone = [Press("desk", press.grade, press.jump, press.again) for press in presses]
        held, stored = table.deliver(alone, chance.sample(range(len(alone)), len(alone)))
        assert held == alone[-1].grade
        assert len(stored) == len(alone)

    holds()


def test_of_two_browsers_that_one_holds_which_had_something_new_to_say_last(world: World) -> None:
    table = Deliveries(world)

    @draw_few()
    @given(presses=PRESSES, chance=st.randoms(use_true_random=False))
    def holds(presses: list[Press], chance: Any) -> None:
        order = chance.sample(range(len(presses)), len(presses))
        newest: dict[str, int] = {}
        last = order[0]
        for index in order:
            browser = presses[index].browser
            if index > newest.get(browser, -1):
                newest[browser] = last = index
        assert table.deliver(presses, order)[0] == presses[last].grade

    holds()


def test_deriving_everything_anew_gives_what_each_receipt_gave(world: World) -> None:
    table = Deliveries(world)

    @draw_few()
    @given(presses=PRESSES, chance=st.randoms(use_true_random=False))
    def holds(presses: list[Press], chance: Any) -> None:
        table.deliver(presses, chance.sample(range(len(presses)), len(presses)))

    holds()

    def read() -> list[Any]:
        with world.database.read() as session:
            statement = select(
                col(CurrentJudgmentRow.annotator_pk), col(CurrentJudgmentRow.judgment_pk)
            ).order_by(col(CurrentJudgmentRow.annotator_pk))
            return [tuple(row) for row in session.execute(statement)]

    before = read()
    with world.database.write() as session:
        session.connection().execute(text("DELETE FROM current_judgment"))
        derive_current(session, key_of(find_dataset(session, "d").pk))
    assert read() == before


# Imported judgments --------------------------------------------------------------------------------------


def bring(
    world: World, tmp_path: Path, lines: str, *, header: str = "query_id,doc_id,annotator,grade"
) -> Any:
    path = tmp_path / "judgments.csv"
    path.write_text(f"{header}\n{lines}", encoding="utf-8")
    return import_judgments(world.database, OPERATOR, "d", path, now=world.now)


@pytest.mark.parametrize(
    ("grades", "stored", "contradicting"),
    [
        ([2, 0, 2], [2, 0, 2], 2),
        ([1, 2, 1], [1, 2, 1], 2),
        ([2, 2, 2], [2], 0),
        ([2, 0, 0, 2, 2, 0], [2, 0, 2, 0], 5),
    ],
)
def test_the_last_row_without_a_time_holds_and_the_file_again_changes_nothing(
    world: World, tmp_path: Path, grades: list[int], stored: list[int], contradicting: int
) -> None:
    lines = "".join(f"Q0,문서/0-0,lee,{grade}\n" for grade in grades)
    report = bring(world, tmp_path, lines)
    assert current(world) == [grades[-1]]
    assert [
        judgment.grade for judgment in list_judgments(world.database, OPERATOR, "d", history=True)
    ] == stored
    assert (report.added, report.changed) == (1, len(stored) - 1)
    notes = [note for note in report.notes if "contradict" in note]
    assert len(notes) == bool(contradicting)
    assert not notes or notes[0].startswith(f"{contradicting} lines contradict an earlier line")
    with world.database.read() as session:
        (record,) = list_import_records(session, key_of(find_dataset(session, "d").pk))
    assert record.figures.get("contradicting_lines", 0) == contradicting
    world.later(days=1)
    again = bring(world, tmp_path, lines)
    assert (again.added, again.changed, current(world)) == (0, 0, [grades[-1]])


def test_rows_with_times_of_their_own_go_by_these_and_never_undo_what_was_judged_here_since(
    world: World, tmp_path: Path
) -> None:
    header = "query_id,doc_id,annotator,grade,judged_at"
    times = "Q0,문서/0-0,lee,2,2026-01-02T00:00:00Z\nQ0,문서/0-0,lee,0,2026-01-01T00:00:00Z\n"
    bring(world, tmp_path, times, header=header)
    assert current(world) == [2]
    ann = world.person("ann")
    pair = world.send(ann, want=1).pairs[0]
    world.send(ann, world.event(pair.pair, 3, browser="desk", browser_number=1))
    older = f"{pair.query_id},{pair.doc_id},ann,0,2026-01-01T00:00:00Z\n"
    world.later(hours=1)
    bring(world, tmp_path, older, header=header)
    held = {judgment.annotator: judgment.grade for judgment in list_judgments(world.database, OPERATOR, "d")}
    assert held["ann"] == 3


def test_a_file_with_times_revises_an_earlier_one_that_had_none(world: World, tmp_path: Path) -> None:
    bring(world, tmp_path, "Q0,문서/0-0,lee,2\n")
    world.later(days=1)
    timed = "Q0,문서/0-0,lee,1,2026-01-02T00:00:00Z\n"
    bring(world, tmp_path, timed, header="query_id,doc_id,annotator,grade,judged_at")
    assert current(world) == [1]
