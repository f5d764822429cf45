"""A server on a read-only file system, as in the container and under systemd: it writes where it is told to, and nowhere else."""

import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotator.storage.database import Database
from tests.browser.conftest import DATASET, Server, SignIn, go, wait_until_quiet
from tests.browser.panel_world import fill_pool, open_panel, press, pressed, stored, wait_saved

WRITABLE = ("temporary", "data", "work/server.log")
REFUSED = "a write was refused: "


def forbid_other_writes() -> None:
    """Let every attempt to write elsewhere fail in this process as it would on a read-only file system, and print it."""
    top = Path.cwd().parent
    allowed = (*(str(top / name) for name in WRITABLE), "/dev/", "/proc/")
    sys.dont_write_bytecode = True  # as the image and the unit of systemd set it
    tempfile.tempdir = None  # what the warm process has found out

    def check(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _mode, flags = arguments
            writes = bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        elif event in ("os.mkdir", "os.rename"):
            path, writes = arguments[0], True
        else:
            return
        if not writes or isinstance(path, int) or not path:
            return
        full = Path(os.fsdecode(path)).absolute()
        if not str(full).startswith(allowed):
            print(f"{REFUSED}{event} {full}", file=sys.stderr)
            raise OSError(errno.EROFS, "Read-only file system", str(full))

    sys.addaudithook(check)


@pytest.fixture
def database(prepared: Path, tmp_path: Path) -> Iterator[Database]:
    for name in ("work", "home", "temporary", "data"):
        (tmp_path / name).mkdir()
    opened = Database(f"sqlite:///{shutil.copy(prepared, tmp_path / 'data' / 'annotator.db')}")
    yield opened
    opened.dispose()


@pytest.fixture
def server(database: Database, tmp_path: Path, port: int) -> Iterator[Server]:
    running = Server(
        database.url.render_as_string(),
        tmp_path / "work",
        port,
        environment={
            "HOME": str(tmp_path / "home"),
            "TMPDIR": str(tmp_path / "temporary"),
            "ANNOTATOR_EXPORTS_DIR": str(tmp_path / "data" / "exports"),
            "ANNOTATOR_FETCHED_RUNS_DIR": str(tmp_path / "data" / "fetched-runs"),
        },
        first=forbid_other_writes,
    )
    running.start()
    yield running
    running.kill()


def test_a_server_writes_to_its_data_and_temporary_files_only(
    server: Server, database: Database, page: Page, sign_in: SignIn, tmp_path: Path
) -> None:
    fill_pool(database)
    sign_in(page, "hanako")
    open_panel(page)
    press(page, "2312")
    wait_saved(page)
    assert stored(database) == pressed(page)
    queries = tmp_path / "queries.csv"
    queries.write_text("id,text\nN1,ログの出力先\nN2,토지거래허가\n", encoding="utf-8")
    page.context.clear_cookies()
    sign_in(page, "lea", to=f"/import?dataset={DATASET}")
    page.locator("input[type=file]").set_input_files(queries)
    page.get_by_role("button", name="Import 2 records").click()
    expect(page.get_by_text("queries.csv is imported: 2 new")).to_be_visible()
    for address in ("overview", "agreement", "disagreements", "pool", "releases"):
        go(page, f"/{address}?dataset={DATASET}")
        expect(page.get_by_role("heading", level=1, name=address.capitalize())).to_be_visible()
        wait_until_quiet(page)
    server.stop()
    assert REFUSED not in server.log
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["server.log"]
    assert list((tmp_path / "home").iterdir()) == []
    assert list((tmp_path / "temporary").iterdir()) == []
