"""Sign-in by a real OpenID Connect provider, and attacks on it: the whole application in this process, on both databases."""

import io
import logging
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import structlog
from sqlalchemy import select, update
from sqlmodel import col
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from annotator.domain.errors import ConflictError, ValidationError
from annotator.domain.people import OPERATOR
from annotator.log import set_up_logs
from annotator.people.invitations_service import invite
from annotator.people.service import add_person, change_person, disable_person, list_people
from annotator.people.single_sign_on.service import add_request, link_identity
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.storage.tables.sign_in import SignInRequestRow
from annotator.web.app import list_own_routes
from annotator.web.server.gate import RequestGate
from annotator.web.server.spending import Allowance
from annotator.web.single_sign_on import make_provider
from tests.security.single_sign_on.conftest import OWN, RealProvider

PASSWORD = "correct horse 電池"


def begin(visitor: TestClient, wanted: str = "") -> str:
    """The provider's address to which the browser is led."""
    begun = visitor.get("/oidc/sign-in", params={"next": wanted} if wanted else None)
    assert begun.status_code == 303
    return begun.headers["location"]


def enter(visitor: TestClient, provider: RealProvider, subject: str, wanted: str = "") -> str:
    """Sign in as this person of the provider; where that leads."""
    came_back = provider.sign_in(begin(visitor, wanted), subject)
    return visitor.get(came_back.removeprefix(OWN)).headers["location"]


def roles_of(database: Database, username: str) -> list[tuple[str | None, str]]:
    people = {person.username: person for person in list_people(database, OPERATOR)}
    return [(held.dataset, held.role) for held in people[username].memberships]


def is_signed_in(visitor: TestClient) -> bool:
    return visitor.get("/account").status_code == 200


def test_the_whole_way_there_and_back(
    visitor: TestClient, provider: RealProvider, database: Database
) -> None:
    provider.set_account("1001", preferred_username="hanako", name="佐藤 花子", groups=["engineers", "other"])
    page = visitor.get("/login", params={"next": "/account?x=1"}).text
    assert "Sign in with Example &amp; Co" in page
    assert 'href="/oidc/sign-in?next=/account%3Fx%3D1"' in page
    assert 'name="password"' in page
    assert enter(visitor, provider, "1001", "/account?x=1") == "/account?x=1"
    assert is_signed_in(visitor)
    (person,) = list_people(database, OPERATOR)
    assert (person.username, person.name) == ("hanako", "佐藤 花子")
    assert roles_of(database, "hanako") == [(None, "annotator")]
    cookie = next(cookie for cookie in visitor.cookies.jar if cookie.name == "annotator_session")
    assert "HttpOnly" in cookie._rest  # type: ignore[attr-defined]


def test_what_is_asked_of_the_provider_is_a_code_with_pkce_state_and_nonce(visitor: TestClient) -> None:
    asked = [parse_qs(urlsplit(begin(visitor)).query) for _ in range(2)]
    for parameters in asked:
        assert parameters["response_type"] == ["code"]
        assert parameters["code_challenge_method"] == ["S256"]
        assert parameters["redirect_uri"] == [f"{OWN}/oidc/callback"]
    for name in ("state", "nonce", "code_challenge"):
        assert asked[0][name] != asked[1][name]
        assert len(asked[0][name][0]) >= 43


def test_the_code_is_worth_nothing_without_the_verifier(
    visitor: TestClient, provider: RealProvider, database: Database
) -> None:
    came_back = provider.sign_in(begin(visitor), "1001")
    with database.write() as session:
        session.execute(update(SignInRequestRow).values(code_verifier="a" * 64))
    refused = visitor.get(came_back.removeprefix(OWN))
    assert refused.headers["location"] == "/login?sso=refused"
    assert not is_signed_in(visitor)


def test_another_state_and_another_browser_sign_nobody_in(
    visitor: TestClient, provider: RealProvider
) -> None:
    came_back = provider.sign_in(begin(visitor), "1001").removeprefix(OWN)
    code = parse_qs(urlsplit(came_back).query)["code"][0]
    forged = visitor.get("/oidc/callback?" + urlencode({"code": code, "state": "x" * 64}))
    assert forged.headers["location"] == "/login?sso=expired"
    assert visitor.get(came_back).headers["location"] == "/login?sso=expired", "it was used up"
    came_back = provider.sign_in(begin(visitor), "1001").removeprefix(OWN)
    visitor.cookies.clear()
    assert visitor.get(came_back).headers["location"] == "/login?sso=expired"
    assert not is_signed_in(visitor)


