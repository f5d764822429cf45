"""Several processes on one port, on a real PostgreSQL: `annotator serve --workers 2`, from the socket to the browser."""

import os
import re
import shutil
import signal
import socket
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url

from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR
from annotator.people.service import add_person
from annotator.storage.database import Database
from tests.browser.conftest import DATASET, NOW, PASSWORD, PEOPLE, Server, SignIn, find_free_port
from tests.browser.panel_world import fill_pool, open_panel, press, pressed, stored, wait_saved
from tests.integration.conftest import postgres_url as postgres_url

OTHER = {0: 1, 1: 0}


@pytest.fixture
def database(postgres_url: str) -> Iterator[Database]:
    """The dataset DATASET and PEOPLE, in a PostgreSQL database of the test's own."""
    name = f"workers_{uuid.uuid4().hex}"
    engine = create_engine(postgres_url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name} TEMPLATE template_annotator STRATEGY FILE_COPY"))
    opened = Database(make_url(postgres_url).set(database=name))
    create_dataset(opened, OPERATOR, DATASET, now=NOW, title="デモ 데모")
    for username, shown, role in PEOPLE:
        add_person(
            opened, OPERATOR, username, name=shown, role=role, dataset=DATASET, password=PASSWORD, now=NOW
        )
    yield opened
    opened.dispose()
    with engine.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    engine.dispose()


@pytest.fixture
def metrics_port() -> int:
    return find_free_port()


@pytest.fixture
def server(database: Database, tmp_path: Path, metrics_port: int) -> Iterator[Server]:
    running = Server(
        database.url.render_as_string(hide_password=False),
        tmp_path,
        find_free_port(),
        options=("--workers", "2", "--metrics-port", str(metrics_port)),
    )
    running.start()
    yield running
    running.stop()


def ask(
    server: Server, path: str, worker: int | str | None = None, connection: HTTPConnection | None = None
) -> HTTPResponse:
    """Ask for a page, on a new connection unless one is given, with the cookie of this worker."""
    used = connection or HTTPConnection("127.0.0.1", server.port, timeout=120)
    used.request(
        "GET", path, headers={} if worker is None else {"Cookie": f"annotator_worker_{server.port}={worker}"}
    )
    answer = used.getresponse()
    answer.read()
    return answer


def find_workers(server: Server) -> list[int]:
    """The processes of the workers."""
    assert server.process is not None
    pid = server.process.pid
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def find_given(answer: HTTPResponse) -> str | None:
    """The worker whose cookie an answer brings."""
    found = re.search(r"annotator_worker_\d+=(\d+)", answer.headers.get("Set-Cookie") or "")
    return found[1] if found else None


def wait_until(condition: Callable[[], object]) -> None:
    for _ in range(2_400):
        if condition():
            return
        time.sleep(0.05)
    pytest.fail("it did not come about in 120 seconds")


def test_callers_without_the_cookie_go_to_the_workers_in_turn_and_then_stay_with_theirs(
    server: Server,
) -> None:
    given = [find_given(ask(server, "/login")) for _ in range(4)]
    assert sorted(each for each in given if each) == ["0", "0", "1", "1"]
    cookie = ask(server, "/login").headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    for worker in (0, 1):
        answers = [ask(server, "/media/x", worker) for _ in range(3)]
        assert [answer.status for answer in answers] == [401, 401, 401]  # 307 from the other one
        assert find_given(ask(server, "/login", worker)) is None
    assert find_given(ask(server, "/login", 7)) in ("0", "1")
    assert find_given(ask(server, "/login", "²")) in ("0", "1")
    assert ask(server, "/login.css").headers["Set-Cookie"] is None


def test_what_one_process_alone_can_answer_is_sent_there_and_everything_else_is_answered_anywhere(
    server: Server,
) -> None:
    for worker, other in OTHER.items():
        connection = HTTPConnection("127.0.0.1", server.port, timeout=120)
        assert ask(server, "/login", worker, connection).status == 200
        assert ask(server, "/healthz", other, connection).status == 200
        assert ask(server, "/api/judgments", other, connection).status == 401
        answer = ask(server, "/_stcore/upload_file/a%2Fb/c?x=%20y", other, connection)
        assert (answer.status, answer.headers["Location"]) == (307, "/_stcore/upload_file/a%2Fb/c?x=%20y")
        assert answer.headers["Connection"] == "close"


