"""How far an annotator is told to be: it never goes back, ends exactly, and tells no check from an ordinary pair."""

import random
from typing import Any

import pytest
from sqlalchemy import update

from annotator.dataset.service import change_settings
from annotator.domain.errors import ValidationError
from annotator.domain.people import OPERATOR, Actor
from annotator.labeling.assignment import QuerySelection
from annotator.labeling.assignment_service import assign
from annotator.labeling.my_work_service import show_pace
from annotator.labeling.service import SubmitResponse, submit_judgments
from annotator.quality.service import draw_sample
from annotator.storage.database import Database
from annotator.storage.judgments.missing_judgments import derive_work
from annotator.storage.lookup import find_dataset
from annotator.storage.tables.labeling import ShownProgressRow
from tests.integration.checked_world import CheckedWorld
from tests.integration.labeling.test_checks import set_rates
from tests.integration.labeling_world import World


class Panel:
    """A browser that looks `ahead`: answers the first of what it holds, and reads how far its annotator is."""

    def __init__(self, world: World, actor: Actor, *, ahead: int) -> None:
        self.world, self.actor, self.ahead = world, actor, ahead
        self.queue: list[Any] = []
        self.met: list[Any] = []
        self.read: list[tuple[int, int]] = []
        self.last: SubmitResponse = self.send()

    def send(self, *events: dict[str, Any]) -> SubmitResponse:
        self.last = submit_judgments(
            self.world.database, self.actor, "d", events=list(events), have=[handed_pair.pair for handed_pair in self.queue],
            want=self.ahead - len(self.queue), now=self.world.now,
        )  # fmt: skip
        self.queue = [
            handed_pair for handed_pair in self.queue if handed_pair.pair not in self.last.judged
        ] + [*self.last.pairs]
        self.read.append((self.last.done, self.last.total))
        return self.last

    def answer(self) -> bool:
        if not self.queue:
            self.send()
        if not self.queue:
            return False
        self.world.later(seconds=5)
        pair = self.queue.pop(0)
        self.met.append(pair)
        self.send(self.world.event(pair.pair, 1, document_sha256=pair.document_sha256))
        return True

    def list_blocks(self) -> list[str]:
        """The queries in the order in which their blocks came."""
        blocks: list[str] = []
        for handed_pair in self.met:
            if not blocks or blocks[-1] != handed_pair.query_id:
                blocks.append(handed_pair.query_id)
        return blocks


def make_world(database: Database, **more: Any) -> CheckedWorld:
    world = CheckedWorld(
        database, queries=5, documents=24, gold_rate=0.12, repeat_rate=0.12, repeat_after=4, **more
    )
    world.mark("gold", *world.pairs[::6], grade=1)
    with database.write() as session:
        derive_work(session, world.dataset_pk)
    return world


def check_never_back(panel: Panel) -> None:
    assert all(done <= total for done, total in panel.read)
    for before, after in zip(panel.read, panel.read[1:], strict=False):
        assert after[0] >= before[0], "done never falls"
        assert after[0] * before[1] >= before[0] * after[1], "the share done never falls"


