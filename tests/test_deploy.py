"""The files in deploy/ fit together, fit the program, and give a server no more rights than it needs."""

import re
import subprocess
from collections.abc import Iterator
from configparser import RawConfigParser
from dataclasses import fields
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
import yaml
from typer.testing import CliRunner

from annotator.cli.main import app
from annotator.settings import Settings
from annotator.web.server.serve import OPEN_FILES, SHUTDOWN_SECONDS
from annotator.web.server.uploads import MOST_IMPORT_MB
from tests.browser.web.proxied_replicas import Proxy, Visitor

PROJECT = Path(__file__).parents[1]
DEPLOY = PROJECT / "deploy"
CONNECTIONS = 40  # of a replica to PostgreSQL: storage/database.py
SETTINGS = {f"ANNOTATOR_{setting.name.upper()}" for setting in fields(Settings)}
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
APPS = [name for name, service in SERVICES.items() if service["image"] == "annotator"]
CONTAINERFILE = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
FINAL_STAGE = CONTAINERFILE.rpartition("\nFROM ")[2]
OPERATIONS = (PROJECT / "docs" / "operations.md").read_text(encoding="utf-8")
NGINX = re.sub(r"#.*", "", (DEPLOY / "nginx.conf").read_text(encoding="utf-8"))


def read_unit() -> RawConfigParser:
    """The unit, with each `Environment=NAME` under its own name."""
    unit = RawConfigParser(strict=True, delimiters=("=",), interpolation=None)
    unit.optionxform = str  # type: ignore[assignment]
    text = (DEPLOY / "annotator@.service").read_text(encoding="utf-8")
    unit.read_string(re.sub(r"^Environment=(\w+)=", r"Environment \1=", text, flags=re.MULTILINE))
    return unit


