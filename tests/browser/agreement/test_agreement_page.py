"""The agreement page in a real browser: from a cell to its pairs, with the mouse and without, and the files of a chart."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotator.domain.people import OPERATOR
from annotator.people.roles_service import find_actor
from annotator.people.service import change_person
from annotator.storage.database import Database
from annotator.storage.pairs.pool import pair_key
from tests.browser.conftest import Server, SignIn, go
from tests.integration.judged_world import NOW, JudgedWorld

DISAGREED = "Pairs graded 0 by ann Realname and 3 by 花子 🌱 Realname"


@pytest.fixture
def world(database: Database) -> JudgedWorld:
    """Two queries judged by three; ann and 花子 are furthest apart on one pair. lea leads the dataset."""
    made = JudgedWorld(database)
    change_person(database, OPERATOR, "lea", role="lead", dataset="d", now=NOW)
    people = [made.person(name) for name in ("ann", "花子 🌱", "a_long_*name*_that_goes_on@example.org")]
    with made.at_once():
        made.query("Q1", "ハンドラキュー <b>🔎</b>", category="設定")
        made.query("Q2", "토지거래허가구역", category="법")
        for at in range(8):
            query_id = f"Q{at % 2 + 1}"
            made.pair(query_id, f"d{at}")
            for person, grade in zip(people, (0, 3, 0) if at == 0 else (at % 4,) * 3, strict=True):
                made.judge(person, query_id, f"d{at}", grade)
    return made


def test_a_click_on_a_cell_or_the_keyboard_opens_its_pairs_and_their_case_also_at_400_pixels(
    world: JudgedWorld, page: Page, sign_in: SignIn
) -> None:
    sign_in(page, "lea", to="/agreement?dataset=d&tab=Annotators&rows=ann&columns=花子 🌱")
    page.locator(".st-key-confusion .mark-text text").nth(3).click()
    expect(page.get_by_role("heading", name=DISAGREED)).to_be_focused()
    expect(page.get_by_text("1 pair, largest difference first.")).to_be_visible()
    row = page.get_by_role("table", name="List of pairs").get_by_role("row").nth(1)
    expect(row).to_contain_text("ハンドラキュー <b>🔎</b>")
    expect(row).to_contain_text("3\u00a0花子 🌱")
    assert "grades=0-3" in page.url
    page.reload()
    expect(page.get_by_role("heading", name=DISAGREED)).to_be_visible()
    page.get_by_role("link", name="Open disagreement Q1 d0").click()
    page.wait_for_url(re.compile(pair_key("d", "Q1", "d0")))
    expect(page.get_by_role("heading", name="d0", exact=True)).to_be_visible()

    go(page, "/agreement?dataset=d&tab=Annotators&rows=ann&columns=花子 🌱")
    expect(page.locator(".st-key-confusion svg.marks")).to_be_visible()
    page.locator('.st-key-confusion [data-testid="stElementToolbar"] button').first.focus()
    toolbar = page.locator('.st-key-confusion [data-testid="stElementToolbar"]')
    expect(toolbar).to_have_css("opacity", "1")  # what has the focus can be seen
    page.get_by_text("Matrix as a table with links to the pairs").focus()
    table = page.get_by_text("Matrix as a table with links to the pairs").locator("xpath=ancestor::summary")
    table.focus()
    page.keyboard.press("Enter")
    link = page.get_by_role("link", name="1 pair graded 0 by ann Realname and 3 by 花子 🌱 Realname")
    expect(link).to_be_visible()
    for _ in range(12):
        page.keyboard.press("Tab")
        if link.evaluate("one => one === document.activeElement"):
            break
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=DISAGREED)).to_be_visible()

    page.set_viewport_size({"width": 400, "height": 800})
    go(page, "/agreement?dataset=d&pairs=differing")
    expect(page.get_by_role("heading", name=DISAGREED)).to_have_count(0)
    way = page.get_by_role("link", name="Open disagreement Q1 d0")
    expect(way).to_be_visible()
    box = way.bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 400
    for part in ("document.scrollingElement", "document.querySelector('.stMain')"):
        assert page.evaluate(f"{part}.scrollWidth") <= 400


@pytest.mark.long(
    "browser/agreement/test_agreement_page.py::test_a_click_on_a_cell_or_the_keyboard_opens_its_pairs_and_their_case_also_at_400_pixels"
)
def test_a_click_on_the_matrix_opens_the_pairs_of_two_annotators(
    world: JudgedWorld, page: Page, sign_in: SignIn
) -> None:
    sign_in(page, "lea", to="/agreement?dataset=d&tab=Annotators")
    page.locator(".st-key-kappa-matrix .mark-text text").first.click()
    expect(page.get_by_text("8 pairs, largest difference first.")).to_be_visible()
    expect(page.locator("h2")).to_be_focused()
    expect(page.get_by_role("row")).to_have_count(
        9
    )  # on the whole page: nothing is left of the chart's tooltip
    page.get_by_role("link", name="Back to Agreement").click()
    expect(page.get_by_role("heading", name="By group")).to_be_visible()


@pytest.mark.long(
    "unit/web/test_reader.py::test_an_address_names_the_same_choice_to_a_reader_of_any_language"
)
def test_an_address_copied_from_a_japanese_page_opens_the_same_also_after_a_reload(
    world: JudgedWorld, page: Page, sign_in: SignIn
) -> None:
    sign_in(page, "lea", to="/agreement?dataset=d&tab=判定者&kappa=2次")
    for _ in range(2):
        expect(page.get_by_role("tab", name="Annotators")).to_have_attribute("aria-selected", "true")
        expect(page.get_by_role("radio", name="quadratic")).to_be_checked()
        expect(page).to_have_url(
            re.compile("tab=Annotators.*kappa=quadratic|kappa=quadratic.*tab=Annotators")
        )
        page.reload()


@pytest.mark.long(
    "browser/agreement/test_agreement_page.py::test_a_click_on_a_cell_or_the_keyboard_opens_its_pairs_and_their_case_also_at_400_pixels",
    "integration/agreement/test_selected_pairs.py",
)
def test_a_bar_opens_as_many_pairs_as_it_says_and_so_does_its_number_in_the_table(
    world: JudgedWorld, page: Page, sign_in: SignIn
) -> None:
    sign_in(page, "lea", to="/agreement?dataset=d&tab=Grades")
    bar = page.locator('.st-key-grades .mark-rect path[aria-label*="花子"][aria-label*="grade: 3"]')
    expect(bar).to_have_attribute("aria-label", re.compile("judgments: 3;"))
    bar.click(position={"x": 4, "y": 4})
    heading = page.get_by_role("heading", name="Pairs graded 3 by 花子 🌱 Realname")
    expect(heading).to_be_visible()
    expect(page.get_by_text("3 pairs, largest difference first.")).to_be_visible()
    expect(page.get_by_role("row")).to_have_count(4)
    page.get_by_role("link", name="Back to Agreement").click()
    page.get_by_role("tab", name="Grades").click()
    page.get_by_text("Table of grades").click()
    link = page.get_by_role("link", name="3 Perfect 3: Pairs graded 3 by 花子 🌱 Realname")
    link.focus()
    page.keyboard.press("Enter")
    expect(heading).to_be_visible()


@pytest.mark.long(
    "browser/agreement/test_agreement_page.py::test_a_click_on_a_cell_or_the_keyboard_opens_its_pairs_and_their_case_also_at_400_pixels",
    "integration/agreement/test_selected_pairs.py::test_every_period_opens_as_many_pairs_as_it_counts",
)
def test_a_point_opens_the_pairs_of_its_period_and_of_its_annotator(
    world: JudgedWorld, page: Page, sign_in: SignIn, database: Database
) -> None:
    with database.read() as session:
        ann, hanako = (find_actor(session, name) for name in ("ann", "花子 🌱"))
    with world.at_once():
        for at in range(90):
            world.pair("Q1", f"more{at}")
            world.judge(ann, "Q1", f"more{at}", at % 4)
            world.judge(hanako, "Q1", f"more{at}", min(3, at % 4 + 1))
    sign_in(page, "lea", to="/agreement?dataset=d&tab=Over time")
    page.locator(".st-key-drift .mark-symbol path").first.click()
    heading = page.get_by_role("heading", name="Pairs judged by two or more annotators; second judgment")
    expect(heading).to_be_visible()
    expect(page.get_by_text(re.compile(r"^\d\d pairs, largest difference first"))).to_be_visible()
    page.go_back()
    page.go_back()  # the tab leaves the address after the click
    page.locator('.st-key-leanings .mark-symbol path[aria-label*=": ann Realname;"]').last.click()
    of_one = page.get_by_role("heading", name="Pairs judged by ann Realname and others; second judgment")
    expect(of_one).to_be_visible()
    expect(of_one).to_be_in_viewport()  # the click was far down the page
    assert "when=" in page.url and "who=ann" in page.url


def test_the_files_of_a_chart_are_made_without_leaving_the_browser(
    world: JudgedWorld, page: Page, sign_in: SignIn, server: Server, tmp_path: Path
) -> None:
    elsewhere: list[str] = []
    page.on(
        "request",
        lambda item: (
            elsewhere.append(item.url)
            if not item.url.startswith((server.address, "data:", "blob:"))
            else None
        ),
    )
    sign_in(page, "lea", to="/agreement?dataset=d&tab=Groups&by=category")
    expect(page.locator(".st-key-groups svg.marks")).to_be_visible()
    kept = {}
    for name in ("SVG: category", "PNG: category", "Numbers as CSV: category"):
        control = page.get_by_label(name)
        control.focus()
        with page.expect_download() as waited:
            page.keyboard.press("Enter")
        path = tmp_path / waited.value.suggested_filename
        waited.value.save_as(path)
        kept[path.name] = path.read_bytes()
    assert sorted(kept) == ["d-groups.csv", "d-groups.png", "d-groups.svg"]
    assert kept["d-groups.svg"].startswith(b"<svg") and "設定".encode() in kept["d-groups.svg"]
    assert kept["d-groups.png"].startswith(b"\x89PNG") and len(kept["d-groups.png"]) > 3_000
    assert kept["d-groups.csv"].decode("utf-8-sig").startswith('"category","pairs",')
    assert elsewhere == []
