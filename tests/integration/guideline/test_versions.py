"""Versions of the standard: published, refused when overtaken, merged, compared; what they do to answers."""

from dataclasses import replace

import pytest
from sqlalchemy import select

from annotator.adjudication.service import adjudicate, show_disagreement
from annotator.dataset.service import create_dataset
from annotator.domain.errors import NotAllowed, NotFound, StateError, ValidationError
from annotator.domain.grades import DEFAULT_RUBRIC
from annotator.domain.people import OPERATOR
from annotator.guideline.service import (
    VersionConflict,
    compare_versions,
    count_judgments_made_outdated,
    count_outdated,
    explain_change,
    list_versions,
    publish_version,
    read_version,
)
from annotator.storage.judgments.current_judgments import list_current_judgments
from annotator.storage.judgments.outdated import OutdatedCount
from annotator.storage.tables.central import RubricRow
from tests.databases import CopyWorld
from tests.integration.guideline_world import LATER, GuidelineWorld, with_fields
from tests.integration.judged_world import NOW


@pytest.fixture
def world(copy_world: CopyWorld) -> GuidelineWorld:
    return copy_world(GuidelineWorld)


def test_a_version_is_appended_with_who_when_and_why_and_the_old_ones_stay(world: GuidelineWorld) -> None:
    first = read_version(world.database, world.hanako, "d")
    made = world.publish(world.lea, change="semantic", why="第三条の改正 🌱", definition="答えの大半がある。")
    assert (made.version, made.change, made.why, made.author) == (
        2, "semantic", "第三条の改正 🌱", "léa Realname",
    )  # fmt: skip
    assert made.created_at == LATER
    assert [version.version for version in list_versions(world.database, world.hanako, "d")] == [2, 1]
    assert read_version(world.database, world.hanako, "d", 1) == first
    assert read_version(world.database, world.hanako, "d").rubric.grades[2].definition == "答えの大半がある。"
    with pytest.raises(NotFound, match="There is no version 7"):
        read_version(world.database, world.hanako, "d", 7)


def test_a_judgment_keeps_the_version_it_was_made_under(world: GuidelineWorld) -> None:
    world.publish(world.lea, change="semantic", why="x", definition="甲")
    world.judge(world.minjun, "Q1", "d2", 1)
    with world.database.read() as session:
        current_judgments = list_current_judgments(session, world.dataset_pk)
    assert {(item.doc_id, item.annotator): item.guideline_version for item in current_judgments} == {
        ("d1", "花子"): 1, ("d1", "민준"): 1, ("d2", "花子"): 1, ("d2", "민준"): 2, ("d3", "花子"): 1, ("d4", "花子"): 1,
    }  # fmt: skip


def test_the_second_of_two_leads_overwrites_nothing_and_is_handed_both_changes(world: GuidelineWorld) -> None:
    world.publish(world.lea, guideline="前書き\n\n本文")
    with pytest.raises(VersionConflict) as refused:
        world.publish(world.lou, base=1, change="semantic", why="x", definition="乙")
    conflict = refused.value
    assert (conflict.base.version, conflict.published.version, conflict.published.author) == (
        1,
        2,
        "léa Realname",
    )
    assert conflict.draft.grades[2].definition == "乙"
    assert "Version 2 was published while you were changing version 1" in str(conflict)
    merged = conflict.merge
    assert (merged.conflicts, merged.rubric.guideline) == ((), "前書き\n\n本文")
    assert len(list_versions(world.database, world.lou, "d")) == 2
    made = publish_version(
        world.database, world.lou, "d", merged.rubric, base_version=2, change="semantic", why="x", now=LATER
    )
    assert (made.rubric.grades[2].definition, made.rubric.guideline) == ("乙", "前書き\n\n本文")


def test_marks_of_a_contradiction_are_not_published(world: GuidelineWorld) -> None:
    world.publish(world.lea, definition="甲")
    with pytest.raises(VersionConflict) as refused:
        world.publish(world.lou, base=1, definition="乙")
    assert refused.value.merge.conflicts == ("Grade 2: definition",)
    with pytest.raises(StateError, match="conflict in: Grade 2: definition"):
        publish_version(
            world.database, world.lou, "d", refused.value.merge.rubric, base_version=2, change="minor", now=LATER
        )  # fmt: skip
    assert len(list_versions(world.database, world.lou, "d")) == 2


def test_nothing_changed_nothing_published_and_nobody_but_a_lead_publishes(world: GuidelineWorld) -> None:
    with pytest.raises(StateError, match="There is nothing to publish: the draft is the same as version 1"):
        world.publish(world.lea, title="Graded relevance,  0 to 3 ")
    with pytest.raises(NotAllowed):
        world.publish(world.hanako, guideline="x")
    with pytest.raises(ValidationError, match="why: enter a reason"):
        world.publish(world.lea, change="semantic", definition="甲")
    with pytest.raises(NotAllowed):
        count_outdated(world.database, world.hanako, "d")
    assert len(list_versions(world.database, world.lea, "d")) == 1
    assert world.publish(OPERATOR, guideline="x").author is None


