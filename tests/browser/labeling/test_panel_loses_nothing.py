"""The promise of the panel, on a real Chromium against a real server: every press lands once, on the pair that
was on the screen, whatever happens to the tab, the network or the server."""

from datetime import UTC, datetime

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import text

from annotator.dataset.service import archive_dataset, create_dataset, unarchive_dataset
from annotator.domain.people import OPERATOR
from annotator.people.service import change_person
from annotator.storage.database import Database
from tests.browser.conftest import DATASET, Server, SignIn, wait_until, wait_until_quiet
from tests.browser.panel_world import fill_pool, open_panel, panel, press, pressed, stored, wait_saved

BURST = "0231203120" * 3


def start(page: Page, database: Database, sign_in: SignIn) -> None:
    fill_pool(database)
    sign_in(page, "hanako")
    open_panel(page)


def test_thirty_presses_at_50_ms_all_land_on_the_pair_on_the_screen_and_none_searches_the_page_for_words(
    page: Page, database: Database, sign_in: SignIn
) -> None:
    """`streamlit_words.js` looks through the page when Streamlit draws an element: no press does, and no text that counts on."""
    start(page, database, sign_in)
    wait_until_quiet(page)
    page.evaluate("""() => {
        const search = document.querySelectorAll.bind(document);
        window.searches = 0;
        document.querySelectorAll = (selector) => {
            window.searches += selector.includes("stFileUploader");
            return search(selector);
        };
    }""")
    press(page, BURST)
    seen = pressed(page)
    wait_saved(page)
    assert len(seen) == 30
    assert len({pair for pair, _grade in seen}) == 30
    assert {grade for _pair, grade in seen} == {0, 1, 2, 3}
    assert stored(database) == seen
    page.evaluate("document.querySelector('[data-testid=stMain]').append('a clock')")
    page.wait_for_timeout(500)
    assert page.evaluate("window.searches") == 0
    page.evaluate("document.querySelector('[data-testid=stMain]').append(document.createElement('p'))")
    wait_until(page, "window.searches === 1")


def test_the_first_pairs_are_asked_for_once_before_the_app_and_a_reload_brings_the_same(
    page: Page, database: Database, sign_in: SignIn
) -> None:
    start(page, database, sign_in)
    first = panel(page).get_attribute("data-pair-id")
    asked: list[str] = []
    page.on(
        "request",
        lambda request: asked.append(request.url.partition("?")[0].partition("//")[2].partition("/")[2]),
    )
    page.reload()
    open_panel(page)
    assert panel(page).get_attribute("data-pair-id") == first
    assert asked.count("api/judgments") == 1
    assert asked.index("api/judgments") < asked.index("_stcore/health")


def test_a_reload_in_mid_burst_or_while_nothing_could_be_sent_loses_nothing(
    page: Page, database: Database, sign_in: SignIn
) -> None:
    start(page, database, sign_in)
    press(page, "2312312312", pause=20)
    before = pressed(page)
    page.reload()
    open_panel(page)
    press(page, "1231231231", pause=20)
    after = pressed(page)
    wait_saved(page)
    assert len(before) + len(after) == 20
    assert stored(database) == before + after
    page.route("**/api/judgments", lambda route: route.abort())
    press(page, "23123")
    last = pressed(page)[10:]
    assert len(last) == 5
    page.reload()
    page.unroute("**/api/judgments")
    open_panel(page)
    wait_saved(page)
    assert stored(database) == before + after + last
    assert panel(page).get_attribute("data-pair-id") not in {pair for pair, _grade in stored(database)}


def test_kill_9_of_the_server_and_a_restart_lose_nothing(
    page: Page, database: Database, server: Server, sign_in: SignIn
) -> None:
    start(page, database, sign_in)
    press(page, "23123")
    server.kill()
    press(page, "12312")
    expect(page.get_by_role("alert").filter(has_text="not saved yet")).to_be_visible()
    server.start()
    wait_saved(page)
    open_panel(page)
    press(page, "31231")
    seen = pressed(page)
    wait_saved(page)
    assert len(seen) == 15
    assert stored(database) == seen


