"""The evaluation page in a real browser: from a sentence to the ranked lists of a query, a document, and what is judged next."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from annotator.domain.people import OPERATOR
from annotator.people.service import change_person
from annotator.pooling.service import list_pairs
from annotator.storage.database import Database
from tests.browser.conftest import SignIn, go
from tests.browser.web.test_accessibility import list_violations, use_theme, wait_until_drawn
from tests.integration.evaluated_world import EvaluatedWorld
from tests.integration.judged_world import NOW


@pytest.fixture
def world(database: Database, tmp_path: Path) -> EvaluatedWorld:
    made = EvaluatedWorld(database, tmp_path)
    change_person(database, OPERATOR, "lea", role="lead", dataset="d", now=NOW)
    return made


@pytest.mark.long(
    "unit/web/evaluation/test_evaluation_page.py",
    "browser/web/test_accessibility.py::test_no_page_violates_wcag_22_aa_or_its_own_policy_and_headings_come_in_order",
)
def test_a_lead_goes_from_the_scores_to_a_query_and_has_its_unjudged_documents_judged(
    world: EvaluatedWorld, page: Page, sign_in: SignIn
) -> None:
    sign_in(page, "lea", to="/evaluation?dataset=d")
    expect(page.get_by_role("heading", name="Key results")).to_be_visible()
    expect(page.get_by_role("table", name="nDCG@10 by system")).to_contain_text("dense")
    page.get_by_role("tab", name="Differences").click()
    expect(page.get_by_role("heading", name="Differences on nDCG@10")).to_be_visible()
    page.get_by_role("tab", name="Query by query").click()
    page.get_by_role("link", name="Open the ranked lists of Q1").click()
    expect(page.get_by_role("heading", name="Query Q1")).to_be_visible()
    lists = page.get_by_role("table", name="Ranked lists side by side")
    expect(lists.get_by_label("grade 3")).to_have_count(2)
    expect(lists.get_by_text("unjudged")).to_have_count(2)
    page.get_by_role("button", name="Request judgments").click()
    expect(page.get_by_text("2 pairs were added to the pool.")).to_be_visible()
    expect(lists).to_have_count(0)
    page.get_by_role("button", name="Show them and judge these pairs no more").click()
    expect(lists.get_by_text("waiting for judgment")).to_have_count(2)
    pooled = {(pair.query_id, pair.doc_id) for pair in list_pairs(world.database, OPERATOR, "d")}
    assert {("Q1", "x"), ("Q1", "z")} <= pooled
    lists.get_by_role("link", name="a", exact=True).first.click()
    expect(page.get_by_role("link", name="Close document")).to_be_visible()
    assert parse_qs(urlsplit(page.url).query)["document"] == ["a"]
    page.reload()
    page.get_by_role("link", name="Close document").click()
    page.get_by_role("link", name="Back to the evaluation").click()
    expect(page.get_by_role("heading", name="nDCG@10 by query")).to_be_visible()


@pytest.mark.long(
    "browser/web/test_accessibility.py::test_no_page_violates_wcag_22_aa_or_its_own_policy_and_headings_come_in_order"
)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_part_of_the_page_violates_wcag_22_aa(
    world: EvaluatedWorld, page: Page, sign_in: SignIn, theme: str
) -> None:
    sign_in(page, "lea", to="/evaluation?dataset=d&query=Q1&document=a")
    expect(page.get_by_role("heading", name="Relevant documents missing from all lists")).to_be_visible()
    use_theme(page, theme)
    assert list_violations(page) == []
    go(page, "/evaluation?dataset=d")
    for tab, heading in (
        ("Scores", "nDCG@10"),
        ("Reliability", "Score loss if a system had not been pooled"),
        ("Two releases", "Scores of the same runs on two releases"),
    ):
        page.get_by_role("tab", name=tab).click()
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
        wait_until_drawn(page)
        assert list_violations(page) == [], tab
