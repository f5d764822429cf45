"""What an annotator reads of how far they are: it never goes back, ends exactly, and tells no check from an ordinary pair."""

from typing import Any

import pytest

from annotator.dataset.service import change_settings
from annotator.domain.errors import ValidationError
from annotator.domain.people import OPERATOR, Actor
from annotator.labeling.my_work_service import show_pace
from annotator.labeling.service import SubmitResponse, submit_judgments
from annotator.quality.service import draw_sample
from annotator.storage.database import Database
from annotator.storage.judgments.missing_judgments import derive_work
from annotator.storage.lookup import find_dataset
from tests.integration.checked_world import CheckedWorld
from tests.integration.labeling.test_checks import set_rates


class Panel:
    """A browser that looks `ahead`: answers the first of what it holds, and reads how far its annotator is."""

    def __init__(self, world: CheckedWorld, actor: Actor, *, ahead: int) -> None:
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
    done, total = zip(*panel.read, strict=True)
    assert list(done) == sorted(done), "done never falls"
    assert list(total) == sorted(total), "the total never falls"
    assert all(judged <= other for judged, other in panel.read)


@pytest.mark.parametrize("ahead", [1, 6])
@pytest.mark.parametrize("seed", ["7", "8", "9"])
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
    ended = [index for index, (done, total) in enumerate(panel.read) if done == total]
    assert ended and min(ended) >= len(panel.met), "done is the total at the end, and not before"
    assert panel.last.answered == len(panel.met)


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


@pytest.mark.parametrize("ahead", [1, 6])
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
        assert panel.last.answered == len(panel.met)


@pytest.mark.parametrize("ahead", [1, 6])
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
    goals = [step for step in steps if step != (1, 0)]
    assert len(goals) == 1 and goals[0][0] == 1, "the next goal is promised once, whatever is answered then"


@pytest.mark.parametrize("ahead", [1, 6])
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
    check_never_back(third)
    assert third.last.done == third.last.total == len(third.met)
    change_settings(database, OPERATOR, "d", {"overlap": "3"}, now=world.now)
    before = third.last.total
    third.send()
    assert third.last.total >= before and third.last.done < third.last.total
    check_never_back(third)


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
