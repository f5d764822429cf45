"""The queue of disagreements in a real browser: its address, the browser's way back, by keyboard only, and on a phone."""

import re

import pytest
from playwright.sync_api import Page, expect

from annotator.adjudication.service import assign_disagreement
from annotator.domain.people import OPERATOR
from annotator.people.roles_service import find_actor
from annotator.people.service import change_person
from annotator.storage.database import Database
from annotator.storage.pairs.pool import pair_key
from tests.browser.conftest import SignIn, wait_until_quiet
from tests.browser.web.test_accessibility import READY, list_violations, use_theme
from tests.integration.judged_world import NOW, JudgedWorld

QUEUE = "/disagreements?dataset=d"
WHOLE = "() => document.documentElement.scrollWidth <= innerWidth"


@pytest.fixture
def world(database: Database) -> JudgedWorld:
    """Three disagreements in the dataset `d`, which lea leads: three grades apart, two, and one."""
    made = JudgedWorld(database)
    change_person(database, OPERATOR, "lea", role="lead", dataset="d", now=NOW)
    first, second = made.person("first"), made.person("second", simulated=True)
    made.query("Q1", "ハンドラキュー 🔎 :red[*x*] <b>", category="framework_configuration")
    made.query("Q2", "토지거래허가구역안에서의건축허가", category="land_planning_law")
    for query_id, doc_id, grades in (("Q1", "遠い", (0, 3)), ("Q2", "中間", (0, 2)), ("Q2", "近い", (2, 3))):
        made.pair(query_id, doc_id, rank=2, title=f"HttpAccessLogHandler {doc_id}", text="本文\n" * 40)
        made.judge(first, query_id, doc_id, grades[0])
        made.judge(second, query_id, doc_id, grades[1])
    return made


def test_a_filter_is_in_the_address_and_the_browsers_way_back_takes_it_off(
    world: JudgedWorld, page: Page, sign_in: SignIn
) -> None:
    sign_in(page, "lea", to=f"{QUEUE}&grades=2-3")
    rows = page.get_by_role("region", name="Disagreements. Choose one to decide it.").locator("tbody tr")
    expect(rows).to_have_count(1)
    expect(page.get_by_text("1 of 3: 2 against 3.")).to_be_visible()
    page.get_by_role("button", name="Clear filters").click()
    expect(rows).to_have_count(3)
    expect(page).not_to_have_url(re.compile("grades="))
    page.get_by_text("all", exact=True).first.click()
    expect(page).to_have_url(re.compile("show=all"))
    wait_until_quiet(page)
    page.go_back()
    expect(page).not_to_have_url(re.compile("show=all"))
    wait_until_quiet(page)
    page.go_back()
    expect(rows).to_have_count(1)
    expect(page.get_by_text("1 of 3: 2 against 3.")).to_be_visible()


def test_every_column_is_in_sight_and_the_keyboard_goes_through_the_rows_to_the_disagreement_and_back(
    world: JudgedWorld, page: Page, sign_in: SignIn
) -> None:
    sign_in(page, "lea", to=f"{QUEUE}&show=all")
    table = page.get_by_role("region", name="Disagreements. Choose one to decide it.")
    link = table.get_by_role("link", name="Q1 ハンドラキュー 🔎 :red[*x*] <b>")
    expect(link).to_have_attribute("href", re.compile(r"dataset=d&show=all&pair="))
    assert table.evaluate("e => e.scrollWidth <= e.clientWidth"), "beside the sidebar too"
    link.focus()
    page.keyboard.press("ArrowDown")
    expect(table.locator("tbody tr").nth(1).get_by_role("link")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"show=all&pair={pair_key('d', 'Q2', '中間')}"))
    expect(page.get_by_text("2 apart")).to_be_visible()
    sidebar = page.get_by_test_id("stSidebar")
    expect(sidebar).to_have_attribute("data-collapsed", "true")  # the document needs its room
    page.go_back()
    expect(sidebar).to_have_attribute("data-collapsed", "false")
    expect(table.locator("tbody tr").nth(1).get_by_role("link")).to_be_focused()


def test_on_a_phone_every_part_is_whole_and_accessible_in_both_themes(
    world: JudgedWorld, page: Page, sign_in: SignIn, is_long_run: bool
) -> None:
    """In `make test` one part is dark and the others are light."""
    page.set_viewport_size({"width": 400, "height": 800})
    sign_in(page, "lea", to=f"{QUEUE}&taste=no")
    expect(
        page.get_by_role("region", name="Disagreements. Choose one to decide it.").locator("tbody tr")
    ).to_have_count(2)
    violations: list[str] = []
    for part, drawn in (("Breakdown", "Table by category"), ("Settle in bulk", "Policy"), ("Meeting file", "Queue as CSV")):  # fmt: skip
        page.get_by_role("tab", name=part).click()
        expect(page.get_by_text(drawn, exact=True).first).to_be_visible()
        expect(page.locator(READY)).to_be_visible()
        expect(page.locator('[data-stale="true"]')).to_have_count(0)  # faded while it is drawn again
        for theme in ("light", "dark") if is_long_run else ("dark" if part == "Breakdown" else "light",):
            use_theme(page, theme)
            violations += [f"{part} {theme}: {' '.join(violation)}" for violation in list_violations(page)]
        assert page.evaluate(WHOLE), part
    assert violations == []


@pytest.mark.long(
    "browser/adjudication/test_queue.py::test_on_a_phone_every_part_is_whole_and_accessible_in_both_themes",
    "unit/web/adjudication/test_audit_log_table.py",
)
def test_the_activity_log_fits_a_phone(world: JudgedWorld, page: Page, sign_in: SignIn) -> None:
    with world.database.read() as session:
        lea = find_actor(session, "lea")
    for doc_id in ("遠い", "中間"):
        pair = pair_key("d", "Q1" if doc_id == "遠い" else "Q2", doc_id)
        assign_disagreement(world.database, lea, "d", pair, to="lea", now=NOW)
    page.set_viewport_size({"width": 400, "height": 800})
    sign_in(page, "lea", to=QUEUE)
    page.locator("summary", has_text="Activity log").click()
    table = page.get_by_role("region", name="Activity log")
    expect(table.get_by_text("assigned").first).to_be_visible()
    assert table.evaluate("e => e.scrollWidth <= e.clientWidth")
    assert table.get_by_role("rowheader").count() == 2, "it is a table still"
