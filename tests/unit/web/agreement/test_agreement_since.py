"""Agreement before and since a version, on the agreement page as Streamlit runs it, and its file."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.domain.errors import NotFound
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from annotator.web.agreement.downloads import write_since
from tests.integration.feedback_world import FeedbackWorld
from tests.unit.web.lead_pages import alternatives, links, open_page, words

TAB = "Guideline versions"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[FeedbackWorld]:
    opened = Database(f"sqlite:///{tmp_path / 'annotator.db'}")
    upgrade_schema(opened)
    made = FeedbackWorld(opened)
    for first, second in ((0, 1), (2, 2), (3, 1)):
        made.add_disagreement("Q1", first, second)
    yield made
    opened.dispose()


def test_with_one_version_there_is_nothing_to_compare(world: FeedbackWorld) -> None:
    app = open_page(world, "agreement", world.lea, tab=TAB)
    assert "The guideline has only one version" in words(app)
    assert ("guideline", "dataset=d") in links(app)
    with pytest.raises(NotFound):
        write_since(world.database, world.lea, "d", "2")


def test_both_sides_are_said_drawn_and_listed(world: FeedbackWorld) -> None:
    key = world.add_disagreement("Q1", 1, 2, 1, "guideline_gap")
    world.publish([(key, 1)])
    for grade in (0, 2, 3):
        world.add_disagreement("Q1", grade, grade)
    world.add_disagreement("Q2", 1, 1)
    world.publish([])
    app = open_page(world, "agreement", world.lea, tab=TAB)
    shown = words(app)
    for piece in (
        "The effect of version 2 on agreement in the dataset is not clear yet: Cohen&#x27;s kappa is 1.00",
        "in 障害 対応",
        "Based on 1 decision about disagreements.",
        "so a difference may also come from easier or harder pairs",
    ):
        assert piece in shown
    (alternative,) = alternatives(app)
    assert alternative.startswith("Cohen's kappa before and since version 2: whole dataset: before ")
    assert app.selectbox(key="since").options == ["3", "2"]
    later = open_page(world, "agreement", world.lea, tab=TAB, since="3")
    assert "no pair was judged by two annotators since version 3" in words(later)


def test_the_file_holds_the_same_figures_with_their_warning(world: FeedbackWorld) -> None:
    world.publish([])
    world.add_disagreement("Q1", 1, 1)
    text = write_since(world.database, world.lea, "d", "2")
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    assert [(row["version 2"], row["pairs"]) for row in rows] == [("before", "3"), ("since then", "1")]
    assert all(row["warning"].startswith("too few pairs for a conclusion") for row in rows)
    for wrong in ("", "x", "1", "3"):
        with pytest.raises(NotFound):
            write_since(world.database, world.lea, "d", wrong)
