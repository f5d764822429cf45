"""Where one lands after signing in, in a real browser, and that an annotator is shown no page of a lead."""

import re

import pytest
from playwright.sync_api import Page, expect

from annotator.domain.people import OPERATOR
from annotator.people.service import change_person
from annotator.storage.database import Database
from tests.browser.conftest import Server, SignIn, go, wait_until_quiet
from tests.integration.judged_world import NOW, JudgedWorld


@pytest.fixture
def world(database: Database) -> JudgedWorld:
    """A disagreement beside the dataset `demo`; lea leads it too."""
    made = JudgedWorld(database)
    change_person(database, OPERATOR, "lea", role="lead", dataset="d", now=NOW)
    made.query("Q1", "ハンドラキュー 🔎 :red[*x*]")
    made.pair("Q1", "遠い", rank=2)
    for name, grade in (("first", 0), ("second", 3)):
        made.judge(made.person(name), "Q1", "遠い", grade)
    return made


def test_a_lead_lands_on_the_overview_and_its_links_keep_the_dataset(
    world: JudgedWorld, page: Page, sign_in: SignIn, server: Server
) -> None:
    sign_in(page, "lea")
    expect(page.get_by_role("heading", name="Overview", level=1)).to_be_visible()
    page.goto(f"{server.address}/overview?dataset=d")
    page.get_by_test_id("stMain").get_by_role("link", name=re.compile("open disagreement")).click()
    expect(page.get_by_role("heading", name="Disagreements", level=1)).to_be_visible()
    assert "dataset=d" in page.url


NOTE_SHIFTS = """
  window.shifts = [];
  const note = (list) => shifts.push(...list.getEntries().filter((shift) => !shift.hadRecentInput).map((shift) => shift.value));
  new PerformanceObserver(note).observe({ type: "layout-shift", buffered: true });
"""


@pytest.mark.parametrize("address", ["/overview?dataset=d", "/label?dataset=d"])
def test_nothing_jumps_while_a_page_is_loaded(
    world: JudgedWorld, page: Page, sign_in: SignIn, address: str
) -> None:
    page.add_init_script(NOTE_SHIFTS)
    sign_in(page, "lea", to=address)
    wait_until_quiet(page)
    assert page.evaluate("shifts.reduce((sum, shift) => sum + shift, 0)") <= 0.1


def test_an_annotator_lands_on_their_work_and_is_not_shown_the_lead_pages(
    page: Page, sign_in: SignIn, server: Server
) -> None:
    sign_in(page, "hanako")
    expect(page).to_have_url(re.compile(r"/label\?dataset=demo$"))
    page.get_by_role("button", name="Open the sidebar").click()
    expect(page.get_by_role("link", name="Label")).to_be_visible()
    for title in ("Overview", "People"):
        assert page.get_by_role("link", name=title).count() == 0
    page.goto(f"{server.address}/agreement")
    expect(page.get_by_text("This page needs the role lead")).to_be_visible()
    for address in ("pool", "releases"):
        go(page, f"/{address}?dataset=demo")
        expect(page).to_have_title(f"{address.capitalize()} · Annotator")
        expect(page.get_by_text("This page needs the role lead on this dataset.")).to_be_visible()
