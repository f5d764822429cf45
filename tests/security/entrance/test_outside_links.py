"""A link on another site makes no browser fetch grades, also over plain http on a name other than localhost.

There browsers send neither `Sec-Fetch-Site` nor, for a GET, `Origin`. Another site can leave out its `Referer`, but cannot send ours.
"""

import http.server
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect
from sqlalchemy import func, select
from starlette.requests import Request

from annotator.domain.people import OPERATOR
from annotator.people.service import add_person
from annotator.storage.database import Database
from annotator.storage.tables.labeling import DisclosureRow
from annotator.web.kit.text import render_guideline
from annotator.web.navigation import PAGES
from annotator.web.rendering.safe_html import make_safe
from annotator.web.session import comes_from_here
from tests.browser.conftest import FLAGS, PASSWORD, Server, find_chromium
from tests.integration.judged_world import NOW, JudgedWorld
from tests.security.entrance.conftest import Attacker

DOCS = Path(__file__).parents[3] / "docs" / "security.md"
HOST = "lead.example"
STRANGERS = ("evil.example", "evil.lead.example")  # another site, and another origin of the same site
OWN = "http://testserver"


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({}, False),
        ({"referer": "http://testserver/disagreements?dataset=d"}, True),
        ({"referer": OWN}, True),
        ({"referer": "http://evil.example/http://testserver/"}, False),
        ({"referer": "http://testserver.evil.example/"}, False),
        ({"referer": "http://testserver@evil.example/"}, False),
        ({"referer": "http://testserver:8080/"}, False),
        ({"referer": "https://testserver/"}, False),
        ({"referer": "about:blank"}, False),
        ({"sec-fetch-site": "cross-site", "referer": f"{OWN}/"}, False),
        ({"sec-fetch-site": "same-site"}, False),
        ({"sec-fetch-site": "none"}, True),
        ({"sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}, True),
        ({"sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate"}, False),
        ({"sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate", "referer": f"{OWN}/work"}, True),
        ({"sec-fetch-site": "none", "sec-fetch-mode": "navigate"}, True),
        ({"origin": "null", "referer": f"{OWN}/"}, False),
        ({"origin": OWN}, True),
    ],
)
def test_a_get_needs_proof_that_a_page_of_this_server_caused_it(
    headers: dict[str, str], allowed: bool
) -> None:
    given = [(name.encode(), value.encode()) for name, value in {"host": "testserver", **headers}.items()]
    scope = {"type": "http", "method": "GET", "scheme": "http", "path": "/", "headers": given}
    assert comes_from_here(Request(scope)) is allowed


def test_the_pages_that_ask_first_are_those_that_record_what_they_show() -> None:
    rows = re.findall(
        r"^\| `/([a-z-]+)` \|.*\| ([^|]+) \|$", DOCS.read_text().partition("## Addresses")[0], re.M
    )
    recording = {page for page, recorded in rows if recorded != "–"}
    assert recording == {page.address for page in PAGES if page.shows_grades_to is not None}


def test_no_get_of_a_route_is_answered_without_proof(visitor: Attacker) -> None:
    visitor.sign_in("lea")
    del visitor.http.headers["referer"]
    paths = [path for path in re.findall(r"`(/api/[a-z/-]+)`", DOCS.read_text()) if path != "/api/v"]
    assert len(set(paths)) > 20
    for path in set(paths):
        assert visitor.http.get(path, params={"dataset": "demo"}).status_code in (403, 405), path


def test_a_sign_in_opened_from_elsewhere_leads_to_the_first_page(visitor: Attacker) -> None:
    wanted = "/disagreements?dataset=demo&pair=p"
    page = visitor.http.get("/login", params={"next": wanted}).text
    assert 'name="next" value="/disagreements' in page
    del visitor.http.headers["referer"]
    page = visitor.http.get("/login", params={"next": wanted}).text
    assert "/disagreements" not in page
    page = visitor.http.get("/login", params={"next": "/overview?dataset=demo"}).text
    assert "/overview" in page


def test_an_annotator_is_not_asked_before_a_page_that_shows_grades_to_leads_only(visitor: Attacker) -> None:
    visitor.sign_in("hanako")
    del visitor.http.headers["referer"]
    assert "Open the page" not in visitor.http.get("/guideline?dataset=demo").text
    assert "Open the page" in visitor.http.get("/work?dataset=demo").text


