"""The standard while labeling: definitions and guideline in reach, a new version, outdated answers, training."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect

from annotator.dataset.service import change_settings
from annotator.domain.grades import DEFAULT_RUBRIC, Rubric
from annotator.domain.people import OPERATOR
from annotator.guideline.service import publish_version
from annotator.labeling.calibration_service import set_check
from annotator.labeling.service import list_judgments
from annotator.storage.database import Database
from annotator.storage.tables.central import PairRow
from tests.browser.conftest import SignIn
from tests.browser.panel_world import fill_pool, open_panel, panel, press, stored, wait_saved

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def change_rubric(database: Database, *, change: str) -> Rubric:
    """Publish version 2, in which grade 1 is defined anew."""
    grades = list(DEFAULT_RUBRIC.grades)
    grades[1] = replace(grades[1], definition="NEW: names the topic, no more.", positive_examples=("一例",))
    rubric = replace(DEFAULT_RUBRIC, grades=tuple(grades), guideline="# 新しい\n\n<b>not bold</b>")
    publish_version(database, OPERATOR, "demo", rubric, base_version=1, change=change, why="sharper", now=NOW)
    return rubric


def on_screen(page: Page) -> str:
    return str(panel(page).get_attribute("data-pair-id"))


def test_definitions_stand_beside_the_grades_and_the_guideline_and_all_keys_open_over_the_pair(
    page: Page, database: Database, sign_in: SignIn
) -> None:
    fill_pool(database)
    sign_in(page, "hanako")
    open_panel(page)
    pair = on_screen(page)
    for definition in DEFAULT_RUBRIC.grades:
        expect(page.get_by_text(definition.definition, exact=True).first).to_be_in_viewport()
    page.keyboard.press("n")
    page.keyboard.type("?")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keys and guideline")
    expect(sheet.get_by_role("tab", name="Keys", selected=True)).to_be_visible()
    assert sheet.locator(".keys kbd").all_inner_texts() == list("0123ulz⌫⏎hnjk/[]wpq?")
    expect(sheet.get_by_text("Judge alone; differences are settled afterwards.")).to_be_hidden()
    sheet.get_by_role("tab", name="Keys").press("ArrowRight")
    expect(sheet.get_by_text("Judge alone; differences are settled afterwards.")).to_be_visible()
    expect(sheet.locator(".keys")).to_be_hidden()
    assert page.get_by_role("textbox", name="Note").input_value() == "?"
    press(page, "2ul")
    page.evaluate(
        "() => window.panel().getRootNode().activeElement.blur()"
    )  # the focus is in nothing of the sheet's
    press(page, "2ul")
    expect(sheet).to_be_visible()
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    assert page.evaluate("() => window.panel().contains(window.panel().getRootNode().activeElement)")
    page.get_by_role("button", name="Help", exact=True).click()
    expect(sheet).to_be_visible()
    page.keyboard.press("?")
    expect(sheet).to_be_hidden()
    assert (on_screen(page), stored(database)) == (pair, [])


def test_a_guideline_published_meanwhile_is_shown_from_the_next_pair_on_and_events_carry_what_was_on_the_screen(
    page: Page, database: Database, sign_in: SignIn
) -> None:
    fill_pool(database)
    sign_in(page, "hanako")
    open_panel(page)
    change_rubric(database, change="minor")
    seen: list[int] = []
    for _ in range(20):
        new = page.get_by_text("NEW: names the topic, no more.").count() > 0
        seen.append(2 if new else 1)
        press(page, "1")
        wait_saved(page)
        if seen.count(2) == 1:
            expect(page.get_by_text("The guideline has a new version (2).")).to_be_visible()
        if seen.count(2) == 2:
            break
    assert seen[0] == 1
    assert seen.count(2) == 2
    judgments = sorted(list_judgments(database, OPERATOR, "demo"), key=lambda j: j.judged_at)
    assert [judgment.guideline_version for judgment in judgments] == seen
    page.reload()
    open_panel(page)
    expect(page.get_by_role("status").filter(has_text="new version")).to_be_hidden()
    change_again = replace(DEFAULT_RUBRIC, guideline="# 三\n\n<b>not bold</b>")
    publish_version(database, OPERATOR, "demo", change_again, base_version=2, change="minor", now=NOW)
    page.reload()
    open_panel(page)
    pair = on_screen(page)
    page.get_by_role("status").get_by_role("button", name="What changed").click()
    sheet = page.get_by_role("dialog", name="Keys and guideline")
    expect(sheet.get_by_role("heading", name="Guideline: version 2")).to_be_visible()
    expect(sheet.locator("ins")).to_contain_text(["# 三"])
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    expect(page.get_by_role("status").filter(has_text="new version")).to_be_hidden()
    assert on_screen(page) == pair
    page.keyboard.press("?")
    expect(sheet.get_by_role("tab", name="Keys", selected=True)).to_be_visible()
    sheet.get_by_role("tab", name="Guideline").click()
    expect(sheet.get_by_text("<b>not bold</b>")).to_be_visible()


def test_an_answer_under_an_older_standard_comes_back_with_what_changed_and_one_key_confirms_it(
    page: Page, database: Database, sign_in: SignIn
) -> None:
    fill_pool(database)
    sign_in(page, "hanako")
    open_panel(page)
    pair = on_screen(page)
    page.keyboard.press("n")
    page.keyboard.type("因为 이유")
    page.keyboard.press("Escape")
    press(page, "1")
    wait_saved(page)
    change_rubric(database, change="semantic")
    address = page.url
    page.goto(address.replace("/label", "/help"))
    page.evaluate(
        "sessionStorage.removeItem('annotator/shown')"
    )  # else the pair that was on the screen comes first
    page.goto(address)
    open_panel(page)
    assert on_screen(page) == pair
    strip = page.get_by_role("group", name="About this pair")
    expect(strip).to_contain_text("You judged this pair with guideline version 1")
    expect(strip).to_contain_text("Your judgment: 1 Marginally relevant.")
    strip.get_by_role("button", name="What changed").click()
    sheet = page.get_by_role("dialog", name="What changed")
    expect(sheet.locator("ins")).to_contain_text(["NEW: names the topic, no more."])
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    assert on_screen(page) == pair, "no key of the pair acts behind the sheet"
    page.get_by_role("region", name="Document", exact=True).focus()
    page.keyboard.press("Enter")
    expect(panel(page)).not_to_have_attribute("data-pair-id", pair)
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    wait_saved(page)
    history = sorted(list_judgments(database, OPERATOR, "demo", history=True), key=lambda j: j.judged_at)
    assert [(j.pair_key, j.grade, j.note, j.guideline_version) for j in history] == [
        (pair, 1, "因为 이유", 1),
        (pair, 1, "因为 이유", 2),
    ]


@pytest.fixture
def training_pair(database: Database) -> str:
    fill_pool(database, documents=2, queries=("x",))
    change_settings(database, OPERATOR, "demo", {"training_score": "1"}, now=NOW)
    with database.read() as session:
        key = session.query(PairRow).first().key  # type: ignore[union-attr]
    set_check(
        database, OPERATOR, "demo", key, kind="training", grade=3, explanation="答えは<b>全部</b>", now=NOW
    )
    return str(key)


def test_training_tells_the_right_grade_and_goes_on_by_one_key_also_after_a_reload(
    page: Page, database: Database, sign_in: SignIn, training_pair: str
) -> None:
    sign_in(page, "hanako")
    open_panel(page)
    assert on_screen(page) == training_pair
    strip = page.get_by_role("group", name="About this pair")
    expect(strip).to_contain_text("You see the right grade after your judgment.")
    press(page, "1")
    expect(strip).to_contain_text("The right grade is 3 Perfect. Your judgment: 1 Marginally relevant.")
    expect(strip).to_contain_text("答えは<b>全部</b>")
    expect(strip).to_contain_text("0 of 1 right. You need 100 %.")
    expect(strip.get_by_role("button", name="Continue")).to_be_focused()
    expect(page.locator("[data-right]")).to_contain_text("Perfect")
    expect(page.get_by_role("button", name="Marginally relevant")).to_have_attribute("aria-pressed", "true")
    press(page, "3zul")
    assert on_screen(page) == training_pair
    wait_saved(page)
    assert stored(database) == [(training_pair, 1)]
    page.keyboard.press("Enter")
    expect(strip).to_contain_text("You see the right grade after your judgment.")
    page.route("**/api/judgments", lambda route: route.abort())
    press(page, "3")
    expect(strip).to_contain_text("Saving your judgment")
    expect(panel(page)).to_have_attribute("data-unsaved", "1")
    page.reload()
    page.unroute("**/api/judgments")
    expect(strip).to_contain_text("Right: 3 Perfect.")
    expect(strip).to_contain_text("Training passed: 1 of 1 right. Real pairs follow.")
    page.keyboard.press(" ")
    expect(panel(page)).not_to_have_attribute("data-pair-id", "")
    assert on_screen(page) != training_pair
    expect(strip).to_be_hidden()
