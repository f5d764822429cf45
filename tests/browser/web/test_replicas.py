"""Two replicas behind nginx as in deploy/: what one does, the other knows, and the end of one costs no judgment."""

import re
import shutil
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url

from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR, Actor
from annotator.importing.texts.texts_service import import_queries
from annotator.people.service import add_person
from annotator.people.sign_in_limits import PER_ADDRESS_AND_NAME
from annotator.people.sign_in_service import revoke_sessions
from annotator.releases.gates_service import check_release
from annotator.releases.service import publish_release
from annotator.storage import schema
from annotator.storage.database import Database
from annotator.storage.lookup import find_person, key_of
from tests.browser.conftest import DATASET, NOW, PASSWORD, PEOPLE, Server, find_free_port, go
from tests.browser.panel_world import fill_pool, open_panel, press, pressed, stored, wait_saved
from tests.browser.web.proxied_replicas import COOKIE, Proxy, Visitor
from tests.integration.storage.test_upgrading_beside_older import LATER

JUDGED = "guide/0/0.md"


@pytest.fixture
def database(postgres_url: str) -> Iterator[Database]:
    """The dataset DATASET and PEOPLE, in a PostgreSQL database of the test's own."""
    name = f"replicas_{uuid4().hex}"
    engine = create_engine(postgres_url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name} TEMPLATE template_annotator STRATEGY FILE_COPY"))
    opened = Database(make_url(postgres_url).set(database=name))
    create_dataset(opened, OPERATOR, DATASET, now=NOW, title="デモ 데모")
    for username, shown, role in PEOPLE:
        add_person(
            opened, OPERATOR, username, name=shown, role=role, dataset=DATASET, password=PASSWORD, now=NOW
        )
    yield opened
    opened.dispose()
    with engine.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    engine.dispose()


@pytest.fixture
def proxy(database: Database, tmp_path: Path) -> Iterator[Proxy]:
    """Both replicas and nginx, with the settings of deploy/compose.yaml."""
    fill_pool(database)
    servers = []
    for name in ("app-1", "app-2"):
        (tmp_path / name).mkdir()
        environment = {
            "ANNOTATOR_SECURE_COOKIE": "true",
            "ANNOTATOR_EXPORTS_DIR": str(tmp_path / "exports"),
            "ANNOTATOR_FETCHED_RUNS_DIR": str(tmp_path / "fetched-runs"),
            "FORWARDED_ALLOW_IPS": "127.0.0.1",
        }
        url = database.url.render_as_string(hide_password=False)
        servers.append(Server(url, tmp_path / name, find_free_port(), environment))
    running = Proxy(tmp_path, servers)
    for server in servers:
        server.start()
    running.start()
    yield running
    running.stop()
    for server in servers:
        server.kill()


def wait_until(condition: Callable[[], object]) -> None:
    for _ in range(2_400):
        if condition():
            return
        time.sleep(0.05)
    pytest.fail("it did not come about in 120 seconds")


def make_event(pair: dict[str, object], grade: int) -> dict[str, object]:
    return {
        "id": str(uuid4()), "pair": pair["pair"], "outcome": "graded", "grade": grade,
        "pressed_at": datetime.now(UTC).isoformat(), "seconds": 2.0,
        "document_sha256": pair["document"]["sha256"], "guideline_version": pair["guideline_version"],
    }  # fmt: skip


def test_what_one_replica_does_the_other_knows_and_a_browser_keeps_its_own_until_that_one_ends(
    proxy: Proxy, database: Database
) -> None:
    """Everything that needs no page, on one pair of servers: they take seconds to start."""
    check_one_work(proxy, database)
    check_request_number(proxy)
    check_wrong_passwords(proxy)
    check_kept_replica(proxy)


