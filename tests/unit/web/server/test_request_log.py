"""A request has one number: in each of its log lines, in its answer, and on its error page. A line holds nothing that a caller made up."""

import io
import json
import logging
import re
from collections.abc import Iterator

import pytest
import structlog
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from annotator.log import set_up_logs, write_line
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.web import auth
from annotator.web.server.admission import name_route
from annotator.web.server.gate import RequestGate
from annotator.web.server.request_id import FROM_PROXY, keep_id_of_proxy
from tests.unit.web.conftest import PASSWORD

OWN = frozenset({"/login", "/api/echo", "/break"})
MADE = re.compile(r"[0-9a-f]{12}")


@pytest.fixture
def browser(database: Database) -> Iterator[TestClient]:
    """hanako, signed in."""

    async def echo(_request: Request) -> Response:
        structlog.stdlib.get_logger("annotator.web").info("echo")
        return JSONResponse({})

    async def fail(_request: Request) -> Response:
        raise RuntimeError("the secret of the house")

    app = Starlette(
        routes=[
            *auth.routes(database, Settings()),
            Route("/api/echo", echo, methods=["GET", "POST"]),
            Route("/break", fail),
        ],
        middleware=[Middleware(RequestGate, database=database, settings=Settings(), own=OWN)],
    )
    with TestClient(app, follow_redirects=False) as client:
        assert client.post("/login", data={"username": "hanako", "password": PASSWORD}).status_code == 303
        yield client


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """The log as JSON lines, from now on."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    set_up_logs("json", "info")
    stream, handler = io.StringIO(), root.handlers[0]
    assert isinstance(handler, logging.StreamHandler)
    handler.setStream(stream)
    yield stream
    root.handlers[:], root.level = handlers, level
    structlog.reset_defaults()


def read_lines(logged: io.StringIO) -> list[dict[str, object]]:
    """The log lines of annotator.web so far."""
    lines = [json.loads(line) for line in logged.getvalue().splitlines()]
    return [line for line in lines if line["logger"] == "annotator.web"]


def test_every_line_of_a_request_and_its_answer_have_its_number(
    browser: TestClient, logged: io.StringIO
) -> None:
    numbers = [browser.get("/api/echo?dataset=secret").headers["x-request-id"] for _ in range(2)]
    lines = read_lines(logged)
    assert all(MADE.fullmatch(number) for number in numbers)
    assert numbers[0] != numbers[1]
    assert [(line["message"], line["request_id"]) for line in lines] == [
        (message, number) for number in numbers for message in ("echo", "request")
    ]
    assert {line["route"] for line in lines} == {"/api/echo"}


def test_the_line_of_a_request_names_method_route_status_time_and_the_persons_number_only(
    browser: TestClient, logged: io.StringIO
) -> None:
    browser.post("/api/echo?token=hunter2", json={"grade": 3}, headers={"origin": "http://testserver"})
    line = read_lines(logged)[-1]
    assert set(line) == {
        "message", "level", "logger", "timestamp", "request_id", "route", "method", "status", "ms", "person",
    }  # fmt: skip
    assert (line["method"], line["route"], line["status"]) == ("POST", "/api/echo", 200)
    assert isinstance(line["person"], int)


FIELDS: dict[str, str | int | float] = {
    "method": "POST",
    "ms": 12.0,
    "person": 7,
    "request_id": "0123456789ab",
    "route": "/_stcore/upload_file/…/…",
    "status": 200,
}
NOW = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


@pytest.mark.parametrize("log_format", ["console", "json"])
@pytest.mark.parametrize("fields", [FIELDS, {"ms": 0.1, "route": "other"}], ids=["all", "few"])
def test_the_line_of_a_request_is_the_one_that_structlog_would_write(
    logged: io.StringIO, log_format: str, fields: dict[str, str | int | float]
) -> None:
    set_up_logs(log_format, "info")
    handler = logging.getLogger().handlers[0]
    assert isinstance(handler, logging.StreamHandler)
    handler.setStream(logged)
    write_line("annotator.web", logging.INFO, "request", fields)
    write_line("annotator.web", logging.DEBUG, "request", fields)
    structlog.stdlib.get_logger("annotator.web").info("request", **fields)
    lines = logged.getvalue().splitlines()
    assert len(lines) == 2, "the level holds"
    assert all(NOW.search(line) for line in lines)
    quick, usual = (NOW.sub("now", line) for line in lines)
    assert quick == usual if log_format == "console" else json.loads(quick) == json.loads(usual)


def test_an_address_or_method_that_a_caller_made_up_is_in_no_line(
    browser: TestClient, logged: io.StringIO
) -> None:
    browser.request("HUNTER2", "/hunter2/%0Afaked-line")
    line = read_lines(logged)[-1]
    assert (line["method"], line["route"], line["message"]) == ("other", "other", "request")
    assert "hunter2" not in repr(line).lower()


def test_a_number_that_no_trusted_proxy_brought_does_not_count(browser: TestClient) -> None:
    answer = browser.get("/api/echo", headers={"X-Request-Id": "made-by-a-stranger"})
    assert MADE.fullmatch(answer.headers["x-request-id"])


def test_a_failed_page_shows_the_number_in_the_readers_language(
    browser: TestClient, logged: io.StringIO
) -> None:
    answer = browser.get("/break", headers={"Accept-Language": "ko"})
    number = answer.headers["x-request-id"]
    assert answer.status_code == 500
    assert f"오류 번호를 알려 주십시오: {number}" in answer.text
    assert "secret" not in answer.text
    failed = [line for line in read_lines(logged) if line["message"] == "request failed"]
    assert [(line["request_id"], line["error_id"]) for line in failed] == [(number, number)]


@pytest.mark.parametrize(
    ("headers", "peer", "kept"),
    [
        ([b"proxy-0001.A_b"], "127.0.0.1", "proxy-0001.A_b"),
        ([b"proxy-0001"], "192.0.2.7", "proxy-0001"),
        ([b"proxy-0001"], "192.0.2.8", None),
        ([b"proxy-0001"], "", None),
        ([b"short"], "127.0.0.1", None),
        ([b"x" * 65], "127.0.0.1", None),
        ([b"proxy 0001"], "127.0.0.1", None),
        ([b"proxy-0001\n"], "127.0.0.1", None),
        ([b"\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8"], "127.0.0.1", None),
        ([b"proxy-0001", b"proxy-0002"], "127.0.0.1", None),
        ([], "127.0.0.1", None),
    ],
)
def test_a_trusted_proxys_number_is_kept_if_it_has_the_form(
    headers: list[bytes], peer: str, kept: str | None
) -> None:
    scope = {"headers": [(b"x-request-id", value) for value in headers]}
    keep_id_of_proxy(scope, peer, "127.0.0.1, 192.0.2.7")
    assert scope.get(FROM_PROXY) == kept


@pytest.mark.parametrize(
    ("path", "route"),
    [
        ("/api/echo", "/api/echo"),
        ("/api/echo/x", "other"),
        ("/static/js/a.js", "/static/…"),
        ("/_stcore/upload_file/session/file", "/_stcore/upload_file/…/…"),
        ("/label", "/label"),
        ("/\n", "other"),
    ],
)
def test_a_route_has_one_of_a_fixed_set_of_names(path: str, route: str) -> None:
    assert name_route(path, OWN) == route
