"""An annotator's side of a disagreement in a real browser: discussed and objected to by keyboard alone, at 400 px, in both themes."""

import pytest
from playwright.sync_api import Locator, Page, expect

from annotator.domain.people import OPERATOR
from annotator.people.roles_service import find_actor
from annotator.people.service import change_person
from annotator.storage.database import Database
from tests.browser.conftest import Server, SignIn
from tests.browser.web.test_accessibility import list_violations, open_page, use_theme
from tests.integration.judged_world import NOW, JudgedWorld

FAR, NEAR = "遠い", "近い"


@pytest.fixture
def world(database: Database) -> JudgedWorld:
    """hanako said 0 where another said 3, which is to be discussed; another pair of theirs is decided at 2 against her 3."""
    made = JudgedWorld(database, discuss_from="3")
    change_person(database, OPERATOR, "hanako", role="annotator", dataset="d", now=NOW)
    with database.read() as session:
        hanako = find_actor(session, "hanako")
    other, lead = made.person("other"), made.person("lead", "lead")
    made.query("Q1", "ハンドラキューの順序 🔎", narrative="順序を知りたい")
    for doc_id, own_grade, other_grade in ((FAR, 0, 3), (NEAR, 3, 2)):
        made.pair("Q1", doc_id, title=f"題 {doc_id}", text="本文の文。\n" * 80)
        made.judge(hanako, "Q1", doc_id, own_grade, note="見出しだけです")
        made.judge(other, "Q1", doc_id, other_grade, note="第3節に順序の表があります " + "x" * 90)
    made.add_decision(lead, "Q1", NEAR, 2)
    return made


def press(element: Locator, key: str = "Enter") -> None:
    """As somebody without a mouse: what is focused gets a key."""
    element.focus()
    element.press(key)


@pytest.mark.long("unit/web/adjudication/test_own_disagreements.py")
def test_a_discussion_and_an_objection_by_keyboard_alone(
    world: JudgedWorld, server: Server, page: Page, sign_in: SignIn
) -> None:
    sign_in(page, "hanako")
    open_page(page, server, "work")
    expect(page.get_by_role("tab", name="Decisions")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_text("New", exact=True)).to_be_visible()
    expect(page.get_by_text("本文の文。")).to_be_visible()
    expect(page.get_by_role("link", name="My work 1")).to_be_visible()
    press(page.get_by_role("button", name="1 discussion waits for you"))
    expect(page.get_by_role("tab", name="Discussions")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("cell", name="第3節に順序の表があります")).to_be_visible()
    expect(page.get_by_role("link", name="My work 1")).to_be_visible()
    page.set_viewport_size({"width": 400, "height": 800})
    use_theme(page, "dark")
    assert list_violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    choice = page.get_by_role("radio", name="Keep 0")
    choice.focus()
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    expect(page.get_by_role("radio", name="Revise to 2")).to_be_checked()
    page.get_by_role("textbox", name="Reason (optional)").focus()
    page.keyboard.type("表を見ました")
    press(page.get_by_role("button", name="Answer", exact=True))
    expect(page.get_by_text("Reply saved.")).to_be_visible()
    expect(page.get_by_role("cell", name="revised to 2")).to_be_visible()
    page.get_by_role("tab", name="Discussions").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.get_by_text("New", exact=True)).to_be_visible()
    press(page.locator("summary", has_text="Object"))
    page.get_by_role("textbox", name="Reason for the objection").focus()
    page.keyboard.type("本文を見てください")
    press(page.get_by_role("button", name="Send objection"))
    expect(page.get_by_text("Objection sent.")).to_be_visible()
    expect(page.get_by_text("Waiting for a lead.")).to_be_visible()
    expect(page.locator('[class*="st-key-decided_"]')).to_be_focused()
    assert list_violations(page) == []
    page.set_viewport_size({"width": 1280, "height": 900})
    use_theme(page, "light")
    assert list_violations(page) == []
