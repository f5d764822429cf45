"""A publish that is killed, that meets another, or that finds the disk full: the whole release, or nothing of it."""

import errno
import os
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlmodel import SQLModel

from annotator.domain.errors import AnnotatorError, ConflictError, StateError
from annotator.overview.service import give_up_blind_pairs
from annotator.releases import service
from annotator.releases.files_service import list_releases, verify_release
from annotator.releases.records import Release
from annotator.releases.service import finish_publishing, publish_release
from annotator.releases.writing.write import write_release
from annotator.storage.tables.releases import PseudonymRow, ReleaseQrelRow, ReleaseQueryRow, ReleaseRow
from tests.browser.warm_server import start_process
from tests.databases import CopyWorld
from tests.integration.release_world import EPOCH, WAIVED, ReleaseWorld
from tests.integration.releases.killed_publish import publish_until_killed

RECORDS = (ReleaseRow, ReleaseQueryRow, ReleaseQrelRow, PseudonymRow)


@pytest.fixture
def world(copy_world: CopyWorld) -> ReleaseWorld:
    return copy_world(ReleaseWorld)


def publish(world: ReleaseWorld, folder: Path, version: str = "1.0.0", **more: Any) -> Release:
    more = {"overrides": WAIVED, "now": EPOCH, "actor": world.lead, **more}
    return publish_release(world.database, more.pop("actor"), world.name, version, exports_dir=folder, **more)


def releases(world: ReleaseWorld, folder: Path) -> list[tuple[str, str]]:
    listed = list_releases(world.database, world.lead, world.name, exports_dir=folder)
    return [(release.version, release.folder) for release in listed]


def listed(folder: Path) -> list[str]:
    """What stands in the dataset's folder, hidden folders included."""
    below = folder / "検索-법령"
    return sorted(path.name for path in below.iterdir()) if below.exists() else []


def visible(folder: Path) -> list[str]:
    return [name for name in listed(folder) if not name.startswith(".")]


def count_rows(world: ReleaseWorld) -> list[int]:
    """How many rows of releases there are, of every kind."""
    with world.database.read() as session:
        return [session.scalar(select(func.count()).select_from(row)) or 0 for row in RECORDS]


# --- killed at any moment

KILLED_AT = {  # function, before or after it is called, which call of it
    "while the first file is synced": ("os.fsync", "before", 1),
    "while the sixth file is synced": ("os.fsync", "before", 6),
    "while the last file is synced": ("os.fsync", "before", 17),
    "while files are written": ("os.write", "after", 3),
    "while the folder is synced": ("os.fsync", "before", 20),
    "before anything is recorded": ("annotator.releases.service.add_pseudonyms", "before", 1),
    "with the qrels in an open transaction": ("annotator.releases.service.add_release", "after", 1),
    "right after the commit": ("commit", "after", 1),
    "between commit and rename": ("os.rename", "before", 1),
    "after the rename": ("os.rename", "after", 1),
}
RECORDED = ("right after the commit", "between commit and rename", "after the rename")


def publish_and_die(world: ReleaseWorld, folder: Path, moment: str) -> None:
    """Publish in a process of its own, which kills itself at this moment. Nothing is left to record as seen before."""
    give_up_blind_pairs(world.database, world.lead, world.name, now=EPOCH)
    errors = folder.parent / f"{folder.name}-stderr.txt"
    process = start_process(
        publish_until_killed,
        world.url,
        str(folder),
        EPOCH.isoformat(),
        WAIVED,
        KILLED_AT[moment],
        str(errors),
    )
    process.join()
    assert process.exitcode == -9, errors.read_text(encoding="utf-8")


@pytest.mark.parametrize("moment", KILLED_AT)
def test_killed_at_any_moment_a_release_is_whole_or_not_there(
    world: ReleaseWorld, tmp_path: Path, moment: str
) -> None:
    publish_and_die(world, tmp_path, moment)
    assert visible(tmp_path) == (["1.0.0"] if moment == "after the rename" else [])
    assert bool(count_rows(world)[0]) == (moment in RECORDED)
    finished = finish_publishing(world.database, exports_dir=tmp_path, now=EPOCH)
    assert len(finished) == (moment in RECORDED and moment != "after the rename")
    if moment in RECORDED:
        assert releases(world, tmp_path) == [("1.0.0", "whole")]
        with pytest.raises(ConflictError):
            publish(world, tmp_path)
    else:
        assert (visible(tmp_path), releases(world, tmp_path)) == ([], [])
        assert count_rows(world) == [0, 0, 0, 0]
        publish(world, tmp_path)
    assert verify_release(tmp_path / world.name / "1.0.0").whole
    assert count_rows(world) == [1, 2, 5, 3]
    assert finish_publishing(world.database, exports_dir=tmp_path, now=EPOCH) == []


def test_what_a_killed_publish_left_behind_is_gone_after_the_next_one(
    world: ReleaseWorld, tmp_path: Path
) -> None:
    publish_and_die(world, tmp_path, "while files are written")
    (left,) = listed(tmp_path)
    assert left.endswith(".partial")
    publish(world, tmp_path)
    assert listed(tmp_path) == ["1.0.0"]


