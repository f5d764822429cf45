"""Propose a document and ask the lead from the panel: the other annotator gets the proposal blind, the lead answers."""

from datetime import UTC, datetime

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from sqlalchemy import update
from sqlmodel import col

from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.tables.central import DocumentRow, DocumentTextRow
from tests.browser.conftest import SignIn
from tests.browser.panel_world import fill_pool, open_panel, panel, press, stored, wait_saved

MISSED = "見落とされた文書 <b>リトライ</b>"


@pytest.fixture(autouse=True)
def started(page: Page, database: Database, sign_in: SignIn) -> None:
    fill_pool(database, documents=2, queries=("リトライハンドラの設定",))
    with database.write() as session:
        dataset_pk = key_of(find_dataset(session, "demo").pk)
        document = DocumentRow(dataset_pk=dataset_pk, doc_id="missed/1", title=MISSED, text_sha256="b")
        session.add(document)
        session.flush()
        session.add(
            DocumentTextRow(
                document_pk=key_of(document.pk),
                sha256="b",
                text="retryCount を指定する。",
                imported_at=datetime.now(UTC),
            )
        )
    sign_in(page, "hanako")
    open_panel(page)


def propose_missed(page: Page) -> None:
    page.keyboard.press("p")
    page.keyboard.type("retryCount")
    page.get_by_role("option", name=MISSED).wait_for()
    page.keyboard.press("Enter")
    expect(page.locator(".proposalviewer .document")).to_be_focused()


def test_a_proposal_goes_to_the_other_annotator_blind(
    page: Page, browser: Browser, database: Database, sign_in: SignIn
) -> None:
    before = panel(page).get_attribute("data-pair-id")
    propose_missed(page)
    expect(page.locator(".proposalviewer .text")).to_have_text("retryCount を指定する。")
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Document proposed with your grade.")).to_be_visible()
    assert panel(page).get_attribute("data-pair-id") == before
    assert [grade for _pair, grade in stored(database)] == [3]

    other = browser.new_context(locale="en-US")
    other_page = other.new_page()
    bodies: list[str] = []
    other_page.on("response", lambda answer: bodies.append(answer.text()) if "/api/" in answer.url else None)
    sign_in(other_page, "minjun")
    open_panel(other_page)
    shown = set()
    for _ in range(3):
        shown.add(other_page.locator(".docid").inner_text().split()[0])
        assert "Proposed" not in other_page.locator(".panel .work").inner_text()
        press(other_page, "1")
    wait_saved(other_page)
    assert "missed/1" in shown
    for word in ("proposed by", "hanako", "secret-system"):
        assert all(word not in body for body in bodies)
    assert dict(stored(database, "minjun"))[stored(database)[0][0]] == 1
    other.close()


def test_a_document_to_be_proposed_is_shown_formatted_as_label_shows_it(
    page: Page, database: Database
) -> None:
    html = "<h2>設定</h2><script>document.title = 'taken'</script><table><tr><td>retryCount</td></tr></table>"
    with database.write() as session:
        session.execute(
            update(DocumentRow).where(col(DocumentRow.doc_id) == "missed/1").values(media_type="text/html")
        )
        session.execute(update(DocumentTextRow).where(col(DocumentTextRow.sha256) == "b").values(text=html))
    propose_missed(page)
    text = page.locator(".proposalviewer .text.formatted")
    expect(text.get_by_role("cell", name="retryCount")).to_be_visible()
    expect(text.get_by_role("heading", name="設定")).to_be_visible()
    assert "<" not in text.inner_text() and "taken" not in page.title()


@pytest.mark.long(
    "browser/labeling/test_contributions.py::test_a_document_to_be_proposed_is_shown_formatted_as_label_shows_it"
)
def test_the_list_shows_the_words_of_a_document_without_its_markup(page: Page, database: Database) -> None:
    samples = {
        "text/html": "<style>p { color: red }</style><p>リトライ <b>ハンドラ</b> &amp; 設定</p>",
        "text/markdown": "#####リトライ\n**ハンドラ** \\& [設定](a.md)",
        "text/x-rst": ".. _top:\n\nリトライ\n========\n:ref:`ハンドラ <h>` |br| & |設定|",
    }
    page.keyboard.press("w")
    for media_type, text in samples.items():
        with database.write() as session:
            session.execute(update(DocumentRow).values(media_type=media_type))
            session.execute(update(DocumentTextRow).values(text=text))
        page.reload()
        open_panel(page)
        expect(page.locator(".rowsnippet").first).to_have_text("リトライ ハンドラ & 設定")


