"""The tab "Near duplicates" as Streamlit runs it: grades on request, and only those that were on the screen are accepted."""

import pytest

from annotator.domain.people import SignedIn
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.web.page_context import PageContext
from annotator.web.pooling import near_duplicates_tab as near_duplicates
from tests.integration.judged_world import NOW
from tests.integration.pooling.test_duplicates import DuplicateWorld
from tests.unit.web.lead_pages import html_rows, open_page, run, words


def test_a_lead_requests_the_grades_and_accepts_them_for_left_out_documents(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = DuplicateWorld(database)
    person = SignedIn(world.lead, "lead", (), False, NOW)
    context = PageContext(database, Settings(), person, "", (), "d", NOW)
    monkeypatch.setattr(near_duplicates, "find_context", lambda: context)
    app = open_page(world, "pool", world.lead, tab="Near duplicates")
    assert "1 near duplicate was left out; a grade is offered to 1." in words(app)
    assert html_rows(app)[1:] == [["Q2", "bunanimous", "–", "a", "grade offered"]]
    assert "grades=shown" in words(app) and not app.button and not world.list_seen()
    app = open_page(world, "pool", world.lead, tab="Near duplicates", grades="shown")
    assert html_rows(app)[1:] == [["Q2", "bunanimous", "2", "a", "grade offered"]]
    assert world.list_seen() == {("Q2", "b")}
    app.button(key="accept duplicates").click()
    app = run(app)
    assert [item.value for item in app.success] == ["Accepted for 1 document."]
    assert html_rows(app)[1:] == [["Q2", "bunanimous", "2", "a", "grade accepted: 2"]]
    assert not app.button, "nothing is left to accept"
