"""Archive a dataset, and unarchive it.

An archived dataset disappears from lists. Nothing in it can be judged or changed: `storage/lookup.py` and
`storage/database.py` refuse it in every write transaction. Its releases stay, and leads can still read its
pages.
"""

from datetime import datetime

from annotator.dataset.service import show_dataset
from annotator.dataset.settings import Dataset
from annotator.domain.people import Actor
from annotator.people.roles_service import open_dataset
from annotator.storage.database import Database, lock_dataset
from annotator.storage.logs.audit_log import Action, AuditEvent, add_events


def archive_dataset(database: Database, actor: Actor, name: str, *, now: datetime) -> Dataset:
    """Archive a dataset. Does nothing if it is archived already. For leads."""
    return _set_archived(database, actor, name, archived=True, now=now)


def unarchive_dataset(database: Database, actor: Actor, name: str, *, now: datetime) -> Dataset:
    """Allow judgments and changes again. For leads."""
    return _set_archived(database, actor, name, archived=False, now=now)


def _set_archived(database: Database, actor: Actor, name: str, *, archived: bool, now: datetime) -> Dataset:
    with open_dataset(database, actor, name, "lead", writing=True, archived_too=True) as (
        session,
        row,
        dataset_pk,
    ):
        lock_dataset(session, dataset_pk, archived_too=True)
        session.refresh(row)
        if (row.archived_at is not None) != archived:
            row.archived_at = now if archived else None
            session.add(row)
            action: Action = "archived dataset" if archived else "unarchived dataset"
            add_events(session, [AuditEvent(action, dataset_pk, actor.person_id, now)])
    return show_dataset(database, actor, name)[0]
