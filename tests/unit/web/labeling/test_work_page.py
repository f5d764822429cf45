"""My work as Streamlit runs it, without a browser: the own answers, the pace, the checks, the questions."""

import pytest
from sqlalchemy import delete, update
from sqlmodel import col

from annotator.labeling.calibration_service import import_checks
from annotator.storage.tables.labeling import QuestionRow, SeenAnswerRow
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld
from tests.integration.labeling.test_calibration import repeat
from tests.unit.web.lead_pages import find, headings, make_world, open_page, run, words


@pytest.fixture
def world(copy_world: CopyWorld) -> JudgedWorld:
    return copy_world(make_world)


def test_the_page_shows_the_own_answers_only_with_a_way_to_change_them(world: JudgedWorld) -> None:
    world.judge(find(world, "simulated_1"), "Q1", "遠い", 1, note="nobody's business")
    app = open_page(world, "work", find(world, "花子"))
    assert headings(app) == ["My work"] and [tab.label for tab in app.tabs] == [
        "Decisions", "Discussions", "Questions", "Judgments", "Consistency",
    ]  # fmt: skip
    shown = words(app)
    assert "You have judged 4 pairs. 0 pairs left." in shown
    assert "4 judgments, newest first." in shown
    assert "ノート &lt;i&gt;遠い" in shown and "nobody's business" not in shown
    assert "ハンドラキュー &lt;b&gt;🔎" in shown
    assert shown.count("/label?dataset=d&amp;pair=") == 4
    assert "Some pairs are checks" in words(open_page(world, "work", find(world, "花子"), tab="Consistency"))


def test_answers_are_filtered_and_turned_page_by_page(world: JudgedWorld) -> None:
    app = open_page(world, "work", find(world, "花子"))
    app.text_input(key="words").set_value("검색")
    run(app)
    assert "2 judgments, newest first." in words(app)
    app.selectbox(key="answer").set_value("3")
    run(app)
    assert "1 judgment, newest first." in words(app)
    app.selectbox(key="category").set_value("設定")
    run(app)
    assert "No judgments match." in words(app)


def test_more_than_a_page_is_turned(world: JudgedWorld) -> None:
    ann = world.person("ann")
    for number in range(23):
        world.pair("Q1", f"more/{number}")
        world.judge(ann, "Q1", f"more/{number}", number % 4)
    world.pair("Q2", "left")
    app = open_page(world, "work", ann)
    assert "1–10 of 23" in words(app)
    assert "more/22" in words(app) and "more/2<" not in words(app)
    next(button for button in app.button if button.label == "Next").click()
    run(app)
    assert "11–20 of 23" in words(app) and app.query_params["from"] == "10"
    next(button for button in app.button if button.label == "Next").click()
    run(app)
    assert "more/0" in words(app) and "more/22" not in words(app)
    assert "21–23 of 23" in words(open_page(world, "work", ann, **{"from": "4000"})), "the last part"
    pace = "At your pace, this takes about 1 minute (2.5 seconds per pair, the median of your last 23 judgments)."
    assert pace in words(app)


def test_an_empty_page_leads_to_labeling(world: JudgedWorld) -> None:
    app = open_page(world, "work", world.person("new"))
    assert "You have judged 0 pairs." in words(app)
    assert [(item.proto.page, item.proto.query_string) for item in app.get("page_link")] == [
        ("label", "dataset=d")
    ]
    assert "You have not judged any pair yet." in words(app) and not app.text_input, "nothing to filter"


def test_training_and_consistency_are_ones_own_and_gold_is_not_told(world: JudgedWorld) -> None:
    lead, hanako = find(world, "lead"), find(world, "花子")
    data = "query_id,doc_id,kind,grade,explanation\nQ1,遠い,gold,0,secret\nQ2,近い,training,3,x\n".encode()
    import_checks(world.database, lead, "d", data, "m.csv", now=NOW)
    world.judge(hanako, "Q2", "近い", 3, purpose="training")
    repeat(world, hanako, "Q1", "同じ", 1)
    shown = words(open_page(world, "work", hanako, tab="Consistency"))
    assert "Training: 100 % right so far (1 of 1 judged). You need 80 % of 1." in shown
    assert (
        "You judged 1 pair a second time: 0 % the same as before, with a mean difference of 1.00 grades."
        in shown
    )
    assert "gold" not in shown and "secret" not in shown
    assert "cannot be computed: no pair has been judged a second time" in words(
        open_page(world, "work", find(world, "simulated_1"), tab="Consistency")
    )


def test_questions_stand_with_their_answers(world: JudgedWorld) -> None:
    hanako = find(world, "花子")
    with world.database.write() as session:
        row = {"pair_pk": 1, "annotator_pk": hanako.person_id, "asked_at": NOW}
        session.add(QuestionRow.model_validate({**row, "text": "第17条 <b>とは?", "answer": "はい & 예"}))
        session.add(QuestionRow.model_validate({**row, "text": "second"}))
        session.flush()
        session.execute(
            update(QuestionRow).where(col(QuestionRow.answer).is_not(None)).values(answered_at=NOW)
        )
    app = open_page(world, "work", hanako)
    shown = words(app)
    assert app.session_state["tab"] == "Questions", "what is new is opened"
    assert not [button for button in app.button if str(button.key).startswith("news")]
    assert "第17条 &lt;b&gt;とは?" in shown and "はい &amp; 예" in shown and "1 new answer" not in shown
    assert "Waiting for an answer." in shown and shown.count(">New</span>") == 1
    assert "題 同じ" in shown and "annotator-excerpt" in shown
    with world.database.write() as session:
        session.execute(delete(SeenAnswerRow))
    addressed = open_page(world, "work", hanako, tab="Questions")
    assert not [button for button in addressed.button if str(button.key).startswith("news")], "it is open"
    with world.database.write() as session:
        session.execute(update(SeenAnswerRow).values(seen_at=NOW))
    app = open_page(world, "work", hanako, tab="Questions")
    assert "はい &amp; 예" in words(app) and ">New</span>" not in words(app), "it was read"
