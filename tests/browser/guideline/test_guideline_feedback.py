"""From disagreements to a better guideline in a real browser: chosen, kept over a reload, an example, published, measured since."""

import pytest
from playwright.sync_api import Page, expect

from annotator.domain.people import OPERATOR
from annotator.guideline.feedback_service import list_decisions_behind
from annotator.guideline.service import read_version
from annotator.people.service import change_person
from annotator.storage.database import Database
from tests.browser.conftest import Server, SignIn
from tests.browser.web.test_accessibility import READY, list_violations, use_theme
from tests.integration.feedback_world import FeedbackWorld
from tests.integration.judged_world import NOW

WORKLIST = "/guideline?dataset=d&standard=What+disputes+teach"
PATIENCE = 30_000  # ms, on a machine with other work


def settle(page: Page) -> None:
    """Until nothing is drawn any more: what is drawn again is paler meanwhile."""
    expect(page.locator(READY)).to_be_visible(timeout=PATIENCE)
    expect(page.locator('[data-stale="true"]')).to_have_count(0, timeout=PATIENCE)
    expect(page.locator('[data-testid="stToast"]')).to_have_count(0, timeout=PATIENCE)
    use_theme(page, "light")


@pytest.mark.long("unit/web/guideline/test_guideline_feedback.py", "integration/guideline/test_feedback.py")
def test_what_disputes_teach_becomes_a_version_that_names_them(
    database: Database, server: Server, page: Page, sign_in: SignIn
) -> None:
    world = FeedbackWorld(database)
    change_person(database, OPERATOR, "lea", role="lead", dataset="d", now=NOW)
    keys = [
        world.add_disagreement("Q1", 1, 2, 1, "guideline_gap", rationale="名前だけ <b>") for _ in range(3)
    ]
    sign_in(page, "lea", to=WORKLIST)
    page.get_by_text("3 decisions", exact=True).click(timeout=PATIENCE)
    page.get_by_role("button", name="Add as an example of grade 1").first.click()
    expect(page.get_by_text("Among the examples of grade 1 in your draft", exact=True)).to_be_visible()
    expect(page.get_by_text("Answered in the next version (1 of 3 selected)")).to_be_visible()
    settle(page)
    assert list_violations(page) == []
    page.get_by_text("Answered in the next version (1 of 3 selected)").click()
    expect(page.get_by_role("checkbox", name="Answered in the next version", exact=True)).to_be_checked()
    page.reload()  # the page is opened anew on the same tab: the browser hands the draft back, the choice with it
    chosen = page.get_by_role("checkbox", name="Answered in the next version", exact=True)
    expect(chosen).to_be_checked(timeout=PATIENCE)
    # The page is drawn once more with the draft, and a tab takes no click in the moment in which it is drawn.
    settle(page)
    page.get_by_role("tab", name="Next version").click(timeout=PATIENCE)
    expect(page.get_by_text("Answers 3 decisions")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("textbox", name="Why", exact=False).fill("争いから")
    page.get_by_role("button", name="Publish version 2").click()
    expect(page.get_by_text("Version 2 published.", exact=False)).to_be_visible(timeout=PATIENCE)
    assert {decision.pair for decision in list_decisions_behind(database, OPERATOR, "d", now=NOW)[2]} == set(
        keys
    )
    made = read_version(database, OPERATOR, "d").rubric
    assert made.grades[1].positive_examples[-1].endswith(": 名前だけ <b>")
    page.get_by_role("tab", name="Lessons from disagreements").click()
    expect(page.get_by_text("answered in version 2").first).to_be_visible(timeout=PATIENCE)
    page.goto(f"{server.address}/agreement?dataset=d&tab=Guideline+versions")
    expect(page.get_by_text("Based on 3 decisions about disagreements.")).to_be_visible(timeout=PATIENCE)
    settle(page)
    assert list_violations(page) == []
