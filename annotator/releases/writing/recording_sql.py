"""Record the rows of a large release in parts, each in a short transaction, for SQLite, where one transaction writes at a time.

A million qrels take some ten seconds, and in one transaction nobody could label meanwhile. So `release_recording` reserves the key
of the release, the rows are stored under this key, and the row in `release` comes last: every reader starts from that row, so
nobody reads the others before. Rows of a killed publish are removed, also in parts; the database allows that only until their
release is published (migration 0024). On PostgreSQL writers do not wait for each other: one transaction records all.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.errors import ConflictError
from annotator.domain.messages import say
from annotator.releases.releases_sql import add_rows_of_release
from annotator.releases.writing.write import WrittenRelease
from annotator.storage.database import Database
from annotator.storage.long_writes import LongWrite
from annotator.storage.sql import execute_sql, prepare_sql
from annotator.storage.tables.central import DatasetRow
from annotator.storage.tables.releases import ReleaseQrelRow, ReleaseQueryRow, ReleaseRecordingRow, ReleaseRow

PART = 2_000
"""Rows of one transaction, and the most that a release may have to be recorded at once: some 0.02 s."""
_REMOVALS = tuple(
    prepare_sql(
        f"DELETE FROM {table} WHERE release_pk = :release_pk AND position < :part + "
        f"(SELECT min(position) FROM {table} WHERE release_pk = :release_pk)"
    )
    for table in ("release_qrel", "release_query")
)


class UnfinishedRecording(NamedTuple):
    """A release that was or is being recorded in parts."""

    release_pk: int
    dataset: str
    started_at: datetime


def is_recorded_in_parts(database: Database, written: WrittenRelease) -> bool:
    """Return whether the release is too large to hold up everybody who writes while it is recorded."""
    return database.is_sqlite and max(written.qrels.rows, written.queries.rows) > PART


def begin_recording(session: Session, dataset_pk: int, *, now: datetime) -> int:
    """Reserve the key of a new release and return it."""
    published = session.scalar(select(func.max(col(ReleaseRow.pk)))) or 0
    reserved = session.scalar(select(func.max(col(ReleaseRecordingRow.release_pk)))) or 0
    release_pk = max(published, reserved) + 1
    values = {"release_pk": release_pk, "dataset_pk": dataset_pk, "started_at": now}
    session.add(ReleaseRecordingRow.model_validate(values))
    session.flush()
    return release_pk


def record_parts(database: Database, release_pk: int, written: WrittenRelease) -> Iterator[int]:
    """Record the release's queries and qrels, each part in a transaction of its own, and yield the rows of each part.

    Raises ConflictError if somebody has removed the recording meanwhile.
    """
    recording = LongWrite(database, before_parents=True)
    for row_class, spool in ((ReleaseQueryRow, written.queries), (ReleaseQrelRow, written.qrels)):
        for rows in spool.chunks():
            for start in range(0, len(rows), PART):
                part = rows[start : start + PART]
                with recording.part() as session:
                    _require_recording(session, release_pk)
                    add_rows_of_release(session, row_class, release_pk, part)
                yield len(part)


def end_recording(session: Session, release: ReleaseRow, release_pk: int) -> None:
    """Publish what was recorded: from this transaction on everybody reads it."""
    _require_recording(session, release_pk)
    session.execute(delete(ReleaseRecordingRow).where(col(ReleaseRecordingRow.release_pk) == release_pk))
    release.pk = release_pk
    session.add(release)
    session.flush()


def remove_recording(database: Database, release_pk: int) -> None:
    """Remove a recording that will never be published, in parts. Does nothing if the release is published after all."""
    removing = LongWrite(database, before_parents=True)
    for removal in _REMOVALS:
        removed = 1
        while removed:
            with removing.part() as session:
                if not _is_recording(session, release_pk):
                    return
                removed = execute_sql(session, removal, {"release_pk": release_pk, "part": PART})
    with database.write() as session:
        session.execute(delete(ReleaseRecordingRow).where(col(ReleaseRecordingRow.release_pk) == release_pk))


def list_recordings(session: Session) -> list[UnfinishedRecording]:
    """Return the recordings that have begun and neither ended nor been removed."""
    rows = session.execute(
        select(
            col(ReleaseRecordingRow.release_pk), col(DatasetRow.name), col(ReleaseRecordingRow.started_at)
        ).join(DatasetRow, col(DatasetRow.pk) == col(ReleaseRecordingRow.dataset_pk))
    )
    return [UnfinishedRecording(*row) for row in rows]


def _is_recording(session: Session, release_pk: int) -> bool:
    return session.get(ReleaseRecordingRow, release_pk) is not None


def _require_recording(session: Session, release_pk: int) -> None:
    if not _is_recording(session, release_pk):
        raise ConflictError(
            say("Publishing was interrupted by another process, and nothing was published. Publish again.")
        )