def test_an_answer_works_once_and_not_for_long(
    visitor: TestClient, provider: RealProvider, database: Database
) -> None:
    address = begin(visitor)
    cookies = dict(visitor.cookies)
    came_back = provider.sign_in(address, "1001").removeprefix(OWN)
    assert visitor.get(came_back).headers["location"] == "/"
    visitor.cookies.clear()
    visitor.cookies.update(cookies)
    assert visitor.get(came_back).headers["location"] == "/login?sso=expired"
    visitor.cookies.clear()
    came_back = provider.sign_in(begin(visitor), "1001").removeprefix(OWN)
    with database.write() as session:
        session.execute(update(SignInRequestRow).values(expires_at=datetime.now(UTC) - timedelta(seconds=1)))
    assert visitor.get(came_back).headers["location"] == "/login?sso=expired"


def test_another_issuer_in_the_answer_is_refused(visitor: TestClient, provider: RealProvider) -> None:
    came_back = urlsplit(provider.sign_in(begin(visitor), "1001"))
    parameters = {name: values[0] for name, values in parse_qs(came_back.query).items()}
    assert parameters["iss"] == provider.issuer
    mixed_up = visitor.get("/oidc/callback?" + urlencode({**parameters, "iss": "https://other.example"}))
    assert mixed_up.headers["location"] == "/login?sso=refused"


@pytest.mark.parametrize(
    "wanted", ["https://evil.example/", "//evil.example", "/\\evil.example", "/oidc/sign-in", "/api/x"]
)
def test_a_sign_in_leads_to_own_pages_only(visitor: TestClient, provider: RealProvider, wanted: str) -> None:
    assert enter(visitor, provider, "1001", wanted) == "/"


def test_another_site_begins_no_sign_in(visitor: TestClient) -> None:
    begun = visitor.get("/oidc/sign-in", headers={"Sec-Fetch-Site": "cross-site"})
    assert begun.headers["location"] == "/login"
    assert "annotator_sign_in" not in visitor.cookies


def test_groups_give_and_take_roles_and_those_given_by_hand_stay(
    visitor: TestClient, provider: RealProvider, database: Database
) -> None:
    provider.set_account("2001", preferred_username="minji", groups=["engineers", "leads"])
    enter(visitor, provider, "2001")
    assert roles_of(database, "minji") == [(None, "lead")], "the strongest of the groups"
    visitor.cookies.clear()
    provider.set_account("2001", preferred_username="renamed", groups=[])
    enter(visitor, provider, "2001")
    assert roles_of(database, "minji") == []
    change_person(database, OPERATOR, "minji", role="annotator", now=datetime.now(UTC))
    for groups in (["leads"], []):
        visitor.cookies.clear()
        provider.set_account("2001", groups=groups)
        enter(visitor, provider, "2001")
        assert roles_of(database, "minji") == [(None, "annotator")]


def test_a_name_or_an_address_takes_over_nobodys_account(
    visitor: TestClient, provider: RealProvider, database: Database
) -> None:
    add_person(database, OPERATOR, "ada", role="admin", password=PASSWORD, now=datetime.now(UTC))
    provider.set_account("3001", preferred_username="Ada", email="ada@example.org", groups=[])
    enter(visitor, provider, "3001")
    assert roles_of(database, "Ada-2") == []
    assert roles_of(database, "ada") == [(None, "admin")]


def test_an_account_from_before_is_opened_after_the_operator_linked_it(
    visitor: TestClient, provider: RealProvider, database: Database
) -> None:
    now = datetime.now(UTC)
    for username in ("ada", "bea"):
        add_person(database, OPERATOR, username, role="admin", password=PASSWORD, now=now)
    link_identity(database, OPERATOR, "ada", issuer=provider.issuer, subject="3002", now=now)
    provider.set_account("3002", preferred_username="somebody", groups=[])
    enter(visitor, provider, "3002")
    assert {person.username for person in list_people(database, OPERATOR)} == {"ada", "bea"}
    assert is_signed_in(visitor)
    with pytest.raises(ConflictError, match="ada"):
        link_identity(database, OPERATOR, "bea", issuer=provider.issuer, subject="3002", now=now)
    link_identity(database, OPERATOR, "bea", issuer=provider.issuer, subject="3002", move=True, now=now)
    assert not is_signed_in(visitor), "sessions that it began end"


