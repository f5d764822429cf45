"""Append to the audit log of what leads do, in the transaction of the act itself. Entries never change.

`before` and `after` hold plain JSON: the values before and since. Refuses nothing; services check who may read it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from sqlalchemy.orm import Session

from annotator.storage.sql import add_rows

Action = Literal[
    "decided",
    "proposed",
    "withdrew",
    "settled by policy",
    "undid policy",
    "decided from file",
    "assigned",
    "set to later",
    "asked to discuss",
    "closed discussion",
    "looked up names",
    "answered question",
    "exported queue",
    "published guideline",
    "changed settings",
    "ordered documents",
    "accepted duplicates",
    "archived dataset",
    "unarchived dataset",
    "exported dataset",
    "restored dataset",
    "invited",
    "revoked invitation",
    "joined",
]
ACTIONS: tuple[str, ...] = get_args(Action)


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """Something that a lead did."""

    action: Action
    dataset_pk: int
    person_pk: int | None  # None for the operator
    at: datetime
    pair_pk: int | None = None  # None if it concerns no single pair
    before: Mapping[str, Any] | None = None  # the values before
    after: Mapping[str, Any] | None = None  # the values since


def add_events(session: Session, events: list[AuditEvent]) -> None:
    """Append these events to the audit log, in this order."""
    from annotator.storage.adjudication_tables import AuditEventRow  # twenty tables: readers spare them

    rows = [
        {
            "action": event.action,
            "dataset_pk": event.dataset_pk,
            "person_pk": event.person_pk,
            "at": event.at,
            "pair_pk": event.pair_pk,
            "before": dict(event.before) if event.before is not None else None,
            "after": dict(event.after) if event.after is not None else None,
        }
        for event in events
    ]
    if rows:
        add_rows(session, AuditEventRow, rows)