class Neighbour(http.server.BaseHTTPRequestHandler):
    """Another site: its page names the address to attack in the query, and sends no Referer."""

    def do_GET(self) -> None:
        page = b'<!doctype html><meta name="referrer" content="no-referrer"><title>x</title>'
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_args: object) -> None:
        """Say nothing."""


@pytest.fixture
def neighbour() -> Iterator[int]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Neighbour) as serving:
        thread = threading.Thread(target=serving.serve_forever, daemon=True)
        thread.start()
        yield serving.server_address[1]
        serving.shutdown()


@pytest.fixture(scope="module")
def resolving(browser: Browser) -> Iterator[Browser]:
    """A browser in which `….example` is this machine, and so no origin is trustworthy."""
    rules = f"--host-resolver-rules=MAP {HOST} 127.0.0.1, MAP *.{HOST} 127.0.0.1, MAP evil.example 127.0.0.1"
    launched = browser.browser_type.launch(
        executable_path=find_chromium(), args=[*FLAGS, "--no-sandbox", rules], headless=True
    )
    yield launched
    launched.close()


@pytest.fixture
def network(resolving: Browser) -> Iterator[BrowserContext]:
    context = resolving.new_context(locale="en-US", accept_downloads=True)
    context.set_default_timeout(60_000)
    yield context
    context.close()


ATTACK = """addresses => Promise.all(addresses.map(address => new Promise(resolve => {
  const image = document.body.appendChild(new Image());
  image.src = address;
  const frame = document.body.appendChild(document.createElement("iframe"));
  frame.src = address;
  fetch(address, { mode: "no-cors", credentials: "include" }).catch(() => 0).finally(() => setTimeout(resolve, 300));
})))"""
GO = "address => { const a = document.body.appendChild(document.createElement('a')); a.href = address; a.click(); }"


class Attacked:
    """A lead's browser, and a dataset of which one pair is contested."""

    def __init__(self, database: Database, server: Server, context: BrowserContext) -> None:
        self.database, self.context = database, context
        self.address = f"http://{HOST}:{server.port}"
        world = JudgedWorld(database, name="d")
        world.query("Q1", "x")
        people = [world.person(name) for name in ("ann", "bea")]
        for at in range(4):
            self.pair = world.pair("Q1", f"d{at}")
            for person, grade in zip(people, (0, at), strict=True):
                world.judge(person, "Q1", f"d{at}", grade)
        add_person(database, OPERATOR, "lou", role="lead", dataset="d", password=PASSWORD, now=NOW)

    def count_seen(self) -> int:
        with self.database.read() as session:
            return session.scalar(select(func.count()).select_from(DisclosureRow)) or 0

    def sign_in(self) -> Page:
        page = self.context.new_page()
        page.goto(f"{self.address}/login")
        page.get_by_label("Username").fill("lou")
        page.locator("input[type=password]").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        expect(page).to_have_url(re.compile("/overview"))
        return page


@pytest.fixture
def attacked(database: Database, server: Server, network: BrowserContext) -> Attacked:
    return Attacked(database, server, network)


def test_no_link_on_another_site_records_that_a_lead_saw_grades(
    attacked: Attacked, neighbour: int, is_long_run: bool
) -> None:
    """In `make test` each of the two strangers has every other link that is followed."""
    attacked.sign_in()
    targets = [
        "/api/dataset?dataset=d",
        "/api/trail?dataset=d&format=csv",
        "/api/queue?dataset=d",
        "/api/cases?dataset=d&tab=t&want=3",
        f"/api/cases/trail?dataset=d&pair={attacked.pair}",
        "/api/agreement/pairs?dataset=d&pairs=shared",
        f"/disagreements?dataset=d&pair={attacked.pair}",
        f"/login?next=/disagreements%3Fdataset%3Dd%26pair%3D{attacked.pair}",
        "/agreement?dataset=d&pairs=shared",
    ]
    for stranger in STRANGERS:
        page = attacked.context.new_page()
        page.goto(f"http://{stranger}:{neighbour}/")
        page.evaluate(ATTACK, [attacked.address + target for target in targets])
        assert attacked.count_seen() == 0, stranger
        page.close()
    for number, target in enumerate(targets):
        for stranger in STRANGERS if is_long_run else (STRANGERS[number % 2],):
            page = attacked.context.new_page()
            page.goto(f"http://{stranger}:{neighbour}/")
            try:
                page.evaluate(GO, attacked.address + target)
                page.wait_for_timeout(1_000)
            except Error:
                pass  # the page has gone on
            assert attacked.count_seen() == 0, (stranger, target)
            page.close()


