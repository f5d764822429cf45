"""The tab that the tests of a worker share."""

from playwright.sync_api import Page

from tests.browser.conftest import Server, leave_app

STORE = "() => { localStorage.a = sessionStorage.a = '1'; return new Promise((done) => { indexedDB.open('a').onsuccess = done; }).then(() => 1); }"
STORED = "async () => [localStorage.length, sessionStorage.length, (await indexedDB.databases()).length]"


def test_a_tab_that_is_left_has_forgotten_what_the_app_stored(page: Page, server: Server) -> None:
    somewhere = f"{server.address}/login.css"
    page.goto(somewhere)
    page.evaluate(STORE)
    assert page.evaluate(STORED) == [1, 1, 1]
    page.route("http://other.test/", lambda route: route.fulfill(body="<p>", content_type="text/html"))
    page.goto("http://other.test/")
    page.evaluate("localStorage.a = '1'")
    leave_app(page, server.address)
    page.goto(somewhere)
    assert page.evaluate(STORED) == [0, 0, 0]
    page.route("http://other.test/", lambda route: route.fulfill(body="<p>", content_type="text/html"))
    page.goto("http://other.test/")
    assert page.evaluate("localStorage.length") == 0
