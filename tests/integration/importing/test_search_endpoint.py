"""Runs fetched from a real HTTP server on this machine: one that is well, slow, failing, turning pages and lying.

The clock moves only when the program waits, so nothing here takes the time it talks about.
"""

import _thread
import json
import signal
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest
from sqlmodel import col, select
from typer.testing import CliRunner, Result

from annotator.cli.main import app
from annotator.dataset.service import change_settings, show_search_hosts
from annotator.domain.errors import (
    AnnotatorError,
    BadInput,
    ConflictError,
    NotAllowed,
    StateError,
    ValidationError,
)
from annotator.domain.people import OPERATOR, Actor
from annotator.importing.search_endpoint.endpoint_records import FetchReport
from annotator.importing.search_endpoint.search_endpoint_service import (
    FetchEnvironment,
    check_host,
    fetch_run,
)
from annotator.importing.search_endpoint.spec import TEMPLATES, print_template
from annotator.importing.texts.texts_service import import_queries
from annotator.people.roles_service import find_actor
from annotator.people.service import add_person
from annotator.storage.database import Database
from annotator.storage.logs.import_records import list_import_records
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.tables.adjudication import AuditEventRow
from annotator.storage.tables.central import RunRow
from tests.integration.importing.test_importing import NOW, Desk
from tests.integration.importing.test_runs_from_search_apis import results

QUERIES = 'query_id,text,language\nQ1,検索 "が" & x,ja\nQ2,질의,ko\nQ3,none,en\n'
SECRET = "hunter22-hunter22"
Answer = tuple[int, dict[str, str], bytes]


