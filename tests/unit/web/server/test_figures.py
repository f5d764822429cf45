"""`/metrics`: what is counted, by labels of a fixed set of values, and that deploy/ asks for nothing else."""

import json
import os
import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.testclient import TestClient

from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.web import auth
from annotator.web.server import figures
from annotator.web.server.figures import (
    Figures,
    begin_to_count,
    collect_figures,
    note_sign_in,
    note_slow_statement,
    note_submission,
    note_task_begun,
    note_task_ended,
    serve_figures,
)
from annotator.web.server.gate import RequestGate
from tests.unit.web.conftest import PASSWORD

NAME = re.compile(r"\bannotator_[a-z_]+")


@pytest.fixture
def counting(database: Database, monkeypatch: pytest.MonkeyPatch) -> Figures:
    """This process counts."""
    monkeypatch.setattr(figures, "_figures", None)
    monkeypatch.setattr(database, "note_time", database.note_time)
    return begin_to_count(database)


@pytest.fixture
def browser(database: Database, counting: Figures) -> TestClient:
    """Somebody who is not signed in, at a server that counts."""
    del counting
    routes: list[Route] = auth.routes(database, Settings())
    gate = Middleware(
        RequestGate, database=database, settings=Settings(), own=[route.path for route in routes]
    )
    return TestClient(Starlette(routes=routes, middleware=[gate]), follow_redirects=False)


@pytest.fixture
def address(counting: Figures) -> Iterator[str]:
    """Where the figures are."""
    del counting
    server = serve_figures("127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.server_port}/metrics"
    server.shutdown()
    server.server_close()


def read(address: str) -> dict[tuple[str, tuple[str, ...]], float]:
    """The figures by name and values of labels."""
    with urllib.request.urlopen(address) as answer:
        families = list(text_string_to_metric_families(answer.read().decode()))
    return {
        (sample.name, tuple(sample.labels[key] for key in sorted(sample.labels))): sample.value
        for family in families
        for sample in family.samples
    }


def use_everything(browser: TestClient) -> None:
    browser.get("/hunter2?dataset=demo")
    browser.request("HUNTER2", "/login")
    browser.post("/login", data={"username": "hanako", "password": "wrong"})
    browser.post("/login", data={"username": "hanako", "password": PASSWORD})
    note_submission(accepted=2, refused=1, surplus=0, handed_out=5)
    note_slow_statement()
    note_sign_in("refused", by="provider")
    note_task_begun("import")
    note_task_begun("import")
    note_task_ended("import", "done")


def test_requests_submissions_sign_ins_and_database_times_are_counted(
    browser: TestClient, address: str
) -> None:
    use_everything(browser)
    shown = read(address)
    assert shown["annotator_requests_total", ("GET", "other", "303")] == 1
    assert shown["annotator_requests_total", ("POST", "/login", "401")] == 1
    assert shown["annotator_request_seconds_count", ("/login",)] == 3
    assert shown["annotator_sign_ins_total", ("password", "wrong")] == 1
    assert shown["annotator_sign_ins_total", ("password", "signed in")] == 1
    assert shown["annotator_sign_ins_total", ("provider", "refused")] == 1
    assert shown["annotator_background_tasks_total", ("done", "import")] == 1
    assert shown["annotator_background_tasks_running", ("import",)] == 1
    assert shown["annotator_judgments_total", ("accepted",)] == 2
    assert shown["annotator_judgments_total", ("refused",)] == 1
    assert ("annotator_judgments_total", ("surplus",)) not in shown
    assert shown["annotator_pairs_handed_out_total", ()] == 5
    assert shown["annotator_slow_statements_total", ()] == 1
    for what in ("connection", "turn", "read", "write"):
        assert shown["annotator_database_seconds_count", (what,)] > 0
    assert shown["annotator_database_up", ()] == 1
    assert shown["annotator_sessions", ()] >= 1
    assert shown["annotator_process_resident_memory_bytes", (str(os.getpid()),)] > 1_000_000


def test_no_label_holds_what_a_caller_made_up_a_name_or_a_dataset(browser: TestClient, address: str) -> None:
    use_everything(browser)
    shown = repr(list(read(address))).lower()
    for secret in ("hunter2", "hanako", "demo", "law"):
        assert secret not in shown


def test_a_database_that_is_away_is_a_figure_and_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "_figures", None)
    begin_to_count(Database("postgresql+psycopg://nobody@127.0.0.1:1/none?connect_timeout=1"))
    server = serve_figures("127.0.0.1", 0)
    shown = read(f"http://127.0.0.1:{server.server_port}/metrics")
    server.shutdown()
    server.server_close()
    assert shown["annotator_database_up", ()] == 0
    assert ("annotator_open_pairs", ()) not in shown


def test_the_port_and_the_route_show_each_figure_once(address: str) -> None:
    read(address)
    body, _kind = collect_figures("text/plain")
    names = [line.split()[0] for line in body.decode().splitlines() if not line.startswith("#")]
    assert len(names) == len(set(names))


def list_questions(project: Path) -> dict[str, str]:
    """What deploy/ asks Prometheus, by where it asks."""
    dashboard = json.loads((project / "deploy/grafana-dashboard.json").read_text())
    asked = {
        f"{panel['title']} {target['refId']}": target["expr"]
        for panel in dashboard["panels"]
        for target in panel["targets"]
    }
    rules = yaml.safe_load((project / "deploy/alerts.yml").read_text())
    for group in rules["groups"]:
        for rule in group["rules"]:
            assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
            assert rule["annotations"]["summary"]
            asked[rule["alert"]] = rule["expr"]
    return asked


def test_the_dashboard_and_the_alerts_ask_only_for_figures_that_there_are_and_the_dashboard_for_all(
    browser: TestClient, address: str, project: Path
) -> None:
    use_everything(browser)
    # the time of the latest release is there from the first release on
    names = {name for name, _labels in read(address)} | {"annotator_published_timestamp_seconds"}
    asked: set[str] = set()
    for where, expression in list_questions(project).items():
        wanted = set(NAME.findall(expression))
        assert wanted or "up{" in expression, where
        assert wanted <= names, where
        asked |= wanted
    families = {re.sub(r"_(bucket|count|sum)$", "", name) for name in names}
    assert families <= {re.sub(r"_(bucket|count|sum)$", "", name) for name in asked}


def test_the_scrape_configuration_reads_the_rules_beside_it(project: Path) -> None:
    written = yaml.safe_load((project / "deploy/prometheus.yml").read_text())
    assert [(project / "deploy" / name).is_file() for name in written["rule_files"]] == [True]
    assert [job["job_name"] for job in written["scrape_configs"]] == ["annotator"]
