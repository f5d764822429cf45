"""The Guideline page in a browser: a draft outlives a reload letter by letter, and two leads write at once."""

from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotator.domain.people import OPERATOR
from annotator.guideline.service import read_version
from annotator.people.service import add_person
from annotator.storage.database import Database
from tests.browser.conftest import DATASET, PASSWORD, Server, SignIn

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
WRITE = "/guideline?dataset=demo&standard=Next+version"


def fields(page: Page, label: str) -> Any:
    return page.get_by_role("textbox", name=label, exact=True)


def guideline_of(database: Database) -> str:
    return read_version(database, OPERATOR, DATASET).rubric.guideline


def test_what_is_typed_outlives_a_reload_until_it_is_thrown_away(
    page: Page, server: Server, sign_in: SignIn
) -> None:
    sign_in(page, "lea", to=WRITE)
    guideline = fields(page, "Guideline, in Markdown")
    expect(guideline).to_be_visible()
    before = guideline.input_value()
    guideline.click()
    guideline.press_sequentially("草案 초안 🌱 ")  # and no blur: the server has not heard of it
    page.reload()
    expect(page.get_by_text("Your saved draft.")).to_be_visible()
    expect(guideline).to_have_value(before + "草案 초안 🌱 ")
    page.get_by_role("tab", name="Current").click()
    expect(page.get_by_text("You have an unpublished draft")).to_be_visible()
    page.get_by_role("tab", name="Next version").click()
    expect(guideline).to_have_value(before + "草案 초안 🌱 ")
    page.get_by_role("button", name="Discard draft").click()
    expect(guideline).to_have_value(before)
    expect(page.get_by_role("button", name="Discard draft")).to_have_count(0)
    page.reload()
    expect(guideline).to_have_value(before)
    expect(page.get_by_text("Your saved draft.")).to_have_count(0)


@pytest.mark.long(
    "unit/web/guideline/test_guideline_page.py::test_of_two_leads_the_second_gets_both_changes_and_publishes_them"
)
def test_two_leads_write_at_once_and_both_changes_are_published(
    page: Page, context: BrowserContext, server: Server, sign_in: SignIn, database: Database
) -> None:
    add_person(
        database, OPERATOR, "lou", name="Lou", role="lead", dataset=DATASET, password=PASSWORD, now=NOW
    )
    assert context.browser is not None
    devices = [context.browser.new_context(locale="en-US") for _ in range(2)]
    other, third = (device.new_page() for device in devices)
    sign_in(page, "lea", to=WRITE)
    sign_in(other, "lou", to=WRITE)
    fields(page, "Guideline, in Markdown").fill("Léa's guideline")
    fields(page, "Guideline, in Markdown").blur()
    expect(page.get_by_role("button", name="Publish version 2")).to_be_visible()
    fields(other, "Title").fill("ルウの題")
    fields(other, "Title").blur()
    other.get_by_role("button", name="Publish version 2").click()
    expect(other.get_by_text("Version 2 published.", exact=False)).to_be_visible()
    page.get_by_role("button", name="Publish version 2").click()
    expect(page.get_by_text("Lou published version 2 while you were editing.")).to_be_visible()
    expect(fields(page, "Title")).to_have_value("ルウの題")
    assert guideline_of(database) != "Léa's guideline"
    page.get_by_role("button", name="Publish version 3").click()
    expect(page.get_by_text("Version 3 published.", exact=False)).to_be_visible()
    made = read_version(database, OPERATOR, DATASET)
    assert (made.version, made.rubric.title, made.rubric.guideline) == (3, "ルウの題", "Léa's guideline")
    sign_in(third, "hanako", to="/guideline?dataset=demo")
    expect(third.get_by_role("heading", name="ルウの題")).to_be_visible()
    expect(third.get_by_text("Léa's guideline")).to_be_visible()
    expect(third.get_by_role("tab")).to_have_count(0)
    for device in devices:
        device.close()


def test_the_keyboard_keeps_its_place_when_a_change_makes_the_page_longer(
    page: Page, sign_in: SignIn
) -> None:
    sign_in(page, "lea", to=WRITE)
    meaning = fields(page, "Definition").first
    meaning.press("End")
    meaning.press_sequentially(" 더")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Discard draft")).to_be_visible()
    expect(page.get_by_role("button", name="Help for Examples, one per line").first).to_be_focused()
