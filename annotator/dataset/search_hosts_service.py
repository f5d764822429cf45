"""Keep to which hosts a dataset's queries may be sent (`annotator import run --from`), and who allowed it.

The list is a column of the dataset that no record of it holds, since annotators may read those. Only a lead's change of settings
(`dataset/service.py`) sets it, here, together with the entry of the audit log that says who allowed what and when.
"""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.dataset.settings import SEARCH_HOSTS, read_setting
from annotator.domain.people import Actor
from annotator.people.roles_service import open_dataset
from annotator.storage.database import Database
from annotator.storage.logs.audit_log import AuditEvent, add_events
from annotator.storage.tables.central import DatasetRow


def show_search_hosts(database: Database, actor: Actor, dataset: str) -> tuple[str, ...]:
    """Return the hosts that a dataset's queries may be sent to, each as HOST or HOST:PORT. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        return read_search_hosts(session, dataset_pk)


def read_operator_hosts(text: str) -> tuple[str, ...]:
    """Return the hosts in ANNOTATOR_SEARCH_HOSTS, which is written as a dataset's setting. ValidationError if it cannot be read."""
    return tuple(read_setting(SEARCH_HOSTS, text) or ())


def read_search_hosts(session: Session, dataset_pk: int) -> tuple[str, ...]:
    """Return the hosts that a dataset's queries may be sent to. The caller has checked the role."""
    return tuple(
        session.scalar(select(col(DatasetRow.search_hosts)).where(col(DatasetRow.pk) == dataset_pk)) or ()
    )


def allow_search_hosts(
    session: Session, dataset_pk: int, actor: Actor, hosts: list[str] | None, *, now: datetime
) -> None:
    """Allow these hosts and no others, in the transaction of a change of settings whose role is checked."""
    before = list(read_search_hosts(session, dataset_pk)) or None
    if before != hosts:
        event = AuditEvent(
            "changed settings",
            dataset_pk,
            actor.person_id,
            now,
            before={SEARCH_HOSTS: before},
            after={SEARCH_HOSTS: hosts},
        )
        session.get_one(DatasetRow, dataset_pk).search_hosts = hosts
        session.flush()
        add_events(session, [event])
