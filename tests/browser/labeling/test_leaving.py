"""Leaving the labeling page while a document is rendered: nothing is logged as an error, in the browser or on the server."""

import pytest
from playwright.sync_api import Browser, expect
from sqlmodel import select

from annotator.storage.database import Database
from annotator.storage.tables.central import DocumentRow
from tests.browser.conftest import Server, SignIn
from tests.browser.panel_world import fill_pool, open_panel

SLOW = "# 題\n" + "*a_ " * 20_000 + "[" * 20_000
"""A text whose rendering takes seconds."""


@pytest.mark.parametrize("is_same_page", [True, pytest.param(False, marks=pytest.mark.long)])
def test_leaving_while_a_document_is_rendered_logs_no_error(
    browser: Browser, server: Server, database: Database, sign_in: SignIn, is_same_page: bool
) -> None:
    page = browser.new_context(locale="en-US").new_page()  # which asks for the first document late
    page.set_default_timeout(60_000)
    fill_pool(database, documents=5, texts=[SLOW])
    with database.write() as session:
        for document in session.scalars(select(DocumentRow)):
            document.media_type = "text/markdown"
    complaints: list[str] = []
    page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    with page.expect_request("**/api/rendering*"):
        sign_in(page, "hanako", to="/label?dataset=demo")
    open_panel(page)
    if is_same_page:  # Streamlit draws the other page, and the answers come to a panel that is gone
        with page.expect_response("**/api/rendering*"):
            page.locator("a[href*='work?']").first.evaluate("(link) => link.click()")
    else:
        page.goto(f"{server.address}/work?dataset=demo")
    expect(page.get_by_role("heading", name="My work")).to_be_visible()
    page.wait_for_timeout(1_000)
    assert complaints == []
    assert "[error" not in server.log
    assert "Traceback" not in server.log
    page.context.close()
