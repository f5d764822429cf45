"""Keep to which hosts a dataset's queries may be sent (`annotator import run --from`), and who allowed it.

The list is kept in the audit log: the latest entry that sets `search_hosts` holds. So nobody can allow a host without an entry
that says who and when, and nothing but a lead's change of settings (`dataset/service.py`) writes such an entry.
"""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.dataset.settings import SEARCH_HOSTS
from annotator.domain.people import Actor
from annotator.people.service import require_role
from annotator.storage.adjudication_tables import AuditEventRow
from annotator.storage.audit_log import AuditEvent, add_events
from annotator.storage.database import Database
from annotator.storage.lookup import find_dataset, key_of


def show_search_hosts(database: Database, actor: Actor, dataset: str) -> tuple[str, ...]:
    """Return the hosts that a dataset's queries may be sent to, each as HOST or HOST:PORT. For leads."""
    with database.read() as session:
        dataset_pk = key_of(find_dataset(session, dataset).pk)
        require_role(session, actor, dataset_pk, "lead")
        return read_search_hosts(session, dataset_pk)


def read_search_hosts(session: Session, dataset_pk: int) -> tuple[str, ...]:
    """Return the hosts that a dataset's queries may be sent to. The caller has checked the role."""
    statement = (
        select(col(AuditEventRow.after))
        .where(col(AuditEventRow.dataset_pk) == dataset_pk, col(AuditEventRow.action) == "changed settings")
        .order_by(col(AuditEventRow.pk).desc())
    )
    for after in session.scalars(statement):
        if after and SEARCH_HOSTS in after:
            return tuple(after[SEARCH_HOSTS] or ())
    return ()


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
        add_events(session, [event])
