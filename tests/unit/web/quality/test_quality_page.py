"""The quality page as Streamlit runs it, without a browser: what to do first, drawing, blindness, errors, the rule."""

from dataclasses import replace

import pytest
from sqlalchemy import update
from sqlmodel import col
from streamlit.testing.v1 import AppTest

from annotator.dataset.service import show_dataset
from annotator.domain.people import OPERATOR, Actor
from annotator.overview.service import keep_answers
from annotator.people.service import change_person
from annotator.quality.service import draw_sample, show_quality
from annotator.storage.database import Database
from annotator.storage.pairs.pool import pair_key
from annotator.storage.tables.central import PairRow, PersonRow
from tests.contexts import GivenContext
from tests.databases import CopyWorld
from tests.integration.judged_world import NOW, JudgedWorld
from tests.integration.labeling_world import hand_out
from tests.unit.web.lead_pages import alternatives, find, headings, links, make_world, open_page, run, words

DOCUMENTS = [f"章 {number}.md" for number in range(8)]


def make_checked(database: Database) -> JudgedWorld:
    """Ten settled pairs, of which the lead has judged none; and two that wait for a decision."""
    made = make_world(database)
    with made.at_once():
        for number, doc_id in enumerate(DOCUMENTS):
            made.pair("Q2", doc_id)
            for annotator in ("花子", "simulated_1"):
                made.judge(find(made, annotator), "Q2", doc_id, number % 4)
    with database.write() as session:
        session.execute(update(PersonRow).values(password_hash="x"))  # everybody can sign in
    return made


@pytest.fixture
def world(copy_world: CopyWorld) -> JudgedWorld:
    return copy_world(make_checked)