def test_a_disabled_person_stays_out(visitor: TestClient, provider: RealProvider, database: Database) -> None:
    provider.set_account("4001", preferred_username="cho", groups=["leads"])
    enter(visitor, provider, "4001")
    disable_person(database, OPERATOR, "cho", now=datetime.now(UTC))
    assert not is_signed_in(visitor)
    assert enter(visitor, provider, "4001") == "/login?sso=disabled"
    assert not is_signed_in(visitor)


def test_whoever_refuses_at_the_provider_is_told_what_to_do(
    visitor: TestClient, provider: RealProvider
) -> None:
    refused = visitor.get(provider.sign_in(begin(visitor), "1001", deny=True).removeprefix(OWN))
    assert refused.headers["location"] == "/login?sso=denied"
    for language, words in (("en", "Ask its administrator"), ("ja", "組織の管理者"), ("ko", "조직의 관리자")):
        page = visitor.get("/login?sso=denied", headers={"Accept-Language": language}).text
        assert words in page
    assert "<script>" not in visitor.get("/login", params={"sso": "<script>"}).text


def test_signing_out_ends_the_session_here_and_at_the_provider(
    visitor: TestClient, provider: RealProvider
) -> None:
    provider.set_account("5001", preferred_username="dan", groups=["engineers"])
    enter(visitor, provider, "5001")
    page = visitor.post("/logout")
    assert not is_signed_in(visitor)
    found = re.search(r'<a href="([^"]+)"', page.text)
    assert found is not None
    address = unescape(found[1])
    assert urlsplit(address).netloc == urlsplit(provider.issuer).netloc
    assert parse_qs(urlsplit(address).query)["post_logout_redirect_uri"] == [f"{OWN}/login"]
    asked = provider.browser.get(address, timeout=60)
    secret = re.search(r'name="xsrf" value="([^"]+)"', asked.text)
    assert secret is not None, asked.text
    ended = provider.browser.post(
        f"{provider.issuer}/session/end/confirm",
        data={"xsrf": secret[1], "logout": "yes"},
        allow_redirects=False,
        timeout=60,
    )
    assert ended.headers["location"].startswith(f"{OWN}/login")


def test_nothing_secret_is_in_the_log(visitor: TestClient, provider: RealProvider) -> None:
    set_up_logs("json", "debug")
    written, root = io.StringIO(), logging.getLogger()
    handler = root.handlers[0]
    assert isinstance(handler, logging.StreamHandler)
    handler.setStream(written)
    try:
        came_back = provider.sign_in(begin(visitor), "1001")
        visitor.get(came_back.removeprefix(OWN))
        visitor.get(came_back.removeprefix(OWN))
    finally:
        structlog.reset_defaults()
        root.handlers.clear()
        root.setLevel(logging.WARNING)
    lines = written.getvalue().splitlines()
    text = "\n".join(line for line in lines if '"logger": "httpx2"' not in line)  # the test's own browser
    assert "/oidc/callback" in text
    parameters = parse_qs(urlsplit(came_back).query)
    for secret in (parameters["code"][0], parameters["state"][0], "a-secret-of-the-client", "eyJ"):
        assert secret not in text