def test_a_recorded_release_whose_place_is_taken_keeps_its_files_until_the_place_is_free(
    world: ReleaseWorld, tmp_path: Path
) -> None:
    publish_and_die(world, tmp_path, "between commit and rename")
    target = tmp_path / world.name / "1.0.0"
    target.mkdir()
    (target / "メモ.txt").write_text("x", encoding="utf-8")
    for days in (0, 2):
        later = datetime.now(UTC) + timedelta(days=days)
        assert finish_publishing(world.database, exports_dir=tmp_path, now=later) == []
    assert releases(world, tmp_path) == [("1.0.0", "changed")]
    target.rename(tmp_path / "aside")
    assert finish_publishing(world.database, exports_dir=tmp_path, now=EPOCH) == [target]
    assert releases(world, tmp_path) == [("1.0.0", "whole")]
    assert verify_release(target).whole


def test_what_somebody_is_writing_is_not_removed(
    world: ReleaseWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, seen = write_release, []

    def write_while_others_begin(*args: Any, **options: Any) -> Any:
        made = write(*args, **options)
        finish_publishing(world.database, exports_dir=tmp_path, now=EPOCH + timedelta(days=2))
        seen.extend(listed(tmp_path))
        return made

    monkeypatch.setattr(service, "write_release", write_while_others_begin)
    assert publish(world, tmp_path).folder == "whole"
    (partial,) = seen
    assert partial.endswith(".partial")


# --- two leads at once


def test_of_two_leads_who_publish_a_version_in_the_same_moment_one_wins(
    world: ReleaseWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have written every file before either records it."""
    leads = [world.lead, world.person("其他リード", "lead")]
    both_wrote, write = threading.Barrier(2, timeout=60), write_release

    def write_and_wait(*args: Any, **options: Any) -> Any:
        made = write(*args, **options)
        both_wrote.wait()
        return made

    monkeypatch.setattr(service, "write_release", write_and_wait)
    made: list[Release] = []
    refused: list[Exception] = []

    def run(number: int) -> None:
        try:
            made.append(publish(world, tmp_path, actor=leads[number], note=f"by {number}"))
        except AnnotatorError as error:
            refused.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1, refused
    assert [type(error) for error in refused] == [ConflictError]
    assert "Another lead has just published version 1.0.0" in str(refused[0])
    assert listed(tmp_path) == ["1.0.0"]
    assert releases(world, tmp_path) == [("1.0.0", "whole")]
    assert verify_release(made[0].path).whole
    assert count_rows(world)[:3] == [1, 2, 5]


# --- a full disk


@pytest.mark.parametrize("writes", [1, 4, 12, 17])
def test_a_disk_that_is_full_at_any_write_leaves_nothing(
    world: ReleaseWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    write, left = os.write, [writes]

    def fill(descriptor: int, data: bytes) -> int:
        left[0] -= 1
        if left[0] <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data)

    monkeypatch.setattr("os.write", fill)
    with pytest.raises(StateError, match="No space left on device"):
        publish(world, tmp_path)
    monkeypatch.undo()
    assert (listed(tmp_path), count_rows(world)) == ([], [0, 0, 0, 0])
    assert publish(world, tmp_path).folder == "whole"


def test_a_disk_without_room_for_the_rows_kept_aside_leaves_nothing(
    world: ReleaseWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: Any, **options: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    with pytest.raises(StateError, match="No space left on device"):
        publish(world, tmp_path)
    assert (listed(tmp_path), count_rows(world)) == ([], [0, 0, 0, 0])


def test_a_folder_that_cannot_be_renamed_keeps_what_is_recorded(
    world: ReleaseWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.rename", refuse)
    with pytest.raises(StateError, match="then open the page Releases"):
        publish(world, tmp_path)
    monkeypatch.undo()
    assert finish_publishing(world.database, exports_dir=tmp_path, now=EPOCH) == [
        tmp_path / world.name / "1.0.0"
    ]
    assert releases(world, tmp_path) == [("1.0.0", "whole")]


def test_rows_of_every_kind_are_recorded_with_what_they_rest_on(world: ReleaseWorld, tmp_path: Path) -> None:
    publish(world, tmp_path)
    assert {str(row.__tablename__) for row in RECORDS} <= set(SQLModel.metadata.tables)
    with world.database.read() as session:
        queries = session.scalars(select(ReleaseQueryRow)).all()
        qrels = session.scalars(select(ReleaseQrelRow)).all()
    assert sorted((row.position, row.query_id, row.text) for row in queries) == [
        (0, "Q1", "RESTful Webサービスの構成: yes #1"), (1, "Q2", '17조 "검색"\n'),
    ]  # fmt: skip
    assert {row.doc_id: len((row.judgments or "").split()) for row in qrels} == {
        "Q1/zero": 2, "Q1/two": 2, "Q1/three": 2, "Q1/one": 2, "e\u0301🎯": 1,
    }  # fmt: skip
    assert all((row.adjudication_pk, row.imported_qrel_pk) == (None, None) for row in qrels)
