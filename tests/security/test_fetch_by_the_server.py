"""A lead has the server send requests: only to hosts that operator and dataset allow, with no secret but SEARCH_…, within bounds.

Every attack runs the task that the page starts, against a real HTTP server on this machine, and looks at what that server was asked.
"""

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select
from starlette.testclient import TestClient
from streamlit.runtime import Runtime

from annotator.dataset.service import change_settings, create_dataset, read_operator_hosts
from annotator.domain.errors import AnnotatorError, NotAllowed, ValidationError
from annotator.domain.people import OPERATOR, Actor
from annotator.importing.runs.runs_service import import_run
from annotator.importing.search_endpoint import server_rules
from annotator.importing.search_endpoint.search_endpoint_service import FetchEnvironment, fetch_run
from annotator.importing.search_endpoint.server_rules import (
    ServerRules,
    mask_variables,
)
from annotator.importing.search_endpoint.spec import TEMPLATES, read_spec, show_template
from annotator.people.roles_service import find_actor
from annotator.people.service import add_person
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.storage.logs.import_records import list_import_records
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.tables.adjudication import AuditEventRow
from annotator.storage.tables.central import RunRow
from annotator.web.app import make_app
from annotator.web.importing import file_tasks
from annotator.web.importing.words import show_text
from tests.integration.importing.test_importing import NOW
from tests.integration.importing.test_search_endpoint import Endpoint, FetchDesk

SECRET = "s3cret-s3cret-s3cret"
OTHER = "0ther-0ther-0ther"
PATHS = "results: hits\nid: id\nscore: s\nengine_ms: took\nsignals: {bm25: bm25}\n"
PASSWORD = "correct horse 電池 staple"


