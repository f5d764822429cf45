"""Whole-query mode: all documents of a query as a list, with the guarantees of every other press."""

import pytest
from playwright.sync_api import Locator, Page, expect

from annotator.dataset.service import change_settings
from annotator.domain.people import OPERATOR
from annotator.labeling.calibration_service import set_check
from annotator.storage.database import Database
from annotator.storage.lookup import find_person, key_of
from annotator.storage.tables.central import PairRow
from annotator.storage.tables.labeling import DisclosureRow
from tests.browser.conftest import SignIn
from tests.browser.panel_world import (
    NOW,
    QUERIES,
    fill_pool,
    open_panel,
    panel,
    press,
    pressed,
    stored,
    wait_saved,
)


@pytest.fixture(autouse=True)
def started(page: Page, database: Database, sign_in: SignIn) -> None:
    fill_pool(database, documents=7)
    sign_in(page, "hanako")
    open_panel(page)
    page.keyboard.press("w")
    expect(rows(page)).to_have_count(7)


def rows(page: Page) -> Locator:
    return page.get_by_role("listbox", name="Documents of the query").get_by_role("option")


def on_screen(page: Page) -> str:
    return panel(page).get_attribute("data-pair-id") or ""


def end(page: Page) -> Locator:
    return page.get_by_role("group", name="About this pair")


def test_a_burst_to_the_end_of_a_query_lands_on_the_rows_that_were_focused_and_changes_none(
    page: Page, database: Database
) -> None:
    press(page, "213102333", pause=60)  # two presses more than rows
    expect(end(page)).to_contain_text("All 7 graded.")
    page.keyboard.press("Enter")
    expect(page.get_by_text("0 of 7 done")).to_be_visible()
    press(page, "1023102", pause=60)
    wait_saved(page)
    assert [grade for _pair, grade in stored(database)] == [2, 1, 3, 1, 0, 2, 3, 1, 0, 2, 3, 1, 0, 2]
    assert len({pair for pair, _grade in stored(database)}) == 14


