"""Quality control in a real browser: a lead draws, the third expert judges blind, and the lead finds the error's case."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Response, expect

from annotator.domain.people import OPERATOR
from annotator.people.service import change_person
from annotator.storage.database import Database
from annotator.storage.pairs.pool import pair_key
from tests.browser.conftest import Server, SignIn
from tests.browser.panel_world import open_panel, panel, wait_saved
from tests.integration.judged_world import NOW, JudgedWorld

GRADES = {("Q1", f"章 {number}.md"): 2 for number in range(6)} | {
    ("Q2", f"절 {number}.md"): 0 for number in range(4)
}
WRONG = ("Q2", "절 2.md")
NEW = ("Q2", "새 문서.md")


@pytest.fixture
def world(database: Database) -> JudgedWorld:
    """Ten settled pairs and one that nobody has judged. lea leads, hanako has judged nothing."""
    made = JudgedWorld(database)
    change_person(database, OPERATOR, "lea", role="lead", dataset="d", now=NOW)
    change_person(database, OPERATOR, "hanako", role="annotator", dataset="d", now=NOW)
    first, second = made.person("first"), made.person("second")
    made.query("Q1", "ハンドラキューの順序", category="設定")
    made.query("Q2", "토지거래허가구역", category="법")
    for (query_id, doc_id), grade in GRADES.items():
        made.pair(query_id, doc_id, title=f"題 {doc_id}", text="本文")
        made.judge(first, query_id, doc_id, grade)
        made.judge(second, query_id, doc_id, grade)
    made.pair(*NEW, title="題", text="本文")
    return made


def draw_everything(page: Page) -> None:
    """By the keyboard alone, as far as the page's own fields go."""
    expect(page.get_by_role("spinbutton", name="Number of pairs")).to_have_value("10")
    page.get_by_role("button", name="Draw 10 pairs").press("Enter")
    expect(page.get_by_text("10 pairs drawn. They appear for 花子 on the page Label.")).to_be_visible()


def judge_all(page: Page) -> None:
    """Give each pair its grade, but for one of them."""
    grades_by_pair = {pair_key("d", *name): grade for name, grade in (GRADES | {WRONG: 3, NEW: 1}).items()}
    while grades_by_pair:
        pair = str(panel(page).get_attribute("data-pair-id"))
        page.keyboard.press(str(grades_by_pair.pop(pair)))
        expect(panel(page)).not_to_have_attribute("data-pair-id", pair)
    wait_saved(page)


def listen(page: Page) -> list[Any]:
    """Everything the page is answered by our own routes, from here on."""
    heard: list[Any] = []

    def note(response: Response) -> None:
        if "/api/judgments" in response.url and response.ok:
            heard.append(response.json())

    page.on("response", note)
    return heard


def test_a_lead_draws_the_expert_judges_blind_and_the_error_leads_to_its_case(
    world: JudgedWorld, page: Page, browser: Browser, sign_in: SignIn, server: Server
) -> None:
    sign_in(page, "lea", to="/quality?dataset=d")
    expect(page.get_by_role("combobox", name="Checker")).to_have_value(
        "花子 (hanako): has judged none of them, can check 10"
    )
    draw_everything(page)
    expect(
        page.get_by_role("heading", name="Sample", exact=True, level=2)
    ).to_be_focused()  # the button is gone
    main = page.get_by_test_id("stMain")
    for name in GRADES:
        assert name[1] not in main.inner_text()  # which pairs were drawn is told to nobody

    experts = browser.new_context(locale="en-US")
    expert = experts.new_page()
    heard = listen(expert)
    sign_in(expert, "hanako", to="/label?dataset=d")
    open_panel(expert)
    judge_all(expert)
    handed = [pair for answer in heard for pair in answer["pairs"]]
    assert {pair["pair"] for pair in handed} == {pair_key("d", *name) for name in (*GRADES, NEW)}
    assert len({frozenset(pair) for pair in handed}) == 1  # the new pair and those drawn look alike
    heard_text = str(heard).lower()
    assert not [word for word in ("quality", "settled", "expert", "draw", "purpose") if word in heard_text]
    experts.close()

    page.reload()
    expect(page.get_by_role("heading", name="Errors", exact=True)).to_be_visible()
    row = page.get_by_role("row").filter(has_text=WRONG[1])
    expect(row).to_contain_text("waiting for a decision")
    row.get_by_role("link", name=WRONG[1]).press("Enter")
    expect(page.get_by_role("heading", name="Disagreements", level=1)).to_be_visible()
    expect(page.get_by_role("region", name="Document").get_by_text(WRONG[1], exact=True)).to_be_visible()


@pytest.mark.long(
    "browser/web/test_accessibility.py",
    "browser/quality/test_quality.py::test_a_lead_draws_the_expert_judges_blind_and_the_error_leads_to_its_case",
)
def test_at_400_pixels_no_date_or_share_of_a_draw_is_broken_and_only_the_table_scrolls_sideways(
    world: JudgedWorld, page: Page, sign_in: SignIn
) -> None:
    sign_in(page, "lea", to="/quality?dataset=d")
    draw_everything(page)
    page.set_viewport_size({"width": 400, "height": 800})
    row = page.get_by_role("table", name="Draws").get_by_role("row").nth(1)
    cells = row.locator("td")
    expect(cells).to_have_count(11)
    for cell in cells.all():
        cell_text = cell.inner_text()
        lines = cell.evaluate(
            "e => { const r = document.createRange(); r.selectNodeContents(e);"
            " return new Set([...r.getClientRects()].map(box => Math.round(box.top))).size }"
        )
        assert lines == 1, cell_text
    for part in ("document.scrollingElement", "document.querySelector('.stMain')"):
        assert page.evaluate(f"{part}.scrollWidth") <= 400
