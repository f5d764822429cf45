"""The lead's way through the app in a real browser: from the overview to a decision."""

import re
from itertools import pairwise

import pytest
from playwright.sync_api import Locator, Page, expect

from annotator.accounts.service import change_person, find_actor
from annotator.adjudication.service import show_case
from annotator.domain.pairs import pair_key
from annotator.domain.people import OPERATOR
from annotator.storage.database import Database
from annotator.storage.tables import RubricRow
from tests.browser.conftest import Server, SignIn
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


def why(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Why (required)")


def decide(page: Page, grade: int, rationale: str) -> None:
    page.get_by_test_id("stRadioOption").nth(grade).click()
    why(page).fill(rationale)
    page.get_by_role("button", name="Save the decision").click()


def test_a_lead_lands_on_the_overview_and_its_links_keep_the_dataset(
    world: JudgedWorld, page: Page, sign_in: SignIn, server: Server
) -> None:
    sign_in(page, "lea")
    expect(page.get_by_role("heading", name="Overview", level=1)).to_be_visible()
    page.goto(f"{server.address}/overview?dataset=d")
    page.get_by_test_id("stMain").get_by_role("link", name="Disagreements").click()
    expect(page.get_by_role("heading", name="Disagreements", level=1)).to_be_visible()
    assert "dataset=d" in page.url


def test_an_annotator_lands_on_their_work_and_is_not_shown_the_lead_pages(
    page: Page, sign_in: SignIn, server: Server
) -> None:
    sign_in(page, "hanako")
    page.wait_for_url(re.compile("/label"))
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
        expect(page.get_by_role("heading", level=2).nth(1)).to_be_visible(timeout=15_000)
        levels = page.locator("h1, h2, h3, h4").evaluate_all("all => all.map(one => Number(one.tagName[1]))")
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        for chart in page.get_by_test_id("stVegaLiteChart").all():
            expect(chart.locator("[aria-label]").first).to_be_attached()


def test_text_of_others_is_shown_letter_by_letter(world: JudgedWorld, page: Page, sign_in: SignIn) -> None:
    sign_in(page, "lea", to="/disagreements?dataset=d")
    document = page.get_by_role("region", name="Document")
    expect(document).to_be_visible()
    assert document.inner_text() == TEXT
    assert document.locator("*").count() == 0
    assert page.title() != "taken"
    expect(page.get_by_text("ハンドラキュー 🔎 :red[*x*]", exact=True)).to_be_visible()
    expect(page.get_by_text("ノート <i>遠い</i>", exact=True)).to_be_visible()
    for grade, name in enumerate(NAMES):
        expect(page.get_by_text(f"{grade} · {name}", exact=True).last).to_be_visible()
        expect(page.get_by_text(f"意味 {name}", exact=True)).to_be_visible()


def test_a_lead_decides_one_after_the_other(world: JudgedWorld, page: Page, sign_in: SignIn) -> None:
    sign_in(page, "lea", to="/disagreements?dataset=d")
    page.set_viewport_size({"width": 400, "height": 800})
    for doc_id, left in (
        ("遠い", "2 still open"),
        ("中間", "1 still open"),
        ("近い", "No disagreement is open"),
    ):
        expect(page.get_by_text(f"Document {doc_id}", exact=True)).to_be_visible()
        expect(page.locator(".annotator-query").first).to_be_in_viewport()
        decide(page, 2, f"理由 {doc_id} 🎯")
        expect(page.get_by_text(left)).to_be_visible()
    expect(page.get_by_text("Every disagreement is decided")).to_be_visible()
    for query_id, doc_id in (("Q1", "遠い"), ("Q2", "中間"), ("Q2", "近い")):
        (decision,) = show_case(
            world.database, OPERATOR, "d", pair_key("d", query_id, doc_id), now=NOW
        ).decisions
        assert (decision.grade, decision.rationale) == (2, f"理由 {doc_id} 🎯")


def test_the_chosen_row_is_the_case_and_stands_in_the_address(
    world: JudgedWorld, page: Page, sign_in: SignIn
) -> None:
    sign_in(page, "lea", to="/disagreements?dataset=d")
    expect(page.get_by_text("Document 遠い", exact=True)).to_be_visible()
    why(page).fill("途中まで")
    page.get_by_test_id("stDataFrame").click(position={"x": 18, "y": 35 * 2 + 17})
    expect(page.get_by_text("Document 中間", exact=True)).to_be_visible()
    page.wait_for_url(re.compile(pair_key("d", "Q2", "中間")))
    expect(why(page)).to_have_value("")
    page.reload()
    expect(page.get_by_text("Document 中間", exact=True)).to_be_visible()


def test_a_refused_decision_leaves_what_was_typed(world: JudgedWorld, page: Page, sign_in: SignIn) -> None:
    sign_in(page, "lea", to="/disagreements?dataset=d")
    why(page).fill("長い説明")
    page.get_by_role("button", name="Save the decision").click()
    expect(page.get_by_text("Choose a grade first")).to_be_visible()
    expect(why(page)).to_have_value("長い説明")
    with world.database.read() as session:
        first = find_actor(session, "first")
    world.judge(first, "Q1", "遠い", 1, note="見直した")
    decide(page, 3, "長い説明")
    expect(page.get_by_text("Somebody judged or decided this pair meanwhile")).to_be_visible()
    expect(page.get_by_text("見直した")).to_be_visible()
    expect(why(page)).to_have_value("長い説明")