@pytest.mark.parametrize("ahead", [6, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "seed", ["7", pytest.param("8", marks=pytest.mark.long), pytest.param("9", marks=pytest.mark.long)]
)
def test_one_annotator_reads_a_count_that_only_goes_forward_and_ends_exactly(
    database: Database, ahead: int, seed: str
) -> None:
    world = make_world(database)
    with database.write() as session:
        find_dataset(session, "d").seed = int(seed)
    panel = Panel(world, world.person("ann"), ahead=ahead)
    while panel.answer():
        pass
    check_never_back(panel)
    totals = [total for _, total in panel.read]
    assert totals == sorted(totals, reverse=True), "without new work the total never rises"
    ended = [index for index, (done, total) in enumerate(panel.read) if done == total]
    assert ended and min(ended) >= len(panel.met), "done is the total at the end, and not before"
    assert panel.last.done == len(panel.met)


def test_a_count_is_made_also_where_every_place_is_due_for_a_check(database: Database) -> None:
    world = make_world(database)
    set_rates(world, gold_rate=0.5, repeat_rate=0.5)  # as an older version let a lead set them
    panel = Panel(world, world.person("ann"), ahead=6)
    while panel.answer():
        pass
    check_never_back(panel)
    assert panel.last.done == panel.last.total
    with pytest.raises(
        ValidationError, match=r"gold_rate and repeat_rate: expected less than 1 together, found 0\.5 \+ 0\.5"
    ):
        for gold_rate in ("0.49", "0.5"):
            change_settings(database, OPERATOR, "d", {"gold_rate": gold_rate}, now=world.now)


@pytest.mark.parametrize("ahead", [6, pytest.param(1, marks=pytest.mark.long)])
def test_others_at_work_take_nothing_back(database: Database, ahead: int) -> None:
    world = make_world(database)
    panels = [Panel(world, world.person(name), ahead=ahead) for name in ("ann", "bob", "cho", "dan")]
    going = [True]
    while any(going):
        going = [panel.answer() for panel in panels for _ in range(1 + panels.index(panel))]
    for panel in panels:
        panel.send()
        check_never_back(panel)
        assert panel.last.done == panel.last.total
        assert panel.last.done == len(panel.met)


@pytest.mark.parametrize("ahead", [6, pytest.param(1, marks=pytest.mark.long)])
def test_nothing_of_the_count_tells_a_check_from_an_ordinary_pair(database: Database, ahead: int) -> None:
    world = make_world(database)
    panel = Panel(world, world.person("ann"), ahead=ahead)
    while panel.answer():
        pass
    gold = {world.keys[pair] for pair in world.pairs[::6]}
    checks = [
        handed_pair.pair in gold or handed_pair.pair not in world.keys.values() for handed_pair in panel.met
    ]
    assert sum(checks) >= 8
    steps = [
        (after[0] - before[0], after[1] - before[1])
        for before, after in zip(panel.read, panel.read[1:], strict=False)
    ][: len(checks) - 1]
    others = [step for step in steps if step != (1, 0)]
    assert len(others) <= 1, "where the pairs left fall below a hundred, whatever is answered then"


@pytest.mark.parametrize("put_off", [0, 3])
def test_the_total_has_no_room_for_repeats_that_cannot_come(database: Database, put_off: int) -> None:
    """A pair comes again among pairs of its query only, and no query has enough of them."""
    world = CheckedWorld(database, queries=6, documents=12, repeat_rate=0.2, repeat_after=20)
    panel = Panel(world, world.person("ann"), ahead=6)
    for number in range(72 + put_off):
        if number < 15 * put_off and number % 15 == 3:
            pair = panel.queue.pop(0)
            panel.send(world.event(pair.pair, None, outcome="later", document_sha256=pair.document_sha256))
        else:
            assert panel.answer()
    assert {total for _, total in panel.read} == {72}
    assert panel.last.done == 72 and not panel.answer()


@pytest.mark.parametrize("documents", [7, 30])
def test_the_total_has_room_for_repeats_that_can_come(database: Database, documents: int) -> None:
    world = CheckedWorld(database, queries=2, documents=documents, repeat_rate=0.5, repeat_after=4)
    panel = Panel(world, world.person("ann"), ahead=1)
    while panel.answer():
        pass
    check_never_back(panel)
    assert panel.last.done == panel.last.total == len(panel.met)
    assert len(panel.met) > 2 * documents, "some came again"
    totals = [total for _, total in panel.read]
    assert totals == sorted(totals, reverse=True) and totals[0] > 2 * documents


@pytest.mark.parametrize("ahead", [6, pytest.param(1, marks=pytest.mark.long)])
def test_a_query_comes_once_and_no_finished_one_comes_back_for_a_check(
    database: Database, ahead: int
) -> None:
    world = make_world(database)
    panel = Panel(world, world.person("ann"), ahead=ahead)
    while panel.answer():
        pass
    blocks = panel.list_blocks()
    assert len(blocks) == len(set(blocks)) == 5
    repeats = [handed_pair for handed_pair in panel.met if handed_pair.pair not in world.keys.values()]
    assert len(repeats) >= 4


def test_a_query_of_checks_only_comes_as_a_block_of_its_own(database: Database) -> None:
    world = CheckedWorld(database, queries=4, documents=12)
    set_rates(world, gold_rate=0.4)
    world.mark("gold", *world.pairs[36:], grade=1)
    with database.write() as session:
        derive_work(session, world.dataset_pk)
    panel = Panel(world, world.person("ann"), ahead=1)
    while panel.answer():
        pass
    blocks = panel.list_blocks()
    assert len(blocks) == len(set(blocks))


def test_new_work_and_quality_control_let_the_total_grow(database: Database) -> None:
    world = make_world(database)
    ann, bob, cho = (world.person(name) for name in ("ann", "bob", "cho"))
    panels = [Panel(world, actor, ahead=6) for actor in (ann, bob)]
    for panel in panels:
        while panel.answer():
            pass
    third = Panel(world, cho, ahead=6)
    assert third.last.done == third.last.total == 0
    draw_sample(database, OPERATOR, "d", annotator="cho", rate=0.1, now=world.now)
    third.send()
    assert third.last.done == 0 and third.last.total > 0
    while third.answer():
        pass
    assert third.last.done == third.last.total == len(third.met)
    change_settings(database, OPERATOR, "d", {"overlap": "3"}, now=world.now)
    before = third.last.total
    third.send()
    assert third.last.total == before + third.last.added and third.last.done < third.last.total
    added = third.last.added
    third.send()
    assert added > 0 and third.last.added == 0, "new work is named once"


def test_my_work_says_as_many_pairs_are_left_as_the_panel_checks_included(database: Database) -> None:
    world = CheckedWorld(database, queries=2, documents=12, gold_rate=0.3, repeat_rate=0.3, repeat_after=4)
    world.mark("gold", *world.pairs[::6], grade=1)
    with database.write() as session:
        derive_work(session, world.dataset_pk)
    ann = world.person("ann")
    panel = Panel(world, ann, ahead=1)
    for _ in range(8):
        assert panel.answer()
    left = panel.last.total - panel.last.done
    assert left > 20 - 8, "there is room for checks"
    assert show_pace(database, ann, "d", now=world.now).left == left


def test_the_total_is_all_pairs_from_the_first_press_on(database: Database) -> None:
    world = World(database, queries=6, documents=45, overlap=1)
    panel = Panel(world, world.person("ann"), ahead=20)
    while panel.answer():
        assert panel.last.total == 270
        pace = show_pace(database, panel.actor, "d", now=world.now)
        assert (pace.done, pace.left) == (panel.last.done, 270 - panel.last.done)
    assert panel.read[-1] == (270, 270)


def test_what_others_hold_is_counted_until_they_have_finished_it(database: Database) -> None:
    world = World(database, queries=1, documents=30, overlap=1)
    ann, bob = world.person("ann"), world.person("bob")
    held = [handed.pair for handed in world.send(bob, want=25).pairs]
    assert (world.send(ann, want=50).total, len(world.send(ann, want=50).pairs)) == (30, 5)
    world.send(bob, *(world.event(pair) for pair in held[:10]), have=held[10:])
    response = world.send(ann, want=50)
    assert (response.done, response.total) == (0, 20)
    world.later(hours=2)
    assert world.send(ann, want=50).total == 20, "nor does it change when they let it go"


def test_a_colleague_s_second_thoughts_never_let_the_share_fall(database: Database) -> None:
    """A revision that makes a third judgment necessary brings a pair back to everybody."""
    world = World(database, queries=1, documents=40, overlap=2)
    change_settings(database, OPERATOR, "d", {"third_judgment_from": "2"}, now=world.now)
    ann, bob, cho = (world.person(name) for name in ("ann", "bob", "cho"))
    panel = Panel(world, ann, ahead=1)
    world.later(seconds=1)
    keys = [handed.pair for handed in world.send(bob, want=50).pairs]
    world.send(bob, *(world.event(pair, 1) for pair in keys))
    others = [handed.pair for handed in world.send(cho, want=30).pairs]
    world.send(cho, *(world.event(pair, 1) for pair in others))
    for _ in range(6):
        panel.answer()
    assert panel.last.total < 40
    for pair in others[:5]:
        world.later(seconds=1)
        world.send(bob, world.event(pair, 3))
        panel.answer()
        assert panel.last.added == 0
    while panel.answer():
        pass
    check_never_back(panel)
    assert panel.last.done == panel.last.total == len(panel.met)


@pytest.mark.parametrize("seed", range(6))
def test_after_a_long_break_only_a_lead_s_work_is_named_as_new(database: Database, seed: int) -> None:
    """Colleagues finish pairs, revise them so that third judgments are needed, and let pairs go, at any time."""
    draw = random.Random(seed)
    world = World(database, queries=2, documents=10, overlap=2)
    change_settings(database, OPERATOR, "d", {"third_judgment_from": "2"}, now=world.now)
    world.later(hours=1)
    panels = [Panel(world, world.person(name), ahead=draw.choice([1, 6])) for name in ("ann", "bob", "cho")]
    for _ in range(80):
        panel = draw.choices(panels, [1, 3, 3])[0]
        if draw.random() < 0.2:
            world.later(hours=draw.choice([2, 30]))
        if draw.random() < 0.4 and panel.met:
            world.later(seconds=1)
            pair = draw.choice(panel.met).pair
            panel.send(world.event(pair, draw.choice([0, 1, 3])))
        elif panel.read[-1][0] < panel.read[-1][1]:
            panel.answer()
        assert panel.last.added == 0 or panel.read[-2][0] == panel.read[-2][1]


def test_a_lead_s_new_work_is_named_after_a_long_break_too(database: Database) -> None:
    world = World(database, queries=2, documents=10, overlap=1)
    ann, bob = (Panel(world, world.person(name), ahead=6) for name in ("ann", "bob"))
    for _ in range(9):
        assert bob.answer()
    for _ in range(4):
        assert ann.answer()
    assert ann.last.total == 11
    world.later(hours=30)
    change_settings(database, OPERATOR, "d", {"overlap": "2"}, now=world.now)
    world.later(hours=30)
    ann.answer()
    assert (ann.last.added, ann.last.total) == (9, 20)
    ann.answer()
    assert ann.last.added == 0


def test_a_lead_s_new_work_is_shown_at_once_and_named(database: Database) -> None:
    world = World(database, queries=4, documents=10, overlap=1)
    ann, bob, lead = world.person("ann"), world.person("bob"), world.person("lead", "lead")
    assign(database, lead, "d", ["bob"], QuerySelection(("Q2", "Q3")), now=world.now)
    panel = Panel(world, ann, ahead=5)
    for _ in range(16):
        panel.answer()
    assert panel.read[-1] == (16, 20)
    world.later(seconds=1)
    assign(database, lead, "d", ["ann"], QuerySelection(("Q2",)), now=world.now)
    assert show_pace(database, ann, "d", now=world.now).left == 14
    panel.answer()
    assert (panel.last.done, panel.last.total, panel.last.added) == (17, 30, 10)
    panel.answer()
    assert (panel.last.done, panel.last.total, panel.last.added) == (18, 30, 0)
    assert show_pace(database, bob, "d", now=world.now).left == 22


def test_what_an_older_version_stored_is_no_progress(database: Database) -> None:
    world = World(database, queries=3, documents=60, overlap=1)
    panel = Panel(world, world.person("ann"), ahead=1)
    for _ in range(3):
        panel.answer()
    with database.write() as session:
        session.execute(update(ShownProgressRow).values(answered=3, done=5, total=103, reserve_until=None))
    panel.answer()
    assert (panel.last.done, panel.last.total, panel.last.added) == (4, 180, 0)
