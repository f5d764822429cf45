"""Annotators who label at the same time: nothing waits for the dataset, and everything derived is as if they had come one by one.

On SQLite a write is alone; these tests hold there as well.
"""

import random
from collections import Counter
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Barrier, Event
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from annotator.adjudication.service import adjudicate, hand_out_disagreements
from annotator.agreement.service import read_stamp
from annotator.dataset.service import change_settings, read_current_rubric
from annotator.domain.errors import BadInput, ConflictError, DatasetNotOpen, StateError
from annotator.domain.people import OPERATOR, Actor
from annotator.guideline.service import publish_version
from annotator.importing.judgments.judgments_service import import_judgments
from annotator.labeling import service
from annotator.labeling.exchange_sql import share_dataset
from annotator.labeling.next_pairs import choose_next_pairs, find_needless
from annotator.labeling.service import SubmitResponse, list_judgments, submit_judgments
from annotator.labeling.submission_sql import store_plan
from annotator.storage.database import Database, Writable, lock_dataset
from benchmarks.derived_rows import find_wrong_rows
from tests.integration.labeling_world import NOW, World

on_postgresql = pytest.mark.parametrize("copy_database", ["postgresql"], indirect=True)


def fetch(database: Database, *statements: str) -> list[list[tuple[Any, ...]]]:
    with database.read() as session:
        return [[tuple(row) for row in session.execute(text(item))] for item in statements]


class Annotator:
    """Somebody who presses keys at random: grades, revises, puts off, cannot rate, and asks for more.

    `reopens`: puts off what they have judged, too. Until they judge it again, it is handed to others, who then judge more than needed.
    """

    def __init__(
        self,
        world: World,
        actor: Actor,
        seed: int,
        *,
        may_be_refused: Collection[str] = (),
        reopens: bool = True,
    ) -> None:
        self.world, self.actor, self.random, self.seed = world, actor, random.Random(seed), seed
        self.reopens = reopens
        self.may_be_refused = set(may_be_refused)
        self.stored: list[str] = []
        self.have: list[str] = []
        self.judged: list[str] = []
        self.sent: list[str] = []
        self.surplus = 0

    def press(self, writable: Writable | None = None) -> SubmitResponse:
        """Submit what was pressed. `writable`: in a transaction that is shared with others."""
        events = []
        for _ in range(self.random.choice((0, 1, 1, 1, 2))):
            again = bool(self.judged) and self.random.random() < 0.2
            if not again and not self.have:
                break
            pair = self.random.choice(self.judged) if again else self.have.pop(0)
            outcomes = ["graded", "graded", "graded", "graded", "unrateable"]
            if self.reopens or not again:
                outcomes.append("later")
            outcome = self.random.choice(outcomes)
            self.sent.append(str(UUID(int=self.seed * 100_000 + len(self.sent), version=4)))
            events.append(
                {
                    "id": self.sent[-1],
                    "pair": pair,
                    "outcome": outcome,
                    "grade": self.random.randrange(4) if outcome == "graded" else None,
                    "note": "",
                    "pressed_at": NOW.isoformat(),
                    "seconds": 1.0,
                }
            )
            if outcome != "later":
                self.judged.append(pair)
        request = {"have": list(self.have), "want": 3, "events": events}
        response = submit_judgments(
            writable or self.world.database, self.actor, "d", now=self.world.now, **request
        )
        assert len(response.acknowledged) + len(response.refused) == len(events)
        assert {refused.code for refused in response.refused} <= self.may_be_refused
        self.stored += response.acknowledged
        self.surplus += len(response.surplus)
        self.have = [key for key in self.have if key not in response.judged]
        self.have += [pair.pair for pair in response.pairs if pair.pair not in self.have]
        return response


def run_together(people: list[Annotator], presses: int) -> None:
    together = Barrier(len(people))

    def label(annotator: Annotator) -> None:
        together.wait()
        for _ in range(presses):
            annotator.press()

    with ThreadPoolExecutor(len(people)) as pool:
        list(pool.map(label, people))