class Endpoint:
    """A search server on this machine. `answer` decides what it says to a query and its parameters."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        endpoint = self
        self.asked: list[dict[str, Any]] = []
        self.answer: Callable[[str, dict[str, Any]], Any] = endpoint.list_documents

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                given = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
                self.reply(given)

            def do_POST(self) -> None:
                self.reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def reply(self, given: dict[str, Any]) -> None:
                given = {
                    **given,
                    "path": urlsplit(self.path).path,
                    "token": self.headers.get("Authorization"),
                }
                endpoint.asked.append(given)
                content = endpoint.answer(given.get("q", ""), given)
                status, headers, body = (
                    content
                    if isinstance(content, tuple)
                    else (200, {"Content-Type": "application/json"}, json.dumps(content).encode())
                )
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                if "Content-Length" not in headers:
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                if "Content-Length" in headers:
                    self.close_connection = True

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # a client that hangs up is what some tests are about
        if tls is not None:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.host = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(
            target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()

    @staticmethod
    def list_documents(query: str, given: dict[str, Any]) -> dict[str, Any]:
        """Two documents for each query but "none"."""
        hits = [] if query == "none" else [{"id": f"{query}-{n}", "s": 2 - n, "bm25": n} for n in range(2)]
        return {"hits": hits, "took": 3}


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    endpoint = Endpoint()
    yield endpoint
    endpoint.server.shutdown()
    endpoint.server.server_close()


class FetchDesk(Desk):
    """A dataset of three queries that may be sent to an endpoint."""

    def __init__(self, database: Database, folder: Path, endpoint: Endpoint) -> None:
        super().__init__(database, folder)
        self.endpoint, self.seconds, self.told = endpoint, 0.0, []
        self.bring(import_queries, "q.csv", QUERIES)
        change_settings(database, OPERATOR, "d", {"search_hosts": endpoint.host}, now=NOW)

    def spec(self, text: str = "", *, url: str = "/s?q={query}", scheme: str = "http") -> Path:
        paths = "results: hits\nid: id\nscore: s\nengine_ms: took\nsignals: {bm25: bm25}\n"
        return self.put("s.yaml", f'url: "{scheme}://{self.endpoint.host}{url}"\n{paths}{text}')

    def fetch(self, spec: Path | None = None, *, actor: Actor = OPERATOR, **options: Any) -> FetchReport:
        def sleep(seconds: float) -> None:
            self.seconds += seconds

        environment = FetchEnvironment(lambda: self.seconds, sleep, {"TOKEN": SECRET})
        given = {"system": "live", "depth": 10, "save": self.folder / "live.jsonl", **options}
        return fetch_run(
            self.database,
            actor,
            "d",
            spec or self.spec(),
            now=NOW,
            environment=environment,
            report_progress=self.told.append,
            **given,
        )

    def refused(self, spec: Path | None = None, **options: Any) -> str:
        with pytest.raises(AnnotatorError) as caught:
            self.fetch(spec, **options)
        assert self.rows(RunRow.system) == [], "nothing was imported"
        return str(caught.value)

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "live.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture
def fetching(database: Database, tmp_path: Path, endpoint: Endpoint) -> FetchDesk:
    return FetchDesk(database, tmp_path, endpoint)


def run_row(desk: Desk) -> RunRow:
    with desk.database.read() as session:
        return session.scalars(select(RunRow)).one()


def last_record(desk: Desk) -> Any:
    with desk.database.read() as session:
        return list_import_records(session, key_of(find_dataset(session, "d").pk))[-1]


# A server that is well ---------------------------------------------------------------------------------


def test_a_run_is_fetched_kept_in_a_file_and_imported(fetching: FetchDesk) -> None:
    report = fetching.fetch()
    assert (report.fetched, report.kept, report.failed, report.without_results) == (3, 0, (), 1)
    first = '検索 "が" & x'
    assert results(fetching, "live") == {
        "Q1": [(f"{first}-0", 1), (f"{first}-1", 2)],
        "Q2": [("질의-0", 1), ("질의-1", 2)],
    }
    signals = run_row(fetching).query_signals
    assert signals["Q3"] == {"latency_ms": 0.0, "engine_ms": 3.0}, "an empty list is an answer, with its time"
    assert {line["query_id"] for line in fetching.lines()} == {"Q1", "Q2", "Q3"}
    assert [asked["q"] for asked in fetching.endpoint.asked] == [first, "질의", "none"]


def test_the_record_of_the_import_names_the_endpoint_and_the_file(fetching: FetchDesk) -> None:
    fetching.fetch()
    record = last_record(fetching)
    assert record.path == str(fetching.folder / "live.jsonl")
    assert record.options["endpoint"] == f"http://{fetching.endpoint.host}/s?q={{query}}"
    assert (record.options["depth"], len(record.options["spec_sha256"])) == (10, 64)
    assert (record.figures["fetched_queries"], record.figures["without_results"]) == (3, 1)


def test_a_json_body_carries_the_query_the_depth_and_its_columns(fetching: FetchDesk) -> None:
    body = 'body: {q: "{query}", n: "{depth}", language: "{query.language}"}\n'
    fetching.fetch(fetching.spec(body, url="/s"), depth=7)
    assert [(sent["q"], sent["n"], sent["language"]) for sent in fetching.endpoint.asked] == [
        ('検索 "が" & x', 7, "ja"),
        ("질의", 7, "ko"),
        ("none", 7, "en"),
    ]


def test_the_latency_of_a_query_is_its_wall_time_without_the_waits(fetching: FetchDesk) -> None:
    def be_slow(query: str, given: dict[str, Any]) -> Any:
        fetching.seconds += 0.2
        failed = query == "질의" and sum(sent["q"] == query for sent in fetching.endpoint.asked) == 1
        return (503, {}, b"") if failed else Endpoint.list_documents(query, given)

    fetching.endpoint.answer = be_slow
    fetching.fetch(fetching.spec("requests_per_second: 0.1\n"))
    signals = run_row(fetching).query_signals
    assert [round(signals[query_id]["latency_ms"]) for query_id in ("Q1", "Q2", "Q3")] == [200, 200, 200]
    assert (signals["Q2"]["retries"], "retries" in signals["Q1"]) == (1, False)


def test_several_requests_may_be_under_way(fetching: FetchDesk) -> None:
    report = fetching.fetch(fetching.spec("concurrency: 3\n"))
    assert (report.fetched, len(fetching.lines())) == (3, 3)


def test_a_dry_run_sends_the_first_query_and_keeps_nothing(fetching: FetchDesk) -> None:
    report = fetching.fetch(fetching.spec("query_signals: {nothing: no.path}\n"), dry_run=True)
    assert len(fetching.endpoint.asked) == 1
    assert report.sample["query_id"] == "Q1"
    assert report.sample["results"][0]["signals"] == {"bm25": 0}
    assert report.missing_signals == ("nothing",)
    assert list(fetching.folder.glob("live*")) == []
    assert fetching.rows(RunRow.system) == []


def test_progress_is_told(fetching: FetchDesk) -> None:
    fetching.fetch()
    assert fetching.told[0].startswith("3 of 3 queries answered")


# Pages -------------------------------------------------------------------------------------------------

PAGES = "page_size: 2\ntotal: total\n"
PAGED = "/s?q={query}&o={offset}&n={size}"


def list_page(query: str, given: dict[str, Any], *, total: int = 5, most: int = 2) -> dict[str, Any]:
    start = int(given["o"])
    hits = [{"id": f"d{n}", "s": 9 - n} for n in range(start, min(start + most, total))]
    return {"hits": hits, "took": 1, "total": total}


def test_pages_are_turned_until_the_depth_or_the_end(fetching: FetchDesk) -> None:
    fetching.endpoint.answer = list_page
    fetching.fetch(fetching.spec(PAGES, url=PAGED), depth=3)
    assert [len(line["results"]) for line in fetching.lines()] == [3, 3, 3]
    assert [sent["o"] for sent in fetching.endpoint.asked] == ["0", "2"] * 3
    fetching.fetch(fetching.spec(PAGES, url=PAGED), depth=10, system="b", save=fetching.folder / "b.jsonl")
    signals = {"latency_ms": 0.0, "engine_ms": 3.0, "total": 5, "pages": 3}
    with fetching.database.read() as session:
        row = session.scalars(select(RunRow).where(col(RunRow.system) == "b")).one()
    assert row.query_signals["Q1"] == signals


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            lambda query, given: list_page(query, {"o": 0}),
            "expected page 2 to continue the list, found page 1 again",
        ),
        (
            lambda query, given: list_page(query, {"o": int(given["o"]) // 2}),
            "expected each document once, found 'd1' as results 2 and 3",
        ),
        (
            lambda query, given: (
                list_page(query, given) if given["o"] == "0" else {"hits": [], "took": 1, "total": 5}
            ),
            "expected 5 results, since 5 documents match (total), found 2",
        ),
    ],
    ids=["the same page", "shifted", "cut off"],
)
def test_pages_that_lie_are_failures(fetching: FetchDesk, answer: Any, message: str) -> None:
    fetching.endpoint.answer = answer
    assert message in fetching.refused(fetching.spec(PAGES, url=PAGED))


CURSORS = 'body: {q: "{query}", n: "{size}", after: "{cursor}"}\npage_size: 2\nnext_cursor: next\n'


def list_after(query: str, given: dict[str, Any], *, total: int = 5) -> dict[str, Any]:
    """Two documents after the cursor, which is a list as OpenSearch's search_after; none after the last page."""
    start = given["after"][0] if "after" in given else 0
    hits = [{"id": f"d{n}", "s": 9 - n} for n in range(start, min(start + 2, total))]
    return {"hits": hits, "took": 1, "next": [start + 2, "x"] if start + 2 < total else None}


