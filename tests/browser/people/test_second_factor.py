"""Setting a second factor up, signing in by it and removing it, in a real browser, by keyboard and at 400 px."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyotp
import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page, expect

from tests.browser.conftest import PASSWORD, Server, SignIn

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


def check(page: Page) -> None:
    """Nothing is wider than the window, and axe finds nothing."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    found = Axe().run(page, options=RULES).response["violations"]
    assert [(item["id"], [node["html"] for node in item["nodes"]]) for item in found] == []


def make_code(secret: str, step: int) -> str:
    """Return the code of now (0) or of the next 30 seconds (1): the server still takes both when a busy machine is slow to send it."""
    return pyotp.TOTP(secret).at(datetime.now(UTC) + timedelta(seconds=30) * step)


@pytest.mark.long("security/second_factor/test_second_factor.py")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_whole_way_by_keyboard_at_400_pixels(
    page: Page, server: Server, sign_in: SignIn, tmp_path: Path, scheme: str
) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    sign_in(page, "lea", to="/account?dataset=demo")
    page.get_by_role("link", name="Set up the second factor").click()
    expect(page.get_by_label("Current password")).to_be_focused()
    check(page)
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("img", name="QR code with the key")).to_be_visible()
    expect(page.get_by_label("Code that the app shows")).to_be_focused()
    check(page)
    secret = page.locator("code.key").inner_text().replace(" ", "")
    page.keyboard.type("000000")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("The code is wrong")
    expect(page.get_by_label("Code that the app shows")).to_be_focused()
    check(page)
    page.keyboard.type(make_code(secret, 0))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Your recovery codes")).to_be_visible()
    codes = page.locator(".codes code").all_inner_texts()
    assert len(codes) == 10
    check(page)
    with page.expect_download() as begun:
        page.get_by_role("link", name="Download").click()
    assert begun.value.suggested_filename == "annotator-recovery-codes.txt"
    begun.value.save_as(tmp_path / "codes.txt")
    assert (tmp_path / "codes.txt").read_text(encoding="utf-8").split() == ["Annotator", *codes]
    page.get_by_role("link", name="Continue").click()
    expect(page.get_by_text("10 recovery codes are left.")).to_be_visible()

    page.goto(f"{server.address}/logout")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Username").fill("lea")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{server.address}/login/code")
    expect(page.get_by_label("Code")).to_be_focused()
    assert page.get_by_label("Code").get_attribute("autocomplete") == "one-time-code"
    check(page)
    page.keyboard.type(make_code(secret, 1))
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/overview"))

    page.goto(f"{server.address}/logout")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Username").fill("lea")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Use a recovery code").click()
    check(page)
    page.get_by_label("Recovery code").fill(codes[3])
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/overview"))
    page.goto(f"{server.address}/account?dataset=demo")
    expect(page.get_by_text("9 recovery codes are left.")).to_be_visible()
    page.get_by_text("Remove the second factor").click()
    page.get_by_label("Current password").last.fill(PASSWORD)
    page.get_by_label("Code, or a recovery code").fill(codes[4])
    page.keyboard.press("Enter")
    expect(page.get_by_text("The second factor is off.")).to_be_visible()


@pytest.mark.long("security/second_factor/test_second_factor.py")
def test_an_admin_resets_it_on_the_page_people(page: Page, server: Server, sign_in: SignIn) -> None:
    sign_in(page, "lea", to="/login/set-up")
    page.get_by_label("Current password").fill(PASSWORD)
    page.keyboard.press("Enter")
    secret = page.locator("code.key").inner_text().replace(" ", "")
    page.get_by_label("Code that the app shows").fill(make_code(secret, 0))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Your recovery codes")).to_be_visible()
    page.context.clear_cookies()
    sign_in(page, "ada", to="/people?dataset=demo")
    row = page.locator(".annotator-person", has_text="lea")
    expect(row).to_contain_text("second factor")
    page.locator(".st-key-change-lea").get_by_role("button").click()
    page.get_by_role("button", name="Remove the second factor").click()
    expect(row).not_to_contain_text("second factor")
    page.context.clear_cookies()
    page.goto(f"{server.address}/login")
    page.get_by_label("Username").fill("lea")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_text("Ada removed your second factor. Set it up again.")).to_be_visible()
    page.get_by_role("button", name="Continue without it").click()
    expect(page).to_have_url(re.compile("/overview"))
