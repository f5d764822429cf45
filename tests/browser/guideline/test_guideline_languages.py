"""A guideline in several languages: each annotator judges by theirs, and switching while labeling loses nothing."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Browser, Page, expect

from annotator.dataset.rubric_file import read_grade_template
from annotator.domain.grades import Rubric, choose_languages
from annotator.domain.people import OPERATOR
from annotator.guideline.service import publish_version
from annotator.people.roles_service import find_actor
from annotator.people.service import choose_language
from annotator.storage.database import Database
from tests.browser.conftest import SignIn
from tests.browser.panel_world import fill_pool, open_panel, panel, press, stored, wait_saved

NOW = datetime(2026, 3, 1, tzinfo=UTC)
TEMPLATE = read_grade_template("nablarch")


def publish(database: Database, rubric: Rubric, base: int = 1) -> None:
    publish_version(database, OPERATOR, "demo", rubric, base_version=base, change="minor", now=NOW)


def speak(database: Database, username: str, language: str) -> None:
    with database.read() as session:
        actor = find_actor(session, username)
    choose_language(database, actor, language)


@pytest.mark.parametrize(
    ("username", "language", "name", "sheet", "tab"),
    [
        ("hanako", "ja", "完全に適合する", "文書は一つずつ", "ガイドライン"),
        pytest.param("minjun", "ko", "완벽함", "문서를 하나씩", "지침", marks=pytest.mark.long),
        pytest.param(
            "hanako",
            "en",
            "Perfect",
            "Judge each document for a developer",
            "Guideline",
            marks=pytest.mark.long,
        ),
    ],
)
def test_each_annotator_judges_by_the_guideline_in_their_language(
    page: Page,
    database: Database,
    sign_in: SignIn,
    username: str,
    language: str,
    name: str,
    sheet: str,
    tab: str,
) -> None:
    fill_pool(database)
    publish(database, TEMPLATE)
    speak(database, username, language)
    sign_in(page, username)
    open_panel(page)
    grades = panel(page).locator('[data-at="grades"]')
    expect(grades.locator("button .name").nth(3)).to_have_text(name)
    expect(grades).to_have_attribute("lang", language)
    page.keyboard.press("?")
    page.get_by_role("tab", name=tab, exact=True).click()
    expect(page.get_by_role("dialog").get_by_text(sheet)).to_be_visible()
    page.keyboard.press("Escape")
    press(page, "3")
    wait_saved(page)
    assert [grade for _, grade in stored(database, username)] == [3]


@pytest.mark.long(
    "unit/web/guideline/test_guideline_languages_page.py::test_a_panel_gets_the_grades_in_the_readers_language",
    "unit/web/guideline/test_guideline_languages_page.py::test_each_reader_sees_their_language_and_is_told_when_it_is_missing",
)
def test_without_a_translation_the_sheet_says_which_language_is_shown(
    page: Page, database: Database, sign_in: SignIn
) -> None:
    fill_pool(database)
    publish(database, choose_languages(TEMPLATE, "ja", ()))
    speak(database, "minjun", "ko")
    sign_in(page, "minjun")
    open_panel(page)
    expect(panel(page).locator('[data-at="grades"]')).to_have_attribute("lang", "ja")
    page.keyboard.press("?")
    page.get_by_role("tab", name="지침", exact=True).click()
    expect(
        page.get_by_text("이 지침에는 아직 한국어 번역이 없습니다. 일본어 원문을 표시합니다.")
    ).to_be_visible()


def test_switching_the_language_while_labeling_loses_nothing(
    page: Page, database: Database, sign_in: SignIn
) -> None:
    fill_pool(database)
    publish(database, TEMPLATE)
    speak(database, "hanako", "ja")
    sign_in(page, "hanako")
    open_panel(page)
    press(page, "2")
    wait_saved(page)
    pair = str(panel(page).get_attribute("data-pair-id"))
    page.keyboard.press("n")
    page.keyboard.type("下書き 초안")
    page.locator(".st-key-annotator-account button").first.click()
    page.get_by_role("combobox", name="言語").click()
    page.get_by_role("option", name="한국어").click()
    grades = panel(page).locator('[data-at="grades"]')
    expect(grades.locator("button .name").nth(3)).to_have_text("완벽함")
    expect(panel(page)).to_have_attribute("data-pair-id", pair)
    expect(panel(page).locator("textarea").first).to_have_value("下書き 초안")
    page.keyboard.press("Escape")
    panel(page).locator("textarea").first.press("Escape")
    grades.locator("button").nth(1).click()
    wait_saved(page)
    assert [grade for _, grade in stored(database)] == [2, 1]
    assert stored(database)[1][0] == pair


@pytest.mark.long(
    "unit/web/guideline/test_guideline_languages_page.py::test_a_browser_is_told_of_a_version_only_if_it_changed_something_in_its_language"
)
def test_only_those_in_whose_language_something_changed_are_told_of_a_version(
    browser: Browser, database: Database, sign_in: SignIn
) -> None:
    fill_pool(database)
    publish(database, TEMPLATE)
    pages = {}
    for username, language in (("hanako", "ja"), ("minjun", "ko")):
        speak(database, username, language)
        page = browser.new_context(locale="en-US").new_page()
        sign_in(page, username)
        open_panel(page)
        pages[username] = page
    japanese, korean = TEMPLATE.translations
    grades = (replace(korean.grades[0], name="무관함"), *korean.grades[1:])
    publish(database, replace(TEMPLATE, translations=(japanese, replace(korean, grades=grades))), 2)
    for page in pages.values():
        page.reload()
        open_panel(page)
    told = pages["minjun"].get_by_role("button", name="변경된 내용")
    expect(pages["minjun"].locator('[data-at="grades"] button .name').first).to_have_text("무관함")
    expect(pages["minjun"].locator('[data-act="help"]').first).to_be_visible()
    expect(told.or_(pages["minjun"].locator('[data-at="remark"] [data-act="help"]')).first).to_be_visible()
    expect(pages["hanako"].locator('[data-at="remark"] [data-act="help"]')).to_have_count(0)
    for page in pages.values():
        page.context.close()