def test_a_cursor_is_followed_until_the_depth_or_the_end(fetching: FetchDesk) -> None:
    fetching.endpoint.answer = list_after
    fetching.fetch(fetching.spec(CURSORS, url="/s"), depth=3)
    assert [len(line["results"]) for line in fetching.lines()] == [3, 3, 3]
    assert [sent.get("after") for sent in fetching.endpoint.asked] == [None, [2, "x"]] * 3
    fetching.fetch(fetching.spec(CURSORS, url="/s"), depth=10, system="b", save=fetching.folder / "b.jsonl")
    assert [doc_id for doc_id, _ in results(fetching, "b")["Q1"]] == ["d0", "d1", "d2", "d3", "d4"]


def test_an_empty_page_ends_a_list_although_its_cursor_is_the_one_that_was_sent(fetching: FetchDesk) -> None:
    # Solr: "when the value of nextCursorMark is the one that you sent, all matching documents have been returned"
    def list_as_solr(query: str, given: dict[str, Any]) -> Any:
        if given["after"] == "*":
            return {"hits": [{"id": "a", "s": 1}], "took": 1, "next": "AoE"}
        return {"hits": [], "took": 1, "next": "AoE"}

    fetching.endpoint.answer = list_as_solr
    fetching.fetch(fetching.spec(CURSORS + "first_cursor: '*'\n", url="/s"))
    assert results(fetching, "live")["Q1"] == [("a", 1)]
    assert [sent["after"] for sent in fetching.endpoint.asked] == ["*", "AoE"] * 3


def list_for_ever(query: str, given: dict[str, Any]) -> dict[str, Any]:
    """A new document on each page, and in turn one of two cursors."""
    hits = [{"id": str(uuid4()), "s": 1}]
    return {"hits": hits, "took": 1, "next": "b" if given.get("after") == "a" else "a"}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            list_for_ever,
            "expected a new next_cursor on page 3, found one that was sent before: 'a'",
        ),
        (
            lambda query, given: {"hits": [{"id": "a", "s": 1}], "took": 1, "next": True},
            "expected next_cursor: next to be what the next page begins with, found true",
        ),
        (
            lambda query, given: {"hits": [{"id": "a", "s": 1}], "took": 1, "next": "x" * 20_000},
            "expected next_cursor: next to be at most 20,000 characters, found 20,002",
        ),
    ],
    ids=["for ever", "no cursor", "long"],
)
def test_cursors_that_lie_are_failures(fetching: FetchDesk, answer: Any, message: str) -> None:
    fetching.endpoint.answer = answer
    assert message in fetching.refused(
        fetching.spec(CURSORS.replace("page_size: 2", "page_size: 2\nattempts: 1"), url="/s"), depth=50
    )
    assert len(fetching.endpoint.asked) <= 30