@pytest.mark.parametrize(
    ("seed", "reopens"), [(1, False), pytest.param(2, False, marks=pytest.mark.long), (3, True)]
)
@pytest.mark.parametrize(("queries", "documents"), [(1, 12), (6, 5)])
def test_after_a_storm_all_that_is_derived_is_as_if_computed_from_scratch(
    database: Database, queries: int, documents: int, seed: int, reopens: bool
) -> None:
    world = World(database, queries=queries, documents=documents)
    people = [
        Annotator(world, world.person(f"p{number}"), seed * 100 + number, reopens=reopens)
        for number in range(8)
    ]
    run_together(people, presses=25)
    history = list_judgments(database, OPERATOR, "d", history=True)
    assert sorted(judgment.event_id for judgment in history) == sorted(id for p in people for id in p.sent)
    assert find_wrong_rows(database, "d", overbooked_at=None if reopens else NOW) == []
    if reopens:
        return
    counted = Counter(judgment.pair_key for judgment in list_judgments(database, OPERATOR, "d"))
    assert max(counted.values()) <= 2, "nobody judges what needs no judgment, while all leases hold"
    assert sum(annotator.surplus for annotator in people) == 0


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
def test_after_a_storm_in_shared_transactions_all_is_as_if_computed_from_scratch(
    database: Database, seed: int
) -> None:
    world = World(database, queries=3, documents=8)
    people = [
        Annotator(world, world.person(f"p{number}"), seed * 100 + number, reopens=False)
        for number in range(8)
    ]
    stranger = world.person("stranger")
    together = Barrier(2)

    def fail(writable: Writable) -> SubmitResponse:
        return submit_judgments(writable, stranger, "nowhere", events=[], have=[], want=3, now=world.now)

    def break_half_way(writable: Writable) -> SubmitResponse:
        one = "(SELECT min(pk) FROM pair)"  # a press locks pairs in order of pk: all pairs at once could deadlock
        with writable.write() as session:
            session.execute(text(f"UPDATE pair SET judged = judged + 1, lacking = 0 WHERE pk = {one}"))
            raise ValueError("half way")

    def label(group: list[Annotator]) -> None:
        together.wait()
        for _ in range(25):
            works = [annotator.press for annotator in group]
            outcomes = database.write_together([works[0], fail, *works[1:3], break_half_way, *works[3:]])
            assert [type(outcome) for outcome in outcomes if isinstance(outcome, Exception)] == [
                DatasetNotOpen,
                ValueError,
            ]

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(label, [people[:4], people[4:]]))
    history = list_judgments(database, OPERATOR, "d", history=True)
    assert sorted(judgment.event_id for judgment in history) == sorted(id for p in people for id in p.sent)
    assert find_wrong_rows(database, "d", overbooked_at=NOW) == []
    assert sum(annotator.surplus for annotator in people) == 0


