"""Hostile parameters of addresses: every route, every parameter that it reads, on both databases. Never a 500.

PARAMETERS names what each route reads. A route that is not in it, or that reads something else, fails these tests.
"""

import ast
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from anyio import sleep_forever
from starlette.datastructures import ImmutableMultiDict, QueryParams
from starlette.testclient import TestClient
from streamlit.runtime import Runtime
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

import annotator.web
from annotator.cli import main
from annotator.domain.people import OPERATOR
from annotator.people.service import add_person
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.storage.pairs.pool import pair_key
from annotator.web.adjudication.queue_url import NAMES as QUEUE
from annotator.web.agreement.links import NAMES as SELECTION
from annotator.web.app import list_own_routes, make_app
from annotator.web.navigation import PAGES
from annotator.web.session import COOKIE
from tests.databases import CopyWorld
from tests.fuzz.raw_query import HEADER, RawQuery
from tests.integration.judged_world import NOW, JudgedWorld
from tests.unit.web.lead_pages import make_world

PASSWORD = "correct horse 電池 staple"
PAIR = ("dataset", "pair")
EVALUATION = ("version", "profile", "measures", "systems", "baseline", "by")
PARAMETERS: dict[str, tuple[str, ...]] = {
    "/": ("dataset",), "/healthz": (), "/readyz": (), "/login": ("next", "problem", "sso"), "/login/code": ("next", "recovery"), "/login/set-up": ("next",), "/logout": (), "/login.css": (), "/favicon.png": (), "/setup": (), "/join": (), "/one-time-link.js": (), "/open-again.js": (),
    "/api/text": PAIR, "/api/pair": PAIR, "/api/news": ("dataset",), "/api/changes": PAIR, "/api/rendering": (*PAIR, "doc_id"), "/api/standard": ("dataset", "since"),
    "/api/search": ("dataset", "query", "q"), "/api/document": ("dataset", "doc_id"),
    "/api/cases": (*PAIR, "have", "want", "tab", *QUEUE), "/api/cases/origin": PAIR, "/api/cases/trail": PAIR,
    "/api/cases/leads": ("dataset",), "/api/queue": ("dataset", *QUEUE), "/api/quality": ("dataset", "table"),
    "/api/trail": ("dataset", "format", "pair", "action", "person", "since", "until"),
    "/api/release": ("dataset", "version", "file"), "/api/pool/left-out": ("dataset",),
    "/api/import": ("dataset", "purpose", "file"), "/api/dataset": ("dataset",),
    "/api/agreement/figures": ("dataset", "table", "by", "first", "second"),
    "/api/agreement/pairs": ("dataset", "pairs", "who", "without", "grades", "grade", "when", "of", "is"),
    "/api/agreement/left-out": ("dataset", "kind"), "/api/agreement/since": ("dataset", "version"),
    "/api/evaluation/figures": ("dataset", "table", "measure", *EVALUATION), "/api/evaluation/scores": ("dataset", *EVALUATION),
    "/api/evaluation/report": ("dataset", *EVALUATION), "/api/audit": ("about", "action", "person", "since", "until"),
}  # fmt: skip
IN_BODIES = {
    "dataset", "pair", "lead", "filter", "decided", "rationale", "seen", "cause", "in_guideline", "seconds", "question", "answer",
    "pairs", "to", "close", "have", "want", "tab", "annotator", "events", "whole", "query_id", "doc_id", "id", "text",
}  # fmt: skip
GOOD = {
    "dataset": "d", "pair": pair_key("d", "Q1", "遠い"), "query": "Q1", "q": "題", "doc_id": "遠い", "want": "1", "tab": "t", "format": "csv",
    "table": "kinds", "pairs": "shared", "kind": "other", "version": "1", "since": "2026-03-04", "until": "2026-03-05T00:00Z", "next": "/label",
}  # fmt: skip
NULS = ("%00", "a%00b", "2026-03-04%00")
HOSTILE = (
    "%ED%A0%80", "%zz%\xff", "-1", "9" * 5000, "%D9%A3%C2%B2", "%F0%9F%94%8E" * 1000, "9999-12-31",
    "0001-01-01T00:00:00Z%2F9999-12-31T23:59:59Z", "..%2F%25%s{x}'%22;--%0D%0Ax:%20y",
)  # fmt: skip
FOR_POSTGRESQL = ("-1", "9" * 5000, "%D9%A3%C2%B2", "9999-12-31")
TEXTS = {
    "about", "action", "baseline", "by", "dataset", "doc_id", "file", "format", "have", "is", "kind", "measure", "measures", "next", "of", "pair",
    "pairs", "problem", "profile", "purpose", "q", "query", "recovery", "sso", "systems", "tab", "table", "who", "without",
}  # fmt: skip
"""Parameters that are neither a number nor a time."""
NO_TIMES = (
    "9999-12-31T23:59:59-14:00", "9999-12-31T23:59:59.999999-00:01", "0001-01-01T00:00:00%2B14:00", "0001-01-01T00:00%2B00:01", "0000-01-01", "10000-01-01",
    "2026-13-01", "2026-02-30", "%D9%A2026-01-01", "-2026-01-01", "2026-03-04T25:00", "2026-03-04T12:00%2B99:00", "yesterday", "9" * 400, "%ED%A0%80",
)  # fmt: skip
NOT_TEXT = "expected text, found a character that cannot be stored"


