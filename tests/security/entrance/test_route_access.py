"""Every address that is answered, and by whom it may be asked; what is not listed is refused."""

import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from streamlit.runtime import Runtime

from annotator.dataset.service import archive_dataset, create_dataset
from annotator.domain.people import OPERATOR
from annotator.people.service import add_person
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.web.app import list_own_routes, make_app
from annotator.web.navigation import PAGES
from annotator.web.server.admission import ENTRANCES
from annotator.web.server.gate import OPEN
from tests.browser.conftest import DATASET, NOW, PASSWORD, PEOPLE
from tests.security.entrance.conftest import Attacker

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
UNLISTED = (
    "/media/x", "/component/x/index.html", "/_stcore/bidi-components/x/a.js", "/_stcore/agent/interact",
    "/_stcore/agent/openapi.json", "/_stcore/agent/mcp", "/_stcore/script-health-check", "/_stcore/anything", "/auth/login",
    "/auth/logout", "/oauth2callback", "/app/static/x", "/index.html", "/nothing", "/label/", "/label/_stcore/health",
    "/people/_stcore/upload_file/s/f", "/_stcore/upload_file/s", "/_stcore//metrics", "/static", "//people", "/_stcore/metrics/",
)  # fmt: skip
NOTHING = {"error": "there is nothing at this address"}


@pytest.mark.parametrize("username", [username for username, _name, _role in PEOPLE])
def test_what_is_not_listed_is_refused_for_everybody(visitor: Attacker, username: str) -> None:
    visitor.sign_in(username)
    for path in UNLISTED:
        for method in METHODS:
            answer = visitor.http.request(method, f"http://testserver{path}")
            assert answer.status_code == 404, (method, path)
            if not answer.headers["content-type"].startswith("text/html"):
                assert method == "HEAD" or answer.json() == NOTHING, (method, path)
        with (
            pytest.raises(WebSocketDisconnect),
            visitor.http.websocket_connect(path, headers={"origin": "http://testserver"}),
        ):
            pass


@pytest.mark.parametrize("username", [username for username, _name, _role in PEOPLE])
def test_every_route_of_streamlits_is_listed_or_refused(visitor: Attacker, username: str) -> None:
    """Also one that a new version of it brings."""
    visitor.sign_in(username)
    visitor.http.get("/healthz")
    built = visitor.http.app._starlette_app  # type: ignore[attr-defined]
    listed = {re.sub(r"…", "x", entrance.address): entrance.methods for entrance in ENTRANCES}
    seen = set()
    for route in built.routes:
        path = re.sub(r"\{[^}]*\}", "x", getattr(route, "path", ""))
        if not path.startswith(("/_stcore/", "/media", "/component", "/auth", "/oauth", "/app")):
            continue
        seen.add(path)
        for method in METHODS:
            status = visitor.http.request(method, path).status_code
            if method not in listed.get(path, ()):
                assert status in (404, 405), (method, path)
    assert {"/_stcore/metrics", "/_stcore/agent/mcp", "/media/x", "/_stcore/upload_file/x/x"} <= seen


def test_the_metrics_are_for_admins_of_everything(visitor: Attacker, database: Database) -> None:
    add_person(database, OPERATOR, "root", role="admin", password=PASSWORD, now=NOW)
    assert visitor.http.get("/_stcore/metrics").status_code == 401
    for username in ("hanako", "lea", "ada"):
        visitor.sign_in(username)
        assert visitor.http.get("/_stcore/metrics").status_code == 403
    visitor.sign_in("root")
    assert "active_sessions" in visitor.http.get("/_stcore/metrics").text


def test_a_page_that_is_not_there_says_so_and_leads_back(visitor: Attacker) -> None:
    visitor.sign_in("hanako")
    answer = visitor.http.get("/lable", headers={"accept-language": "ja"})
    assert answer.status_code == 404
    assert "ページが見つかりません" in answer.text
    assert '<a href="/">' in answer.text
    assert "script" not in answer.text


def test_our_own_routes_and_pages_are_let_through(visitor: Attacker) -> None:
    visitor.sign_in("ada")
    built = visitor.http.app._starlette_app  # type: ignore[attr-defined]
    own = {
        route.path
        for route in built.routes
        if getattr(route, "path", "").startswith(("/api/", "/login", "/health"))
    }
    assert {"/api/judgments", "/api/release", "/healthz", "/login"} <= own
    for path in own:
        assert visitor.http.post(path).text != '{"error":"there is nothing at this address"}', path
    for page in PAGES:
        assert visitor.http.get(f"/{page.address}").status_code == 200


