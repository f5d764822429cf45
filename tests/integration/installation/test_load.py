"""What `/metrics` says of the database: counts over all datasets, as the database has them."""

from datetime import timedelta

from annotator.installation.load_service import InstallationLoad, measure_load
from annotator.storage.database import Database
from tests.integration.labeling_world import NOW, World

EMPTY = InstallationLoad(
    open_pairs=0,
    open_disagreements=0,
    open_questions=0,
    leases=0,
    sessions=0,
    waiting_locks=0,
    published_at=None,
)


def test_an_installation_without_datasets_has_nothing_that_waits(database: Database) -> None:
    assert measure_load(database, now=NOW) == EMPTY


def test_what_annotators_hold_and_what_lacks_judgments_is_counted_until_it_is_over(
    database: Database,
) -> None:
    world = World(database, queries=3, documents=4)
    ann = world.person("ann")
    held = world.send(ann, want=5).pairs
    load = measure_load(database, now=world.now)
    assert (load.open_pairs, load.leases, load.published_at) == (12, len(held), None)
    assert len(held) == 5
    world.send(ann, world.event(held[0].pair))
    assert measure_load(database, now=world.now).leases == 4
    assert measure_load(database, now=world.now + timedelta(days=1)).leases == 0
