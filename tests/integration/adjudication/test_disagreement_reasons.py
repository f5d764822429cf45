"""What brings a pair into the queue beside grades that differ, through the services that people use, on both databases."""

from uuid import UUID

from sqlalchemy import delete, select
from sqlmodel import col

from annotator.domain.settling import QueueReason
from annotator.labeling.questions_service import answer_question, ask_question
from annotator.storage.database import Database
from annotator.storage.pairs.disagreements import derive_disagreements
from annotator.storage.pairs.pair_states import bring_in
from annotator.storage.tables.adjudication import DisagreementRow, ScoreDueRow
from annotator.storage.tables.central import PairRow
from tests.integration.quality_world import QualityWorld

Found = dict[str, tuple[bool, QueueReason, QueueReason]]


def find(database: Database) -> Found:
    """Open, reasons and what is waited for, by pair."""
    with database.read() as session:
        rows = session.execute(
            select(PairRow, DisagreementRow).join(
                DisagreementRow, col(DisagreementRow.pair_pk) == col(PairRow.pk)
            )
        )
        return {
            pair.key: (row.open, QueueReason(row.reasons), QueueReason(row.waiting)) for pair, row in rows
        }


def ask(world: QualityWorld, key: str, number: int = 1) -> int:
    event_id = str(UUID(int=700 + number, version=4))
    return ask_question(
        world.database,
        world.ann,
        "d",
        pair=key,
        text=f"どちらですか {number}",
        event_id=event_id,
        now=world.now,
    )


def test_a_question_brings_an_agreed_pair_into_the_queue_until_it_is_answered(database: Database) -> None:
    world = QualityWorld(database)
    key = next(iter(world.pks))
    number = ask(world, key)
    assert find(database) == {key: (True, QueueReason.QUESTION, QueueReason.QUESTION)}
    answer_question(database, world.lea, "d", number, "はい", seen=None, in_guideline=False, now=world.now)
    assert find(database) == {}


def test_the_experts_contrary_grade_reopens_a_pair_the_moment_it_comes_in(database: Database) -> None:
    world = QualityWorld(database, queries=1, documents=2)
    world.draw("cho", rate=1.0)
    world.send(world.cho, want=5)
    pks = list(world.keys)
    world.check(pks[0], (world.grades[pks[0]] + 2) % 4)
    world.check(pks[1], world.grades[pks[1]])
    assert find(database) == {world.keys[pks[0]]: (True, QueueReason.QUALITY, QueueReason.QUALITY)}


def keep(world: QualityWorld, pk: int, grade: int) -> None:
    row = {
        "pair_pk": pk, "grade": grade, "keep": True, "source": {"kind": "qrels"}, "description": None, "note": None,
        "annotator_grades": [], "extra": {}, "imported_at": world.now,
    }  # fmt: skip
    with world.database.write() as session:
        bring_in(session, world.dataset_pk, [row])


def test_an_imported_grade_that_is_the_experts_ends_what_the_expert_found(database: Database) -> None:
    world = QualityWorld(database, queries=1, documents=1, settled=False)
    ((pk, key),) = world.keys.items()
    keep(world, pk, 2)
    world.draw("cho", rate=1.0)
    world.send(world.cho, want=5)
    world.check(pk, 3)
    assert find(database) == {key: (True, QueueReason.QUALITY, QueueReason.QUALITY)}
    keep(world, pk, 3)
    assert find(database) == {}


def test_whatever_is_said_of_a_pair_has_its_querys_scores_computed_anew(database: Database) -> None:
    world = QualityWorld(database, queries=2, documents=2)
    with database.write() as session:
        session.execute(delete(ScoreDueRow))
    world.judge_as(world.ann, next(iter(world.keys)), 0)
    with database.read() as session:
        assert len(session.scalars(select(col(ScoreDueRow.query_pk))).all()) == 1


def test_deriving_everything_comes_to_what_came_step_by_step(database: Database) -> None:
    world = QualityWorld(database, queries=2, documents=3)
    keys = list(world.pks)
    world.judge_as(world.bea, world.pks[keys[1]], 3)
    ask(world, keys[0], 1)
    ask(world, keys[1], 2)
    before = find(database)
    assert before[keys[1]] == (
        True,
        QueueReason.DIFFER | QueueReason.QUESTION,
        QueueReason.DIFFER | QueueReason.QUESTION,
    )
    with database.write() as session:
        derive_disagreements(session, world.dataset_pk)
    assert find(database) == before