@pytest.mark.parametrize("username", ["hanako", "ada"])
def test_a_route_of_ours_answers_405_to_a_method_that_it_does_not_take(
    visitor: Attacker, database: Database, username: str
) -> None:
    """Not with Streamlit's page, which answers every GET that no route takes."""
    visitor.sign_in(username)
    visitor.http.get("/healthz")
    taken: dict[str, set[str]] = {}
    for route in list_own_routes(database, Settings()):
        taken.setdefault(route.path, set()).update(route.methods or ())
    assert "GET" not in taken["/api/judgments"]
    for path, methods in taken.items():
        for method in set(METHODS) - methods:
            answer = visitor.http.request(method, path)
            assert answer.status_code == 405, (method, path)
            assert answer.headers["allow"] == ", ".join(sorted(methods)), (method, path)


def test_the_list_stands_in_the_documentation(project: Path) -> None:
    text = (project / "docs" / "security.md").read_text(encoding="utf-8")
    for entrance in ENTRANCES[: -len(PAGES) - 1]:
        assert f"| `{entrance.address}` | {', '.join(entrance.methods)} | {entrance.who} |" in text


def test_somebody_without_a_role_cannot_tell_an_existing_dataset_from_another_name(
    visitor: Attacker, database: Database
) -> None:
    """By every route that takes a dataset, also one that is archived."""
    create_dataset(database, OPERATOR, "kept", now=NOW)
    archive_dataset(database, OPERATOR, "kept", now=NOW)
    create_dataset(database, OPERATOR, "own", now=NOW)
    add_person(database, OPERATOR, "nora", role="lead", dataset="own", password=PASSWORD, now=NOW)
    visitor.sign_in("nora")
    visitor.http.get("/healthz")
    built = visitor.http.app._starlette_app  # type: ignore[attr-defined]
    routes = [route for route in built.routes if getattr(route, "path", "").startswith("/api/")]
    refused = set()
    for route in routes:
        method = "GET" if "GET" in route.methods else "POST"
        answers = [_ask_about(visitor, method, route.path, name) for name in (DATASET, "kept", "nowhere")]
        assert answers[0] == answers[1] == answers[2], (method, route.path)
        if "have no role on it" in answers[0][1]:
            assert answers[0][0] == 403, (method, route.path)
            refused.add(route.path)
    assert {"/api/judgments", "/api/search", "/api/cases", "/api/release", "/api/cases/later"} <= refused


def _list_answered(visitor: Attacker, database: Database) -> set[str]:
    """Return the own routes and pages that neither refuse the person nor send them to another page."""
    answered = set()
    asked = [
        (route.path, method)
        for route in list_own_routes(database, Settings())
        for method in route.methods or ()
    ]
    for path, method in [*asked, *((f"/{page.address}", "GET") for page in PAGES)]:
        if path not in OPEN:
            answer = visitor.http.request(method, path, headers={"origin": "http://testserver"})
            if answer.status_code not in (303, 401, 403):
                answered.add(path)
    return answered


def test_with_a_one_time_password_no_route_answers_before_the_own_password_is_chosen(
    visitor: Attacker, database: Database
) -> None:
    """The pages are Streamlit's empty frame: what they show, tests/unit/web/test_pages.py has."""
    made = add_person(database, OPERATOR, "fresh", role="admin", now=NOW)
    visitor.sign_in("fresh", made.one_time_password or "")
    assert _list_answered(visitor, database) == {f"/{page.address}" for page in PAGES}
    assert visitor.http.get("/").headers["location"].startswith("/account")


def test_before_a_required_second_factor_is_set_up_nothing_answers(database: Database) -> None:
    Runtime._instance = None  # Streamlit allows one runtime a process
    with TestClient(make_app(database, Settings(second_factor="all")), follow_redirects=False) as client:
        answer = client.post("/login", data={"username": "ada", "password": PASSWORD})
        assert answer.headers["location"].startswith("/login/set-up")
        assert _list_answered(Attacker(client), database) == set()
    Runtime._instance = None


def _ask_about(visitor: Attacker, method: str, path: str, dataset: str) -> tuple[int, str]:
    """Return the status and the words of the answer, without the name of the dataset."""
    fields = {"pair": "x", "q": "x", "query": "Q1", "doc_id": "x", "version": "1.0.0", "table": "draws"}
    body = {
        **fields,
        "dataset": dataset,
        "version": 1,  # of the exchange with the panel
        "annotator": "nora",
        "lead": "nora",
        "events": [],
        "have": [],
        "want": 1,
        "text": "x",
    }
    if method == "GET":
        answer = visitor.http.get(path, params={**fields, "dataset": dataset})
    else:
        answer = visitor.http.post(path, json=body, headers={"origin": "http://testserver"})
    return answer.status_code, answer.text.replace(dataset, "DATASET")