@pytest.mark.long(
    "security/entrance/test_outside_links.py::test_a_link_that_others_wrote_into_a_text_counts_as_one_from_outside",
    "security/entrance/test_outside_links.py::test_no_link_on_another_site_records_that_a_lead_saw_grades",
)
def test_a_link_from_a_chat_asks_first_and_then_opens_the_pair(attacked: Attacked, neighbour: int) -> None:
    page = attacked.sign_in()
    page.goto(f"http://{STRANGERS[0]}:{neighbour}/")
    page.evaluate(GO, f"{attacked.address}/disagreements?dataset=d&pair={attacked.pair}")
    expect(page.get_by_text("can no longer judge it")).to_be_visible()
    assert attacked.count_seen() == 0
    with page.expect_response(lambda answer: "/api/cases?" in answer.url) as answer:
        page.get_by_role("link", name="Open the page").click()
    assert answer.value.status == 200
    expect(page).to_have_url(re.compile(f"pair={attacked.pair}"))
    assert attacked.count_seen() > 0


def test_a_link_that_others_wrote_into_a_text_counts_as_one_from_outside(
    attacked: Attacked, server: Server
) -> None:
    """Where browsers send Sec-Fetch-Site: they call a link in a document of our page "same-origin"."""
    attacked.address = server.address
    page = attacked.sign_in()
    grades, file = (
        f"{server.address}/disagreements?dataset=d&pair={attacked.pair}",
        f"{server.address}/api/dataset?dataset=d",
    )
    texts = (
        make_safe(f'<a href="{grades}">grades</a> <a href="{file}">file</a>', "html")[0],
        render_guideline(f"[grades]({grades}) [file]({file})"),
    )
    for text in texts:
        page.evaluate("text => document.body.insertAdjacentHTML('afterbegin', text)", text)
        with attacked.context.expect_page() as opened:
            page.get_by_role("link", name="grades", exact=True).first.press("Enter")
        expect(opened.value.get_by_text("can no longer judge it")).to_be_visible()
        opened.value.reload()
        expect(opened.value.get_by_text("can no longer judge it")).to_be_visible()
        with attacked.context.expect_page() as opened:
            page.get_by_role("link", name="file", exact=True).first.press("Enter")
        expect(opened.value.get_by_text("this request came from another site")).to_be_visible()
    assert attacked.count_seen() == 0
    page.goto(grades)  # typed, and then loaded again
    page.reload()
    expect(page.get_by_text("can no longer judge it")).to_have_count(0)


def test_who_loads_a_page_again_is_not_asked(attacked: Attacked, server: Server) -> None:
    """A page changes its own address, and then browsers call a reload "same-origin" and name no page."""
    attacked.address = server.address
    page = attacked.sign_in()
    page.goto(f"{server.address}/disagreements?dataset=d")
    expect(page.get_by_role("heading", name="Disagreements", level=1)).to_be_visible()
    page.evaluate("history.pushState(null, '', '/disagreements?dataset=d&show=decided')")
    page.reload()
    expect(page.get_by_role("heading", name="Disagreements", level=1)).to_be_visible()
    expect(page.get_by_text("you did not open it")).to_have_count(0)
    page.goto(f"{server.address}/help")
    page.go_back()
    expect(page.get_by_role("heading", name="Disagreements", level=1)).to_be_visible()


def test_pages_and_files_work_over_plain_http(attacked: Attacked) -> None:
    page = attacked.sign_in()
    page.evaluate(GO, f"{attacked.address}/settings?dataset=d")
    link = page.locator('a[href*="/api/dataset"]')
    expect(link).to_be_attached()
    with page.expect_download() as download:
        link.evaluate("link => link.click()")
    assert download.value.failure() is None
    assert attacked.count_seen() == 4
