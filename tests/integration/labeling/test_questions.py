"""Questions on a pair: asked by whom the pair was shown to, answered by leads, marked for the guideline."""

from typing import Any
from uuid import UUID

import pytest

from annotator.domain.errors import ConflictError, NotAllowed, NotFound, ValidationError
from annotator.domain.people import Actor
from annotator.labeling import questions_service
from annotator.labeling.questions_service import (
    answer_question,
    ask_question,
    count_new_answers,
    count_open_questions,
    flag_for_guideline,
    list_for_guideline,
    list_own_questions,
    list_questions,
    read_question_text,
)
from annotator.labeling.records import PairQuestion
from annotator.overview.service import keep_answers
from annotator.storage.database import Database
from tests.databases import CopyWorld
from tests.integration.labeling_world import World

ASKED = str(UUID(int=700, version=4))


def make_world(database: Database) -> World:
    return World(database, queries=1, documents=3)


@pytest.fixture
def world(copy_world: CopyWorld) -> World:
    return copy_world(make_world)


def ask(world: World, actor: Actor, pair: str, text: str = "これは「設定」に含まれますか 🙂") -> int:
    return ask_question(world.database, actor, "d", pair=pair, text=text, event_id=ASKED, now=world.now)


def answer(world: World, lead: Actor, number: int, text: str, *, seen: str | None = None) -> None:
    answer_question(world.database, lead, "d", number, text, seen=seen, in_guideline=False, now=world.now)


def list_own(world: World, actor: Actor, **given: Any) -> tuple[PairQuestion, ...]:
    return list_own_questions(world.database, actor, "d", now=world.now, **given).questions


def test_a_question_is_asked_on_a_pair_that_was_handed_out_or_answered(world: World) -> None:
    hanako = world.person("hanako")
    first, second = (pair.pair for pair in world.send(hanako, want=2).pairs)
    world.send(hanako, world.event(first))
    ask(world, hanako, first)
    world.later(minutes=1)
    ask(world, hanako, second, "  둘째 질문\n")
    own = list_own(world, hanako)
    assert [(item.pair, item.text, item.answer) for item in own] == [
        (second, "둘째 질문", None), (first, "これは「設定」に含まれますか 🙂", None),
    ]  # fmt: skip


def test_a_question_on_a_pair_that_was_not_shown_is_refused(world: World) -> None:
    hanako, minjun = world.person("hanako"), world.person("minjun")
    pair = world.send(hanako, want=1).pairs[0].pair
    for actor, key in ((minjun, pair), (hanako, "0" * 24)):
        with pytest.raises(NotAllowed, match="not shown"):
            ask(world, actor, key)


def test_the_same_question_sent_again_is_one_question(world: World) -> None:
    hanako = world.person("hanako")
    pair = world.send(hanako, want=1).pairs[0].pair
    assert ask(world, hanako, pair) == ask(world, hanako, pair)
    assert len(list_own(world, hanako)) == 1


@pytest.mark.parametrize("text", ["", " \n ", "x" * 5_001])
def test_what_is_no_question_is_refused(world: World, text: str) -> None:
    hanako = world.person("hanako")
    pair = world.send(hanako, want=1).pairs[0].pair
    with pytest.raises(ValidationError):
        ask(world, hanako, pair, text)


def test_what_nothing_can_store_is_replaced_in_questions_and_answers(world: World) -> None:
    hanako, lead = world.person("hanako"), world.person("lead", "lead")
    number = ask(world, hanako, world.send(hanako, want=1).pairs[0].pair, "a\x00b")
    answer(world, lead, number, "\ud800c")
    (question,) = list_own(world, hanako)
    assert (question.text, question.answer) == ("a\ufffdb", "\ufffdc")


@pytest.mark.parametrize("event_id", ["7", "00000000-0000-5000-8000-000000000001"])
def test_a_question_whose_id_is_no_random_uuid_is_refused(world: World, event_id: str) -> None:
    hanako = world.person("hanako")
    with pytest.raises(ValidationError, match="UUID of version 4"):
        ask_question(world.database, hanako, "d", pair="x", text="y", event_id=event_id, now=world.now)


def test_leads_see_what_waits_first_and_the_asker_sees_the_answer(world: World) -> None:
    hanako, lead = world.person("hanako"), world.person("lead", "lead")
    pairs = [pair.pair for pair in world.send(hanako, want=3).pairs]
    numbers = []
    for index, pair in enumerate(pairs):
        world.later(minutes=1)
        numbers.append(ask(world, hanako, pair, f"question {index}"))
    assert count_open_questions(world.database, lead, "d") == 3
    answer(world, lead, numbers[0], "はい、含まれます。")
    assert [item.number for item in list_questions(world.database, lead, "d")] == [
        numbers[1], numbers[2], numbers[0],
    ]  # fmt: skip
    assert count_open_questions(world.database, lead, "d") == 2
    own = list_own(world, hanako)[0]
    assert (own.answer, own.answered_by, own.answered_at) == ("はい、含まれます。", "lead", world.now)


