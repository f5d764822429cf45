"""The gate, signing in and out, and what every response carries."""

import asyncio
import json
import logging
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from streamlit.starlette import App
from streamlit.web.server.starlette.starlette_routes import create_host_config_routes
from structlog.testing import capture_logs

from annotator import __version__
from annotator.domain.errors import DatabaseUnavailable
from annotator.domain.people import OPERATOR
from annotator.people.service import add_person, change_person, disable_person
from annotator.people.sign_in_service import find_session, sign_in
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.web import auth
from annotator.web.server import health
from annotator.web.server.gate import OPEN, RequestGate
from annotator.web.server.refusals import EXCEPTION_HANDLERS
from tests.unit.web.conftest import NOW, PASSWORD, Visitor

COOKIE = "annotator_session"
OWN_PAGE = {"origin": "http://testserver"}


def list_addresses(app: App) -> list[tuple[str, str]]:
    """Every method and path that the application answers, with parameters filled in."""
    built = app._starlette_app
    assert built is not None
    addresses = {
        ("GET", "/"),
        ("GET", "/label"),
        ("GET", "/people"),
        ("GET", "/anything/else"),
        ("GET", "/index.html"),
    }
    for route in built.routes:
        path = re.sub(r"\{[^}]*\}", "x", getattr(route, "path", "")) or "/"
        for method in getattr(route, "methods", None) or {"GET"}:
            addresses.add((method, path))
    return sorted(addresses)


class TestNobodySignedIn:
    def test_nothing_but_the_door_is_open(self, app: App, visitor: Visitor) -> None:
        visitor.http.get("/healthz")
        addresses = list_addresses(app)
        assert {"/api/judgments", "/_stcore/health", "/media/x", "/_stcore/upload_file/x/x"} <= {
            p for _, p in addresses
        }
        for method, path in addresses:
            answer = visitor.http.request(method, path)
            if path in OPEN:
                assert answer.status_code in (200, 303, 401, 403, 409, 413), (method, path)
            elif answer.status_code == 303:
                assert method in ("GET", "HEAD"), (method, path)
                assert answer.headers["location"].startswith("/login"), (method, path)
            else:
                assert answer.status_code == 401, (method, path)
                assert method == "HEAD" or answer.json() == {"error": "sign in first"}

    @pytest.mark.parametrize("cookie", [None, "", "made-up", "a" * 5_000])
    def test_the_websocket_is_closed_before_it_opens(self, visitor: Visitor, cookie: str | None) -> None:
        headers = dict(OWN_PAGE)
        if cookie is not None:
            headers["cookie"] = f"{COOKIE}={cookie}"
        with (
            pytest.raises(WebSocketDisconnect) as closed,
            visitor.http.websocket_connect("/_stcore/stream", headers=headers),
        ):
            pass
        assert closed.value.code == 1008

    def test_a_page_asked_for_is_found_again_after_signing_in(self, visitor: Visitor) -> None:
        address = "/label?dataset=%E6%B3%95%20%26x&y=1"
        to_login = visitor.http.get(address)
        assert to_login.status_code == 303
        form = visitor.http.get(to_login.headers["location"])
        hidden = re.search(r'name="next" value="([^"]*)"', form.text)
        assert hidden is not None
        wanted = hidden[1].replace("&amp;", "&")
        assert wanted == address
        answer = visitor.http.post(
            "/login", data={"username": "hanako", "password": PASSWORD, "next": wanted}
        )
        assert (answer.status_code, answer.headers["location"]) == (303, address)

    def test_streamlits_own_public_files_are_served(self, visitor: Visitor) -> None:
        assert visitor.http.get("/static/nothing-here.js").status_code in (200, 404)
        assert visitor.http.get("/login.css").headers["content-type"].startswith("text/css")
        assert visitor.http.get("/favicon.png").headers["content-type"] == "image/svg+xml"


