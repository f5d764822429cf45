"""Queries are assigned in a real browser with the keyboard alone: found, selected, counted, assigned, undone."""

import re

import pytest
from playwright.sync_api import Page, expect

from annotator.domain.people import OPERATOR
from annotator.labeling.assignment_service import show_assignment
from annotator.people.service import change_person
from annotator.storage.database import Database
from tests.browser.conftest import SignIn
from tests.integration.judged_world import NOW, JudgedWorld

HOSTILE = "ハンドラ <b>太</b> $x$ :red[赤] **検索** 🔎"


@pytest.fixture
def world(database: Database) -> JudgedWorld:
    made = JudgedWorld(database)
    for username, role in (("lea", "lead"), ("hanako", "annotator")):
        change_person(database, OPERATOR, username, role=role, dataset="d", now=NOW)
    for number in range(12):
        made.query(
            f"Q{number:02}",
            HOSTILE if number == 3 else f"検索 {number}",
            category="法" if number % 2 else "設定",
        )
        made.pair(f"Q{number:02}", f"文書{number}")
    return made


def list_given(database: Database) -> dict[str, tuple[str, ...]]:
    status = show_assignment(database, OPERATOR, "d", now=NOW)
    return {query.query_id: query.given_to for query in status.queries if query.given_to}


@pytest.mark.long("unit/web/labeling/test_assignment_page.py")
@pytest.mark.parametrize("width", [1280, 400])
def test_a_lead_assigns_queries_with_the_keyboard_and_undoes_it(
    world: JudgedWorld, page: Page, sign_in: SignIn, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    sign_in(page, "lea", to="/assignment?dataset=d")
    page.get_by_role("button", name="Assign queries").press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("12 queries match, with 12 pairs left to judge.")).to_be_visible()
    dialog.get_by_role("combobox", name="People").press_sequentially("hanako")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    box = dialog.get_by_role("checkbox", name=re.compile("^Q03 "))
    expect(dialog.get_by_text(f"Q03 · {HOSTILE} — 法 · 1 pair left · assigned to nobody")).to_be_visible()
    box.press("Space")
    expect(dialog.get_by_text("1 query selected.")).to_be_visible()
    dialog.get_by_role("button", name="Page 2", exact=True).press("Enter")
    dialog.get_by_role("checkbox", name=re.compile("^Q11 ")).press("Space")
    expect(dialog.get_by_text("2 queries selected.")).to_be_visible()
    dialog.get_by_role("button", name="Preview").press("Enter")
    expect(dialog.get_by_text("2 queries, 2 pairs left")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert list_given(world.database) == {}
    dialog.get_by_role("button", name="Assign", exact=True).press("Enter")
    expect(page.get_by_text("2 queries assigned. 2 assignments changed.")).to_be_visible()
    assert list_given(world.database) == {"Q03": ("hanako",), "Q11": ("hanako",)}
    page.get_by_role("button", name="Undo").press("Enter")
    expect(page.get_by_text("Undone for 2 queries.")).to_be_visible()
    expect(page.locator(".st-key-assignment-done")).to_be_focused()
    assert list_given(world.database) == {}
