"""Read the audit log, by page or whole, and the history of one pair. For leads only.

For a pair that the reader may still judge, the log says that something was done, but not what. A lead who reads a
pair's whole history has seen others' judgments and no longer judges the pair. `storage/audit_log.py` appends; nobody
changes the log.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.adjudication.decisions_sql import list_answers
from annotator.adjudication.history import ACTION_NAMES as ACTION_NAMES
from annotator.adjudication.history import say_recorded as say_recorded
from annotator.adjudication.history import say_told
from annotator.adjudication.history import write_csv as write_csv
from annotator.adjudication.history import write_json_lines as write_json_lines
from annotator.adjudication.history_records import AuditLogEntry as AuditLogEntry
from annotator.adjudication.history_records import AuditLogFilter as AuditLogFilter
from annotator.adjudication.history_records import AuditLogPage as AuditLogPage
from annotator.adjudication.history_records import HistoryEntry as HistoryEntry
from annotator.adjudication.history_records import read_moment as read_moment
from annotator.adjudication.history_sql import (
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
from annotator.domain.shuffling import give_letters, name_checker
from annotator.people.service import require_role
from annotator.storage.audit_log import ACTIONS as ACTIONS
from annotator.storage.database import Database
from annotator.storage.disclosures import find_pair_pks, find_published, list_to_judge, note_seen
from annotator.storage.lookup import find_dataset, key_of
from annotator.storage.tables import DatasetRow, DocumentRow, PairRow, QueryRow

PAGE = 50
EVERYTHING = AuditLogFilter()


def read_trail(
    database: Database,
    actor: Actor,
    dataset: str,
    wanted: AuditLogFilter = EVERYTHING,
    *,
    offset: int = 0,
    limit: int = PAGE,
    now: datetime,
) -> AuditLogPage:
    """Some of the records, the latest first. For leads, who judge no more what they read the grades of. ValidationError for
    an action that there is none of."""
    _check(wanted)
    with database.read() as session:
        dataset_pk = key_of(_enter(session, actor, dataset).pk)
        found = list_events(session, dataset_pk, actor.person_id, wanted, offset=offset, limit=limit)
        events, shown = _choose_told(session, dataset_pk, actor, found)
        page = AuditLogPage(count_events(session, dataset_pk, wanted), events)
    note_seen(database, shown, actor.person_id, now=now)
    return page


def iterate_trail(
    database: Database, actor: Actor, dataset: str, wanted: AuditLogFilter = EVERYTHING, *, now: datetime
) -> Iterator[AuditLogEntry]:
    """All of the records in the order in which they were made, read piece by piece. For leads, as `read_trail`; refused before
    the first."""
    _check(wanted)
    with database.read() as session:
        dataset_pk = key_of(_enter(session, actor, dataset).pk)

    def read() -> Iterator[AuditLogEntry]:
        last = 0
        while True:
            with database.read() as session:
                found = list_events_after(session, dataset_pk, actor.person_id, wanted, after=last)
                events, shown = _choose_told(session, dataset_pk, actor, found)
            if not found:
                return
            note_seen(database, shown, actor.person_id, now=now)
            yield from events
            last = found[-1].number

    return read()


def list_trail_people(database: Database, actor: Actor, dataset: str) -> list[tuple[str, str]]:
    """(username, name) of everybody who stands in the trail, by username. For leads."""
    with database.read() as session:
        return list_people(session, key_of(_enter(session, actor, dataset).pk))


def find_pair_key(database: Database, actor: Actor, dataset: str, query_id: str, doc_id: str) -> str:
    """The key of the pair of these ids, retired or not. For leads. NotFound where there is none."""
    with database.read() as session:
        dataset_pk = key_of(_enter(session, actor, dataset).pk)
        statement = (
            select(col(PairRow.key))
            .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
            .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
            .where(
                col(PairRow.dataset_pk) == dataset_pk,
                col(QueryRow.query_id) == query_id,
                col(DocumentRow.doc_id) == doc_id,
            )
        )
        key = session.scalar(statement)
    if key is None:
        raise NotFound(
            say("no pair of query {query_id!r} and document {doc_id!r}", query_id=query_id, doc_id=doc_id)
        )
    return key


def read_timeline(
    database: Database, actor: Actor, dataset: str, pair: str, *, now: datetime
) -> tuple[HistoryEntry, ...]:
    """Everything that happened to a pair (named by its key), the oldest first. For leads, who have then seen what others
    said of it. Annotators stand there by the letters of its case. NotFound for a key that is no pair's."""
    with database.read() as session:
        row = _enter(session, actor, dataset)
        found = session.scalars(
            select(PairRow).where(col(PairRow.key) == pair, col(PairRow.dataset_pk) == row.pk)
        ).first()
        if found is None:
            raise NotFound(say("no pair {pair!r} in this dataset", pair=pair))
        pair_pk = key_of(found.pk)
        told = list_history_events(session, found)
        answers = list_answers(session, [pair_pk]).get(pair_pk, [])
        judged = {name_checker(one.annotator) if one.quality else one.annotator for one in answers}
        spoke = [one.annotator for one in told if one.annotator is not None]
        letters = give_letters(judged, spoke, seed=row.seed, pair=pair)
    note_seen(database, [pair_pk], actor.person_id, now=now)
    return tuple(
        HistoryEntry(one.at, _say_who(one, letters), one.action, say_told(one.action, one.values))
        for one in told
    )


