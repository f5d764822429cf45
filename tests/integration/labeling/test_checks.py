"""Training, gold pairs and repeats as the hand-out reads them."""

import pytest
from sqlalchemy import insert, select
from sqlmodel import col

from annotator.domain.judgments import OpenPair
from annotator.domain.people import Actor
from annotator.labeling.next_pairs_sql import (
    find_repeats,
    list_waiting_checks,
    note_repeats_answered,
    read_explanations,
)
from annotator.labeling.open_pairs_sql import Eligibility
from annotator.storage.database import Database
from annotator.storage.judgments.current_judgments import derive_decided
from annotator.storage.tables.adjudication import AdjudicationRow
from annotator.storage.tables.central import CurrentJudgmentRow, DatasetRow, PairRow
from annotator.storage.tables.labeling import DisclosureRow, ProposalRow, RepeatRow
from tests.databases import CopyWorld
from tests.integration.checked_world import CheckedWorld
from tests.integration.labeling_world import NOW


def checks_of(handed: list[OpenPair], ordinary: list[int]) -> list[OpenPair]:
    """What is in the hand-out beside the ordinary pairs, whose order must have been kept."""
    assert [handed_pair.pair_pk for handed_pair in handed if handed_pair.pair_pk in ordinary] == ordinary
    return [handed_pair for handed_pair in handed if handed_pair.pair_pk not in ordinary]


def make_one_query(database: Database) -> CheckedWorld:
    return CheckedWorld(database, queries=1, documents=40, repeat_after=5)


@pytest.fixture
def one_query(copy_world: CopyWorld) -> CheckedWorld:
    return copy_world(make_one_query)


def test_without_marked_pairs_there_is_no_training(database: Database) -> None:
    world = CheckedWorld(database)
    assert world.training(world.person("ann")) is None


def test_training_is_passed_when_all_are_answered_and_enough_right_at_the_latest_try(
    database: Database,
) -> None:
    world = CheckedWorld(database, training_score=0.6)
    ann = world.person("ann")
    first, second, third = world.pairs[:3]
    world.mark("training", first, second, third, grade=2)
    state = world.training(ann)
    assert state and (state.done, state.total, state.right, state.passed) == (0, 3, 0, False)
    world.answer(ann, first, 2, purpose="training")
    world.answer(ann, second, 0, purpose="training")
    assert sorted(world.next_training(ann)) == [third]
    world.answer(ann, third, None, purpose="training")
    state = world.training(ann)
    assert state and (state.done, state.right, state.required, state.passed) == (3, 1, 0.6, False)
    assert sorted(world.next_training(ann)) == [second, third]  # the wrong ones once more
    world.answer(ann, second, 2, purpose="training")
    state = world.training(ann)
    assert state and (state.right, state.passed) == (2, True)


def test_a_training_answer_put_off_is_not_answered(database: Database) -> None:
    world = CheckedWorld(database)
    ann = world.person("ann")
    world.mark("training", world.pairs[0])
    world.answer(ann, world.pairs[0], None, purpose="training", outcome="later")
    state = world.training(ann)
    assert state and (state.done, state.passed) == (0, False)


def test_who_has_judged_real_pairs_is_not_trained(database: Database) -> None:
    world = CheckedWorld(database)
    ann, bob, eve = world.person("ann"), world.person("bob"), world.person("eve")
    world.mark("training", world.pairs[0])
    world.answer(ann, world.pairs[1], 1)
    world.answer(bob, world.pairs[1], None, outcome="later")
    world.answer(eve, world.pairs[1], 3)
    with database.write() as session:
        proposed = {"pair_pk": world.pairs[1], "annotator_pk": eve.person_id, "proposed_at": NOW}
        session.execute(insert(ProposalRow), [proposed])
    assert world.training(ann) is None
    assert world.training(bob) is not None  # putting off judges nothing
    assert world.training(eve) is not None  # nor is a proposal a way around