def test_two_versions_are_compared_in_either_direction(world: GuidelineWorld) -> None:
    world.publish(world.lea, definition="甲", guideline="一")
    world.publish(world.lea, guideline="一\n二")
    versions = compare_versions(world.database, world.hanako, "d", 1, 3)
    assert [item.grade for item in versions.grades] == [2]
    back = compare_versions(world.database, world.hanako, "d", 3, 2)
    assert [(line.kind, line.text) for line in back.guideline.lines] == [("same", "一"), ("removed", "二")]


def test_a_change_of_meaning_puts_every_answer_on_its_authors_list_and_wording_none(
    world: GuidelineWorld,
) -> None:
    assert count_judgments_made_outdated(world.database, world.lea, "d") == 5
    world.publish(world.lea, guideline="別の言い方")
    assert count_outdated(world.database, world.lea, "d") == []
    world.publish(world.lea, change="semantic", why="x", definition="甲")
    assert count_outdated(world.database, world.lea, "d") == [
        OutdatedCount("花子", "花子 Realname", 4, 4, 0),
        OutdatedCount("민준", "민준 Realname", 1, 1, 0),
    ]
    world.judge(world.hanako, "Q1", "d2", 2)
    decide(world, "d1")
    assert count_outdated(world.database, world.lea, "d") == [OutdatedCount("花子", "花子 Realname", 2, 2, 0)]
    assert count_judgments_made_outdated(world.database, world.lea, "d") == 3


def test_an_annotator_is_told_what_changed_in_the_standard_and_why(world: GuidelineWorld) -> None:
    world.publish(world.lea, change="semantic", why="改正", definition="甲")
    world.publish(world.lou, guideline="言い方", why="分かりやすく")
    explanation = explain_change(world.database, world.hanako, "d", world.keys["d1"])
    assert explanation.text is None
    assert explanation.guideline is not None
    assert (explanation.guideline.from_version, explanation.guideline.to_version) == (1, 3)
    assert explanation.guideline.why == "改正\n分かりやすく"
    assert [item.after.definition for item in explanation.guideline.comparison.grades] == ["甲"]
    with pytest.raises(NotFound, match="You have not judged this pair"):
        explain_change(world.database, world.minjun, "d", world.keys["d2"])
    with pytest.raises(NotFound):
        explain_change(world.database, world.hanako, "d", "no such key")
    with pytest.raises(NotAllowed):
        explain_change(world.database, OPERATOR, "d", world.keys["d1"])


def test_what_changed_is_told_from_the_version_that_was_judged_under_on_with_the_reasons_there_are(
    world: GuidelineWorld,
) -> None:
    world.publish(world.lea, change="semantic", why="一", definition="甲")
    world.judge(world.minjun, "Q1", "d2", 1)
    world.publish(world.lou, guideline="言い方")
    world.publish(world.lea, change="semantic", why="三", definition="乙")
    guidelines = [
        explain_change(world.database, actor, "d", world.keys[document]).guideline
        for actor, document in ((world.hanako, "d1"), (world.minjun, "d2"))
    ]
    assert [(guideline.from_version, guideline.to_version, guideline.why) for guideline in guidelines if guideline] == [
        (1, 4, "一\n三"), (2, 4, "三"),
    ]  # fmt: skip


def test_the_standards_of_two_datasets_with_the_same_version_numbers_are_two(world: GuidelineWorld) -> None:
    create_dataset(world.database, OPERATOR, "other", now=LATER)
    foreign = replace(DEFAULT_RUBRIC, guideline="他所")
    made = publish_version(
        world.database, OPERATOR, "other", foreign, base_version=1, change="semantic", why="x", now=LATER
    )
    assert (made.version, made.author) == (2, None), "the operator is nobody"
    assert count_outdated(world.database, world.lea, "d") == []
    world.publish(world.lea, change="semantic", why="改正", definition="甲")
    assert read_version(world.database, world.hanako, "d", 2).rubric.guideline != "他所"
    guideline = explain_change(world.database, world.hanako, "d", world.keys["d1"]).guideline
    assert guideline is not None
    assert (guideline.why, guideline.comparison.guideline.lines) == ("改正", ())


def test_an_annotator_is_told_what_changed_in_the_document(world: GuidelineWorld) -> None:
    world.bring({"d1": "本文 d1\n十日以内に届け出る。"})
    explanation = explain_change(world.database, world.hanako, "d", world.keys["d1"])
    assert explanation.guideline is None
    assert explanation.text is not None
    assert [(line.kind, line.text) for line in explanation.text.lines] == [
        ("same", "本文 d1"), ("removed", "三日以内に届け出る。"), ("added", "十日以内に届け出る。"),
    ]  # fmt: skip
    assert explain_change(world.database, world.hanako, "d", world.keys["d2"]).text is None


def test_a_version_cannot_be_changed_or_left_out(world: GuidelineWorld) -> None:
    with pytest.raises(NotFound, match="no version 4"):
        publish_version(
            world.database, world.lea, "d", with_fields(read_version(world.database, world.lea, "d").rubric, definition="x"),
            base_version=4, change="minor", now=NOW,
        )  # fmt: skip
    with world.database.read() as session:
        assert len(session.scalars(select(RubricRow)).all()) == 1


def decide(world: GuidelineWorld, doc_id: str) -> None:
    disagreement = show_disagreement(world.database, world.lea, "d", world.keys[doc_id], now=NOW)
    adjudicate(
        world.database, world.lea, "d", disagreement.pair, grade=1, rationale="x", seen=disagreement.seen, now=LATER
    )  # fmt: skip
