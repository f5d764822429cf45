"""Signing in and out, moving about, and what survives a revoked session, in a real browser."""

import re
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR
from annotator.people.roles_service import find_actor
from annotator.people.service import add_person, change_person
from annotator.people.sign_in_service import revoke_sessions
from annotator.storage.database import Database
from tests.browser.conftest import NOW, PASSWORD, Server, SignIn, go, wait_until_quiet

PEOPLE_TITLE = re.compile("^People$")


def revoke(database: Database, username: str) -> None:
    with database.read() as session:
        actor = find_actor(session, username)
    revoke_sessions(database, actor, now=datetime.now(UTC))


def test_a_wrong_password_is_said_aloud_and_the_name_is_kept(page: Page, server: Server) -> None:
    page.goto(server.address)
    expect(page.get_by_label("Username")).to_be_focused()
    page.keyboard.type("hanako")
    page.keyboard.press("Tab")
    page.keyboard.type("wrong")
    page.get_by_label("Show password").check()
    expect(page.get_by_label("Password", exact=True)).to_have_attribute("type", "text")
    page.get_by_label("Password", exact=True).press("Enter")
    expect(page.get_by_role("alert")).to_have_text("The username or the password is wrong.")
    expect(page.get_by_label("Username")).to_have_value("hanako")
    expect(page.get_by_label("Password", exact=True)).to_have_value("")
    expect(page.get_by_label("Password", exact=True)).to_be_focused()


