"""A lead has the server fetch a run from a search system that is slow, failing and lying, and stays in command of it."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotator.dataset.service import change_settings
from annotator.domain.people import OPERATOR
from annotator.importing.texts.texts_service import import_documents, import_queries
from annotator.importing.uploads.import_service import show_contents
from annotator.people.service import change_person
from annotator.storage.database import Database
from tests.browser.conftest import PASSWORD, Server, find_free_port
from tests.browser.web.test_accessibility import list_violations
from tests.integration.importing.test_search_endpoint import Endpoint
from tests.integration.judged_world import NOW, JudgedWorld

SECRET = "hunter22-hunter22"
SPEC = """url: "http://HOST/s?q={query}"
headers: {Authorization: "Bearer ${SEARCH_TOKEN}"}
results: hits
id: id
score: s
signals: {bm25: bm25, vectors: no.such}
attempts: 1
"""


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    endpoint = Endpoint()
    yield endpoint
    endpoint.server.shutdown()
    endpoint.server.server_close()


@pytest.fixture
def world(database: Database, tmp_path: Path, endpoint: Endpoint) -> Database:
    JudgedWorld(database)
    queries = tmp_path / "queries.csv"
    queries.write_text("query_id,text\n" + "".join(f"Q{n},word{n}\n" for n in range(1, 7)), encoding="utf-8")
    import_queries(database, OPERATOR, "d", queries, now=NOW)
    documents = tmp_path / "documents.csv"
    documents.write_text("doc_id,text\nword1-0,a\n", encoding="utf-8")
    import_documents(database, OPERATOR, "d", documents, now=NOW)
    change_person(database, OPERATOR, "lea", role="lead", dataset="d", now=NOW)
    change_settings(database, OPERATOR, "d", {"search_hosts": endpoint.host}, now=NOW)
    return database


@pytest.fixture
def server(world: Database, tmp_path: Path, endpoint: Endpoint) -> Iterator[Server]:
    allowed = {"ANNOTATOR_SEARCH_HOSTS": endpoint.host, "SEARCH_TOKEN": SECRET}
    running = Server(
        world.url.render_as_string(hide_password=False), tmp_path, find_free_port(), environment=allowed
    )
    running.start()
    yield running
    running.kill()


@pytest.mark.long("unit/web/importing/test_import_page.py", "integration/importing/test_search_endpoint.py")
def test_a_run_is_tried_fetched_stopped_resumed_and_imported(
    world: Database, page: Page, server: Server, endpoint: Endpoint, tmp_path: Path
) -> None:
    go_on, is_failing = threading.Event(), threading.Event()
    is_failing.set()

    def answer(query: str, given: dict[str, Any]) -> Any:
        if query == "word4":
            go_on.wait(60)  # slow
        if query == "word2" and is_failing.is_set():
            return 500, {}, f"no: {given['token']}".encode()  # failing
        if query == "word5" and is_failing.is_set():
            return {"hits": [{"id": "a", "s": 1}, {"id": "a", "s": 1}]}  # lying
        return Endpoint.list_documents(query, given)

    endpoint.answer = answer
    page.goto(f"{server.address}/login")
    page.fill("#username", "lea")
    page.fill("#password", PASSWORD)
    page.press("#password", "Enter")
    page.wait_for_url(lambda url: "/login" not in url)
    page.goto(f"{server.address}/import?dataset=d&tab=Fetch+a+run")
    expect(page.get_by_text(f"Allowed hosts: {endpoint.host}")).to_be_visible()
    spec = page.get_by_role("textbox", name="Specification (YAML)")
    spec.fill(SPEC.replace("HOST", "127.0.0.1:1"))
    spec.press("Control+Enter")
    name = page.get_by_role("textbox", name="Name of the system")
    name.fill("live")
    name.press("Enter")
    page.get_by_role("button", name="Try with one query").click()
    expect(page.get_by_text("This server may not send requests to 127.0.0.1:1")).to_be_visible()
    spec.fill(SPEC.replace("HOST", endpoint.host))
    spec.press("Control+Enter")
    page.get_by_role("button", name="Try with one query").click()
    recognised = page.get_by_role("table", name="What was recognised")
    expect(recognised.get_by_role("row", name="word1-1")).to_contain_text("1")
    expect(page.get_by_text("1 of 2 ids are documents of this dataset.")).to_be_visible()
    expect(page.get_by_text("No result contains vectors.")).to_be_visible()
    assert len(endpoint.asked) == 1
    assert list_violations(page) == []
    page.get_by_role("button", name="Fetch the answers to 6 queries").click()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    for _ in range(2_400):
        if any(sent.get("q") == "word4" for sent in endpoint.asked):
            break
        page.wait_for_timeout(50)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped. The answers received so far are kept.")).to_be_visible()
    assert show_contents(world, OPERATOR, "d").count("run") == 0
    go_on.set()
    asked = len(endpoint.asked)
    page.get_by_role("button", name="Go on").click()
    failed = page.get_by_role("table", name="Queries without an answer")
    expect(failed.get_by_role("row", name="Q2")).to_contain_text("HTTP 500: no: Bearer ***")
    expect(failed.get_by_role("row", name="Q5")).to_contain_text("each document once")
    expect(page.get_by_text("2 queries have no answer. 4 of 6 are answered and kept")).to_be_visible()
    assert sorted(sent["q"] for sent in endpoint.asked[asked:]) == ["word2", "word4", "word5", "word6"]
    assert show_contents(world, OPERATOR, "d").count("run") == 0
    is_failing.clear()
    page.reload()
    page.get_by_role("button", name="Fetch the rest again").click()
    expect(page.get_by_text("The run live is imported.")).to_be_visible()
    counted = page.get_by_role("table", name="Answers").get_by_role("row").nth(1)
    expect(counted).to_contain_text("ms")
    assert show_contents(world, OPERATOR, "d").count("run") == 1
    files = [path for path in (tmp_path / "fetched-runs").rglob("*") if path.is_file()]
    assert len(files) == 2
    assert SECRET not in page.content() + server.log + "".join(path.read_text("utf-8") for path in files)
