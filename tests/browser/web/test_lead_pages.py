"""The pages of a lead in a real browser: where one lands, and headings and charts. Decisions: test_decision_panel.py."""

import re
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from annotator.domain.people import OPERATOR
from annotator.people.service import change_person
from annotator.storage.database import Database
from annotator.storage.tables.central import RubricRow
from tests.browser.conftest import Server, SignIn
from tests.browser.web.test_accessibility import READY
from tests.integration.judged_world import NOW, JudgedWorld

TEXT = (
    "<script>document.title = 'taken'</script>\n__init__ $5 $x$ -> :red[赤] <img src=x> مرحبا 끝"
    + "\n長い本文" * 60
)
NAMES = ("Not *relevant*", ":red[Marginal] $x$", "Highly_relevant_", "完全 <b>")


@pytest.fixture
def world(database: Database) -> JudgedWorld:
    """Three disagreements beside the dataset `demo`: three grades apart, two, and one; lea leads it too."""
    made = JudgedWorld(database)
    change_person(database, OPERATOR, "lea", role="lead", dataset="d", now=NOW)
    first, second = made.person("first"), made.person("second", simulated=True)
    made.query("Q1", "ハンドラキュー 🔎 :red[*x*]", narrative="順序を知りたい")
    made.query("Q2", "토지거래허가구역")
    for query_id, doc_id, grades, text in (
        ("Q1", "遠い", (0, 3), TEXT),
        ("Q2", "中間", (0, 2), "二番目の本文\n" * 60),
        ("Q2", "近い", (2, 3), None),
    ):
        made.pair(query_id, doc_id, rank=2, title=f"題 {doc_id}", text=text)
        made.judge(first, query_id, doc_id, grades[0], note=f"ノート <i>{doc_id}</i>")
        made.judge(second, query_id, doc_id, grades[1])
    with database.write() as session:
        grades = [
            {"grade": grade, "name": name, "definition": f"意味 {name}", "positive_examples": [], "negative_examples": []}
            for grade, name in enumerate(NAMES)
        ]  # fmt: skip
        session.add(RubricRow(dataset_pk=made.dataset_pk, version=2, grades=grades, created_at=NOW))
    return made


def test_a_lead_lands_on_the_overview_and_its_links_keep_the_dataset(
    world: JudgedWorld, page: Page, sign_in: SignIn, server: Server
) -> None:
    sign_in(page, "lea")
    expect(page.get_by_role("heading", name="Overview", level=1)).to_be_visible()
    page.goto(f"{server.address}/overview?dataset=d")
    page.get_by_test_id("stMain").get_by_role("link", name="Disagreements", exact=True).click()
    expect(page.get_by_role("heading", name="Disagreements", level=1)).to_be_visible()
    assert "dataset=d" in page.url


def test_an_annotator_lands_on_their_work_and_is_not_shown_the_lead_pages(
    page: Page, sign_in: SignIn, server: Server
) -> None:
    sign_in(page, "hanako")
    page.wait_for_url(re.compile("/label"))
    page.get_by_role("button", name="Open the sidebar").click()
    expect(page.get_by_role("link", name="Label")).to_be_visible()
    assert page.get_by_role("link", name="Overview").count() == 0
    page.goto(f"{server.address}/agreement")
    expect(page.get_by_text("This page needs the role lead")).to_be_visible()


def test_headings_come_in_order_and_charts_have_words(
    world: JudgedWorld, page: Page, sign_in: SignIn, server: Server
) -> None:
    sign_in(page, "lea")
    for address in ("overview", "agreement", "disagreements", "pool", "releases"):
        page.goto(f"{server.address}/{address}?dataset=d")
        expect(page.locator(READY)).to_be_visible()
        expect(page.locator("h1, h2").first).to_be_visible()
        levels = page.locator("h1, h2, h3, h4").evaluate_all("all => all.map(one => Number(one.tagName[1]))")
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        for chart in page.get_by_test_id("stVegaLiteChart").all():
            expect(chart.locator("[aria-label]").first).to_be_attached()
