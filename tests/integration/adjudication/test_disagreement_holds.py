"""Who is handed which disagreement next: holds, what was put off, what was given away, and what counts as seen."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select
from sqlmodel import col

from annotator.adjudication.discussion.discussion_service import (
    close_discussion,
    list_own_discussions,
    take_discussion_turn,
)
from annotator.adjudication.queue.queue_records import QueueFilter
from annotator.adjudication.queue.queue_service import list_queue
from annotator.adjudication.service import (
    adjudicate,
    assign_disagreement,
    hand_out_disagreements,
    let_go_disagreements,
    put_off_disagreement,
    show_disagreement,
)
from annotator.domain.errors import NotAllowed, ValidationError
from annotator.domain.people import OPERATOR
from annotator.people.service import disable_person
from annotator.storage.database import Database
from annotator.storage.tables.adjudication import DiscussionRow, DiscussionTurnRow
from annotator.storage.tables.central import MembershipRow, PairRow, PersonRow
from tests.databases import CopyWorld
from tests.integration.decision_world import DOCUMENTS, DecisionWorld
from tests.integration.judged_world import NOW


@pytest.fixture
def desk(copy_world: CopyWorld) -> DecisionWorld:
    return copy_world(DecisionWorld)


def test_two_leads_are_never_handed_the_same_pair_while_one_holds_it(desk: DecisionWorld) -> None:
    assert desk.ask(desk.lea, 2) == ["甲", "乙"]
    assert desk.ask(desk.lou, 3) == ["丙", "丁"]
    assert desk.ask(desk.lou, 1, pair="甲") == ["甲"]
    taken = hand_out_disagreements(
        desk.database, desk.lou, "d", pair=desk.keys["甲"], tab="t", want=0, now=NOW
    ).disagreements[0]
    reopened = hand_out_disagreements(
        desk.database, desk.lea, "d", pair=desk.keys["甲"], tab="t1", want=0, now=NOW
    ).disagreements[0]
    assert (taken.status.held_by, reopened.status.held_by) == ("lea", None)
    for lead, shown in ((desk.lea, {"lou"}), (desk.lou, {"lea"})):  # what one holds oneself is not taken
        rows = list_queue(desk.database, lead, "d", QueueFilter(), now=NOW).items
        assert {row.held_by for row in rows} == {*shown, None}
    assert adjudicate(
        desk.database, desk.lou, "d", taken.pair, grade=1, rationale="w", seen=taken.seen, now=NOW
    )


def test_a_hold_runs_out_after_five_minutes_unless_it_is_renewed(desk: DecisionWorld) -> None:
    assert desk.ask(desk.lea, 2) == ["甲", "乙"]
    assert desk.ask(desk.lea, 0, have=("乙",), now=NOW + timedelta(minutes=4)) == []
    later = NOW + timedelta(minutes=5)
    assert desk.ask(desk.lou, 2, now=later) == ["甲", "丙"]
    assert desk.ask(desk.lou, 3, tab="t2", now=NOW + timedelta(minutes=9)) == ["乙", "丁", "甲"]


def test_what_another_tab_of_the_same_lead_has_comes_last(desk: DecisionWorld) -> None:
    assert desk.ask(desk.lea, 3) == ["甲", "乙", "丙"]
    assert desk.ask(desk.lea, 2, tab="t2") == ["丁", "甲"]
    let_go_disagreements(desk.database, desk.lea, "d", [desk.keys["乙"]], tab="t1", now=NOW)
    let_go_disagreements(desk.database, desk.lea, "d", [desk.keys["丙"]], tab="t2", now=NOW)
    assert desk.ask(desk.lou, 4) == ["乙"]


def test_what_a_lead_puts_off_comes_last_for_them_and_in_its_place_for_others(desk: DecisionWorld) -> None:
    assert desk.ask(desk.lea, 1) == ["甲"]
    put_off_disagreement(desk.database, desk.lea, "d", desk.keys["甲"], now=NOW)
    assert desk.ask(desk.lou, 1) == ["甲"]
    let_go_disagreements(desk.database, desk.lou, "d", [desk.keys["甲"]], tab="t1", now=NOW)
    assert desk.ask(desk.lea, 4) == ["乙", "丙", "丁", "甲"]
    assert desk.events() == [("set to later", None, None)]


def test_a_pair_given_to_a_lead_is_handed_to_nobody_else_until_it_is_taken_back(desk: DecisionWorld) -> None:
    give = lambda to: assign_disagreement(desk.database, desk.lea, "d", desk.keys["甲"], to=to, now=NOW)  # noqa: E731
    give("lou")
    give("lou")
    assert desk.ask(desk.lea, 1) == ["乙"]
    assert desk.ask(desk.lou, 1) == ["甲"]
    assert desk.ask(desk.lou, 4, wanted=QueueFilter(assigned="lou"), tab="t1") == ["甲"]
    let_go_disagreements(desk.database, desk.lou, "d", [desk.keys["甲"]], tab="t1", now=NOW)
    assert desk.ask(desk.lea, 4, wanted=QueueFilter(assigned="lou")) == ["甲"], "who asks for it gets it"
    give(None)
    assert desk.events() == [
        ("assigned", {"to": None}, {"to": "lou"}),
        ("assigned", {"to": "lou"}, {"to": None}),
    ]
    for nobody in ("花子", "nobody", "\N{FACE WITH TEARS OF JOY}"):
        with pytest.raises(ValidationError, match="not a lead of this dataset"):
            give(nobody)


def test_what_was_given_to_a_lead_who_has_left_is_everybodys_again(desk: DecisionWorld) -> None:
    assign_disagreement(desk.database, desk.lea, "d", desk.keys["甲"], to="lou", now=NOW)
    with desk.database.write() as session:
        lou = session.get_one(PersonRow, desk.lou.person_id)
        lou.disabled_at = NOW
        session.add(lou)
    assert desk.ask(desk.lea, 1) == ["甲"]
    with pytest.raises(NotAllowed):
        desk.ask(desk.lou, 1)
    with pytest.raises(ValidationError, match="not a lead"):
        assign_disagreement(desk.database, desk.lea, "d", desk.keys["乙"], to="lou", now=NOW)


@pytest.mark.parametrize(("role", "everywhere"), [("admin", False), ("lead", True)])
def test_what_was_given_to_an_admin_or_a_lead_of_all_datasets_is_theirs(
    desk: DecisionWorld, role: str, everywhere: bool
) -> None:
    other = desk.person("other", role)
    if everywhere:
        with desk.database.write() as session:
            held = session.scalars(
                select(MembershipRow).where(col(MembershipRow.person_pk) == other.person_id)
            )
            held.one().dataset_pk = None
    assign_disagreement(desk.database, desk.lea, "d", desk.keys["甲"], to="other", now=NOW)
    assert desk.ask(desk.lea, 4) == ["乙", "丙", "丁"]
    assert desk.ask(other, 4) == ["甲"]


def test_a_pair_whose_annotators_are_to_discuss_it_comes_last(desk: DecisionWorld) -> None:
    with desk.database.write() as session:
        pk = session.scalars(select(col(PairRow.pk)).where(col(PairRow.key) == desk.keys["甲"])).one()
        session.add(DiscussionRow(pair_pk=pk, asked_by_pk=desk.lou.person_id or 0, asked_at=NOW))
    assert desk.ask(desk.lea, 4) == ["乙", "丙", "丁", "甲"]
    for message, first in ((desk.hanako, "乙"), (desk.minjun, "甲")):
        turn = {
            "pair_pk": pk,
            "annotator_pk": message.person_id,
            "outcome": "graded",
            "grade": 1,
            "revised": True,
            "said_at": NOW,
        }
        with desk.database.write() as session:
            session.add(DiscussionTurnRow.model_validate(turn))
        assert desk.ask(desk.lea, 4)[0] == first, "in its place again once all of them have spoken"


def test_pairs_that_the_dataset_asks_to_discuss_by_itself_come_last_until_nobody_is_waited_for(
    database: Database,
) -> None:
    desk = DecisionWorld(database, discuss_from="2")
    desk.pair("Q1", "近い")
    desk.judge(desk.hanako, "Q1", "近い", 2)
    desk.judge(desk.minjun, "Q1", "近い", 3)
    assert desk.ask(desk.lea, 5) == ["近い", *DOCUMENTS]
    close_discussion(database, desk.lea, "d", desk.keys["乙"], now=NOW)
    assert desk.ask(desk.lea, 2) == ["乙", "近い"]
    listed = list_own_discussions(database, desk.hanako, "d", now=NOW).discussions
    seen = next(item.seen for item in listed if item.pair == desk.keys["丙"])
    take_discussion_turn(database, desk.hanako, "d", desk.keys["丙"], decided=0, note="", seen=seen, now=NOW)
    assert desk.ask(desk.lea, 2) == ["乙", "近い"], "the other has not spoken"
    disable_person(database, OPERATOR, "민준", now=NOW)
    assert desk.ask(desk.lea, 5) == ["乙", "丙", "近い", "甲", "丁"]
    disable_person(database, OPERATOR, "花子", now=NOW)
    assert desk.ask(desk.lea, 5) == [*DOCUMENTS, "近い"], "nobody is left to discuss anything"


def test_a_pair_whose_discussion_was_closed_comes_in_its_place(desk: DecisionWorld) -> None:
    with desk.database.write() as session:
        pk = session.scalars(select(col(PairRow.pk)).where(col(PairRow.key) == desk.keys["甲"])).one()
        row = DiscussionRow(pair_pk=pk, asked_by_pk=desk.lou.person_id or 0, asked_at=NOW, closed_at=NOW)
        session.add(row)
    assert desk.ask(desk.lea, 1) == ["甲"]


def test_a_pair_that_its_lead_may_still_judge_is_handed_out_only_by_its_name(desk: DecisionWorld) -> None:
    desk.set_lacking("甲", 1)
    desk.set_lacking("乙", 1)
    assert desk.ask(desk.lea, 3) == ["丙", "丁"]
    assert desk.ask(desk.lea, 1, have=("丙", "丁")) == []
    far = QueueFilter(distance=3, query_id="Q1")
    assert desk.ask(desk.lea, 1, have=("丙", "丁"), wanted=far) == [], "an empty answer tells nothing of them"
    assert desk.seen_by(desk.lea) == 2
    assert desk.ask(desk.lea, pair="甲") == ["甲"]
    assert desk.ask(desk.lea, 3, have=("丙", "丁")) == ["甲"], "seen before, so nothing is lost"
    assert desk.seen_by(desk.lea) == 3


def test_a_pair_that_its_lead_is_to_check_for_quality_is_not_kept_ready_for_them(desk: DecisionWorld) -> None:
    desk.draw_for(desk.lea, "乙", settled=2)
    assert desk.ask(desk.lea, 3) == ["甲", "丙", "丁"]
    assert desk.ask(desk.lou, 2, have=("甲",)) == ["乙"], "kept ready for a lead who is not to check it"


def test_who_put_a_pair_off_as_an_annotator_did_not_judge_it_and_may_decide(desk: DecisionWorld) -> None:
    desk.judge(desk.lea, "Q1", "甲", None, outcome="later")
    desk.judge(desk.lou, "Q1", "乙", 1)
    assert desk.ask(desk.lea, 1) == ["甲"]
    let_go_disagreements(desk.database, desk.lea, "d", [desk.keys["甲"]], tab="t1", now=NOW)
    assert desk.ask(desk.lou, 4) == ["甲", "丙", "丁"]


def test_a_pair_that_a_lead_may_still_have_to_judge_is_not_among_the_neighbours(
    desk: DecisionWorld,
) -> None:
    desk.keys["戊"] = desk.pair("Q1", "戊")
    desk.judge(desk.hanako, "Q1", "戊", 2)
    disagreement = show_disagreement(desk.database, desk.lea, "d", desk.keys["甲"], now=NOW)
    assert "戊" not in [neighbour.doc_id for neighbour in disagreement.neighbours]
    desk.judge(desk.minjun, "Q1", "戊", 0)
    desk.set_lacking("戊", 1)
    disagreement = show_disagreement(desk.database, desk.lea, "d", desk.keys["甲"], now=NOW)
    assert "戊" not in [item.doc_id for item in disagreement.neighbours], "that its grades differ tells one"
    desk.judge(desk.minjun, "Q1", "戊", 2)
    disagreement = show_disagreement(desk.database, desk.lea, "d", desk.keys["甲"], now=NOW)
    (settled,) = [neighbour for neighbour in disagreement.neighbours if neighbour.doc_id == "戊"]
    assert (settled.stage, settled.grade) == ("agreed", 2)


def test_a_decided_pair_is_let_go_of_everywhere(desk: DecisionWorld) -> None:
    assign_disagreement(desk.database, desk.lea, "d", desk.keys["甲"], to="lea", now=NOW)
    put_off_disagreement(desk.database, desk.lou, "d", desk.keys["甲"], now=NOW)
    batch = hand_out_disagreements(
        desk.database, desk.lea, "d", pair=desk.keys["甲"], tab="t1", want=1, now=NOW
    ).disagreements[0]
    assert batch.status.assigned_to == "lea"
    adjudicate(desk.database, desk.lea, "d", batch.pair, grade=3, rationale="w", seen=batch.seen, now=NOW)
    again = show_disagreement(desk.database, desk.lou, "d", batch.pair, now=NOW)
    assert (again.status.assigned_to, again.status.held_by, again.progress.stage) == (None, None, "settled")
    assert desk.ask(desk.lou, 4) == ["乙", "丙", "丁"]
    for shown in ("open", "all", "decided"):  # what is left to decide is open, whatever else the page shows
        wanted = QueueFilter(shown=shown)
        assert hand_out_disagreements(desk.database, desk.lou, "d", wanted, want=0, now=NOW).left == 3


def test_nothing_is_handed_out_twice_when_leads_ask_at_the_same_moment(desk: DecisionWorld) -> None:
    import threading

    handed_out: list[str] = []
    people = [desk.lea, desk.lou, desk.person("lin", "lead"), desk.person("liv", "lead")]
    threads = [threading.Thread(target=lambda who=who: handed_out.extend(desk.ask(who, 1))) for who in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(handed_out) == sorted(DOCUMENTS)


def test_the_first_and_the_last_year_are_times_like_others_and_the_operator_holds_nothing(
    desk: DecisionWorld,
) -> None:
    first = datetime(1, 1, 1, tzinfo=UTC)
    assert desk.ask(desk.lea, 1, now=first) == ["甲"]
    assert desk.ask(OPERATOR, 4, now=NOW) == list(DOCUMENTS)
    assert desk.ask(desk.lou, 1, now=datetime(9999, 12, 31, tzinfo=UTC)) == ["甲"]
