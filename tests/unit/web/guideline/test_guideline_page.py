"""The Guideline page as Streamlit runs it: what annotators read, and how two leads write without overwriting."""

import json
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from annotator.domain.grades import DEFAULT_RUBRIC
from annotator.domain.people import OPERATOR
from annotator.guideline.service import list_versions, publish_version, read_version
from annotator.web.guideline.draft import FIELDS, GuidelineDraft, to_fields, to_rubric, widget_key
from tests.contexts import GivenContext
from tests.databases import CopyWorld
from tests.integration.guideline_world import GuidelineWorld
from tests.integration.judged_world import NOW
from tests.unit.web.lead_pages import open_page, run, words


@pytest.fixture
def world(copy_world: CopyWorld) -> GuidelineWorld:
    return copy_world(GuidelineWorld)


@pytest.fixture(autouse=True)
def _signed_in(monkeypatch: pytest.MonkeyPatch, world: GuidelineWorld) -> None:
    """Callbacks ask who is signed in by the cookie, which AppTest does not have."""
    context = GivenContext(database=world.database, actor=world.lea, now=NOW)
    monkeypatch.setattr("annotator.web.guideline.page.find_context", lambda: context)


def open_draft(world: GuidelineWorld) -> AppTest:
    return open_page(world, "guideline", world.lea, standard="Next version")


def field(app: AppTest, name: str) -> object:
    key = widget_key(app.session_state["guideline draft d"], name)
    return next(item for item in (*app.text_area, *app.text_input) if item.key == key)


def type_in(app: AppTest, name: str, text: str) -> AppTest:
    field(app, name).set_value(text)  # type: ignore[attr-defined]
    return run(app)


def press(app: AppTest, label: str) -> AppTest:
    next(item for item in app.button if item.label == label).click()
    return run(app)


def versions(world: GuidelineWorld) -> list[int]:
    return [item.version for item in list_versions(world.database, world.lea, "d")]


def test_a_standard_is_the_same_after_the_form() -> None:
    rubric = replace(
        DEFAULT_RUBRIC,
        grades=tuple(
            replace(item, positive_examples=("一", "둘\n셋"), negative_examples=("x",))
            for item in DEFAULT_RUBRIC.grades
        ),
    )
    assert set(to_fields(rubric)) == set(FIELDS)
    assert to_rubric(to_fields(rubric)) == rubric


def test_the_standard_in_force_is_read_with_its_examples_and_nothing_active(world: GuidelineWorld) -> None:
    present = read_version(world.database, world.lea, "d")
    grades = tuple(
        replace(item, positive_examples=("<b>例</b>",), negative_examples=("반례",))
        if item.grade == 2
        else item
        for item in present.rubric.grades
    )
    rubric = replace(present.rubric, grades=grades, guideline="# 原則\n\n<script>x</script> $5 :red[a]")
    publish_version(
        world.database, world.lea, "d", rubric, base_version=1, change="semantic", why="<i>理由", now=NOW
    )
    shown = words(open_page(world, "guideline", world.lea))
    for piece in (
        "Version 2, Mar 4, 2026 05:06, by léa Realname", "&lt;i&gt;理由", "3 · Perfect", "&lt;b&gt;例&lt;/b&gt;", "반례",
        "<h3>原則</h3>", "&lt;script&gt;", "$5 :red[a]",
    ):  # fmt: skip
        assert piece in shown


def test_a_draft_is_compared_and_published_with_what_it_means(world: GuidelineWorld) -> None:
    app = open_draft(world)
    assert "No changes yet. Your changes to version 1 appear here." in words(app)
    type_in(app, "definition2", "答えの大半がある。")
    sign = '<p class="annotator-{}" dir="auto"><span aria-hidden="true">{}</span><span class="annotator-unseen">{}: '
    assert sign.format("added", "⊕", "added") in words(app), "+ and - are marks of lists"
    assert sign.format("removed", "⊖", "removed") in words(app)
    assert app.radio[0].value == "semantic"
    press(app, "Publish version 2")
    assert '<p class="annotator-problem" role="alert">Why: enter a reason' in words(app)
    assert versions(world) == [1]
    app.text_area(key="guideline why d").set_value("改正")
    press(app, "Publish version 2")
    assert versions(world) == [2, 1]
    made = read_version(world.database, world.lea, "d")
    assert (made.change, made.why, made.rubric.grades[2].definition) == (
        "semantic",
        "改正",
        "答えの大半がある。",
    )
    assert "Version 2 published. It is the current guideline now." in words(app).replace("\\", "")
    assert "<p>答えの大半がある。" in words(app), "the page leads back to the version that is current now"
    assert "Publish version" not in "".join(button.label for button in app.button)


def test_wording_asks_nobody_again_and_needs_no_reason(world: GuidelineWorld) -> None:
    app = open_draft(world)
    type_in(app, "guideline", "言い方を変えた")
    assert app.radio[0].value == "minor"
    press(app, "Publish version 2")
    assert read_version(world.database, world.lea, "d").change == "minor"