def make_led(database: Database) -> JudgedWorld:
    made = make_world(database)
    add_person(database, OPERATOR, "lea", role="lead", dataset="d", password=PASSWORD, now=NOW)
    add_person(database, OPERATOR, "ada", role="admin", password=PASSWORD, now=NOW)
    return made


@pytest.fixture
def database(copy_world: CopyWorld) -> Database:
    """Some disagreements that lea leads, and ada, an admin of every dataset; on SQLite and on PostgreSQL."""
    return copy_world(make_led).database


@pytest.fixture
def lead(database: Database) -> Iterator[TestClient]:
    Runtime._instance = None  # Streamlit allows one runtime a process
    with TestClient(
        RawQuery(make_app(database, Settings())),
        follow_redirects=False,
        headers={"Referer": "http://testserver/"},
    ) as client:
        assert client.post("/login", data={"username": "lea", "password": PASSWORD}).status_code == 303
        yield client
    Runtime._instance = None


def become_admin(client: TestClient) -> str:
    """Sign ada in, as in another browser, and return the session's token."""
    client.cookies.clear()
    assert client.post("/login", data={"username": "ada", "password": PASSWORD}).status_code == 303
    return client.cookies[COOKIE]


def ask(client: TestClient, path: str, query: str, method: str = "GET") -> Any:
    return client.request(method, path, headers={HEADER: query.encode("latin-1")})


@dataclass
class Answer:
    """What came for one request of `ask_all`."""

    asked: tuple[str, str]
    status: int = 0
    body: bytes = b""

    @property
    def text(self) -> str:
        return self.body.decode()


def ask_all(client: TestClient, requests: Iterable[tuple[str, str]], method: str = "GET") -> list[Answer]:
    """Ask for every path with its query, one after the other, on the event loop of the application.

    TestClient goes from thread to thread and back a dozen times for each request, which takes most of the time where
    there are hundreds of them.
    """
    cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    headers = [
        (b"host", b"testserver"),
        (b"cookie", cookies.encode()),
        (b"referer", b"http://testserver/"),
    ]

    async def ask_one(path: str, query: str) -> Answer:
        answer, pieces = Answer((path, query[:200])), [{"type": "http.request", "body": b""}]

        async def receive() -> Any:
            return pieces.pop() if pieces else await sleep_forever()  # it stays to read the answer

        async def send(message: Any) -> None:
            answer.status = message.get("status", answer.status)
            answer.body += message.get("body", b"")

        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http", "method": method, "path": path,
            "raw_path": path.encode(), "root_path": "", "query_string": query.encode(), "headers": list(headers),
            "client": ("testclient", 50000), "server": ("testserver", 80), "state": {},
        }  # fmt: skip
        await client.app(scope, receive, send)  # type: ignore[arg-type, misc, call-arg]
        return answer

    async def ask_each() -> list[Answer]:
        return [await ask_one(path, query) for path, query in requests]

    assert client.portal is not None
    return client.portal.call(ask_each)


def with_hostile(path: str, name: str, value: str) -> str:
    good = urlencode([(key, GOOD[key]) for key in PARAMETERS[path] if key != name and key in GOOD])
    return f"{good}&{name}={value}"