def find_address(service: str) -> str:
    return str(SERVICES[service]["networks"]["inner"]["ipv4_address"])


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_closed_in(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in service
    user = service.get("user") or re.findall(r"^USER (\S+)$", FINAL_STAGE, re.MULTILINE)[-1]
    assert user.partition(":")[0] not in ("", "0", "root")
    assert "healthcheck" in service or (name in APPS and "HEALTHCHECK" in FINAL_STAGE)
    assert any(place.startswith("/tmp:") for place in service["tmpfs"])
    assert ("ports" in service) == (name == "proxy")


def test_secrets_are_files_and_never_values() -> None:
    assert set(COMPOSE["secrets"]) == {"database_password", "tls.crt", "tls.key"}
    assert all(set(secret) == {"file"} for secret in COMPOSE["secrets"].values())
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            if re.search("PASSWORD|SECRET|KEY|TOKEN", name):
                assert name.endswith("_FILE")
                assert value.removeprefix("/run/secrets/") in service["secrets"]
            assert not re.search(r"://[^/@]*:[^/@]*@", value)
    ignored = (PROJECT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "/deploy/secrets/" in ignored


def test_the_replicas_are_alike_and_the_proxy_knows_each() -> None:
    assert len(APPS) >= 2
    first = {key: value for key, value in SERVICES[APPS[0]].items() if key != "networks"}
    for name in APPS:
        assert {key: value for key, value in SERVICES[name].items() if key != "networks"} == first
        assert list(SERVICES[name]["networks"]) == ["inner"]
        assert SERVICES[name]["environment"]["FORWARDED_ALLOW_IPS"] == find_address("proxy")
        assert {key for key in SERVICES[name]["environment"] if key.startswith("ANNOTATOR_")} <= SETTINGS
    (port,) = re.findall(r'^CMD .*"--port", "(\d+)"\]$', FINAL_STAGE, re.MULTILINE)
    assert f"EXPOSE {port}\n" in FINAL_STAGE
    assert f"http://127.0.0.1:{port}/healthz" in FINAL_STAGE
    assert re.findall(r"\bserver (\S+:\d+) ", NGINX) == [f"{find_address(name)}:{port}" for name in APPS]
    assert f"@{find_address('database')}/" in first["environment"]["ANNOTATOR_DATABASE_URL"]
    assert COMPOSE["networks"]["inner"]["internal"] is True


def test_the_database_takes_the_connections_of_all_replicas() -> None:
    (most,) = re.findall(r"max_connections=(\d+)", " ".join(SERVICES["database"]["command"]))
    assert int(most) >= CONNECTIONS * len(APPS) + 20


def test_images_are_pinned_by_a_tag_and_name_no_host() -> None:
    (base,) = re.findall(r"^ARG PYTHON=(\S+)$", CONTAINERFILE, re.MULTILINE)
    assert re.findall(r"^FROM (\S+)", CONTAINERFILE, re.MULTILINE) == ["${PYTHON}", "${PYTHON}"]
    images = [base, *(service["image"] for name, service in SERVICES.items() if name not in APPS)]
    assert all(re.fullmatch(r"[a-z]+:\d[\w.-]*", image) for image in images)
    assert f"postgresql-client-{SERVICES['database']['image'].partition(':')[2]} " in CONTAINERFILE


def test_the_image_is_built_from_the_lock_and_from_the_program_alone() -> None:
    assert "pip install --require-hashes -r requirements.lock" in CONTAINERFILE
    build = CONTAINERFILE.partition("\nFROM ")[2].rpartition("\nFROM ")[0]
    copied = {word for line in re.findall(r"^COPY (.*) \S+$", build, re.MULTILINE) for word in line.split()}
    let_through = {
        line[1:]
        for line in (PROJECT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        if line.startswith("!")
    }
    assert copied == let_through
    assert all((PROJECT / name).exists() for name in copied)
    assert set(re.findall(r"\b(ANNOTATOR_\w+)=", FINAL_STAGE)) <= SETTINGS


def test_the_docker_line_of_the_readme_runs_the_demo_of_the_image(tmp_path: Path) -> None:
    """No test builds the image: that needs a container engine and a registry of images."""
    lines = (PROJECT / "README.md").read_text(encoding="utf-8").splitlines()
    (build,) = [line.split() for line in lines if line.startswith("docker build ")]
    (start,) = [line.partition("#")[0].split() for line in lines if line.startswith("docker run ")]
    assert (PROJECT / build[build.index("-f") + 1]).samefile(DEPLOY / "Containerfile")
    image = build[build.index("-t") + 1]
    port = start[start.index("-p") + 1].split(":")[-1]
    assert f"EXPOSE {port}" in FINAL_STAGE
    assert 'ENTRYPOINT ["annotator"]' in FINAL_STAGE
    command = [*start[start.index(image) + 1 :], "--database", f"sqlite:///{tmp_path}/x.db"]
    with patch("annotator.web.server.serve.serve_app") as serving:
        done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert (serving.call_args.kwargs["host"], serving.call_args.kwargs["port"]) == ("0.0.0.0", int(port))


def test_the_proxy_lets_large_imports_through_and_says_itself_who_asks() -> None:
    (most,) = re.findall(r"client_max_body_size (\d+)m;", NGINX)
    assert int(most) > MOST_IMPORT_MB
    headers = dict(re.findall(r"proxy_set_header (\S+) (\S+);", NGINX))
    assert headers["Host"] == "$http_host"
    assert headers["X-Forwarded-For"] == "$remote_addr"
    assert headers["X-Forwarded-Proto"] == "$scheme"
    assert headers["Forwarded"] == '""'
    assert headers["X-Request-Id"] == "$request_id"
    (logged,) = re.findall(r"log_format \w+ '(.*)';", NGINX)
    assert not set(re.findall(r"\$\w+", logged)) & {
        "$request",
        "$request_uri",
        "$args",
        "$query_string",
        "$remote_addr",
    }
    assert "$request_id" in logged.split()
    assert "non_idempotent" not in NGINX
    assert re.search(r"location = /metrics \{\s+return 404;\s+\}", NGINX)


def test_the_unit_of_systemd_is_hardened_and_fits_the_program() -> None:
    service = read_unit()["Service"]
    expected = {
        "User": "annotator",
        "ProtectSystem": "strict",
        "ProtectHome": "yes",
        "PrivateTmp": "yes",
        "PrivateDevices": "yes",
        "NoNewPrivileges": "yes",
        "CapabilityBoundingSet": "",
        "StateDirectory": "annotator",
        "StateDirectoryMode": "0700",
        "UMask": "0077",
        "Restart": "always",
        "LimitNOFILE": str(OPEN_FILES),
    }
    assert {name: service[name] for name in expected} == expected
    assert service["ExecStart"].endswith(" serve --host 127.0.0.1 --port %i")
    assert int(service["TimeoutStopSec"]) > SHUTDOWN_SECONDS
    settings = {name.removeprefix("Environment ") for name in service if name.startswith("Environment ")}
    assert {name for name in settings if name.startswith("ANNOTATOR_")} <= SETTINGS
    for name in ("DATABASE_URL", "EXPORTS_DIR", "FETCHED_RUNS_DIR"):
        assert "/var/lib/annotator/" in service[f"Environment ANNOTATOR_{name}"]


def make_configuration_for_systemd() -> str:
    """Return what the command in docs/operations.md makes of deploy/nginx.conf."""
    (command,) = re.findall(
        r"^(sed -e .*?deploy/nginx\.conf) > /etc/nginx/nginx\.conf$", OPERATIONS, re.MULTILINE | re.DOTALL
    )
    done = subprocess.run(["sh", "-c", command], cwd=PROJECT, capture_output=True, text=True, check=True)
    return done.stdout


def test_the_proxy_of_one_machine_knows_the_units_and_keeps_nothing_of_the_containers() -> None:
    made = re.sub(r"#.*", "", make_configuration_for_systemd())
    (units,) = re.findall(r"^systemctl enable --now (annotator@\d+ annotator@.*)$", OPERATIONS, re.MULTILINE)
    ports = re.findall(r"annotator@(\d+)", units)
    assert re.findall(r"\bserver (\S+) ", made) == [f"127.0.0.1:{port}" for port in ports]
    assert re.findall(r"\blisten (.*);", made) == ["80", "443 ssl"]
    assert not re.search(r"172\.28|/tmp/|/run/secrets|/dev/", made)


class AnsweringPort(BaseHTTPRequestHandler):
    """Answers every request with the port of its server."""

    def do_GET(self) -> None:
        body = str(self.server.server_address[1]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_words: object) -> None:
        """Log nothing."""


@pytest.fixture
def answering_servers() -> Iterator[list[Any]]:
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), AnsweringPort) for _ in range(2)]
    for server in servers:
        Thread(target=server.serve_forever, daemon=True).start()
    yield [SimpleNamespace(port=server.server_address[1]) for server in servers]
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("way", ["containers", pytest.param("systemd", marks=pytest.mark.long)])
def test_a_real_nginx_keeps_each_browser_with_one_server(
    way: str, answering_servers: list[Any], tmp_path: Path
) -> None:
    proxy = Proxy(tmp_path, answering_servers, make_configuration_for_systemd() if way == "systemd" else None)
    proxy.start()
    try:
        servers_of_browsers = []
        for _ in range(20):
            browser = Visitor(proxy)
            bodies = {browser.ask("GET", "/").body.decode() for _ in range(4)}
            assert len(bodies) == 1
            servers_of_browsers += bodies
        assert set(servers_of_browsers) == {str(server.port) for server in answering_servers}
    finally:
        proxy.stop()


def test_the_list_of_packages_is_made_from_the_lock_and_the_same_each_time() -> None:
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    recipe = makefile.partition("\nsbom:")[2].partition("\n\n")[0]
    assert " requirements requirements.lock " in recipe
    assert "--output-reproducible" in recipe
    assert re.search(r"^CYCLONEDX := cyclonedx-bom==[\d.]+$", makefile, re.MULTILINE)
