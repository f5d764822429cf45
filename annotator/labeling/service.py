"""What an annotator does: hand in judgments and be given the next pairs; and who has judged what.

Stands in the middle of the walk: `web/api.py` calls `submit_judgments`, which stores what was pressed and
hands out what comes next in one transaction. Refuses an event on a pair that is not the dataset's, or that a
lead has settled already. Nothing handed out holds a rank, a score, a system or anybody's grade.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import case, exists, func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.accounts.service import require_person, require_role
from annotator.domain.errors import NotFound, ValidationError
from annotator.domain.people import Actor
from annotator.labeling.events import JudgmentEvent, Refusal, read_events
from annotator.labeling.order import place
from annotator.storage.current import CurrentJudgment, derive_current, list_current_judgments
from annotator.storage.database import Database, lock_dataset
from annotator.storage.find import find_dataset, find_rubric, key_of
from annotator.storage.tables import (
    AdjudicationRow,
    CurrentJudgmentRow,
    DatasetRow,
    DocumentRow,
    DocumentTextRow,
    JudgmentRow,
    MembershipRow,
    PairRow,
    PersonRow,
    QueryRow,
    RubricRow,
)
from annotator.storage.worklist import (
    Worklist,
    count_done,
    count_open_pairs,
    drop_expired_leases,
    drop_leases,
    find_last_query,
    list_open_pairs,
    list_open_queries,
    take_leases,
)

MOST_WANTED = 50
MOST_EVENTS = 500
SHOWN_CHARACTERS = 200_000


@dataclass(frozen=True, slots=True)
class HandedPair:
    """A pair as its annotator sees it. `text` is cut at SHOWN_CHARACTERS; `length` is the whole text's.

    `text` and `document_sha256` are None when only the document's id is known.
    """

    pair: str
    query_id: str
    query: str
    narrative: str | None
    doc_id: str
    title: str
    url: str | None
    media_type: str
    text: str | None
    length: int
    document_sha256: str | None
    guideline_version: int


@dataclass(frozen=True, slots=True)
class Exchange:
    """The answer to a hand-in: what is stored, what is refused, what comes next, and how far along.

    `judged` are pairs of `have` that need nothing any more: the annotator judged them elsewhere (in another
    tab, on another device), or a lead has settled them.
    `done` counts the annotator's current judgments, `total` adds the pairs still open to them.
    """

    acknowledged: tuple[str, ...]
    refused: tuple[Refusal, ...]
    pairs: tuple[HandedPair, ...]
    judged: tuple[str, ...]
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class AnnotatorProgress:
    """How far one annotator is. `last_judged_at` is None before the first judgment."""

    annotator: str
    name: str
    simulated: bool
    judged: int
    unrateable: int
    later: int
    last_judged_at: datetime | None


@dataclass(frozen=True, slots=True)
class QueryProgress:
    """How far one query is: its pairs, those that reached the overlap, and those begun but short of it."""

    query_id: str
    text: str
    category: str | None
    pairs: int
    complete: int
    begun: int


@dataclass(frozen=True, slots=True)
class Progress:
    """Who has judged what, and what is left. `complete` pairs have reached the overlap."""

    overlap: int
    pairs: int
    complete: int
    begun: int
    annotators: tuple[AnnotatorProgress, ...]
    queries: tuple[QueryProgress, ...]


def submit_judgments(
    database: Database,
    actor: Actor,
    dataset: str,
    *,
    events: object,
    have: Sequence[str],
    want: int,
    now: datetime,
) -> Exchange:
    """Store what was pressed, and hand out up to `want` further pairs (at most 50) beside those in `have`.

    `events` is the list as the browser sent it. An event id seen before is acknowledged and changes nothing.
    What is acknowledged is stored for good; what is refused is named with its reason.
    """
    read, refused = read_events(events)
    if len(read) > MOST_EVENTS:
        raise ValidationError(f"events: expected at most {MOST_EVENTS} in one request, found {len(read)}")
    with database.write() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "annotator")
        lock_dataset(session, key_of(row.pk))
        worklist = Worklist(key_of(row.pk), require_person(actor), row.overlap, now)
        acknowledged = _store(session, worklist, read, refused)
        judged = _find_judged(session, worklist, have)
        kept = [pair for pair in have if pair not in judged]
        pairs = _hand_out(session, worklist, row, actor, kept, min(want, MOST_WANTED))
        done = count_done(session, worklist)
        total = done + count_open_pairs(session, worklist)
        return Exchange(tuple(acknowledged), tuple(refused), tuple(pairs), tuple(judged), done, total)


def read_whole_text(database: Database, actor: Actor, dataset: str, pair: str) -> str:
    """The whole text of a pair's document, for one that was handed out cut."""
    with database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "annotator")
        statement = (
            select(col(DocumentTextRow.text))
            .join(
                DocumentRow,
                (col(DocumentRow.pk) == col(DocumentTextRow.document_pk))
                & (col(DocumentRow.text_sha256) == col(DocumentTextRow.sha256)),
            )
            .join(PairRow, col(PairRow.document_pk) == col(DocumentRow.pk))
            .where(col(PairRow.key) == pair, col(PairRow.dataset_pk) == row.pk)
        )
        text = session.scalar(statement)
        if text is None:
            raise NotFound("there is no text for this pair")
        return text


