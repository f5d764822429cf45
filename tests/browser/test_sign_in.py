"""Signing in and out in a real browser."""

from playwright.sync_api import Page, expect

from tests.browser.conftest import SignIn


def test_after_signing_in_the_work_of_the_role_is_on_screen(page: Page, sign_in: SignIn) -> None:
    sign_in(page, "ada")
    expect(page.get_by_role("link", name="People")).to_be_visible()
    assert page.url.endswith("?dataset=demo")
