"""What counts as a press and what does not; and the panel's other keys."""

import pytest
from playwright.sync_api import Page, expect

from annotator.domain.people import OPERATOR
from annotator.labeling.service import list_judgments
from annotator.storage.database import Database
from annotator.storage.tables.central import JudgmentRow
from tests.browser.conftest import SignIn
from tests.browser.panel_world import fill_pool, open_panel, panel, press, stored, wait_saved

# Closes the reasons and opens the find box before the browser has told anybody that the dialog is closed.
GO_ON_AT_ONCE = """async () => {
  const press = (key) => document.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, composed: true }));
  press('u');
  const dialog = window.panel().querySelector('dialog[open]'), closed = new Promise((done) => dialog.addEventListener('close', done));
  dialog.close();
  press('/');
  await closed;
}"""


@pytest.fixture(autouse=True)
def started(page: Page, database: Database, sign_in: SignIn) -> None:
    fill_pool(database)
    sign_in(page, "hanako")
    open_panel(page)


def on_screen(page: Page) -> str:
    return str(panel(page).get_attribute("data-pair-id"))


def test_a_held_key_is_one_label_a_click_on_a_grade_too_and_other_keys_and_keys_with_a_modifier_are_none(
    page: Page, database: Database
) -> None:
    pair = on_screen(page)
    for key in ("Control+1", "Alt+2", "Meta+3", "4", "9", "a", "Enter", " ", "Shift+Digit2"):
        page.keyboard.press(key)
        page.wait_for_timeout(200)
        assert on_screen(page) == pair, key
        assert stored(database) == [], key
        expect(page.get_by_role("dialog")).to_have_count(0)
    for _ in range(15):
        page.keyboard.down("2")
        page.wait_for_timeout(40)
    page.keyboard.up("2")
    wait_saved(page)
    assert stored(database) == [(pair, 2)]
    pair = on_screen(page)
    page.get_by_role("button", name="Highly relevant").click()
    press(page, "3")
    wait_saved(page)
    assert stored(database)[1] == (pair, 2)
    assert len(stored(database)) == 3


def test_keys_typed_into_the_note_do_not_label_and_the_note_outlives_a_reload_and_goes_with_the_grade(
    page: Page, database: Database
) -> None:
    pair = on_screen(page)
    page.keyboard.press("n")
    page.keyboard.type("第2章 and 0 1 2 3 u l z")
    page.keyboard.press("Backspace")
    assert on_screen(page) == pair
    page.reload()
    open_panel(page)
    assert page.locator("#note").input_value() == "第2章 and 0 1 2 3 u l "
    page.keyboard.press("n")
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    wait_saved(page)
    assert stored(database) == [(pair, 2)]
    assert list_judgments(database, OPERATOR, "demo")[0].note == "第2章 and 0 1 2 3 u l "
    assert page.locator("#note").input_value() == ""


def test_japanese_composition_does_not_label(page: Page, database: Database) -> None:
    pair = on_screen(page)
    devtools = page.context.new_cdp_session(page)
    page.keyboard.press("n")
    devtools.send("Input.imeSetComposition", {"text": "に", "selectionStart": 1, "selectionEnd": 1})
    for _ in range(2):
        devtools.send(
            "Input.dispatchKeyEvent",
            {"type": "rawKeyDown", "key": "Process", "code": "Digit2", "windowsVirtualKeyCode": 229},
        )
    devtools.send("Input.insertText", {"text": "二"})
    page.keyboard.press("Escape")
    # an input method that is on while no field is focused sends the same keys to the page
    devtools.send(
        "Input.dispatchKeyEvent",
        {"type": "rawKeyDown", "key": "Process", "code": "Digit2", "windowsVirtualKeyCode": 229},
    )
    page.evaluate(
        "() => document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '2', code: 'Digit2', isComposing: true, bubbles: true, composed: true}))"
    )
    assert on_screen(page) == pair
    press(page, "1")
    wait_saved(page)
    assert stored(database) == [(pair, 1)]
    assert list_judgments(database, OPERATOR, "demo")[0].note == "二"


def test_going_back_changes_the_grade_of_the_pair_before_and_then_goes_on(
    page: Page, database: Database
) -> None:
    first = on_screen(page)
    press(page, "1")
    second = on_screen(page)
    press(page, "z")
    assert on_screen(page) == first
    expect(page.get_by_role("button", name="Marginally relevant")).to_have_attribute("aria-pressed", "true")
    press(page, "3")
    assert on_screen(page) == second
    wait_saved(page)
    assert stored(database) == [(first, 1), (first, 3)]
    assert stored(database, history=False) == [(first, 3)]
    expect(page.get_by_text("1 of 90")).to_be_visible()


def test_cannot_rate_asks_for_the_reason_and_takes_one_more_key(page: Page, database: Database) -> None:
    first = on_screen(page)
    page.keyboard.press("u")
    dialog = page.get_by_role("dialog", name="Cannot rate: choose a reason")
    expect(dialog.get_by_role("button", name="Unreadable")).to_be_focused()
    press(page, "lz0n")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert on_screen(page) == first
    expect(page.get_by_role("region", name="Document", exact=True)).to_be_focused()
    page.evaluate(GO_ON_AT_ONCE)
    expect(page.get_by_role("searchbox", name="Find in the document")).to_be_focused()
    page.keyboard.press("Escape")
    press(page, "u3")
    second = on_screen(page)
    page.get_by_role("button", name="Cannot rate").click()
    page.get_by_role("button", name="Another reason").click()
    field = dialog.get_by_role("textbox", name="Which reason?")
    expect(field).to_be_focused()
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_have_text("Enter the reason.")
    assert on_screen(page) == second
    page.keyboard.type("2 pages in 1")
    page.keyboard.press("Enter")
    third = on_screen(page)
    assert len({first, second, third}) == 3
    press(page, "l")
    wait_saved(page)
    outcomes = {j.pair_key: j.outcome for j in list_judgments(database, OPERATOR, "demo", history=True)}
    assert outcomes == {first: "unrateable", second: "unrateable", third: "later"}
    with database.read() as session:
        reasons = {(row.reason, row.note) for row in session.query(JudgmentRow)}
    assert reasons == {("document_missing", None), ("other", "2 pages in 1"), (None, None)}


@pytest.mark.long(
    "browser/labeling/test_panel_list.py::test_what_is_put_off_waits_at_the_end_until_the_rest_is_done_and_a_click_on_a_grade_is_a_press"
)
def test_later_brings_the_pair_back_at_the_end(page: Page, database: Database) -> None:
    first = on_screen(page)
    press(page, "l")
    second = on_screen(page)
    press(page, "l")
    wait_saved(page)
    page.reload()
    open_panel(page)
    assert on_screen(page) not in (first, second)
