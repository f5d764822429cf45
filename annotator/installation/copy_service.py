"""Copy a whole installation's database into an empty one of the same or the other kind: SQLite to PostgreSQL and back.

Every table is copied in one transaction, read back, and compared by a hash of its content. For the operator.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from sqlalchemy import Table
from sqlalchemy.orm import Session

from annotator.domain.errors import StateError
from annotator.installation.records import CopiedTable, CopyReport, ReportProgress
from annotator.installation.service import open_place
from annotator.installation.tables_sql import (
    Row,
    TableHash,
    TableWriter,
    analyze,
    count_rows,
    find_content,
    is_recording_release,
    list_tables,
    read_rows,
    require_empty,
)
from annotator.storage.database import Database, check_sqlite_file, find_sqlite_file
from annotator.storage.schema import upgrade_within


def copy_installation(source: Database, target: Database, progress: ReportProgress) -> CopyReport:
    """Copy every row of the source, from one moment, into the empty target: everything or nothing.

    The source's schema must be up to date. Raises StateError if the target is not empty, cannot hold a value,
    or has different content when read back.
    """
    if source.url == target.url:
        raise StateError("expected another database than the one that is copied")
    names = [table.name for table in list_tables()]
    with ExitStack() as stack:
        opened = stack.enter_context(_open_target(target))
        with source.read() as reading:
            if is_recording_release(reading, names):
                raise StateError(
                    "a release is being published; copy when it is done. If its publishing was killed, this removes what "
                    "is left of it: annotator release list DATASET"
                )
            before = count_rows(reading, names)
            with opened.write() as writing:
                copied = _copy_tables(reading, writing, sum(before.values()), target.shown_url, progress)
        with opened.write() as writing:
            analyze(writing)
    with source.read() as reading:
        after = count_rows(reading, names)
    changed = tuple(name for name in names if after[name] != before[name])
    return CopyReport(source.shown_url, target.shown_url, copied, changed)


@contextmanager
def _open_target(target: Database) -> Iterator[Database]:
    """Yield the database to write into. A SQLite file has a temporary name until the end."""
    path = find_sqlite_file(target.url) if target.is_sqlite else None
    if path is None:
        if target.is_sqlite:
            raise StateError(f"expected the name of a file, found {target.shown_url}")
        yield target
        return
    content = find_content(target.url)
    if content is not None:
        raise StateError(
            f"expected no database at {target.shown_url}, found one with {content}. Nothing was changed"
        )
    check_sqlite_file(target.url)
    with open_place(target.url, path) as partial:
        opened = Database(target.url.set(database=str(partial), query={}))
        try:
            yield opened
        finally:
            opened.dispose()


def _copy_tables(
    reading: Session, writing: Session, rows: int, shown_url: str, progress: ReportProgress
) -> tuple[CopiedTable, ...]:
    """Copy and compare every table. Returns their row counts and hashes."""
    require_empty(writing, shown_url)
    upgrade_within(writing, shown_url)
    writer = TableWriter(writing)
    writer.drop_indexes()
    hashes: dict[str, TableHash] = {}
    done = 0
    for table in list_tables():
        hashes[table.name] = TableHash()
        writer.write(table, _hash_rows(reading, table, hashes[table.name]))
        done += hashes[table.name].rows
        progress("copied", done, rows)
    writer.rebuild_indexes()
    writer.set_sequences()
    copied, done = [], 0
    for table in list_tables():
        again, first = TableHash(), hashes[table.name]
        for _ in _hash_rows(writing, table, again):
            pass
        if (again.rows, again.hexdigest()) != (first.rows, first.hexdigest()):
            raise StateError(
                f"{table.name}: {first.rows:,} rows were read, and {again.rows:,} that are not the same were stored. Nothing was copied"
            )
        copied.append(CopiedTable(table.name, again.rows, again.hexdigest()))
        done += again.rows
        progress("compared", done, rows)
    return tuple(copied)


def _hash_rows(session: Session, table: Table, hashed: TableHash) -> Iterator[list[Row]]:
    for rows in read_rows(session, table):
        hashed.add(rows)
        yield rows