class TestSigningIn:
    def test_whoever_has_signed_in_stays_so_when_the_database_goes_away_just_then(
        self, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def lose(*_given: object) -> str:
            raise DatabaseUnavailable("away", database="sqlite", detail="")

        monkeypatch.setattr(auth, "find_home", lose)
        answer = visitor.http.post("/login", data={"username": "hanako", "password": PASSWORD})
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        assert COOKIE in answer.headers["set-cookie"]

    def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(self, visitor: Visitor) -> None:
        answer = visitor.http.post("/login", data={"username": "hanako", "password": PASSWORD})
        assert (answer.status_code, answer.headers["location"]) == (303, "/label?dataset=demo")
        session, device = answer.headers.get_list("set-cookie")
        flags = {flag.strip().lower() for flag in session.split(";")[1:]}
        assert flags == {"httponly", "samesite=lax", "path=/", "max-age=43200"}
        flags = {flag.strip().lower() for flag in device.split(";")[1:]}
        assert flags == {"httponly", "samesite=lax", "path=/login", "max-age=15552000"}

    def test_over_https_the_cookie_is_secure(self, app: App, database: Database) -> None:
        browser = TestClient(app, base_url="https://annotator.example", follow_redirects=False)
        answer = browser.post("/login", data={"username": "hanako", "password": PASSWORD})
        assert "secure" in answer.headers["set-cookie"].lower()
        assert "max-age" in answer.headers["strict-transport-security"]
        behind_proxy = TestClient(make_door(database, Settings(secure_cookie=True)), follow_redirects=False)
        answer = behind_proxy.post("/login", data={"username": "hanako", "password": PASSWORD})
        assert "secure" in answer.headers["set-cookie"].lower()

    def test_a_token_chosen_beforehand_is_never_taken_over(
        self, visitor: Visitor, database: Database
    ) -> None:
        visitor.http.cookies.set(COOKIE, "chosen-by-an-attacker")
        answer = visitor.http.post("/login", data={"username": "hanako", "password": PASSWORD})
        assert "chosen-by-an-attacker" not in answer.headers["set-cookie"]
        assert find_session(database, "chosen-by-an-attacker", now=datetime.now(UTC)) is None

    def test_signing_in_again_ends_the_session_before(self, visitor: Visitor, database: Database) -> None:
        first = visitor.sign_in("hanako")
        second = visitor.sign_in("lea")
        assert find_session(database, first, now=datetime.now(UTC)) is None
        session = find_session(database, second, now=datetime.now(UTC))
        assert session is not None
        assert session.actor.username == "lea"

    def test_a_wrong_password_shows_the_form_again_and_says_nothing_more(self, visitor: Visitor) -> None:
        answers = [
            visitor.http.post("/login", data={"username": username, "password": "hunter2-hunter2"})
            for username in ('known"><script>', "hanako")
        ]
        assert [answer.status_code for answer in answers] == [401, 401]
        assert all("hunter2" not in answer.text and "set-cookie" not in answer.headers for answer in answers)
        assert 'role="alert" id="problem">The username or the password is wrong.<' in answers[0].text
        assert "<script>" not in answers[0].text
        assert 'value="known&quot;&gt;&lt;script&gt;"' in answers[0].text
        assert answers[1].text == answers[0].text.replace("known&quot;&gt;&lt;script&gt;", "hanako")

    def test_guessing_is_limited(self, visitor: Visitor, database: Database) -> None:
        add_person(database, OPERATOR, "victim", role="annotator", dataset="demo", password=PASSWORD, now=NOW)
        for _ in range(5):
            assert (
                visitor.http.post("/login", data={"username": "victim", "password": "wrong"}).status_code
                == 401
            )
        answer = visitor.http.post("/login", data={"username": "victim", "password": PASSWORD})
        assert answer.status_code == 429
        assert 0 < int(answer.headers["retry-after"]) <= 900
        assert "Too many failed attempts. Try again in 15 min." in answer.text
        assert "set-cookie" not in answer.headers

    @pytest.mark.parametrize(
        "elsewhere",
        ["https://evil.example/", "//evil.example", "/\\evil.example", "/\t/evil.example", "evil", "javascript:alert(1)",
         "/login", "/logout", "/api/text", "/ü", "/a\r\nSet-Cookie: x=1", "\\\\evil.example"],
    )  # fmt: skip
    def test_a_redirect_never_leads_elsewhere(self, visitor: Visitor, elsewhere: str) -> None:
        answer = visitor.http.post(
            "/login", data={"username": "hanako", "password": PASSWORD, "next": elsewhere}
        )
        assert answer.headers["location"] == "/label?dataset=demo"
        assert visitor.http.get("/login", params={"next": elsewhere}).headers["location"] == "/"

    @pytest.mark.parametrize(
        "data", [{}, {"username": "hanako"}, {"password": PASSWORD}, {"username": "a\x00b", "password": "x"}]
    )
    def test_an_incomplete_or_odd_form_is_a_wrong_sign_in(
        self, visitor: Visitor, data: dict[str, str]
    ) -> None:
        assert visitor.http.post("/login", data=data or {"x": "y"}).status_code == 401

    def test_an_endless_form_is_not_read(self, visitor: Visitor) -> None:
        answer = visitor.http.post("/login", data={"username": "hanako", "password": "x" * 1_000_000})
        assert answer.status_code == 413

    @pytest.mark.parametrize(
        ("accepted", "language", "word"),
        [("ja,en;q=0.5", "ja", "サインイン"), ("ko-KR", "ko", "로그인"), ("de, ko;q=0.2", "ko", "로그인"), ("xx", "en", "Sign in"),
         ("ja;q=x, *", "en", "Sign in"), ("ja;q=0, ko", "ko", "로그인"), ("", "en", "Sign in")],
    )  # fmt: skip
    def test_the_form_speaks_the_browsers_language(
        self, visitor: Visitor, accepted: str, language: str, word: str
    ) -> None:
        answer = visitor.http.get("/login", headers={"accept-language": accepted})
        assert f'<html lang="{language}">' in answer.text
        assert f"<h1>{word}</h1>" in answer.text
        assert re.search(
            r'<label for="username">.+?<input id="username"[^>]*autocomplete="username"', answer.text
        )
        assert re.search(r'<label for="password">.+?autocomplete="current-password"', answer.text)


class TestSignedIn:
    @pytest.mark.parametrize("username", ["hanako", "lea", "ada"])
    def test_the_root_leads_to_the_work_of_the_role(self, visitor: Visitor, username: str) -> None:
        visitor.sign_in(username)
        address = visitor.http.get("/").headers["location"]
        assert re.fullmatch(r"/(overview|label)\?dataset=demo", address)
        assert visitor.http.get(address).status_code == 200
        assert address.startswith("/label") or username != "hanako"

    def test_the_root_keeps_a_dataset_of_ones_own_only(self, visitor: Visitor) -> None:
        visitor.sign_in("ada")
        assert visitor.http.get("/?dataset=law").headers["location"].endswith("?dataset=law")
        visitor.sign_in("hanako")
        assert visitor.http.get("/?dataset=law").headers["location"].endswith("?dataset=demo")

    def test_signing_out_takes_a_post(self, visitor: Visitor, database: Database) -> None:
        token = visitor.sign_in("hanako")
        assert '<form method="post" action="/logout">' in visitor.http.get("/logout").text
        assert find_session(database, token, now=datetime.now(UTC)) is not None
        answer = visitor.http.post("/logout")
        assert (answer.status_code, answer.headers["location"]) == (303, "/login")
        assert 'annotator_session=""' in answer.headers["set-cookie"]
        assert find_session(database, token, now=datetime.now(UTC)) is None

    def test_two_servers_on_one_host_keep_a_cookie_each(self, app: App, database: Database) -> None:
        """Browsers send the cookies of a host to all its ports."""
        first = TestClient(app, base_url="http://testserver:8501", follow_redirects=False)
        token = Visitor(first).sign_in("hanako", cookie="annotator_session_8501")
        second = TestClient(app, base_url="http://testserver:8502", follow_redirects=False)
        second.cookies.set("annotator_session_8501", token)
        assert second.get("/label").status_code == 303, "the other server's session"
        Visitor(second).sign_in("lea", cookie="annotator_session_8502")
        assert second.cookies["annotator_session_8501"] == token, (
            "signing in at one ended the session of the other"
        )
        second.post("/logout")
        assert set(second.cookies) == {"annotator_session_8501", "annotator_device_8502"}
        assert first.get("/label").status_code == 200

    def test_who_signed_in_before_the_port_was_in_the_name_stays_signed_in_and_can_sign_out(
        self, app: App, database: Database
    ) -> None:
        now = datetime.now(UTC)
        token = sign_in(database, "hanako", PASSWORD, address="192.0.2.1", now=now)
        browser = TestClient(app, base_url="http://testserver:8501", follow_redirects=False)
        browser.cookies.set(COOKIE, token)
        assert browser.get("/label").status_code == 200
        answer = browser.post("/logout")
        assert answer.headers["set-cookie"].startswith('annotator_session="";')
        assert find_session(database, token, now=now) is None
        old = sign_in(database, "hanako", PASSWORD, address="192.0.2.1", now=now)
        browser.cookies.set(COOKIE, old)
        Visitor(browser).sign_in("hanako", cookie="annotator_session_8501")
        browser.post("/logout")
        assert find_session(database, old, now=now) is None, "the plain name still opens a session"

    def test_after_signing_out_the_old_token_opens_nothing(self, visitor: Visitor) -> None:
        token = visitor.sign_in("hanako")
        visitor.http.post("/logout")
        visitor.http.cookies.set(COOKIE, token)
        assert visitor.http.post("/api/judgments", json={}).status_code == 401
        assert visitor.http.get("/label").status_code == 303
        with (
            pytest.raises(WebSocketDisconnect),
            visitor.http.websocket_connect("/_stcore/stream", headers=OWN_PAGE),
        ):
            pass

    def test_somebody_disabled_is_out_at_once(self, visitor: Visitor, database: Database) -> None:
        add_person(database, OPERATOR, "gone", role="annotator", dataset="demo", password=PASSWORD, now=NOW)
        visitor.sign_in("gone")
        assert visitor.http.get("/label").status_code == 200
        disable_person(database, OPERATOR, "gone", now=NOW)
        assert visitor.http.get("/label").status_code == 303

    def test_the_websocket_opens(self, visitor: Visitor) -> None:
        visitor.sign_in("hanako")
        with visitor.http.websocket_connect("/_stcore/stream", headers=OWN_PAGE, subprotocols=["streamlit"]):
            pass

    def test_with_a_one_time_password_there_is_only_the_account(
        self, visitor: Visitor, database: Database
    ) -> None:
        made = add_person(database, OPERATOR, "fresh", role="annotator", dataset="demo", now=NOW)
        visitor.sign_in("fresh", made.one_time_password or "")
        assert visitor.http.get("/").headers["location"] == "/account?dataset=demo"
        assert visitor.http.post("/api/judgments", json={"dataset": "demo"}).status_code == 403
        change_person(database, OPERATOR, "fresh", password=PASSWORD, now=NOW)
        visitor.sign_in("fresh")
        assert visitor.http.post("/api/judgments", json={"dataset": "demo"}).status_code == 200


CROSS = [
    {"origin": "https://evil.example"}, {"origin": "null"}, {"origin": "http://testserver.evil.example"},
    {"origin": "http://testserver:8080"}, {"origin": "http://["}, {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site", "origin": "http://testserver"},
]  # fmt: skip


class TestOtherSites:
    @pytest.mark.parametrize("headers", CROSS)
    @pytest.mark.parametrize("path", ["/login", "/logout", "/api/judgments", "/_stcore/upload_file/x/x"])
    def test_what_another_site_sends_is_refused(
        self, visitor: Visitor, database: Database, path: str, headers: dict[str, str]
    ) -> None:
        token = visitor.sign_in("hanako")
        method = "PUT" if "upload" in path else "POST"
        form = {"username": "lea", "password": PASSWORD}
        answer = visitor.http.request(method, path, data=form, headers=headers)
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers
        assert find_session(database, token, now=datetime.now(UTC)) is not None

    @pytest.mark.parametrize(
        "headers",
        [{"origin": "http://testserver"}, {"sec-fetch-site": "same-origin", "origin": "https://testserver"}, {},
         {"sec-fetch-site": "none"}],
    )  # fmt: skip
    def test_what_our_own_page_sends_is_taken(self, visitor: Visitor, headers: dict[str, str]) -> None:
        answer = visitor.http.post(
            "/login", data={"username": "hanako", "password": PASSWORD}, headers=headers
        )
        assert answer.status_code == 303

    def test_every_response_forbids_framing_and_foreign_scripts(self, visitor: Visitor) -> None:
        visitor.sign_in("hanako")
        for path in (
            "/login",
            "/label",
            "/healthz",
            "/api/text",
            "/nothing.png",
            "/static/x.js",
            "/login.css",
            "/setup",
            "/one-time-link.js",
            "/open-again.js",
            "/_stcore/health",
        ):
            headers = visitor.http.get(path).headers
            policy = headers["content-security-policy"]
            assert "frame-ancestors 'none'" in policy
            script = re.search(r"script-src ([^;]*)", policy)
            assert script is not None
            assert "'unsafe-inline'" not in script[1]
            assert "'unsafe-eval'" not in script[1]
            assert "http" not in script[1]
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "same-origin"
            kept = path.startswith("/static/") or path in (
                "/login.css",
                "/one-time-link.js",
                "/open-again.js",
            )
            assert ("no-store" in headers.get("cache-control", "")) is not kept, path


def make_door(database: Database, settings: Settings, *routes: Route) -> Starlette:
    """The gate and the door without Streamlit behind them."""
    served = [*auth.routes(database, settings), *health.routes(database), *routes]
    own = [route.path for route in served]
    return Starlette(
        routes=served,
        middleware=[Middleware(RequestGate, database=database, settings=settings, own=own)],
        exception_handlers=EXCEPTION_HANDLERS,
    )


class TestGate:
    async def _echo(self, request: Request) -> Response:
        return JSONResponse(
            {"headers": dict(request.headers), "person": request.state.signed_in.actor.username}
        )

    async def _break(self, _request: Request) -> Response:
        raise RuntimeError("the secret of the house")

    @pytest.fixture
    def browser(self, database: Database) -> TestClient:
        door = make_door(database, Settings(), Route("/echo", self._echo), Route("/api/break", self._break))
        made = TestClient(door, follow_redirects=False)
        made.post("/login", data={"username": "hanako", "password": PASSWORD})
        return made

    def test_a_browser_cannot_say_who_it_is(self, browser: TestClient) -> None:
        claims = ("Remote-User", "X-Forwarded-User", "X-Forwarded-Email", "X-Auth-Request-User", "X-Remote-User",
                  "X-Annotator-Person", "X-Streamlit-User")  # fmt: skip
        answer = browser.get("/echo", headers={**dict.fromkeys(claims, "ada"), "X-Other": "kept"}).json()
        assert answer["person"] == "hanako"
        assert answer["headers"]["x-other"] == "kept"
        assert {claim.lower() for claim in claims} & set(answer["headers"]) == set()

    def test_an_error_is_answered_by_a_number_that_the_log_knows(self, browser: TestClient) -> None:
        with capture_logs() as logs:
            answer = browser.get("/api/break?token=abc")
        assert answer.status_code == 500
        number = re.search(r"error ([0-9a-f]{12})", answer.json()["error"])
        assert number is not None
        assert "secret" not in answer.text
        assert [entry["error_id"] for entry in logs if entry["event"] == "request failed"] == [number[1]]
        assert "abc" not in repr([{**entry, "exc_info": ""} for entry in logs])

    def test_the_log_holds_no_query_password_token_or_name(
        self, browser: TestClient, caplog: pytest.LogCaptureFixture
    ) -> None:
        token = browser.cookies[COOKIE]
        with capture_logs() as logs, caplog.at_level(logging.INFO, "annotator.web"):
            browser.get("/login?next=/label%3Fdataset%3Dsecret-dataset")
            browser.post("/login", data={"username": "hanako", "password": "hunter2-hunter2"})
            browser.post("/login", data={"username": "hanako", "password": PASSWORD})
            browser.get("/echo?x=secret-dataset")
        requests = [vars(record) for record in caplog.records if record.name == "annotator.web"]
        assert [record["msg"] for record in requests] == ["request"] * 4
        logged = repr([logs, requests])
        for secret in (token, browser.cookies[COOKIE], PASSWORD, "hunter2", "secret-dataset", "hanako"):
            assert secret not in logged

    def test_a_healthy_server_says_so_without_a_sign_in(self, database: Database) -> None:
        answer = TestClient(make_door(database, Settings())).get("/healthz")
        assert (answer.status_code, answer.json()) == (
            200,
            {"status": "ok", "database": "ok", "version": __version__},
        )

    def test_a_server_without_its_database_says_so(self) -> None:
        lost = Database("postgresql://nobody:hunter2@127.0.0.1:1/none?connect_timeout=2")
        answer = TestClient(make_door(lost, Settings())).get("/healthz")
        assert answer.status_code == 503
        assert answer.json()["database"] == "unreachable"
        assert "hunter2" not in answer.text


def test_streamlit_is_told_to_lay_no_dialog_over_the_page(visitor: Visitor) -> None:
    visitor.sign_in("hanako")
    body = visitor.http.get("/_stcore/host-config").json()
    assert body["blockErrorDialogs"] is True
    (route,) = create_host_config_routes(None)
    request = Request({"type": "http", "headers": []})
    with ThreadPoolExecutor(
        1
    ) as elsewhere:  # a browser's test before this one may have left a loop running here
        answer = elsewhere.submit(lambda: asyncio.run(route.endpoint(request))).result()  # type: ignore[attr-defined]
    own = json.loads(answer.body)
    ours = {"blockErrorDialogs": True, "allowedOrigins": []}
    assert body == {**own, **ours}, (
        "no page of others may steer ours; everything else is as Streamlit says it"
    )