def show_texts(value: Any) -> Any:
    """Return the answer of a task with each message as a page shows it."""
    if isinstance(value, list):
        return [show_texts(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "template" in value or "command_words" in value:
        return show_text(value)
    return {name: show_texts(item) for name, item in value.items()}


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    endpoint = Endpoint()
    yield endpoint
    endpoint.server.shutdown()
    endpoint.server.server_close()


class Attack:
    """A dataset of three queries, led by lea, on a server whose operator allows one endpoint."""

    def __init__(self, database: Database, folder: Path, endpoint: Endpoint) -> None:
        self.desk = FetchDesk(database, folder, endpoint)
        self.database, self.folder, self.endpoint = database, folder, endpoint
        self.runs = folder / "runs"
        for name, role in {"lea": "lead", "hana": "annotator"}.items():
            add_person(database, OPERATOR, name, role=role, dataset="d", now=NOW)
        self.work = folder / "job" / "files"
        self.work.mkdir(parents=True)
        (folder / "job" / "out").mkdir()

    def find(self, username: str) -> Actor:
        with self.database.read() as session:
            return find_actor(session, username)

    def write(self, more: str = "", *, url: str | None = None) -> str:
        return f'url: "{url or f"http://{self.endpoint.host}/s?q={{query}}"}"\n{PATHS}{more}'

    def do(
        self, spec: str, task: str = "fetch", *, username: str = "lea", hosts: Any = None, **options: Any
    ) -> dict[str, Any]:
        """Run the task as its process does."""
        actor = self.find(username)
        request = {
            "task": task,
            "dataset": "d",
            "spec": spec,
            "system": "live",
            "depth": 10,
            "order": "score",
            "duplicates": "refuse",
            "person_id": actor.person_id,
            "username": username,
            "now": NOW.isoformat(),
            "database": self.database.url.render_as_string(hide_password=False),
            "hosts": [self.endpoint.host] if hosts is None else hosts,
            "runs_dir": str(self.runs),
            **options,
        }
        before = Path.cwd()
        os.chdir(self.work)
        try:
            return file_tasks.run_task(request, report_progress=lambda _: None)
        finally:
            os.chdir(before)

    def refused(self, spec: str, **options: Any) -> str:
        """What is said to an attempt that sends nothing, imports nothing and keeps nothing."""
        said = []
        for task in ("try_endpoint", "fetch"):
            result = self.do(spec, task, **options)
            assert "refused" in result or "problems" in result, result
            said.append(json.dumps(show_texts(result), ensure_ascii=False))
        assert self.endpoint.asked == [], "nothing was sent"
        assert self.desk.rows(RunRow.system) == []
        assert list(self.runs.rglob("*.jsonl")) == []
        assert said[0] == said[1]
        return said[0]


@pytest.fixture
def attack(database: Database, tmp_path: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Attack:
    monkeypatch.setenv("SEARCH_TOKEN", SECRET)
    monkeypatch.setenv("ANNOTATOR_DATABASE_URL", OTHER)
    return Attack(database, tmp_path, endpoint)


# Where to ----------------------------------------------------------------------------------------------


def test_a_host_that_the_operator_does_not_allow_is_asked_nothing(attack: Attack) -> None:
    for hosts in ([], ["search.example.org"], ["127.0.0.1"], [attack.endpoint.host + "0"]):
        said = attack.refused(attack.write(), hosts=hosts)
        assert "its operator has not allowed it" in said


def test_a_host_that_the_dataset_does_not_allow_is_asked_nothing(attack: Attack) -> None:
    change_settings(attack.database, OPERATOR, "d", {"search_hosts": "localhost"}, now=NOW)
    assert "This dataset does not allow requests to" in attack.refused(attack.write())


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:{port}/s?q={query}",
        "http://127.1:{port}/s?q={query}",
        "http://127.0.0.1.:{port}/s?q={query}",
        "https://127.0.0.1/s?q={query}&p={port}",
        "http://{host}@169.254.169.254/latest?q={query}",
        "http://169.254.169.254/latest?{host}&q={query}",
        "http://[::ffff:127.0.0.1]:{port}/s?q={query}",
        "file:///etc/passwd?q={query}",
        "http://{query}/s",
    ],
)
def test_another_spelling_of_a_host_is_another_host(attack: Attack, url: str) -> None:
    host, port = attack.endpoint.host, attack.endpoint.host.partition(":")[2]
    attack.refused(attack.write(url=url.replace("{port}", port).replace("{host}", host)))


def test_a_redirect_to_another_host_is_refused_also_to_one_that_is_allowed(attack: Attack) -> None:
    other = Endpoint()
    try:
        hosts = [attack.endpoint.host, other.host]
        change_settings(attack.database, OPERATOR, "d", {"search_hosts": ",".join(hosts)}, now=NOW)
        attack.endpoint.answer = lambda query, given: (
            302,
            {"Location": f"http://{other.host}/s?q=x"},
            b"",
        )
        told = attack.do(attack.write('headers: {X-Token: "${SEARCH_TOKEN}"}\n'), hosts=hosts)
        assert "refused, the spec names" in show_text(told["failed"][0][1])
        assert (len(attack.endpoint.asked), other.asked) == (1, [])
    finally:
        other.server.shutdown()
        other.server.server_close()


# For whom ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("username", ["hana", "mallory"])
def test_only_leads_of_the_dataset_have_requests_sent(attack: Attack, username: str) -> None:
    create_dataset(attack.database, OPERATOR, "other", now=NOW)
    add_person(attack.database, OPERATOR, "mallory", role="lead", dataset="other", now=NOW)
    attack.refused(attack.write(), username=username)
    assert not attack.runs.exists(), "no folder is made for them"


# Secrets and files ------------------------------------------------------------------------------------


def test_only_variables_of_searching_can_be_named_and_no_value_is_repeated(attack: Attack) -> None:
    for header in ('headers: {X-A: "${ANNOTATOR_DATABASE_URL}"}', 'headers: {X-A: "${PATH}"}'):
        said = attack.refused(attack.write(header + "\n"))
        assert "only variables whose name begins with SEARCH_" in said
        assert OTHER not in said and os.environ["PATH"] not in said
    basic = 'basic_auth: {user: "${HOME}", password: "${SEARCH_TOKEN}"}\n'
    assert "${HOME}" in attack.refused(attack.write(basic))


def test_a_variable_of_another_name_is_unknown_even_where_the_name_is_not_checked(
    attack: Attack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_rules, "_list_problems", lambda spec: [])
    said = attack.refused(attack.write('headers: {X-A: "${ANNOTATOR_DATABASE_URL}"}\n'))
    assert "to be set, found nothing" in said


def test_a_file_of_the_server_is_not_read(attack: Attack) -> None:
    for name in ("/etc/passwd", "../../annotator.db"):
        said = attack.refused(attack.write(f"ca_file: {name}\n"))
        assert "ca_file to be left out" in said and name not in said


def test_a_secret_is_in_nothing_that_is_shown_stored_or_logged(attack: Attack) -> None:
    spec = attack.write('headers: {Authorization: "Bearer ${SEARCH_TOKEN}"}\nattempts: 1\n')

    def be_indiscreet(query: str, given: dict[str, Any]) -> Any:
        if query == "질의":
            return 500, {}, f"your header was Bearer {SECRET}".encode()
        if query == "none":
            return {"hits": [{"id": SECRET, "s": 1}], "took": 1}
        return Endpoint.list_documents(query, given)

    attack.endpoint.answer = be_indiscreet
    shown = [attack.do(spec, "try_endpoint"), attack.do(spec, allow_failures=True), attack.do(spec)]
    problems = (attack.work.parent / "out" / "problems.csv").read_text("utf-8")
    assert attack.endpoint.asked[0]["token"] == f"Bearer {SECRET}", "it was sent"
    assert "Bearer ***" in json.dumps(shown)
    attack.endpoint.answer = Endpoint.list_documents
    assert attack.do(spec)["fetched"]["fetched"] == 2
    with attack.database.read() as session:
        records = list_import_records(session, key_of(find_dataset(session, "d").pk))
        stored = [repr(records), *map(repr, session.scalars(select(AuditEventRow)))]
        stored += [str(row.query_signals) for row in session.scalars(select(RunRow))]
    files = [path for path in attack.folder.rglob("*") if path.is_file() and "annotator.db" not in path.name]
    texts = [json.dumps(shown), problems, *stored, *(path.read_text("utf-8") for path in files)]
    assert [text for text in texts if SECRET in text] == []
    assert "Bearer ***" in problems and len(files) >= 2


def test_what_a_failed_task_logs_has_no_value_of_such_a_variable() -> None:
    text = f"ValueError: {SECRET} in header, {OTHER}"
    environment = {"SEARCH_A": SECRET[:6], "SEARCH_TOKEN": SECRET, "SEARCH_B": "e", "X": OTHER}
    assert mask_variables(text, environment) == f"ValueError: *** in header, {OTHER}"


def test_the_import_names_no_folder_of_the_server(attack: Attack) -> None:
    told = attack.do(attack.write())
    with attack.database.read() as session:
        record = list_import_records(session, key_of(find_dataset(session, "d").pk))[-1]
    assert record.path == "live.run.jsonl"
    assert str(attack.folder) not in json.dumps(told) + repr(record)


def test_the_files_of_a_run_are_private_and_no_address_leads_to_them(attack: Attack) -> None:
    assert "fetched" in attack.do(attack.write(), system="../../etc/" + "名" * 80)
    (folder,) = attack.runs.iterdir()
    assert (len(folder.name), set(folder.name) <= set("0123456789abcdef")) == (40, True)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {path.parent for path in attack.folder.rglob("*.run.jsonl*")} == {folder}
    add_person(attack.database, OPERATOR, "lia", role="lead", dataset="d", password=PASSWORD, now=NOW)
    settings = Settings(fetched_runs_dir=attack.runs)
    Runtime._instance = None  # Streamlit allows one runtime a process
    with TestClient(
        make_app(attack.database, settings),
        base_url="http://127.0.0.1",
        headers={"Referer": "http://127.0.0.1/"},
    ) as client:
        client.post(
            "/login", data={"username": "lia", "password": PASSWORD}, headers={"Origin": "http://127.0.0.1"}
        )
        (file,) = folder.glob("*.run.jsonl")
        for address in (
            f"/fetched-runs/{folder.name}/{file.name}",
            f"/runs/{folder.name}/{file.name}",
            f"/static/../../runs/{folder.name}/{file.name}",
            f"/api/import?dataset=d&purpose=fetch&file=../../runs/{folder.name}/{file.name}",
            f"/api/import?dataset=d&purpose=fetch&file={file.name}",
        ):
            assert client.get(address).status_code in (403, 404), address
    Runtime._instance = None


def test_the_same_fetch_has_the_same_folder_and_another_one_another(attack: Attack) -> None:
    spec = attack.write()
    attack.do(spec)
    attack.do(spec + "concurrency: 2\n")
    assert len(list(attack.runs.iterdir())) == 1
    attack.do(spec, system="b")
    attack.do(spec, system="c", depth=9)
    attack.do(spec + "rank: r\n", system="b")
    assert len(list(attack.runs.iterdir())) == 4


# How much ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "most"),
    [
        ("concurrency: 32\n", "concurrency to be at most 4"),
        ("timeout_seconds: 600\n", "timeout_seconds to be at most 60"),
        ("attempts: 10\n", "attempts to be at most 4"),
        ("max_wait_seconds: 3600\n", "max_wait_seconds to be at most 120"),
        ("max_megabytes: 1000\n", "max_megabytes to be at most 16"),
    ],
)
def test_bounds_are_the_servers(attack: Attack, more: str, most: str) -> None:
    assert most in attack.refused(attack.write(more))