def list_judgments(
    database: Database, actor: Actor, dataset: str, *, history: bool = False
) -> list[CurrentJudgment]:
    """Every current judgment, or with `history` every one ever given. For leads."""
    with database.read() as session:
        row = find_dataset(session, dataset)
        require_role(session, actor, key_of(row.pk), "lead")
        return list_current_judgments(session, key_of(row.pk), history=history)


def compute_progress(database: Database, actor: Actor, dataset: str) -> Progress:
    """Who has judged what, and what is left, per annotator and per query. For leads."""
    with database.read() as session:
        row = find_dataset(session, dataset)
        dataset_pk = key_of(row.pk)
        require_role(session, actor, dataset_pk, "lead")
        queries = tuple(_query_progress(session, dataset_pk, row.overlap))
        return Progress(
            overlap=row.overlap,
            pairs=sum(query.pairs for query in queries),
            complete=sum(query.complete for query in queries),
            begun=sum(query.begun for query in queries),
            annotators=tuple(_annotator_progress(session, dataset_pk)),
            queries=queries,
        )


def _store(
    session: Session, worklist: Worklist, events: Sequence[JudgmentEvent], refused: list[Refusal]
) -> list[str]:
    """Append the events that are new; returns the ids to acknowledge and adds to `refused`."""
    known = {
        row.event_id: row
        for row in session.scalars(
            select(JudgmentRow).where(col(JudgmentRow.event_id).in_([event.event_id for event in events]))
        )
    }
    pairs = _find_pairs(session, worklist, {event.pair for event in events})
    settled = set(
        session.scalars(
            select(col(AdjudicationRow.pair_pk)).where(
                col(AdjudicationRow.pair_pk).in_([pk for pk, _document in pairs.values()])
            )
        )
    )
    versions = _list_rubric_versions(session, worklist.dataset_pk) if events else {}
    acknowledged: list[str] = []
    stored: set[int] = set()
    for event in events:
        place_ = pairs.get(event.pair)
        before = known.get(event.event_id)
        if before is not None:
            same = (
                place_ is not None
                and (before.pair_pk, before.annotator_pk) == (place_[0], worklist.annotator_pk)
                and (before.outcome, before.grade) == (event.outcome, event.grade)
            )
            _answer(
                event, acknowledged, refused, None if same else "this event id stands for another judgment"
            )
        elif place_ is None:
            _answer(event, acknowledged, refused, "this pair is not in the dataset's pool")
        elif place_[0] in settled:
            _answer(event, acknowledged, refused, "a lead has settled this pair; it can no longer be judged")
        else:
            row = _judgment_row(session, worklist, event, place_, versions)
            session.add(row)
            known[event.event_id] = row
            stored.add(place_[0])
            _answer(event, acknowledged, refused, None)
    if stored:
        derive_current(session, worklist.dataset_pk, stored)
        drop_leases(session, worklist, sorted(stored))
    return acknowledged


def _answer(event: JudgmentEvent, acknowledged: list[str], refused: list[Refusal], why: str | None) -> None:
    if why is None:
        acknowledged.append(event.event_id)
    else:
        refused.append(Refusal(event.event_id, why))