def read_figures(metrics_port: int) -> str:
    """Nothing while the worker that answers is started."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{metrics_port}/metrics", timeout=120) as answer:
            return str(answer.read().decode())
    except OSError:
        return ""


def test_one_worker_answers_for_all_with_the_figures_also_after_it_was_replaced(
    server: Server, metrics_port: int
) -> None:
    for worker in (0, 1, 0, 1):
        ask(server, "/login", worker)
    counted = 'annotator_requests_total{method="GET",route="/login",status="200"} 4.0'
    wait_until(lambda: counted in read_figures(metrics_port))
    assert "annotator_processes 2.0" in read_figures(metrics_port)
    killed = find_workers(server)
    for worker in killed:
        os.kill(worker, signal.SIGKILL)
    wait_until(lambda: len(set(find_workers(server)) - set(killed)) == 2)
    wait_until(lambda: counted in read_figures(metrics_port))


def test_a_head_in_pieces_and_connections_that_say_nothing_hold_nobody_up(server: Server) -> None:
    silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(60)]
    for worker in (0, 1):
        slow = socket.create_connection(("127.0.0.1", server.port), timeout=120)
        head = f"GET /media/x HTTP/1.1\r\nHost: h:{server.port}\r\nCookie: annotator_worker_{server.port}={worker}\r\n\r\n"
        middle = head.index("annotator_worker") + 5
        slow.sendall(head[:middle].encode())
        assert ask(server, "/login").status == 200  # meanwhile
        slow.sendall(head[middle:].encode())
        assert slow.recv(100).startswith(b"HTTP/1.1 401")
        slow.close()
    silent[0].sendall(b"GET /login HTTP/1.1\r\nHost: h\r\n\r\n")
    silent[0].settimeout(30)
    assert silent[0].recv(100).startswith(b"HTTP/1.1 200")
    for each in silent:
        each.close()


def test_a_worker_that_is_killed_is_replaced_and_the_end_of_the_first_process_ends_all(
    server: Server,
) -> None:
    before = find_workers(server)
    assert len(before) == 2
    os.kill(before[0], signal.SIGKILL)
    wait_until(lambda: len(find_workers(server)) == 2 and before[0] not in find_workers(server))
    assert [ask(server, "/media/x", worker).status for worker in (0, 1)] == [401, 401]
    assert "a worker has ended and is replaced" in server.log
    left = find_workers(server)
    assert server.process is not None
    server.kill()
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in left))
    server.start()  # the port is free


def test_the_signal_to_stop_ends_every_worker(server: Server) -> None:
    workers = find_workers(server)
    assert server.stop() == 0
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def test_workers_killed_while_somebody_labels_cost_no_press(
    server: Server, database: Database, page: Page, sign_in: SignIn
) -> None:
    fill_pool(database)
    sign_in(page, "hanako")
    open_panel(page)
    press(page, "23123")
    for pid in find_workers(server):
        os.kill(pid, signal.SIGKILL)
        press(page, "123")
    wait_saved(page)
    open_panel(page)
    press(page, "31231")
    seen = pressed(page)
    wait_saved(page)
    assert len(seen) == 16
    assert stored(database) == seen


def test_a_lead_uploads_files_and_imports_them(
    server: Server, database: Database, page: Page, sign_in: SignIn, tmp_path: Path
) -> None:
    queries = tmp_path / "질의.csv"
    queries.write_text("id,text\nQ1,ログの出力先\nQ2,토지거래허가\n", encoding="utf-8")
    sign_in(page, "lea", to=f"/import?dataset={DATASET}")
    page.locator("input[type=file]").set_input_files(queries)
    page.get_by_role("button", name="Import 2 records").click()
    expect(page.get_by_text("질의.csv is imported: 2 new")).to_be_visible()


def test_sqlite_is_refused_with_what_to_do(tmp_path: Path, prepared: Path) -> None:
    copied = shutil.copy(prepared, tmp_path / "annotator.db")
    refused = Server(f"sqlite:///{copied}", tmp_path, find_free_port(), options=("--workers", "2"))
    with pytest.raises(pytest.fail.Exception, match="--workers needs PostgreSQL"):
        refused.start()
    assert refused.process is not None
    assert refused.process.exitcode == 1
