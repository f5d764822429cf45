"""Two servers on one PostgreSQL behind a real nginx with deploy/nginx.conf, other ports and paths put in."""

import http.client
import json
import os
import re
import shutil
import ssl
import subprocess
import time
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.browser.conftest import PASSWORD, Server, find_free_port

CONFIGURATION = Path(__file__).parents[3] / "deploy" / "nginx.conf"
UPSTREAM = re.compile(r"server \S+:8501 (.*);")
COOKIE = "annotator_replica"


@dataclass
class Proxy:
    """nginx as a process, before these servers. `address` has no slash at its end."""

    folder: Path
    servers: list[Server]
    port: int = field(default_factory=find_free_port)
    plain_port: int = field(default_factory=find_free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it and wait until it answers."""
        nginx = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
        if nginx is None:
            pytest.fail("no nginx found: make nginx (Debian: apt-get install nginx-light)")
        _make_certificate(self.folder)
        (self.folder / "nginx.conf").write_text(self._render(), encoding="utf-8")
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

    def _render(self) -> str:
        text = CONFIGURATION.read_text(encoding="utf-8")
        replacements = {
            "listen 8443 ssl": f"listen 127.0.0.1:{self.port} ssl",
            "listen 8080": f"listen 127.0.0.1:{self.plain_port}",
            "/run/secrets/": f"{self.folder}/",
            "/tmp/nginx": f"{self.folder}/nginx",
            "worker_processes auto": "worker_processes 1",
        }
        for old, new in replacements.items():
            assert old in text, old
            text = text.replace(old, new)
        options = UPSTREAM.findall(text)
        assert len(options) == 2
        servers = iter(self.servers)
        text = UPSTREAM.sub(lambda found: f"server 127.0.0.1:{next(servers).port} {found[1]};", text)
        is_root = os.geteuid() == 0  # then its workers would be somebody else, who cannot enter this folder
        return f"user root;\n{text}" if is_root else text

    def find_server(self) -> Server:
        """Return the server that answered the latest request in the log."""
        lines = (self.folder / "nginx.log").read_text(encoding="utf-8").splitlines()
        answered = [line for line in lines if re.search(r"127\.0\.0\.1:\d+$", line)]
        port = int(answered[-1].rpartition(":")[2])
        return next(server for server in self.servers if server.port == port)


def _make_certificate(folder: Path) -> None:
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "2",
    ]
    files = ["-keyout", str(folder / "tls.key"), "-out", str(folder / "tls.crt"), "-subj", "/CN=127.0.0.1"]
    subprocess.run([*command, *files], check=True, capture_output=True)


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
        sent = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        connection.request(method, path, body or None, sent | (headers or {}))
        response = connection.getresponse()
        answer = Answer(response.status, response.getheaders(), response.read())
        connection.close()
        for name, value in answer.headers:
            if name.lower() == "set-cookie":
                self.cookies |= {key: morsel.value for key, morsel in SimpleCookie(value).items()}
        return answer

    def sign_in(self, username: str, password: str = PASSWORD, **headers: str) -> int:
        """Send the form; return the status."""
        form = urlencode({"username": username, "password": password})
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.ask("POST", "/login", form, kind | headers).status

    def exchange(self, events: list[dict[str, Any]], want: int, have: list[str] | None = None) -> Answer:
        """Hand in events, and ask for so many pairs."""
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
