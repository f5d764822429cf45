"""After the server's clock came back from the future: what was handed out then is nobody's, and goes to others.

A clock that is put right by a moment takes nothing away from anybody.
"""

from datetime import timedelta

import pytest

from annotator.adjudication.service import show_disagreement
from annotator.storage.database import Database
from annotator.storage.lookup import CLOCK_SLACK
from tests.integration.decision_world import DecisionWorld
from tests.integration.judged_world import NOW
from tests.integration.labeling_world import World

AHEAD = [timedelta(days=400), timedelta(hours=3)]
A_MOMENT = CLOCK_SLACK / 2


@pytest.mark.parametrize("ahead", AHEAD)
def test_pairs_that_were_leased_in_the_future_go_to_others(database: Database, ahead: timedelta) -> None:
    world = World(database, queries=1, overlap=1)
    hanako, minjun = world.person("hanako"), world.person("minjun")
    world.now += ahead
    assert len(world.send(hanako, want=20).pairs) == 4
    assert world.send(minjun, want=20).pairs == ()
    world.now -= ahead
    assert len(world.send(minjun, want=20).pairs) == 4


def test_in_another_tab_they_are_not_held_back_either(database: Database) -> None:
    world = World(database, queries=1, overlap=1)
    hanako = world.person("hanako")
    world.now += AHEAD[0]
    first = world.send(hanako, want=1, tab="a").pairs
    world.now -= AHEAD[0]
    assert [pair.pair for pair in world.send(hanako, want=4, tab="b").pairs][:1] == [first[0].pair]


def test_a_lease_of_a_moment_ago_holds_although_the_clock_was_put_back_since(database: Database) -> None:
    world = World(database, queries=1, overlap=1)
    hanako, minjun = world.person("hanako"), world.person("minjun")
    world.now += A_MOMENT
    world.send(hanako, want=20)
    world.now -= A_MOMENT
    assert world.send(minjun, want=20).pairs == ()


@pytest.mark.parametrize("ahead", AHEAD)
def test_a_pair_that_was_open_before_a_lead_in_the_future_is_open_to_others(
    database: Database, ahead: timedelta
) -> None:
    desk = DecisionWorld(database)
    assert desk.ask(desk.lea, 4, now=NOW + ahead) == ["甲", "乙", "丙", "丁"]
    assert desk.ask(desk.lou, 1, now=NOW + ahead) == []
    assert show_disagreement(database, desk.lou, "d", desk.keys["甲"], now=NOW).status.held_by is None
    assert desk.ask(desk.lou, 1, now=NOW) == ["甲"]
    assert desk.ask(desk.lea, 1, tab="t2", now=NOW) == ["乙"], "who has it now holds it"


def test_a_hold_of_a_moment_ago_holds_although_the_clock_was_put_back_since(database: Database) -> None:
    desk = DecisionWorld(database)
    desk.ask(desk.lea, 4, now=NOW + A_MOMENT)
    assert desk.ask(desk.lou, 1, now=NOW) == []