def test_training_asks_for_no_pair_whose_answers_the_annotator_has_seen_or_that_has_left(
    database: Database,
) -> None:
    world = CheckedWorld(database)
    ann = world.person("ann")
    seen, left, good = world.pairs[:3]
    world.mark("training", seen, left, good)
    disclose(world, ann, seen)
    with database.write() as session:
        session.get_one(PairRow, left).retired_at = NOW
    state = world.training(ann)
    assert state and state.total == 1
    assert world.next_training(ann) == [good]


def test_each_annotator_trains_in_an_order_of_their_own(database: Database) -> None:
    world = CheckedWorld(database)
    ann, bob = world.person("ann"), world.person("bob")
    world.mark("training", *world.pairs)
    assert world.next_training(ann) == world.next_training(ann) != world.next_training(bob)
    assert sorted(world.next_training(ann)) == world.pairs


def test_explanations_of_training_pairs_are_found_by_pair(database: Database) -> None:
    world = CheckedWorld(database)
    trained, gold, plain = world.pairs[:3]
    world.mark("training", trained, grade=3)
    world.mark("gold", gold)
    with database.read() as session:
        assert read_explanations(session, [trained, gold, plain]) == {trained: (3, f"because {trained}")}


def test_at_rates_of_0_nothing_is_mixed_in(one_query: CheckedWorld) -> None:
    world = one_query
    world.mark("gold", *world.pairs[20:])
    handed = world.mixed(world.person("ann"), world.pairs[:10])
    assert [pair.pair_pk for pair in handed] == world.pairs[:10]


def test_gold_is_mixed_in_at_its_rate_the_same_way_every_time(database: Database) -> None:
    world = CheckedWorld(database, queries=1, documents=300, gold_rate=0.2)
    ann, bob = world.person("ann"), world.person("bob")
    ordinary, gold = world.pairs[:200], world.pairs[200:]
    world.mark("gold", *gold)
    handed = world.mixed(ann, ordinary)
    checks = checks_of(handed, ordinary)
    assert 0.14 <= len(checks) / len(handed) <= 0.26
    assert len(set(checks)) == len(checks)
    assert {check.pair_pk for check in checks} <= set(gold)
    assert all(check.key == world.keys[check.pair_pk] and not check.repeat for check in checks)
    assert world.mixed(ann, ordinary) == handed
    assert world.mixed(bob, ordinary) != handed


def test_the_turns_of_gold_go_on_where_the_answers_are(database: Database) -> None:
    """What comes in one hand-out of twenty comes in twenty of one each, the rest being held or answered."""
    world = CheckedWorld(database, queries=1, documents=80, gold_rate=0.3)
    ann = world.person("ann")
    world.mark("gold", *world.pairs[40:])
    at_once = [handed_pair.pair_pk for handed_pair in world.mixed(ann, world.pairs[:20])]
    one_by_one: list[int] = []
    for number in range(20):
        if number == 10:  # answered so far
            for pair in one_by_one:
                world.answer(ann, pair, 1, purpose="gold" if pair in world.pairs[40:] else "independent")
        held = [] if number == 10 else one_by_one
        held = [pair for pair in held if number < 10 or pair not in answered_before(one_by_one, world)]
        one_by_one += [
            handed_pair.pair_pk for handed_pair in world.mixed(ann, [world.pairs[number]], held=held)
        ]
    assert one_by_one == at_once


def answered_before(chosen: list[int], world: CheckedWorld) -> set[int]:
    """Those of the first half, answered in the middle of the test above."""
    return set(chosen[: chosen.index(world.pairs[10])]) if world.pairs[10] in chosen else set(chosen)


