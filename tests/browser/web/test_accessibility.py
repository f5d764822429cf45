"""Every page: WCAG 2.2 AA by axe in both themes and in each language, its headings, what the browser complains about, and that nobody else is asked."""

from collections.abc import Iterator
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from annotator.domain.people import OPERATOR
from annotator.people.roles_service import find_actor
from annotator.people.service import change_person, choose_language
from annotator.storage.database import Database
from annotator.web.kit.messages import tr, use_language
from annotator.web.navigation import PAGES
from tests.browser.conftest import Server, go, list_complaints, send_login, wait_until
from tests.browser.walled import RECORD, refuse_to_connect
from tests.integration.judged_world import NOW, JudgedWorld

PATIENCE = 60_000  # ms, on a machine with other work
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
RUN = "async (tags) => (await axe.run(document, {runOnly: {type: 'tag', values: tags}, resultTypes: ['violations']})).violations"
READY = '.stApp[data-test-connection-state="CONNECTED"][data-test-script-state="notRunning"]'

# Whether ground and ink are of this theme: Streamlit changes them one after the other.
FOLLOWED = """(dark) => {
  const parts = [['.stApp', 'backgroundColor'], ['.stApp', 'color'], ['.annotator-name', 'color']];
  const light = (text) => text.match(/[0-9.]+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) > 380;
  return parts.every(([place, what]) => document.querySelector(place) !== null
    && light(getComputedStyle(document.querySelector(place))[what]) === ((what === 'color') === dark));
}"""

# What Streamlit's own elements do and neither our styles nor our scripts can mend: (rule, part of the selector), why.
OF_STREAMLIT: dict[tuple[str, str], str] = {}

Found = list[tuple[str, str, str]]


@pytest.fixture
def world(database: Database) -> JudgedWorld:
    """Beside `demo` the dataset `d`: a disagreement, a pair of one grade that quality control found wrong, one that nobody
    judged. ada is its admin."""
    made = JudgedWorld(database)
    change_person(database, OPERATOR, "ada", role="admin", dataset="d", now=NOW)
    first, second = made.person("first"), made.person("second", simulated=True)
    made.query("Q1", "ハンドラキュー 🔎", narrative="順序を知りたい")
    for doc_id, grades in (("遠い", (0, 3)), ("近い", (2, 2)), ("未判定", ())):
        made.pair("Q1", doc_id, rank=2, title=f"題 {doc_id}", text="本文の文。\n" * 80)
        for person, grade in zip((first, second), grades, strict=False):
            made.judge(person, "Q1", doc_id, grade, note="ノート")
    made.check_quality(made.person("third"), "Q1", "近い", 0, settled=2, note="別の観点のノート")
    return made


@pytest.fixture
def walled_server(database: Database, tmp_path: Path, port: int) -> Iterator[Server]:
    """A server that can connect to nobody, and writes down what it tried."""
    url = database.url.render_as_string(hide_password=False)
    running = Server(url, tmp_path, port, first=refuse_to_connect)
    running.start()
    yield running
    running.kill()


def list_violations(page: Page) -> Found:
    """What axe finds on this page but what is listed as Streamlit's: (rule, selector, what it says).

    A page that is being drawn, or changes its theme, is looked at again: what is wrong with it stays.
    """
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(f"() => {{ {AXE} }}")
    for _ in range(40):
        violations = list(_flatten(page.evaluate(RUN, TAGS)))
        if not violations:
            break
        page.wait_for_timeout(500)
    return violations


def _flatten(violations: list[dict[str, Any]]) -> Iterator[tuple[str, str, str]]:
    for violation in violations:
        for node in violation["nodes"]:
            text = str(node["target"])
            if not any(rule == violation["id"] and part in text for rule, part in OF_STREAMLIT):
                yield violation["id"], text, f"{node['failureSummary'][:300]} {node['html'][:200]}"


def open_page(page: Page, server: Server, address: str) -> None:
    """Go there, and wait until everything is drawn."""
    page.goto(f"{server.address}/{address}?dataset=d")
    wait_until_drawn(page)


def wait_until_drawn(page: Page) -> None:
    expect(page.locator(READY)).to_be_visible(timeout=PATIENCE)
    expect(page.locator('[data-testid="stSkeleton"]')).to_have_count(0, timeout=PATIENCE)
    expect(page.locator('[data-stale="true"]')).to_have_count(0, timeout=PATIENCE)
    expect(page.locator("h1").first).to_be_attached(timeout=PATIENCE)


def use_theme(page: Page, theme: str) -> None:
    """As the system's setting would; the page follows by itself."""
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light", reduced_motion="reduce")
    wait_until(page, FOLLOWED, theme == "dark")


@pytest.mark.parametrize(
    ("language", "themes"),
    [
        ("ja", ("light", "dark")),
        pytest.param("en", ("dark", "light"), marks=pytest.mark.long),
        pytest.param("ko", ("light",), marks=pytest.mark.long),
    ],
)
def test_no_page_violates_wcag_22_aa_or_its_own_policy_and_headings_come_in_order(
    world: JudgedWorld,
    walled_server: Server,
    page: Page,
    language: str,
    themes: tuple[str, ...],
    tmp_path: Path,
    is_long_run: bool,
) -> None:
    """In `make test` every other page is dark."""
    with world.database.read() as session:
        ada = find_actor(session, "ada")
    choose_language(world.database, ada, language)
    use_language(language)
    titles = [tr(listed_page.title) for listed_page in PAGES]
    use_language("en")
    complaints, asked, server = list_complaints(page), list[str](), walled_server
    page.on("request", lambda request: asked.append(request.url))
    send_login(page, "ada", server=server)
    wait_until_drawn(page)
    violations: list[str] = []
    for number, (listed_page, title) in enumerate(zip(PAGES, titles, strict=True)):
        address = listed_page.address
        if is_long_run:
            open_page(page, server, address)
        else:
            go(page, f"/{address}?dataset=d")
        expect(page).to_have_title(f"{title} · Annotator")
        wait_until_drawn(page)
        expect(page.locator("html")).to_have_attribute("lang", language)
        for theme in themes if is_long_run else (themes[number % len(themes)],):
            use_theme(page, theme)
            violations += [f"{address} {theme}: {' '.join(violation)}" for violation in list_violations(page)]
        levels = page.locator("h1, h2, h3, h4").evaluate_all("all => all.map(one => Number(one.tagName[1]))")
        assert levels[0] == 1, address
        assert all(after <= before + 1 for before, after in pairwise(levels)), address
        for chart in page.get_by_test_id("stVegaLiteChart").all():
            expect(chart.locator("[aria-label]").first).to_be_attached()
    assert not violations, "\n".join(violations)
    assert complaints == []
    hosts = {urlsplit(url).netloc for url in asked if not url.startswith(("data:", "blob:"))}
    assert hosts == {f"127.0.0.1:{server.port}"}
    assert (tmp_path / RECORD).read_text(encoding="utf-8") == "", "the server asked somebody else"


def test_the_login_page_violates_nothing_either(server: Server, browser: Browser) -> None:
    for language in ("en-US", "ja-JP", "ko-KR"):
        context = browser.new_context(locale=language)
        page = context.new_page()
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
            page.goto(f"{server.address}/login", timeout=PATIENCE)
            expect(page.locator("html")).to_have_attribute("lang", language[:2])
            assert list_violations(page) == [], (language, theme)
        context.close()