def check_one_work(proxy: Proxy, database: Database) -> None:
    """A session, the pairs that were handed out, a press delivered twice, and signing out are the same on both."""
    first, second = proxy.servers
    hanako, again = Visitor(proxy), Visitor(proxy)
    hanako.go_to(first)
    assert hanako.sign_in("hanako") == 303
    hanako.go_to(second)
    given = hanako.exchange([], 2).json["pairs"]
    hanako.go_to(first)
    shown = [pair["pair"] for pair in given]
    event = make_event(given[0], 2)
    answer = hanako.exchange([event], 2, shown).json
    assert answer["acknowledged"] == [event["id"]]
    assert not {pair["pair"] for pair in answer["pairs"]} & set(shown)
    hanako.go_to(second)
    answer = hanako.exchange([event], 0, shown[1:]).json  # delivered again
    assert answer["acknowledged"] == [event["id"]]
    assert answer["progress"]["done"] == 1
    assert stored(database) == [(shown[0], 2)]
    again.go_to(second)
    assert again.sign_in("hanako") == 303
    with database.read() as session:
        person_pk = key_of(find_person(session, "hanako").pk)
    actor = Actor(person_id=person_pk, username="hanako")
    assert revoke_sessions(database, actor, now=datetime.now(UTC)) == 2  # signed out everywhere
    assert hanako.exchange([], 1).status == 401
    again.go_to(first)
    assert again.exchange([], 1).status == 401


def check_request_number(proxy: Proxy) -> None:
    """A request has one number in both logs, which no browser chooses."""
    answer = Visitor(proxy).ask("GET", "/login", headers={"X-Request-Id": "chosen-by-the-browser"})
    (number,) = [value for name, value in answer.headers if name.lower() == "x-request-id"]
    assert proxy.read_answered()[-1].split()[1] == number
    wait_until(lambda: f"request_id={number}" in proxy.find_server().log)
    assert all("chosen-by-the-browser" not in server.log for server in proxy.servers)


def check_kept_replica(proxy: Proxy) -> None:
    """A browser keeps its replica, and goes to the other one when that one ends."""
    visitor = Visitor(proxy)
    (cookie,) = [
        value for name, value in visitor.ask("GET", "/login").headers if value.startswith(f"{COOKIE}=")
    ]
    assert {"Path=/", "HttpOnly", "Secure", "SameSite=Lax"} <= set(cookie.split("; "))
    kept = proxy.find_server()
    for _ in range(5):
        answer = visitor.ask("GET", "/login")
        assert proxy.find_server() is kept
        assert not any(value.startswith(COOKIE) for _name, value in answer.headers)
    kept.kill()
    assert visitor.sign_in("minjun") == 303  # what was not sent to the one that is gone goes to the other
    assert proxy.find_server() is not kept
    kept.start()
    assert visitor.exchange([], 1).status == 200


def check_wrong_passwords(proxy: Proxy) -> None:
    """They count for all replicas, and the address is the proxy's word."""
    stranger = Visitor(proxy)
    for number in range(PER_ADDRESS_AND_NAME):
        stranger.go_to(proxy.servers[number % 2])
        assert stranger.sign_in("hanako", "wrong", **{"X-Forwarded-For": f"10.0.0.{number}"}) == 401
    for server in proxy.servers:
        stranger.go_to(server)
        assert stranger.sign_in("hanako", **{"X-Forwarded-For": "10.0.1.1"}) == 429
        assert "address=127.0.0.1" in server.log
        assert "address=10.0" not in server.log


OpenPage = Callable[[Server, str], Page]


@pytest.fixture
def open_page(proxy: Proxy, browser: Browser) -> Iterator[OpenPage]:
    """`open_page(server, "lea")`: a page of a browser of its own that the proxy keeps at this server; signed in, unless it is nobody."""
    opened = []

    def do(server: Server, username: str) -> Page:
        context = browser.new_context(locale="en-US", ignore_https_errors=True)
        opened.append(context)
        context.set_default_timeout(30_000)
        visitor = Visitor(proxy)
        visitor.go_to(server)
        cookie = {"name": COOKIE, "value": visitor.cookies[COOKIE], "url": proxy.address}
        context.add_cookies([cookie])  # type: ignore[list-item]
        page = context.new_page()
        if username:
            sign_in(page, proxy, username)
        return page

    yield do
    for context in opened:
        context.close()


def sign_in(page: Page, proxy: Proxy, username: str) -> None:
    page.goto(f"{proxy.address}/login")
    page.fill("#username", username)
    page.fill("#password", PASSWORD)
    page.press("#password", "Enter")
    page.wait_for_url(lambda url: "/login" not in url)


