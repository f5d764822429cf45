"""Which pairs wait for a lead since the guideline changed what a grade means; marked quickly, it comes to the same."""

import random
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update
from sqlmodel import col

from annotator.adjudication.service import adjudicate, show_disagreement
from annotator.domain.people import Actor
from annotator.domain.settling import QueueReason
from annotator.guideline.service import publish_version, read_version
from annotator.people.roles_service import find_actor
from annotator.storage.database import Database
from annotator.storage.pairs.disagreements import derive_disagreements
from annotator.storage.pairs.pool import pair_key
from annotator.storage.sql import add_rows
from annotator.storage.tables.adjudication import DisagreementRow
from annotator.storage.tables.central import PairRow
from annotator.storage.tables.labeling import QuestionRow
from tests.databases import CopyWorld
from tests.integration.guideline_world import LATER, GuidelineWorld, with_fields
from tests.integration.judged_world import NOW, JudgedWorld

DOCUMENTS = [f"문서{number}" for number in range(12)]


def read(database: Database) -> dict[str, dict[str, Any]]:
    """Every disagreement, whole, by the key of its pair."""
    with database.read() as session:
        rows = session.execute(
            select(col(PairRow.key), DisagreementRow).join(
                PairRow, col(PairRow.pk) == col(DisagreementRow.pair_pk)
            )
        )
        return {key: row.model_dump() for key, row in rows}


def read_open(world: GuidelineWorld) -> dict[str, tuple[bool, QueueReason]]:
    """Whether each disagreement waits, and for what, by its document."""
    names = {key: doc_id for doc_id, key in world.keys.items()}
    body = read(world.database)
    return {names[key]: (row["open"], QueueReason(row["waiting"])) for key, row in body.items()}


