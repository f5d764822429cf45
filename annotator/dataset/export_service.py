"""Write a whole dataset into one zip, in pieces: a JSONL file per table, then a manifest with checksums.

For leads and admins. The zip holds every grade with names, but no passwords and no sessions. An exporter
counts as having seen all pairs, and gets none of them to judge any more. Memory is bounded for any size.
`restore_service.py` reads the zip. It holds the database rows of releases, not their folders.

Follows foreign keys, so a new table is exported automatically. `REFERENCES` has the columns that name rows
without a foreign key. Not exported: credentials, sessions, current leases, reading positions, derived rows,
and the installation's audit log.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from sqlalchemy import Column, ColumnElement, Integer, Select, Table, and_, func, or_, select, text
from sqlalchemy.orm import Session
from sqlmodel import SQLModel, col

from annotator import __version__
from annotator.domain.people import Actor
from annotator.people.roles_service import open_dataset
from annotator.storage.database import Database
from annotator.storage.logs.audit_log import AuditEvent, add_events
from annotator.storage.logs.disclosures import note_seen
from annotator.storage.lookup import key_of
from annotator.storage.tables import every_table  # noqa: F401  (it defines the tables)
from annotator.storage.tables.central import DatasetRow, PairRow, PersonRow
from annotator.storage.tables.releases import ReleaseRecordingRow, ReleaseRow

LEFT_OUT = (
    "login_attempt",
    "login_session",
    "known_device",
    "provider_identity",
    "sign_in_request",
    "used_logout_token",
    "second_factor",
    "recovery_code",
    "half_sign_in",
    "one_time_link",
    "lease",
    "case_hold",
    "seen_decision",
    "seen_answer",
    "release_recording",
    "audit_entry",
    "audit_personal",
)
DERIVED = (
    "current_judgment",
    "current_adjudication",
    "dispute",
    "query_work",
    "query_answers",
    "query_score",
    "score_total",
    "score_due",
    "guideline_marking",
)
"""Tables that a restore derives from the others. Not exported either."""
PERSON = "person"
PERSON_COLUMNS = ("pk", "username", "name", "simulated", "created_at")  # neither password nor language
CHECK_SECRET = (
    "check_secret"  # of `dataset`: it reveals where checks come, so a restored dataset gets a new one
)
REFERENCES: Mapping[tuple[str, str], str] = {
    ("release_qrel", "adjudication_pk"): "adjudication",
    ("release_qrel", "imported_qrel_pk"): "imported_qrel",
}
LISTED: Mapping[tuple[str, str], str] = {
    ("release_qrel", "judgments"): "judgment",  # keys with spaces between
    ("document_order", "pair_pks"): "pair",  # a JSON list of keys
}
_PARENTS = ("dataset", "pair", "query", "document", "run", "release", "pool_round", "rubric", "quality_draw")


def list_tables() -> list[Table]:
    """Return the exported tables: `person` and `dataset` first, and each table after the tables it names."""
    tables = SQLModel.metadata.sorted_tables
    first = [DatasetRow.__tablename__, PERSON]
    named = {table.name: table for table in tables}
    return [
        *(named[str(name)] for name in first),
        *(table for table in tables if table.name not in (*first, *LEFT_OUT, *DERIVED)),
    ]


def list_columns(table: Table) -> list[Column[object]]:
    """Return the exported columns of a table."""
    if table.name == PERSON:
        return [column for column in table.columns if column.name in PERSON_COLUMNS]
    return [column for column in table.columns if column.name != CHECK_SECRET]


def find_reference(table: Table, column: Column[object]) -> str | None:
    """Return the table that a key column points to; None for other columns. `pk` points to its own table."""
    if (table.name, column.name) in REFERENCES:
        return REFERENCES[table.name, column.name]
    if column.name == "pk":
        return table.name
    return next((key.column.table.name for key in column.foreign_keys), None)


def has_number(table: Table) -> bool:
    """Return whether the table has its own number `pk`. A restore assigns new numbers."""
    return "pk" in table.columns and isinstance(table.columns["pk"].type, Integer)


def select_rows(table: Table, dataset_pk: int) -> Select[Any]:
    """Select the rows of a table that belong to the dataset, in the order of their keys."""
    columns: list[Any] = list(list_columns(table))
    statement: Select[Any] = select(*columns)
    return statement.where(_belongs(table, dataset_pk)).order_by(*table.primary_key.columns)


def _belongs(table: Table, dataset_pk: int) -> ColumnElement[bool]:
    if table.name == DatasetRow.__tablename__:
        return table.columns["pk"] == dataset_pk
    if table.name == PERSON:
        return or_(*_list_mentions(dataset_pk))
    if "dataset_pk" in table.columns:
        return table.columns["dataset_pk"] == dataset_pk
    parent, column = _find_parent(table)
    return column.in_(select(parent.columns["pk"]).where(_belongs(parent, dataset_pk)))


def _find_parent(table: Table) -> tuple[Table, Column[object]]:
    for name in _PARENTS:
        for column in table.columns:
            if not column.nullable and find_reference(table, column) == name and column.name != "pk":
                return SQLModel.metadata.tables[name], column
    raise LookupError(f"the export does not know to which dataset the rows of {table.name} belong")


def _list_mentions(dataset_pk: int) -> list[ColumnElement[bool]]:
    """Return a condition for each column that names people: a row of the dataset names the person."""
    person = SQLModel.metadata.tables[PersonRow.__tablename__]
    return [
        person.columns["pk"].in_(select(column).where(and_(_belongs(table, dataset_pk), column.is_not(None))))
        for table in list_tables()
        if table.name != PERSON
        for column in table.columns
        if find_reference(table, column) == PERSON
    ]


def list_pair_pks(session: Session, dataset_pk: int) -> list[int]:
    """Return the keys of the dataset's pairs."""
    statement = select(col(PairRow.pk)).where(col(PairRow.dataset_pk) == dataset_pk)
    return [key_of(pk) for pk in session.scalars(statement)]


