"""The page Queries and documents as Streamlit runs it, with real processes for the files: nothing is stored before it is confirmed."""

import io
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import text
from starlette.testclient import TestClient
from streamlit.runtime import Runtime
from streamlit.testing.v1 import AppTest

from annotator.dataset.service import change_settings, create_dataset
from annotator.domain.errors import ValidationError
from annotator.domain.people import OPERATOR, Actor, Membership, SignedIn
from annotator.formats.syntax.partial_files import name_partial
from annotator.importing.texts.texts_service import import_queries
from annotator.importing.uploads.import_service import show_contents
from annotator.people.roles_service import find_actor
from annotator.people.service import add_person
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from annotator.web.app import make_app
from annotator.web.importing import file_jobs, import_tab, page, try_tab
from annotator.web.importing.file_jobs import FILE_JOBS, FileJob, FileJobs, TaskLimits
from annotator.web.importing.file_tasks import TASKS
from annotator.web.page_context import PageContext
from tests.browser.warm_server import WarmTask
from tests.unit.web.lead_pages import html_rows, run, run_page, words

NOW = datetime(2026, 3, 5, 5, 6, 7, tzinfo=UTC)
QUERIES = "query_id,text\nQ1,民法第百九十九条\nQ2,질의 :red[x] <b>\n"
PASSWORD = "correct horse 電池 staple"


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    opened = Database(f"sqlite:///{tmp_path / 'annotator.db'}")
    upgrade_schema(opened)
    create_dataset(opened, OPERATOR, "d", now=NOW)
    for name in ("lea", "leo"):
        add_person(opened, OPERATOR, name, role="lead", dataset="d", password=PASSWORD, now=NOW)
    add_person(opened, OPERATOR, "hana", role="annotator", dataset="d", password=PASSWORD, now=NOW)
    lead = find(opened, "lea")
    signed_in = PageContext(
        opened, Settings(), SignedIn(lead, "Lea", (Membership("d", "lead"),), False, NOW), "", (), "d", NOW
    )
    for module in (import_tab, page, try_tab):
        if hasattr(module, "require_context"):
            monkeypatch.setattr(module, "require_context", lambda: signed_in)
    for name in ("require_context",):
        monkeypatch.setattr(f"annotator.web.importing.file_upload.{name}", lambda: signed_in)
    yield opened
    FILE_JOBS.discard_all()
    opened.dispose()


WITH_NEW_INTERPRETERS = (
    "test_a_file_of_the_upload_is_never_run_as_a_program",
    "test_an_import_that_needs_too_much_memory_is_ended_and_stores_nothing",
)


