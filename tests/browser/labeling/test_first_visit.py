"""What the panel tells beside the work: a welcome with the guideline, what is new, who decides, the last judgments."""

from datetime import UTC, datetime
from uuid import uuid4

from playwright.sync_api import Locator, Page, expect

from annotator.domain.people import OPERATOR
from annotator.labeling.questions_service import answer_question, ask_question, list_questions
from annotator.people.roles_service import find_actor
from annotator.storage.database import Database
from tests.browser.conftest import SignIn
from tests.browser.panel_world import fill_pool, open_panel, panel, press, pressed, stored, wait_saved

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def sheet(page: Page) -> Locator:
    return page.locator(".sheet")


def history(page: Page) -> Locator:
    return page.get_by_role("group", name="Your last judgments of this query")


def test_the_first_visit_opens_the_guideline_with_the_keys_in_a_line_and_no_later_one_does(
    page: Page, database: Database, sign_in: SignIn
) -> None:
    fill_pool(database)
    sign_in(page, "hanako")
    expect(page.get_by_role("dialog", name="Welcome, 花子")).to_be_visible()
    expect(sheet(page).locator(".welcome")).to_contain_text("0–3 grade · u cannot rate")
    expect(sheet(page)).to_contain_text("Highly relevant")
    press(page, "2")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(sheet(page)).to_be_hidden()
    assert stored(database) == []
    page.reload()
    expect(panel(page)).not_to_have_attribute("data-pair-id", "")
    expect(sheet(page)).to_be_hidden()
    open_panel(page)
    press(page, "2")
    wait_saved(page)
    page.evaluate("() => localStorage.clear()")  # another browser of somebody who has judged
    page.reload()
    expect(panel(page)).not_to_have_attribute("data-pair-id", "")
    expect(sheet(page)).to_be_hidden()


def test_a_lead_who_labels_is_told_once_that_another_lead_decides(
    page: Page, database: Database, sign_in: SignIn
) -> None:
    fill_pool(database)
    sign_in(page, "lea", to="/label?dataset=demo")
    expect(sheet(page)).to_contain_text("Another lead must decide the disagreements on pairs that you judge.")
    open_panel(page)
    press(page, "2")
    wait_saved(page)
    page.evaluate("() => localStorage.clear()")
    for is_told in (True, False):
        page.reload()
        open_panel(page)
        told = page.locator(".remark").filter(has_text="Another lead must decide")
        expect(told).to_be_visible() if is_told else expect(told).to_be_hidden()


def test_new_answers_are_counted_beside_the_work(page: Page, database: Database, sign_in: SignIn) -> None:
    fill_pool(database)
    sign_in(page, "hanako")
    open_panel(page)
    with database.read() as session:
        hanako, lea = find_actor(session, "hanako"), find_actor(session, "lea")
    pair = str(panel(page).get_attribute("data-pair-id"))
    ask_question(database, hanako, "demo", pair=pair, text="何?", event_id=str(uuid4()), now=NOW)
    (question,) = list_questions(database, OPERATOR, "demo")
    answer_question(database, lea, "demo", question.number, "これ", seen=None, in_guideline=False, now=NOW)
    news = page.get_by_role("link", name="New answers and decisions: 1")
    expect(news).to_be_hidden()
    page.reload()
    open_panel(page)
    expect(news).to_be_visible()
    news.click()
    page.wait_for_url("**/work?dataset=demo")


def test_the_last_judgments_of_the_query_are_a_key_away_and_show_no_first_grade_of_the_document_on_the_screen(
    page: Page, database: Database, sign_in: SignIn
) -> None:
    fill_pool(database, documents=5, queries=("x", "y"))
    sign_in(page, "hanako")
    open_panel(page)
    expect(history(page)).to_be_hidden()
    press(page, "31")
    buttons = history(page).get_by_role("button")
    expect(buttons).to_have_text(["3", "1"])
    current = str(panel(page).get_attribute("data-pair-id"))
    first, second = (pair for pair, _grade in pressed(page))
    press(page, "h")
    expect(buttons.nth(1)).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(buttons.nth(0)).to_be_focused()
    page.keyboard.press("Enter")
    expect(panel(page)).to_have_attribute("data-pair-id", first)
    expect(page.locator(".document")).to_be_focused()
    expect(buttons.nth(0)).to_have_attribute("aria-current", "true")
    press(page, "h")
    page.keyboard.press("Enter")
    expect(panel(page)).to_have_attribute("data-pair-id", second)
    press(page, "0")
    expect(panel(page)).to_have_attribute("data-pair-id", current)
    expect(buttons).to_have_text(["3", "0"])
    wait_saved(page)
    assert stored(database, history=False) == [(first, 3), (second, 0)] or stored(
        database, history=False
    ) == [
        (second, 0),
        (first, 3),
    ]
    page.reload()
    open_panel(page)
    expect(buttons).to_have_text(["3", "0"])
    page.evaluate(
        """() => { const key = Object.keys(sessionStorage).find((name) => name.startsWith("annotator/history/"));
        const kept = JSON.parse(sessionStorage.getItem(key));
        const shown = document.querySelector(".docid")?.textContent ?? window.panel().querySelector(".docid").textContent;
        sessionStorage.setItem(key, JSON.stringify([...kept, { ...kept[0], pair: "repeat", doc_id: shown, sign: "2" }])); }"""
    )
    page.reload()
    open_panel(page)
    expect(buttons).to_have_text(["3", "0"])
    press(page, "2222")
    wait_saved(page)
    expect(buttons).to_have_text(["2"])