def test_an_answer_is_read_when_it_was_shown_and_news_again_when_it_is_changed(world: World) -> None:
    hanako, minjun, lead = world.person("hanako"), world.person("minjun"), world.person("lead", "lead")
    first, second = (ask(world, hanako, pair.pair) for pair in world.send(hanako, want=2).pairs)
    ask(world, minjun, world.send(minjun, want=1).pairs[0].pair)
    answer(world, lead, first, "はい")
    assert [count_new_answers(world.database, who, "d") for who in (hanako, minjun, lead)] == [1, 0, 0]
    world.later(minutes=1)
    visit = world.now
    assert [(item.number, item.new) for item in list_own(world, hanako, limit=1)] == [(first, True)]
    assert count_new_answers(world.database, hanako, "d") == 0
    assert [item.new for item in list_own(world, hanako, visit=visit)] == [True, False], "while she is there"
    world.later(minutes=1)
    assert [item.number for item in list_own(world, hanako)] == [second, first], "the latest question"
    assert [item.number for item in list_own(world, hanako, limit=1, offset=1)] == [first]
    answer(world, lead, first, "いいえ", seen="はい")
    assert count_new_answers(world.database, hanako, "d") == 1
    page = list_own_questions(world.database, hanako, "d", limit=1, now=world.now)
    assert (page.total, [(item.number, item.new) for item in page.questions]) == (2, [(first, True)])


def test_a_lead_sees_query_document_and_who_asks_but_nobodys_grade(world: World) -> None:
    hanako, lead = world.person("hanako"), world.person("lead", "lead")
    pair = world.send(hanako, want=1).pairs[0]
    world.send(hanako, world.event(pair.pair, 3, note="secret note"))
    number = ask(world, hanako, pair.pair)
    listed = list_questions(world.database, lead, "d")[0]
    assert (listed.query, listed.doc_id, listed.asked_by) == (pair.query, pair.doc_id, "hanako")
    assert read_question_text(world.database, lead, "d", number) == pair.text
    assert not [name for name in type(listed).__dataclass_fields__ if "grade" in name or "outcome" in name]
    assert "secret" not in repr(listed)


def test_a_lead_who_may_still_judge_the_pair_is_told_so(world: World) -> None:
    hanako, lead = world.person("hanako"), world.person("lead", "lead")
    pair = world.send(hanako, want=1).pairs[0].pair
    ask(world, hanako, pair)
    assert list_questions(world.database, lead, "d")[0].unjudged_by_reader
    world.send(lead, world.event(pair, 1))
    assert not list_questions(world.database, lead, "d")[0].unjudged_by_reader


def test_a_lead_who_may_still_change_the_answer_is_told_so_too(world: World) -> None:
    hanako, lead = world.person("hanako"), world.person("lead", "lead")
    pair = world.send(hanako, want=1).pairs[0].pair
    ask(world, hanako, pair)
    world.send(hanako, world.event(pair, 3))
    assert pair in [handed.pair for handed in world.send(lead, want=3).pairs]
    world.send(lead, world.event(pair, 1))
    assert list_questions(world.database, lead, "d")[0].unjudged_by_reader
    keep_answers(world.database, lead, "d", now=world.now)
    assert not list_questions(world.database, lead, "d")[0].unjudged_by_reader


def test_a_question_is_answered_anew_only_over_the_answer_that_was_read(world: World) -> None:
    hanako = world.person("hanako")
    first, second = world.person("lead", "lead"), world.person("lead2", "lead")
    number = ask(world, hanako, world.send(hanako, want=1).pairs[0].pair)
    answer(world, first, number, "Yes.")
    with pytest.raises(ConflictError, match="in the meantime"):
        answer(world, second, number, "No.")
    answer(world, first, number, "Yes.")
    answer(world, second, number, "No.", seen="Yes.")
    listed = list_own(world, hanako)[0]
    assert (listed.answer, listed.answered_by) == ("No.", "lead2")


def test_marked_answers_are_listed_for_the_guideline(world: World) -> None:
    hanako, lead = world.person("hanako"), world.person("lead", "lead")
    number, other = (ask(world, hanako, pair.pair) for pair in world.send(hanako, want=2).pairs)
    flag_for_guideline(world.database, lead, "d", other, in_guideline=True)
    assert list_for_guideline(world.database, lead, "d") == []
    answer(world, lead, number, "Yes.")
    assert list_for_guideline(world.database, lead, "d") == []
    flag_for_guideline(world.database, lead, "d", number, in_guideline=True)
    assert [item.number for item in list_for_guideline(world.database, lead, "d")] == [number]


def test_annotators_see_their_own_questions_only_and_answer_none(world: World) -> None:
    hanako, minjun = world.person("hanako"), world.person("minjun")
    number = ask(world, hanako, world.send(hanako, want=1).pairs[0].pair)
    assert list_own(world, minjun) == ()
    for act in (
        lambda: list_questions(world.database, minjun, "d"),
        lambda: answer(world, minjun, number, "x"),
        lambda: read_question_text(world.database, minjun, "d", number),
        lambda: flag_for_guideline(world.database, minjun, "d", number, in_guideline=True),
        lambda: list_for_guideline(world.database, minjun, "d"),
    ):
        with pytest.raises(NotAllowed):
            act()


def test_a_question_that_is_not_there_is_refused(world: World) -> None:
    lead = world.person("lead", "lead")
    with pytest.raises(NotFound):
        answer(world, lead, 99, "x")
    with pytest.raises(NotFound):
        read_question_text(world.database, lead, "d", 99)


def test_nobody_floods_the_leads_with_questions(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each one is work for the leads, and their page lists all of them."""
    monkeypatch.setattr(questions_service, "MOST_WAITING", 2, raising=False)
    hanako, jiro, lead = world.person("hanako"), world.person("jiro"), world.person("lead", "lead")
    pair = world.send(hanako, want=1).pairs[0].pair
    first, _ = ask(world, hanako, pair, "1"), ask(world, hanako, pair, "2")
    with pytest.raises(ConflictError, match="questions wait for an answer"):
        ask(world, hanako, pair, "3")
    assert ask(world, hanako, pair, "1") == first
    ask(world, jiro, world.send(jiro, want=1).pairs[0].pair)
    answer(world, lead, first, "はい")
    ask(world, hanako, pair, "3")
    assert count_open_questions(world.database, lead, "d") == 3
