"""Checks through the real hand-out: training first, then gold and repeats that nothing gives away."""

from typing import Any

import pytest

from annotator.domain.people import Actor
from annotator.labeling.calibration_service import compute_results
from annotator.labeling.service import SubmitResponse, submit_judgments
from annotator.storage.database import Database
from annotator.storage.judgments.missing_judgments import derive_work
from tests.integration.checked_world import CheckedWorld
from tests.integration.labeling.test_checks import set_rates


class Browser:
    """A panel: keeps what it was handed, answers the first of it, asks for more as it goes."""

    def __init__(self, world: CheckedWorld, actor: Actor, *, ahead: int) -> None:
        self.world, self.actor, self.ahead = world, actor, ahead
        self.queue: list[Any] = []
        self.met: list[str] = []
        self.progress: list[tuple[int, int]] = []
        self.last: SubmitResponse = self.send()

    def send(self, *events: dict[str, Any]) -> SubmitResponse:
        self.last = submit_judgments(
            self.world.database, self.actor, "d", events=list(events),
            have=[pair.pair for pair in self.queue], want=self.ahead - len(self.queue), now=self.world.now,
        )  # fmt: skip
        assert self.last.refused == ()
        self.queue = [pair for pair in self.queue if pair.pair not in self.last.judged]
        self.queue += self.last.pairs
        self.progress.append((self.last.done, self.last.total))
        return self.last

    def answer(self, grade: int = 1) -> None:
        self.world.later(seconds=5)
        pair = self.queue.pop(0)
        self.met.append(pair.pair)
        self.send(self.world.event(pair.pair, grade, document_sha256=pair.document_sha256))


@pytest.mark.parametrize("ahead", [1, 6])
def test_gold_and_repeats_come_once_each_at_about_their_rates_and_progress_tells_nothing(
    database: Database, ahead: int
) -> None:
    world = CheckedWorld(database, queries=4, documents=20, gold_rate=0.15, repeat_rate=0.15, repeat_after=5)
    gold = world.pairs[::8]
    world.mark("gold", *gold, grade=1)
    with database.write() as session:
        derive_work(session, world.dataset_pk)
    ann, lead = world.person("ann"), world.person("lea", "lead")
    browser = Browser(world, ann, ahead=ahead)
    while browser.queue:
        browser.answer()
    ordinary = {world.keys[pair] for pair in world.pairs} - {world.keys[pair] for pair in gold}
    assert len(browser.met) == len(set(browser.met))  # nothing comes twice under the same key
    assert ordinary <= set(browser.met)
    golden = set(browser.met) & {world.keys[pair] for pair in gold}
    repeats = set(browser.met) - set(world.keys.values())
    assert 4 <= len(golden) <= 10 and 4 <= len(repeats) <= 25
    done = [done for done, _total in browser.progress]
    assert done[:-1] == list(range(len(browser.met)))
    assert browser.progress[-1] == (browser.last.total, browser.last.total)
    (result,) = [
        annotator_result
        for annotator_result in compute_results(database, lead, "d", now=world.now)
        if annotator_result.annotator == "ann"
    ]
    assert (result.gold.answered, result.gold.exact) == (len(golden), 1)
    assert (result.repeats.n, result.repeats.equal) == (len(repeats), 1)


def test_handed_pairs_do_not_differ_in_anything_but_what_they_are(database: Database) -> None:
    world = CheckedWorld(database, queries=1, documents=40, repeat_after=3)
    set_rates(world, gold_rate=0.3, repeat_rate=0.3)
    world.mark("gold", *world.pairs[30:])
    ann = world.person("ann")
    for pk in world.pairs[:10]:
        world.answer(ann, pk, 2)
    handed = world.send(ann, want=20).pairs
    pair_keys = set(world.keys.values())
    checks = [pair for pair in handed if pair.pair not in pair_keys]
    checks += [pair for pair in handed if pair.pair in {world.keys[pk] for pk in world.pairs[30:]}]
    assert len(checks) > 2
    for pair in handed:
        assert (pair.training, pair.answer, pair.outdated, len(pair.pair)) == (False, None, None, 24)


def test_training_comes_first_and_alone_until_it_is_passed(database: Database) -> None:
    world = CheckedWorld(database, queries=2, documents=10, training_score=1.0)
    training = set(world.pairs[:3])
    world.mark("training", *training, grade=2)
    browser = Browser(world, world.person("ann"), ahead=6)
    assert {pair.pair for pair in browser.queue} == {world.keys[pair] for pair in training}
    assert all(pair.training for pair in browser.queue)
    browser.answer(2)
    assert [feedback.grade for feedback in browser.last.feedback] == [2]
    browser.answer(0)
    browser.answer(2)
    assert browser.last.training and not browser.last.training.passed
    (again,) = browser.queue  # the wrong one, once more
    assert again.training
    browser.answer(2)
    assert browser.last.training and browser.last.training.passed
    assert browser.queue and not any(pair.training for pair in browser.queue)
    assert world.send(world.person("bob"), want=1).pairs[0].training
