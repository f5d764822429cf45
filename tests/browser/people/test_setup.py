"""The first admin, from the address that `annotator serve` prints to the page New dataset, in a real browser."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from annotator.domain.people import OPERATOR
from annotator.people.service import list_people
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from tests.browser.conftest import PASSWORD, Server, list_complaints
from tests.browser.web.test_accessibility import list_violations


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """A new database, without anybody."""
    opened = Database(f"sqlite:///{tmp_path / 'annotator.db'}")
    upgrade_schema(opened)
    yield opened
    opened.dispose()


@pytest.fixture
def server(database: Database, tmp_path: Path, port: int) -> Iterator[Server]:
    running = Server(database.url.render_as_string(hide_password=False), tmp_path, port)
    running.start()
    yield running
    running.kill()


def find_address(server: Server) -> str:
    """The address that the server printed last."""
    return re.findall(r"http://\S+/setup#\S+", server.log)[-1]


def fill_in(page: Page, username: str) -> None:
    """Type it with the keyboard alone, from the first field on."""
    expect(page.get_by_label("Name, as others see it")).to_be_focused()
    page.keyboard.type("Ada 에이다")
    page.keyboard.press("Tab")
    page.keyboard.type(username)
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")


def test_the_printed_address_leads_to_the_first_dataset(
    page: Page, server: Server, database: Database
) -> None:
    complaints, requests = list_complaints(page), list[str]()
    page.on("request", lambda request: requests.append(f"{request.url} {request.headers}"))
    address = find_address(server)
    page.goto(address)
    expect(page.get_by_role("button", name="Create account")).to_be_visible()
    expect(page).to_have_url(f"{server.address}/setup")
    fill_in(page, "ada")
    expect(page.get_by_role("heading", name="New dataset", level=1)).to_be_visible()
    expect(page).to_have_url(re.compile(r"/new-dataset"))
    token = address.partition("#")[2]
    assert not [request for request in requests if token in request.replace(address, "")]
    assert complaints == []
    assert [person.username for person in list_people(database, OPERATOR)] == ["ada"]
    page.goto(address)
    expect(page.get_by_text("The first admin exists already.")).to_be_visible()
    assert token not in re.sub(r"^  http\S+/setup#\S+$", "", server.log, flags=re.MULTILINE)


def test_an_address_pasted_on_the_page_that_explains_it_works_and_the_way_back_does_not_show_the_token(
    page: Page, server: Server
) -> None:
    page.goto(server.address)
    expect(page.get_by_text("Nobody has an account yet.")).to_be_visible()
    page.goto(find_address(server))
    expect(page.get_by_role("button", name="Create account")).to_be_visible()
    page.go_back()
    expect(page.get_by_text("The server printed the address when it started.")).to_be_visible()
    expect(page).to_have_url(f"{server.address}/setup")


def test_a_problem_is_at_its_field_which_has_the_focus(page: Page, server: Server) -> None:
    page.goto(find_address(server))
    page.get_by_label("Name, as others see it").fill("Ada")
    page.get_by_label("Username, to sign in with").fill("ada")
    page.get_by_label("Password (10 characters or more)").fill("short")
    page.get_by_role("button", name="Create account").click()
    password = page.get_by_label("Password (10 characters or more)")
    expect(password).to_be_focused()
    expect(password).to_have_accessible_description("Expected a password of at least 10 characters, found 5")
    expect(page.get_by_label("Username, to sign in with")).to_have_value("ada")
    page.get_by_label("Show password").check()
    password.fill(PASSWORD)
    expect(password).to_have_attribute("type", "text")
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_role("heading", name="New dataset", level=1)).to_be_visible()


@pytest.mark.long("integration/people/test_setup.py")
def test_two_browsers_make_one_admin(
    browser: Browser, page: Page, server: Server, database: Database
) -> None:
    other = browser.new_context(locale="en-US").new_page()
    address = find_address(server)
    for tab, username in ((page, "ada"), (other, "eve")):
        tab.goto(address)
        expect(tab.get_by_role("button", name="Create account")).to_be_visible()
        tab.get_by_label("Name, as others see it").fill(username)
        tab.get_by_label("Username, to sign in with").fill(username)
        tab.get_by_label("Password (10 characters or more)").fill(PASSWORD)
    for tab in (page, other):
        tab.get_by_role("button", name="Create account").click()
    expect(other.get_by_text("The first admin exists already.")).to_be_visible()
    assert [person.username for person in list_people(database, OPERATOR)] == ["ada"]
    other.context.close()


def test_the_pages_violate_no_rule_of_accessibility(
    browser: Browser, server: Server, is_long_run: bool
) -> None:
    """In `make test` in one language."""
    spoken = (("ja-JP", "dark"), ("en-US", "light"), ("ko-KR", "light"))
    for language, scheme in spoken if is_long_run else spoken[:1]:
        context = browser.new_context(
            locale=language, color_scheme=scheme, viewport={"width": 400, "height": 800}
        )  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(f"{server.address}/setup")
        expect(page.locator("html")).to_have_attribute("lang", language[:2])
        assert list_violations(page) == [], language
        page.goto(find_address(server))
        page.locator("#password").fill("short")
        page.locator("#name").fill("A")
        page.locator("#username").fill("a b")
        page.locator("button").click()
        expect(page.locator("#password-problem")).not_to_be_empty()
        assert list_violations(page) == [], language
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        context.close()
