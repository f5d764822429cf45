"""What the panel shows, and what the browser is never told."""

import json
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from annotator.dataset.service import change_settings
from annotator.domain.people import OPERATOR
from annotator.labeling.service import submit_judgments
from annotator.people.roles_service import find_actor
from annotator.storage.database import Database
from annotator.storage.judgments.current_judgments import derive_decided
from annotator.storage.lookup import find_person, key_of
from annotator.storage.tables.adjudication import AdjudicationRow
from annotator.storage.tables.central import DocumentRow, DocumentTextRow, PairRow
from tests.browser.conftest import Server, SignIn
from tests.browser.panel_world import fill_pool, open_panel, panel, press, wait_saved

HOSTILE = (
    "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>\n"
    "# not a heading\n__init__ costs $5 and $6 -> :red[x] **not bold**\n<b>not bold</b> &amp; שלום \u202etxet\u202c 🙂"
)


MARKED = {
    "RESTful Webサービスのハンドラキュー構成": (
        "ﾊﾝﾄﾞﾗキューの設定。ウェブの構成を示す。restful ＷＥＢ。",
        ["ﾊﾝﾄﾞﾗキュー", "構成", "restful", "ｗｅｂ"],
    ),
    "토지거래허가구역의 지정 수 기간": (
        "허가구역의 지정은 토지거래를 제한할 수 있다. 기간은 5년.",
        ["허가구역", "지정", "토지거래", "기간"],
    ),
    "nablarch.fw.handler.RetryHandler usage": (
        "class RetryHandler extends Handler // NABLARCH calls myRetry; usages",
        ["retryhandler", "handler", "nablarch", "retry"],
    ),
    "y": (HOSTILE, []),
}
"""By query: a document's text, and what is marked in it."""


def test_a_document_is_shown_exactly_as_it_is_runs_nothing_and_the_terms_of_its_query_are_marked(
    page: Page, database: Database, sign_in: SignIn
) -> None:
    fill_pool(database, documents=1, queries=tuple(MARKED))
    with database.write() as session:
        for number, (text, _) in enumerate(MARKED.values()):
            document = session.query(DocumentRow).filter_by(doc_id=f"guide/{number}/0.md").one()
            session.query(DocumentTextRow).filter_by(document_pk=document.pk).update({"text": text})
    sign_in(page, "hanako")
    open_panel(page)
    left = dict(MARKED)
    while left:
        pair = panel(page).get_attribute("data-pair-id") or ""
        query = page.locator("[data-at=query]")
        text, expected = left.pop(query.inner_text())
        assert [mark.casefold() for mark in page.locator(".text mark").all_inner_texts()] == expected
        assert page.locator(".text").evaluate("(e) => e.textContent") == text
        assert page.locator(".text img, .text script, .text b").count() == 0
        assert page.evaluate("() => window.hacked") is None
        expect(query).to_have_attribute("lang", "ja")
        press(page, "1")
        expect(panel(page)).not_to_have_attribute("data-pair-id", pair)


def test_the_browser_is_told_no_rank_score_system_or_grade_of_another(
    page: Page, database: Database, sign_in: SignIn
) -> None:
    fill_pool(database)
    bodies: list[str] = []
    page.on("response", lambda answer: bodies.append(answer.text()) if "/api/" in answer.url else None)
    sign_in(page, "minjun")
    open_panel(page)
    press(page, "3")
    wait_saved(page)
    page.context.clear_cookies()
    sign_in(page, "hanako")
    open_panel(page)
    for _ in range(600):
        pairs = [pair for body in bodies for pair in json.loads(body).get("pairs", [])]
        page.wait_for_timeout(100)
        if len(pairs) >= 40:
            break
    assert len(pairs) >= 40
    for pair in pairs:
        assert set(pair) == {
            "pair", "query", "document", "guideline_version", "training", "answer", "outdated", "position"
        }  # fmt: skip
        assert set(pair["query"]) == {"query_id", "text", "narrative", "language"}
        assert set(pair["document"]) == {"doc_id", "title", "url", "media_type", "text", "length", "sha256", "metadata"}  # fmt: skip
    for word in ("secret-system", "0.123", "rank", "score", "grade"):
        assert all(word not in body for body in bodies)