def _find_pairs(session: Session, worklist: Worklist, keys: set[str]) -> dict[str, tuple[int, int]]:
    """pair key -> (pair_pk, document_pk), of this dataset only. (Looked up by key alone: it is unique.)"""
    statement = select(col(PairRow.key), col(PairRow.pk), col(PairRow.document_pk), col(PairRow.dataset_pk))
    found = session.execute(statement.where(col(PairRow.key).in_(keys)))
    return {
        key: (key_of(pk), document_pk)
        for key, pk, document_pk, dataset_pk in found
        if dataset_pk == worklist.dataset_pk
    }


def _list_rubric_versions(session: Session, dataset_pk: int) -> dict[int, int]:
    statement = select(col(RubricRow.version), col(RubricRow.pk)).where(
        col(RubricRow.dataset_pk) == dataset_pk
    )
    return {version: key_of(pk) for version, pk in session.execute(statement)}


def _judgment_row(
    session: Session,
    worklist: Worklist,
    event: JudgmentEvent,
    pair: tuple[int, int],
    versions: dict[int, int],
) -> JudgmentRow:
    pair_pk, document_pk = pair
    shown = event.document_sha256
    if shown is None or not _has_text(session, document_pk, shown):
        shown = session.scalar(select(col(DocumentRow.text_sha256)).where(col(DocumentRow.pk) == document_pk))
    return JudgmentRow.model_validate(
        {
            "event_id": event.event_id,
            "pair_pk": pair_pk,
            "annotator_pk": worklist.annotator_pk,
            "rubric_pk": versions.get(event.guideline_version or 0) or versions[max(versions)],
            "outcome": event.outcome,
            "grade": event.grade,
            "note": event.note,
            "document_sha256": shown,
            "judged_at": min(event.pressed_at, worklist.now),
            "received_at": worklist.now,
            "seconds": event.seconds,
        }
    )


def _has_text(session: Session, document_pk: int, sha256: str) -> bool:
    statement = select(col(DocumentTextRow.sha256)).where(
        col(DocumentTextRow.document_pk) == document_pk, col(DocumentTextRow.sha256) == sha256
    )
    return session.scalar(statement) is not None


def _find_judged(session: Session, worklist: Worklist, have: Sequence[str]) -> list[str]:
    mine = exists().where(
        col(CurrentJudgmentRow.pair_pk) == col(PairRow.pk),
        col(CurrentJudgmentRow.annotator_pk) == worklist.annotator_pk,
        col(CurrentJudgmentRow.outcome) != "later",
    )
    settled = exists().where(col(AdjudicationRow.pair_pk) == col(PairRow.pk))
    return list(session.scalars(select(col(PairRow.key)).where(col(PairRow.key).in_(have), mine | settled)))


def _hand_out(
    session: Session, worklist: Worklist, dataset: DatasetRow, actor: Actor, have: Sequence[str], want: int
) -> list[HandedPair]:
    """Lease up to `want` pairs, query by query, and prolong the leases of those in the browser."""
    drop_expired_leases(session, worklist)
    held = {pk for pk, _document in _find_pairs(session, worklist, set(have)).values()}
    chosen = _choose_pairs(session, worklist, dataset.seed, actor.username, have, held, want)
    until = worklist.now + timedelta(minutes=dataset.lease_minutes)
    take_leases(session, worklist, [*held, *chosen], until=until)
    return _read_handed(session, worklist.dataset_pk, chosen)


def _choose_pairs(
    session: Session,
    worklist: Worklist,
    seed: int,
    annotator: str,
    have: Sequence[str],
    held: Collection[int],
    want: int,
) -> list[int]:
    """Up to `want` open pairs that are not held, query by query; what was put off comes after all else."""
    chosen: list[int] = []
    for put_off in (False, True):
        queries = _choose_queries(session, worklist, seed, annotator, have, put_off=put_off)
        while len(chosen) < want and (query_pk := next(queries, None)) is not None:
            found = [
                pair
                for pair in list_open_pairs(session, worklist, query_pk, put_off=put_off)
                if pair.pair_pk not in held and pair.pair_pk not in chosen
            ]
            found.sort(key=lambda pair: (not pair.begun, place(seed, annotator, pair.key)))
            chosen += [pair.pair_pk for pair in found[: want - len(chosen)]]
    return chosen