def test_while_another_program_locks_the_database_presses_wait_in_the_browser_and_it_says_so(
    page: Page, database: Database, server: Server, sign_in: SignIn
) -> None:
    start(page, database, sign_in)
    other = Database(database.url)
    with other.write() as session:
        session.execute(text("SELECT 1"))  # takes the write lock
        press(page, "23123")
        notice = panel(page).get_by_text("The database is unavailable")
        expect(notice).to_contain_text("kept in this browser")
    other.dispose()
    before = pressed(page)
    wait_saved(page)
    expect(notice).to_be_hidden()
    assert stored(database) == before
    assert "Traceback" not in server.log
    assert server.log.count("database unavailable") == 1


def test_labeling_goes_on_while_the_server_is_away_for_long_by_key_and_by_click(
    page: Page, database: Database, server: Server, sign_in: SignIn
) -> None:
    start(page, database, sign_in)
    server.kill()
    gone = '[data-testid="stApp"][data-test-connection-state="PINGING_SERVER"]'
    page.wait_for_selector(gone)
    page.wait_for_timeout(4_000)  # by then Streamlit would have laid its dialog over the page
    assert page.get_by_role("dialog").count() == 0
    press(page, "23")
    pair = panel(page).get_attribute("data-pair-id")
    page.get_by_role("button", name="Marginally relevant").click()
    seen = [*pressed(page), (pair, 1)]
    expect(panel(page)).to_have_attribute("data-unsaved", "3")
    server.start()
    wait_saved(page)
    assert stored(database) == seen


@pytest.mark.long(
    "browser/labeling/test_panel_states.py::test_a_lease_that_ran_out_while_offline_keeps_the_judgment"
)
def test_offline_and_back_loses_nothing(
    page: Page, context: BrowserContext, database: Database, sign_in: SignIn
) -> None:
    start(page, database, sign_in)
    press(page, "23123")
    wait_saved(page)
    context.set_offline(True)
    press(page, "12312")
    expect(panel(page)).to_have_attribute("data-unsaved", "5")
    expect(page.get_by_role("alert").filter(has_text="offline")).to_be_visible()
    context.set_offline(False)
    wait_saved(page)
    press(page, "31231")
    seen = pressed(page)
    wait_saved(page)
    assert len(seen) == 15
    assert stored(database) == seen


@pytest.mark.long(
    "browser/labeling/test_panel_loses_nothing.py::test_a_reload_in_mid_burst_or_while_nothing_could_be_sent_loses_nothing",
    "browser/labeling/test_panel_loses_nothing.py::test_a_tab_closed_while_the_server_was_down_loses_nothing",
)
def test_a_tab_closed_in_mid_burst_loses_nothing(
    page: Page, context: BrowserContext, database: Database, server: Server, sign_in: SignIn
) -> None:
    start(page, database, sign_in)
    press(page, "2312312312", pause=20)
    seen = pressed(page)
    page.close()
    again = context.new_page()
    open_panel(again, f"{server.address}/label?dataset=demo")
    wait_saved(again)
    assert len(seen) == 10
    assert stored(database) == seen


def test_a_tab_closed_while_the_server_was_down_loses_nothing(
    page: Page, context: BrowserContext, database: Database, server: Server, sign_in: SignIn
) -> None:
    start(page, database, sign_in)
    server.kill()
    press(page, "23123", pause=20)
    seen = pressed(page)
    page.close()
    assert stored(database) == []
    server.start()
    again = context.new_page()
    open_panel(again, f"{server.address}/label?dataset=demo")
    wait_saved(again)
    assert stored(database) == seen


def test_an_answer_that_got_lost_on_its_way_doubles_nothing(
    page: Page, database: Database, sign_in: SignIn
) -> None:
    start(page, database, sign_in)
    lost: list[int] = []

    def lose(route) -> None:  # type: ignore[no-untyped-def]
        if len(lost) < 3:
            lost.append(route.fetch().status)
            route.abort()
        else:
            route.continue_()

    page.route("**/api/judgments", lose)
    press(page, "23123")
    seen = pressed(page)
    wait_saved(page)
    assert lost == [200, 200, 200]
    assert stored(database) == seen


