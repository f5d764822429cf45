"""The assignment page as a lead sees it: who judges what, what a change would make, and its dialogs."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from annotator.dataset.service import create_dataset, show_dataset
from annotator.domain.people import OPERATOR, Actor, Membership, SignedIn
from annotator.labeling.assignment import QuerySelection
from annotator.labeling.assignment_service import assign, show_assignment
from annotator.people.service import list_people
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from annotator.storage.tables import MembershipRow
from annotator.web.page_context import PageContext
from tests.integration.assignment_world import AssignmentWorld
from tests.integration.labeling_world import NOW
from tests.unit.web.lead_pages import links, run, run_page, words


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(f"sqlite:///{tmp_path / 'annotator.db'}")
    upgrade_schema(opened)
    yield opened
    opened.dispose()


@pytest.fixture
def world(database: Database) -> AssignmentWorld:
    made = AssignmentWorld(database)
    for username in ("<b>花子", "kim"):
        made.person(username)
    return made


@pytest.fixture
def lead(world: AssignmentWorld, monkeypatch: pytest.MonkeyPatch) -> Actor:
    """The lead, signed in for the dialogs too."""
    lee = world.person("lee", "lead")
    person = SignedIn(lee, "lee", (Membership("d", "lead"),), False, NOW)
    context = PageContext(world.database, Settings(), person, "", (), "d", NOW)
    monkeypatch.setattr("annotator.web.labeling.assignment_page.require_context", lambda: context)
    return lee


def open_page(database: Database, lead: Actor, dataset: str = "d") -> AppTest:
    url = database.url.render_as_string(hide_password=False)
    args = (url, "assignment", lead.username, lead.person_id, dataset, "exports")
    return run(AppTest.from_function(run_page, args=args, default_timeout=30))


def press(app: AppTest, label: str) -> AppTest:
    next(button for button in app.button if button.label == label).click()
    return run(app)


def open_dialog(username: str | None = None) -> AppTest:
    return run(AppTest.from_function(_keep_open, kwargs={"username": username}, default_timeout=30))


def _keep_open(username: str | None) -> None:
    from annotator.web.labeling.assignment_page import change_dialog, give_dialog

    if username is None:
        give_dialog()
    else:
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


def test_queries_are_given_and_taken_back_in_the_dialog(world: AssignmentWorld, lead: Actor) -> None:
    def fill(app: AppTest) -> None:
        app.multiselect[0].set_value(["kim"])
        next(box for box in app.selectbox if box.label == "Category").set_value("howto")

    def given() -> int:
        return show_assignment(world.database, OPERATOR, "d", now=NOW).given

    app = open_dialog()
    fill(app)
    press(app, "Assign queries")
    assert given() == 2
    app = open_dialog()
    fill(app)
    app.text_area[0].set_value("Q0\n")
    press(app, "Unassign")
    assert given() == 1
    app = open_dialog()
    fill(app)
    app.text_area[0].set_value("Q77")
    press(app, "Assign queries")
    assert "There is no query with the id Q77" in app.error[0].value
    assert given() == 1


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
    press(app, "Reassign")
    assert show_assignment(world.database, OPERATOR, "d", now=NOW).queries[0].given_to == ("<b>花子",)


def test_an_empty_dataset_leads_to_the_overview(world: AssignmentWorld, lead: Actor) -> None:
    with world.database.write() as session:
        session.add(MembershipRow(person_pk=lead.person_id or 0, dataset_pk=None, role="lead"))
    create_dataset(world.database, OPERATOR, "empty", now=NOW)
    app = open_page(world.database, lead, "empty")
    assert "No queries yet." in words(app)
    assert links(app) == [("overview", "dataset=empty")]


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
        assert "Nobody is called so." in words(run(app))
