"""Two replicas behind nginx as in deploy/: what one does, the other knows, and the end of one costs no judgment."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, expect

from annotator.domain.people import Actor
from annotator.people.sign_in_limits import PER_ADDRESS_AND_NAME
from annotator.people.sign_in_service import revoke_sessions
from annotator.storage.database import Database
from annotator.storage.lookup import find_person, key_of
from tests.browser.conftest import PASSWORD, Server, find_free_port
from tests.browser.panel_world import fill_pool, open_panel, press, pressed, stored, wait_saved
from tests.browser.web.proxied_replicas import COOKIE, Proxy, Visitor
from tests.browser.web.test_workers import database as database
from tests.integration.conftest import postgres_url as postgres_url


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


def make_event(pair: dict[str, object], grade: int) -> dict[str, object]:
    return {
        "id": str(uuid4()), "pair": pair["pair"], "outcome": "graded", "grade": grade,
        "pressed_at": datetime.now(UTC).isoformat(), "seconds": 2.0,
        "document_sha256": pair["document"]["sha256"], "guideline_version": pair["guideline_version"],
    }  # fmt: skip


def test_what_one_replica_does_the_other_knows(proxy: Proxy, database: Database) -> None:
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


def test_wrong_passwords_count_for_all_replicas_and_the_address_is_the_proxy_s_word(proxy: Proxy) -> None:
    stranger = Visitor(proxy)
    for number in range(PER_ADDRESS_AND_NAME):
        stranger.go_to(proxy.servers[number % 2])
        assert stranger.sign_in("hanako", "wrong", **{"X-Forwarded-For": f"10.0.0.{number}"}) == 401
    for server in proxy.servers:
        stranger.go_to(server)
        assert stranger.sign_in("hanako", **{"X-Forwarded-For": "10.0.1.1"}) == 429
        assert "address=127.0.0.1" in server.log
        assert "address=10.0" not in server.log


def test_a_browser_keeps_its_replica_until_that_one_ends(proxy: Proxy) -> None:
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
    assert visitor.sign_in("hanako") == 303  # what was not sent to the one that is gone goes to the other
    assert proxy.find_server() is not kept
    kept.start()
    assert visitor.exchange([], 1).status == 200


def test_a_replica_killed_while_somebody_labels_costs_no_press(
    proxy: Proxy, database: Database, browser: Browser
) -> None:
    context = browser.new_context(locale="en-US", ignore_https_errors=True)
    context.set_default_timeout(30_000)
    page = context.new_page()
    page.goto(f"{proxy.address}/login")
    page.fill("#username", "hanako")
    page.fill("#password", PASSWORD)
    page.press("#password", "Enter")
    page.wait_for_url(lambda url: "/login" not in url)
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
    page.goto(f"{proxy.address}/work?dataset=demo")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    context.close()