def test_two_tabs_of_one_annotator_each_label_the_pair_they_show(
    page: Page, context: BrowserContext, database: Database, server: Server, sign_in: SignIn
) -> None:
    start(page, database, sign_in)
    other = context.new_page()
    open_panel(other, f"{server.address}/label?dataset=demo")
    for key in "2312312312":
        press(page, key)
        press(other, "0" if key == "2" else key)
    seen = sorted(pressed(page) + pressed(other))
    wait_saved(page)
    wait_saved(other)
    assert sorted(stored(database)) == seen
    assert len(seen) == 20
    assert len({pair for pair, _grade in seen}) == 20, "no pair was shown in both tabs"


def test_what_is_pressed_while_signed_out_or_in_an_archived_dataset_waits_in_the_browser(
    page: Page, context: BrowserContext, database: Database, server: Server, sign_in: SignIn
) -> None:
    start(page, database, sign_in)
    cookies = context.cookies()
    context.clear_cookies()
    press(page, "231")
    seen = pressed(page)
    expect(page.get_by_role("link", name="Sign in again")).to_be_visible()
    assert stored(database) == []
    context.add_cookies(cookies)  # type: ignore[arg-type]
    wait_saved(page)
    assert stored(database) == seen
    archive_dataset(database, OPERATOR, DATASET, now=datetime.now(UTC))
    press(page, "231")
    assert len(pressed(page)) == 6
    expect(page.get_by_text("This dataset is archived, so nothing can be saved.")).to_be_visible()
    assert panel(page).get_attribute("data-unsaved") == "3"
    assert stored(database) == seen
    unarchive_dataset(database, OPERATOR, DATASET, now=datetime.now(UTC))
    wait_saved(page)
    assert stored(database) == pressed(page)


def test_what_one_annotator_left_unsaved_is_never_sent_as_another_ones(
    page: Page, context: BrowserContext, database: Database, sign_in: SignIn
) -> None:
    start(page, database, sign_in)
    context.clear_cookies()
    press(page, "231")
    seen = pressed(page)
    sign_in(page, "minjun")
    open_panel(page)
    wait_saved(page)
    assert stored(database) == stored(database, "minjun") == []
    context.clear_cookies()
    sign_in(page, "hanako")
    open_panel(page)
    wait_saved(page)
    assert stored(database) == seen


def test_what_waits_is_submitted_also_after_the_panel_was_left(
    page: Page, database: Database, sign_in: SignIn
) -> None:
    start(page, database, sign_in)
    page.route("**/api/judgments", lambda route: route.abort())
    press(page, "231")
    seen = pressed(page)
    page.get_by_role("button", name="Open the sidebar").click()
    page.get_by_role("link", name="Help").click()
    expect(page.get_by_role("heading", name="Help", exact=True)).to_be_visible()
    page.unroute("**/api/judgments")
    wait_for_stored(page, database, seen)


def test_what_waits_for_one_dataset_is_submitted_while_another_is_labeled(
    page: Page, database: Database, server: Server, sign_in: SignIn
) -> None:
    create_dataset(database, OPERATOR, "other", now=datetime(2026, 1, 1, tzinfo=UTC))
    change_person(
        database, OPERATOR, "hanako", role="annotator", dataset="other", now=datetime(2026, 1, 1, tzinfo=UTC)
    )
    start(page, database, sign_in)
    server.kill()
    press(page, "231")
    seen = pressed(page)
    page.goto("about:blank")
    server.start()
    page.goto(f"{server.address}/label?dataset=other")
    wait_for_stored(page, database, seen)


def wait_for_stored(page: Page, database: Database, seen: list[tuple[str, int]]) -> None:
    for _ in range(600):
        if stored(database) == seen:
            return
        page.wait_for_timeout(200)
    assert stored(database) == seen


def test_labeling_stops_with_a_message_when_the_browser_refuses_to_keep_presses(
    page: Page, database: Database, sign_in: SignIn
) -> None:
    start(page, database, sign_in)
    page.evaluate(
        "() => { Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') } }"
    )
    before = panel(page).get_attribute("data-pair-id")
    press(page, "2")
    expect(page.get_by_role("alert").filter(has_text="cannot store judgments")).to_be_visible()
    assert panel(page).get_attribute("data-pair-id") == before
    assert stored(database) == []
