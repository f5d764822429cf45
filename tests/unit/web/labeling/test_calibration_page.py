"""The calibration page as Streamlit runs it, without a browser: marking, results, rates, times."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from annotator.dataset.service import show_dataset
from annotator.domain.people import OPERATOR
from annotator.labeling.calibration_service import import_checks, list_checks
from annotator.people.service import change_person
from annotator.web.dataset.words import list_fields
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld
from tests.integration.labeling.test_calibration import repeat
from tests.unit.web.lead_pages import alternatives, find, headings, make_world, open_page, run, words


@pytest.fixture
def world(copy_world: CopyWorld) -> JudgedWorld:
    return copy_world(make_world)


def choose(app: AppTest, kind: str, grade: int, explanation: str) -> AppTest:
    kinds, grades = app.radio
    kinds.set_value(kind)
    grades.set_value(grade)
    app.text_area[0].set_value(explanation)
    return run(press(app, "Mark pair"))


def press(app: AppTest, label: str) -> AppTest:
    next(button for button in app.button if button.label == label).click()
    return app


def test_without_marks_the_page_says_what_to_do_and_offers_pairs_judged_alike(world: JudgedWorld) -> None:
    app = open_page(world, "calibration")
    assert headings(app) == ["Calibration", "Mark a pair", "Check settings", "Time per pair"]
    assert "No pairs are marked yet." in words(app)
    offered = app.selectbox[0].options
    assert offered == ["Q1 · 同じ (unanimous 0)", "Q2 · 같은 (unanimous 3)"]
    assert app.radio[1].value == 0  # the settled grade is suggested
    assert "<script>" not in words(app)


def test_a_pair_is_searched_looked_at_and_marked_and_its_mark_taken_back(world: JudgedWorld) -> None:
    app = open_page(world, "calibration")
    app.text_input(key="find").set_value("遠い")
    run(app)
    assert app.selectbox[0].options == ["Q1 · 遠い (disagreement)"]
    assert "&lt;script&gt;alert(1)&lt;/script&gt; __init__" in words(app)
    run(press(app, "Mark pair"))
    assert [error.value for error in app.error] == ["Choose the right grade."]
    choose(app, "training", 3, "それが *答え*")
    lead = find(world, "lead")
    (marked,) = list_checks(world.database, lead, "d", now=NOW)
    assert (marked.doc_id, marked.kind, marked.grade) == ("遠い", "training", 3)
    assert (marked.explanation, marked.marked_by) == ("それが *答え*", "lead")
    assert [item.value for item in app.success] == ["Marked Q1 · 遠い (disagreement)."]
    assert "それが *答え*</td>" in words(app), "in a table of HTML, not on a canvas"
    back = app.selectbox(key="marked pair")
    back.set_value(marked.pair)
    run(press(app, "Remove mark"))
    assert list_checks(world.database, lead, "d", now=NOW) == []


def test_training_without_an_explanation_is_refused_with_what_was_expected(world: JudgedWorld) -> None:
    app = choose(open_page(world, "calibration"), "training", 0, " ")
    assert [error.value for error in app.error] == ["explanation\\: a training pair needs an explanation"]


def test_results_stand_by_name_in_words_with_the_figures_one_click_away(world: JudgedWorld) -> None:
    lead, hanako = find(world, "lead"), find(world, "花子")
    data = "query_id,doc_id,kind,grade,explanation\nQ1,遠い,gold,0,\nQ2,近い,training,3,x\n".encode()
    import_checks(world.database, lead, "d", data, "m.csv", now=NOW)
    world.judge(hanako, "Q1", "遠い", 2, purpose="gold")
    repeat(world, hanako, "Q1", "同じ", 0)
    change_person(world.database, OPERATOR, "花子", name="Hanako", now=NOW)
    app = open_page(world, "calibration")
    assert headings(app)[1:3] == ["Check results", "Marked pairs"]
    assert alternatives(app) == [
        "Share of judgments that are right (for repeats: the same as before): Hanako: gold 0\u00a0% of 1; Hanako: repeat 100\u00a0% of 1."
    ]
    drawn = json.loads(app.get("vega_lite_chart")[0].proto.spec)["encoding"]
    assert drawn["color"]["legend"]["columns"] == 2, "three in a row are cut on a narrow screen"
    assert drawn["x"]["axis"]["values"][-1] == 1, "the axis says where all is right"
    figures, misses = app.dataframe[0].value, app.dataframe[1].value
    assert list(figures["annotator"]) == ["Hanako", "simulated_1 Realname (simulated)"]
    assert list(figures["mean difference (+: more generous)"]) == ["+2.00", "–"]
    assert "no gold pair has been judged" in figures["undefined because"][1]
    assert list(misses["given"]) == ["2"]
    assert "simulated_1 Realname (simulated)" in words(app)  # the medians
    config = json.loads(app.get("vega_lite_chart")[0].proto.spec)["config"]
    assert config["numberFormat"] == ",.4~f", "a screen reader does not read eleven decimals"
    assert config["axis"]["labelColor"] == "currentcolor"


def test_the_rates_are_settings_of_the_dataset_under_the_labels_of_its_settings(world: JudgedWorld) -> None:
    app = open_page(world, "calibration")
    fields = {field.label: field for field in app.number_input}
    assert {label.removesuffix(" (%)") for label in fields} <= {str(field.label) for field in list_fields()}
    fields["Gold pairs (%)"].set_value(7)
    fields["Show a pair again after this many others"].set_value(12)
    fields["Training pass mark (%)"].set_value(90)
    run(press(app, "Save settings"))
    dataset, _counts = show_dataset(world.database, find(world, "lead"), "d")
    assert (dataset.gold_rate, dataset.repeat_after, dataset.training_score) == (0.07, 12, 0.9)
    assert (dataset.repeat_rate, dataset.idle_seconds) == (0, 120)