class Lead:
    """Somebody who decides, changes settings, publishes guidelines and imports judgments while others label."""

    def __init__(self, world: World, folder: Path, seed: int) -> None:
        self.world, self.folder, self.random = world, folder, random.Random(seed)
        self.actor = world.person("lead", "admin")
        self.steps = 0

    def step(self) -> None:
        self.steps += 1
        (self.decide, self.change_overlap, self.decide, self.bring_judgments, self.publish)[self.steps % 5]()

    def decide(self) -> None:
        batch = hand_out_disagreements(self.world.database, self.actor, "d", want=1, now=self.world.now)
        for view in batch.disagreements:
            with suppress(
                ConflictError, StateError
            ):  # somebody judged it again, or nothing is left to decide
                adjudicate(
                    self.world.database, self.actor, "d", view.pair, grade=self.random.randrange(4), rationale="r",
                    seen=view.seen, now=self.world.now,
                )  # fmt: skip

    def change_overlap(self) -> None:
        changes = {
            "overlap": self.random.choice("23"),
            "third_judgment_from": self.random.choice(("1", "none")),
        }
        change_settings(self.world.database, self.actor, "d", changes, now=self.world.now)

    def bring_judgments(self) -> None:
        rows = {
            f"Q{number},문서/{number}-{self.random.randrange(5)},guest{self.random.randrange(3)},{self.random.randrange(4)}"
            for number in range(3)
        }
        path = self.folder / f"judgments-{self.steps}.csv"
        path.write_text("\n".join(["query_id,doc_id,annotator,grade", *sorted(rows)]), encoding="utf-8")
        with suppress(BadInput):  # a pair is settled by now
            import_judgments(self.world.database, self.actor, "d", path, now=self.world.now)

    def publish(self) -> None:
        version, rubric = read_current_rubric(self.world.database, self.actor, "d")
        rubric = replace(rubric, guideline=f"{rubric.guideline} {self.steps}")
        publish_version(
            self.world.database, self.actor, "d", rubric, base_version=version, change="semantic", why="w",
            now=self.world.now,
        )  # fmt: skip


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
def test_after_a_storm_of_judgments_decisions_settings_guidelines_and_imports_too(
    database: Database, tmp_path: Path, seed: int
) -> None:
    world = World(database, queries=3, documents=5)
    lead = Lead(world, tmp_path, seed)
    people = [
        Annotator(world, world.person(f"p{number}"), seed * 100 + number, may_be_refused=["settled"])
        for number in range(5)
    ]
    together = Barrier(len(people) + 1)

    def repeat(work: Callable[[], object], times: int) -> None:
        together.wait()
        for _ in range(times):
            work()

    with ThreadPoolExecutor(len(people) + 1) as pool:
        running = [pool.submit(repeat, annotator.press, 16) for annotator in people]
        running.append(pool.submit(repeat, lead.step, 15))
        for work in running:
            work.result(120)
    assert find_wrong_rows(database, "d") == []
    stored = {judgment.event_id for judgment in list_judgments(database, OPERATOR, "d", history=True)}
    assert stored.issuperset(event_id for annotator in people for event_id in annotator.stored)
    assert len(fetch(database, "SELECT pk FROM adjudication")[0]) > 0


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE pair SET lacking = lacking + 1 WHERE pk = 1",
        "UPDATE query_work SET begun_pairs = begun_pairs + 1",
        "UPDATE query_answers SET answered_open = answered_open + 1",
        "UPDATE current_judgment SET stale = 1",
        "DELETE FROM dispute",
    ],
)
def test_the_check_sees_a_derived_row_that_is_wrong(database: Database, damage: str) -> None:
    world = World(database, queries=1, documents=2)
    ann, bob = world.person("ann"), world.person("bob")
    pair = world.send(ann, want=1).pairs[0].pair
    for actor, grade in ((ann, 0), (bob, 3)):
        world.send(actor, world.event(pair, grade))
    assert find_wrong_rows(database, "d") == []
    with database.write() as session:
        session.execute(text(damage))
    assert find_wrong_rows(database, "d") != []


def test_people_who_ask_at_once_share_out_what_is_left(database: Database) -> None:
    world = World(database, queries=1, documents=6, overlap=1)
    people = [Annotator(world, world.person(f"p{number}"), number) for number in range(8)]
    run_together(people, presses=1)
    handed = [key for annotator in people for key in annotator.have]
    assert len(handed) == len(set(handed)) == 6