def _choose_queries(
    session: Session, worklist: Worklist, seed: int, annotator: str, have: Sequence[str], *, put_off: bool
) -> Iterator[int]:
    """The queries to take pairs from: the one at hand, then those that others have begun, then fresh ones,
    each group in the annotator's own order. Looked up only as far as they are asked for."""
    at_hand = (
        session.scalar(select(col(PairRow.query_pk)).where(col(PairRow.key) == have[-1]))
        if have
        else find_last_query(session, worklist)
    )
    if at_hand is not None:
        yield at_hand
    for begun in (True, False):
        found = list_open_queries(session, worklist, begun=begun, put_off=put_off)
        found.sort(key=lambda query: place(seed, annotator, query[1]))
        yield from (query_pk for query_pk, _query_id in found if query_pk != at_hand)


def _read_handed(session: Session, dataset_pk: int, pair_pks: Sequence[int]) -> list[HandedPair]:
    version = find_rubric(session, dataset_pk).version
    statement = (
        select(
            col(PairRow.pk),
            col(PairRow.key),
            QueryRow,
            DocumentRow,
            func.substr(col(DocumentTextRow.text), 1, SHOWN_CHARACTERS),
            func.length(col(DocumentTextRow.text)),
        )
        .join(QueryRow, col(QueryRow.pk) == col(PairRow.query_pk))
        .join(DocumentRow, col(DocumentRow.pk) == col(PairRow.document_pk))
        .outerjoin(
            DocumentTextRow,
            (col(DocumentTextRow.document_pk) == col(DocumentRow.pk))
            & (col(DocumentTextRow.sha256) == col(DocumentRow.text_sha256)),
        )
        .where(col(PairRow.pk).in_(pair_pks))
    )
    found = {
        pk: HandedPair(
            pair=key,
            query_id=query.query_id,
            query=query.text,
            narrative=query.narrative,
            doc_id=document.doc_id,
            title=document.title,
            url=document.url,
            media_type=document.media_type,
            text=text,
            length=length or 0,
            document_sha256=document.text_sha256,
            guideline_version=version,
        )
        for pk, key, query, document, text, length in session.execute(statement)
    }
    return [found[pk] for pk in pair_pks]


def _annotator_progress(session: Session, dataset_pk: int) -> list[AnnotatorProgress]:
    """Everybody with a role on this dataset who is an annotator or has judged something, by username."""
    judgments = (
        select(
            col(CurrentJudgmentRow.annotator_pk),
            func.sum(case((col(CurrentJudgmentRow.outcome) == "later", 0), else_=1)),
            func.sum(case((col(CurrentJudgmentRow.outcome) == "unrateable", 1), else_=0)),
            func.sum(case((col(CurrentJudgmentRow.outcome) == "later", 1), else_=0)),
            func.max(col(JudgmentRow.judged_at)),
        )
        .join(JudgmentRow, col(JudgmentRow.pk) == col(CurrentJudgmentRow.judgment_pk))
        .where(col(CurrentJudgmentRow.dataset_pk) == dataset_pk)
        .group_by(col(CurrentJudgmentRow.annotator_pk))
    )
    given = {
        pk: (judged, unrateable, later, last)
        for pk, judged, unrateable, later, last in session.execute(judgments)
    }
    members = select(col(MembershipRow.person_pk)).where(
        col(MembershipRow.role) == "annotator", col(MembershipRow.dataset_pk) == dataset_pk
    )
    people = session.scalars(
        select(PersonRow)
        .where(col(PersonRow.pk).in_(members) | col(PersonRow.pk).in_(given))
        .order_by(col(PersonRow.username))
    )
    return [
        AnnotatorProgress(
            person.username, person.name, person.simulated, *given.get(key_of(person.pk), (0, 0, 0, None))
        )
        for person in people
    ]


def _query_progress(session: Session, dataset_pk: int, overlap: int) -> list[QueryProgress]:
    statement = (
        select(
            col(QueryRow.query_id),
            col(QueryRow.text),
            col(QueryRow.category),
            func.count(col(PairRow.pk)),
            func.sum(case((col(PairRow.judged) >= overlap, 1), else_=0)),
            func.sum(case(((col(PairRow.judged) > 0) & (col(PairRow.judged) < overlap), 1), else_=0)),
        )
        .outerjoin(PairRow, col(PairRow.query_pk) == col(QueryRow.pk))
        .where(col(QueryRow.dataset_pk) == dataset_pk)
        .group_by(
            col(QueryRow.pk),
            col(QueryRow.position),
            col(QueryRow.query_id),
            col(QueryRow.text),
            col(QueryRow.category),
        )
        .order_by(col(QueryRow.position))
    )
    return [QueryProgress(*row) for row in session.execute(statement)]
