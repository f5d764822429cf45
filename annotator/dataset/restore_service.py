"""Read a dataset back from the zip that `export_service.py` writes: all of it, or nothing.

Every file is compared with its checksum first. Rows get new numbers, above those in use; people are matched by username, and
somebody unknown becomes a person without a sign-in. A dataset of the same name is never touched: choose another name. For admins.
"""

import errno
import hashlib
import json
import uuid
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from sqlalchemy import Table, func, insert, select, text
from sqlalchemy.exc import DataError, IntegrityError, StatementError
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.dataset.export_service import FORMAT, FORMAT_VERSION, MANIFEST
from annotator.dataset.export_sql import (
    LISTED,
    PERSON,
    find_highest,
    find_reference,
    has_number,
    list_columns,
    list_tables,
)
from annotator.dataset.service import Dataset, check_dataset_name, require_free_name, show_dataset
from annotator.domain.errors import BadInput, FormatError, StateError
from annotator.domain.people import Actor
from annotator.people.roles_service import require_admin
from annotator.storage.database import Database
from annotator.storage.logs.audit_log import AuditEvent, add_events
from annotator.storage.pairs.pool import pair_key
from annotator.storage.tables.central import PersonRow
from annotator.storage.tables.columns import UtcDateTime

WHOLE = "a whole zip made by annotator dataset export"
MOST_OF_A_LINE = 64 * 1_024 * 1_024  # bytes
MOST_OF_A_MANIFEST = 1_000_000  # bytes
_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class _File:
    """A table's file in the zip. `first`, `last`: the numbers of its first and last row; None without rows or numbers."""

    table: Table
    name: str
    rows: int
    first: int | None
    last: int | None


def restore_dataset(
    database: Database, actor: Actor, path: Path, *, name: str | None = None, now: datetime
) -> Dataset:
    """Restore a dataset under its own name, or another one. For admins of every dataset.

    Raises BadInput for a file that is not whole, StateError if another version of the program wrote it or its rows do not fit
    together, ConflictError if the name is taken. On PostgreSQL other writers wait until it is done.
    """
    try:
        with ZipFile(path) as archive:
            manifest = _read_manifest(archive, path)
            files = [_check_file(archive, path, table, manifest) for table in list_tables()]
            new_name = name or str(manifest["dataset"])
            check_dataset_name(new_name)
            with database.write() as session:
                require_admin(session, actor)
                _require_same_schema(session, manifest)
                require_free_name(session, new_name)
                restorer = _Restorer(
                    session, archive, path, new_name, renamed=new_name != manifest["dataset"]
                )
                dataset_pk = restorer.restore(files)
                after = {"from": manifest["dataset"], "exported_at": manifest["exported_at"]}
                add_events(
                    session, [AuditEvent("restored dataset", dataset_pk, actor.person_id, now, after=after)]
                )
    except OSError as error:
        if error.errno != errno.EINVAL:  # a damaged zip names a place before the file's beginning
            raise
        raise _refuse(path, None, WHOLE, str(error)) from None
    except (BadZipFile, EOFError, NotImplementedError, RuntimeError, UnicodeDecodeError, zlib.error) as error:
        raise _refuse(path, None, WHOLE, str(error)) from None
    except (IntegrityError, DataError, StatementError) as error:
        detail = str(error.orig or error).splitlines()[0]
        raise StateError(f"{path}: its rows do not fit together, so nothing is restored ({detail})") from None
    return show_dataset(database, actor, new_name)[0]


def _refuse(path: Path, line: int | None, expected: str, found: str, file: str = "") -> BadInput:
    return BadInput([FormatError(f"{path}:{file}" if file else str(path), line, expected, found)])


