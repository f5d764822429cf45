"""My work: a discussion, what was decided, an objection, as Streamlit runs the page without a browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.dataset.service import change_settings
from annotator.domain.people import OPERATOR
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from annotator.web.adjudication import my_disagreements
from tests.contexts import GivenContext
from tests.integration.judged_world import NOW, JudgedWorld
from tests.unit.web.lead_pages import find, headings, open_page, run, words

FAR = "遠い"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[JudgedWorld]:
    database = Database(f"sqlite:///{tmp_path / 'annotator.db'}")
    upgrade_schema(database)
    made = JudgedWorld(database, discuss_from="2")
    hanako, minjun = made.person("花子"), made.person("민준")
    made.person("lead", "lead")
    made.query("Q1", "ハンドラキュー <b>🔎", narrative="順序 *今*")
    made.pair("Q1", FAR, title="題", text="<script>alert(1)</script> 本文")
    made.judge(hanako, "Q1", FAR, 0, note="違う <i>")
    made.judge(minjun, "Q1", FAR, 3, note="그대로 <i>")
    yield made
    database.dispose()


@pytest.fixture(autouse=True)
def here(world: JudgedWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """Callbacks find their context as the page was given it."""
    context = GivenContext(database=world.database, actor=find(world, "花子"), dataset="d", now=NOW)
    for module in (my_disagreements, my_disagreements):
        monkeypatch.setattr(module, "find_context", lambda: context)


def test_without_a_discussion_or_a_decision_the_page_says_nothing_of_them(world: JudgedWorld) -> None:
    change_settings(world.database, OPERATOR, "d", {"discuss_from": "off"}, now=NOW)
    app = open_page(world, "work", find(world, "花子"))
    assert headings(app) == ["My work"] and app.session_state["tab"] == "Judgments"
    for tab, sentence in (("Decisions", "Nothing is decided"), ("Discussions", "No discussion is open")):
        assert sentence in words(open_page(world, "work", find(world, "花子"), tab=tab))


def test_one_stands_or_revises(world: JudgedWorld) -> None:
    app = open_page(world, "work", find(world, "花子"))
    assert app.session_state["tab"] == "Discussions"
    assert "違う &lt;i&gt;" in words(app)
    assert "그대로 &lt;i&gt;" in words(app) and "민준" not in words(app)
    choice = next(element for element in app.radio if element.label == "Your reply")
    assert [option.split(" · ")[0] for option in choice.options] == [
        "Keep 0", "Revise to 1", "Revise to 2", "Revise to 3", "Revise to cannot rate",
    ]  # fmt: skip
    choice.set_value(2)
    next(element for element in app.text_area if element.label == "Reason (optional)").set_value("第17条")
    next(element for element in app.button if element.label == "Answer").click()
    run(app)
    shown = words(app)
    assert "revised to 2" in shown and "第17条" in shown
    assert "Reply saved. A lead reads it and decides." in shown
    assert not [element for element in app.radio if element.label == "Your reply"]


def test_with_open_work_of_the_query_nothing_can_be_looked_at(world: JudgedWorld) -> None:
    world.pair("Q1", "未判定")
    app = open_page(world, "work", find(world, "花子"), tab="Discussions")
    assert "No discussion is open" in words(app) and "그대로" not in words(app)


def test_a_decision_is_shown_with_its_reason_and_objected_to_once(world: JudgedWorld) -> None:
    world.add_decision(find(world, "lead"), "Q1", FAR, 2)
    app = open_page(world, "work", find(world, "花子"))
    assert app.session_state["tab"] == "Decisions"
    shown = words(app)
    assert "Decided: 2" in shown and "Your judgment: 0" in shown and "第17条" in shown
    assert "lead Realname" not in shown and "그대로" not in shown
    send = next(element for element in app.button if element.label == "Send objection")
    send.click()
    run(app)
    assert "expected some words" in words(app)
    next(element for element in app.text_area if element.label == "Reason for the objection").set_value(
        "本文 <b> を見て"
    )
    next(element for element in app.button if element.label == "Send objection").click()
    run(app)
    assert "本文 &lt;b&gt; を見て" in words(app) and "Waiting for a lead." in words(app)
    assert not [element for element in app.button if element.label == "Send objection"]
    world.add_decision(find(world, "lead"), "Q1", FAR, 2)
    assert "see the decision above" in words(open_page(world, "work", find(world, "花子")))


def test_only_what_was_decided_otherwise_is_left_when_asked_for(world: JudgedWorld) -> None:
    world.pair("Q1", "同じ")
    for who, grade in (("花子", 1), ("민준", 2)):
        world.judge(find(world, who), "Q1", "同じ", grade)
    for doc_id, grade in ((FAR, 2), ("同じ", 1)):
        world.add_decision(find(world, "lead"), "Q1", doc_id, grade)
    app = open_page(world, "work", find(world, "花子"))
    assert "2 decisions · 1 differ from your judgment" in words(app)
    assert words(app).count("Decided: ") == 2
    app.checkbox(key=my_disagreements.DIFFERING).check()
    run(app)
    assert words(app).count("Decided: ") == 1