def test_a_query_stays_after_its_last_grade_until_enter_and_each_grade_can_be_changed(
    page: Page, database: Database
) -> None:
    press(page, "1111111")
    last = on_screen(page)
    expect(end(page)).to_contain_text("All 7 graded.")
    expect(rows(page).nth(6)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("k")
    sixth = on_screen(page)
    assert sixth != last
    expect(end(page)).to_contain_text("All 7 graded.")
    page.wait_for_timeout(700)  # a press right after the last grade was meant for a further row
    press(page, "3")
    assert on_screen(page) == sixth
    page.get_by_role("button", name="Next query").click()
    expect(page.get_by_text("0 of 7 done")).to_be_visible()
    wait_saved(page)
    assert stored(database)[-1] == (sixth, 3)
    assert len(stored(database)) == 8


def test_a_reload_in_the_middle_keeps_what_was_pressed_and_the_mode_and_after_the_list_nothing_comes_twice(
    page: Page, database: Database
) -> None:
    press(page, "123", pause=0)
    done = pressed(page)
    page.reload()
    open_panel(page)
    expect(rows(page)).to_have_count(7)
    expect(page.get_by_text("3 of 7 done")).to_be_visible()
    press(page, "0")
    wait_saved(page)
    assert stored(database) == [*done, *pressed(page)]
    page.keyboard.press("w")
    expect(rows(page)).to_have_count(0)
    expect(panel(page)).not_to_have_attribute("data-pair-id", "")
    press(page, "30")
    wait_saved(page)
    assert stored(database) == [*done, *pressed(page)]
    assert len({pair for pair, _grade in stored(database)}) == 6


def test_arrows_move_the_row_the_document_follows_and_a_done_row_can_be_opened_again_to_change_it(
    page: Page, database: Database
) -> None:
    row = rows(page).nth(1)
    page.keyboard.press("ArrowDown")
    expect(row).to_be_focused()
    expect(row).to_have_attribute("aria-selected", "true")
    assert (row.get_attribute("aria-posinset"), row.get_attribute("aria-setsize")) == ("2", "7")
    title = row.locator(".rowtitle").inner_text()
    expect(page.locator(".viewer h2")).to_have_text(title)
    page.keyboard.press("End")
    expect(rows(page).nth(6)).to_be_focused()
    last = on_screen(page)
    press(page, "2")
    expect(rows(page).nth(0)).to_have_attribute("aria-selected", "true")
    expect(rows(page).nth(6)).to_contain_text("Graded 2.")
    first = on_screen(page)
    press(page, "1")
    second = on_screen(page)
    assert len({first, second, last}) == 3
    page.keyboard.press("k")
    assert on_screen(page) == first
    expect(page.get_by_role("button", name="Marginally relevant")).to_have_attribute("aria-pressed", "true")
    press(page, "3")
    assert on_screen(page) == second
    page.keyboard.press("z")
    assert on_screen(page) == first
    wait_saved(page)
    assert stored(database) == [(last, 2), (first, 1), (first, 3)]
    assert stored(database, history=False) == [(last, 2), (first, 3)]


def test_what_is_put_off_waits_at_the_end_until_the_rest_is_done_and_a_click_on_a_grade_is_a_press(
    page: Page, database: Database
) -> None:
    later = on_screen(page)
    name = rows(page).nth(0).locator(".rowtitle").inner_text()
    page.keyboard.press("l")
    second = on_screen(page)
    last = rows(page).nth(6)
    expect(last).to_contain_text(f"{name} Later")
    expect(last.locator(".rowsnippet")).to_be_hidden()
    expect(rows(page).nth(0)).to_have_attribute("aria-selected", "true")
    page.get_by_role("button", name="Perfect").click()
    wait_saved(page)
    assert stored(database) == [(later, None), (second, 3)]
    page.reload()
    open_panel(page)
    expect(rows(page).nth(6)).to_contain_text(f"{name} Later")
    press(page, "11111")
    assert on_screen(page) == later
    expect(page.get_by_text("6 of 7 done")).to_be_visible()
    press(page, "l")  # put off again: the other queries come first
    expect(end(page)).to_contain_text("6 of 7 graded, the rest later.")
    page.keyboard.press("Enter")
    for _query in QUERIES[1:]:
        expect(page.get_by_text("0 of 7 done")).to_be_visible()
        press(page, "1111111")
        expect(end(page)).to_contain_text("All 7 graded.")
        page.keyboard.press("Enter")
    expect(rows(page).nth(6)).to_contain_text(name)
    expect(page.get_by_text("6 of 7 done")).to_be_visible()
    press(page, "2")
    wait_saved(page)
    assert stored(database)[-1] == (later, 2)


def test_a_refused_answer_is_taken_back_on_its_row_at_once_and_what_is_settled_is_closed(
    page: Page, database: Database
) -> None:
    pairs = [on_screen(page)]
    page.keyboard.press("j")
    pairs.append(on_screen(page))
    with database.write() as session:
        hanako = key_of(find_person(session, "hanako").pk)
        for key in pairs:
            pair = session.query(PairRow).filter_by(key=key).one()
            session.add(DisclosureRow(pair_pk=key_of(pair.pk), person_pk=hanako, disclosed_at=NOW))
    press(page, "2")
    expect(page.get_by_role("alert")).to_contain_text("you have seen others' judgments")
    for row in (0, 1):
        expect(rows(page).nth(row)).to_contain_text("No judgment needed")
    press(page, "0")
    wait_saved(page)
    assert [grade for _pair, grade in stored(database)] == [0]


@pytest.mark.long(
    "browser/labeling/test_panel_guideline.py::test_training_tells_the_right_grade_and_goes_on_by_one_key_also_after_a_reload"
)
def test_in_training_the_list_steps_aside_and_comes_back_when_it_is_passed(
    page: Page, database: Database
) -> None:
    training = on_screen(page)
    change_settings(database, OPERATOR, "demo", {"training_score": "1"}, now=NOW)
    set_check(database, OPERATOR, "demo", training, kind="training", grade=3, explanation="全部", now=NOW)
    page.reload()
    expect(page.get_by_text("Training shows one pair at a time.")).to_be_visible()
    strip = page.get_by_role("group", name="About this pair")
    expect(strip).to_contain_text("You see the right grade after your judgment.")
    expect(rows(page)).to_have_count(0)
    press(page, "3")
    expect(strip).to_contain_text("Training passed: 1 of 1 right.")
    page.keyboard.press("Enter")
    expect(rows(page)).to_have_count(6)
    expect(strip).to_be_hidden()
    second = on_screen(page)
    press(page, "1")
    wait_saved(page)
    assert stored(database) == [(training, 3), (second, 1)]