def _read_manifest(archive: ZipFile, path: Path) -> dict[str, Any]:
    if MANIFEST not in archive.namelist() or archive.getinfo(MANIFEST).file_size > MOST_OF_A_MANIFEST:
        raise _refuse(path, None, f"a zip of annotator dataset export with {MANIFEST}", "another zip")
    try:
        manifest = json.loads(archive.read(MANIFEST))
        listed = {entry["file"]: (entry["rows"], entry["sha256"]) for entry in manifest["files"]}
        kind = (manifest["format"], manifest["format_version"])
        texts = (manifest["dataset"], manifest["schema"], manifest["exported_at"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _refuse(path, None, "a manifest of annotator dataset export", "another", MANIFEST) from None
    if kind != (FORMAT, FORMAT_VERSION) or not all(isinstance(item, str) for item in texts):
        raise _refuse(
            path, None, f"{FORMAT}, version {FORMAT_VERSION}", f"{kind[0]}, version {kind[1]}", MANIFEST
        )
    return {**manifest, "listed": listed}


def _require_same_schema(session: Session, manifest: Mapping[str, Any]) -> None:
    schema = session.scalar(text("SELECT version_num FROM alembic_version"))
    if schema != manifest["schema"]:
        raise StateError(
            f"expected an export of schema {schema}, which this program has, found {manifest['schema']} (annotator "
            f"{manifest.get('program')}): restore it into a new database with that version, then open that database with this one"
        )


def _check_file(archive: ZipFile, path: Path, table: Table, manifest: Mapping[str, Any]) -> _File:
    """Compare a file with its checksum and its number of rows in the manifest."""
    name = f"{table.name}.jsonl"
    if name not in manifest["listed"] or name not in archive.namelist():
        raise _refuse(path, None, f"the file {name}", "none")
    digest, rows, first, last = hashlib.sha256(), 0, b"", b""
    for line in _read_lines(archive, path, name):
        digest.update(line)
        rows, first, last = rows + 1, first or line, line
    wanted = manifest["listed"][name]
    if wanted != (rows, digest.hexdigest()):
        raise _refuse(
            path,
            None,
            f"{wanted[0]} rows with the checksum {wanted[1]}",
            f"{rows} rows, {digest.hexdigest()}",
            name,
        )
    if not rows or not has_number(table):
        return _File(table, name, rows, None, None)
    numbers = [_parse(line, path, name, number)["pk"] for line, number in ((first, 1), (last, rows))]
    return _File(table, name, rows, *numbers)


def _read_lines(archive: ZipFile, path: Path, name: str) -> Iterator[bytes]:
    with archive.open(name) as file:
        number = 0
        while line := file.readline(MOST_OF_A_LINE + 1):
            number += 1
            if len(line) > MOST_OF_A_LINE or not line.endswith(b"\n"):
                raise _refuse(
                    path, number, f"a line of at most {MOST_OF_A_LINE:,} bytes", "a longer one", name
                )
            yield line


def _parse(line: bytes, path: Path, name: str, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict) or type(row.get("pk", 0)) is not int:
        raise _refuse(path, number, "a row as a JSON object", line[:80].decode(errors="replace"), name)
    return row


@cache
def _describe(table: Table) -> tuple[frozenset[str], frozenset[str], tuple[tuple[str, str], ...]]:
    """Return the names of the columns, of those that hold times, and those that name rows, each with its table."""
    columns = list_columns(table)
    references = [(column.name, find_reference(table, column)) for column in columns]
    return (
        frozenset(column.name for column in columns),
        frozenset(column.name for column in columns if isinstance(column.type, UtcDateTime)),
        tuple((name, reference) for name, reference in references if reference is not None),
    )


class _Restorer:
    """Writes the rows of all files, with new numbers, in an open write transaction."""

    def __init__(self, session: Session, archive: ZipFile, path: Path, name: str, *, renamed: bool) -> None:
        self.session, self.archive, self.path, self.name, self.renamed = session, archive, path, name, renamed
        self.shifts: dict[str, int] = {}  # by table: what is added to a number
        self.people: dict[int, int] = {}

    def restore(self, files: list[_File]) -> int:
        """Write everything; return the key of the dataset."""
        if self.session.get_bind().dialect.name == "postgresql":
            names = ", ".join(file.table.name for file in files)
            self.session.execute(text(f"LOCK TABLE {names} IN SHARE ROW EXCLUSIVE MODE"))
        for file in files:
            if file.first is not None and file.last is not None and file.table.name != PERSON:
                highest = find_highest(self.session, file.table)
                self.shifts[file.table.name] = highest + 1 - file.first
        for file in files:
            if file.table.name == PERSON:
                self._restore_people(file)
            else:
                self._restore_rows(file)
        self._set_sequences(files)
        dataset = next(file for file in files if file.table.name == "dataset")
        if dataset.rows != 1 or dataset.first is None:
            raise _refuse(self.path, None, "one dataset", f"{dataset.rows}", dataset.name)
        return dataset.first + self.shifts["dataset"]

    def _restore_people(self, file: _File) -> None:
        for number, line in enumerate(_read_lines(self.archive, self.path, file.name), start=1):
            row = self._read_row(file, line, number)
            same = func.lower(col(PersonRow.username)) == str(row["username"]).lower()
            pk = self.session.scalar(select(col(PersonRow.pk)).where(same).limit(1))
            if pk is None:
                person = PersonRow.model_validate(
                    {name: value for name, value in row.items() if name != "pk"}
                )
                self.session.add(person)
                self.session.flush()
                pk = person.pk
            self.people[row["pk"]] = int(pk or 0)

    def _restore_rows(self, file: _File) -> None:
        rows: list[dict[str, Any]] = []
        statement = insert(file.table)
        for number, line in enumerate(_read_lines(self.archive, self.path, file.name), start=1):
            row = self._read_row(file, line, number)
            try:
                rows.append(self._renumber(file.table, row))
            except (KeyError, TypeError, ValueError):
                shown = line[:80].decode(errors="replace")
                raise _refuse(
                    self.path, number, "a row whose references are in the export", shown, file.name
                ) from None
            if len(rows) == _AT_ONCE:
                self.session.execute(statement, rows)
                rows = []
        if rows:
            self.session.execute(statement, rows)

    def _read_row(self, file: _File, line: bytes, number: int) -> dict[str, Any]:
        row = _parse(line, self.path, file.name, number)
        columns, times, _ = _describe(file.table)
        if row.keys() != columns:
            raise _refuse(self.path, number, f"the columns {', '.join(columns)}", ", ".join(row), file.name)
        try:
            return {
                name: datetime.fromisoformat(value) if value and name in times else value
                for name, value in row.items()
            }
        except (ValueError, TypeError):
            raise _refuse(
                self.path, number, "times with a zone", line[:80].decode(errors="replace"), file.name
            ) from None

    def _renumber(self, table: Table, row: dict[str, Any]) -> dict[str, Any]:
        for name, reference in _describe(table)[2]:
            value = row[name]
            if value is not None:
                row[name] = self.people[value] if reference == PERSON else value + self.shifts[reference]
        for (table_name, column_name), reference in LISTED.items():
            if table_name == table.name and row[column_name]:
                row[column_name] = self._renumber_list(row[column_name], self.shifts.get(reference, 0))
        if table.name == "dataset":
            row["name"] = self.name
        elif self.renamed and (change := _NEW_NAMES.get(table.name)) is not None:
            column_name, rename = change
            row[column_name] = rename(self.name, row[column_name])
        return row

    @staticmethod
    def _renumber_list(value: Any, shift: int) -> Any:
        if isinstance(value, str):
            return " ".join(str(int(number) + shift) for number in value.split())
        return [number + shift for number in value]

    def _set_sequences(self, files: list[_File]) -> None:
        """Let PostgreSQL number further rows above the restored ones."""
        if self.session.get_bind().dialect.name != "postgresql":
            return
        for file in files:
            if file.first is not None:
                name = file.table.name
                self.session.execute(
                    text(
                        f"SELECT setval(pg_get_serial_sequence('{name}', 'pk'), (SELECT max(pk) FROM {name}))"
                    )
                )


def _rename_key(name: str, key: str) -> str:
    return pair_key(name, "", key)


def _rename_event(name: str, event_id: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{name}\0{event_id}"))


_NEW_NAMES: Mapping[str, tuple[str, Callable[[str, str], str]]] = {
    "pair": ("key", _rename_key),
    "judgment": ("event_id", _rename_event),
    "repeated_pair": ("key", _rename_key),
}  # what is unique in a database, so that a dataset can be restored beside the one that it was exported from