def _choose_told(
    session: Session, dataset_pk: int, actor: Actor, events: Sequence[AuditLogEntry]
) -> tuple[tuple[AuditLogEntry, ...], set[int]]:
    """The events as this reader may see them, and the pairs (pair_pk) whose grades they tell. A decision tells the grades of
    documents much like its own: those that the reader has still to judge are left out."""
    if actor.person_id is None:
        return tuple(events), set()
    keys = {one.pair for one in events if one.pair and (_tells_grade(one.before) or _tells_grade(one.after))}
    beside = {(one.query_id or "", doc_id) for one in events for doc_id in _list_unlike(one)}
    near = find_published(session, dataset_pk, beside)
    hidden = list_to_judge(session, actor.person_id, {pk for pks in near.values() for pk in pks})
    gone = {name for name, pks in near.items() if hidden.intersection(pks)}
    shown = {pk for name, pks in near.items() if name not in gone for pk in pks}
    shown.update(find_pair_pks(session, keys).values())
    return tuple(_leave_out(one, gone) for one in events), shown


def _list_unlike(one: AuditLogEntry) -> list[str]:
    """The documents much like the event's own whose other grades it tells."""
    return [near["doc_id"] for near in (one.after or {}).get("unlike", ())]


def _leave_out(one: AuditLogEntry, gone: Collection[tuple[str, str]]) -> AuditLogEntry:
    if one.after is None or not any((one.query_id or "", doc_id) in gone for doc_id in _list_unlike(one)):
        return one
    left = [near for near in one.after["unlike"] if (one.query_id or "", near["doc_id"]) not in gone]
    return replace(one, after={**one.after, "unlike": left})


def _tells_grade(values: Mapping[str, Any] | None) -> bool:
    return values is not None and ("outcome" in values or "grade" in values)


def _say_who(one: HistoryEvent, letters: dict[str, str]) -> str:
    if one.annotator is not None:
        return say("Annotator {letter}", letter=letters[one.annotator])
    return one.lead or ""


def _enter(session: Session, actor: Actor, dataset: str) -> DatasetRow:
    row = find_dataset(session, dataset)
    require_role(session, actor, key_of(row.pk), "lead")
    return row


def _check(wanted: AuditLogFilter) -> None:
    if wanted.action is not None and wanted.action not in ACTIONS:
        raise ValidationError(
            say(
                "action: expected one of {actions}, found {found!r}",
                actions=", ".join(ACTIONS),
                found=wanted.action,
            )
        )