@pytest.mark.parametrize(
    ("local_accounts", "enters"), [("false", ()), ("admins", ("ada",)), ("true", ("ada", "lea"))]
)
def test_passwords_open_only_the_accounts_that_the_operator_lets_them(
    database: Database, settings: Settings, local_accounts: str, enters: tuple[str, ...]
) -> None:
    now, limited = datetime.now(UTC), replace(settings, local_accounts=local_accounts)  # type: ignore[arg-type]
    for username, role in (("ada", "admin"), ("lea", "lead")):
        add_person(database, OPERATOR, username, role=role, password=PASSWORD, now=now)
    gate = Middleware(RequestGate, database=database, settings=limited)
    app = Starlette(routes=list_own_routes(database, limited), middleware=[gate])
    for username in ("ada", "lea"):
        client = TestClient(app, follow_redirects=False)
        answer = client.post("/login", data={"username": username, "password": PASSWORD})
        assert answer.status_code == (303 if username in enters else 403)
        assert ("annotator_session" in client.cookies) == (username in enters)
    token = invite(database, OPERATOR, role="annotator", dataset=None, now=now).token
    client = TestClient(app, follow_redirects=False)
    typed = {"token": token, "how": "create", "name": "Eve", "username": "eve", "password": PASSWORD}
    client.post("/join", data=typed)
    assert ("annotator_session" in client.cookies) == (local_accounts == "true")
    assert any(person.username == "eve" for person in list_people(database, OPERATOR)) == (
        local_accounts == "true"
    )
    assert ('name="password"' in client.get("/login").text) == (
        local_accounts != "false" and "annotator_session" not in client.cookies
    )


def test_a_provider_that_is_away_is_a_sentence_and_the_server_starts(
    database: Database, settings: Settings
) -> None:
    away = replace(settings, oidc_issuer="http://127.0.0.1:9")
    gate = Middleware(RequestGate, database=database, settings=away)
    client = TestClient(
        Starlette(routes=list_own_routes(database, away), middleware=[gate]),
        follow_redirects=False,
        headers={"Referer": "http://testserver/"},
    )
    answer = client.get("/oidc/sign-in")
    assert answer.headers["location"] == "/login?sso=unavailable"
    assert "sign-in cannot be reached" in client.get("/login?sso=unavailable").text


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"oidc_issuer": "http://login.example.org"}, "ISSUER"),
        ({"oidc_issuer": "https://login.example.org?x"}, "ISSUER"),
        ({"oidc_client_id": ""}, "CLIENT_ID"),
        ({"oidc_scopes": "profile"}, "SCOPES"),
        ({"oidc_issuer": "", "local_accounts": "false"}, "LOCAL_ACCOUNTS"),
    ],
)
def test_settings_that_are_not_safe_are_refused_before_anything_is_served(
    settings: Settings, changed: dict[str, str], fault: str
) -> None:
    with pytest.raises(ValidationError, match=fault):
        make_provider(replace(settings, **changed))  # type: ignore[arg-type]


def test_a_stranger_ends_no_sign_in_that_is_under_way(
    visitor: TestClient, provider: RealProvider, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider.set_account("1001", preferred_username="hanako", name="花子", groups=["engineers"])
    monkeypatch.setattr("annotator.web.server.budgets.REFUSAL_SECONDS", 0.0)
    monkeypatch.setattr("annotator.web.single_sign_on.BEGUN", Allowance(at_once=5, per_second=0.001))
    monkeypatch.setattr("annotator.people.single_sign_on.service.MOST_REQUESTS", 20)
    came_back = provider.sign_in(begin(visitor), "1001")
    statuses = []
    for number in range(30):  # addresses of one network
        stranger = TestClient(
            visitor.app,
            client=(f"2001:db8::{number:x}", 1),
            follow_redirects=False,
            headers={"Referer": f"{OWN}/login"},
        )
        answer = stranger.get("/oidc/sign-in")
        statuses.append(answer.status_code)
    assert statuses == [303] * 6 + [429] * 24
    assert int(answer.headers["retry-after"]) > 0
    assert "Too many sign-ins" in answer.text
    visitor.get(came_back.removeprefix(OWN))
    assert is_signed_in(visitor)


def test_when_too_many_sign_ins_are_under_way_the_oldest_goes_and_the_others_stay(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotator.people.single_sign_on.service.MOST_REQUESTS", 3)
    now = datetime(2026, 3, 4, tzinfo=UTC)
    for number in range(5):
        values = {"token_sha256": str(number), "state_sha256": "s", "nonce": "n", "code_verifier": "c"}
        values |= {"redirect_uri": "u", "wanted": "/"}
        expires_at = now + timedelta(minutes=10, seconds=number)
        with database.write() as session:
            add_request(session, SignInRequestRow(**values, expires_at=expires_at), now=now)
    with database.read() as session:
        kept = session.scalars(select(col(SignInRequestRow.token_sha256))).all()
    assert sorted(kept) == ["2", "3", "4"]