@on_postgresql
def test_a_submission_waits_for_nobody_who_labels_another_query(database: Database) -> None:
    world = World(database, queries=2, documents=2)
    ann, bob = world.person("ann"), world.person("bob")
    mine = world.send(ann, want=1).pairs[0]
    other = next(pair for pair in world.send(bob, want=4).pairs if pair.query_id != mine.query_id)
    with database.write() as session:
        share_dataset(session, "d", bob.person_id or 0)
        session.execute(
            text("SELECT pk FROM query WHERE query_id = :q FOR NO KEY UPDATE"), {"q": other.query_id}
        )
        session.execute(text("SELECT pk FROM pair WHERE key = :key FOR NO KEY UPDATE"), {"key": other.pair})
        assert run_apart(lambda: world.send(ann, world.event(mine.pair, 3))).acknowledged


@on_postgresql
def test_for_what_an_answer_counts_is_decided_after_the_answers_that_are_being_stored(
    database: Database,
) -> None:
    world = World(database, queries=1, documents=1)
    ann, bob, eve = (world.person(name) for name in ("ann", "bob", "eve"))
    pair = world.send(ann, want=1).pairs[0].pair
    world.send(bob, world.event(pair, 0))
    inside, go_on = Event(), Event()

    def wait_inside() -> None:
        inside.set()
        assert go_on.wait(120)

    with ThreadPoolExecutor(2) as pool, pytest.MonkeyPatch.context() as patch:
        patch.setattr(service, "find_needless", _call_first(wait_inside, find_needless))
        first = pool.submit(world.send, ann, world.event(pair, 0))
        assert inside.wait(120)
        patch.undo()
        late = world.event(pair, 3)
        second = pool.submit(world.send, eve, late)
        with pytest.raises(TimeoutError):
            second.result(timeout=0.3)
        go_on.set()
        assert first.result(120).surplus == ()
        assert second.result(120).surplus == (late["id"],), "two were wanted, and two had judged"
    expected = [[(2, 0)], []]
    assert fetch(database, "SELECT judged, lacking FROM pair", "SELECT distance FROM dispute") == expected


@on_postgresql
def test_whoever_only_asks_waits_for_a_pair_that_is_locked_rather_than_hear_that_nothing_is_left(
    database: Database,
) -> None:
    world = World(database, queries=1, documents=1)
    ann = world.person("ann")
    with ThreadPoolExecutor(1) as pool:
        with database.write() as session:
            session.execute(text("SELECT pk FROM pair FOR NO KEY UPDATE"))
            waiting = pool.submit(world.send, ann, want=1)
            with pytest.raises(TimeoutError):
                waiting.result(timeout=0.3)
        assert len(waiting.result(120).pairs) == 1


@on_postgresql
def test_settling_and_settings_wait_until_submissions_are_over_and_submissions_wait_for_them(
    database: Database,
) -> None:
    world = World(database)
    ann = world.person("ann")
    pair = world.send(ann, want=1).pairs[0].pair
    with ThreadPoolExecutor(1) as pool:
        with database.write() as session:
            lock_dataset(session, session.execute(text("SELECT pk FROM dataset")).scalar_one())
            waiting = pool.submit(world.send, ann, world.event(pair, 3))
            with pytest.raises(TimeoutError):
                waiting.result(timeout=0.3)
        assert waiting.result(120).acknowledged


