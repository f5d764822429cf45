"""A discussion before a lead decides: who is shown what and when, what is said once, and that nothing counts it."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import event, select, update
from sqlmodel import col

from annotator.adjudication.disagreement_records import (
    OwnDiscussion,
    OwnNews,
    PairDiscussion,
    explain_wait,
)
from annotator.adjudication.discussion import discussion_service, discussion_sql
from annotator.adjudication.discussion.discussion_service import (
    ask_to_discuss,
    close_discussion,
    count_news,
    list_own_discussions,
    read_discussed_text,
    take_discussion_turn,
)
from annotator.adjudication.discussion.discussion_sql import read_discussions
from annotator.agreement.service import compute_agreement
from annotator.dataset.service import change_settings
from annotator.domain.errors import ConflictError, NotAllowed, NotFound, StateError, ValidationError
from annotator.domain.people import OPERATOR, Actor
from annotator.labeling.service import submit_judgments
from annotator.releases.gates_service import check_release
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset
from annotator.storage.pairs.pair_states import list_pair_states
from annotator.storage.tables.adjudication import AuditEventRow
from annotator.storage.tables.central import CurrentJudgmentRow, PairRow, PersonRow
from tests.integration.judged_world import NOW, JudgedWorld

LATER = NOW + timedelta(days=1)


class Talk:
    """Query Q1 with a open pair (0 against 3) and, where asked for, one more that nobody has judged."""

    def __init__(self, database: Database, *, open_pair: bool = False, **settings: str) -> None:
        self.database = database
        self.world = JudgedWorld(database, **settings)
        self.hanako, self.minjun = self.world.person("花子"), self.world.person("민준")
        self.lead = self.world.person("lead", "lead")
        self.world.query("Q1", "ハンドラキュー", category="設定")
        self.pair = self.world.pair("Q1", "遠い", title="題", text="본문 🔎")
        self.world.judge(self.hanako, "Q1", "遠い", 0, note="違う <b>")
        self.world.judge(self.minjun, "Q1", "遠い", 3, note="그대로")
        self.other = self.world.pair("Q1", "未判定") if open_pair else ""

    def ask(self, **changes: Any) -> None:
        ask_to_discuss(self.database, changes.get("actor", self.lead), "d", self.pair, now=LATER)

    def own(self, actor: Actor) -> list[OwnDiscussion]:
        return list(list_own_discussions(self.database, actor, "d", now=LATER).discussions)

    def open(self, actor: Actor) -> OwnDiscussion:
        (discussion,) = (item for item in self.own(actor) if item.pair == self.pair)
        return discussion

    def say(self, actor: Actor, decided: Any, seen: str, note: str = "") -> Any:
        return take_discussion_turn(
            self.database, actor, "d", self.pair, decided=decided, note=note, seen=seen, now=LATER
        )

    def revise(self, actor: Actor, grade: int) -> str | None:
        """Press another grade on the pair; return the code of the refusal."""
        press = {
            "id": str(uuid4()),
            "pair": self.pair,
            "outcome": "graded",
            "grade": grade,
            "pressed_at": LATER.isoformat(),
            "seconds": 1.0,
        }
        done = submit_judgments(self.database, actor, "d", events=[press], have=[], want=0, now=LATER)
        return done.refused[0].code if done.refused else None

    def state(self) -> PairDiscussion | None:
        with self.database.read() as session:
            pk = session.scalar(select(col(PairRow.pk)).where(col(PairRow.key) == self.pair))
            return read_discussions(session, find_dataset(session, "d"), [pk or 0], now=LATER).get(pk or 0)

    def disable(self, actor: Actor) -> None:
        with self.database.write() as session:
            session.execute(
                update(PersonRow).where(col(PersonRow.pk) == actor.person_id).values(disabled_at=NOW)
            )


def test_annotators_look_at_each_others_notes_and_stand_or_revise_once(database: Database) -> None:
    talk = Talk(database)
    assert talk.own(talk.hanako) == [] and talk.state() is None
    talk.ask()
    talk.ask()
    with database.read() as session:
        actions = session.scalars(select(col(AuditEventRow.action))).all()
    assert actions == ["asked to discuss"], "asking again changes nothing"
    (opened,) = talk.own(talk.hanako)
    assert (opened.own.grade, opened.own.note, opened.text_length) == (0, "違う <b>", 4)
    assert [(shown.grade, shown.note, shown.turn) for shown in opened.others] == [(3, "그대로", None)]
    assert {opened.own.letter, opened.others[0].letter} == {"A", "B"}
    turn = talk.say(talk.hanako, 2, opened.seen, "  第17条  ")
    assert (turn.grade, turn.revised, turn.note) == (2, True, "第17条")
    assert talk.say(talk.hanako, 2, opened.seen, "第17条") == turn
    for grade, note in ((1, "第17条"), (2, "第18条")):
        with pytest.raises(StateError, match="already"):
            talk.say(talk.hanako, grade, opened.seen, note)
    state = talk.state()
    assert state is not None and (state.state, state.waiting) == ("asked", {"민준": "answer"})
    seen = talk.open(talk.minjun)
    assert seen.others[0].turn is None, "the other's turn would weigh on one's own"
    assert not talk.say(talk.minjun, 3, seen.seen).revised
    (discussion,) = talk.own(talk.minjun)
    assert discussion.has_spoken and discussion.others[0].turn == turn
    state = talk.state()
    assert state is not None and (state.state, state.waiting) == ("answered", {})
    assert {name: (own_turn.grade, own_turn.revised) for name, own_turn in state.turns.items()} == {
        "花子": (2, True), "민준": (3, False),
    }  # fmt: skip


def test_nobody_is_shown_it_before_their_own_open_work_on_the_query_is_done(database: Database) -> None:
    talk = Talk(database, open_pair=True)
    talk.ask()
    assert talk.own(talk.hanako) == []
    assert count_news(database, talk.hanako, "d", now=LATER).discussions == 0
    state = talk.state()
    assert state is not None and state.waiting == {"花子": "own_work", "민준": "own_work"}
    assert explain_wait("A", "Q1", state.waiting["花子"]) == "waiting until A has finished query Q1"
    talk.world.judge(talk.hanako, "Q1", "未判定", 1)
    assert talk.open(talk.hanako).others
    state = talk.state()
    assert state is not None and state.waiting == {"花子": "answer", "민준": "own_work"}
    assert count_news(database, talk.hanako, "d", now=LATER).discussions == 1


def test_whoever_has_looked_no_longer_judges_the_pair(database: Database) -> None:
    talk = Talk(database)
    talk.ask()
    talk.open(talk.hanako)
    assert talk.revise(talk.hanako, 3) == "disclosed"
    assert talk.revise(talk.minjun, 3) is None, "who has not looked still may"
    with database.read() as session:
        grades = session.scalars(
            select(col(CurrentJudgmentRow.grade)).order_by(CurrentJudgmentRow.annotator_pk)
        )
        assert list(grades) == [0, 3]


@pytest.mark.parametrize("way", ["list", "count"])
def test_an_answer_stays_as_it_is_once_its_discussion_is_shown(database: Database, way: str) -> None:
    """Otherwise one changes it until the discussion is gone, and has the grade of the other."""
    talk = Talk(database, open_pair=True, discuss_from="1")

    def look() -> int:
        if way == "list":
            return list_own_discussions(database, talk.hanako, "d", limit=1, offset=1, now=LATER).total
        return count_news(database, talk.hanako, "d", now=LATER).discussions

    assert (look(), talk.revise(talk.hanako, 1)) == (0, None), "with open work on the query nothing is shown"
    talk.world.judge(talk.hanako, "Q1", "未判定", 1)
    assert look() == 1
    assert [talk.revise(talk.hanako, grade) for grade in (2, 3)] == ["disclosed", "disclosed"]
    assert look() == 1
    assert talk.revise(talk.minjun, 2) is None, "who was shown nothing still may"


def test_a_turn_on_judgments_that_have_changed_since_is_refused(database: Database) -> None:
    talk = Talk(database)
    talk.ask()
    opened = talk.open(talk.hanako)
    talk.world.judge(talk.minjun, "Q1", "遠い", 2)
    with pytest.raises(ConflictError, match="has been added or changed"):
        talk.say(talk.hanako, 0, opened.seen)
    assert talk.own(talk.hanako)[0].others[0].grade == 2
    talk.say(talk.hanako, 0, talk.own(talk.hanako)[0].seen)


def test_nothing_is_said_any_more_once_a_lead_has_closed_or_decided_it(database: Database) -> None:
    talk = Talk(database)
    talk.ask()
    hanako_view, minjun_view = talk.open(talk.hanako), talk.open(talk.minjun)
    close_discussion(database, talk.lead, "d", talk.pair, now=LATER)
    with pytest.raises(StateError, match="a lead has decided it or closed the discussion"):
        talk.say(talk.hanako, 0, hanako_view.seen)
    talk.ask()
    talk.world.add_decision(talk.lead, "Q1", "遠い", 2)
    with pytest.raises(StateError, match="a lead has decided it or closed the discussion"):
        talk.say(talk.minjun, 3, minjun_view.seen)
    state = talk.state()
    assert state is None or not state.turns


def test_a_pair_that_came_since_is_judged_before_anything_is_said(database: Database) -> None:
    talk = Talk(database)
    talk.ask()
    seen = talk.open(talk.hanako).seen
    talk.world.pair("Q1", "新しい")
    with pytest.raises(StateError, match="Judge your remaining pairs of query Q1 first"):
        talk.say(talk.hanako, 0, seen)
    talk.world.judge(talk.hanako, "Q1", "新しい", 1)
    assert not talk.say(talk.hanako, 0, seen).revised


def test_a_pair_that_left_the_pool_is_not_discussed(database: Database) -> None:
    talk = Talk(database)
    talk.ask()
    with database.write() as session:
        session.execute(update(PairRow).where(col(PairRow.key) == talk.pair).values(retired_at=LATER))
    with pytest.raises(NotFound):
        talk.ask()


def test_words_that_cannot_be_stored_and_a_turn_before_looking_are_refused(database: Database) -> None:
    talk = Talk(database)
    talk.ask()
    with pytest.raises(StateError, match="First look at the judgments of the others"):
        talk.say(talk.hanako, 0, "")
    seen = talk.open(talk.hanako).seen
    for note, decided in (("x" * 10_001, 0), ("", 4), ("", True)):
        with pytest.raises(ValidationError):
            talk.say(talk.hanako, decided, seen, note)
    assert talk.state() is not None and not talk.own(talk.hanako)[0].has_spoken


def test_somebody_who_did_not_judge_the_pair_sees_and_says_nothing(database: Database) -> None:
    talk = Talk(database)
    talk.ask()
    late = talk.world.person("late")
    talk.world.judge(late, "Q1", "遠い", None, outcome="later")
    for stranger in (talk.world.person("other"), late, talk.lead):
        assert talk.own(stranger) == []
        with pytest.raises(NotAllowed, match="You have not judged this pair"):
            talk.say(stranger, 1, "")
        with pytest.raises(NotAllowed):
            read_discussed_text(database, stranger, "d", talk.pair)
    assert read_discussed_text(database, talk.hanako, "d", talk.pair) == "본문 🔎"
    with pytest.raises(NotAllowed):
        talk.ask(actor=talk.hanako)
    with pytest.raises(NotFound):
        ask_to_discuss(database, talk.lead, "d", "nothing", now=LATER)


def test_a_pair_with_one_annotator_or_one_who_is_gone_is_answered_with_why(database: Database) -> None:
    talk = Talk(database)
    talk.disable(talk.minjun)
    with pytest.raises(StateError, match="Fewer than two annotators of this pair can be asked"):
        talk.ask()
    talk.pair = talk.world.pair("Q1", "一人")
    talk.world.judge(talk.hanako, "Q1", "一人", 1)
    with pytest.raises(StateError, match="You may still judge this pair"):
        talk.ask()
    talk.world.judge(talk.minjun, "Q1", "一人", 1)
    with pytest.raises(StateError, match="not waiting for a decision"):
        talk.ask()


def test_one_who_is_disabled_meanwhile_is_not_waited_for(database: Database) -> None:
    talk = Talk(database)
    talk.ask()
    talk.disable(talk.minjun)
    state = talk.state()
    assert state is not None and state.waiting == {"花子": "answer", "민준": "gone"}
    assert explain_wait("B", "Q1", "gone") == "B can no longer be asked"
    talk.say(talk.hanako, 0, talk.open(talk.hanako).seen)
    state = talk.state()
    assert state is not None and state.state == "answered"


def test_a_dataset_asks_by_itself_from_its_distance_on_until_a_lead_closes_or_decides(
    database: Database,
) -> None:
    talk = Talk(database, discuss_from="3")
    near = talk.world.pair("Q1", "近い")
    talk.world.judge(talk.hanako, "Q1", "近い", 2)
    talk.world.judge(talk.minjun, "Q1", "近い", 3)
    assert [discussion.pair for discussion in talk.own(talk.hanako)] == [talk.pair]
    state = talk.state()
    assert state is not None and state.state == "asked"
    change_settings(database, OPERATOR, "d", {"discuss_from": "1"}, now=LATER)
    assert {discussion.pair for discussion in talk.own(talk.hanako)} == {talk.pair, near}
    close_discussion(database, talk.lead, "d", talk.pair, now=LATER)
    close_discussion(database, talk.lead, "d", talk.pair, now=LATER)
    assert [discussion.pair for discussion in talk.own(talk.hanako)] == [near]
    state = talk.state()
    assert state is not None and state.state == "closed"
    talk.ask()
    assert len(talk.own(talk.hanako)) == 2
    talk.world.add_decision(talk.lead, "Q1", "近い", 2)
    assert [discussion.pair for discussion in talk.own(talk.minjun)] == [talk.pair]
    with database.read() as session:
        actions = session.scalars(select(col(AuditEventRow.action)).order_by(col(AuditEventRow.pk)))
        assert list(actions) == ["changed settings", "closed discussion", "asked to discuss"]


def test_neither_agreement_nor_a_release_counts_what_is_said(database: Database) -> None:
    talk = Talk(database)
    for number in range(4):
        talk.world.pair("Q1", f"d{number}")
        talk.world.judge(talk.hanako, "Q1", f"d{number}", number)
        talk.world.judge(talk.minjun, "Q1", f"d{number}", min(3, number + number % 2))
    talk.ask()
    before = _count(talk)
    talk.say(talk.hanako, 3, talk.open(talk.hanako).seen)
    talk.say(talk.minjun, "unrateable", talk.open(talk.minjun).seen)
    assert _count(talk) == before


def _count(talk: Talk) -> str:
    """All that a release, the gates and quality control go by, and the report of agreement to the last digit."""
    with talk.database.read() as session:
        states = list_pair_states(session, talk.world.dataset_pk)
    gates = check_release(talk.database, OPERATOR, "d").gates
    return repr((compute_agreement(talk.database, OPERATOR, "d"), states, gates))


def test_without_any_discussion_looking_for_one_is_one_read(database: Database) -> None:
    talk = Talk(database)
    statements: list[str] = []
    event.listen(
        database.engine, "before_cursor_execute", lambda *arguments: statements.append(str(arguments[2]))
    )
    assert talk.own(talk.hanako) == []
    about_pairs = [
        statement for statement in statements if "judgment" in statement or "discussion" in statement
    ]
    assert len(about_pairs) == 1


@pytest.mark.parametrize("few", [0, 5_000])
def test_what_waits_for_an_annotator_stands_before_what_they_have_said(
    database: Database, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    """However many discussions they have spoken in and no lead has ended; and however their pairs are looked up."""
    talk = Talk(database, discuss_from="3")
    talk.world.pair("Q1", "近い")
    later = talk.world.pair("Q1", "後で")
    for doc_id, grade in (("近い", 2), ("後で", 3)):
        talk.world.judge(talk.hanako, "Q1", doc_id, 0)
        talk.world.judge(talk.minjun, "Q1", doc_id, grade)
    talk.say(talk.hanako, 3, talk.open(talk.hanako).seen)
    monkeypatch.setattr(discussion_sql, "FEW", few)
    monkeypatch.setattr(discussion_service, "MOST_NEWS", 1)
    assert [discussion.pair for discussion in talk.own(talk.hanako)] == [later, talk.pair]
    assert count_news(database, talk.hanako, "d", now=LATER).discussions == 1
    first, second = (
        list_own_discussions(database, talk.hanako, "d", limit=1, offset=offset, now=LATER)
        for offset in (0, 1)
    )
    assert (first.total, [discussion.pair for discussion in first.discussions]) == (2, [later])
    assert (second.total, [discussion.pair for discussion in second.discussions]) == (2, [talk.pair])
    assert list_own_discussions(database, talk.hanako, "d", offset=2, now=LATER).discussions == ()
    talk.pair = later
    talk.say(talk.hanako, 3, talk.open(talk.hanako).seen)
    assert count_news(database, talk.hanako, "d", now=LATER).discussions == 0


def test_a_page_of_discussions_takes_as_many_reads_for_five_as_for_one(database: Database) -> None:
    talk = Talk(database, discuss_from="3")
    for number in range(6):
        talk.world.pair("Q1", f"更に/{number}", title="題", text="# 題\n最初の文。" + "続き" * 300)
        talk.world.judge(talk.hanako, "Q1", f"更に/{number}", 0)
        talk.world.judge(talk.minjun, "Q1", f"更に/{number}", 3)
    assert len(talk.own(talk.hanako)) == 7, "recorded as seen from now on"
    statements: list[str] = []
    event.listen(
        database.engine, "before_cursor_execute", lambda *arguments: statements.append(str(arguments[2]))
    )
    reads = []
    for limit in (1, 5):
        statements.clear()
        page = list_own_discussions(database, talk.hanako, "d", limit=limit, now=LATER)
        assert (page.total, len(page.discussions)) == (7, limit)
        reads.append(len(statements))
    assert reads[0] == reads[1]
    assert page.discussions[1].excerpt.startswith("最初の文。続き")
    assert page.discussions[1].excerpt.endswith("…")


def test_for_a_lead_who_judged_nothing_news_are_looked_for_in_one_read(database: Database) -> None:
    talk = Talk(database, discuss_from="3")
    statements: list[str] = []
    event.listen(
        database.engine, "before_cursor_execute", lambda *arguments: statements.append(str(arguments[2]))
    )
    assert count_news(database, talk.lead, "d", now=LATER) == OwnNews(0, 0)
    assert (
        len([statement for statement in statements if "judgment" in statement or "dispute" in statement]) == 1
    )
