"""Attacks on the page that one-time links open: the whole application in this process, on both databases."""

import io
import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import structlog
from starlette.testclient import TestClient
from streamlit.runtime import Runtime

from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR, Actor
from annotator.log import set_up_logs
from annotator.people.invitations_service import invite, make_password_link
from annotator.people.roles_service import find_actor
from annotator.people.service import add_person, list_people
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.web.app import make_app
from tests.integration.held_roles import list_memberships

PASSWORD = "correct horse 電池"
TYPED = {"how": "create", "name": "하나", "username": "hana", "password": PASSWORD}


@pytest.fixture
def visitor(database: Database) -> Iterator[TestClient]:
    """lea leads law, mika annotates it, and so does noa the dataset nablarch."""
    now = datetime.now(UTC)
    for name in ("law", "nablarch"):
        create_dataset(database, OPERATOR, name, title=f"<b>{name}</b>", now=now)
    for username, role, dataset in (
        ("lea", "lead", "law"),
        ("mika", "annotator", "law"),
        ("noa", "annotator", "nablarch"),
    ):
        add_person(database, OPERATOR, username, role=role, dataset=dataset, password=PASSWORD, now=now)
    Runtime._instance = None  # Streamlit allows one runtime a process
    with TestClient(make_app(database, Settings()), follow_redirects=False) as client:
        yield client
    Runtime._instance = None


def actor(database: Database, username: str) -> Actor:
    with database.read() as session:
        return find_actor(session, username)


def make_token(database: Database, *, role: str = "annotator", age: timedelta = timedelta()) -> str:
    made = invite(database, OPERATOR, role=role, dataset="law", days=1, now=datetime.now(UTC) - age)
    return made.token


def list_roles(database: Database, username: str) -> list[tuple[str | None, str]]:
    return [(item.dataset, item.role) for item in list_memberships(database, actor(database, username))]


def count_people(database: Database) -> int:
    return len(list_people(database, OPERATOR))


def test_a_new_account_lands_where_the_work_is(visitor: TestClient, database: Database) -> None:
    token = make_token(database)
    assert visitor.get("/join").status_code == 200
    offer = visitor.post("/join", data={"token": token})
    assert "You can join the dataset &lt;b&gt;law&lt;/b&gt; as annotator." in offer.text
    joined = visitor.post("/join", data={"token": token, **TYPED})
    assert (joined.status_code, joined.headers["location"]) == (303, "/?dataset=law")
    assert visitor.get(joined.headers["location"]).headers["location"] == "/label?dataset=law"


def test_whoever_is_signed_in_accepts_with_a_button_and_never_by_opening(
    visitor: TestClient, database: Database
) -> None:
    visitor.post("/login", data={"username": "noa", "password": PASSWORD})
    token = make_token(database)
    assert "Accept as noa" in visitor.post("/join", data={"token": token}).text
    assert list_roles(database, "noa") == [("nablarch", "annotator")]
    accepted = visitor.post("/join", data={"token": token, "how": "accept"})
    assert (accepted.status_code, accepted.headers["location"]) == (303, "/?dataset=law")
    assert list_roles(database, "noa") == [("law", "annotator"), ("nablarch", "annotator")]


def test_nobody_accepts_without_being_signed_in(visitor: TestClient, database: Database) -> None:
    token = make_token(database)
    shown = visitor.post("/join", data={"token": token, "how": "accept"})
    assert (shown.status_code, "Create account" in shown.text) == (200, True)
    assert count_people(database) == 3


def test_the_owner_of_an_account_signs_in_on_the_page(visitor: TestClient, database: Database) -> None:
    token = make_token(database)
    assert "Sign in and accept" in visitor.post("/join", data={"token": token, "how": "account"}).text
    typed = {"token": token, "how": "enter", "username": "noa"}
    wrong = visitor.post("/join", data={**typed, "password": "wrong password"})
    assert (wrong.status_code, "wrong password" in wrong.text) == (401, False)
    assert list_roles(database, "noa") == [("nablarch", "annotator")]
    assert visitor.post("/join", data={**typed, "password": PASSWORD}).headers["location"] == "/?dataset=law"
    assert ("law", "annotator") in list_roles(database, "noa")


def test_guessing_passwords_on_it_is_limited_as_on_the_sign_in_page(
    visitor: TestClient, database: Database
) -> None:
    token = make_token(database)
    typed = {"token": token, "how": "enter", "username": "noa"}
    statuses = [visitor.post("/join", data={**typed, "password": f"wrong {n}"}).status_code for n in range(6)]
    assert statuses == [401] * 5 + [429]
    assert visitor.post("/login", data={"username": "noa", "password": PASSWORD}).status_code == 429


