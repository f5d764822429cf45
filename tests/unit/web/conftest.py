"""The whole application in this process, without a network: `app` over a database of the module's own."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from streamlit.runtime import Runtime
from streamlit.starlette import App

from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR
from annotator.people.service import add_person
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from annotator.web.app import make_app
from tests.databases import CopyDatabase, copy_files
from tests.unit.web.served_release import PASSWORD as PASSWORD
from tests.unit.web.served_release import published_once as published_once
from tests.unit.web.served_release import served as served

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture(scope="session", autouse=True)
def quick_waits() -> Iterator[None]:
    """Let Streamlit's test runner wait for the end of its thread, also for a minute on a machine with other work.

    By itself it looks a thousand times a second through all messages, and gives up after three seconds.
    """
    from streamlit.testing.v1 import local_script_runner as module

    look = module.require_widgets_deltas

    def wait(runner: module.LocalScriptRunner, timeout: float = 3) -> None:
        if runner._script_thread is not None:
            runner._script_thread.join(max(timeout, 60.0))
        look(runner, timeout if runner.script_stopped() else 0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "require_widgets_deltas", wait)
        yield


@pytest.fixture
def copy_database(sqlite_template: Path, tmp_path: Path) -> CopyDatabase:
    """For `copy_world`: on SQLite alone."""
    return copy_files(sqlite_template, tmp_path)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """Two datasets; hanako annotates demo, lea leads it, ada is admin everywhere, nora has no role."""
    folder: Path = tmp_path_factory.mktemp("web")
    opened = Database(f"sqlite:///{folder / 'annotator.db'}")
    upgrade_schema(opened)
    for name in ("demo", "law"):
        create_dataset(opened, OPERATOR, name, now=NOW, title=f"{name} データ")
    for username, role, dataset in (
        ("hanako", "annotator", "demo"), ("lea", "lead", "demo"), ("ada", "admin", None), ("other", "annotator", "law"),
    ):  # fmt: skip
        add_person(opened, OPERATOR, username, role=role, dataset=dataset, password=PASSWORD, now=NOW)
    yield opened
    opened.dispose()


@pytest.fixture(scope="module")
def app(database: Database) -> Iterator[App]:
    Runtime._instance = None  # Streamlit allows one runtime a process; each module brings its own
    made = make_app(database, Settings())
    with TestClient(made):
        yield made
    Runtime._instance = None


@dataclass
class Visitor:
    """A browser: keeps cookies, follows no redirect by itself."""

    http: TestClient

    def sign_in(
        self, username: str, password: str = PASSWORD, *, cookie: str = "annotator_session", **extra: str
    ) -> str:
        """The session's token."""
        answer = self.http.post("/login", data={"username": username, "password": password, **extra})
        assert answer.status_code == 303, answer.text
        return self.http.cookies[cookie]


@pytest.fixture
def visitor(app: App) -> Visitor:
    return Visitor(TestClient(app, follow_redirects=False, headers={"Referer": "http://testserver/"}))
