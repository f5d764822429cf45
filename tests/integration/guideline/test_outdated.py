"""Answers that rest on an older guideline or text: which are asked for again, why, and what sets and clears the mark."""

import pytest
from sqlalchemy import select
from sqlmodel import col

from annotator.domain.judgments import OutdatedReason
from annotator.domain.people import OPERATOR, Actor
from annotator.guideline.service import explain_change
from annotator.importing.remapping.remapping_service import remap_documents
from annotator.storage.judgments.outdated import describe_outdated, list_outdated, mark_outdated
from annotator.storage.lookup import key_of
from annotator.storage.tables.central import CurrentJudgmentRow, DocumentRow, PairRow
from annotator.storage.tables.labeling import CheckRow, DisclosureRow
from tests.databases import CopyWorld
from tests.integration.guideline.test_versions import decide
from tests.integration.guideline_world import LATER, GuidelineWorld
from tests.integration.judged_world import NOW


@pytest.fixture
def world(copy_world: CopyWorld) -> GuidelineWorld:
    return copy_world(GuidelineWorld)


def asked(world: GuidelineWorld, actor: Actor, *, limit: int = 50) -> dict[str, OutdatedReason]:
    """What the annotator is asked again, by doc_id, in the order of asking."""
    with world.database.read() as session:
        request = world.request(actor)
        pks = list_outdated(session, request, limit=limit)
        why = describe_outdated(session, request, pks)
        names = select(col(PairRow.pk), col(DocumentRow.doc_id)).join(
            DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk)
        )
        docs = {key_of(pk): doc_id for pk, doc_id in session.execute(names)}
    assert list(why) == pks or set(why) == set(pks)
    return {docs[pk]: why[pk] for pk in pks}


def marks(world: GuidelineWorld) -> list[int]:
    with world.database.read() as session:
        return sorted(session.scalars(select(col(CurrentJudgmentRow.stale))))


def find_pair(world: GuidelineWorld, doc_id: str) -> int:
    with world.database.read() as session:
        statement = select(col(PairRow.pk)).where(col(PairRow.key) == world.keys[doc_id])
        return key_of(session.scalar(statement))


def test_nothing_is_asked_again_while_nothing_has_changed(world: GuidelineWorld) -> None:
    assert asked(world, world.hanako) == {}
    with world.database.read() as session:
        assert describe_outdated(session, world.request(world.hanako), []) == {}


def test_an_older_standard_is_named_by_the_version_that_was_judged_under(world: GuidelineWorld) -> None:
    world.publish(world.lea, guideline="言い方")
    assert asked(world, world.hanako) == {}
    world.judge(world.hanako, "Q1", "d2", 3)
    world.publish(world.lea, change="semantic", why="x", definition="甲")
    assert asked(world, world.hanako) == {
        "d1": OutdatedReason(1, False), "d2": OutdatedReason(2, False), "d3": OutdatedReason(1, False), "d4": OutdatedReason(1, False),
    }  # fmt: skip
    assert asked(world, world.minjun) == {"d1": OutdatedReason(1, False)}
    assert len(asked(world, world.hanako, limit=2)) == 2
    world.judge(world.hanako, "Q1", "d1", 2)  # confirmed
    assert list(asked(world, world.hanako)) == ["d3", "d4", "d2"], "in the order of receipt"


def test_a_new_text_marks_the_answers_on_its_document_only_and_the_old_text_clears_them(
    world: GuidelineWorld,
) -> None:
    old = "本文 d1\n三日以内に届け出る。"
    world.bring({"d1": "別の本文", "d2": "本文 d2\n三日以内に届け出る。"})
    assert asked(world, world.hanako) == {"d1": OutdatedReason(None, True)}
    assert asked(world, world.minjun) == {"d1": OutdatedReason(None, True)}
    world.judge(world.hanako, "Q1", "d1", 1)
    assert asked(world, world.hanako) == {}
    report = world.bring({"d1": old})
    assert asked(world, world.hanako) == {"d1": OutdatedReason(None, True)}
    assert asked(world, world.minjun) == {}
    assert report.notes[1].startswith("1 judgment was made on an older text")


def test_an_answer_can_rest_on_both(world: GuidelineWorld) -> None:
    world.publish(world.lea, change="semantic", why="x", definition="甲")
    world.bring({"d1": "別の本文"})
    assert asked(world, world.minjun) == {"d1": OutdatedReason(1, True)}
    assert marks(world) == [1, 1, 1, 3, 3]


def test_trying_an_import_out_says_the_same_and_marks_nothing(world: GuidelineWorld) -> None:
    tried = world.bring({"d1": "別の本文", "d3": "別"}, dry_run=True)
    assert marks(world) == [0] * 5
    made = world.bring({"d1": "別の本文", "d3": "別"})
    assert tried.notes == made.notes
    assert made.notes == (
        "2 documents have another text now",
        "3 judgments were made on an older text, which is kept; their annotators are asked to confirm or change them",
    )
    assert marks(world) == [0, 0, 2, 2, 2]


def test_what_its_author_can_no_longer_change_is_not_asked_for(world: GuidelineWorld) -> None:
    world.publish(world.lea, change="semantic", why="x", definition="甲")
    decide(world, "d1")
    with world.database.write() as session:
        session.add(
            DisclosureRow(
                pair_pk=find_pair(world, "d2"), person_pk=world.hanako.person_id or 0, disclosed_at=NOW
            )
        )
        session.add(
            CheckRow(pair_pk=find_pair(world, "d3"), kind="gold", grade=1, explanation="", marked_at=NOW)
        )
    assert list(asked(world, world.hanako)) == ["d3", "d4"], "a check is asked again like any other"
    world.judge(world.hanako, "Q2", "d4", None, outcome="later")
    assert list(asked(world, world.hanako)) == ["d3"]


def test_marking_anew_comes_to_the_same_as_marking_step_by_step(world: GuidelineWorld) -> None:
    world.publish(world.lea, change="semantic", why="x", definition="甲")
    world.judge(world.hanako, "Q1", "d1", 1)
    world.bring({"d1": "別の本文", "d4": "別"})
    before = marks(world)
    with world.database.write() as session:
        for row in session.scalars(select(CurrentJudgmentRow)):
            row.stale = 0 if row.stale else 3
            session.add(row)
        mark_outdated(session, world.dataset_pk)
    assert marks(world) == before == [1, 1, 2, 3, 3]


def test_a_document_that_got_the_id_of_another_text_has_its_answers_asked_again(
    world: GuidelineWorld,
) -> None:
    world.bring({"neu/1": "本文 d1\n十日以内に届け出る。", "neu/2": "本文 d2\n三日以内に届け出る。"})
    path = world.folder / "remap.csv"
    path.write_text("old_doc_id,new_doc_id\nd1,neu/1\nd2,neu/2\n", encoding="utf-8")
    remap_documents(world.database, OPERATOR, "d", path, now=LATER)
    assert asked(world, world.hanako) == {"neu/1": OutdatedReason(None, True)}
    text = explain_change(world.database, world.hanako, "d", world.keys["d1"]).text
    assert text is not None
    assert [line.text for line in text.lines if line.kind == "removed"] == ["三日以内に届け出る。"]
