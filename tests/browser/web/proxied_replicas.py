"""Two servers on one PostgreSQL behind a real nginx with deploy/nginx.conf, other ports and paths put in."""

import http.client
import json
import re
import ssl
import subprocess
import time
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from benchmarks.nginx_before import find_nginx, make_certificate, render_configuration
from tests.browser.conftest import PASSWORD, Server, find_free_port

COOKIE = "annotator_replica"


@dataclass
class Proxy:
    """nginx as a process, before these servers. `address` has no slash at its end.

    `configuration`: the text of nginx.conf, if it is not deploy/nginx.conf; ports and paths are replaced.
    """

    folder: Path
    servers: list[Server]
    configuration: str | None = None
    port: int = field(default_factory=find_free_port)
    plain_port: int = field(default_factory=find_free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it and wait until it answers."""
        nginx = find_nginx()
        if nginx is None:
            pytest.fail("no nginx found: make nginx (Debian: apt-get install nginx-light)")
        make_certificate(self.folder)
        ports = [server.port for server in self.servers]
        configuration = render_configuration(
            self.folder, port=self.port, plain_port=self.plain_port, servers=ports, text=self.configuration
        )
        (self.folder / "nginx.conf").write_text(configuration, encoding="utf-8")
        command = [nginx, "-c", str(self.folder / "nginx.conf"), "-p", str(self.folder), "-g", "daemon off;"]
        with (self.folder / "nginx.log").open("wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        for _ in range(2_400):
            try:
                Visitor(self).ask("GET", "/healthz")
                return
            except OSError:
                time.sleep(0.05)
        pytest.fail(f"nginx did not start:\n{(self.folder / 'nginx.log').read_text()}")

    def stop(self) -> None:
        """End it."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait(120)

    def read_answered(self) -> list[str]:
        """Return the lines of the log about requests that a server answered."""
        lines = (self.folder / "nginx.log").read_text(encoding="utf-8").splitlines()
        return [line for line in lines if re.search(r"127\.0\.0\.1:\d+$", line)]

    def wait_until_logged(self, number: str) -> None:
        """Return when the request with this number is in the log: nginx writes a line after it has sent the answer."""
        for _ in range(2_400):
            if any(line.split()[1] == number for line in self.read_answered()):
                return
            time.sleep(0.02)
        pytest.fail(f"nginx has not logged the request {number}")

    def find_server(self) -> Server:
        """Return the server that answered the latest request in the log."""
        port = int(self.read_answered()[-1].rpartition(":")[2])
        return next(server for server in self.servers if server.port == port)


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Visitor:
    """A browser's cookies, and requests through the proxy; each on a new connection."""

    proxy: Proxy
    cookies: dict[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str, body: str = "", headers: dict[str, str] | None = None) -> Answer:
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection("127.0.0.1", self.proxy.port, timeout=120, context=trusting)
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        sent = {"Cookie": cookies, "Sec-Fetch-Site": "same-origin"}
        connection.request(method, path, body or None, sent | (headers or {}))
        response = connection.getresponse()
        answer = Answer(response.status, response.getheaders(), response.read())
        connection.close()
        for name, value in answer.headers:
            if name.lower() == "set-cookie":
                self.cookies |= {key: morsel.value for key, morsel in SimpleCookie(value).items()}
            if name.lower() == "x-request-id":
                self.proxy.wait_until_logged(value)
        return answer

    def sign_in(self, username: str, password: str = PASSWORD, **headers: str) -> int:
        """Send the form; return the status."""
        form = urlencode({"username": username, "password": password})
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.ask("POST", "/login", form, kind | headers).status

    def exchange(self, events: list[dict[str, Any]], want: int, have: list[str] | None = None) -> Answer:
        """Submit events, and ask for so many pairs."""
        body = {"dataset": "demo", "tab": "one", "events": events, "have": have or [], "want": want}
        return self.ask("POST", "/api/judgments", json.dumps(body), {"Content-Type": "application/json"})

    def go_to(self, server: Server) -> None:
        """Change the cookie to one that the proxy sends to this server."""
        for number in range(200):
            self.cookies[COOKIE] = f"{number:032x}"
            self.ask("GET", "/login.css")
            if self.proxy.find_server() is server:
                return
        pytest.fail("every cookie leads to the other server")