def test_a_deep_link_is_found_again_after_signing_in(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/people?dataset=demo")
    page.fill("#username", "lea")
    page.fill("#password", PASSWORD)
    page.press("#password", "Enter")
    expect(page.get_by_role("heading", name=PEOPLE_TITLE)).to_be_visible()
    expect(page).to_have_url(f"{server.address}/people?dataset=demo")


def test_scripts_cannot_read_the_cookie(
    page: Page, context: BrowserContext, server: Server, sign_in: SignIn
) -> None:
    sign_in(page, "hanako", to="/login.css")  # any address of the server: nothing needs to be drawn
    cookie = next(item for item in context.cookies() if item["name"] == f"annotator_session_{server.port}")
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Lax", "/")
    assert "annotator_session" not in page.evaluate("document.cookie")


def test_signing_out_leads_to_the_form_and_back_shows_nothing(
    page: Page, server: Server, sign_in: SignIn
) -> None:
    sign_in(page, "lea", to="/people?dataset=demo")
    expect(page.get_by_text("minjun")).to_be_visible()
    page.get_by_role("button", name="Account: Léa 🌱").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    expect(page.get_by_text("minjun")).to_have_count(0)


@pytest.mark.long(
    "unit/web/test_pages.py::test_a_session_revoked_while_the_page_is_open_shows_nothing_at_the_next_run"
)
def test_a_session_revoked_elsewhere_shows_nothing_more_at_the_next_step(
    page: Page, server: Server, sign_in: SignIn, database: Database
) -> None:
    sign_in(page, "lea", to="/people?dataset=demo")
    expect(page.get_by_text("minjun")).to_be_visible()
    revoke(database, "lea")
    page.get_by_role("button", name="Account: Léa 🌱").click()
    page.get_by_role("link", name="Account").click()
    expect(page.get_by_text("You are signed out.")).to_be_visible()
    expect(page.get_by_text("minjun")).to_have_count(0)
    expect(page.get_by_text("Léa")).to_have_count(0)
    page.get_by_role("link", name="Sign in again").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_a_link_from_before_the_dataset_was_chosen_leads_to_the_chosen_one(
    page: Page, server: Server, sign_in: SignIn
) -> None:
    sign_in(page, "lea", to="/help?dataset=demo")
    people = page.get_by_role("link", name="People")
    expect(people).to_have_attribute("href", "people?dataset=demo")
    # the address says it at once, the sidebar when it is drawn again: this is the moment between
    page.evaluate("history.replaceState(null, '', '/help?dataset=chosen')")
    people.click()
    expect(page).to_have_url(f"{server.address}/people?dataset=chosen")


def test_the_chosen_dataset_stays_from_page_to_page_and_back(
    page: Page, server: Server, sign_in: SignIn, database: Database
) -> None:
    create_dataset(database, OPERATOR, "law", now=NOW, title="국토계획법 ⚖️")
    change_person(database, OPERATOR, "lea", role="lead", dataset="law", now=NOW)
    sign_in(page, "lea", to="/help?dataset=demo")
    page.get_by_role("combobox", name="Dataset").click()
    page.get_by_role("option", name="국토계획법 ⚖️").click()
    expect(page).to_have_url(f"{server.address}/help?dataset=law")
    page.get_by_role("link", name="People").click()
    expect(page).to_have_url(f"{server.address}/people?dataset=law")
    expect(page.get_by_role("heading", name=PEOPLE_TITLE)).to_be_visible()
    page.reload()
    expect(page.get_by_role("combobox", name="Dataset")).to_have_value("국토계획법 ⚖️")
    page.go_back()
    expect(page.get_by_role("heading", name="Help", exact=True)).to_be_visible()
    expect(page).to_have_url(f"{server.address}/help?dataset=law")


@pytest.mark.long(
    "unit/web/test_pages.py::test_an_admin_adds_a_person_and_sees_the_one_time_password_once",
    "unit/web/test_pages.py::test_a_one_time_password_is_replaced_before_anything_else",
)
def test_an_admin_adds_somebody_by_keyboard_who_then_chooses_a_password(
    page: Page, server: Server, sign_in: SignIn, context: BrowserContext
) -> None:
    sign_in(page, "ada", to="/people?dataset=demo")
    page.get_by_role("button", name="Add a person").press("Enter")
    page.get_by_role("textbox", name="Username").fill("jun")
    page.keyboard.press("Tab")
    page.keyboard.type("準 🌱")
    page.get_by_role("button", name="Add", exact=True).press("Enter")
    password = page.get_by_test_id("stCode").inner_text().strip()
    assert re.fullmatch(r"(\w{4}-){3}\w{4}", password)
    page.keyboard.press("Escape")
    expect(page.get_by_text("準 🌱")).to_be_visible()

    context.clear_cookies()
    sign_in(page, "jun", password=password)
    expect(page).to_have_url(re.compile("/account"))
    expect(page.get_by_role("link", name="Label")).to_have_count(0)
    page.get_by_role("textbox", name="New password (10 characters or more)").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/label\?dataset=demo"))


def test_on_a_narrow_screen_choosing_a_page_uncovers_it(page: Page, server: Server, sign_in: SignIn) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    sign_in(page, "lea", to="/help?dataset=demo")
    expect(page.get_by_role("heading", name="Help", exact=True)).to_be_visible()
    wait_until_quiet(page)
    page.get_by_role("button", name="Open the sidebar").click()  # named by what also closes it
    expect(page.get_by_test_id("stSidebar")).to_have_attribute("data-collapsed", "false")
    page.get_by_role("link", name="People").click()
    expect(page.get_by_role("heading", name=PEOPLE_TITLE)).to_be_visible()
    expect(page.get_by_test_id("stSidebar")).to_have_attribute("data-collapsed", "true")


def test_the_sidebar_is_closed_while_labeling_and_opens_and_closes_by_keyboard(
    page: Page, server: Server, sign_in: SignIn
) -> None:
    sign_in(page, "lea", to="/label?dataset=demo")
    sidebar, people = page.get_by_test_id("stSidebar"), page.get_by_role("link", name="People")
    opening = page.get_by_role("button", name="Open the sidebar")
    closing = page.get_by_role("button", name="Close the sidebar")
    expect(sidebar).to_have_attribute("data-collapsed", "true")
    expect(people).to_have_count(0)  # nor can Tab reach it
    opening.press("Enter")
    expect(closing).to_be_focused()
    people.press("Enter")
    expect(page.get_by_role("heading", name=PEOPLE_TITLE)).to_be_visible()
    expect(people).to_be_visible()

    closing.press("Enter")
    expect(opening).to_be_focused()
    page.reload()
    expect(page.get_by_role("heading", name=PEOPLE_TITLE)).to_be_visible()
    expect(sidebar).to_have_attribute("data-collapsed", "true")  # as the reader left it
    opening.press("Enter")
    expect(closing).to_be_focused()
    page.get_by_role("link", name="Label").click()
    expect(opening).to_be_visible()


def test_the_account_menu_works_by_keyboard_on_every_screen_and_gives_the_focus_back(
    page: Page, server: Server, sign_in: SignIn
) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    sign_in(page, "lea", to="/help?dataset=demo")
    menu = page.get_by_role("button", name="Account: Léa 🌱")
    menu.press("Enter")
    expect(page.get_by_role("link", name="Account")).to_be_focused()
    page.keyboard.press("Escape")
    expect(menu).to_be_focused()
    expect(page.get_by_role("button", name="Sign out")).to_have_count(0)

    menu.press("Enter")
    page.get_by_role("combobox", name="Language").click()
    page.get_by_role("option", name="日本語").click()
    expect(page.get_by_role("heading", name="ヘルプ", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="アカウント: Léa 🌱")).to_be_visible()


def test_no_page_is_wider_than_the_screen(
    page: Page, server: Server, sign_in: SignIn, database: Database
) -> None:
    add_person(
        database,
        OPERATOR,
        "x" * 100,
        name="長い名前" * 40,
        role="lead",
        dataset="demo",
        password=PASSWORD,
        now=NOW,
    )
    sign_in(page, "ada", to="/help?dataset=demo")
    expect(page.get_by_role("heading", level=1, name="Help")).to_be_visible()
    for address, title in (("people", "People"), ("account", "Account"), ("help", "Help")):
        go(page, f"/{address}?dataset=demo")
        expect(page.get_by_role("heading", level=1, name=title)).to_be_visible()
        wait_until_quiet(page)
        for width in (400, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            page.wait_for_timeout(200)
            for part in ("document.scrollingElement", "document.querySelector('.stMain')"):
                assert page.evaluate(f"{part}.scrollWidth") <= width, (address, part)


@pytest.mark.long(
    "security/entrance/test_slow_connections.py::test_the_server_ends_whatever_is_open",
    "browser/labeling/test_panel_loses_nothing.py::test_kill_9_of_the_server_and_a_restart_lose_nothing",
)
def test_a_server_told_to_stop_ends_well_and_one_started_again_knows_the_session(
    page: Page, server: Server, sign_in: SignIn
) -> None:
    sign_in(page, "lea", to="/help?dataset=demo")
    expect(page.get_by_role("heading", name="Help", exact=True)).to_be_visible()
    assert server.stop() == 0
    server.start()
    page.goto(f"{server.address}/people?dataset=demo")
    expect(page.get_by_role("heading", name=PEOPLE_TITLE)).to_be_visible()
    assert "Traceback" not in server.log
    assert PASSWORD not in server.log


@pytest.mark.long(
    "browser/labeling/test_panel_loses_nothing.py::test_labeling_goes_on_while_the_server_is_away_for_long_by_key_and_by_click"
)
def test_a_page_says_when_the_server_cannot_be_reached_and_goes_on_by_itself(
    page: Page, server: Server, sign_in: SignIn
) -> None:
    sign_in(page, "lea", to="/help")
    expect(page.get_by_role("heading", name="Help", exact=True)).to_be_visible()
    server.kill()

    def notice() -> str:
        return page.evaluate(
            "() => { const s = getComputedStyle(document.querySelector('.stApp'), '::after'); return s.opacity === '1' ? s.content : '' }"
        )

    wait_until(page, lambda: "cannot be reached" in notice())
    assert page.get_by_role("dialog").count() == 0
    server.start()
    wait_until(page, lambda: "cannot be reached" not in notice())


def wait_until(page: Page, holds: Callable[[], bool]) -> None:
    for _ in range(600):
        if holds():
            return
        page.wait_for_timeout(200)
    assert holds()
