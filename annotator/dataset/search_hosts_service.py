"""Store the hosts to which a dataset's queries may be sent (`annotator import run --from`).

`Dataset` records leave this column out, because annotators may read them. Only a lead's change of settings
(`dataset/service.py`) changes the list, together with its audit log entry.
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
    """Return the hosts that may receive the dataset's queries, as HOST or HOST:PORT. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        return read_search_hosts(session, dataset_pk)


def read_operator_hosts(text: str) -> tuple[str, ...]:
    """Return the hosts in ANNOTATOR_SEARCH_HOSTS, in the syntax of the dataset setting. Raises ValidationError."""
    return tuple(read_setting(SEARCH_HOSTS, text) or ())


def read_search_hosts(session: Session, dataset_pk: int) -> tuple[str, ...]:
    """Return the hosts that may receive the dataset's queries. The caller has checked the role."""
    return tuple(
        session.scalar(select(col(DatasetRow.search_hosts)).where(col(DatasetRow.pk) == dataset_pk)) or ()
    )


def allow_search_hosts(
    session: Session, dataset_pk: int, actor: Actor, hosts: list[str] | None, *, now: datetime
) -> None:
    """Replace the list of allowed hosts and note it in the audit log. The caller has checked the role."""
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
