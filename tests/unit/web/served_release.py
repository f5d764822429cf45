"""A published release behind the gate, and browsers of people who may or may not ask for it."""

import shutil
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from annotator.domain.people import OPERATOR
from annotator.people.service import add_person
from annotator.releases.files_service import list_releases
from annotator.releases.gates_service import check_release
from annotator.releases.records import Release
from annotator.releases.service import publish_release
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from annotator.web import auth
from annotator.web.releases import downloads
from annotator.web.releases.downloads import list_address
from annotator.web.server.gate import RequestGate
from annotator.web.server.refusals import EXCEPTION_HANDLERS
from tests.databases import MadeWorld
from tests.integration.judged_world import NOW, JudgedWorld

PASSWORD = "correct horse 電池"
NAME = "검색-データ"
PEOPLE = (
    ("lea", "lead", NAME),
    ("hana", "annotator", NAME),
    ("other", "lead", "else"),
    ("ada", "admin", None),
)


@dataclass
class Served:
    """A published release, and who may ask for it."""

    world: JudgedWorld
    exports: Path
    release: Release
    door: Starlette

    def visit(self, username: str | None = "lea") -> TestClient:
        browser = TestClient(
            self.door,
            follow_redirects=False,
            raise_server_exceptions=False,
            headers={"Referer": "http://testserver/"},
        )
        if username:
            assert (
                browser.post("/login", data={"username": username, "password": PASSWORD}).status_code == 303
            )
        return browser

    def address(self, file: str | None = None) -> str:
        return list_address(NAME, "1.0.0", file)


def publish(world: JudgedWorld, version: str, exports: Path) -> Release:
    lead = world.person(f"lead of {version}", "lead")
    gates = check_release(world.database, OPERATOR, world.name).gates  # a lead sees those of judged pairs
    reasons = {gate.name: "まだ <b>半分</b> 🙂" for gate in gates if not gate.met}
    publish_release(
        world.database, lead, world.name, version, exports_dir=exports, now=NOW + timedelta(days=1),
        note="第一版", overrides=reasons,
    )  # fmt: skip
    return list_releases(world.database, lead, world.name, exports_dir=exports)[-1]


@pytest.fixture(scope="session")
def published_once(tmp_path_factory: pytest.TempPathFactory) -> MadeWorld:
    """The dataset NAME with its release 1.0.0 in the folder `exports`, another dataset, and PEOPLE."""
    folder = tmp_path_factory.mktemp("served")
    database = Database(f"sqlite:///{folder / 'annotator.db'}")
    upgrade_schema(database)
    world = JudgedWorld(database, name=NAME)
    JudgedWorld(database, name="else")
    people = [world.person("一"), world.person("二")]
    world.query("Q1", "ハンドラキュー 🔎")
    world.pair("Q1", "文書/1", title="題")
    for person in people:
        world.judge(person, "Q1", "文書/1", 3, note="良い")
    for username, role, dataset in PEOPLE:
        add_person(database, OPERATOR, username, role=role, dataset=dataset, password=PASSWORD, now=NOW)
    publish(world, "1.0.0", folder / "exports")
    database.dispose()
    return MadeWorld(world, database, folder)


@pytest.fixture
def served(published_once: MadeWorld, tmp_path: Path) -> Iterator[Served]:
    """A copy of it, with its files, behind the gate."""
    shutil.copytree(published_once.folder, tmp_path, dirs_exist_ok=True)
    database, exports = Database(f"sqlite:///{tmp_path / 'annotator.db'}"), tmp_path / "exports"
    world = deepcopy(published_once.world, {id(published_once.database): database})
    (release,) = list_releases(database, OPERATOR, NAME, exports_dir=exports)
    settings = Settings(exports_dir=exports)
    door = Starlette(
        routes=[*auth.routes(database, settings), *downloads.routes(database, settings)],
        middleware=[Middleware(RequestGate, database=database, settings=settings)],
        exception_handlers=EXCEPTION_HANDLERS,
    )
    yield Served(world, exports, release, door)
    database.dispose()