def test_what_was_typed_for_a_proposal_survives_a_failure_and_a_reload(
    page: Page, context: BrowserContext, database: Database
) -> None:
    propose_missed(page)
    page.keyboard.press("2")
    page.locator("#proposenote").fill("だから関連する")
    context.set_offline(True)
    page.get_by_role("button", name="Propose document").click()
    expect(page.get_by_text("Your text is kept in this browser. Send it again.")).to_be_visible()
    context.set_offline(False)
    page.reload()
    open_panel(page)
    page.keyboard.press("p")
    expect(page.locator("#proposenote")).to_have_value("だから関連する")
    expect(page.get_by_role("dialog").get_by_role("button", name="Highly relevant")).to_have_attribute(
        "aria-pressed", "true"
    )
    page.get_by_role("button", name="Propose document").click()
    expect(page.get_by_text("Document proposed with your grade.")).to_be_visible()
    assert [grade for _pair, grade in stored(database)] == [2]


def test_keys_typed_into_the_search_grade_nothing_and_escape_leads_back(
    page: Page, database: Database
) -> None:
    before = panel(page).get_attribute("data-pair-id")
    page.keyboard.press("p")
    page.keyboard.type("0123 ulzw")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert panel(page).get_attribute("data-pair-id") == before
    assert stored(database) == []
    press(page, "1")
    wait_saved(page)
    assert stored(database) == [(before or "", 1)]


def test_a_document_of_the_pool_is_judged_from_the_dialog_and_does_not_come_again(
    page: Page, database: Database
) -> None:
    page.keyboard.press("p")
    page.keyboard.type("guide/0/")
    other = page.get_by_role("dialog").get_by_role("option").filter(has_text="in the pool")
    expect(other).to_have_count(2)
    current = page.locator(".viewer .docid").inner_text().split()[0]
    other.filter(has_not_text=current).click()
    expect(
        page.locator(".proposalviewer .document")
    ).to_be_focused()  # the document is there to be read, and graded
    page.keyboard.press("0")
    page.get_by_role("button", name="Judge document").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    wait_saved(page)
    press(page, "3")
    wait_saved(page)
    assert [grade for _pair, grade in stored(database)] == [0, 3]
    expect(page.locator(".empty")).to_contain_text("All done. Pairs you judged: 2.")


@pytest.mark.long(
    "unit/web/labeling/test_contributions_api.py::test_a_question_is_stored_once_on_a_pair_that_was_shown",
    "unit/web/labeling/test_contribution_pages.py::test_a_lead_reads_a_question_answers_it_and_marks_it_for_the_guideline",
    "browser/labeling/test_contributions.py::test_what_was_typed_for_a_proposal_survives_a_failure_and_a_reload",
)
def test_a_question_is_kept_while_typed_and_the_answer_comes_to_the_asker(
    page: Page, browser: Browser, sign_in: SignIn
) -> None:
    page.keyboard.press("q")
    page.keyboard.type("これは設定に")
    page.keyboard.press("Escape")
    page.reload()
    open_panel(page)
    page.keyboard.press("q")
    expect(page.get_by_label("Your question")).to_have_value("これは設定に")
    page.keyboard.press("End")
    page.keyboard.type("含まれますか")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Question sent.")).to_be_visible()

    leads = browser.new_context(locale="en-US")
    lead = leads.new_page()
    sign_in(lead, "lea", to="/questions?dataset=demo")
    lead.get_by_text("Read the question anyway").click()
    expect(lead.get_by_text("これは設定に含まれますか")).to_be_visible()
    lead.get_by_label("Your answer").fill("はい、含まれます。")
    lead.get_by_role("button", name="Send answer").press("Enter")
    expect(lead.get_by_text("All questions are answered.")).to_be_visible()
    expect(lead.get_by_role("heading", name="Waiting for an answer")).to_be_focused()  # the button is gone
    leads.close()
    page.goto(page.url.replace("/label", "/questions"))
    expect(page.get_by_text("はい、含まれます。")).to_be_visible()
