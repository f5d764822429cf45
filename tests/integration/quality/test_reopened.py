"""What quality control reopens: when, until when, and how a lead decides it. On both databases."""

import json
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update
from sqlmodel import col

from annotator.adjudication.bulk.bulk_service import adjudicate_file
from annotator.adjudication.disagreement_records import DisagreementView
from annotator.adjudication.queue.queue_service import find_disagreements
from annotator.adjudication.service import adjudicate, show_disagreement
from annotator.domain.errors import ConflictError, NotAllowed
from annotator.domain.people import OPERATOR, Actor
from annotator.releases.writing.judged_sql import iterate_judged_queries
from annotator.storage.database import Database
from annotator.storage.pairs.disagreements import list_disagreements
from annotator.storage.pairs.pair_states import bring_in, list_pair_states
from annotator.storage.tables.adjudication import QualityPairRow
from annotator.storage.tables.central import PairRow
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld

LATER = NOW + timedelta(hours=1)


class Checked(JudgedWorld):
    """One unanimous pair of grade 2, two annotators, a lead, and an expert of quality control."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.hanako, self.minjun = self.person("花子"), self.person("민준")
        self.lead, self.expert = self.person("lead", "lead"), self.person("専門家", "lead")
        self.query("Q1", "법령 검색")
        self.key = self.pair("Q1", "文書", rank=1)
        for person in (self.hanako, self.minjun):
            self.judge(person, "Q1", "文書", 2)

    def state(self) -> tuple[str, int | None]:
        """Status and grade of the pair, which its two readers agree on; and whether the queue would look at it."""
        with self.database.read() as session:
            (listed,) = list_pair_states(session, self.dataset_pk)
            ((_, (other,)),) = iterate_judged_queries(session, self.dataset_pk)
            disagreements = list_disagreements(session, [listed.pair_pk])
            assert list_pair_states(session, self.dataset_pk, [listed.pair_pk]) == [listed]
        assert (listed.settlement.status, listed.settlement.grade) == (other.status, other.grade)
        assert other.status != "reopened" or disagreements[listed.pair_pk].open
        return other.status, other.grade

    def case(self) -> DisagreementView:
        return show_disagreement(self.database, self.lead, "d", self.key, now=LATER)

    def settle(self, grade: int, *, actor: Actor | None = None, seen: str | None = None) -> None:
        adjudicate(
            self.database, actor or self.lead, "d", self.key,
            grade=grade, rationale="第17条", seen=seen or self.case().seen, now=LATER,
        )  # fmt: skip


@pytest.fixture
def world(copy_world: CopyWorld) -> Checked:
    return copy_world(Checked)


def test_an_error_reopens_a_pair_until_a_lead_decides_it(world: Checked) -> None:
    world.check_quality(world.expert, "Q1", "文書", 0, settled=2)
    assert world.state() == ("reopened", None)
    world.add_decision(world.lead, "Q1", "文書", 2)
    assert world.state() == ("adjudicated", 2)


def test_an_expert_who_agrees_or_cannot_rate_reopens_nothing(world: Checked) -> None:
    world.check_quality(world.expert, "Q1", "文書", 2, settled=2)
    assert world.state() == ("unanimous", 2)
    world.check_quality(world.person("other"), "Q1", "文書", None, settled=2)
    assert world.state() == ("unanimous", 2)


def test_an_expert_who_revises_to_the_settled_grade_closes_it_again(world: Checked) -> None:
    world.check_quality(world.expert, "Q1", "文書", 0, settled=2)
    with world.database.write() as session:
        session.execute(update(QualityPairRow).values(grade=2))
    assert world.state() == ("unanimous", 2)


def test_a_decision_from_before_the_answer_does_not_end_it_and_one_at_its_time_does(world: Checked) -> None:
    world.add_decision(world.lead, "Q1", "文書", 3)
    world.check_quality(world.expert, "Q1", "文書", 1, settled=3, settled_by="adjudicated")
    assert world.state() == ("reopened", None)
    world.judged -= 1
    world.add_decision(world.lead, "Q1", "文書", 3)
    assert world.state() == ("adjudicated", 3)


def test_what_was_decided_between_draw_and_answer_is_reopened_only_by_another_grade(world: Checked) -> None:
    world.add_decision(world.lead, "Q1", "文書", 1)
    world.check_quality(world.expert, "Q1", "文書", 1, settled=2)
    assert world.state() == ("adjudicated", 1)
    world.check_quality(world.person("other"), "Q1", "文書", 0, settled=2)
    assert world.state() == ("reopened", None)


def test_the_error_of_a_later_round_reopens_what_was_decided_anew(world: Checked) -> None:
    world.check_quality(world.expert, "Q1", "文書", 1, settled=2)
    world.add_decision(world.lead, "Q1", "文書", 1)
    world.check_quality(world.person("other"), "Q1", "文書", 3, settled=1, settled_by="adjudicated")
    assert world.state() == ("reopened", None)


def test_a_kept_grade_is_reopened_too(world: Checked) -> None:
    key = world.pair("Q1", "옛 문서")
    with world.database.write() as session:
        pair_pk = session.scalar(select(col(PairRow.pk)).where(col(PairRow.key) == key))
        row: dict[str, Any] = {
            "pair_pk": pair_pk,
            "grade": 3,
            "keep": True,
            "source": {},
            "description": None,
            "note": None,
        }
        bring_in(session, world.dataset_pk, [row | {"annotator_grades": [], "extra": {}, "imported_at": NOW}])
    world.check_quality(world.expert, "Q1", "옛 문서", 1, settled=3, settled_by="imported")
    (item,) = find_disagreements(world.database, world.lead, "d", now=NOW)
    assert (item.doc_id, item.reopened, item.grades, item.distance) == (
        "옛 문서", True, {"専門家": 1}, 2,
    )  # fmt: skip


def test_an_error_of_another_dataset_reopens_nothing_here(world: Checked) -> None:
    JudgedWorld(world.database, name="other")
    assert find_disagreements(world.database, OPERATOR, "other", now=NOW) == []
    world.check_quality(world.expert, "Q1", "文書", 0, settled=2)
    assert find_disagreements(world.database, OPERATOR, "other", now=NOW) == []


def test_a_reopened_pair_is_open_in_the_queue_as_far_apart_as_the_expert_is(world: Checked) -> None:
    world.check_quality(world.expert, "Q1", "文書", 0, settled=2)
    (item,) = find_disagreements(world.database, world.lead, "d", now=NOW)
    assert (item.status, item.reopened, item.distance, item.impact) == ("open", True, 2, 1.0)
    assert item.since == NOW + timedelta(minutes=3)
    assert item.grades == {"花子": 2, "민준": 2, "専門家": 0}
    assert item.as_json()["reopened"] is True
    world.settle(1)
    (item,) = find_disagreements(world.database, world.lead, "d", now=NOW)
    assert (item.status, item.reopened, item.distance, item.since) == ("decided", False, 2, LATER)
    assert "reopened" not in json.loads(json.dumps(item.as_json(), default=str))


def test_the_grade_that_was_decided_counts_in_the_distance_too(world: Checked) -> None:
    world.add_decision(world.lead, "Q1", "文書", 0)
    world.check_quality(world.expert, "Q1", "文書", 3, settled=0, settled_by="adjudicated")
    (item,) = find_disagreements(world.database, world.lead, "d", now=NOW)
    assert item.distance == 3


def test_the_case_shows_the_experts_judgment_among_the_others_without_a_name(world: Checked) -> None:
    world.check_quality(world.expert, "Q1", "文書", 0, settled=2, note="別の条文 🔎")
    disagreement = world.case()
    assert (disagreement.progress.stage, disagreement.progress.contested_grade, disagreement.barred) == (
        "reopened",
        2,
        None,
    )
    assert sorted(judgment.letter for judgment in disagreement.judgments) == ["A", "B", "C"]
    assert [(judgment.grade, judgment.note) for judgment in disagreement.judgments if judgment.quality] == [
        (0, "別の条文 🔎")
    ]
    assert "専門家" not in repr(disagreement)
    world.settle(0)
    assert any(judgment.quality for judgment in world.case().judgments)


def test_the_expert_may_not_decide_what_they_checked(world: Checked) -> None:
    world.check_quality(world.expert, "Q1", "文書", 0, settled=2)
    assert show_disagreement(world.database, world.expert, "d", world.key, now=LATER).barred
    with pytest.raises(NotAllowed, match="another lead"):
        world.settle(0, actor=world.expert)
    assert [item.yours for item in find_disagreements(world.database, world.expert, "d", now=NOW)] == [True]
    assert [item.yours for item in find_disagreements(world.database, OPERATOR, "d", now=NOW)] == [False]


def test_an_experts_answer_that_comes_meanwhile_refuses_the_decision(world: Checked) -> None:
    world.add_decision(world.lead, "Q1", "文書", 3)
    seen = world.case().seen
    world.check_quality(world.expert, "Q1", "文書", 0, settled=3, settled_by="adjudicated")
    with pytest.raises(ConflictError, match="Look at the pair again"):
        world.settle(3, seen=seen)
    world.settle(3)
    assert world.state() == ("adjudicated", 3)


def test_a_file_decides_a_reopened_pair_even_as_it_was_decided_before(world: Checked) -> None:
    data = "query_id,doc_id,grade,rationale\nQ1,文書,3,第17条".encode()

    def decide() -> tuple[int, int, int]:
        done = adjudicate_file(world.database, world.lead, "d", data, "d.csv", now=LATER)
        return done.decided, done.revised, done.unchanged

    world.add_decision(world.lead, "Q1", "文書", 3)
    assert decide() == (0, 0, 1)
    world.check_quality(world.expert, "Q1", "文書", 0, settled=3, settled_by="adjudicated")
    assert world.state() == ("reopened", None)
    assert decide() == (0, 1, 0)
    assert world.state() == ("adjudicated", 3)
    assert decide() == (0, 0, 1)