@pytest.mark.parametrize("depth", [0, 1_001])
def test_no_more_results_are_asked_for_than_the_server_allows(attack: Attack, depth: int) -> None:
    said = attack.refused(attack.write(), depth=depth)
    assert "results per query must be from 1" in said or "--depth" in said


def test_a_large_answer_is_not_read_to_its_end(attack: Attack) -> None:
    attack.endpoint.answer = lambda query, given: (200, {}, b'{"hits": "' + b"x" * 2_000_000 + b'"}')
    told = attack.do(attack.write("max_megabytes: 1\nattempts: 1\n"))
    assert "more than 1 MB" in show_text(told["failed"][0][1])


def fetch_with(attack: Attack, rules: ServerRules, seconds: list[float]) -> Any:
    return fetch_run(
        attack.database,
        attack.find("lea"),
        "d",
        read_spec(attack.write().encode(), "spec"),
        system="live",
        depth=10,
        now=NOW,
        environment=FetchEnvironment(lambda: seconds[0], lambda _: None, {}),
        save=attack.folder / "live.jsonl",
        rules=rules,
    )


def test_a_fetch_ends_after_its_time_and_goes_on_later(attack: Attack) -> None:
    seconds = [0.0]

    def be_slow(query: str, given: dict[str, Any]) -> Any:
        seconds[0] += 20
        return Endpoint.list_documents(query, given)

    attack.endpoint.answer = be_slow
    rules = ServerRules((attack.endpoint.host,), most_seconds=30)
    with pytest.raises(AnnotatorError, match="the server's time limit for a fetch is over"):
        fetch_with(attack, rules, seconds)
    assert len(attack.endpoint.asked) == 2
    assert fetch_with(attack, rules, seconds).kept == 2
    assert len(attack.endpoint.asked) == 3


