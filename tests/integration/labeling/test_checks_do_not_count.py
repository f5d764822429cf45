"""Training, gold and repeats never enter agreement, coverage, the states of pairs or a release."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from annotator.agreement.service import compute_agreement
from annotator.domain.people import OPERATOR
from annotator.labeling.service import compute_progress, list_judgments
from annotator.overview.service import show_overview
from annotator.releases.service import publish_release
from annotator.storage.database import Database
from annotator.storage.pairs.pair_states import list_pair_states
from annotator.storage.tables.central import PairRow
from tests.integration.judged_world import JudgedWorld
from tests.integration.labeling.test_calibration import mark, repeat
from tests.integration.release_world import EPOCH, WAIVED, ReleaseWorld
from tests.short_run import draw_few


def everything_that_counts(world: JudgedWorld) -> tuple[object, ...]:
    """Agreement, states of pairs, progress, overview (with coverage), as a lead sees them."""
    overview = show_overview(world.database, OPERATOR, world.name)
    with world.database.read() as session:
        states = [state._replace(lacking=0) for state in list_pair_states(session, world.dataset_pk)]
        judged = {row.key: row.judged for row in session.scalars(select(PairRow))}
    progress = compute_progress(world.database, OPERATOR, world.name)
    agreement = compute_agreement(world.database, OPERATOR, world.name)
    agreement = replace(agreement, left_out=(), findings=())  # these do tell of checks
    current = [judgment.event_id for judgment in list_judgments(world.database, OPERATOR, world.name)]
    people = [
        (annotator.annotator, annotator.judged, annotator.unrateable, annotator.later)
        for annotator in progress.annotators
    ]
    return agreement, states, judged, overview.coverage, overview.pairs.by_status, people, current


def check_everything(world: ReleaseWorld) -> None:
    """Training, gold and repeats, right and wrong, on pairs of every status."""
    for text in (
        "Q1,Q1/zero,gold,0,\nQ1,Q1/two,training,2,x\nQ2,법률_제17조,gold,3,\nQ3,unjudged,gold,1,\n",
    ):
        mark(world, world.lead, text)
    new = world.person("new")
    for actor in (new, world.hanako):
        world.judge(actor, "Q1", "Q1/zero", 3, purpose="gold")
        world.judge(actor, "Q1", "Q1/two", 0, purpose="training")
        world.judge(actor, "Q2", "법률_제17조", 1, purpose="gold")
        world.judge(actor, "Q3", "unjudged", None, purpose="gold")
    repeat(world, world.hanako, "Q1", "Q1/three", 0)
    repeat(world, world.minjun, "Q1", "Q1/one", None)


def test_no_check_enters_agreement_states_coverage_or_a_release(database: Database, tmp_path: Path) -> None:
    world = ReleaseWorld(database)
    waived = dict.fromkeys([*WAIVED, "stale", "relevant"], "x")

    def publish(version: str) -> Path:
        made = publish_release(
            database, world.lead, world.name, version, exports_dir=tmp_path, now=EPOCH, overrides=waived
        )
        return made.path

    world.person("old")  # as many people before as after
    before, first = everything_that_counts(world), publish("1.0.0")
    check_everything(world)
    after = everything_that_counts(world)
    people = before[5], [person for person in after[5] if person[0] != "new"]  # type: ignore[attr-defined]
    assert people[0] == people[1]
    assert [*after[:5], after[6]] == [*before[:5], before[6]]
    second = publish("1.0.1")
    same = [path.name for path in sorted(first.iterdir()) if path.is_file()]
    contents = [name for name in same if "judgments" in name or "qrels" in name]
    assert any("judgments" in name for name in contents)
    for name in contents:
        assert (second / name).read_bytes() == (first / name).read_bytes(), name


def test_the_history_keeps_checks_with_their_purpose(database: Database) -> None:
    world = ReleaseWorld(database)
    check_everything(world)
    kept = list_judgments(database, OPERATOR, world.name, history=True)
    purposes = [judgment.purpose for judgment in kept]
    assert (purposes.count("gold"), purposes.count("training"), purposes.count("repeat")) == (6, 2, 2)


PLACES = [("Q1", "Q1/zero"), ("Q1", "Q1/two"), ("Q2", "법률_제17조"), ("Q2", "é"), ("Q3", "unjudged")]
ANSWERS = st.lists(
    st.tuples(
        st.sampled_from(PLACES),
        st.booleans(),
        st.sampled_from(["training", "gold", "repeat"]),
        st.none() | st.integers(0, 3),
    ),
    max_size=6,
)


@draw_few()
@given(answers=ANSWERS)
def test_whatever_is_answered_on_checks_changes_nothing_that_counts(
    checked: tuple[ReleaseWorld, tuple[object, ...]], answers: list[Any]
) -> None:
    world, before = checked
    for (query_id, doc_id), first, purpose, grade in answers:
        world.judge(world.hanako if first else world.minjun, query_id, doc_id, grade, purpose=purpose)
    assert everything_that_counts(world) == before


@pytest.fixture
def checked(database: Database) -> tuple[ReleaseWorld, tuple[object, ...]]:
    """A world, and what counts in it before anybody is checked."""
    world = ReleaseWorld(database)
    return world, everything_that_counts(world)
