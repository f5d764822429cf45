"""Attacks on who gets in, and on the server itself. On a real server with a real browser (`server`, `page`, `sign_in` of
tests/browser), or on the application in this process (`visitor`)."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient
from streamlit.runtime import Runtime

from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.web.app import make_app
from tests.browser.conftest import (
    PASSWORD,
    browser,
    context,
    database,
    page,
    port,
    prepared,
    server,
    shared_context,
    sign_in,
    spent_pages,
)
from tests.unit.web.conftest import Visitor

__all__ = [
    "browser",
    "context",
    "database",
    "page",
    "port",
    "prepared",
    "server",
    "shared_context",
    "sign_in",
    "spent_pages",
]


class Attacker(Visitor):
    """A browser, or a script that says what it likes, against the application in this process."""

    def sign_in(self, username: str, password: str = PASSWORD, **extra: str) -> str:
        """The session's token."""
        return super().sign_in(username, password, **extra)


@pytest.fixture
def visitor(database: Database) -> Iterator[Attacker]:
    """The application over the database of tests/browser: its dataset, and the people PEOPLE."""
    Runtime._instance = None  # Streamlit allows one runtime a process
    with TestClient(
        make_app(database, Settings()), follow_redirects=False, headers={"Referer": "http://testserver/"}
    ) as client:
        yield Attacker(client)
    Runtime._instance = None