@on_postgresql
def test_what_somebody_took_meanwhile_is_not_handed_out_and_the_next_is(database: Database) -> None:
    world = World(database, queries=1, documents=3, overlap=1)
    ann, bob = world.person("ann"), world.person("bob")
    taken: list[str] = []

    def take() -> None:
        taken.extend(pair.pair for pair in run_apart(lambda: world.send(bob, want=2)).pairs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(service, "choose_next_pairs", _call_after(take, choose_next_pairs))
        handed = [pair.pair for pair in world.send(ann, want=3).pairs]
    assert len(taken) == 2
    assert sorted(handed + taken) == sorted(key for (key,) in fetch(database, "SELECT key FROM pair")[0])


@on_postgresql
def test_whoever_finds_all_chosen_pairs_taken_gets_others_in_the_same_answer(database: Database) -> None:
    world = World(database, queries=2, documents=1, overlap=1)
    ann, bob = world.person("ann"), world.person("bob")
    taken: list[str] = []

    def take() -> None:
        (chosen,) = ann_chose[-1].leased
        (key,) = (key for pk, key in fetch(database, "SELECT pk, key FROM pair")[0] if pk == chosen)
        taken.append(key)
        with database.write() as session:
            values = {"pk": chosen, "who": bob.person_id, "until": NOW + timedelta(hours=1)}
            insert = (
                "INSERT INTO lease (pair_pk, annotator_pk, expires_at, tab) VALUES (:pk, :who, :until, '')"
            )
            session.execute(text(insert), values)

    ann_chose: list[Any] = []
    choose = choose_next_pairs

    def choose_and_note(*arguments: Any) -> Any:
        ann_chose.append(choose(*arguments))
        if len(ann_chose) == 1:
            take()
        return ann_chose[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(service, "choose_next_pairs", choose_and_note)
        handed = [pair.pair for pair in world.send(ann, want=1).pairs]
    assert len(ann_chose) == 2
    assert len(handed) == 1 and handed != taken


@on_postgresql
def test_an_event_id_that_somebody_else_stores_at_this_moment_is_refused_like_any_known_id(
    database: Database,
) -> None:
    world = World(database)
    ann, bob = world.person("ann"), world.person("bob")
    mine, theirs = (world.send(who, want=1).pairs[0].pair for who in (ann, bob))
    event = world.event(mine, 3)

    def steal() -> None:
        assert run_apart(lambda: world.send(bob, {**event, "pair": theirs})).acknowledged

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(service, "store_plan", _call_first(steal, store_plan))
        response = world.send(ann, event)
    assert [refused.code for refused in response.refused] == ["known_id"]
    assert len(list_judgments(database, OPERATOR, "d")) == 1


@on_postgresql
def test_a_judgment_that_becomes_visible_after_a_newer_one_still_changes_what_is_kept_of_agreement(
    database: Database,
) -> None:
    world = World(database)
    ann, bob = world.person("ann"), world.person("bob")
    mine = world.send(ann, want=1).pairs[0].pair
    inside, go_on = Event(), Event()

    def wait_inside() -> None:
        inside.set()
        assert go_on.wait(120)

    with ThreadPoolExecutor(1) as pool, pytest.MonkeyPatch.context() as patch:
        patch.setattr(service, "find_needless", _call_first(wait_inside, find_needless))
        first = pool.submit(world.send, ann, world.event(mine, 0))
        assert inside.wait(120)
        patch.undo()
        assert run_apart(lambda: _judge_elsewhere(world, bob, mine)).acknowledged
        between = read_stamp(database, OPERATOR, "d")
        go_on.set()
        first.result(120)
    assert read_stamp(database, OPERATOR, "d") != between


def _judge_elsewhere(world: World, actor: Actor, mine: str) -> SubmitResponse:
    """Judge a pair of another query than that of `mine`, which somebody stores at this moment."""
    queries = dict(fetch(world.database, "SELECT key, query_pk FROM pair ORDER BY pk")[0])
    pair = next(key for key, query_pk in queries.items() if query_pk != queries[mine])
    return world.send(actor, world.event(pair, 1))


def run_apart(work: Callable[[], SubmitResponse]) -> SubmitResponse:
    """Do this in a thread of its own: another connection, another transaction."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result(timeout=120)


def _call_first(before: Callable[[], None], function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, which calls `before` first, once."""
    calls = [before]

    def call(*arguments: Any, **more: Any) -> Any:
        if calls:
            calls.pop()()
        return function(*arguments, **more)

    return call


def _call_after(after: Callable[[], None], function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, after which `after` is called, once."""
    calls = [after]

    def call(*arguments: Any, **more: Any) -> Any:
        result = function(*arguments, **more)
        if calls:
            calls.pop()()
        return result

    return call
