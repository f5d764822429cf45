"""Read a dataset back from the zip that `export_service.py` writes: all of it, or nothing.

The file may be anybody's work. So every file is compared with its checksum and every row is checked (`exported_rows_service.py`) before
anything is stored. Rows get new numbers, above those in use, and name only rows of the same file: no number in the file reaches a row
that was there before. People are matched by username; somebody unknown becomes a person without a sign-in. Roles are given on
request only, on this dataset only. A dataset of the same name is never touched: choose another name. For admins.
"""

import errno
import hashlib
import secrets
import stat
import uuid
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

from sqlalchemy import Table, insert, select, text
from sqlalchemy.exc import DataError, IntegrityError, StatementError
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.dataset.export_service import (
    CHECK_SECRET,
    FORMAT,
    FORMAT_VERSION,
    LISTED,
    MANIFEST,
    PERSON,
    find_highest,
    find_reference,
    has_number,
    list_columns,
    list_pair_pks,
    list_tables,
)
from annotator.dataset.exported_rows_service import CLOCKS_DIFFER, RowFault, check_row, decode_row, read_time
from annotator.dataset.service import check_dataset_name, make_secret, require_free_name, show_dataset
from annotator.dataset.settings import Dataset
from annotator.domain.audit import AuditAction
from annotator.domain.errors import BadInput, StateError, refuse
from annotator.domain.people import Actor
from annotator.domain.texts import fold
from annotator.domain.usernames import LONGEST_NAME, clean_name, find_username_fault
from annotator.people.roles_service import require_admin
from annotator.storage.database import Database
from annotator.storage.judgments.current_judgments import derive_current, derive_decided
from annotator.storage.judgments.missing_judgments import derive_work
from annotator.storage.logs.audit_log import AuditEvent, add_events
from annotator.storage.lookup import find_look_alikes, key_of
from annotator.storage.pairs.disagreements import note_all_due
from annotator.storage.tables.central import PersonRow
from annotator.storage.tables.columns import UtcDateTime

WHOLE = "a whole zip made by annotator dataset export"
MOST_OF_A_LINE = 64 * 1_024 * 1_024  # bytes
MOST_OF_A_MANIFEST = 1_000_000  # bytes
MOST_RATIO = 200
"""How many times as large as in the zip a file may be: JSON lines of this program compress to a fifth or a thirtieth."""
SMALL = 10_000_000  # bytes: a file up to this size may be larger than that
ROLES = "membership"
_AT_ONCE = 1_000
_BYTES_AT_ONCE = 8_000_000
"""Rows are stored as soon as so many wait, or so many bytes of them: a zip can hold a thousand rows of 64 MB each."""
_METHODS = (ZIP_STORED, ZIP_DEFLATED)
"""Others can ask for gigabytes of memory."""
_REFUSED_BY_DATABASE = (IntegrityError, DataError, StatementError)


@dataclass(frozen=True, slots=True)
class _File:
    """A table's file in the zip. `numbers`: those of its rows in ascending order; empty if they have none of their own."""

    table: Table
    name: str
    rows: int
    numbers: "array[int]"


def restore_dataset(
    database: Database,
    actor: Actor,
    path: Path,
    *,
    name: str | None = None,
    with_roles: bool = False,
    now: datetime,
) -> Dataset:
    """Restore a dataset under its own name, or another one. For admins of every dataset.

    `with_roles`: also give people the roles that they have in the file, on this dataset; each is noted in the audit log. Raises BadInput
    for a file that is not whole or a row that is not allowed, StateError if another version of the program wrote it, ConflictError if
    the name is taken. On PostgreSQL other writers wait until it is done.
    """
    try:
        with ZipFile(path) as archive:
            manifest = _read_manifest(archive, path, now)
            _check_members(archive, path, manifest)
            files = [_check_file(archive, path, table, manifest, now) for table in list_tables()]
            new_name = name or str(manifest["dataset"])
            check_dataset_name(new_name)
            with database.write() as session:
                require_admin(session, actor)
                _require_same_schema(session, manifest)
                require_free_name(session, new_name)
                renamed = new_name != manifest["dataset"]
                restorer = _Restorer(session, archive, path, new_name, renamed=renamed, with_roles=with_roles)
                dataset_pk = restorer.restore(files)
                after = {
                    "from": manifest["dataset"],
                    "exported_at": manifest["exported_at"],
                    "new_people": restorer.new_people,
                    "roles": len(restorer.roles),
                }
                add_events(
                    session, [AuditEvent("restored dataset", dataset_pk, actor.person_id, now, after=after)]
                )
                _note_roles(session, actor, dataset_pk, restorer.roles, now)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a damaged zip names a place before the file's beginning
            raise
        raise _refuse(path, None, WHOLE, str(error)) from None
    except (BadZipFile, EOFError, NotImplementedError, RuntimeError, UnicodeDecodeError, zlib.error) as error:
        raise _refuse(path, None, WHOLE, str(error)) from None
    return show_dataset(database, actor, new_name)[0]


