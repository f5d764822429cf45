"""Record acts on the whole installation in the audit log, after they are done. For the operator.

Uses its own transaction: a backup is a file, and a copy is in another database.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from annotator.domain.audit import AuditAction
from annotator.domain.people import OPERATOR
from annotator.storage.database import Database
from annotator.storage.logs.audit_entries import note_act
from annotator.storage.schema import find_revision, list_migrations


def note_installation_act(
    database: Database, action: AuditAction, *, target: str, details: Mapping[str, Any], now: datetime
) -> bool:
    """Append an entry. Returns False, without writing, if the database's schema is older."""
    with database.read() as session:
        if find_revision(session) != list_migrations()[-1].revision:
            return False
    with database.write() as session:
        note_act(session, action, OPERATOR, at=now, target=target, details=details)
    return True