def test_the_better_place_of_a_document_is_kept_where_that_is_asked_for(fetching: FetchDesk) -> None:
    double = {"hits": [{"id": "a", "s": 2}, {"id": "b", "s": 1}, {"id": "a", "s": 1}], "took": 1}
    fetching.endpoint.answer = lambda query, given: double
    assert "--duplicates first keeps one" in fetching.refused()
    fetching.fetch(duplicates="first")
    assert results(fetching, "live")["Q1"] == [("a", 1), ("b", 2)]


# A server that fails -----------------------------------------------------------------------------------


def test_a_query_that_fails_is_reported_and_nothing_is_imported(fetching: FetchDesk) -> None:
    fetching.endpoint.answer = lambda query, given: (
        (500, {}, b"boom") if query == "질의" else Endpoint.list_documents(query, given)
    )
    message = fetching.refused(fetching.spec("attempts: 2\n"))
    assert (
        f"s.yaml ({fetching.endpoint.host}): expected an answer to query 'Q2', found HTTP 500: boom (2 attempts)"
        in message
    )
    assert "2 of 3 queries answered" in message
    assert "--allow-failures imports the others" in message
    assert [line["query_id"] for line in fetching.lines()] == ["Q1", "Q3"]


def test_failures_that_are_allowed_are_recorded_as_failures_and_not_as_empty(fetching: FetchDesk) -> None:
    fetching.endpoint.answer = lambda query, given: (
        (400, {}, b"boom") if query == "질의" else Endpoint.list_documents(query, given)
    )
    report = fetching.fetch(allow_failures=True)
    assert [(failed.query_id, failed.reason) for failed in report.failed] == [("Q2", "HTTP 400: boom")]
    signals = run_row(fetching).query_signals
    assert signals["Q2"] == {"failed": "HTTP 400: boom"}
    assert "failed" not in signals["Q3"]
    assert last_record(fetching).figures["failed_queries"] == {"Q2": "HTTP 400: boom"}
    assert any("1 query failed" in note for note in report.run.notes)


def test_what_failed_is_sent_again_and_added_to_the_run(fetching: FetchDesk) -> None:
    test_failures_that_are_allowed_are_recorded_as_failures_and_not_as_empty(fetching)
    fetching.endpoint.answer = Endpoint.list_documents
    fetching.endpoint.asked.clear()
    report = fetching.fetch()
    assert [sent["q"] for sent in fetching.endpoint.asked] == ["질의"]
    assert (report.fetched, report.kept, report.failed) == (1, 2, ())
    assert set(results(fetching, "live")) == {"Q1", "Q2"}
    assert "failed" not in run_row(fetching).query_signals["Q2"]
    assert fetching.fetch().run.unchanged == 4, "once more changes nothing"


def test_queries_that_are_new_in_the_dataset_are_added_to_the_run(fetching: FetchDesk) -> None:
    fetching.fetch()
    fetching.bring(import_queries, "more.csv", "query_id,text\nQ4,four\n")
    fetching.endpoint.asked.clear()
    fetching.fetch()
    assert [sent["q"] for sent in fetching.endpoint.asked] == ["four"]
    assert set(results(fetching, "live")) == {"Q1", "Q2", "Q4"}


def test_a_pause_that_the_server_asks_for_is_kept(fetching: FetchDesk) -> None:
    def refuse_once(query: str, given: dict[str, Any]) -> Any:
        first = len(fetching.endpoint.asked) == 1
        return (429, {"Retry-After": "20"}, b"") if first else Endpoint.list_documents(query, given)

    fetching.endpoint.answer = refuse_once
    assert fetching.fetch().fetched == 3
    assert fetching.seconds == pytest.approx(20)


def test_ten_failures_in_a_row_end_the_fetch_unless_failures_are_allowed(fetching: FetchDesk) -> None:
    rows = "".join(f"N{n},new {n}\n" for n in range(20))
    fetching.bring(import_queries, "more.csv", f"query_id,text\n{rows}")
    fetching.endpoint.answer = lambda query, given: (400, {}, b"")
    message = fetching.refused()
    assert len(fetching.endpoint.asked) == 10
    assert "Stopped: 10 queries failed one after another. 0 of 23 queries answered" in message
    assert "found not sent: the fetch had stopped" in message
    fetching.endpoint.asked.clear()
    assert "Nothing was imported" in fetching.refused(allow_failures=True), "not a single answer"
    assert len(fetching.endpoint.asked) == 23


def test_a_fetch_that_stopped_is_not_imported_even_where_failures_are_allowed(fetching: FetchDesk) -> None:
    fetching.endpoint.answer = lambda query, given: (
        (401, {}, b"") if query == "질의" else Endpoint.list_documents(query, given)
    )
    message = fetching.refused(allow_failures=True)
    assert "1 of 3 queries answered" in message
    assert "query 'Q3', found not sent: the fetch had stopped" in message
    assert "--allow-failures" not in message


