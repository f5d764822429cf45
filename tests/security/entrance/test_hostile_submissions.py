"""Submissions that no panel sends. What can be stored is stored, whatever stands beside it."""

from annotator.storage.database import Database
from tests.databases import database as database  # empty, not the folder's
from tests.integration.labeling_world import World


def test_an_id_that_comes_twice_does_not_cost_what_comes_with_it(database: Database) -> None:
    """Once on a pair of the pool, once on one that is not there: the first is stored, the second refused."""
    world = World(database)
    hanako = world.person("hanako")
    here, there = (pair.pair for pair in world.send(hanako, want=2).pairs)
    first, other = world.event(here, 3), world.event(there, 1)
    done = world.send(hanako, first, {**first, "pair": "nowhere"}, other)
    assert done.acknowledged == (first["id"], other["id"])
    assert [(refusal.event_id, refusal.code) for refusal in done.refused] == [(first["id"], "known_id")]
