"""What the program stores is readable by its owner only, also where the umask gives it to everybody."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from annotator.dataset.service import create_dataset
from annotator.domain.people import OPERATOR
from annotator.releases.service import publish_release
from annotator.settings import Settings
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema
from annotator.web.server.serve import warn_of_open_files
from tests.integration.release_world import EPOCH, WAIVED, ReleaseWorld


@pytest.fixture(autouse=True)
def _umask_for_everybody() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def find_mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def open_database(path: Path) -> Database:
    opened = Database(f"sqlite:///{path}")
    upgrade_schema(opened)
    create_dataset(opened, OPERATOR, "d", now=EPOCH)
    return opened


def test_a_new_database_and_what_stands_beside_it(tmp_path: Path) -> None:
    opened = open_database(tmp_path / "annotator.db")
    modes = {path.name: find_mode(path) for path in tmp_path.iterdir()}
    opened.dispose()
    assert modes == dict.fromkeys(("annotator.db", "annotator.db-wal", "annotator.db-shm"), 0o600)


def test_a_database_that_exists_keeps_its_rights(tmp_path: Path) -> None:
    (tmp_path / "annotator.db").touch(mode=0o640)
    open_database(tmp_path / "annotator.db").dispose()
    assert find_mode(tmp_path / "annotator.db") == 0o640


def test_a_release_and_the_folders_made_for_it(database: Database, tmp_path: Path) -> None:
    world, exports = ReleaseWorld(database), tmp_path / "new" / "exports"
    publish_release(
        database, world.lead, world.name, "1.0.0", exports_dir=exports, now=EPOCH, overrides=WAIVED
    )
    made = [tmp_path / "new", *(tmp_path / "new").rglob("*")]
    assert len(made) > 15
    assert {find_mode(path) for path in made if path.is_dir()} == {0o700}
    assert {find_mode(path) for path in made if path.is_file()} == {0o400}


def test_a_folder_of_exports_that_exists_keeps_its_rights(database: Database, tmp_path: Path) -> None:
    world, exports = ReleaseWorld(database), tmp_path / "exports"
    exports.mkdir(mode=0o755)
    publish_release(
        database, world.lead, world.name, "1.0.0", exports_dir=exports, now=EPOCH, overrides=WAIVED
    )
    assert find_mode(exports) == 0o755
    assert find_mode(exports / world.name) == 0o700


def test_what_others_can_read_already_is_named_once_in_the_log_and_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "annotator.db").touch(mode=0o644)
    (tmp_path / "exports" / "d").mkdir(mode=0o755, parents=True)
    opened = open_database(tmp_path / "annotator.db")
    with capture_logs() as logs:
        warn_of_open_files(opened, Settings(exports_dir=tmp_path / "exports"))
    opened.dispose()
    (entry,) = logs
    assert entry["log_level"] == "warning"
    assert [Path(path).name for path in entry["paths"]] == [
        "annotator.db", "annotator.db-wal", "annotator.db-shm", "exports",
    ]  # fmt: skip
    assert find_mode(tmp_path / "annotator.db") == 0o644


def test_nothing_is_said_where_nobody_else_can_read(database: Database, tmp_path: Path) -> None:
    fresh = open_database(tmp_path / "fresh.db")
    with capture_logs() as logs:
        warn_of_open_files(fresh, Settings(exports_dir=tmp_path / "nothing there yet"))
        if not database.is_sqlite:
            warn_of_open_files(database, Settings(exports_dir=tmp_path / "nothing there yet"))
    fresh.dispose()
    assert logs == []


def test_the_folder_of_a_checkout_that_holds_only_the_sample_is_not_named(tmp_path: Path) -> None:
    exports = tmp_path / "exports"
    (exports / "sample" / "demo").mkdir(parents=True)
    (exports / "README.md").touch()
    opened = open_database(tmp_path / "annotator.db")
    with capture_logs() as logs:
        warn_of_open_files(opened, Settings(exports_dir=exports))
        assert logs == []
        (exports / "sample2").mkdir()
        warn_of_open_files(opened, Settings(exports_dir=exports))
    opened.dispose()
    assert [entry["paths"] for entry in logs] == [[str(exports)]]