def test_every_route_and_every_parameter_that_it_reads_is_in_the_list(
    lead: TestClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = {route.path for route in list_own_routes(database, Settings()) if "GET" in (route.methods or ())}
    assert paths == set(PARAMETERS)
    read: list[str] = []
    read_item = ImmutableMultiDict.__getitem__

    def note(self: Any, key: str) -> Any:
        if isinstance(self, QueryParams):
            read.append(key)
        return read_item(self, key)

    monkeypatch.setattr(ImmutableMultiDict, "__getitem__", note)
    for path, names in PARAMETERS.items():
        read.clear()
        ask(lead, path, urlencode([(name, GOOD.get(name, "x")) for name in names]))
        assert set(read) <= set(names), path


def test_every_name_that_the_routes_look_up_is_in_the_list() -> None:
    """Also one that is read only in some case."""
    names = IN_BODIES.union(*PARAMETERS.values())
    for path in sorted(Path(annotator.web.__file__).parent.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "Route(" in text or "request.query_params" in text:
            assert set(_list_names(ast.parse(text))) <= names, path.name


def _list_names(tree: ast.Module) -> Iterator[str]:
    """Every x of `parameters.get("x")`, `parameters["x"]`, `"x" in parameters`, `f(parameters, "x")`."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("get", "getlist")
        ):
            named = [*node.args[:1]] if _is_parameters(node.func.value) else []
        elif isinstance(node, ast.Call) and node.args and _is_parameters(node.args[0]):
            named = node.args[1:2]
        elif isinstance(node, ast.Subscript) and _is_parameters(node.value):
            named = [node.slice]
        elif isinstance(node, ast.Compare) and _is_parameters(node.comparators[0]):
            named = [node.left]
        else:
            continue
        yield from (
            constant.value
            for constant in named
            if isinstance(constant, ast.Constant) and isinstance(constant.value, str)
        )


def _is_parameters(node: ast.expr) -> bool:
    return (isinstance(node, ast.Name) and node.id == "parameters") or (
        isinstance(node, ast.Attribute) and node.attr == "query_params"
    )


def test_what_no_text_may_hold_is_refused_with_the_name_of_its_parameter(lead: TestClient) -> None:
    for path, names in PARAMETERS.items():
        for name in names:
            hostile = [(path, with_hostile(path, name, value)) for value in NULS]
            for answer in ask_all(lead, hostile):
                assert answer.status == 400, answer
                assert f"{name}: {NOT_TEXT}" in answer.text, answer
            assert [answer.status for answer in ask_all(lead, hostile, "HEAD")] == [400] * len(NULS), hostile
        unknown = ask_all(lead, [(path, "%00=1"), (path, "unknown=%00")])
        assert [answer.status for answer in unknown] == [400, 400], path


def list_hostile(
    path: str, values: Sequence[str] = HOSTILE, *, without: Collection[str] = ()
) -> list[tuple[str, str]]:
    names = [name for name in PARAMETERS[path] if name not in without]
    return [(path, with_hostile(path, name, value)) for name in names for value in values]


def test_no_parameter_makes_a_route_fail(lead: TestClient, database: Database, is_long_run: bool) -> None:
    """In `make test` PostgreSQL is asked for numbers and times only: what else is refused is refused before it."""
    all_of_them = is_long_run or database.is_sqlite
    values, without = (HOSTILE, ()) if all_of_them else (FOR_POSTGRESQL, TEXTS)
    asked = [asked for path in PARAMETERS for asked in list_hostile(path, values, without=without)]
    answers = ask_all(lead, asked)
    assert [answer for answer in answers if not 200 <= answer.status < 500] == []
    usual = {200, 303, 400, 404} if all_of_them else {200, 400}
    assert {answer.status for answer in answers} >= usual, "they are asked by somebody signed in"


def test_no_parameter_makes_the_audit_log_of_an_admin_fail(lead: TestClient) -> None:
    become_admin(lead)
    assert {answer.status for answer in ask_all(lead, list_hostile("/api/audit"))} == {200, 400}


def test_a_time_that_is_none_is_refused_with_the_name_of_its_parameter(lead: TestClient) -> None:
    become_admin(lead)
    for path, name in product(("/api/trail", "/api/audit"), ("since", "until")):
        for value in NO_TIMES:
            answer = ask(lead, path, with_hostile(path, name, value))
            assert answer.status_code == 400, value
            assert answer.json()["error"].startswith(f"{name}: Invalid time "), value
        for value in ("9999-12-31T23:59:59Z", "0001-01-01", "2026-03-04"):
            assert ask(lead, path, with_hostile(path, name, value)).status_code == 200, value


def test_a_stranger_is_told_nothing_but_to_sign_in(lead: TestClient) -> None:
    lead.cookies.clear()
    for path in PARAMETERS:
        if path.startswith("/api/"):
            assert ask(lead, path, "dataset=%00").status_code == 401


def test_whoever_waits_for_a_page_is_told_on_one(lead: TestClient) -> None:
    answer = lead.get("/?dataset=%00", headers={"accept-language": "ko"})
    assert answer.status_code == 400
    assert "text/html" in answer.headers["content-type"]
    assert "<script>" not in answer.text


# Pages ---------------------------------------------------------------------------------------------------

ON_PAGES = {
    *QUEUE, *SELECTION, "dataset", "pair", "start", "version", "query", "document", "page", "people", "tab", "by", "since", "next", "kappa", "search", "person", "part", "about", "to", "standard",
    "profile", "measures", "systems", "baseline", "measure", "from", "depth", "ranked", "alone", "rule", "suggestions", "text", "round", "status", "system",
}  # fmt: skip
ON_A_PAGE = ("a\x00b", "9" * 400, "٣")


def run_page(page: str) -> None:
    from importlib import import_module

    from annotator.web.page_context import require_context

    import_module(page).draw(require_context())


def test_no_address_makes_a_page_fail(
    lead: TestClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    tokens = {False: lead.cookies[COOKIE], True: become_admin(lead)}
    monkeypatch.setattr(ContextProxy, "headers", {})
    failed = []
    for page in PAGES:
        monkeypatch.setattr(ContextProxy, "cookies", {COOKIE: tokens[page.everywhere]})
        for value in ON_A_PAGE:
            shown = AppTest.from_function(run_page, args=(page.module,), default_timeout=60)
            for name in ON_PAGES:
                shown.query_params[name] = value if name != "dataset" or "\x00" in value else "d"
            shown.run()
            kept = "\\x00" in repr(dict(shown.query_params))
            failed += [(page.address, value[:80], shown.exception, kept)] if shown.exception or kept else []
    assert failed == []


def test_every_name_that_the_pages_look_up_is_in_the_list() -> None:
    pattern = re.compile(r'\bst\.query_params(?:\.get\(|\[)"(\w+)"|key="(\w+)"[^()]*bind="query-params"')
    for path in sorted(Path(annotator.web.__file__).parent.rglob("*.py")):
        for match in pattern.finditer(path.read_text(encoding="utf-8")):
            assert (match[1] or match[2]) in ON_PAGES, (path.name, match[0])


# The command line ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["a\x00b", "--person=a\x00b", "\udcff", "--action=\udced\udca0\udc80"])
def test_an_argument_that_is_no_text_is_refused(
    word: str, database: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url = database.url.render_as_string(hide_password=False)
    monkeypatch.setattr(sys, "argv", ["annotator", "--database", url, "trail", "d", word])
    with pytest.raises(SystemExit) as ended:
        main.run()
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("expected arguments that are text in UTF-8, found ")


def test_a_file_whose_name_is_not_utf_8_can_be_named(
    database: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "\udcff.trec"
    file.write_text("Q1 0 d1 2\n")
    monkeypatch.setattr(sys, "argv", ["annotator", "check", str(file)])
    with pytest.raises(SystemExit) as ended:
        main.run()
    assert "expected arguments" not in capsys.readouterr().err
    assert ended.value.code in (0, 3)


@pytest.mark.parametrize(
    "message", ["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "0001-01-01", "9999-12-31"]
)
@pytest.mark.parametrize("option", ["--since", "--until"])
def test_an_extreme_time_is_taken_or_refused_in_words(
    message: str,
    option: str,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    url = database.url.render_as_string(hide_password=False)
    monkeypatch.setattr(sys, "argv", ["annotator", "--database", url, "trail", "d", option, message])
    with pytest.raises(SystemExit) as ended:
        main.run()
    printed = capsys.readouterr()
    assert ended.value.code == 0 or "enter a day such as 2026-03-04" in printed.err
