"""Write a whole dataset into one zip, in pieces: a JSONL file per table, then a manifest with checksums.

For leads and admins. The zip holds every grade with names, but no passwords and no sessions. An exporter
counts as having seen all pairs, and gets none of them to judge any more. Memory is bounded for any size.
`restore_service.py` reads the zip. It holds the database rows of releases, not their folders.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from sqlalchemy import text
from sqlalchemy.orm import Session

from annotator import __version__
from annotator.dataset.export_sql import list_columns, list_pair_pks, list_tables, select_rows
from annotator.domain.people import Actor
from annotator.people.roles_service import open_dataset
from annotator.storage.database import Database
from annotator.storage.logs.audit_log import AuditEvent, add_events
from annotator.storage.logs.disclosures import add_seen

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
    with open_dataset(database, actor, dataset, "lead", writing=True, archived_too=True) as (
        session,
        _,
        dataset_pk,
    ):
        if actor.person_id is not None:
            add_seen(session, list_pair_pks(session, dataset_pk), actor.person_id, now=now)
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
