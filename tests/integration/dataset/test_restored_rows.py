"""A dataset restored under another name is as good as the one that was exported: nothing derived is wrong, and it can be published."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.dataset.restore_service import restore_dataset
from annotator.domain.people import OPERATOR, Actor
from annotator.labeling.service import list_judgments
from annotator.releases.service import publish_release
from annotator.storage.database import Database
from annotator.storage.lookup import find_person, key_of
from annotator.storage.schema import upgrade_schema
from benchmarks.derived_rows import find_wrong_rows
from tests.databases import CopyWorld
from tests.integration.dataset.test_export import GATES, export
from tests.integration.judged_world import NOW
from tests.integration.release_world import ReleaseWorld


def make_world(database: Database) -> ReleaseWorld:
    """Judgments of this program and a decision; a share of the pairs is judged by three."""
    made = ReleaseWorld(database, overlap_share="0.5:3")
    made.add_decision(made.lead, "Q2", "법률_제17조", 2)
    return made


@pytest.fixture
def world(copy_world: CopyWorld) -> ReleaseWorld:
    return copy_world(make_world)


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Database]:
    opened = Database(f"sqlite:///{tmp_path / 'restored.db'}")
    upgrade_schema(opened)
    yield opened
    opened.dispose()


@pytest.mark.parametrize("name", [None, "copy"])
def test_nothing_derived_is_wrong_after_a_restore_and_the_judgments_are_of_this_program(
    world: ReleaseWorld, empty: Database, tmp_path: Path, name: str | None
) -> None:
    export(world.database, world.name, tmp_path / "a.zip")
    restored = restore_dataset(empty, OPERATOR, tmp_path / "a.zip", name=name, with_roles=True, now=NOW)
    assert find_wrong_rows(empty, restored.name) == []
    judgments = list_judgments(empty, OPERATOR, restored.name, history=True)
    assert {judgment.guideline_version for judgment in judgments} == {1}
    with empty.read() as session:
        lead = Actor(key_of(find_person(session, world.lead.username).pk), world.lead.username)
    reasons = dict.fromkeys(GATES, "a test")
    folders: dict[bool, Path] = {}
    for database, actor, dataset in ((world.database, world.lead, world.name), (empty, lead, restored.name)):
        folder = tmp_path / dataset / ("restored" if database is empty else "original")
        made = publish_release(
            database, actor, dataset, "1.0.0", exports_dir=folder, now=NOW, overrides=reasons
        )
        folders[database is empty] = made.path
    for folder in folders.values():
        assert "made outside this program" not in (folder / "DATASHEET.md").read_text("utf-8")
        assert json.loads((folder / "manifest.json").read_text("utf-8"))["guideline_version"] == 1
    published = [
        list(csv.DictReader((folders[restored] / "judgments.csv").open(encoding="utf-8")))
        for restored in (False, True)
    ]
    for rows in published:  # the pseudonyms of people are drawn
        for row in rows:
            del row["annotator"]
    assert sorted(map(str, published[0])) == sorted(map(str, published[1]))