def test_who_has_the_role_already_is_told_and_the_link_is_kept(
    visitor: TestClient, database: Database
) -> None:
    visitor.post("/login", data={"username": "lea", "password": PASSWORD})
    token = make_token(database)
    refused = visitor.post("/join", data={"token": token, "how": "accept"})
    assert (refused.status_code, "you have the role lead there already" in refused.text) == (400, True)
    assert visitor.post("/join", data={"token": token, **TYPED}).status_code == 303


def test_a_link_without_its_token_used_expired_or_guessed_says_what_to_do(
    visitor: TestClient, database: Database
) -> None:
    used, old = make_token(database), make_token(database, age=timedelta(days=2))
    visitor.post("/join", data={"token": used, **TYPED})
    for token, words in ((used, "used already"), (old, "has expired"), ("guess", "not valid")):
        refused = visitor.post("/join", data={"token": token, **TYPED, "username": "eve"})
        assert (refused.status_code, words in refused.text) == (403, True)
    assert visitor.post("/join", data={"token": used}).status_code == 403
    assert count_people(database) == 4


def test_guesses_are_answered_with_429_and_when_to_come_back(visitor: TestClient, database: Database) -> None:
    token = make_token(database)
    for number in range(5):
        visitor.post("/join", data={"token": f"guess {number}"})
    limited = visitor.post("/join", data={"token": "guess", **TYPED})
    assert limited.status_code == 429
    assert 0 < int(limited.headers["retry-after"]) <= 15 * 60
    assert count_people(database) == 3
    assert visitor.post("/join", data={"token": token}).status_code == 200  # the right link works for others


def test_another_site_can_neither_accept_nor_create(visitor: TestClient, database: Database) -> None:
    visitor.post("/login", data={"username": "noa", "password": PASSWORD})
    token = make_token(database)
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "same-site"}):
        for data in ({"token": token, "how": "accept"}, {"token": token, **TYPED}):
            assert visitor.post("/join", data=data, headers=headers).status_code == 403
    assert (count_people(database), list_roles(database, "noa")) == (3, [("nablarch", "annotator")])


def test_a_password_link_chooses_a_password_and_nothing_else(visitor: TestClient, database: Database) -> None:
    link = make_password_link(database, OPERATOR, "mika", now=datetime.now(UTC))
    assert "For the account mika." in visitor.post("/join", data={"token": link.token}).text
    for how in ("create", "enter", "accept"):
        shown = visitor.post("/join", data={"token": link.token, **TYPED, "how": how})
        assert (shown.status_code, "For the account mika." in shown.text) == (200, True)
    done = visitor.post(
        "/join", data={"token": link.token, "how": "password", "password": "another password 1"}
    )
    assert (done.status_code, done.headers["location"]) == (303, "/")
    assert visitor.get("/").headers["location"] == "/label?dataset=law"


def test_an_invitation_chooses_nobody_a_password(visitor: TestClient, database: Database) -> None:
    token = make_token(database)
    data = {"token": token, "how": "password", "username": "mika", "password": "another password 1"}
    assert visitor.post("/join", data=data).status_code == 200
    assert visitor.post("/login", data={"username": "mika", "password": PASSWORD}).status_code == 303


def test_neither_token_nor_password_reaches_the_log_or_a_header(
    visitor: TestClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    token, log = make_token(database), io.StringIO()
    monkeypatch.setattr("sys.stderr", log)
    handlers, level, config = logging.root.handlers[:], logging.root.level, structlog.get_config()
    try:
        set_up_logs("json", "debug")
        answers = [
            visitor.get("/join"),
            visitor.post("/join", data={"token": token[:-1]}),
            visitor.post("/join", data={"token": token}),
            visitor.post("/join", data={"token": token, **TYPED, "password": "short"}),
            visitor.post("/join", data={"token": token, **TYPED}),
            visitor.post("/join", data={"token": token, **TYPED}),
        ]
    finally:
        logging.root.handlers[:] = handlers
        logging.root.setLevel(level)
        structlog.configure(**config)
    assert "one-time link refused" in log.getvalue()
    assert "one-time link used" in log.getvalue()
    for secret in (token, token[:-1], PASSWORD):
        assert secret not in log.getvalue()
        assert all(secret not in str(answer.headers) for answer in answers)
    assert all(answer.headers["cache-control"] == "no-store" for answer in answers)