def test_what_the_lead_has_not_seen_compared_is_not_published(world: GuidelineWorld) -> None:
    app = open_draft(world)
    type_in(app, "guideline", "一")
    field(app, "guideline").set_value("二")  # type: ignore[attr-defined]
    press(app, "Publish version 2")
    assert "Your last change was added to the comparison" in words(app)
    assert versions(world) == [1]
    press(app, "Publish version 2")
    assert read_version(world.database, world.lea, "d").rubric.guideline == "二"


def test_of_two_leads_the_second_gets_both_changes_and_publishes_them(world: GuidelineWorld) -> None:
    app = open_draft(world)
    type_in(app, "name1", "わずか")
    world.publish(world.lou, guideline="ルウの手引き")
    press(app, "Publish version 2")
    assert versions(world) == [2, 1]
    assert "lou Realname published version 2 while you were editing" in words(app).replace("\\", "")
    assert field(app, "guideline").value == "ルウの手引き"  # type: ignore[attr-defined]
    assert field(app, "name1").value == "わずか"  # type: ignore[attr-defined]
    press(app, "Publish version 3")
    made = read_version(world.database, world.lea, "d").rubric
    assert (made.guideline, made.grades[1].name) == ("ルウの手引き", "わずか")


def test_a_contradiction_is_marked_and_not_published_before_it_is_settled(world: GuidelineWorld) -> None:
    app = open_draft(world)
    type_in(app, "guideline", "私の")
    world.publish(world.lou, guideline="ルウの")
    app = run(app)
    assert "lou Realname published version 2 while you were editing. Your draft is still here." in words(app)
    press(app, "Combine both")
    assert field(app, "guideline").value == "<<<<<<<\nルウの\n=======\n私の\n>>>>>>>"  # type: ignore[attr-defined]
    assert "The changes conflict in: Guideline." in words(app)
    press(app, "Publish version 3")
    assert "Two changes conflict in" in words(app)
    assert versions(world) == [2, 1]
    type_in(app, "guideline", "私たちの")
    press(app, "Publish version 3")
    assert read_version(world.database, world.lea, "d").rubric.guideline == "私たちの"


def test_a_draft_that_the_browser_kept_comes_back_after_a_reload(world: GuidelineWorld) -> None:
    kept = {
        "base": 1,
        "at": "2026-03-04T00:00:00Z",
        "fields": {"guideline": "書きかけ", "unknown": "x", "name1": 3},
    }
    app = AppTest.from_function(
        restore_and_draw, args=(str(world.database.url), world.lea.person_id, json.dumps(kept))
    )
    app.query_params["standard"] = "Next version"
    run(app)
    assert "Your saved draft" in words(app)
    assert field(app, "guideline").value == "書きかけ"  # type: ignore[attr-defined]
    press(app, "Discard draft")
    assert field(app, "guideline").value != "書きかけ"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"base": "1", "fields": {}}', '{"base": 1, "fields": {"name1": 3}}', "null"]
)
def test_what_is_no_draft_is_not_taken_for_one(
    text: str, world: GuidelineWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    from annotator.web.guideline import draft as guideline_draft

    taken: list[GuidelineDraft] = []
    monkeypatch.setattr(guideline_draft, "set_draft", lambda dataset, draft: taken.append(draft))
    guideline_draft._restore("d", list_versions(world.database, OPERATOR, "d")[0], text)
    assert taken == []


def test_a_field_brings_its_text_each_time_it_is_drawn(world: GuidelineWorld) -> None:
    """Not once: what is sent once is lost where the drawing it was sent with is cut short by the next one."""
    app = open_draft(world)
    for _ in range(3):
        assert field(app, "title").proto.default == field(app, "title").value  # type: ignore[attr-defined]
        assert not field(app, "title").proto.set_value  # type: ignore[attr-defined]
        run(app)


def test_what_a_browser_still_says_of_fields_that_are_gone_changes_nothing(world: GuidelineWorld) -> None:
    app = open_draft(world)
    gone = widget_key(app.session_state["guideline draft d"], "guideline")
    app = type_in(app, "guideline", "書きかけ")
    press(app, "Discard draft")
    type_in(app, "title", "題")
    app.session_state[gone] = "古い"
    run(app)
    assert app.session_state["guideline draft d"].fields == {"title": "題"}


def test_the_versions_are_listed_with_what_each_changed_and_who_is_asked_again(world: GuidelineWorld) -> None:
    world.publish(world.lou, change="semantic", why="改正による", definition="甲")
    shown = words(open_page(world, "guideline", world.lea, standard="Versions"))
    for piece in ("改正による", "甲", "The first version.", "花子 Realname"):
        assert piece in shown


def restore_and_draw(url: str, person_id: int, kept: str) -> None:
    import streamlit as st

    from annotator.domain.people import OPERATOR
    from annotator.guideline.service import list_versions
    from annotator.storage.database import Database
    from annotator.web.guideline.draft import _restore
    from tests.unit.web.lead_pages import run_page

    if "once" not in st.session_state:
        st.session_state["once"] = True
        base = list_versions(Database(url), OPERATOR, "d")[0]
        _restore("d", base, kept)
    run_page(url, "guideline", "léa", person_id, "d", "exports")