def test_gold_comes_once_and_never_of_what_one_has_judged_proposed_or_seen(database: Database) -> None:
    world = CheckedWorld(database, queries=1, documents=11, gold_rate=0.5)
    ann = world.person("ann")
    judged, proposed, seen, left, good, put_off, own = world.pairs[:7]
    world.answer(ann, judged, 1)
    world.mark("gold", own, by=ann)
    world.mark("gold", judged, proposed, seen, left, good, put_off)
    world.answer(ann, put_off, None, purpose="gold", outcome="later")
    disclose(world, ann, seen)
    with database.write() as session:
        row = {"pair_pk": proposed, "annotator_pk": ann.person_id, "proposed_at": NOW}
        session.execute(insert(ProposalRow), [row])
        session.get_one(PairRow, left).retired_at = NOW
    ordinary = world.pairs[7:] * 10
    came = {handed_pair.pair_pk for handed_pair in world.mixed(ann, ordinary)} - set(ordinary)
    assert came == {good}
    assert list_waiting(world, ann) == {put_off: world.keys[put_off]}, "it comes again like any other pair"
    world.answer(ann, good, 1, purpose="gold")
    assert not {handed_pair.pair_pk for handed_pair in world.mixed(ann, ordinary)} - set(ordinary)
    world.answer(ann, put_off, 1, purpose="gold")
    assert list_waiting(world, ann) == {}


def test_gold_that_is_in_the_browser_is_not_handed_again(one_query: CheckedWorld) -> None:
    world = one_query
    set_rates(world, gold_rate=0.5)
    ann = world.person("ann")
    world.mark("gold", world.pairs[30], world.pairs[31])
    came = {handed_pair.pair_pk for handed_pair in world.mixed(ann, world.pairs[:20], held=[world.pairs[30]])}
    assert came - set(world.pairs[:20]) == {world.pairs[31]}


def test_gold_of_the_same_query_comes_first_and_that_of_others_where_the_query_changes(
    database: Database,
) -> None:
    world = CheckedWorld(database, queries=3, documents=20, gold_rate=0.5)
    ann = world.person("ann")
    own, foreign = world.pairs[15:17], world.pairs[50:53]
    world.mark("gold", *own, *foreign)
    ordinary = [*world.pairs[:15], *world.pairs[20:35]]  # two queries
    handed = [handed_pair.pair_pk for handed_pair in world.mixed(ann, ordinary)]
    change = handed.index(world.pairs[20])
    assert set(own) <= set(handed[:change])
    assert not set(foreign) & set(handed[: handed.index(world.pairs[14])])


def test_a_repeat_is_ones_own_answer_under_a_key_of_its_own(one_query: CheckedWorld) -> None:
    world = one_query
    set_rates(world, repeat_rate=0.5)
    ann, bob = world.person("ann"), world.person("bob")
    for pair in world.pairs[:20]:
        world.answer(ann, pair, 1)
    ordinary = world.pairs[20:]
    handed = world.mixed(ann, ordinary)
    repeats = checks_of(handed, ordinary)
    assert repeats
    assert {repeat.pair_pk for repeat in repeats} <= set(world.pairs[:15])  # five answers came after these
    assert len({repeat.key for repeat in repeats}) == len(repeats)
    assert not {repeat.key for repeat in repeats} & set(world.keys.values())
    assert all(repeat.key and len(repeat.key) == len(world.keys[1]) for repeat in repeats)
    assert list_waiting(world, ann) == {repeat.pair_pk: repeat.key for repeat in repeats}, (
        "until they are answered"
    )
    assert list_waiting(world, bob) == {}
    mixed = world.mixed(bob, ordinary)  # who has answered nothing
    assert [pair.pair_pk for pair in mixed] == ordinary


