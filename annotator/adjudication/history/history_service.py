"""Read the audit log, by page or whole, and the history of one pair. For leads only.

An entry about a judged pair that the reader may still judge is left out. A lead who reads a pair's history has
seen others' judgments and no longer judges the pair. `storage/logs/audit_log.py` appends entries; nothing
changes them.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.adjudication.decisions_sql import list_judgments
from annotator.adjudication.disagreement_view import assign_letters
from annotator.adjudication.history.history import (
    AuditLogEntry,
    AuditLogFilter,
    AuditLogPage,
    HistoryEntry,
    describe_event,
)
from annotator.adjudication.history.history_sql import (
    HistoryEvent,
    count_events,
    list_events,
    list_events_after,
    list_history_events,
    list_people,
)
from annotator.domain.errors import NotFound, ValidationError
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.people.roles_service import enter_dataset, open_dataset
from annotator.storage.database import Database
from annotator.storage.logs.audit_log import ACTIONS
from annotator.storage.logs.disclosures import find_pair_pks, note_seen, split_published
from annotator.storage.lookup import find_named_pair, key_of
from annotator.storage.tables.central import PairRow

PAGE = 50
EVERYTHING = AuditLogFilter()


def read_audit_log(
    database: Database,
    actor: Actor,
    dataset: str,
    wanted: AuditLogFilter = EVERYTHING,
    *,
    offset: int = 0,
    limit: int = PAGE,
    now: datetime,
) -> AuditLogPage:
    """Return a page of the audit log, the latest first. For leads. ValidationError: unknown action.

    A lead who reads the grades of a pair no longer judges it.
    """
    _check(wanted)
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        entries = list_events(session, dataset_pk, actor.person_id, wanted, offset=offset, limit=limit)
        visible, shown = _hide_unjudged(session, dataset_pk, actor, entries)
        page = AuditLogPage(count_events(session, dataset_pk, actor.person_id, wanted), visible)
    note_seen(database, shown, actor.person_id, now=now)
    return page


def iterate_audit_log(
    database: Database, actor: Actor, dataset: str, wanted: AuditLogFilter = EVERYTHING, *, now: datetime
) -> Iterator[AuditLogEntry]:
    """Yield the whole audit log, the oldest entry first. For leads, as `read_audit_log`.

    Refuses before the first entry.
    """
    _check(wanted)
    with open_dataset(database, actor, dataset, "lead") as (_, _, dataset_pk):
        pass

    def read() -> Iterator[AuditLogEntry]:
        last = 0
        while True:
            with database.read() as session:
                entries = list_events_after(session, dataset_pk, actor.person_id, wanted, after=last)
                visible, shown = _hide_unjudged(session, dataset_pk, actor, entries)
            if not entries:
                return
            note_seen(database, shown, actor.person_id, now=now)
            yield from visible
            last = entries[-1].number

    return read()


def list_audit_log_people(database: Database, actor: Actor, dataset: str) -> list[tuple[str, str]]:
    """Return (username, name) of everybody in the audit log, by username. For leads."""
    with database.read() as session:
        return list_people(session, key_of(enter_dataset(session, actor, dataset, "lead").pk))


def find_pair_key(database: Database, actor: Actor, dataset: str, query_id: str, doc_id: str) -> str:
    """Return the key of the pair with these ids, retired or not. For leads. NotFound if there is none."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        pair = find_named_pair(session, dataset_pk, query_id, doc_id)
        if pair is None:
            raise NotFound(
                say(
                    "There is no pair of query {query_id!r} and document {doc_id!r}.",
                    query_id=query_id,
                    doc_id=doc_id,
                )
            )
        return pair.key


def read_pair_history(
    database: Database, actor: Actor, dataset: str, pair: str, *, now: datetime
) -> tuple[HistoryEntry, ...]:
    """Return the events of a pair, the oldest first. For leads, who can then no longer judge it.

    `pair`: the key. Annotators have the same letters as on the pair's page. NotFound for an unknown key.
    """
    with open_dataset(database, actor, dataset, "lead") as (session, row, _):
        pair_row = session.scalars(
            select(PairRow).where(col(PairRow.key) == pair, col(PairRow.dataset_pk) == row.pk)
        ).first()
        if pair_row is None:
            raise NotFound(say("no pair {pair!r} in this dataset", pair=pair))
        pair_pk = key_of(pair_row.pk)
        events = list_history_events(session, pair_row, actor.person_id)
        judgments = list_judgments(session, [pair_pk]).get(pair_pk, [])
        others = [event.annotator for event in events if event.annotator is not None]
        letters = assign_letters(judgments, others, seed=row.order_seed, pair=pair)
    note_seen(database, [pair_pk], actor.person_id, now=now)
    return tuple(
        HistoryEntry(
            event.at, _name_actor(event, letters), event.action, describe_event(event.action, event.values)
        )
        for event in events
    )


def _hide_unjudged(
    session: Session, dataset_pk: int, actor: Actor, entries: Sequence[AuditLogEntry]
) -> tuple[tuple[AuditLogEntry, ...], set[int]]:
    """Return the entries as this reader may see them, and the pairs (pair_pk) with a grade in them.

    A decision also names near-duplicates with their grades; those that the reader may still judge are
    removed.
    """
    if actor.person_id is None:
        return tuple(entries), set()
    keys = {
        entry.pair
        for entry in entries
        if entry.pair and (_tells_grade(entry.before) or _tells_grade(entry.after))
    }
    unlike_names = {(entry.query_id or "", doc_id) for entry in entries for doc_id in _list_unlike(entry)}
    hidden_names, shown = split_published(session, dataset_pk, actor.person_id, unlike_names)
    shown.update(find_pair_pks(session, keys).values())
    return tuple(_leave_out(entry, hidden_names) for entry in entries), shown


def _list_unlike(entry: AuditLogEntry) -> list[str]:
    """Return the near-duplicates (doc_id) that the entry names because their grade is another one."""
    return [near["doc_id"] for near in (entry.after or {}).get("unlike", ())]


def _leave_out(entry: AuditLogEntry, hidden_names: Collection[tuple[str, str]]) -> AuditLogEntry:
    if entry.after is None or not any(
        (entry.query_id or "", doc_id) in hidden_names for doc_id in _list_unlike(entry)
    ):
        return entry
    left = [
        near for near in entry.after["unlike"] if (entry.query_id or "", near["doc_id"]) not in hidden_names
    ]
    return replace(entry, after={**entry.after, "unlike": left})


def _tells_grade(values: Mapping[str, Any] | None) -> bool:
    return values is not None and ("outcome" in values or "grade" in values)


def _name_actor(event: HistoryEvent, letters: dict[str, str]) -> str:
    if event.annotator is not None:
        return say("Annotator {letter}", letter=letters[event.annotator])
    return event.lead or ""


def _check(wanted: AuditLogFilter) -> None:
    if wanted.action is not None and wanted.action not in ACTIONS:
        raise ValidationError(
            say(
                "Unknown action {found!r}: choose one of {actions}.",
                actions=", ".join(ACTIONS),
                found=wanted.action,
            )
        )
