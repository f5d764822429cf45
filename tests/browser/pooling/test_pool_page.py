"""The Pool page in a real browser: from what a system alone brought to its pairs, a pair, and what a round left out."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from annotator.domain.people import OPERATOR
from annotator.people.service import change_person
from annotator.storage.database import Database
from tests.browser.conftest import SignIn, go
from tests.browser.web.test_accessibility import list_violations, use_theme, wait_until_drawn
from tests.integration.judged_world import NOW
from tests.integration.pooled_world import PooledWorld


@pytest.fixture
def world(database: Database) -> PooledWorld:
    made = PooledWorld(database)
    made.add_round()
    change_person(database, OPERATOR, "lea", role="lead", dataset="d", now=NOW)
    return made


def test_a_lead_goes_from_a_system_to_its_pairs_and_from_what_a_round_left_out_to_what_is_judged_in_its_stead(
    world: PooledWorld, page: Page, sign_in: SignIn
) -> None:
    sign_in(page, "lea", to="/pool?dataset=d")
    systems = page.get_by_role("table", name="Pairs by the system that proposed them")
    expect(systems.get_by_role("row", name="s1")).to_contain_text("50 % (1 / 2)")
    page.get_by_role("link", name="Show the pairs that only s1 proposed").click()
    pairs = page.get_by_role("table", name="The pairs of the pool")
    expect(pairs.get_by_role("row")).to_have_count(2)
    expect(page.get_by_text("1 of 5 pairs.")).to_be_visible()
    pairs.get_by_role("link", name="Open the pair Q2 b").click()
    expect(page.get_by_role("table", name="Who proposed it")).to_contain_text("벡터: 1")
    page.get_by_role("link", name="Back to the pairs").click()
    expect(pairs.get_by_role("row")).to_have_count(6)
    assert parse_qs(urlsplit(page.url).query)["tab"] == ["Pairs"]
    page.get_by_label("Query id, document id or title").fill("e_1")
    page.keyboard.press("Enter")
    expect(pairs.get_by_role("row")).to_have_count(2)

    page.get_by_role("tab", name="Overlap").click()
    sets = page.get_by_role("table", name="Sets of systems that proposed the same pairs")
    expect(sets.get_by_role("row", name="s0, s1")).to_contain_text("100 % (1 / 1)")
    expect(
        sets.get_by_role("row", name="s0, s1").get_by_role("img", name="1 without a settled grade")
    ).to_be_visible()
    expect(page.get_by_text("Proposed by one system alone: 2 of 5 (40 %).")).to_be_visible()

    page.get_by_role("tab", name="Rounds").click()
    page.get_by_role("link", name="Show what near-duplicate left out of round 1").click()
    left_out = page.get_by_role("table", name="Left out of round 1 by near-duplicate")
    left_out.get_by_role("link", name="Open the pair Q1 d").click()
    expect(page.get_by_role("heading", name="Left out in favor of this document")).to_be_visible()
    expect(page.get_by_text("came in round 1")).to_be_visible()


@pytest.mark.long(
    "browser/web/test_accessibility.py::test_no_page_violates_wcag_22_aa_or_its_own_policy_and_headings_come_in_order"
)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_tab_of_the_page_violates_wcag_22_aa(
    world: PooledWorld, page: Page, sign_in: SignIn, theme: str
) -> None:
    sign_in(page, "lea", to="/pool?dataset=d")
    expect(page.get_by_role("heading", name="By system")).to_be_visible()
    use_theme(page, theme)
    assert list_violations(page) == []
    for parameters, heading in (
        ("tab=Overlap", "Who proposed the same pairs"),
        ("tab=Depth", "By category, at the last ranks"),
        ("tab=Rounds&left=1&rule=near-duplicate", "Left out of round 1 by near-duplicate"),
        ("tab=New+round", "Preview"),
        ("tab=Near+duplicates&grades=shown", "Near duplicates"),
        ("tab=Proposals", "Proposed by annotators"),
        ("tab=Pairs&system=s1", "Pairs"),
        (f"pair={world.find_key('Q1', 'd')}", "Who proposed it"),
    ):
        go(page, f"/pool?dataset=d&{parameters}")
        expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
        wait_until_drawn(page)
        assert list_violations(page) == [], parameters


@pytest.mark.long("unit/web/pooling/test_new_round.py")
def test_a_lead_makes_rounds_by_relations_and_sees_why_there_are_no_unjudged_results(
    world: PooledWorld, page: Page, sign_in: SignIn, tmp_path: Path
) -> None:
    relations = tmp_path / "relations.csv"
    relations.write_text("from,to,relation\na,e_1,cites\n", encoding="utf-8")
    sign_in(page, "lea", to="/pool?dataset=d&tab=New+round")
    page.get_by_role("radio", name="Unjudged results").click()
    expect(page.get_by_text("There is no imported run yet.")).to_be_visible()
    assert list_violations(page) == []
    page.get_by_role("radio", name="Relations between documents").click()
    page.locator("input[type=file]").set_input_files(relations)
    page.get_by_role("combobox", name="Relation cites (1)").click()
    page.get_by_role("option", name="in its direction").click()
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="Preview")).to_be_visible()
    expect(page.get_by_text("1 new pair.")).to_be_visible()
    assert list_violations(page) == []
    page.get_by_role("button", name="Add 1 pair to the pool").click()
    expect(page.get_by_text("Round 2: 1 pair was added.")).to_be_visible()


@pytest.mark.long("unit/web/pooling/test_new_round.py")
def test_a_lead_makes_a_round_in_two_tabs_and_its_pairs_come_once(
    world: PooledWorld, page: Page, sign_in: SignIn
) -> None:
    world.query("Q3", "本文")
    for doc_id in ("e_2", "e_3"):
        world.pair("Q2", doc_id, text="本文 本文")
    sign_in(page, "lea", to="/pool?dataset=d&tab=New+round")
    second = page.context.new_page()
    second.goto(page.url)
    for tab in (page, second):
        expect(tab.get_by_role("heading", name="Preview")).to_be_visible()
        expect(tab.get_by_role("button", name="Add 2 pairs to the pool")).to_be_visible()
    page.get_by_role("button", name="Add 2 pairs to the pool").click()
    expect(page.get_by_text("Round 2: 2 pairs were added.")).to_be_visible()
    second.get_by_role("button", name="Add 2 pairs to the pool").click()
    expect(second.get_by_text("Nothing was added: these pairs are in the pool already.")).to_be_visible()
    expect(second.get_by_text("No new pair. 2 pairs are in the pool already.")).to_be_visible()
    page.get_by_role("link", name="Show the pairs of round 2").click()
    expect(page.get_by_role("table", name="The pairs of the pool").get_by_role("row")).to_have_count(3)
