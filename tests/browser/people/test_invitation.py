"""A lead invites somebody by a one-time link, who joins in a browser of their own."""

import re
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR
from annotator.people.invitations_service import invite, make_password_link
from annotator.people.service import add_person
from annotator.storage.database import Database
from tests.browser.conftest import NOW, PASSWORD, Server, SignIn, list_complaints
from tests.browser.web.test_accessibility import list_violations

FAR = 60  # days


@pytest.fixture
def other(browser: Browser) -> BrowserContext:
    """The browser of whoever is invited, with a narrow window."""
    return browser.new_context(locale="en-US", viewport={"width": 400, "height": 800})


def make_link(database: Database, server: Server, *, dataset: str = "demo", role: str = "annotator") -> str:
    made = invite(database, OPERATOR, role=role, dataset=dataset, days=FAR, now=datetime.now(UTC))
    return f"{server.address}/join#{made.token}"


def test_a_lead_sends_a_link_and_whoever_opens_it_lands_where_the_work_is(
    page: Page, sign_in: SignIn, server: Server, other: BrowserContext, context: BrowserContext
) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    sign_in(page, "lea", to="/people?dataset=demo")
    page.get_by_role("button", name="Invite a person").press("Enter")
    page.get_by_label("For whom").fill("Hana")
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Make the link").press("Enter")
    field = page.get_by_label("Link to send to Hana")
    expect(field).to_have_value(re.compile(rf"^{server.address}/join#[\w-]{{43}}$"))
    link = field.input_value()
    expect(page.get_by_role("alert")).to_contain_text(f"Only this computer can open {server.address}.")
    assert list_violations(page) == []
    page.get_by_role("button", name="Copy", exact=True).press("Enter")
    expect(page.get_by_text("Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == link
    page.keyboard.press("Escape")
    expect(page.get_by_text("Hana: annotator on demo")).to_be_visible()
    expect(page.get_by_label("Link to send")).to_have_count(0)

    guest = other.new_page()
    complaints = list_complaints(guest)
    guest.goto(link)
    expect(guest.get_by_text("Léa 🌱 invites you to the dataset デモ 데모 as annotator.")).to_be_visible()
    expect(guest).to_have_url(f"{server.address}/join")
    assert list_violations(guest) == []
    expect(guest.get_by_label("Name, as others see it")).to_be_focused()
    for typed in ("하나", "hana", PASSWORD):
        guest.keyboard.type(typed)
        guest.keyboard.press("Tab")
    guest.get_by_role("button", name="Create account").press("Enter")
    expect(guest).to_have_url(re.compile(r"/label\?dataset=demo"))
    assert complaints == []
    guest.goto(link)
    expect(guest.get_by_role("alert")).to_have_text("this link was used already; if that was you, sign in")
    page.reload()
    page.get_by_role("paragraph").filter(has_text="Earlier invitations").click()
    expect(page.get_by_text("accepted by 하나")).to_be_visible()
    assert link.partition("#")[2] not in server.log


def test_somebody_with_an_account_signs_in_on_the_page_and_gets_the_role(
    database: Database, server: Server, other: BrowserContext
) -> None:
    create_dataset(database, OPERATOR, "law", now=NOW)
    guest = other.new_page()
    guest.goto(make_link(database, server, dataset="law"))
    guest.get_by_role("button", name="I have an account already").click()
    expect(guest.get_by_label("Username")).to_be_focused()
    guest.keyboard.type("minjun")
    guest.keyboard.press("Tab")
    guest.keyboard.type("wrong")
    guest.keyboard.press("Enter")
    password = guest.get_by_label("Password", exact=True)
    expect(password).to_have_accessible_description("The username or the password is wrong")
    assert list_violations(guest) == []
    password.fill(PASSWORD)
    guest.keyboard.press("Enter")
    expect(guest).to_have_url(re.compile(r"/label\?dataset=law"))


@pytest.mark.long(
    "browser/people/test_invitation.py::test_a_lead_sends_a_link_and_whoever_opens_it_lands_where_the_work_is",
    "integration/people/test_invitations.py",
)
def test_who_is_signed_in_accepts_with_one_button(
    page: Page, database: Database, server: Server, sign_in: SignIn
) -> None:
    create_dataset(database, OPERATOR, "law", now=NOW)
    sign_in(page, "minjun")
    page.goto(make_link(database, server, dataset="law", role="lead"))
    expect(page.get_by_text("You can join the dataset law as lead.")).to_be_visible()
    assert list_violations(page) == []
    page.get_by_role("button", name="Accept as 민준").click()
    expect(page).to_have_url(re.compile(r"/overview\?dataset=law"))


@pytest.mark.long(
    "browser/people/test_invitation.py::test_a_lead_sends_a_link_and_whoever_opens_it_lands_where_the_work_is",
    "integration/people/test_invitations.py",
)
def test_a_link_for_a_password_asks_once_and_signs_in(
    page: Page, database: Database, server: Server, sign_in: SignIn
) -> None:
    add_person(database, OPERATOR, "jun", role="annotator", dataset="demo", now=NOW)
    link = make_password_link(database, OPERATOR, "jun", now=datetime.now(UTC))
    page.goto(f"{server.address}/join#{link.token}")
    expect(page.get_by_text("For the account jun.")).to_be_visible()
    assert list_violations(page) == []
    expect(page.get_by_label("Password (10 characters or more)")).to_be_focused()
    page.keyboard.type("another password 1")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/label\?dataset=demo"))