def _note_roles(
    session: Session, actor: Actor, dataset_pk: int, roles: Sequence[tuple[int, str]], now: datetime
) -> None:
    from annotator.people.service import note_role  # brings everything about accounts

    for person_pk, role in roles:
        note_role(session, AuditAction.role_given, actor, person_pk, dataset_pk, role, at=now)


def _refuse(path: Path, line: int | None, expected: str, found: str, file: str = "") -> BadInput:
    return refuse(f"{path}:{file}" if file else str(path), line, expected, found)


def _read_manifest(archive: ZipFile, path: Path, now: datetime) -> dict[str, Any]:
    entry = archive.NameToInfo.get(MANIFEST)
    if entry is None or entry.file_size > MOST_OF_A_MANIFEST or entry.compress_type not in _METHODS:
        raise _refuse(path, None, f"a zip of annotator dataset export with {MANIFEST}", "another zip")
    try:
        manifest = decode_row(archive.read(MANIFEST))
        entries = [(entry["file"], (entry["rows"], entry["sha256"])) for entry in manifest["files"]]
        kind = (manifest["format"], manifest["format_version"])
        texts = (manifest["dataset"], manifest["schema"], manifest["exported_at"])
        listed = dict(entries)
        if len(listed) < len(entries) or read_time(manifest["exported_at"]) > now + CLOCKS_DIFFER:
            raise ValueError
    except (RowFault, ValueError, KeyError, TypeError):
        raise _refuse(path, None, "a manifest of annotator dataset export", "another", MANIFEST) from None
    if kind != (FORMAT, FORMAT_VERSION) or not all(isinstance(item, str) for item in texts):
        raise _refuse(
            path, None, f"{FORMAT}, version {FORMAT_VERSION}", f"{kind[0]}, version {kind[1]}", MANIFEST
        )
    return {**manifest, "listed": listed}


def _check_members(archive: ZipFile, path: Path, manifest: Mapping[str, Any]) -> None:
    """Check what the zip says of its members before any is unpacked."""
    names = {MANIFEST, *(f"{table.name}.jsonl" for table in list_tables())}
    seen: set[str] = set()
    for member in archive.infolist():
        name = member.filename
        if name in seen:
            raise _refuse(path, None, "each file once", name)
        seen.add(name)
        if name not in names or not {MANIFEST, *manifest["listed"]} >= {name}:
            raise _refuse(path, None, "only the files of an export", name)
        if member.compress_type not in _METHODS:
            raise _refuse(path, None, "files that are stored or deflated", "another compression", name)
        if stat.S_ISLNK(member.external_attr >> 16):
            raise _refuse(path, None, "a file", "a link", name)
        if member.file_size > SMALL + MOST_RATIO * member.compress_size:
            found = f"{member.compress_size:,} bytes that become {member.file_size:,}"
            raise _refuse(path, None, f"at most {MOST_RATIO} times as many bytes as in the zip", found, name)
    if further := sorted(set(manifest["listed"]) - names):
        raise _refuse(path, None, "only the files of an export", str(further[0]), MANIFEST)


def _require_same_schema(session: Session, manifest: Mapping[str, Any]) -> None:
    schema = session.scalar(text("SELECT version_num FROM alembic_version"))
    if schema != manifest["schema"]:
        raise StateError(
            f"expected an export of schema {schema}, which this program has, found {manifest['schema']} (annotator "
            f"{manifest.get('program')}): restore it into a new database with that version, then open that database with this one"
        )


def _check_file(
    archive: ZipFile, path: Path, table: Table, manifest: Mapping[str, Any], now: datetime
) -> _File:
    """Compare a file with its checksum and its number of rows in the manifest, and check each row by itself."""
    name = f"{table.name}.jsonl"
    if name not in manifest["listed"] or name not in archive.namelist():
        raise _refuse(path, None, f"the file {name}", "none")
    digest, rows, numbers = hashlib.sha256(), 0, array("q")
    fault: BadInput | None = None
    for rows, line in enumerate(_read_lines(archive, path, name), start=1):
        digest.update(line)
        try:
            if fault is None:
                row = decode_row(line)
                check_row(table, row, now=now)
                if has_number(table):
                    _add_number(numbers, row["pk"])
        except RowFault as error:  # a damaged file is called so first
            fault = _refuse(path, rows, error.expected, error.found, name)
    wanted = manifest["listed"][name]
    if wanted != (rows, digest.hexdigest()):
        raise _refuse(
            path,
            None,
            f"{wanted[0]} rows with the checksum {wanted[1]}",
            f"{rows} rows, {digest.hexdigest()}",
            name,
        )
    if fault is not None:
        raise fault
    return _File(table, name, rows, numbers)


