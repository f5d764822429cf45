"""Attacks on the page that makes the first admin: the whole application in this process, on both databases."""

import io
import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import structlog
from starlette.testclient import TestClient
from streamlit.runtime import Runtime

from annotator.domain.people import OPERATOR
from annotator.log import set_up_logs
from annotator.people.service import add_person, list_people
from annotator.people.setup_service import make_setup_link
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.web.app import make_app

PASSWORD = "correct horse 電池"
TYPED = {"name": "Ada", "username": "ada", "password": PASSWORD}


@pytest.fixture
def visitor(database: Database) -> Iterator[TestClient]:
    Runtime._instance = None  # Streamlit allows one runtime a process
    with TestClient(make_app(database, Settings()), follow_redirects=False) as client:
        yield client
    Runtime._instance = None


def make_token(database: Database, *, age: timedelta = timedelta()) -> str:
    link = make_setup_link(database, now=datetime.now(UTC) - age)
    assert link is not None
    return link.token


def list_usernames(database: Database) -> list[str]:
    return [person.username for person in list_people(database, OPERATOR)]


def test_the_way_from_the_address_to_the_first_dataset(visitor: TestClient, database: Database) -> None:
    token = make_token(database)
    assert visitor.get("/login").headers["location"] == "/setup"
    opened = visitor.get("/setup")
    assert "when it started" in opened.text
    assert '<script src="/one-time-link.js?' in opened.text
    form = visitor.post("/setup", data={"token": token})
    assert f'value="{token}"' in form.text
    assert 'name="password"' in form.text
    made = visitor.post("/setup", data={"token": token, **TYPED})
    assert (made.status_code, made.headers["location"]) == (303, "/new-dataset")
    assert visitor.get("/new-dataset").status_code == 200
    assert visitor.get("/login").headers["location"] == "/"


def test_a_stranger_without_the_address_makes_nobody(visitor: TestClient, database: Database) -> None:
    make_token(database)
    for token in ("", "guess", "\x00"):
        refused = visitor.post("/setup", data={"token": token, **TYPED})
        assert refused.status_code == 403
        assert "not valid" in refused.text
    assert list_usernames(database) == []


def test_an_address_that_has_expired_says_what_to_do(visitor: TestClient, database: Database) -> None:
    token = make_token(database, age=timedelta(hours=25))
    refused = visitor.post("/setup", data={"token": token})
    assert refused.status_code == 403
    assert "has expired" in refused.text
    assert "Restart the server" in refused.text


def test_guesses_are_answered_with_429_and_when_to_come_back(visitor: TestClient, database: Database) -> None:
    token = make_token(database)
    for _ in range(5):
        visitor.post("/setup", data={"token": "guess"})
    limited = visitor.post("/setup", data={"token": "guess", **TYPED})
    assert limited.status_code == 429
    assert 0 < int(limited.headers["retry-after"]) <= 15 * 60
    assert list_usernames(database) == []
    assert visitor.post("/setup", data={"token": token}).status_code == 200  # the right link works for others


def test_another_site_cannot_post_it(visitor: TestClient, database: Database) -> None:
    token = make_token(database)
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        assert visitor.post("/setup", data={"token": token, **TYPED}, headers=headers).status_code == 403
    assert list_usernames(database) == []


def test_once_there_is_an_account_the_address_explains_itself(
    visitor: TestClient, database: Database
) -> None:
    token = make_token(database)
    add_person(database, OPERATOR, "hanako", role="annotator", password=PASSWORD, now=datetime.now(UTC))
    assert visitor.get("/login").status_code == 200
    shown = visitor.get("/setup")
    assert (shown.status_code, "The first admin exists already" in shown.text) == (200, True)
    for data in ({"token": token}, {"token": token, **TYPED}, {"token": "guess", **TYPED}):
        refused = visitor.post("/setup", data=data)
        assert (refused.status_code, "The first admin exists already" in refused.text) == (409, True)
    assert list_usernames(database) == ["hanako"]


def test_problems_are_at_their_fields_and_what_was_typed_is_escaped(
    visitor: TestClient, database: Database
) -> None:
    token = make_token(database)
    hostile = '"><script>alert(1)</script>'
    refused = visitor.post(
        "/setup", data={"token": token, "name": hostile, "username": "", "password": "short"}
    )
    assert refused.status_code == 400
    assert hostile not in refused.text
    assert 'aria-describedby="password-problem"' in refused.text
    assert "short" not in refused.text
    assert visitor.post("/setup", data={"token": hostile}).text.count("<script") == 1, "ours alone"


def test_a_form_that_is_too_large_is_refused(visitor: TestClient, database: Database) -> None:
    token = make_token(database)
    assert visitor.post("/setup", data={"token": token, **TYPED, "name": "x" * 30_000}).status_code == 413
    assert list_usernames(database) == []


def test_neither_token_nor_password_reaches_the_log_or_a_header(
    visitor: TestClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    token, log = make_token(database), io.StringIO()
    monkeypatch.setattr("sys.stderr", log)
    handlers, level, config = logging.root.handlers[:], logging.root.level, structlog.get_config()
    try:
        set_up_logs("json", "debug")
        answers = [
            visitor.get("/setup"),
            visitor.post("/setup", data={"token": token[:-1]}),
            visitor.post("/setup", data={"token": token}),
            visitor.post("/setup", data={"token": token, **TYPED, "password": "short"}),
            visitor.post("/setup", data={"token": token, **TYPED}),
            visitor.post("/setup", data={"token": token, **TYPED}),
        ]
    finally:
        logging.root.handlers[:] = handlers
        logging.root.setLevel(level)
        structlog.configure(**config)
    assert "setup refused" in log.getvalue()
    assert "first admin created" in log.getvalue()
    for secret in (token, token[:-1], PASSWORD):
        assert secret not in log.getvalue()
        assert all(secret not in str(answer.headers) for answer in answers)
    assert all(answer.headers["cache-control"] == "no-store" for answer in answers)
    assert all(answer.headers["referrer-policy"] == "same-origin" for answer in answers)
