"""A large release is recorded in parts: others write in between, readers see all of it or nothing, and a kill leaves nothing."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from annotator.dataset.export_service import find_highest
from annotator.domain.errors import ConflictError
from annotator.releases import releases_sql, service
from annotator.releases.files_service import list_releases, verify_release
from annotator.releases.service import finish_publishing, publish_release
from annotator.releases.writing import judged_sql
from annotator.releases.writing.judged_sql import begin_recording, list_recordings
from annotator.releases.writing.write import write_release
from annotator.storage.database import Database
from annotator.storage.long_writes import LongWrite
from annotator.storage.tables.releases import ReleaseQrelRow, ReleaseQueryRow, ReleaseRecordingRow, ReleaseRow
from tests.browser.warm_server import start_process
from tests.databases import CopyWorld
from tests.integration.release_world import EPOCH, WAIVED, ReleaseWorld
from tests.integration.releases.killed_publish import publish_part_by_part_until_killed

RECORDS = (ReleaseRow, ReleaseRecordingRow, ReleaseQueryRow, ReleaseQrelRow)
ROWS = 7  # two queries and five qrels, each a part of its own here


@pytest.fixture
def world(copy_world: CopyWorld, monkeypatch: pytest.MonkeyPatch) -> ReleaseWorld:
    monkeypatch.setattr(judged_sql, "PART", 1)
    return copy_world(ReleaseWorld)


def publish(world: ReleaseWorld, folder: Path, version: str = "1.0.0") -> Path:
    release = publish_release(
        world.database, world.lead, world.name, version, exports_dir=folder, overrides=WAIVED, now=EPOCH
    )
    return release.path


def count_rows(world: ReleaseWorld) -> list[int]:
    with world.database.read() as session:
        return [session.scalar(select(func.count()).select_from(row)) or 0 for row in RECORDS]


def list_versions(world: ReleaseWorld, folder: Path) -> list[str]:
    return [
        release.version
        for release in list_releases(world.database, world.lead, world.name, exports_dir=folder)
    ]


def meanwhile(world: ReleaseWorld, monkeypatch: pytest.MonkeyPatch, act: Callable[[Database], None]) -> None:
    """Do something with a connection of its own, which waits for nobody, after each part that is recorded.

    On PostgreSQL the transaction of the whole release is still open then.
    """
    other = Database(world.url, patience=0.05)
    add = releases_sql.add_rows_of_release

    if world.database.is_sqlite:
        monkeypatch.setattr(LongWrite, "let_others_write", lambda _: act(other))
        return

    def add_and_act(*arguments: Any) -> None:
        add(*arguments)
        act(other)

    monkeypatch.setattr("annotator.releases.releases_sql.add_rows_of_release", add_and_act)


def label(database: Database, world: ReleaseWorld, stored: list[int]) -> None:
    """Store a judgment of the pair that nobody has judged, as a submission does."""
    with database.write() as session:
        session.execute(text("UPDATE pair SET judged = judged + 1 WHERE lacking > 0"))
    stored.append(1)


def test_somebody_labels_between_any_two_parts_and_sees_no_release_before_all_of_it(
    world: ReleaseWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored: list[int] = []
    seen: list[list[str]] = []

    def label_and_look(database: Database) -> None:
        label(database, world, stored)
        seen.append(list_versions(world, tmp_path))

    meanwhile(world, monkeypatch, label_and_look)
    path = publish(world, tmp_path)
    parts = ROWS if world.database.is_sqlite else 2  # PostgreSQL: all queries, all qrels
    assert len(stored) == parts
    assert seen == [[]] * parts
    assert list_versions(world, tmp_path) == ["1.0.0"]
    assert count_rows(world) == [1, 0, 2, 5]
    assert verify_release(path).whole


def test_what_is_recorded_in_parts_is_what_is_recorded_at_once(
    world: ReleaseWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(world, tmp_path)
    monkeypatch.setattr(judged_sql, "PART", 1_000)
    publish(world, tmp_path, "1.0.1")
    with world.database.read() as session:
        columns = "position, query_id, doc_id, grade, origin, judgments, adjudication_pk, imported_qrel_pk"
        releases = [
            session.execute(
                text(f"SELECT {columns} FROM release_qrel WHERE release_pk = {pk} ORDER BY position")
            ).all()
            for pk in session.scalars(select(col(ReleaseRow.pk)).order_by(col(ReleaseRow.pk)))
        ]
    assert len(releases[0]) == 5
    assert releases[0] == releases[1]


KILLED_AT = {
    "after the first part": ("annotator.releases.writing.judged_sql.add_rows_of_release", "after", 1),
    "in the middle": ("annotator.releases.writing.judged_sql._require_recording", "before", 5),
    "before it is published": ("annotator.releases.service.end_recording", "before", 1),
    "while what was recorded is removed": (
        "annotator.releases.writing.judged_sql.execute_sql",
        "after",
        2,
    ),
}


@pytest.mark.parametrize("moment", KILLED_AT)
def test_killed_between_two_parts_nothing_of_the_release_is_left(
    world: ReleaseWorld, tmp_path: Path, moment: str
) -> None:
    errors = tmp_path / "stderr.txt"
    folder = tmp_path / "exports"
    process = start_process(
        publish_part_by_part_until_killed,
        world.url, str(folder), EPOCH.isoformat(), WAIVED, KILLED_AT[moment], str(errors),
        moment == "while what was recorded is removed",
    )  # fmt: skip
    process.join()
    if not world.database.is_sqlite:  # one transaction, which knows no parts
        assert count_rows(world)[1] == 0
        return
    assert process.exitcode == -9, errors.read_text(encoding="utf-8")
    assert list_versions(world, folder) == []
    assert count_rows(world)[:2] == [0, 1]
    finish_publishing(world.database, exports_dir=folder, now=EPOCH)
    assert count_rows(world) == [0, 0, 0, 0]
    path = publish(world, folder)
    assert count_rows(world) == [1, 0, 2, 5]
    assert verify_release(path).whole


def test_nobody_removes_what_somebody_is_recording(
    world: ReleaseWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start_the_program(database: Database) -> None:
        finish_publishing(database, exports_dir=tmp_path, now=EPOCH)
        finish_publishing(database, exports_dir=tmp_path / "elsewhere", now=EPOCH)

    meanwhile(world, monkeypatch, start_the_program)
    publish(world, tmp_path)
    assert count_rows(world) == [1, 0, 2, 5]


def test_a_publish_whose_recording_was_removed_is_refused_and_leaves_nothing(
    world: ReleaseWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def remove(database: Database) -> None:
        with database.write() as session:
            session.execute(text("DELETE FROM release_qrel"))
            session.execute(text("DELETE FROM release_query"))
            session.execute(text("DELETE FROM release_recording"))

    if not world.database.is_sqlite:
        publish(world, tmp_path)
        return
    meanwhile(world, monkeypatch, remove)
    with pytest.raises(ConflictError, match="nothing was published"):
        publish(world, tmp_path)
    assert count_rows(world) == [0, 0, 0, 0]
    assert list_versions(world, tmp_path) == []


def test_of_two_who_record_at_once_the_first_publishes_and_the_other_leaves_nothing(
    world: ReleaseWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, others = write_release, iter(["1.0.0"])

    def write_while_another_publishes(*arguments: Any, **options: Any) -> Any:
        written = write(*arguments, **options)
        for version in others:
            publish(world, tmp_path, version)
        return written

    monkeypatch.setattr(service, "write_release", write_while_another_publishes)
    with pytest.raises(ConflictError, match=r"just published version 1\.0\.0"):
        publish(world, tmp_path, "1.0.1")
    assert list_versions(world, tmp_path) == ["1.0.0"]
    assert count_rows(world) == [1, 0, 2, 5]


def test_what_is_published_cannot_be_removed_and_a_restore_takes_no_reserved_key(
    world: ReleaseWorld, tmp_path: Path
) -> None:
    publish(world, tmp_path)
    for table in ("release_qrel", "release_query"):
        with pytest.raises(IntegrityError, match="append-only"), world.database.write() as session:
            session.execute(text(f"DELETE FROM {table}"))
    with world.database.write() as session:
        reserved = begin_recording(session, 1, now=EPOCH)
        assert find_highest(session, ReleaseRow.__table__) == reserved  # type: ignore[attr-defined]
        assert begin_recording(session, 1, now=EPOCH) == reserved + 1
        assert [recording.release_pk for recording in list_recordings(session)] == [reserved, reserved + 1]
    finish_publishing(world.database, exports_dir=tmp_path / "elsewhere", now=EPOCH + timedelta(days=2))
    assert count_rows(world) == [1, 0, 2, 5]
