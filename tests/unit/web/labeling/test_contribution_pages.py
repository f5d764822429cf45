"""The page Questions for leads and annotators, and what the page Pool says of proposals."""

from pathlib import Path
from uuid import UUID

import pytest
from streamlit.testing.v1 import AppTest

from annotator.domain.people import Actor
from annotator.labeling.questions_service import answer_question, ask_question, list_questions
from annotator.pooling.proposals.proposals_service import propose
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from tests.contexts import GivenContext
from tests.integration.judged_world import NOW, JudgedWorld
from tests.unit.web.lead_pages import find, make_world, open_page, run, words


@pytest.fixture
def world(tmp_path: Path) -> JudgedWorld:
    database = Database(f"sqlite:///{tmp_path / 'annotator.db'}")
    upgrade_schema(database)
    return make_world(database)


def ask(world: JudgedWorld, text: str) -> int:
    return ask_question(
        world.database, find(world, "花子"), "d",
        pair=world.pair("Q1", "遠い"), text=text, event_id=str(UUID(int=1, version=4)), now=NOW,
    )  # fmt: skip


def lead(world: JudgedWorld) -> Actor:
    return find(world, "lead")


def test_without_a_question_the_page_says_how_they_come_about(world: JudgedWorld) -> None:
    assert "No questions yet." in words(open_page(world, "questions"))


def test_a_lead_reads_a_question_answers_it_and_marks_it_for_the_guideline(world: JudgedWorld) -> None:
    number = ask(world, "<b>これは</b> :red[x] ですか")
    page = open_page(world, "questions")
    shown = words(page)
    assert "&lt;b&gt;これは&lt;/b&gt; :red[x] ですか" in shown
    assert "花子 Realname asked" in shown
    assert "ハンドラキュー &lt;b&gt;🔎" in shown
    page.toggle[0].set_value(True)
    run(page)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in words(page)
    page.text_area[0].set_value("はい。")
    page.checkbox[0].set_value(True)
    run(page)
    assert [item.number for item in list_questions(world.database, lead(world), "d")] == [number]


def test_an_answer_that_cannot_be_sent_is_named_at_its_field(
    world: JudgedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(world, "?")
    reader = GivenContext(database=world.database, actor=lead(world), dataset="d", now=NOW)
    monkeypatch.setattr("annotator.web.labeling.questions_page.find_context", lambda: reader)
    page = open_page(world, "questions")
    next(button for button in page.button if button.label == "Send answer").click()
    assert '<p class="annotator-problem" role="alert">Enter some text first.' in words(run(page))


def test_a_question_on_a_pair_that_the_lead_may_be_given_is_folded(world: JudgedWorld) -> None:
    world.pair("Q1", "未", title="題")
    world.judge(find(world, "花子"), "Q1", "未", 2)
    ask_question(
        world.database, find(world, "花子"), "d",
        pair=world.pair("Q1", "未"), text="?", event_id=str(UUID(int=2, version=4)), now=NOW,
    )  # fmt: skip
    page = open_page(world, "questions")
    assert "the question may hint at a grade" in words(page)
    assert "Read the question anyway" in [item.label for item in page.expander]
    (asked,) = list_questions(world.database, lead(world), "d")
    other = world.person("lead2", "lead")
    answer_question(
        world.database, other, "d", asked.number, "It is a 2.", seen=None, in_guideline=False, now=NOW
    )
    page = open_page(world, "questions")
    folded = next(item for item in page.expander if item.label == "Read the question anyway")
    assert (
        words(page).count("It is a 2.")
        == sum("It is a 2." in str(item.proto) for item in folded.get("html"))
        == 1
    )


def test_the_pool_says_what_proposals_add(world: JudgedWorld) -> None:
    assert "Nobody has proposed a document yet." in words(open_page(world, "pool", tab="Proposals"))
    world.pair("Q2", "新しい")
    event = {"id": str(UUID(int=900, version=4)), "grade": 2}
    propose(world.database, find(world, "花子"), "d", query_id="Q1", doc_id="新しい", event=event, now=NOW)
    page = open_page(world, "pool", tab="Proposals")
    assert "Proposed by annotators" in [item.value for item in page.header]
    assert "1 document was proposed." in words(page)


def mark(value: object, wanted: bool) -> None:
    import streamlit as st

    from annotator.web.labeling.questions_page import _flag_for_guideline

    if value is not None:
        st.session_state["box"] = value
    _flag_for_guideline(7, wanted, "box")


@pytest.mark.parametrize(
    ("value", "wanted", "stored"),
    [(True, True, [True]), (False, False, [False]), (False, True, []), (True, False, []), (None, True, [])],
)
def test_a_question_is_marked_only_where_the_checkbox_says_so(
    value: bool | None, wanted: bool, stored: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A browser also reports a checkbox that is gone, with what it always said."""
    marked: list[bool] = []
    page = GivenContext(database=None, actor=None, dataset="d")
    monkeypatch.setattr("annotator.web.labeling.questions_page.find_context", lambda: page)
    monkeypatch.setattr(
        "annotator.web.labeling.questions_page.flag_for_guideline",
        lambda *_who, in_guideline: marked.append(in_guideline),
    )
    AppTest.from_function(mark, args=(value, wanted)).run()
    assert marked == stored