def _add_number(numbers: "array[int]", number: int) -> None:
    if numbers and number <= numbers[-1]:
        raise RowFault("pk", f"higher than in the row before ({numbers[-1]})", number)
    numbers.append(number)


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


@cache
def _describe(table: Table) -> tuple[frozenset[str], tuple[tuple[str, str], ...]]:
    """Return the columns that hold times, and those that name rows, each with its table."""
    columns = list_columns(table)
    references = [(column.name, find_reference(table, column)) for column in columns]
    return (
        frozenset(column.name for column in columns if isinstance(column.type, UtcDateTime)),
        tuple((name, reference) for name, reference in references if reference is not None),
    )


class _Restorer:
    """Writes the rows of all files, with new numbers, in an open write transaction.

    `roles`: those that were given, as (person_pk, role).
    """

    def __init__(
        self, session: Session, archive: ZipFile, path: Path, name: str, *, renamed: bool, with_roles: bool
    ) -> None:
        self.session, self.archive, self.path, self.name = session, archive, path, name
        self.renamed, self.with_roles = renamed, with_roles
        self.numbers: dict[str, array[int]] = {}  # by table: in the file
        self.first: dict[str, int] = {}  # by table: the new number of the first row
        self.people: dict[int, int] = {}
        self.new_people = 0
        self.roles: list[tuple[int, str]] = []

    def restore(self, files: list[_File]) -> int:
        """Write everything; return the key of the dataset."""
        dataset = next(file for file in files if file.table.name == "dataset")
        if dataset.rows != 1:
            raise _refuse(self.path, None, "one dataset", f"{dataset.rows}", dataset.name)
        if self.session.get_bind().dialect.name == "postgresql":
            names = ", ".join(file.table.name for file in files)
            self.session.execute(text(f"LOCK TABLE {names} IN SHARE ROW EXCLUSIVE MODE"))
        for file in files:
            if has_number(file.table) and file.table.name != PERSON:
                self.numbers[file.table.name] = file.numbers
                self.first[file.table.name] = find_highest(self.session, file.table) + 1
        for file in files:
            if file.table.name == PERSON:
                self._restore_people(file)
            else:
                self._restore_rows(file)
        self._set_sequences(files)
        dataset_pk = self.first["dataset"]
        self._derive(dataset_pk)
        return dataset_pk

    def _derive(self, dataset_pk: int) -> None:
        """Compute from the rows what an export leaves out because it follows from them."""
        derive_decided(self.session, list_pair_pks(self.session, dataset_pk))
        derive_work(self.session, dataset_pk)
        derive_current(self.session, dataset_pk)
        note_all_due(self.session, dataset_pk)

    def _restore_people(self, file: _File) -> None:
        rows = [(number, row) for number, row, _ in self._read_rows(file)]
        there = dict(self.session.execute(select(col(PersonRow.username), col(PersonRow.pk))).all())
        folded = {fold(username): pk for username, pk in reversed(there.items())}
        known = {
            row["username"]: there.get(row["username"], folded.get(fold(row["username"]))) for _, row in rows
        }
        new = [username for username, pk in known.items() if pk is None]
        look_alikes = find_look_alikes(self.session, new) if new else {}
        taken: set[int | None] = set()
        for line_number, row in rows:
            username = row["username"]
            pk = known[username]
            if pk in taken:
                raise _refuse(self.path, line_number, "username to be there once", username, file.name)
            if pk is None:
                if fault := find_username_fault(username):
                    raise _refuse(self.path, line_number, f"another username ({fault})", username, file.name)
                if (other := look_alikes.get(username)) in there:
                    expected = f"a username that does not look like {other!r}, who is here"
                    raise _refuse(self.path, line_number, expected, username, file.name)
                row["name"] = clean_name(row["name"])[:LONGEST_NAME]
                person = PersonRow.model_validate(
                    {name: value for name, value in row.items() if name != "pk"}
                )
                self.session.add(person)
                self.session.flush()
                pk = known[username] = key_of(person.pk)
                self.new_people += 1
            self.people[row["pk"]] = pk
            taken.add(pk)

    def _restore_rows(self, file: _File) -> None:
        waiting: list[tuple[int, dict[str, Any]]] = []
        waiting_bytes = 0
        for line_number, row, length in self._read_rows(file):
            try:
                new_row = self._renumber(file.table, row)
            except RowFault as fault:
                raise _refuse(self.path, line_number, fault.expected, fault.found, file.name) from None
            if file.table.name == ROLES:
                if not self.with_roles:
                    continue
                self.roles.append((new_row["person_pk"], new_row["role"]))
            waiting.append((line_number, new_row))
            waiting_bytes += length
            if len(waiting) == _AT_ONCE or waiting_bytes > _BYTES_AT_ONCE:
                self._insert(file, waiting)
                waiting, waiting_bytes = [], 0
        self._insert(file, waiting)

    def _insert(self, file: _File, rows: list[tuple[int, dict[str, Any]]]) -> None:
        """Insert rows, given with their lines. Raises BadInput with the first row that a constraint of the database refuses."""
        if not rows:
            return
        statement = insert(file.table)
        try:
            with self.session.begin_nested():
                self.session.execute(statement, [row for _, row in rows])
        except _REFUSED_BY_DATABASE as error:
            if len(rows) == 1:
                detail = str(getattr(error, "orig", None) or error).splitlines()[0]
                raise _refuse(
                    self.path, rows[0][0], "a row that the database accepts", detail, file.name
                ) from None
            middle = len(rows) // 2
            for part in (rows[:middle], rows[middle:]):
                self._insert(file, part)
            raise  # pragma: no cover  (rows that are refused only together)

    def _read_rows(self, file: _File) -> Iterator[tuple[int, dict[str, Any], int]]:
        """Yield the rows with their line numbers and bytes. They were checked already."""
        times, _ = _describe(file.table)
        for number, line in enumerate(_read_lines(self.archive, self.path, file.name), start=1):
            row = decode_row(line)
            for name in times:
                if row[name] is not None:
                    row[name] = read_time(row[name])
            yield number, row, len(line)

    def _renumber(self, table: Table, row: dict[str, Any]) -> dict[str, Any]:
        """Give the row its new numbers. Raises RowFault for a number of a row that is not in the file."""
        for name, reference in _describe(table)[1]:
            if row[name] is not None:
                row[name] = self._find_number(reference, row[name], name)
            elif (table.name, name) == (ROLES, "dataset_pk"):
                raise RowFault(name, "this dataset", "every dataset")
        for (table_name, column_name), reference in LISTED.items():
            if table_name == table.name and row[column_name]:
                row[column_name] = self._renumber_list(row[column_name], reference, column_name)
        if table.name == "pair":
            row.update(judged=0, wanted=0, lacking=0)  # derived
        if table.name == "dataset":
            row |= {"name": self.name, CHECK_SECRET: make_secret()}
        elif self.renamed and (change := _NEW_NAMES.get(table.name)) is not None:
            column_name, rename = change
            row[column_name] = rename(row[column_name])
        return row

    def _find_number(self, table_name: str, number: Any, column: str) -> int:
        if table_name == PERSON and number in self.people:
            return self.people[number]
        numbers = self.numbers.get(table_name, ())
        index = bisect_left(numbers, number) if type(number) is int else len(numbers)
        if index == len(numbers) or numbers[index] != number:
            raise RowFault(column, f"the number of a row in {table_name}.jsonl", number)
        return self.first[table_name] + index

    def _renumber_list(self, value: Any, table_name: str, column: str) -> Any:
        if isinstance(value, str):
            written = value.split(" ")
            if not all(number.isascii() and number.isdigit() and len(number) < 20 for number in written):
                raise RowFault(column, "numbers with a space between", value)
            return " ".join(str(self._find_number(table_name, int(number), column)) for number in written)
        return [self._find_number(table_name, number, column) for number in value]

    def _set_sequences(self, files: list[_File]) -> None:
        """Let PostgreSQL number further rows above the restored ones."""
        if self.session.get_bind().dialect.name != "postgresql":
            return
        for file in files:
            if file.numbers:
                name = file.table.name
                self.session.execute(
                    text(
                        f"SELECT setval(pg_get_serial_sequence('{name}', 'pk'), (SELECT max(pk) FROM {name}))"
                    )
                )


def _draw_key(_key: str) -> str:
    return secrets.token_hex(12)


def _draw_event_id(_event_id: str) -> str:
    return str(uuid.UUID(bytes=secrets.token_bytes(16), version=4))


_NEW_NAMES: Mapping[str, tuple[str, Callable[[str], str]]] = {
    "pair": ("key", _draw_key),
    "judgment": ("event_id", _draw_event_id),
    "repeated_pair": ("key", _draw_key),
}  # what is unique in a database, so that a dataset can be restored beside the one that it was exported from
