"""What disagreements teach, on the Guideline page as Streamlit runs it: from the worklist to a version that names its decisions."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from annotator.guideline.feedback_service import list_decisions_behind, list_worklist
from annotator.guideline.service import read_version
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from annotator.web.guideline import feedback
from annotator.web.guideline.draft import CHOSEN, GuidelineDraft, widget_key
from annotator.web.guideline.feedback import ChosenExamples, read_chosen, write_chosen
from annotator.web.kit.messages import use_language
from tests.contexts import GivenContext
from tests.integration.feedback_world import FeedbackWorld
from tests.integration.judged_world import NOW
from tests.unit.web.lead_pages import open_page, run, run_page, words

WORKLIST, WRITE, VERSIONS = "Lessons from disagreements", "Next version", "Versions"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[FeedbackWorld]:
    opened = Database(f"sqlite:///{tmp_path / 'annotator.db'}")
    upgrade_schema(opened)
    yield FeedbackWorld(opened)
    opened.dispose()


@pytest.fixture(autouse=True)
def _signed_in(monkeypatch: pytest.MonkeyPatch, world: FeedbackWorld) -> None:
    """Callbacks ask who is signed in by the cookie, which AppTest does not have."""

    context = GivenContext(database=world.database, actor=world.lea, now=NOW)
    monkeypatch.setattr("annotator.web.guideline.page.find_context", lambda: context)


def open_tab(world: FeedbackWorld, tab: str) -> AppTest:
    return open_page(world, "guideline", world.lea, standard=tab)


def turn_to(world: FeedbackWorld, app: AppTest, tab: str) -> AppTest:
    """Another tab, with the same draft."""
    url = world.database.url.render_as_string(hide_password=False)
    lea = world.lea
    turned = AppTest.from_function(
        run_page, args=(url, "guideline", lea.username, lea.person_id, "d", "exports")
    )
    turned.session_state["guideline draft d"] = app.session_state["guideline draft d"]
    turned.query_params["standard"] = tab
    return run(turned)


def draft_of(app: AppTest) -> GuidelineDraft:
    draft: GuidelineDraft = app.session_state["guideline draft d"]
    return draft


def tick(app: AppTest, label: str) -> AppTest:
    next(item for item in app.checkbox if item.label == label).check()
    return run(app)


def press(app: AppTest, label: str) -> AppTest:
    next(item for item in app.button if item.label == label).click()
    return run(app)


def test_without_a_decision_the_worklist_says_how_to_get_one(world: FeedbackWorld) -> None:
    shown = words(open_tab(world, WORKLIST))
    assert (
        "No disagreements are decided yet. When you decide a disagreement, choose why the annotators differed"
        in shown
    )
    world.add_disagreement("Q1", 0, 1, 0, "slip")
    assert "1 disagreement is decided. It needs nothing from the guideline." in words(
        open_tab(world, WORKLIST)
    )


def test_no_space_stands_between_the_japanese_sentences_of_an_empty_worklist(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown: list[str] = []
    monkeypatch.setattr("streamlit.text", shown.append)
    monkeypatch.setattr(feedback, "draw_link", lambda *_: None)
    use_language("ja")
    try:
        feedback._draw_nothing(None, SimpleNamespace(decided=0))  # type: ignore[arg-type]
    finally:
        use_language("en")
    assert shown
    assert "。 " not in shown[0]


def test_the_worklist_says_what_decisions_have_in_common_and_leads_to_them(world: FeedbackWorld) -> None:
    for number in range(3):
        world.add_disagreement("Q2", 1, 2, 1, "guideline_gap", in_guideline=not number)
    world.ask(world.add_disagreement("Q1", 2, 2))
    shown = words(open_tab(world, WORKLIST))
    for piece in (
        "4 decisions and questions to include in the guideline",
        "3 of 3 decided disagreements in 설정 are 1 against 2 because the guideline has no rule.",
        "1 marked for the guideline",
        "/disagreements?dataset=d&amp;show=decided&amp;category=%EC%84%A4%EC%A0%95&amp;grades=1-2",
        "1 answered question is marked for the guideline.",
    ):
        assert piece in shown


def test_what_is_chosen_is_named_by_the_version_that_is_published(world: FeedbackWorld) -> None:
    keys = [world.add_disagreement("Q1", 1, 2, 1, "guideline_gap") for _ in range(3)]
    app = open_tab(world, WORKLIST)
    tick(app, "Answered in the next version")
    chosen = read_chosen(draft_of(app).fields[CHOSEN])
    assert chosen == ChosenExamples(frozenset((key, 1) for key in keys))
    app = turn_to(world, app, WRITE)
    assert "Answers 3 decisions. The version will list them." in words(app)
    assert "No changes yet." in words(app)  # a choice alone is no version
    next(item for item in app.text_area if item.key == widget_key(draft_of(app), "guideline")).set_value(
        "二行目を見る"
    )
    press(run(app), "Publish version 2")
    assert {
        decision.pair for decision in list_decisions_behind(world.database, world.lea, "d", now=NOW)[2]
    } == set(keys)
    assert list_worklist(world.database, world.lea, "d", now=NOW).waiting == 0
    assert CHOSEN not in draft_of(app).fields
    assert "answered in version 2" in words(open_tab(world, WORKLIST))
    history = words(open_tab(world, VERSIONS))
    for piece in (
        "Based on 3 decisions",
        f"/disagreements?dataset=d&amp;pair={keys[0]}",
        "題 1 &lt;x&gt;",
        "1, 2 → 1",
    ):
        assert piece in history


def test_a_decision_becomes_an_example_in_the_draft_and_is_chosen(world: FeedbackWorld) -> None:
    key = world.add_disagreement("Q1", 1, 2, 1, "guideline_gap", rationale="名前だけ\n  出る")
    app = open_tab(world, WORKLIST)
    (item,) = list_worklist(world.database, world.lea, "d", now=NOW).items
    app.session_state[f"item cases {item.key}"] = True
    press(run(app), "Add as an example of grade 1")
    assert "Among the examples of grade 1 in your draft" in words(app)
    app = turn_to(world, app, WRITE)
    assert "Answers 1 decision" in words(app)
    press(app, "Publish version 2")
    made = read_version(world.database, world.lea, "d")
    assert made.rubric.grades[1].positive_examples[-1] == "題 1 <x>: 名前だけ\n  出る"
    assert [
        decision.pair for decision in list_decisions_behind(world.database, world.lea, "d", now=NOW)[2]
    ] == [key]


def test_a_choice_outlives_a_merge_with_another_leads_version(world: FeedbackWorld) -> None:
    world.add_disagreement("Q1", 1, 2, 1, "borderline")
    app = open_tab(world, WORKLIST)
    tick(app, "Answered in the next version")
    app = turn_to(world, app, WRITE)
    next(item for item in app.text_input if item.key == widget_key(draft_of(app), "title")).set_value("題")
    run(app)
    world.publish([])
    press(run(app), "Combine both")
    press(app, "Publish version 3")
    assert list(list_decisions_behind(world.database, world.lea, "d", now=NOW)) == [3]


def test_a_choice_is_written_and_read_back_and_nothing_else_is_taken_for_one() -> None:
    chosen = ChosenExamples(frozenset({("a1", 2), ("b", 10)}), frozenset({7}))
    assert read_chosen(write_chosen(chosen)) == chosen
    assert read_chosen("a1 2\n\nx\nquestion y\na1 -3\n 4\nquestion 7") == ChosenExamples(
        frozenset({("a1", 2)}), frozenset({7})
    )


def choose_of_the_draft_before(url: str, person_id: int) -> None:
    import streamlit as st

    from annotator.domain.people import OPERATOR
    from annotator.guideline.service import list_versions
    from annotator.storage.database import Database
    from annotator.web.guideline.draft import CHOSEN, GuidelineDraft, set_draft
    from annotator.web.guideline.feedback import ChosenExamples, DraftDesk, choose, name_choice, write_chosen
    from annotator.web.kit.controls import find_key

    base = list_versions(Database(url), OPERATOR, "d")[0]
    desk = DraftDesk("d", base)
    before, _ = find_key(name_choice(desk, "x"), False)
    st.session_state[before] = False  # what the browser shows still, and reports
    set_draft(
        "d", GuidelineDraft(base.version, {CHOSEN: write_chosen(ChosenExamples(frozenset({("k", 1)})))})
    )
    choose(desk, [("k", 1)], (), "x", before)
    st.text(desk.read(CHOSEN))


def test_a_checkbox_of_the_draft_before_takes_nothing_out_of_the_restored_one(world: FeedbackWorld) -> None:
    url = world.database.url.render_as_string(hide_password=False)
    app = run(AppTest.from_function(choose_of_the_draft_before, args=(url, world.lea.person_id)))
    assert [item.value for item in app.text] == ["k 1"]