def test_a_run_file_does_not_grow_without_end(attack: Attack) -> None:
    with pytest.raises(AnnotatorError, match="The answers need more than 0 MB"):
        fetch_with(attack, ServerRules((attack.endpoint.host,), most_file_bytes=250), [0.0])
    assert (attack.folder / "live.jsonl").stat().st_size <= 250


# Around it ---------------------------------------------------------------------------------------------


def test_a_run_that_came_from_elsewhere_is_not_replaced(attack: Attack) -> None:
    file = attack.folder / "other.jsonl"
    file.write_text('{"query_id": "Q1", "results": [{"doc_id": "x", "rank": 1}]}\n', encoding="utf-8")
    import_run(attack.database, OPERATOR, "d", file, now=NOW, system="live")
    assert "another run in this dataset already" in json.dumps(attack.do(attack.write()))
    assert attack.endpoint.asked == []


@pytest.mark.parametrize("text", ["http://a", "a b", "*", "*.example.org", "a/b", "a:99999"])
def test_what_the_operator_writes_must_be_hosts(text: str) -> None:
    with pytest.raises(ValidationError, match="search_hosts"):
        read_operator_hosts(text)


def test_nothing_is_allowed_by_default() -> None:
    assert read_operator_hosts(Settings().search_hosts) == ()
    with pytest.raises(NotAllowed):
        ServerRules(()).require_host("http://localhost:9200/s", ["localhost:9200"])


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_ready_spec_on_the_page_is_one_that_the_server_takes(name: str) -> None:
    text = show_template(name)
    assert "annotator " not in text and "ca_file" not in text and "then:" not in text
    ServerRules(()).check_spec(read_spec(text.encode(), name), 20)
    uncommented = text.replace("# headers", "headers").replace(
        '# basic_auth: {user: "${SEARCH_USER}"', "# x: {"
    )
    ServerRules(()).check_spec(read_spec(uncommented.encode(), name), 20)