def find_highest(session: Session, table: Table) -> int:
    """Return the highest number of a table's rows, or 0. Includes releases that are being recorded."""
    highest = session.scalar(select(func.max(table.columns["pk"]))) or 0
    if table.name != ReleaseRow.__tablename__:
        return highest
    return max(highest, session.scalar(select(func.max(col(ReleaseRecordingRow.release_pk)))) or 0)


FORMAT = "annotator dataset export"
FORMAT_VERSION = 2  # 1 had derived tables too
MANIFEST = "manifest.json"
_AT_ONCE = 1_000
_PIECE = 256 * 1_024  # bytes
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # earliest time of a zip entry


def export_dataset(database: Database, actor: Actor, dataset: str, *, now: datetime) -> Iterator[bytes]:
    """Note the export in the audit log, and return the zip in pieces. For leads, also of archived datasets.

    All data come from one read transaction. A zip that is not read to its end cannot be opened.
    """
    with open_dataset(database, actor, dataset, "lead", archived_too=True) as (session, _, dataset_pk):
        pair_pks = list_pair_pks(session, dataset_pk)
    note_seen(database, pair_pks, actor.person_id, now=now)
    with database.write() as session:
        add_events(session, [AuditEvent("exported dataset", dataset_pk, actor.person_id, now)])
    return _write(database, dataset, dataset_pk, now)


def _write(database: Database, dataset: str, dataset_pk: int, now: datetime) -> Iterator[bytes]:
    with ExitStack() as stack:
        session = stack.enter_context(database.read())
        sink, files = _Sink(), []
        archive = ZipFile(sink, "w", ZIP_DEFLATED)
        moment = max(now.astimezone(UTC).timetuple()[:6], _EARLIEST)
        for table in list_tables():
            digest, rows = hashlib.sha256(), 0
            name = f"{table.name}.jsonl"
            with archive.open(ZipInfo(name, moment), "w", force_zip64=True) as entry:
                for line in _list_lines(session, table, dataset_pk):
                    digest.update(line)
                    entry.write(line)
                    rows += 1
                    if sink.size >= _PIECE:
                        yield sink.take()
            files.append({"file": name, "rows": rows, "sha256": digest.hexdigest()})
        manifest = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "program": __version__,
            "schema": session.scalar(text("SELECT version_num FROM alembic_version")),
            "dataset": dataset,
            "exported_at": now.astimezone(UTC).isoformat(),
            "files": files,
        }
        archive.writestr(ZipInfo(MANIFEST, moment), json.dumps(manifest, ensure_ascii=False, indent=2))
        archive.close()
        yield sink.take()


def _list_lines(session: Session, table: Any, dataset_pk: int) -> Iterator[bytes]:
    names = [column.name for column in list_columns(table)]
    rows = session.execute(select_rows(table, dataset_pk).execution_options(yield_per=_AT_ONCE))
    for row in rows:
        values = {name: _to_json(value) for name, value in zip(names, row, strict=True)}
        yield json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _to_json(value: Any) -> Any:
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value


class _Sink:
    """A file for ZipFile. `take` returns and removes the bytes written so far."""

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self.size = 0

    def write(self, data: bytes) -> int:
        self._held.append(bytes(data))
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        """Do nothing: no byte waits elsewhere."""

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def take(self) -> bytes:
        piece, self._held, self.size = b"".join(self._held), [], 0
        return piece
