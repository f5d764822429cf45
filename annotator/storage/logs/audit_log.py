"""Append to the installation's audit log and to the activity log of a dataset's leads, in the transaction of the act.

`note_act` keeps an entry with the session. All entries of a transaction are appended together at its end, so
the lock of the chain is held only for the commit. A failed transaction leaves neither the change nor the
entry. Submissions of judgments append nothing.

Append to the activity log of a dataset's leads, in the transaction of the act. Entries never change. Acts
that change a dataset or show who judged what also go to the audit log of the installation. `before` and
`after` hold the old and new values as plain JSON. Services check who may read the log.
"""

import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal, get_args

from sqlalchemy import insert, text
from sqlalchemy.orm import Session

from annotator.domain.audit import (
    FIRST_PREVIOUS,
    PERSONAL_FIELDS,
    ActorKind,
    AuditAction,
    AuditOrigin,
    ChainedEntry,
    PersonalField,
    audit_origin,
    clean_text,
    commit_to,
    encode_details,
)
from annotator.domain.people import Actor
from annotator.storage.database import Database, at_end
from annotator.storage.lookup import find_dataset_names, find_names
from annotator.storage.sql import add_rows

_PENDING = "audit_entries"  # in the session's notes
_LOCK = text("SELECT pg_advisory_xact_lock(3, 0)")  # two numbers, the first of no other lock
_HEAD = text("SELECT sequence, sha256 FROM audit_entry ORDER BY sequence DESC LIMIT 1")


@dataclass(frozen=True, slots=True)
class NotedAct:
    """An act to append at the end of its transaction. Names people and datasets by their keys."""

    action: AuditAction
    at: datetime
    actor_kind: ActorKind
    actor_pk: int | None
    subject_pk: int | None
    dataset: int | str | None
    target: str
    details: Mapping[str, Any]
    origin: AuditOrigin


def note_act(
    session: Session,
    action: AuditAction,
    actor: Actor | int | ActorKind | None,
    *,
    at: datetime,
    dataset: int | str | None = None,
    subject: int | None = None,
    target: str = "",
    details: Mapping[str, Any] | None = None,
    address: str | None = None,
) -> None:
    """Append an entry to the audit log when this write transaction ends.

    `actor`: the actor or their person_pk; None means the operator. `dataset`: its key or its name. `subject`:
    the person_pk of the person concerned. `target`: the object of the act, such as a version; never a person.
    `details`: never secrets, grades, texts of documents or names of people. `address`: of the browser, where
    the caller knows it better than the request.
    """
    kind: ActorKind
    if isinstance(actor, str):
        kind, actor_pk = actor, None
    else:
        actor_pk = actor.person_id if isinstance(actor, Actor) else actor
        kind = "operator" if actor_pk is None else "person"
    origin = audit_origin.get()
    if address:
        origin = AuditOrigin(
            "web" if origin.source == "program" else origin.source, origin.request_id, address
        )
    act = NotedAct(action, at, kind, actor_pk, subject, dataset, target, details or {}, origin)
    pending = session.info.setdefault(_PENDING, [])
    if not pending:
        at_end(session, _append_noted)
    pending.append(act)


def _append_noted(session: Session) -> None:
    acts: list[NotedAct] = session.info.pop(_PENDING)
    session.flush()
    names = find_names(session, (pk for act in acts for pk in (act.actor_pk, act.subject_pk)))
    datasets = find_dataset_names(session, (act.dataset for act in acts if isinstance(act.dataset, int)))
    if session.get_bind().dialect.name == "postgresql":
        session.execute(_LOCK)
    head = session.execute(_HEAD).first()
    sequence, previous = (head.sequence, head.sha256) if head else (0, FIRST_PREVIOUS)
    entries, personal = list[dict[str, Any]](), list[dict[str, Any]]()
    for act in acts:
        sequence += 1
        entry, beside = _make_rows(act, sequence, previous, names, datasets)
        previous = entry["sha256"]
        entries.append(entry)
        personal += beside
    _insert(session, entries, personal)


def _insert(session: Session, entries: list[dict[str, Any]], personal: list[dict[str, Any]]) -> None:
    from annotator.storage.tables.audit import AuditEntryRow, AuditPersonalRow

    session.execute(insert(AuditEntryRow), entries)
    if personal:
        session.execute(insert(AuditPersonalRow), personal)


def _make_rows(
    act: NotedAct,
    sequence: int,
    previous: str,
    names: Mapping[int | None, str],
    datasets: Mapping[int | None, str],
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return an entry's row, and the rows of what names people in it."""
    owner = act.actor_pk if act.actor_pk is not None else act.subject_pk
    given: dict[PersonalField, tuple[int | None, str | None]] = {
        "actor": (act.actor_pk, None if act.actor_pk is None else names.get(act.actor_pk, "")),
        "subject": (act.subject_pk, None if act.subject_pk is None else names.get(act.subject_pk, "")),
        "address": (owner, clean_text(act.origin.address) if act.origin.address else None),
    }
    commitments: dict[PersonalField, str | None] = dict.fromkeys(PERSONAL_FIELDS)
    beside: list[dict[str, Any]] = []
    for field, (person_pk, value) in given.items():
        if value is not None:
            salt = secrets.token_hex(16)
            commitments[field] = commit_to(field, person_pk, value, salt)
            row = {"sequence": sequence, "field": field, "person_pk": person_pk, "value": value, "salt": salt}
            beside.append(row)
    chained = ChainedEntry(
        sequence=sequence,
        at=act.at,
        action=act.action.value,
        actor_kind=act.actor_kind,
        source=act.origin.source,
        request_id=clean_text(act.origin.request_id) if act.origin.request_id else None,
        dataset=datasets.get(act.dataset) if isinstance(act.dataset, int) else act.dataset,
        object=clean_text(act.target),
        details=encode_details(act.details),
        commitments=commitments,
        previous=previous,
    )
    columns: dict[str, Any] = {field.name: getattr(chained, field.name) for field in fields(chained)}
    columns.update(columns.pop("commitments"), sha256=chained.compute_hash())
    return columns, beside


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
