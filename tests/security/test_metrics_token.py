"""`/metrics` on the app's own port: only with the token that the operator's file holds, and not at all without a file."""

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from annotator.domain.errors import ValidationError
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.web import auth
from annotator.web.server import figures
from annotator.web.server.admission import Admission
from annotator.web.server.figures import ADDRESS, begin_to_count, read_metrics_token
from annotator.web.server.gate import METRICS, RequestGate
from tests.unit.web.conftest import PASSWORD
from tests.unit.web.conftest import database as database

TOKEN = "0123456789abcdef0123456789abcdef"


@pytest.fixture(autouse=True)
def _counting(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "_figures", None)
    begin_to_count(database)


def make_browser(database: Database, settings: Settings) -> TestClient:
    routes = [*auth.routes(database, settings), *figures.routes(settings)]
    own = [route.path for route in routes]
    middleware = [
        Middleware(RequestGate, database=database, settings=settings, own=own),
        Middleware(Admission, own=routes),
    ]
    return TestClient(Starlette(routes=routes, middleware=middleware), follow_redirects=False)


@pytest.fixture
def browser(database: Database, tmp_path: Path) -> TestClient:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n", encoding="ascii")
    return make_browser(database, Settings(metrics_token_file=file))


def test_who_sends_the_token_reads_the_figures(browser: TestClient) -> None:
    browser.get("/login")
    answer = browser.get(ADDRESS, headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert answer.headers["cache-control"] == "no-store"
    assert 'annotator_requests_total{method="GET",route="/login",status="200"} 1.0' in answer.text
    assert "annotator_open_pairs 0.0" in answer.text
    assert TOKEN not in answer.text
    accepted = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/openmetrics-text; version=1.0.0"}
    assert browser.get(ADDRESS, headers=accepted).text.endswith("# EOF\n")


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        TOKEN,
        f"bearer {TOKEN}",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        "Basic YTpi",
        "Bearer \xe9",
    ],
)
def test_nobody_else_reads_them_also_no_admin_who_is_signed_in(browser: TestClient, header: str) -> None:
    browser.post("/login", data={"username": "ada", "password": PASSWORD})
    answer = browser.get(ADDRESS, headers={"Authorization": header.encode("latin-1")})  # type: ignore[dict-item]
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert "annotator_" not in answer.text


def test_the_token_is_no_sign_in_and_nothing_can_be_sent_there(browser: TestClient) -> None:
    with_token = {"Authorization": f"Bearer {TOKEN}"}
    assert browser.get("/logout", headers=with_token).status_code == 303
    assert browser.post(ADDRESS, headers=with_token).status_code == 405
    assert browser.get(f"{ADDRESS}/x", headers=with_token).status_code in (303, 401)


def test_without_a_file_there_is_no_such_address(database: Database) -> None:
    assert METRICS == ADDRESS
    without = make_browser(database, Settings())
    assert without.get(ADDRESS, headers={"Authorization": "Bearer None"}).status_code == 404


@pytest.mark.parametrize("content", ["", "short", "two words of which none is a token", "パスワード" * 8])
def test_a_file_that_holds_no_token_is_refused_before_anything_is_served(
    content: str, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(ValidationError, match="ANNOTATOR_METRICS_TOKEN_FILE"):
        read_metrics_token(Settings(metrics_token_file=file))
    with pytest.raises(ValidationError, match="cannot be read"):
        read_metrics_token(Settings(metrics_token_file=tmp_path / "none"))
