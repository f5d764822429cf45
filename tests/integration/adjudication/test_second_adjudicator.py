"""Grades as far apart as they can be, decided by two leads where the dataset asks for it: blind, and both in the audit log."""

import pytest
from sqlalchemy import select
from sqlmodel import col

from annotator.adjudication.disagreement_records import DisagreementView
from annotator.adjudication.service import (
    adjudicate,
    hand_out_disagreements,
    show_disagreement,
)
from annotator.domain.people import Actor
from annotator.storage.database import Database
from annotator.storage.tables.adjudication import AuditEventRow, DecisionProposalRow
from annotator.storage.tables.central import DatasetRow
from tests.integration.conftest import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld


class Two(JudgedWorld):
    """One disagreement of 0 against 3, one of 0 against 2; three leads."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        hanako, minjun = self.person("花子"), self.person("민준")
        self.lea, self.lou, self.lin = (self.person(name, "lead") for name in ("lea", "lou", "lin"))
        self.query("Q1", "一")
        self.far, self.near = self.pair("Q1", "遠い"), self.pair("Q1", "近い")
        for doc_id, grade in (("遠い", 3), ("近い", 2)):
            self.judge(hanako, "Q1", doc_id, 0)
            self.judge(minjun, "Q1", doc_id, grade)
        self.ask_for_two(True)

    def ask_for_two(self, wanted: bool) -> None:
        with self.database.write() as session:
            row = session.get_one(DatasetRow, self.dataset_pk)
            row.second_adjudicator = wanted
            session.add(row)

    def case(self, actor: Actor, pair: str | None = None) -> DisagreementView:
        return show_disagreement(self.database, actor, "d", pair or self.far, now=NOW)

    def say(
        self, actor: Actor, grade: object, *, pair: str | None = None, rationale: str = "第17条"
    ) -> object:
        """What became of it: a Decision, or None for a proposal."""
        seen = self.case(actor, pair).seen
        return adjudicate(
            self.database, actor, "d", pair or self.far, grade=grade, rationale=rationale, seen=seen, now=NOW,  # type: ignore[arg-type]
        )  # fmt: skip

    def head(self, actor: Actor) -> list[str]:
        batch = hand_out_disagreements(self.database, actor, "d", tab=actor.username, want=4, now=NOW)
        with self.database.write() as session:
            session.connection().exec_driver_sql("DELETE FROM case_hold")
        return [view.document.doc_id for view in batch.disagreements]

    def actions(self) -> list[str]:
        with self.database.read() as session:
            return list(session.scalars(select(col(AuditEventRow.action)).order_by(col(AuditEventRow.pk))))

    def proposals(self) -> int:
        with self.database.read() as session:
            return len(session.scalars(select(DecisionProposalRow)).all())


@pytest.fixture
def two(copy_world: CopyWorld) -> Two:
    return copy_world(Two)


def test_the_first_lead_proposes_and_the_second_who_agrees_decides(two: Two) -> None:
    assert two.say(two.lea, 3, rationale="first") is None
    lea_view, lou_view = two.case(two.lea), two.case(two.lou)
    assert ([proposal.lead for proposal in lea_view.proposals], lou_view.proposals) == (["lea"], ())
    assert (lea_view.needs_two_leads, lea_view.progress.stage, lou_view.seen == lea_view.seen) == (
        True,
        "disputed",
        True,
    )
    assert two.head(two.lea) == ["近い"]
    assert two.head(two.lou) == ["遠い", "近い"]
    assert two.say(two.lou, 3) is not None
    disagreement = two.case(two.lin)
    assert (disagreement.progress.stage, [decision.lead for decision in disagreement.decisions]) == (
        "settled",
        ["lou"],
    )
    assert disagreement.proposals == ()
    assert two.actions() == ["proposed", "decided"]
    with two.database.read() as session:
        last = session.scalars(select(AuditEventRow).order_by(col(AuditEventRow.pk).desc())).first()
        assert last is not None
        assert last.after is not None
        assert last.after["agreed_with"] == "lea"
    assert two.proposals() == 0


def test_two_who_differ_see_each_other_then_and_either_may_come_round(two: Two) -> None:
    two.say(two.lea, 3)
    assert two.say(two.lou, "unrateable") is None
    for who in (two.lea, two.lou, two.lin):
        assert [proposal.lead for proposal in two.case(who).proposals] == ["lea", "lou"]
    assert two.case(two.lou).progress.stage == "disputed"
    assert two.head(two.lea) == ["近い", "遠い"]
    assert two.say(two.lea, "unrateable") is not None
    assert two.case(two.lin).decisions[-1].outcome == "unrateable"


def test_where_two_differ_a_third_decides_alone(two: Two) -> None:
    two.say(two.lea, 3)
    two.say(two.lou, 0)
    assert two.say(two.lin, 2) is not None
    assert two.case(two.lea).decisions[-1].grade == 2
    assert two.proposals() == 0


def test_the_same_proposal_twice_is_one_and_another_takes_its_place(two: Two) -> None:
    two.say(two.lea, 3)
    two.say(two.lea, 3)
    assert two.actions() == ["proposed"]
    two.say(two.lea, 2)
    assert [proposal.grade for proposal in two.case(two.lea).proposals] == [2]
    assert two.say(two.lea, "withdrawn", rationale="") is None
    assert two.proposals() == 0
    assert two.actions() == ["proposed", "proposed", "withdrew"]


def test_grades_less_far_apart_take_one_lead_and_so_does_everything_once_nobody_asks_for_two(
    two: Two,
) -> None:
    assert two.say(two.lea, 1, pair=two.near) is not None
    assert two.say(two.lea, 3) is None
    two.ask_for_two(False)
    assert two.say(two.lea, 3, rationale="alone") is not None
    assert two.proposals() == 0


def test_a_settled_pair_that_takes_two_is_open_again_once_one_of_them_says_otherwise(two: Two) -> None:
    two.say(two.lea, 3)
    two.say(two.lou, 3)
    assert two.say(two.lou, 3, rationale="in other words") is not None
    seen = two.case(two.lin).seen
    assert two.say(two.lin, 1) is None
    disagreement = two.case(two.lou)
    assert ([decision.outcome for decision in disagreement.decisions], disagreement.progress.stage) == (
        ["graded", "graded", "withdrawn"],
        "disputed",
    )
    again = adjudicate(two.database, two.lin, "d", two.far, grade=1, rationale="第17条", seen=seen, now=NOW)
    assert again is None
    assert len(two.case(two.lin).decisions) == 3
    assert two.say(two.lea, 1) is not None
    assert two.case(two.lou).decisions[-1].grade == 1