def test_a_repeat_comes_once(one_query: CheckedWorld) -> None:
    world = one_query
    set_rates(world, repeat_rate=0.5)
    ann, bob = world.person("ann"), world.person("bob")
    for pair in world.pairs[:7]:
        world.answer(ann, pair, 1)
    repeats = checks_of(world.mixed(ann, world.pairs[20:]), world.pairs[20:])
    keys = [repeat.key or "" for repeat in repeats]
    with world.database.write() as session:
        assert find_repeats(session, world.request(bob), keys) == {}  # of somebody else
        stored_repeats = find_repeats(session, world.request(ann), [*keys, "nonsense", world.keys[1]])
        assert {key: target.pair_pk for key, target in stored_repeats.items()} == {
            repeat.key: repeat.pair_pk for repeat in repeats
        }
        note_repeats_answered(
            session, world.request(ann), [target.repeat_pk for target in stored_repeats.values()]
        )
    with world.database.read() as session:
        rows = session.scalars(select(RepeatRow)).all()
        assert [row.answered_at for row in rows] == [world.now] * len(repeats)
    again = checks_of(world.mixed(ann, world.pairs[20:]), world.pairs[20:])
    assert not {repeat.pair_pk for repeat in repeats} & {repeat.pair_pk for repeat in again}


def test_no_repeat_of_what_is_settled_disclosed_outdated_marked_put_off_or_conditional(
    one_query: CheckedWorld,
) -> None:
    world = one_query
    set_rates(world, repeat_rate=0.5)
    ann, lead = world.person("ann"), world.person("lea", "lead")
    settled, seen, outdated, marked, put_off, further, good = world.pairs[:7]
    world.answer(ann, put_off, None, outcome="later")
    world.answer(ann, further, 1, purpose="conditional")
    for pair in (settled, seen, outdated, marked, good):
        world.answer(ann, pair, 1)
    for pair in world.pairs[7:14]:
        world.answer(ann, pair, None)  # no grade to compare with
    world.mark("gold", marked)
    disclose(world, ann, seen)
    with world.database.write() as session:
        session.get_one(CurrentJudgmentRow, (outdated, ann.person_id)).stale = 2
        row = {
            "pair_pk": settled, "revision": 1, "lead_pk": lead.person_id, "rubric_pk": world.rubric_pk,
            "grade": 1, "rationale": "so", "decided_at": NOW,
        }  # fmt: skip
        session.add(AdjudicationRow.model_validate(row))
        derive_decided(session, [settled])
    repeats = checks_of(world.mixed(ann, world.pairs[20:]), world.pairs[20:])
    assert [repeat.pair_pk for repeat in repeats] == [good]


def test_a_repeat_waits_for_answers_on_other_pairs(one_query: CheckedWorld) -> None:
    world = one_query
    set_rates(world, repeat_rate=0.5)
    ann = world.person("ann")
    world.answer(ann, world.pairs[0], 1)
    for grade in (0, 1, 2, 3, 0, 1, 2):
        world.answer(ann, world.pairs[1], grade)  # revised again and again: one other pair
    assert not checks_of(world.mixed(ann, world.pairs[20:]), world.pairs[20:])
    for pair in world.pairs[2:6]:
        world.answer(ann, pair, 1)
    repeats = checks_of(world.mixed(ann, world.pairs[20:]), world.pairs[20:])
    assert [repeat.pair_pk for repeat in repeats] == [world.pairs[0]]


def list_waiting(world: CheckedWorld, actor: Actor) -> dict[int, str]:
    """The checks that were handed out and wait for an answer: keys by pair_pk."""
    with world.database.read() as session:
        waiting = list_waiting_checks(session, world.request(actor), Eligibility())
    assert all(pair.handed for pair in waiting)
    return {pair.pair_pk: pair.key for pair in waiting}


def disclose(world: CheckedWorld, actor: Actor, pair: int) -> None:
    """The person has seen what others answered."""
    row = {"pair_pk": pair, "person_pk": actor.person_id, "disclosed_at": NOW}
    with world.database.write() as session:
        session.execute(insert(DisclosureRow), [row])


def set_rates(world: CheckedWorld, **rates: float) -> None:
    """Change the dataset's rates."""
    with world.database.write() as session:
        dataset = session.scalars(select(DatasetRow).where(col(DatasetRow.name) == "d")).one()
        for name, value in rates.items():
            setattr(dataset, name, value)
