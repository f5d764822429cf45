"""Grades as far apart as they can be, decided by two leads where the dataset asks for it: blind, and both in the trail."""

import pytest
from sqlalchemy import select
from sqlmodel import col

from annotator.adjudication.service import DisagreementView, adjudicate, hand_out_cases, show_case
from annotator.domain.people import Actor
from annotator.storage.adjudication_tables import AuditEventRow, DecisionProposalRow
from annotator.storage.database import Database
from annotator.storage.tables import DatasetRow
from tests.integration.judged_world import NOW, JudgedWorld


class Two(JudgedWorld):
    """One dispute of 0 against 3, one of 0 against 2; three leads."""

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
        return show_case(self.database, actor, "d", pair or self.far, now=NOW)

    def say(
        self, actor: Actor, grade: object, *, pair: str | None = None, rationale: str = "第17条"
    ) -> object:
        """What became of it: a Decision, or None for a proposal."""
        seen = self.case(actor, pair).seen
        return adjudicate(
            self.database, actor, "d", pair or self.far, grade=grade, rationale=rationale, seen=seen, now=NOW,  # type: ignore[arg-type]
        )  # fmt: skip

    def head(self, actor: Actor) -> list[str]:
        found = hand_out_cases(self.database, actor, "d", tab=actor.username, want=4, now=NOW)
        with self.database.write() as session:
            session.connection().exec_driver_sql("DELETE FROM case_hold")
        return [case.doc_id for case in found.cases]

    def actions(self) -> list[str]:
        with self.database.read() as session:
            return list(session.scalars(select(col(AuditEventRow.action)).order_by(col(AuditEventRow.pk))))

    def proposals(self) -> int:
        with self.database.read() as session:
            return len(session.scalars(select(DecisionProposalRow)).all())


@pytest.fixture
def two(database: Database) -> Two:
    return Two(database)


def test_the_first_lead_proposes_and_the_second_who_agrees_decides(two: Two) -> None:
    assert two.say(two.lea, 3, rationale="first") is None
    mine, theirs = two.case(two.lea), two.case(two.lou)
    assert ([one.by for one in mine.proposals], theirs.proposals) == (["lea"], ())
    assert (mine.needs_second, mine.status, theirs.seen == mine.seen) == (True, "disputed", True)
    assert two.head(two.lea) == ["近い"]
    assert two.head(two.lou) == ["遠い", "近い"]
    assert two.say(two.lou, 3) is not None
    case = two.case(two.lin)
    assert (case.status, case.decided_by, case.proposals) == ("settled", ("lou",), ())
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
        assert [one.by for one in two.case(who).proposals] == ["lea", "lou"]
    assert two.case(two.lou).status == "disputed"
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
    assert [one.grade for one in two.case(two.lea).proposals] == [2]
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
    case = two.case(two.lou)
    assert ([one.outcome for one in case.decisions], case.status) == (
        ["graded", "graded", "withdrawn"],
        "disputed",
    )
    again = adjudicate(two.database, two.lin, "d", two.far, grade=1, rationale="第17条", seen=seen, now=NOW)
    assert again is None
    assert len(two.case(two.lin).decisions) == 3
    assert two.say(two.lea, 1) is not None
    assert two.case(two.lou).decisions[-1].grade == 1