def go_by_sidebar(page: Page, name: str) -> None:
    """Go to another page on the same websocket, without loading anything anew."""
    page.get_by_test_id("stSidebar").get_by_role("link", name=name, exact=True).click()
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()


def count_queries(page: Page) -> Locator:
    return page.get_by_role("table", name="Contents of the dataset").get_by_role("row", name="Queries")


def judge_one_pair(proxy: Proxy, server: Server, username: str) -> None:
    """The first pair of the first query, on this server."""
    visitor = Visitor(proxy)
    visitor.go_to(server)
    assert visitor.sign_in(username) == 303
    given = visitor.exchange([], 20).json["pairs"]
    (pair,) = [each for each in given if each["document"]["doc_id"] == JUDGED]
    event = make_event(pair, 2)
    assert visitor.exchange([event], 0).json["acknowledged"] == [event["id"]]


@pytest.mark.long(
    "browser/web/test_replicas.py::test_what_one_replica_does_the_other_knows_and_a_browser_keeps_its_own_until_that_one_ends"
)
def test_a_page_that_is_open_on_one_replica_shows_what_was_imported_judged_and_published_elsewhere(
    proxy: Proxy, database: Database, open_page: OpenPage, tmp_path: Path
) -> None:
    first, second = proxy.servers
    page = open_page(second, "lea")
    page.goto(f"{proxy.address}/import?dataset=demo")
    expect(count_queries(page)).to_contain_text("3")
    page.evaluate("() => { window.same = true; }")
    queries = tmp_path / "질의.csv"
    queries.write_text("query_id,text\nN1,ログの出力先\nN2,토지거래허가\n", encoding="utf-8")
    import_queries(database, OPERATOR, "demo", queries, now=datetime.now(UTC))
    judge_one_pair(proxy, first, "hanako")
    judge_one_pair(proxy, second, "minjun")
    go_by_sidebar(page, "Releases")
    expect(page.get_by_text("The release will contain 1 pair")).to_be_visible()
    go_by_sidebar(page, "Queries and documents")
    expect(count_queries(page)).to_contain_text("5")
    with database.read() as session:
        lea = Actor(person_id=key_of(find_person(session, "lea").pk), username="lea")
    unmet = {gate.name: "아직" for gate in check_release(database, lea, "demo").gates if not gate.met}
    folder = tmp_path / "exports"
    publish_release(
        database, lea, "demo", "1.0.0", exports_dir=folder, now=datetime.now(UTC), overrides=unmet
    )
    go_by_sidebar(page, "Releases")
    expect(page.get_by_text("Nothing has changed since 1.0.0.")).to_be_visible()
    assert page.evaluate("window.same") is True
    visitor = Visitor(proxy)
    assert visitor.sign_in("lea") == 303
    for server in proxy.servers:
        visitor.go_to(server)
        answer = visitor.ask("GET", "/api/release?dataset=demo&version=1.0.0&file=qrels.trec.txt")
        assert answer.body == (folder / "demo" / "1.0.0" / "qrels.trec.txt").read_bytes()
        assert JUDGED.encode() in answer.body
    assert "page failed" not in first.log + second.log


@pytest.mark.long(
    "test_deploy.py",
    "browser/web/test_read_only_file_system.py::test_a_server_writes_to_its_data_and_temporary_files_only",
)
def test_files_are_uploaded_through_the_proxy_and_imported(
    proxy: Proxy, open_page: OpenPage, tmp_path: Path
) -> None:
    page = open_page(proxy.servers[0], "lea")
    page.goto(f"{proxy.address}/import?dataset=demo")
    queries = tmp_path / "질의.csv"
    queries.write_text("id,text\nN1,ログの出力先\nN2,토지거래허가\n", encoding="utf-8")
    page.locator("input[type=file]").set_input_files(queries)
    page.get_by_role("button", name="Import 2 records").click()
    expect(page.get_by_text("질의.csv is imported: 2 new")).to_be_visible()


