"""Append to the activity log of a dataset's leads, in the transaction of the act. Entries never change.

Acts that change a dataset or show who judged what also go to the audit log of the installation
(`storage/logs/audit_entries.py`). `before` and `after` hold the old and new values as plain JSON. Services
check who may read the log.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from sqlalchemy.orm import Session

from annotator.domain.audit import AuditAction
from annotator.storage.database import Database
from annotator.storage.logs.audit_entries import note_act
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
AUDITED: Mapping[Action, AuditAction] = {
    "decided": AuditAction.decided,
    "withdrew": AuditAction.decision_withdrawn,
    "settled by policy": AuditAction.decided_in_bulk,
    "decided from file": AuditAction.decided_in_bulk,
    "undid policy": AuditAction.bulk_undone,
    "looked up names": AuditAction.names_revealed,
    "exported queue": AuditAction.file_downloaded,
    "published guideline": AuditAction.guideline_published,
    "changed settings": AuditAction.settings_changed,
    "ordered documents": AuditAction.documents_ordered,
    "accepted duplicates": AuditAction.duplicates_accepted,
    "archived dataset": AuditAction.dataset_archived,
    "unarchived dataset": AuditAction.dataset_unarchived,
    "exported dataset": AuditAction.dataset_exported,
    "restored dataset": AuditAction.dataset_restored,
}
"""The acts that also go to the installation's audit log.

`people/` writes invitations there, also to every dataset.
"""
_PERSONAL_SETTINGS = ("authors", "contact")  # log that they changed, not their values
_NAMED = ("version", "change", "from", "exported_at")  # texts that name no person, no grade and no document


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
    from annotator.storage.tables.adjudication import AuditEventRow  # twenty tables: readers spare them

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
    _note_audited(session, events)


def note_named(
    database: Database,
    dataset_pk: int,
    person_pk: int | None,
    annotators: Collection[str],
    *,
    pairs: int,
    now: datetime,
) -> None:
    """Record, in a separate transaction, that a lead learns this number of pairs of named annotators."""
    if person_pk is not None and annotators and pairs:
        after = {"annotators": list(annotators), "pairs": pairs}
        with database.write() as session:
            add_events(session, [AuditEvent("looked up names", dataset_pk, person_pk, now, after=after)])


def _note_audited(session: Session, events: list[AuditEvent]) -> None:
    """Note one entry for each kind of act on a dataset, however many pairs it is about."""
    groups: dict[tuple[Action, int, int | None], list[AuditEvent]] = {}
    for event in events:
        if event.action in AUDITED and not (event.action == "published guideline" and event.pair_pk):
            groups.setdefault((event.action, event.dataset_pk, event.person_pk), []).append(event)
    for (action, dataset_pk, person_pk), acts in groups.items():
        note_act(
            session,
            AUDITED[action],
            person_pk,
            at=acts[0].at,
            dataset=dataset_pk,
            target="queue" if action == "exported queue" else "",
            details=_describe(action, acts),
        )


def _describe(action: Action, acts: list[AuditEvent]) -> dict[str, Any]:
    before, after = acts[0].before or {}, acts[0].after or {}
    if action == "changed settings":
        shown = {
            name: {name_: value for name_, value in values.items() if name_ not in _PERSONAL_SETTINGS}
            for name, values in (("before", before), ("after", after))
        }
        return {"settings": sorted(after), **shown}
    pairs = sum(1 for act in acts if act.pair_pk is not None)
    kept = {key: value for key, value in after.items() if key in _NAMED or type(value) is int}
    if "grade" in kept or pairs:
        kept = {key: value for key, value in kept.items() if key in _NAMED}
    return {**kept, **({"pairs": pairs} if pairs else {})}