def test_the_first_request_goes_alone_so_that_a_wrong_spec_costs_one_request(fetching: FetchDesk) -> None:
    fetching.endpoint.answer = lambda query, given: (403, {}, b"")
    fetching.refused(fetching.spec("concurrency: 3\n"))
    assert len(fetching.endpoint.asked) == 1


def test_a_refused_sign_in_ends_the_fetch_at_once_and_shows_no_secret(fetching: FetchDesk) -> None:
    fetching.endpoint.answer = lambda query, given: (401, {}, f"not you, {given['token']}".encode())
    spec = fetching.spec('headers: {Authorization: "Bearer ${TOKEN}"}\n')
    message = fetching.refused(spec, allow_failures=True)
    assert "HTTP 401: not you, Bearer ***" in message
    assert "Stopped: every other query would fail in the same way" in message
    assert [sent["token"] for sent in fetching.endpoint.asked] == [f"Bearer {SECRET}"]
    for path in fetching.folder.rglob("*"):
        assert path.is_dir() or SECRET.encode() not in path.read_bytes()
    assert SECRET not in str(fetching.dump()) + str(fetching.told) + message


# A server that lies ------------------------------------------------------------------------------------

LIES: dict[str, tuple[Any, str]] = {
    "html": (
        (200, {"Content-Type": "text/html"}, b"<title>Login</title>"),
        "expected JSON, found HTML or XML",
    ),
    "no list": ({"hits": {"a": 1}, "took": 1}, "expected results: hits to be a list, found a mapping"),
    "no results": ({"error": "x"}, "expected results: hits to be a list, found nothing (there are: error)"),
    "no id": ({"hits": [{"doc": 1, "s": 1}]}, "expected id: id of result 1 to be a text"),
    "text score": (
        {"hits": [{"id": "a", "s": "high"}]},
        "expected score: s of result 1 to be a finite number",
    ),
    "nan": ((200, {}, b'{"hits": [{"id": "a", "s": NaN}]}'), "expected JSON"),
    "huge number": ((200, {}, b'{"hits": [{"id": "a", "s": 1e999}]}'), "expected"),
    "cut off": ((200, {"Content-Length": "900"}, b'{"hits": ['), "the connection broke"),
    "twice": (
        {"hits": [{"id": "a", "s": 2}, {"id": "a", "s": 1}]},
        "expected each document once, found 'a' as results 1 and 2",
    ),
    "redirect": (
        (302, {"Location": "http://192.0.2.7:9200/s"}, b""),
        "a redirect to http://192.0.2.7:9200: refused",
    ),
    "too much": ((200, {}, b'{"hits": "' + b"x" * 1_100_000 + b'"}'), "more than 1 MB (max_megabytes)"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_a_failure_and_never_an_empty_list(fetching: FetchDesk, lie: str) -> None:
    content, message = LIES[lie]
    fetching.endpoint.answer = lambda query, given: content
    shown = fetching.refused(fetching.spec("attempts: 1\nmax_megabytes: 1\n"), allow_failures=True)
    assert message in shown
    assert "0 of 3 queries answered" in shown


def test_a_connection_that_hangs_is_given_up(fetching: FetchDesk) -> None:
    release = threading.Event()

    def hang(query: str, given: dict[str, Any]) -> Any:
        if query == "질의":
            release.wait(60)
        return Endpoint.list_documents(query, given)

    fetching.endpoint.answer = hang
    try:
        message = fetching.refused(fetching.spec("timeout_seconds: 0.2\nattempts: 1\n"))
    finally:
        release.set()
    assert "query 'Q2', found no answer within 0.2 s" in message


@pytest.mark.parametrize(
    ("begin", "piece"), [(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"), (b"HTTP/1.1 200 OK\r\nA: ", b"a")]
)
def test_an_answer_whose_head_never_ends_is_given_up(fetching: FetchDesk, begin: bytes, piece: bytes) -> None:
    ended = threading.Event()

    class Drip(BaseRequestHandler):
        def handle(self) -> None:
            self.request.sendall(begin)
            for _ in range(100):  # 10 seconds, where a client waits for them
                if ended.wait(0.1):
                    return
                fetching.seconds += 0.1
                self.request.sendall(piece)

    with ThreadingTCPServer(("127.0.0.1", 0), Drip) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        host = fetching.endpoint.host = f"127.0.0.1:{server.server_address[1]}"
        change_settings(fetching.database, OPERATOR, "d", {"search_hosts": host}, now=NOW)
        try:
            message = fetching.refused(fetching.spec("timeout_seconds: 0.3\nattempts: 1\n"))
        finally:
            ended.set()
            server.shutdown()
    assert "no answer within 0.3 s" in message
    assert fetching.seconds < 9, "three requests of three times 0.3 s"


def test_a_server_that_is_not_there_is_told_at_once(fetching: FetchDesk) -> None:
    fetching.endpoint.server.shutdown()
    fetching.endpoint.server.server_close()
    message = fetching.refused(fetching.spec("attempts: 1\n"))
    assert f"no connection to {fetching.endpoint.host}" in message


def make_certificate(folder: Path) -> ssl.SSLContext:
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1 "
        "-addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem"
    )
    subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


def test_a_certificate_of_its_own_is_refused_until_the_spec_trusts_it(
    database: Database, tmp_path: Path
) -> None:
    secure = Endpoint(make_certificate(tmp_path))
    desk = FetchDesk(database, tmp_path, secure)
    try:
        message = desk.refused(desk.spec(scheme="https"))
        assert "TLS: the certificate of 127.0.0.1 is not trusted (self-signed certificate)" in message
        assert secure.asked == []
        wrong = desk.spec(f"ca_file: {tmp_path / 'key.pem'}\n", scheme="https")
        assert "ca_file: expected a file of certificates (PEM)" in desk.refused(wrong)
        report = desk.fetch(desk.spec(f"ca_file: {tmp_path / 'cert.pem'}\n", scheme="https"))
        assert report.fetched == 3
    finally:
        secure.server.shutdown()
        secure.server.server_close()


def test_https_to_a_server_that_speaks_http_is_explained(fetching: FetchDesk) -> None:
    assert "TLS: no secure connection to 127.0.0.1" in fetching.refused(fetching.spec(scheme="https"))


def test_a_proxy_of_the_environment_is_not_used(fetching: FetchDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://192.0.2.7:3128")
    assert fetching.fetch().fetched == 3


# A break -----------------------------------------------------------------------------------------------


def break_after(fetching: FetchDesk, answers: int) -> None:
    def stop(query: str, given: dict[str, Any]) -> Any:
        if len(fetching.endpoint.asked) > answers:
            return 401, {}, b""
        return Endpoint.list_documents(query, given)

    fetching.endpoint.answer = stop
    fetching.refused()
    fetching.endpoint.asked.clear()
    fetching.endpoint.answer = Endpoint.list_documents


def test_after_a_break_only_the_missing_queries_are_sent(fetching: FetchDesk) -> None:
    break_after(fetching, 2)
    report = fetching.fetch(fetching.spec("concurrency: 2\ntimeout_seconds: 9\n"))
    assert [sent["q"] for sent in fetching.endpoint.asked] == ["none"]
    assert (report.fetched, report.kept) == (1, 2)
    assert set(results(fetching, "live")) == {"Q1", "Q2"}


def test_half_a_line_at_the_end_is_dropped_and_its_query_sent_again(fetching: FetchDesk) -> None:
    break_after(fetching, 2)
    path = fetching.folder / "live.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    report = fetching.fetch()
    assert (report.fetched, report.kept) == (2, 1)
    assert {line["query_id"] for line in fetching.lines()} == {"Q1", "Q2", "Q3"}


def test_another_spec_depth_or_text_does_not_go_on_in_the_same_file(fetching: FetchDesk) -> None:
    break_after(fetching, 2)
    assert "begun with another spec" in fetching.refused(fetching.spec("total: took\n"))
    assert "begun with the depth 10, found 11" in fetching.refused(depth=11)
    assert "begun with the system live, found other" in fetching.refused(system="other")
    fetching.bring(import_queries, "q2.csv", "query_id,text\nQ2,another\n")
    assert "the dataset has another text now for queries that are answered in it" in fetching.refused()
    assert fetching.endpoint.asked == []


def test_a_file_of_somebody_else_is_not_written_over(fetching: FetchDesk) -> None:
    fetching.put("live.jsonl", "mine")
    assert "this file is not an unfinished run of this command" in fetching.refused()
    assert (fetching.folder / "live.jsonl").read_text() == "mine"
    fetching.put("live.jsonl.fetch.json", "{}")
    assert "expected the file FILE.fetch.json as this command writes it" in fetching.refused()
    assert "there is no folder" in fetching.refused(save=fetching.folder / "no" / "x.jsonl")


def test_a_damaged_line_is_named(fetching: FetchDesk) -> None:
    break_after(fetching, 2)
    path = fetching.folder / "live.jsonl"
    path.write_bytes(b"{]\n" + path.read_bytes())
    assert "live.jsonl:1: expected a line that this command wrote" in fetching.refused()


def test_a_system_with_another_run_is_refused_before_anything_is_sent(fetching: FetchDesk) -> None:
    fetching.fetch()
    fetching.endpoint.asked.clear()
    with pytest.raises(ConflictError, match="the system 'live' has another run in this dataset already"):
        fetching.fetch(save=fetching.folder / "second.jsonl")
    assert fetching.endpoint.asked == []


# Who may send what where -------------------------------------------------------------------------------


def test_a_host_that_the_dataset_does_not_allow_gets_no_request(fetching: FetchDesk) -> None:
    change_settings(fetching.database, OPERATOR, "d", {"search_hosts": "example.org"}, now=NOW)
    with pytest.raises(NotAllowed) as caught:
        fetching.fetch()
    host = fetching.endpoint.host
    assert str(caught.value) == (
        f"the dataset d does not allow requests to {host}; its lead allows them with: "
        f"annotator dataset set d search_hosts=example.org,{host}"
    )
    assert fetching.endpoint.asked == []


@pytest.mark.parametrize(
    ("url", "allowed", "host"),
    [
        ("https://es.example.org/x", ["es.example.org"], "es.example.org:443"),
        ("https://ES.example.org/x", ["es.example.org:443"], "es.example.org:443"),
        ("http://es.example.org:9200/x", ["es.example.org:9200"], "es.example.org:9200"),
        ("http://[::1]:9200/x", ["[::1]:9200"], "[::1]:9200"),
        ("http://es.example.org:9200/x", ["es.example.org"], None),
        ("http://es.example.org/x", ["es.example.org:443"], None),
        ("http://evil.org/es.example.org", ["es.example.org"], None),
        ("http://sub.example.org/", ["example.org"], None),
    ],
)
def test_a_host_is_allowed_with_its_port_and_nothing_around_it(
    url: str, allowed: list[str], host: str | None
) -> None:
    if host is None:
        with pytest.raises(NotAllowed):
            check_host(url, allowed, "d")
    else:
        assert check_host(url, allowed, "d") == host


def test_who_allowed_a_host_is_in_the_audit_log(fetching: FetchDesk) -> None:
    add_person(
        fetching.database, OPERATOR, "lea", role="lead", dataset="d", password="correct horse 1", now=NOW
    )
    with fetching.database.read() as session:
        lea = find_actor(session, "lea")
    change_settings(fetching.database, lea, "d", {"search_hosts": "A.example:9200, b"}, now=NOW)
    assert show_search_hosts(fetching.database, lea, "d") == ("a.example:9200", "b")
    change_settings(
        fetching.database, lea, "d", {"overlap": "3", "search_hosts": "a.example:9200,b"}, now=NOW
    )
    change_settings(fetching.database, lea, "d", {"second_adjudicator": "yes"}, now=NOW)
    assert show_search_hosts(fetching.database, lea, "d") == ("a.example:9200", "b")
    change_settings(fetching.database, lea, "d", {"search_hosts": "none"}, now=NOW)
    assert show_search_hosts(fetching.database, lea, "d") == ()
    with fetching.database.read() as session:
        events = session.scalars(select(AuditEventRow).order_by(col(AuditEventRow.pk))).all()
    assert [
        (event.person_pk, event.after) for event in events if event.after and "search_hosts" in event.after
    ] == [
        (None, {"search_hosts": [fetching.endpoint.host]}),
        (lea.person_id, {"search_hosts": ["a.example:9200", "b"]}),
        (lea.person_id, {"search_hosts": None}),
    ]


def test_only_a_lead_fetches(fetching: FetchDesk) -> None:
    add_person(
        fetching.database, OPERATOR, "ann", role="annotator", dataset="d", password="correct horse 1", now=NOW
    )
    with fetching.database.read() as session:
        ann = find_actor(session, "ann")
    with pytest.raises(NotAllowed):
        fetching.fetch(actor=ann)
    with pytest.raises(NotAllowed):
        show_search_hosts(fetching.database, ann, "d")
    assert fetching.endpoint.asked == []


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"depth": 0}, ValidationError, "--depth: expected a whole number 1-10000, found 0"),
        ({"system": " "}, ValidationError, "expected a system name"),
        ({"order": "x"}, ValidationError, "--order"),
    ],
)
def test_bad_options_are_refused_before_anything_is_sent(
    fetching: FetchDesk, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        fetching.fetch(**options)
    assert fetching.endpoint.asked == []


def test_a_column_that_a_query_lacks_and_a_dataset_without_queries_are_refused(fetching: FetchDesk) -> None:
    with pytest.raises(BadInput, match="expected query 'Q1' to have the column 'vector', found nothing"):
        fetching.fetch(fetching.spec(url="/s?q={query}&v={query.vector}"))
    with pytest.raises(ValidationError, match="the environment variable OTHER to be set"):
        fetching.fetch(fetching.spec('headers: {api-key: "${OTHER}"}\n'))
    assert fetching.endpoint.asked == []


def test_a_dataset_without_queries_has_nothing_to_send(
    database: Database, tmp_path: Path, endpoint: Endpoint
) -> None:
    desk = FetchDesk(database, tmp_path, endpoint)
    with database.write() as session:
        from sqlalchemy import delete

        from annotator.storage.tables.central import QueryRow

        session.execute(delete(QueryRow))
    with pytest.raises(StateError, match="This dataset has no queries yet"):
        desk.fetch()


# The command -------------------------------------------------------------------------------------------


def run_command(fetching: FetchDesk, *words: str) -> Result:
    return CliRunner().invoke(app, ["import", "run", "d", *words, "--database", fetching.database.url])


def test_the_command_fetches_and_shows_what_came(
    fetching: FetchDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(fetching.folder)
    spec = str(fetching.spec())
    tried = run_command(fetching, "--from", spec, "--system", "a/b", "--dry-run")
    assert tried.exit_code == 0, tried.output
    assert f"{fetching.endpoint.host} answered the first of 3 queries:" in tried.stdout
    assert "nothing was written or stored" in tried.stdout
    assert not (fetching.folder / "a_b.run.jsonl").exists()
    done = run_command(fetching, "--from", spec, "--system", "a/b", "--json")
    shown = json.loads(done.stdout)
    assert (shown["kind"], shown["added"], shown["fetch"]["fetched"]) == ("run", 4, 3)
    assert shown["fetch"]["depth"] == 100
    assert (fetching.folder / "a_b.run.jsonl").exists()
    assert "3 of 3 queries answered" in done.stderr
    again = run_command(fetching, "--from", spec, "--system", "a/b")
    assert "1 query answered with an empty list" in again.stdout
    assert "Nothing changed: all of it was there already." in again.stdout


def test_a_dry_run_as_json_is_one_document(fetching: FetchDesk) -> None:
    done = run_command(fetching, "--from", str(fetching.spec()), "--system", "s", "--dry-run", "--json")
    shown = json.loads(done.stdout)
    assert (shown["kind"], shown["dry_run"], shown["fetch"]["sample"]["query_id"]) == ("run", True, "Q1")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "expected either PATH or --from SPEC.yaml"),
        (("r.txt", "--from", "s.yaml"), "expected either PATH or --from SPEC.yaml"),
        (("--from", "s.yaml"), "--from needs the system's name"),
        (("--from", "s.yaml", "--system", "a", "--id-field", "x"), "read a file"),
        (("r.txt", "--depth", "3"), "--depth, --save and --allow-failures belong to --from"),
        (("r.txt", "--allow-failures"), "--depth, --save and --allow-failures belong to --from"),
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(
    fetching: FetchDesk, words: tuple[str, ...], message: str
) -> None:
    done = run_command(fetching, *words)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert fetching.endpoint.asked == []


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl+C interrupts, also where the tests run in the background of a shell, which lets them ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_command_keeps_what_is_answered_and_says_how_to_go_on(fetching: FetchDesk) -> None:
    def interrupt(query: str, given: dict[str, Any]) -> Any:
        if query == "질의":
            _thread.interrupt_main()
        return Endpoint.list_documents(query, given)

    fetching.endpoint.answer = interrupt
    save = fetching.folder / "live.jsonl"
    done = run_command(fetching, "--from", str(fetching.spec()), "--system", "s", "--save", str(save))
    assert done.exit_code != 0
    assert "Interrupted. To continue with the missing queries, run the same command again." in done.stderr
    assert fetching.rows(RunRow.system) == []
    assert fetching.lines()[0]["query_id"] == "Q1"
    fetching.endpoint.answer = Endpoint.list_documents
    assert fetching.fetch(system="s", depth=100).fetched < 3


def test_ready_specs_are_listed_and_printed() -> None:
    listed = CliRunner().invoke(app, ["import", "specs"])
    assert listed.stdout.split() == list(TEMPLATES)
    printed = CliRunner().invoke(app, ["import", "specs", "solr"])
    assert printed.stdout == print_template("solr")
    assert json.loads(CliRunner().invoke(app, ["import", "specs", "--json"]).stdout) == list(TEMPLATES)
    as_json = json.loads(CliRunner().invoke(app, ["import", "specs", "solr", "--json"]).stdout)
    assert as_json == {"name": "solr", "spec": print_template("solr")}


def test_a_lead_allows_hosts_on_the_command_line(fetching: FetchDesk) -> None:
    add_person(
        fetching.database, OPERATOR, "lea", role="lead", dataset="d", password="correct horse 1", now=NOW
    )
    words = ["search_hosts=b.example,a.example:9200", "--as", "lea", "--database", fetching.database.url]
    done = CliRunner().invoke(app, ["dataset", "set", "d", *words])
    assert done.stdout == "search_hosts = b.example,a.example:9200\n"
    shown = CliRunner().invoke(app, ["dataset", "show", "d", "--json", "--database", fetching.database.url])
    assert json.loads(shown.stdout)["search_hosts"] == ["b.example", "a.example:9200"]
