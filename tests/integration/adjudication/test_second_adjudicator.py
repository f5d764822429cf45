"""Grades as far apart as they can be, decided by two leads where the dataset asks for it: blind, and both in the audit log."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlmodel import col
from typer.testing import CliRunner

from annotator.adjudication.bulk.bulk_service import adjudicate_file, export_queue
from annotator.adjudication.decision_check import EXPORTED
from annotator.adjudication.disagreement_records import DisagreementView
from annotator.adjudication.history.history_service import (
    iterate_audit_log,
    read_audit_log,
    read_pair_history,
)
from annotator.adjudication.queue.queue_records import QueueFilter
from annotator.adjudication.queue.queue_service import list_queue
from annotator.adjudication.service import (
    adjudicate,
    hand_out_disagreements,
    show_disagreement,
)
from annotator.cli.main import app as commands
from annotator.dataset.export_service import export_dataset
from annotator.domain.errors import NotAllowed
from annotator.domain.people import Actor
from annotator.guideline.feedback_service import list_worklist
from annotator.labeling.questions_service import list_questions
from annotator.releases.service import preview_release
from annotator.storage.database import Database
from annotator.storage.tables.adjudication import AuditEventRow, DecisionProposalRow
from annotator.storage.tables.central import DatasetRow
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld
from tests.integration.lead_browser import LeadBrowser


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


SECRET = "第17条の趣旨"


def list_ways(two: Two, lead: Actor, folder: Path) -> Iterator[tuple[str, object]]:
    """Everything about decisions that a lead can read, by name."""
    database = two.database
    yield "page of the audit log", read_audit_log(database, lead, "d", now=NOW)
    yield "audit log, whole", list(iterate_audit_log(database, lead, "d", now=NOW))
    yield "history", read_pair_history(database, lead, "d", two.far, now=NOW)
    yield "disagreement", two.case(lead)
    yield "panel", hand_out_disagreements(database, lead, "d", pair=two.far, tab=lead.username, now=NOW)
    yield "queue", list_queue(database, lead, "d", QueueFilter(shown="all"), now=NOW)
    yield (
        "meeting file",
        b"".join(export_queue(database, lead, "d", QueueFilter(shown="all"), now=NOW)).decode(),
    )
    yield "lessons", list_worklist(database, lead, "d", now=NOW)
    yield "preview of a release", preview_release(database, lead, "d", now=NOW)
    yield "questions", list_questions(database, lead, "d")
    browser = LeadBrowser(database, lead)
    for path in ("/api/cases", "/api/cases/trail"):
        yield path, browser.get(path, pair=two.far, tab="t")
    command = ["trail", "d", "--as", lead.username, "--json", "--database", two.url]
    yield "command trail", CliRunner().invoke(commands, command).stdout
    command = ["trail", "d", "--as", lead.username, "--csv", str(folder / "x.csv"), "--database", two.url]
    CliRunner().invoke(commands, command)
    yield "file of the command trail", (folder / "x.csv").read_text(encoding="utf-8")


def list_leaks(two: Two, lead: Actor, folder: Path) -> list[str]:
    return [
        name
        for name, shown in list_ways(two, lead, folder)
        if SECRET in str(shown) or "proposed 3" in str(shown)
    ]


def test_no_way_shows_the_first_leads_proposal_to_a_lead_who_may_be_the_second(
    two: Two, tmp_path: Path
) -> None:
    two.say(two.lea, 3, rationale=SECRET)
    assert list_leaks(two, two.lou, tmp_path) == []
    own = list_leaks(two, two.lea, tmp_path)
    assert {"page of the audit log", "audit log, whole", "history", "disagreement", "command trail"} <= set(
        own
    )
    two.say(two.lou, 0)
    assert "history" in list_leaks(two, two.lou, tmp_path), "two who differ see each other"


def test_a_withdrawn_proposal_stays_hidden_until_the_pair_is_decided(two: Two, tmp_path: Path) -> None:
    two.say(two.lea, 3, rationale=SECRET)
    two.say(two.lea, "withdrawn", rationale="")
    assert list_leaks(two, two.lou, tmp_path) == []
    two.say(two.lou, 2)
    two.say(two.lin, 2)
    assert "history" in list_leaks(two, two.lou, tmp_path)


def test_the_withdrawal_that_a_proposal_causes_does_not_repeat_its_rationale(
    two: Two, tmp_path: Path
) -> None:
    two.say(two.lea, 1)
    two.say(two.lou, 1)
    two.say(two.lea, 3, rationale=SECRET)
    assert list_leaks(two, two.lin, tmp_path) == []
    assert two.case(two.lin).decisions[-1].outcome == "withdrawn"


def test_a_dry_run_does_not_tell_which_grade_would_settle_the_pair(two: Two) -> None:
    two.say(two.lea, 3)
    for grade in range(4):
        lines = f"query_id,doc_id,grade,rationale\nQ1,遠い,{grade},§\n".encode()
        done = adjudicate_file(two.database, two.lou, "d", lines, "x.csv", now=NOW, dry_run=True)
        assert (done.decided, done.proposed) == (0, 1)


def test_a_lead_who_downloaded_the_dataset_is_not_the_second_lead_of_what_waited(two: Two) -> None:
    two.say(two.lea, 3, rationale=SECRET)
    list(export_dataset(two.database, two.lou, "d", now=NOW))
    assert two.case(two.lou).barred == EXPORTED
    assert two.case(two.lea).barred is None
    with pytest.raises(NotAllowed):
        two.say(two.lou, 3)
    lines = "query_id,doc_id,grade,rationale\nQ1,遠い,3,§\n".encode()
    with pytest.raises(NotAllowed):
        adjudicate_file(two.database, two.lou, "d", lines, "x.csv", now=NOW)
    assert two.say(two.lou, 1, pair=two.near) is not None
    assert two.say(two.lin, 3) is not None, "a third lead has seen nothing"


def test_a_lead_who_downloaded_the_dataset_before_the_proposal_is_the_second_lead(two: Two) -> None:
    list(export_dataset(two.database, two.lou, "d", now=NOW))
    two.say(two.lea, 3)
    assert two.case(two.lou).barred is None
    assert two.say(two.lou, 3) is not None