def test_that_a_lead_settled_the_pair_on_the_screen_is_said_and_a_judgment_of_it_refused(
    page: Page, database: Database, sign_in: SignIn
) -> None:
    fill_pool(database)
    sign_in(page, "hanako")
    open_panel(page)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/judgments", hold)
    with page.expect_request("**/api/judgments"):
        press(page, "0")
    key = panel(page).get_attribute("data-pair-id")
    with database.write() as session:
        pair = session.query(PairRow).filter_by(key=key).one()
        lead = key_of(find_person(session, "lea").pk)
        session.add(
            AdjudicationRow(
                pair_pk=key_of(pair.pk),
                revision=1,
                lead_pk=lead,
                rubric_pk=1,
                grade=2,
                rationale="決定",
                decided_at=datetime(2026, 1, 3, tzinfo=UTC),
            )
        )
        derive_decided(session, [key_of(pair.pk)])
    held[0].continue_()
    page.unroute("**/api/judgments")
    expect(page.get_by_role("alert").filter(has_text="This pair needs no more judgments")).to_be_visible()
    assert panel(page).get_attribute("data-pair-id") == key
    press(page, "1")
    expect(page.get_by_role("alert").filter(has_text="a lead has settled this pair")).to_be_visible()
    page.get_by_role("button", name="Got it").click()
    expect(page.get_by_role("alert")).to_be_hidden()
    assert panel(page).get_attribute("data-unsaved") == "0"


def test_an_empty_pool_says_what_to_do_next(page: Page, sign_in: SignIn) -> None:
    sign_in(page, "hanako")
    expect(page.get_by_text("There is nothing to label in this dataset yet.")).to_be_visible()


def test_who_has_nothing_to_judge_is_told_until_when_others_hold_the_pairs(
    page: Page, database: Database, sign_in: SignIn
) -> None:
    fill_pool(database, documents=3, queries=("x",))
    change_settings(database, OPERATOR, "demo", {"overlap": "1"}, now=datetime.now(UTC))
    with database.read() as session:
        minjun = find_actor(session, "minjun")
    now = datetime.now(UTC)
    held = submit_judgments(database, minjun, "demo", events=[], have=[], want=9, now=now).pairs
    sign_in(page, "hanako")
    until = page.evaluate(
        "(at) => new Date(at).toLocaleString('en', { timeStyle: 'short' })",
        (now + timedelta(hours=1)).isoformat(),
    )
    expect(page.locator(".empty")).to_contain_text(f"Pairs reserved by others until {until}: 3.")
    judged = [
        {
            "id": str(uuid4()),
            "pair": pair.pair,
            "outcome": "graded",
            "grade": 1,
            "pressed_at": now.isoformat(),
        }
        for pair in held
    ]
    submit_judgments(database, minjun, "demo", events=judged, have=[], want=0, now=now)
    page.get_by_role("button", name="Check for new pairs").click()
    expect(page.locator(".empty")).to_contain_text("every pair is judged, or belongs to others.")


def test_what_was_put_off_comes_back_unanswered_with_its_note_and_the_end_of_the_work_is_said(
    page: Page, database: Database, sign_in: SignIn
) -> None:
    fill_pool(database, documents=2, queries=("x",))
    sign_in(page, "hanako")
    open_panel(page)
    later = panel(page).get_attribute("data-pair-id") or ""
    page.keyboard.press("n")
    page.keyboard.type("後で見る")
    page.keyboard.press("Escape")
    press(page, "l1")
    expect(panel(page)).to_have_attribute("data-pair-id", later)
    expect(page.get_by_role("group", name="About this pair")).to_be_hidden()
    expect(page.get_by_role("textbox", name="Note")).to_have_value("後で見る")
    press(page, "2")
    expect(page.get_by_text("All done. Pairs you judged: 2.")).to_be_visible()
    with database.write() as session:
        session.connection().exec_driver_sql("UPDATE query SET query_id = 'old', position = 9")
    fill_pool_again(database)
    page.get_by_role("button", name="Check for new pairs").click()
    expect(panel(page)).not_to_have_attribute("data-pair-id", "")
    expect(page.get_by_text("There is new work. More pairs for you: 1.")).to_be_visible()
    expect(page.get_by_text("2 of 3")).to_be_visible()