@pytest.fixture(autouse=True)
def _signed_in(world: JudgedWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    context = GivenContext(database=world.database, actor=find(world, "lead"), now=NOW)
    for name in ("find_context", "require_context"):
        monkeypatch.setattr("annotator.web.quality.form." + name, lambda: context)


def press(app: AppTest, label: str) -> AppTest:
    next(button for button in app.button if button.label == label).click()
    return run(app)


def draw_for(world: JudgedWorld, who: Actor) -> None:
    draw_sample(world.database, find(world, "lead"), "d", annotator=who.username, rate=1, now=NOW)


def check(world: JudgedWorld, who: Actor, doc_id: str, grade: int) -> None:
    """The answer as the panel hands it in."""
    from annotator.labeling.service import submit_judgments

    event = {
        "id": f"00000000-0000-4000-8000-{abs(hash(doc_id)) % 10**12:012d}", "pair": pair_key("d", "Q2", doc_id),
        "outcome": "graded", "grade": grade, "seconds": 3, "pressed_at": NOW.isoformat(),
    }  # fmt: skip
    hand_out(world.database, who, [event["pair"]], now=NOW)
    done = submit_judgments(world.database, who, "d", events=[event], have=[], want=1, now=NOW)
    assert not done.refused


def test_without_a_settled_pair_the_page_says_what_comes_first(world: JudgedWorld) -> None:
    made = JudgedWorld(world.database, name="empty")
    change_person(world.database, OPERATOR, "lead", role="lead", dataset="empty", now=NOW)
    app = open_page(made, "quality", dataset="empty")
    assert "No pair is settled yet" in words(app)
    assert "Draw some" not in words(app)
    assert ("overview", "dataset=empty") in links(app)
    assert not app.button


def test_before_the_first_draw_the_form_is_open_and_stores_nothing(world: JudgedWorld) -> None:
    app = open_page(world, "quality")
    assert headings(app) == ["Quality control", "Draw a sample"]
    assert "No sample has been drawn yet" in words(app)
    (who,) = [box for box in app.selectbox if box.label == "Checker"]
    assert who.options == [
        "lead Realname (lead): has judged none of them, can check 10"
    ]  # the others judged them all
    assert "10 pairs without an error pass." in words(app)
    assert "10 pairs to draw; the sample then contains 10 of 10 settled pairs." in words(app)
    assert [warning.value.partition(r"\.")[0] for warning in app.warning] == [
        "lead Realname is the only lead"
    ]
    change_person(world.database, OPERATOR, "花子", role="lead", dataset="d", now=NOW)
    app = open_page(world, "quality")
    assert not app.warning
    assert "Another lead decides the errors found by lead Realname: " in words(app)
    assert show_quality(world.database, find(world, "lead"), "d", now=NOW).draws == ()


def test_the_values_of_the_form_are_drawn_once(world: JudgedWorld) -> None:
    app = open_page(world, "quality")
    next(field for field in app.number_input if field.label == "Number of pairs").set_value(5)
    run(app)
    pressed = [button.key for button in app.button]
    press(app, "Draw 5 pairs")
    assert [item.value for item in app.success] == [
        "5 pairs drawn. They appear for lead Realname on the page Label."
    ]
    assert not {*pressed} & {button.key for button in app.button}  # a double click finds no button
    (draw,) = show_quality(world.database, find(world, "lead"), "d", now=NOW).draws
    assert (draw.annotator, draw.pairs, draw.rate, draw.seed) == ("lead", 5, 0.5, 0)


def test_a_lead_who_checks_sees_neither_which_pairs_wait_nor_their_grades(world: JudgedWorld) -> None:
    lead = find(world, "lead")
    app = open_page(world, "quality")
    assert ">grade 3<" not in words(app)
    assert "Grades are hidden because you will judge these pairs." in words(app)
    draw_for(world, lead)
    check(world, lead, DOCUMENTS[3], 0)
    app = open_page(world, "quality")
    page_words = words(app) + "".join(str(table.value) for table in app.dataframe)
    assert DOCUMENTS[3] in page_words  # it is answered, and an error
    assert [doc_id for doc_id in (*DOCUMENTS, "同じ", "같은") if doc_id in page_words] == [DOCUMENTS[3]]
    assert "9 pairs left to check, also by you" in page_words


def test_hidden_errors_are_not_reported_as_no_errors(
    world: JudgedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    lead = find(world, "lead")
    draw_for(world, lead)
    check(world, lead, DOCUMENTS[3], 0)
    keep_answers(world.database, lead, "d", now=NOW)
    quality = show_quality(world.database, lead, "d", now=NOW)
    status = replace(quality, errors=(), hidden=1)
    monkeypatch.setattr("annotator.web.quality.page.show_quality", lambda *_, **__: status)
    shown = words(open_page(world, "quality"))
    assert "1 pair that you may still judge is left out of these figures." in shown
    assert "No errors so far." not in shown
    errors = (replace(quality.errors[0], state="decided", decided_grade=0),)
    status = replace(quality, errors=errors, hidden=1)
    shown = words(open_page(world, "quality"))
    assert "None of the errors shown is waiting for a decision." in shown
    assert "All of them" not in shown
    status = replace(quality, errors=(), hidden=0)
    assert "No errors so far." in words(open_page(world, "quality"))


def test_errors_link_to_their_disagreement_and_figures_are_in_words(world: JudgedWorld) -> None:
    lead = find(world, "lead")
    draw_for(world, lead)
    for number, doc_id in enumerate(DOCUMENTS):
        check(world, lead, doc_id, 0 if number == 3 else number % 4)
    app = open_page(world, "quality")
    assert headings(app) == [
        "Quality control", "Error rate and guaranteed maximum", "Errors by kind", "Pairs needed to pass",
        "Sample", "Draw more", "Draws", "Errors",
    ]  # fmt: skip
    shown = words(app)
    assert f'href="/disagreements?dataset=d&amp;pair={pair_key("d", "Q2", DOCUMENTS[3])}"' in shown
    assert "waiting for a decision" in shown
    assert alternatives(app)[0].startswith(
        "Error rates and the limit of 5 %: another grade: 1 of 8, 12.5\u00a0%"
    )
    rows = app.dataframe[0].value
    assert list(rows["errors"]) == [1, 1, 1]
    world.add_decision(find(world, "lead"), "Q2", DOCUMENTS[3], 0)
    assert "decided 0, same as the checker" in words(open_page(world, "quality"))


def test_an_error_of_a_retired_pair_needs_no_decision_and_has_no_link(world: JudgedWorld) -> None:
    lead = find(world, "lead")
    draw_for(world, lead)
    check(world, lead, DOCUMENTS[3], 0)
    check(world, lead, DOCUMENTS[2], 0)
    leave_pool(world, DOCUMENTS[3])
    shown = words(open_page(world, "quality"))
    assert "1 pair is open again and waiting for a decision on Disagreements" in shown
    assert "1 pair has left the pool and needs no decision." in shown
    assert ("left the pool" in shown, f"pair={pair_key('d', 'Q2', DOCUMENTS[3])}" in shown) == (True, False)
    leave_pool(world, DOCUMENTS[2])
    shown = words(open_page(world, "quality"))
    assert "None of them is waiting for a decision." in shown
    assert "2 pairs have left the pool" in shown
    assert "waiting for a decision on Disagreements" not in shown


def test_only_the_reading_that_the_release_uses_has_a_verdict(world: JudgedWorld) -> None:
    lead = find(world, "lead")
    draw_for(world, lead)
    check(world, lead, DOCUMENTS[3], 0)
    said = words(open_page(world, "quality"))
    assert said.count('class="annotator-state annotator-') == said.count("Used for the release") == 1


def test_errors_of_an_earlier_round_stay_on_the_page(world: JudgedWorld) -> None:
    lead = find(world, "lead")
    draw_for(world, lead)
    check(world, lead, DOCUMENTS[3], 0)
    app = open_page(world, "quality")
    assert "Errors of all rounds" not in words(app)
    assert ">lead Realname</td>" in words(app), "people are named as everywhere"
    assert (
        '<th scope="col" dir="auto" class="annotator-number">round</th><th scope="col" dir="auto">time</th>'
        in words(app)
    )  # of the draws; the errors need none
    assert '<th scope="col">state</th></tr>' in words(app)
    world.person("dan")
    with world.database.write() as session:
        session.execute(update(PersonRow).values(password_hash="x"))
    draw_sample(world.database, OPERATOR, "d", annotator="dan", rate=0.2, new_round=True, now=NOW)
    app = open_page(world, "quality")
    assert "Errors of all rounds; the figures above are for round 2 only." in words(app)
    assert '<th scope="col">state</th><th scope="col">round</th></tr>' in words(app)
    assert "1 pair is open again" in words(app)
    assert list(app.dataframe[-1].value["round"]) == [1]


def leave_pool(world: JudgedWorld, doc_id: str) -> None:
    with world.database.write() as session:
        of_it = col(PairRow.key) == pair_key("d", "Q2", doc_id)
        session.execute(update(PairRow).where(of_it).values(retired_at=NOW))


def test_a_lead_chooses_by_which_reading_the_gate_goes(world: JudgedWorld) -> None:
    lead = find(world, "lead")
    draw_for(world, lead)
    check(world, lead, DOCUMENTS[0], 0)
    app = open_page(world, "quality")
    (rule,) = [choice for choice in app.radio if choice.label == "Rule of the gate"]
    assert rule.value == "bound"
    rule.set_value("rate")
    press(app, "Change")
    assert show_dataset(world.database, lead, "d")[0].quality_rule == "rate"
    (rule,) = [choice for choice in app.radio if choice.label == "Rule of the gate"]
    assert rule.value == "rate"


def _keep_open() -> None:
    from annotator.web.quality.form import DrawFormValues, confirm_dialog

    confirm_dialog("d", DrawFormValues("lead", 0.1, None, 0, True), "Draw 1 pair")


def test_a_new_round_asks_before_it_is_drawn(world: JudgedWorld) -> None:
    lead = find(world, "lead")
    draw_sample(world.database, lead, "d", annotator="lead", rate=0.2, now=NOW)
    app = open_page(world, "quality")
    next(choice for choice in app.toggle if choice.label == "Begin a new round").set_value(True)
    run(app)
    press(app, "Draw 8 pairs")
    assert "The checks so far no longer count" in words(app)
    assert [draw.round for draw in show_quality(world.database, lead, "d", now=NOW).draws] == [1]
    press(run(AppTest.from_function(_keep_open, default_timeout=30)), "Draw 1 pair")
    assert [draw.round for draw in show_quality(world.database, lead, "d", now=NOW).draws] == [1, 2]


def test_enough_waiting_pairs_leave_the_form_closed_and_uncomputed(world: JudgedWorld) -> None:
    draw_for(world, find(world, "lead"))
    app = open_page(world, "quality")
    assert not [box for box in app.selectbox if box.label == "Checker"]
    assert [item.label for item in app.expander][-1] == "Add pairs to the sample or begin a new round"