@pytest.fixture(autouse=True)
def warm_tasks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the process of a task be forked from one that has imported the program: a new interpreter takes a second for it."""
    usual = file_jobs.COMMAND

    def start(command: Sequence[str], **options: Any) -> Any:
        return WarmTask(options["env"]) if command == usual else subprocess.Popen(command, **options)

    if request.node.name not in WITH_NEW_INTERPRETERS:
        monkeypatch.setattr(file_jobs, "subprocess", SimpleNamespace(**{**vars(subprocess), "Popen": start}))


def find(database: Database, username: str) -> Actor:
    with database.read() as session:
        return find_actor(session, username)


def open_tab(database: Database, tab: str = "Import") -> AppTest:
    lead = find(database, "lea")
    url = database.url.render_as_string(hide_password=False)
    app = AppTest.from_function(run_page, args=(url, "import", lead.username, lead.person_id, "d", "exports"))
    app.query_params["tab"] = tab
    return run(app)


def upload(app: AppTest, *files: tuple[str, str | bytes]) -> AppTest:
    app.file_uploader[0].set_value(
        [(name, content.encode() if isinstance(content, str) else content, "") for name, content in files]
    )
    return settle(run(app))


def plain(markdown: str) -> str:
    return re.sub(r"\\(.)", r"\1", markdown)


def settle(app: AppTest) -> AppTest:
    """The page once no task runs any more."""
    for job in list(FILE_JOBS._jobs.values()):
        while job.thread is not None and job.thread.is_alive():
            job.thread.join()
    run(app)
    if any(job.is_busy for job in FILE_JOBS._jobs.values()):
        return settle(app)
    return app


def press(app: AppTest, label: str) -> AppTest:
    next(button for button in app.button if button.label == label).click()
    return settle(run(app))


def count(database: Database) -> dict[str, int]:
    return {item.kind: item.count for item in show_contents(database, OPERATOR, "d").counts if item.count}


def test_an_empty_dataset_says_what_to_do_and_a_table_is_imported_only_when_confirmed(
    database: Database,
) -> None:
    app = open_tab(database)
    assert "This dataset is empty. Import its queries first" in words(app)
    assert "Up to 100 MB and 3,000 files" in words(app)
    upload(app, ("質問.csv", "番号,質問文\nQ1,ログの出力先を変更する方法\nQ2,設定\n".encode("cp932")))
    assert plain(app.warning[0].value).startswith("The content of this file is not certain")
    assert [field.value for field in app.selectbox][:3] == ["queries", "csv", "cp932"]
    assert ["Q1", "ログの出力先を変更する方法"] in html_rows(app)
    assert ["2", "2", "0", "0"] in html_rows(app)
    assert count(database) == {}
    press(app, "Import 2 records")
    assert "質問.csv is imported: 2 new, 0 changed, 0 unchanged." in plain(app.success[0].value)
    assert count(database) == {"queries": 2}
    last = show_contents(database, OPERATOR, "d").counts[0].last
    assert last is not None and (last.path, last.by) == ("質問.csv", "lea")
    assert "Next: import the documents." in words(app)
    assert len(app.file_uploader) == 1, "the next files can come at once"
    upload(app, ("d.csv", "doc_id,title\nd1,題\n"))
    press(app, "Import 1 record")
    assert [plain(item.value) for item in app.success] == [
        "d.csv is imported: 1 new, 0 changed, 0 unchanged."
    ]
    assert count(database) == {"queries": 2, "documents": 1}


def test_what_was_recognised_can_be_corrected_and_is_checked_again_by_itself(database: Database) -> None:
    app = upload(open_tab(database), ("x.csv", "id,text\nd1,題\n"))
    app.selectbox[0].set_value("documents")
    settle(run(app))
    assert "Check again" not in [button.label for button in app.button]
    press(app, "Import 1 record")
    assert count(database) == {"documents": 1}


def test_every_problem_is_shown_with_its_line_page_by_page_and_nothing_is_stored(database: Database) -> None:
    rows = "".join(f"Q{number},\n" for number in range(1, 121))
    app = upload(open_tab(database), ("q.csv", f"query_id,text\n{rows}"))
    assert plain(app.error[0].value) == "120 problems. Nothing is stored until the file is correct."
    assert ["q.csv", "2", "text to be a text that is not empty", "nothing"] in html_rows(app)
    assert not any(row[1:2] == ["60"] for row in html_rows(app))
    app.number_input[0].set_value(2)
    assert any(row[1:2] == ["60"] for row in html_rows(run(app)))
    assert "/api/import?dataset=d&amp;purpose=import&amp;file=problems" in words(app)
    assert not any(button.label.startswith("Import ") for button in app.button)
    assert count(database) == {}


def test_files_of_several_kinds_are_imported_one_after_the_other_in_their_order(database: Database) -> None:
    app = upload(
        open_tab(database),
        ("a.md", "# 제1조\n본문\n"),
        ("b.md", "# 第2条\n本文\n"),
        ("bm25.txt", "Q1 Q0 a.md 1 2.5 bm25\n"),
        ("q.csv", QUERIES),
    )
    press(app, "Import 2 records")
    press(app, "Import 2 records")
    press(app, "Import 1 record")
    assert count(database) == {"queries": 2, "documents": 2, "run": 1}
    assert len(app.success) == 3


def test_all_files_are_imported_with_one_button_and_then_no_longer_announced(database: Database) -> None:
    app = upload(
        open_tab(database),
        ("d.csv", "doc_id,title\na.md,題\nb.md,題\n"),
        ("bm25.txt", "Q1 Q0 a.md 1 2.5 bm25\n"),
        ("q.csv", QUERIES),
    )
    press(app, "Import all 3 files")
    while FILE_JOBS.find(find(database, "lea").person_id, "d", "import") is not None:
        settle(app)
    assert count(database) == {"queries": 2, "documents": 2, "run": 1}
    assert [plain(item.value).split(" ")[0] for item in app.success] == ["q.csv", "d.csv", "bm25.txt"]
    assert run(app).success == []


def test_importing_all_files_stops_at_the_first_with_a_problem(database: Database) -> None:
    app = upload(
        open_tab(database),
        ("q.csv", QUERIES),
        ("d.csv", "doc_id,title\na.md,題\n"),
        ("run.txt", "Q1 Q0 a.md 1 2.5 bm25\nQ9 Q0 a.md 1 2.5 bm25\n"),
        ("p.csv", "query_id,doc_id\nQ1,a.md\n"),
    )
    press(app, "Import all 4 files")
    while len(app.success) < 2 or not app.error:
        settle(app)
    assert count(database) == {"queries": 2, "documents": 1}
    assert ["run.txt", "2"] in [row[:2] for row in html_rows(app)]
    assert FILE_JOBS.find(find(database, "lea").person_id, "d", "import") is not None


def test_one_button_for_all_needs_files_that_are_certain(database: Database) -> None:
    app = upload(open_tab(database), ("q.csv", QUERIES), ("x.csv", "id,text\nd1,題\n"))
    assert [button.label for button in app.button if button.label.startswith("Import ")] == [
        "Import 2 records"
    ]


def test_what_is_no_upload_is_refused_in_words_and_keeps_the_earlier_files(database: Database) -> None:
    app = upload(open_tab(database), ("../q.csv", QUERIES))
    assert "is a path to another folder" in plain(app.error[0].value)
    upload(app, ("z.zip", b"no archive"))
    assert plain(app.error[0].value) == "z.zip: the archive is damaged, or it is not a zip file."
    assert FILE_JOBS.find(find(database, "lea").person_id, "d", "import") is None


def test_a_file_of_the_upload_is_never_run_as_a_program(database: Database, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    hostile = f"open({str(mark)!r}, 'w')\n"
    app = upload(open_tab(database), ("json.py", hostile), ("annotator.py", hostile), ("q.csv", QUERIES))
    press(app, "Import 2 records")
    assert count(database) == {"queries": 2}
    assert not mark.exists()


def test_a_file_is_tried_and_converted_without_storing_it(database: Database) -> None:
    app = upload(open_tab(database, "Try a file"), ("qrels.txt", "Q1 0 d1 2\nQ1 0 d2 0\n"))
    assert plain(app.success[0].value) == "The file is correct (trec). Queries: 1; grades: 2; documents: 0."
    next(field for field in app.selectbox if field.label == "Into the format").set_value("csv")
    press(run(app), "Convert")
    assert "Download qrels.csv.csv" in words(app)
    (job,) = FILE_JOBS._jobs.values()
    assert (job.out / "qrels.csv.csv").read_text().splitlines()[1].startswith("Q1,")
    assert count(database) == {}


def test_documents_get_new_ids_after_the_change_was_shown(database: Database, tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text(QUERIES, encoding="utf-8")
    import_queries(database, OPERATOR, "d", path, now=NOW)
    app = upload(open_tab(database), ("p.csv", "query_id,doc_id\nQ1,d1\n"))
    press(app, "Import 1 record")
    app = upload(
        open_tab(database, "New document ids"), ("m.csv", "old_doc_id,new_doc_id\nd1,第一条\nd9,x\n")
    )
    assert ["documents renamed", "1"] in html_rows(app)
    assert "1 old id is not in the dataset. d9" in words(app)
    press(app, "Give the documents their new ids")
    assert plain(app.success[0].value).startswith("Done.")
    app = upload(
        open_tab(database, "Checks from a file"),
        ("c.csv", "query_id,doc_id,kind,grade,explanation\nQ1,第一条,gold,2,\nQ1,d1,gold,2,\n"),
    )
    assert ["c.csv", "3", "a pair of the pool", "Q1 d1"] in html_rows(app)
    press(app, "Choose other files")
    upload(app, ("c.csv", "query_id,doc_id,kind,grade,explanation\nQ1,第一条,gold,2,\n"))
    press(app, "Save the checks")
    assert plain(app.success[0].value).startswith("Done.")


# Tasks ---------------------------------------------------------------------------------------------------


def stage(jobs: FileJobs, database: Database, username: str, content: str = QUERIES) -> FileJob:
    person = find(database, username).person_id
    return jobs.stage(person, username, "d", "import", [("q.csv", io.BytesIO(content.encode()))])


def request(database: Database, username: str) -> dict[str, object]:
    actor = find(database, username)
    return {
        "task": "import",
        "path": "q.csv",
        "choices": {"kind": "queries"},
        "dry_run": False,
        "dataset": "d",
        "person_id": actor.person_id,
        "username": username,
        "now": NOW.isoformat(),
    }


def test_a_second_lead_waits_for_the_first_and_is_told_for_whom(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs, held = FileJobs(), HeldProcesses()
    first, second = stage(jobs, database, "lea"), stage(jobs, database, "leo")
    with monkeypatch.context() as patch:
        patch.setattr(FileJobs, "_work", held.work)
        jobs.start(first, request(database, "lea"), database=database)
        wait_for(lambda: first in held.running)
    jobs.start(second, request(database, "leo"), database=database)
    wait_for(lambda: second.waits_for)
    assert (second.state, second.waits_for) == ("waiting", "lea")
    held.held.set()
    assert first.thread is not None and second.thread is not None
    first.thread.join()
    second.thread.join()
    assert (second.ended, count(database)) == ("done", {"queries": 2})
    jobs.start(first, request(database, "lea"), database=database)
    first.thread.join()
    assert first.results["import"]["unchanged"] == 2
    jobs.discard_all()
    assert not first.folder.exists() and not second.folder.exists()


def test_one_lead_never_has_all_processes_and_those_who_had_one_longest_ago_come_first(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs, held = FileJobs(TaskLimits(processes=2)), HeldProcesses()
    monkeypatch.setattr(FileJobs, "_work", held.work)
    own = [jobs.open(1, "lea", f"dataset {number}", "check") for number in range(4)]
    others = [jobs.open(number, f"lead {number}", "d", "check") for number in (2, 3)]

    def start(job: FileJob) -> None:
        jobs.start(job, {"task": "check"}, database=database)
        wait_for(lambda: job in jobs._waiting or job in jobs._working)

    for job in own:
        start(job)
    wait_for(lambda: held.running)
    assert held.running == own[:1], "a place stays free"
    for job in others:
        start(job)
    wait_for(lambda: len(held.running) == 2)
    assert held.running == [own[0], others[0]]
    held.end(own[0])
    wait_for(lambda: len(held.running) == 2)
    assert held.running == [others[0], others[1]], "who had none yet comes first"
    held.end(others[0])
    wait_for(lambda: len(held.running) == 2)
    assert held.running == [others[1], own[1]]
    held.held.set()
    for job in (*own, *others):
        assert job.thread is not None
        job.thread.join(120)
        assert job.ended == "done"
    jobs.discard_all()


def test_a_task_that_waits_for_its_turn_keeps_no_process_from_others(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs, held = FileJobs(TaskLimits(processes=2)), HeldProcesses()
    monkeypatch.setattr(FileJobs, "_work", held.work)
    writing = [jobs.open(number, f"lead {number}", "d", "import") for number in (1, 2)]
    other = jobs.open(3, "lead 3", "other", "import")
    for job in (*writing, other):
        jobs.start(job, {"task": "import"}, database=database)
        wait_for(lambda job=job: job in jobs._waiting or job in jobs._working)  # type: ignore[misc]
    wait_for(lambda: len(held.running) == 2)
    assert held.running == [writing[0], other]
    jobs.cancel(writing[1])
    assert writing[1].thread is not None
    writing[1].thread.join(120)
    assert writing[1].ended == "cancelled"
    held.held.set()
    jobs.discard_all()


def test_a_cancelled_import_stores_nothing_and_says_so_only_if_that_is_true(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = FileJobs()
    job = stage(jobs, database, "lea")
    with database.write() as session:
        session.execute(text("SELECT 1"))  # takes the lock that the process needs
        jobs.start(job, request(database, "lea"), database=database, was_stored=lambda: False)
        while job.process is None:
            assert job.thread is not None and job.thread.is_alive()
        jobs.cancel(job)
        assert job.thread is not None
        job.thread.join()
    assert (job.ended, count(database)) == ("cancelled", {})
    monkeypatch.setattr(file_jobs, "COMMAND", ("/bin/true",))
    jobs.start(job, request(database, "lea"), database=database, was_stored=lambda: True)
    job.thread.join()
    assert (job.ended, job.results["import"]) == ("done", {"stored": True})
    jobs.start(job, request(database, "lea"), database=database, was_stored=lambda: False)
    job.thread.join()
    assert job.ended == "failed" and job.error_id
    jobs.discard_all()


def start_and_wait(jobs: FileJobs, job: FileJob, database: Database) -> None:
    jobs.start(job, request(database, "lea"), database=database, was_stored=lambda: False)
    assert job.thread is not None
    job.thread.join()


def test_an_import_that_needs_too_much_memory_is_ended_and_stores_nothing(database: Database) -> None:
    jobs = FileJobs(TaskLimits(memory_mb=250))
    job = stage(jobs, database, "lea", "query_id,text\n" + f"Q,{'x' * 30_000_000}\n" * 4)
    start_and_wait(jobs, job, database)
    assert (job.ended, count(database)) == ("no_memory", {})
    assert job.process is None and not job.temporary.exists()
    jobs.limits = TaskLimits()
    (job.files / "q.csv").write_text(QUERIES, encoding="utf-8")
    start_and_wait(jobs, job, database)
    assert (job.ended, count(database)) == ("done", {"queries": 2})
    jobs.discard_all()


def test_an_import_that_takes_too_long_is_ended_and_stores_nothing(database: Database) -> None:
    jobs = FileJobs(TaskLimits(seconds=0.5))
    job = stage(jobs, database, "lea")
    with database.write() as session:
        session.execute(text("SELECT 1"))  # takes the lock that the process needs
        start_and_wait(jobs, job, database)
    assert (job.ended, count(database)) == ("late", {})
    jobs.discard_all()


def test_an_import_that_the_system_kills_is_reported_as_one_without_memory(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = FileJobs()
    job = stage(jobs, database, "lea")
    endings = {}
    for name in ("SIGKILL", "SIGABRT", "SIGXCPU", "SIGSEGV"):
        script = f"import os, signal, tempfile; tempfile.mkstemp(); os.kill(os.getpid(), signal.{name})"
        monkeypatch.setattr(file_jobs, "COMMAND", (sys.executable, "-c", script))
        start_and_wait(jobs, job, database)
        endings[name] = job.ended
        assert not job.temporary.exists(), "its temporary files are gone"
    assert endings == {
        "SIGKILL": "no_memory",
        "SIGABRT": "no_memory",
        "SIGXCPU": "late",
        "SIGSEGV": "failed",
    }
    jobs.discard_all()


def test_every_task_on_files_has_limits_of_memory_and_time(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests: list[dict[str, Any]] = []
    monkeypatch.setattr(FileJobs, "_work", lambda self, job, request, stored: requests.append(request))
    jobs = FileJobs()
    for task in TASKS:
        job = jobs.open(1, "lea", "d", task)
        jobs.start(job, {"task": task}, database=database)
        assert job.thread is not None
        job.thread.join()
    limits = {request["task"]: (request["memory_mb"], request["seconds"]) for request in requests}
    special = {"try_endpoint": (750, 300), "fetch": (1_500, file_jobs.MOST_TASK_SECONDS["fetch"])}
    assert limits == {**dict.fromkeys(TASKS, (1_500, 1_800)), **special}
    script = (
        "import resource; from annotator.web.importing.worker import _be_modest; _be_modest(700, 59.5);"
        "print(resource.getrlimit(resource.RLIMIT_AS)[0], resource.getrlimit(resource.RLIMIT_CPU)[0])"
    )
    done = subprocess.run((sys.executable, "-c", script), capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["700000000", "60"]
    jobs.discard_all()


def test_the_uploaded_files_of_all_people_together_have_a_limit(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = FileJobs()
    first = stage(jobs, database, "lea")
    monkeypatch.setattr(file_jobs, "MOST_BYTES", 2 * len(QUERIES.encode()) - 1)
    with pytest.raises(ValidationError, match="too many uploaded files"):
        stage(jobs, database, "leo")
    assert stage(jobs, database, "lea").folder.is_dir() and not first.folder.exists()
    jobs.discard_all()


def test_the_uploaded_files_of_one_person_leave_room_for_others(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = FileJobs()
    person = find(database, "lea").person_id

    def stage_for(purpose: str) -> FileJob:
        return jobs.stage(person, "lea", "d", purpose, [("q.csv", io.BytesIO(QUERIES.encode()))])

    monkeypatch.setattr(file_jobs, "MOST_BYTES_OF_A_PERSON", 2 * len(QUERIES.encode()))
    others, oldest, older, newest = stage(jobs, database, "leo"), *map(stage_for, ("a", "b", "c"))
    assert [job.folder.is_dir() for job in (others, oldest, older, newest)] == [True, False, True, True]
    monkeypatch.setattr(file_jobs, "MOST_JOBS_OF_A_PERSON", 1)
    jobs.free_idle(now=newest.last_seen)
    assert [job.folder.is_dir() for job in (others, older, newest)] == [True, False, True]
    newest.state = "running"
    monkeypatch.setattr(file_jobs, "MOST_BYTES_OF_A_PERSON", len(QUERIES.encode()))
    with pytest.raises(ValidationError, match="too many uploaded files"):
        stage_for("a")
    newest.state = "idle"
    jobs.discard_all()


def test_files_that_nobody_looks_at_are_deleted(database: Database) -> None:
    jobs = FileJobs()
    job = stage(jobs, database, "lea")
    jobs.free_idle(now=job.last_seen + file_jobs.IDLE_SECONDS - 1)
    assert job.folder.is_dir()
    jobs.free_idle(now=job.last_seen + file_jobs.IDLE_SECONDS + 1)
    assert not job.folder.exists()
    left = name_partial(Path(tempfile.gettempdir()) / "files")
    left.mkdir()
    file_jobs.delete_left_behind()
    assert not left.exists()


# Downloads -----------------------------------------------------------------------------------------------


def test_the_list_of_problems_goes_to_its_own_lead_only(database: Database) -> None:
    upload(open_tab(database), ("q.csv", "query_id,text\n=1+1,\n"))
    Runtime._instance = None
    address = "/api/import?dataset=d&purpose=import&file=problems"
    with TestClient(
        make_app(database, Settings()), follow_redirects=False, headers={"Referer": "http://testserver/"}
    ) as client:
        statuses = {}
        for name in ("lea", "leo", "hana"):
            client.post("/login", data={"username": name, "password": PASSWORD})
            answer = client.get(address)
            statuses[name] = answer.status_code
            if name == "lea":
                assert (
                    answer.content.decode()
                    .splitlines()[1]
                    .endswith('"text to be a text that is not empty","nothing"')
                )
                assert client.get(address.replace("problems", "../files/q.csv")).status_code == 404
                assert client.get(address.replace("problems", "converted")).status_code == 404
        assert statuses == {"lea": 200, "leo": 404, "hana": 403}
    Runtime._instance = None


# Fetching a run ------------------------------------------------------------------------------------------


def wait_for(condition: Callable[[], object]) -> None:
    for _ in range(12_000):
        if condition():
            return
        threading.Event().wait(0.01)
    pytest.fail("it did not happen")


class HeldProcesses:
    """Stands in for the processes of tasks: each runs until it, or `held`, is let go."""

    def __init__(self) -> None:
        self.running: list[FileJob] = []
        self.held = threading.Event()
        self.let_go: list[FileJob] = []

    def work(self, job: FileJob, request: object, was_stored: object) -> None:
        self.running.append(job)
        job.state = "running"
        wait_for(lambda: job in self.let_go or self.held.is_set())
        self.running.remove(job)
        job.ended = "done"

    def end(self, job: FileJob) -> None:
        self.let_go.append(job)
        assert job.thread is not None
        job.thread.join(120)


def has_begun_or_waits(held: HeldProcesses, job: FileJob) -> bool:
    return job in held.running or bool(job.waits_for) or len(held.running) == file_jobs.MOST_FETCHES


def open_job(jobs: FileJobs, name: str, dataset: str) -> FileJob:
    return jobs.open(len(name), name, dataset, "fetch")


def test_one_run_at_a_time_is_fetched_for_a_dataset_and_few_on_a_server(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs, held = FileJobs(), HeldProcesses()
    monkeypatch.setattr(FileJobs, "_work", held.work)
    first, second = open_job(jobs, "lea", "d"), open_job(jobs, "leon", "d")
    others = [open_job(jobs, "x" * size, f"other {size}") for size in (7, 8)]
    for job in (first, second, *others):
        jobs.start(job, {"task": "fetch"}, database=database)
        wait_for(partial(has_begun_or_waits, held, job))
    assert (second.state, second.waits_for) == ("waiting", "lea")
    tried = open_job(jobs, "y" * 20, "d")
    jobs.start(tried, {"task": "try_endpoint"}, database=database)
    imported = open_job(jobs, "z" * 30, "d")
    jobs.start(imported, {"task": "import"}, database=database)
    wait_for(lambda: tried in held.running and imported in held.running)
    assert (others[1].state, others[1] in held.running) == ("waiting", False), (
        "no more than two on the server"
    )
    held.held.set()
    for job in (first, second, *others):
        assert job.thread is not None
        job.thread.join(120)
        assert job.ended == "done"
    jobs.discard_all()


def test_a_task_that_asks_another_server_is_ended_after_its_time(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(file_jobs.MOST_TASK_SECONDS, "fetch", 0.05)
    monkeypatch.setattr(file_jobs, "COMMAND", (sys.executable, "-c", "import time; time.sleep(60)"))
    jobs = FileJobs()
    job = open_job(jobs, "lea", "d")
    jobs.start(job, {"task": "fetch"}, database=database)
    assert job.thread is not None
    job.thread.join(120)
    assert (job.ended, job.state) == ("late", "idle")
    jobs.discard_all()


def test_without_hosts_the_page_says_who_can_allow_them(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_tab(database, "Fetch a run")
    assert "with the environment variable ANNOTATOR_SEARCH_HOSTS" in plain(app.info[0].value)
    assert not app.text_area and not app.button
    monkeypatch.setenv("ANNOTATOR_SEARCH_HOSTS", "127.0.0.1:1,search.example.org")
    app = open_tab(database, "Fetch a run")
    assert "The operator of the server allows 127.0.0.1:1, search.example.org" in plain(app.info[0].value)
    assert not app.text_area
    change_settings(database, OPERATOR, "d", {"search_hosts": "127.0.0.1:1,elsewhere"}, now=NOW)
    app = open_tab(database, "Fetch a run")
    assert "Allowed hosts: 127.0.0.1:1" in words(app) and "elsewhere" not in str(words(app))
    spec = app.text_area[0].value
    assert spec is not None and "annotator dataset set" not in spec