def fill_pool_again(database: Database) -> None:
    from annotator.storage.lookup import find_dataset
    from annotator.storage.pairs.pool import PoolCandidate, add_candidates
    from annotator.storage.tables.central import QueryRow

    with database.write() as session:
        dataset_pk = key_of(find_dataset(session, "demo").pk)
        query = session.query(QueryRow).first()
        document = DocumentRow(dataset_pk=dataset_pk, doc_id="new")
        session.add(document)
        session.flush()
        assert query is not None
        candidate = PoolCandidate(key_of(query.pk), query.query_id, key_of(document.pk), "new", "s")
        add_candidates(session, dataset_pk, "demo", [candidate], now=datetime(2026, 1, 3, tzinfo=UTC))


def test_what_was_fetched_ahead_is_asked_for_again_once_its_leases_have_run_out(
    page: Page, database: Database, sign_in: SignIn
) -> None:
    fill_pool(database)
    sign_in(page, "hanako")
    open_panel(page)
    with page.expect_request("**/api/judgments") as soon:
        press(page, "1")
    wait_saved(page)
    page.evaluate("() => { const now = Date.now; Date.now = () => now.call(Date) + 61 * 60000; }")
    with page.expect_request("**/api/judgments") as late:
        press(page, "1")
    wait_saved(page)
    held = [len(json.loads(request.value.post_data or "")["have"]) for request in (soon, late)]
    assert held[0] > 1 and held[1] == 1, "only the pair on the screen stays"


def test_an_alert_moves_no_grade(
    page: Page, context: BrowserContext, database: Database, sign_in: SignIn
) -> None:
    fill_pool(database)
    sign_in(page, "hanako")
    open_panel(page)
    for width in (1280, 400):
        page.set_viewport_size({"width": width, "height": 800})
        press(page, "1")
        wait_saved(page)
        before = page.get_by_role("button", name="Perfect").bounding_box()
        context.set_offline(True)
        press(page, "2")
        alert = page.get_by_role("alert").filter(has_text="offline")
        expect(alert).to_be_visible()
        assert page.get_by_role("button", name="Perfect").bounding_box() == before
        context.set_offline(False)
        wait_saved(page)
        expect(alert).to_be_hidden()


def test_at_400_pixels_everything_needed_is_on_the_screen_and_nothing_scrolls_sideways(
    browser: Browser, database: Database, server: Server, sign_in: SignIn
) -> None:
    fill_pool(database)
    context = browser.new_context(
        viewport={"width": 400, "height": 800}, has_touch=True, is_mobile=True, locale="en-US"
    )
    page = context.new_page()
    sign_in(page, "hanako")
    open_panel(page)
    before = panel(page).get_attribute("data-pair-id")
    for name in ("Not relevant", "Marginally relevant", "Highly relevant", "Perfect"):
        box = page.get_by_role("button", name=name).bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 400
        assert box["y"] + box["height"] <= 800
        assert box["height"] >= 44
    for button in page.locator(".panel button:visible, .panel textarea:visible").all():
        box = button.bounding_box()
        assert box is not None
        assert box["height"] >= 44, button.inner_text()
    track = page.get_by_role("progressbar").bounding_box()
    assert track is not None
    for button in page.locator(".bar button:visible").all():
        box = button.bounding_box()
        assert box is not None
        assert box["y"] >= track["y"] + track["height"], "the line of progress crosses no button"
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 400
    page.get_by_role("button", name="Perfect").tap()
    expect(panel(page)).not_to_have_attribute("data-pair-id", before or "")
    context.close()
