"""The assignment page as a lead sees it: who judges what, what a change would make, and its dialogs."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import update
from sqlmodel import col
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Checkbox

from annotator.dataset.service import create_dataset, show_dataset
from annotator.domain.people import OPERATOR, Actor, Membership, SignedIn
from annotator.labeling.assignment import QuerySelection
from annotator.labeling.assignment_service import assign, show_assignment
from annotator.people.service import list_people
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from annotator.storage.tables.central import MembershipRow, PersonRow
from annotator.web.page_context import PageContext
from tests.databases import CopyWorld
from tests.integration.assignment_world import AssignmentWorld
from tests.integration.labeling_world import NOW
from tests.unit.web.lead_pages import html_rows, links, run, run_page, words


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(f"sqlite:///{tmp_path / 'annotator.db'}")
    upgrade_schema(opened)
    yield opened
    opened.dispose()


def make_world(database: Database) -> AssignmentWorld:
    made = AssignmentWorld(database)
    for username in ("<b>花子", "kim"):
        made.person(username)
    return made


@pytest.fixture
def world(copy_world: CopyWorld) -> AssignmentWorld:
    return copy_world(make_world)


@pytest.fixture
def lead(world: AssignmentWorld, monkeypatch: pytest.MonkeyPatch) -> Actor:
    """The lead, signed in for the dialogs too."""
    lee = world.person("lee", "lead")
    person = SignedIn(lee, "lee", (Membership("d", "lead"),), False, NOW)
    context = PageContext(world.database, Settings(), person, "", (), "d", NOW)
    for module in ("assignment_page", "assignment_picker"):
        monkeypatch.setattr(f"annotator.web.labeling.{module}.require_context", lambda: context)
    return lee


def open_page(database: Database, lead: Actor, dataset: str = "d") -> AppTest:
    url = database.url.render_as_string(hide_password=False)
    args = (url, "assignment", lead.username, lead.person_id, dataset, "exports")
    return run(AppTest.from_function(run_page, args=args, default_timeout=30))


def press(app: AppTest, label: str) -> AppTest:
    next(button for button in app.button if button.label == label).click()
    return run(app)


def open_dialog(username: str) -> AppTest:
    return run(AppTest.from_function(_keep_open, kwargs={"username": username}, default_timeout=30))


def _keep_open(username: str) -> None:
    from annotator.web.labeling.assignment_page import change_dialog

    change_dialog(username)


def test_the_rules_stand_in_words_with_what_they_come_to(world: AssignmentWorld, lead: Actor) -> None:
    shown = words(open_page(world.database, lead))
    assert "Each pair is judged by 2 annotators." in shown
    assert "24 judgments in total: 0 done, 24 left." in shown
    assert "&lt;b&gt;花子" in shown
    assert "<b>花子" not in shown


def test_a_change_is_previewed_before_it_is_made(world: AssignmentWorld, lead: Actor) -> None:
    app = open_page(world.database, lead)
    next(box for box in app.number_input if box.label == "Judgments per pair").set_value(1)
    next(box for box in app.number_input if box.label == "Judgments per pair in howto").set_value(2)
    press(app, "Preview")
    assert "18 judgments in total" in app.info[0].value.replace("\\", "")
    assert show_dataset(world.database, OPERATOR, "d")[0].overlap == 2
    press(app, "Change")
    dataset, _ = show_dataset(world.database, OPERATOR, "d")
    assert (dataset.overlap, dataset.overlap_rules) == (1, {"category": {"howto": 2}})
    assert "Exceptions by category: howto: 2." in words(app)


def test_what_cannot_be_is_refused_where_it_was_asked(world: AssignmentWorld, lead: Actor) -> None:
    app = open_page(world.database, lead)
    next(box for box in app.number_input if box.label == "Maximum judgments per pair").set_value(1)
    press(app, "Change")
    assert "expected at least the overlap" in app.error[0].value
    assert show_dataset(world.database, OPERATOR, "d")[0].overlap_rules is None


def test_pairs_that_too_few_may_judge_are_warned_of(world: AssignmentWorld, lead: Actor) -> None:
    assert not open_page(world.database, lead).warning
    assign(world.database, OPERATOR, "d", ["kim"], QuerySelection(("Q0",)), now=NOW)
    app = open_page(world.database, lead)
    assert "3 pairs cannot be finished: too few people can judge them." in app.warning[0].value


def test_the_preview_counts_pairs_that_the_lead_may_judge_without_an_extra_judgment(
    world: AssignmentWorld, lead: Actor
) -> None:
    world.judge(world.person("cho"), pairs=2, grade=3)
    app = open_page(world.database, lead)
    box = "Add an annotator when the first two grades differ by at least"
    next(choice for choice in app.selectbox if choice.label == box).set_value(1)
    assert "2 pairs that you may still judge are counted without an extra judgment." in words(
        press(app, "Preview")
    )


def draw_picker() -> None:
    from annotator.web.labeling.assignment_picker import _draw_picker, draw_done

    draw_done("d")
    _draw_picker()


def open_picker() -> AppTest:
    return run(AppTest.from_function(draw_picker, default_timeout=30))


def find_box(app: AppTest, query_id: str) -> Checkbox:
    return next(box for box in app.checkbox if box.label.startswith(query_id))


def given_to(world: AssignmentWorld) -> dict[str, tuple[str, ...]]:
    status = show_assignment(world.database, OPERATOR, "d", now=NOW)
    return {query.query_id: query.given_to for query in status.queries}


def test_queries_are_found_selected_previewed_assigned_and_the_change_undone(
    world: AssignmentWorld, lead: Actor
) -> None:
    app = open_picker()
    assert "4 queries match, with 12 pairs left to judge." in words(app)
    find_box(app, "Q3").check()
    app = run(app)
    app.selectbox(key="pick category").set_value("howto")
    app = run(app)
    assert [box.label[:2] for box in app.checkbox] == ["Q0", "Q1"]
    press(app, "Select all 2 matching queries")
    assert "3 queries selected." in words(app)
    assert all(box.value for box in app.checkbox)
    find_box(app, "Q0").uncheck()
    app = run(app)
    assert "2 queries selected." in words(app)
    app.multiselect[0].set_value(["kim"])
    press(run(app), "Preview")
    shown = words(app)
    assert "2 queries, 6 pairs left" in shown
    assert "2 queries were open to everybody and go to these people only." in shown
    assert ["kim", "0", "2", "12", "12"] in html_rows(app)
    assert ["<b>花子", "0", "0", "12", "6"] in html_rows(app)
    assert "6 more pairs cannot be finished" in app.warning[0].value
    assert set(given_to(world).values()) == {()}
    press(app, "Assign")
    assert given_to(world) == {"Q0": (), "Q1": ("kim",), "Q2": (), "Q3": ("kim",)}
    assert "2 queries assigned. 2 assignments changed." in app.success[0].value
    press(app, "Undo")
    assert set(given_to(world).values()) == {()}
    assert "Undone for 2 queries." in app.success[0].value
    assert not [button for button in app.button if button.label == "Undo"]


def test_another_choice_takes_the_preview_away(world: AssignmentWorld, lead: Actor) -> None:
    app = open_picker()
    press(app, "Select all 4 matching queries")
    app.multiselect[0].set_value(["kim"])
    press(run(app), "Preview")
    assert [button for button in app.button if button.label == "Assign"]
    app.radio[0].set_value("unassign")
    app = run(app)
    assert not [button for button in app.button if button.label == "Unassign"]
    press(app, "Preview")
    assert "None of these queries is assigned to these people." in words(app)
    assert next(button for button in app.button if button.label == "Unassign").disabled


def test_what_is_missing_or_refused_is_said_beside_the_preview(world: AssignmentWorld, lead: Actor) -> None:
    app = press(open_picker(), "Preview")
    assert "Select at least one query." in words(app)
    press(app, "Select all 4 matching queries")
    press(app, "Preview")
    assert "Choose at least one person." in words(app)
    app.multiselect[0].set_value(["kim"])
    press(run(app), "Preview")
    assign(world.database, OPERATOR, "d", ["<b>花子"], QuerySelection(("Q2",)), now=NOW)
    press(app, "Assign")
    assert "Check the preview again" in app.error[0].value
    assert given_to(world)["Q0"] == ()


def test_queries_are_selected_by_a_list_of_ids(world: AssignmentWorld, lead: Actor) -> None:
    app = open_picker()
    app.text_area[0].set_value("Q1\n Q77 \nQ2")
    press(app, "Select these")
    assert "There is no query with the id Q77." in words(app)
    assert "0 queries selected." in words(app)
    app.text_area[0].set_value("Q1\n\nQ2")
    press(app, "Select these")
    assert "2 queries selected." in words(run(app))
    press(app, "Clear selection")
    assert "0 queries selected." in words(app)


def test_a_lead_sets_what_somebody_judges_and_hands_their_queries_on(
    world: AssignmentWorld, lead: Actor
) -> None:
    assign(world.database, OPERATOR, "d", ["kim"], QuerySelection(("Q0",)), now=NOW)
    app = open_dialog("kim")
    next(box for box in app.multiselect if box.label == "Languages").set_value(["ko"])
    press(app, "Set what they judge")
    kim = next(person for person in list_people(world.database, OPERATOR) if person.username == "kim")
    assert kim.memberships == (Membership("d", "annotator", None, ("ko",)),)
    app = open_dialog("kim")
    app.selectbox[0].set_value("<b>花子")
    app = run(app)
    assert ["<b>花子", "0", "1", "9", "12"] in html_rows(app)
    press(app, "Reassign")
    assert show_assignment(world.database, OPERATOR, "d", now=NOW).queries[0].given_to == ("<b>花子",)


def test_an_empty_dataset_leads_to_the_import(world: AssignmentWorld, lead: Actor) -> None:
    with world.database.write() as session:
        session.add(MembershipRow(person_pk=lead.person_id or 0, dataset_pk=None, role="lead"))
    create_dataset(world.database, OPERATOR, "empty", now=NOW)
    app = open_page(world.database, lead, "empty")
    assert "No queries yet." in words(app)
    assert links(app) == [("import", "dataset=empty")]


def test_hundreds_of_people_stand_fifty_to_a_page_and_are_found_by_name(
    world: AssignmentWorld, lead: Actor
) -> None:
    few = open_page(world.database, lead)
    assert not [box for box in few.text_input if box.label == "Find a person"]
    for number in range(60):
        world.person(f"crowd{number:02}")
    assert "and 57 more" in words(open_page(world.database, lead))
    for page in ("assignment", "people"):
        url = world.database.url.render_as_string(hide_password=False)
        args = (url, page, lead.username, lead.person_id, "d", "exports")
        app = run(AppTest.from_function(run_page, args=args, default_timeout=30))
        assert "1 to 50 of " in words(app)
        assert "<code>crowd01" in words(app) and "<code>crowd59" not in words(app)
        (box,) = (box for box in app.text_input if box.label == "Find a person")
        box.set_value("CROWD5")
        shown = words(run(app))
        assert "1 to 10 of 10 people." in shown
        assert "<code>crowd59" in shown and "<code>crowd01" not in shown
        next(box for box in app.text_input if box.label == "Find a person").set_value("nobody at all")
        assert "No matching person." in words(run(app))


def test_blocked_work_names_people_as_their_colleagues_know_them(world: AssignmentWorld, lead: Actor) -> None:
    with world.database.write() as session:
        session.execute(update(PersonRow).where(col(PersonRow.username) == "kim").values(name="김민준"))
    rows = html_rows(open_page(world.database, lead))
    waiting = next(row for row in rows if "Q0" in row)
    assert any("김민준 (3)" in cell for cell in waiting), waiting
    assert not any("kim" in cell for cell in waiting), waiting