def make_world(database: Database, seed: int) -> JudgedWorld:
    """Pairs of every kind, drawn by `seed`: agreed, disputed, decided, withdrawn, asked about, contradicted, out of the pool."""
    draw, world = random.Random(seed), JudgedWorld(database)
    world.query("Q1", "検索 🔎")
    people = [world.person(name) for name in ("花子", "민준", "Zoë")]
    lead, expert = world.person("lead", "lead"), world.person("expert")
    for doc in DOCUMENTS:
        world.pair("Q1", doc)
        for person in people:
            if draw.random() < 0.7:
                world.judge(person, "Q1", doc, draw.choice([0, 1, 2, 2, 3, None]))
    disputed = [doc for doc, row in zip(DOCUMENTS, _list_rows(world), strict=True) if row is not None]
    for doc in draw.sample(disputed, len(disputed) // 2):
        for _ in range(draw.choice([1, 1, 2])):
            world.add_decision(lead, "Q1", doc, draw.choice([0, 1, 2, 3]))
    for doc in draw.sample(DOCUMENTS, 4):
        settled = draw.choice([0, 1, 2])
        world.check_quality(expert, "Q1", doc, draw.choice([0, 1, 2, 3]), settled=settled)
    for doc in draw.sample(disputed, 2):
        world.add_decision(lead, "Q1", doc, draw.choice([0, 3]))
    _ask(world, draw.sample(DOCUMENTS, 3), people[0].person_id)
    return world


def _list_rows(world: JudgedWorld) -> list[dict[str, Any] | None]:
    body = read(world.database)
    return [body.get(world.pair("Q1", doc)) for doc in DOCUMENTS]


def _ask(world: JudgedWorld, documents: list[str], person_pk: int | None) -> None:
    with world.database.write() as session:
        keys = [pair_key("d", "Q1", doc) for doc in documents]
        pks = list(session.scalars(select(col(PairRow.pk)).where(col(PairRow.key).in_(keys))))
        question = {"annotator_pk": person_pk, "text": "왜?", "asked_at": NOW + timedelta(minutes=30)}
        add_rows(session, QuestionRow, [{**question, "pair_pk": pk} for pk in pks])
        gone = select(col(PairRow.pk)).where(col(PairRow.judged) == 0)
        session.execute(update(PairRow).where(col(PairRow.pk).in_(gone)).values(retired_at=NOW))
        derive_disagreements(session, world.dataset_pk)


def find(world: JudgedWorld, username: str) -> Actor:
    with world.database.read() as session:
        return find_actor(session, username)


def publish(world: JudgedWorld, *, minutes: int) -> None:
    present = read_version(world.database, find(world, "lead"), "d")
    changed = with_fields(present.rubric, guideline=f"第{minutes}版")
    publish_version(
        world.database, find(world, "lead"), "d", changed, base_version=present.version, change="semantic", why="x",
        now=NOW + timedelta(days=1, minutes=minutes),
    )  # fmt: skip


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_marking_all_at_once_comes_to_what_deriving_each_pair_comes_to(database: Database, seed: int) -> None:
    world = make_world(database, seed)
    before = read(database)
    assert {bool(row["open"]) for row in before.values()} == {True, False}
    for minutes in (1, 2):
        publish(world, minutes=minutes)
        marked = read(database)
        with database.write() as session:
            derive_disagreements(session, world.dataset_pk)
        assert read(database) == marked
        world.judge(find(world, "花子"), "Q1", DOCUMENTS[minutes], 2)
        world.add_decision(find(world, "lead"), "Q1", DOCUMENTS[0], minutes)
    assert len(marked) > len(before)


@pytest.fixture
def world(copy_world: CopyWorld) -> GuidelineWorld:
    return copy_world(GuidelineWorld)


def decide(world: GuidelineWorld, doc_id: str, grade: int, *, hours: int) -> None:
    key = world.keys[doc_id]
    seen = show_disagreement(world.database, world.lea, "d", key, now=LATER).seen
    moment = LATER + timedelta(hours=hours)
    adjudicate(world.database, world.lea, "d", key, grade=grade, rationale="第17条", seen=seen, now=moment)


def test_a_decision_under_an_older_meaning_waits_again_until_it_is_decided_anew(
    world: GuidelineWorld,
) -> None:
    decide(world, "d1", 3, hours=-1)
    assert read_open(world) == {"d1": (False, QueueReason(0))}
    world.publish(world.lea, change="minor", why="x", guideline="言い方")
    assert read_open(world) == {"d1": (False, QueueReason(0))}
    world.publish(world.lea, change="semantic", why="x", definition="甲")
    assert read_open(world)["d1"] == (True, QueueReason.STALE)
    world.judge(world.hanako, "Q1", "d1", 2)  # a judgment alone does not answer for the decision
    assert read_open(world)["d1"] == (True, QueueReason.STALE)
    decide(world, "d1", 3, hours=1)
    assert read_open(world)["d1"] == (False, QueueReason(0))


def test_judgments_confirmed_under_the_new_meaning_end_the_wait(world: GuidelineWorld) -> None:
    world.publish(world.lea, change="semantic", why="x", definition="甲")
    assert read_open(world) == {
        "d1": (True, QueueReason.DIFFER | QueueReason.STALE), "d2": (True, QueueReason.STALE), "d3": (True, QueueReason.STALE),
        "d4": (True, QueueReason.STALE),
    }  # fmt: skip
    world.judge(world.hanako, "Q1", "d2", 2)
    assert "d2" not in read_open(world)
    world.judge(world.hanako, "Q1", "d1", 2)
    assert read_open(world)["d1"] == (True, QueueReason.DIFFER | QueueReason.STALE)
    world.judge(world.minjun, "Q1", "d1", 3)
    assert read_open(world)["d1"] == (True, QueueReason.DIFFER)


def test_another_text_alone_makes_no_disagreement(world: GuidelineWorld) -> None:
    before = read_open(world)
    world.bring({"d2": "全く別の本文", "d1": "これも別"})
    assert read_open(world) == before