@pytest.mark.long(
    "browser/web/test_replicas.py::test_what_one_replica_does_the_other_knows_and_a_browser_keeps_its_own_until_that_one_ends",
    "browser/people/test_invitation.py::test_a_lead_sends_a_link_and_whoever_opens_it_lands_where_the_work_is",
)
def test_a_link_made_on_one_replica_is_used_on_the_other_and_signing_out_everywhere_reaches_open_pages(
    proxy: Proxy, open_page: OpenPage
) -> None:
    first, second = proxy.servers
    one, other, guest = open_page(first, "lea"), open_page(second, "lea"), open_page(second, "")
    one.goto(f"{proxy.address}/people?dataset=demo")
    one.get_by_role("button", name="Invite a person").click()
    one.get_by_label("For whom").fill("Hana")
    one.keyboard.press("Tab")
    one.get_by_role("button", name="Make the link").click()
    link = one.get_by_label("Link to send to Hana")
    expect(link).to_have_value(re.compile(f"^{proxy.address}/join#"))
    guest.goto(link.input_value())
    for name, typed in (("Name, as", "하나"), ("Username,", "hana"), ("Password (", PASSWORD)):
        guest.get_by_role("textbox", name=name).fill(typed)
    guest.get_by_role("button", name="Create account").click()
    expect(guest).to_have_url(re.compile(r"/label\?dataset=demo"))
    other.goto(f"{proxy.address}/overview?dataset=demo")
    expect(other.get_by_role("heading", level=1, name="Overview")).to_be_visible()
    one.goto(f"{proxy.address}/account")
    one.get_by_role("button", name="Sign out everywhere else").click()
    expect(one.get_by_role("button", name="Sign out everywhere else")).to_have_count(0)
    other.get_by_test_id("stSidebar").get_by_role("link", name="Releases", exact=True).click()
    expect(other.get_by_role("link", name="Sign in again")).to_be_visible()


def serve_a_newer_version() -> None:
    """In the new process: the program knows a migration more, which servers of the schema before can live with."""
    folder = Path("newer")
    shutil.copytree(schema.MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    migration = LATER.format(last=schema.list_migrations()[-1].revision)
    (folder / "versions" / "9998_later.py").write_text(migration, encoding="utf-8")
    schema.MIGRATIONS, schema.ROLLING = folder.resolve(), frozenset({"9998"})


@pytest.mark.long(
    "browser/web/test_replicas.py::test_a_replica_killed_while_somebody_labels_costs_no_press",
    "integration/storage/test_upgrading_beside_older.py",
)
def test_replicas_are_upgraded_one_after_the_other_while_somebody_labels(
    proxy: Proxy, database: Database, open_page: OpenPage
) -> None:
    first, second = proxy.servers
    page = open_page(second, "hanako")
    open_panel(page)
    press(page, "2")
    wait_saved(page)
    first.first = second.first = serve_a_newer_version
    assert first.stop() == 0
    first.start()  # migrates
    with database.read() as session:
        assert schema.find_revision(session) == "9998"
    press(page, "31")  # the old one goes on with the newer schema
    wait_saved(page)
    assert proxy.find_server() is second
    Visitor(proxy).ask("GET", "/healthz", headers={"Cookie": f"{COOKIE}={find_cookie(page)}"})
    assert "a newer version has upgraded the database" in second.log
    assert second.stop() == 0
    press(page, "123")
    wait_saved(page)
    second.start()
    press(page, "2")
    seen = pressed(page)
    wait_saved(page)
    assert len(seen) == 7
    assert stored(database) == seen
    for server in proxy.servers:
        assert "request failed" not in server.log


def find_cookie(page: Page) -> str:
    (value,) = [cookie["value"] for cookie in page.context.cookies() if cookie["name"] == COOKIE]  # type: ignore[typeddict-item]
    return value


def test_a_replica_killed_while_somebody_labels_costs_no_press(
    proxy: Proxy, database: Database, open_page: OpenPage
) -> None:
    page = open_page(proxy.servers[0], "hanako")
    open_panel(page)
    press(page, "231")
    wait_saved(page)
    gone = proxy.find_server()
    gone.kill()
    press(page, "12312")
    wait_saved(page)
    gone.start()
    press(page, "23")
    seen = pressed(page)
    wait_saved(page)
    assert len(seen) == 10
    assert stored(database) == seen
    go(page, "/work?dataset=demo")
    expect(page.get_by_role("heading", level=1, name="My work")).to_be_visible()
