"""What an annotator does: hand in judgments and be given the next pairs; and who has judged what.

Stands in the middle of the walk: `web/api.py` calls `submit_judgments`, which stores what was pressed and
hands out what comes next in one transaction. Refuses an event on a pair that is not the dataset's, or that a
lead has settled already. Nothing handed out holds a rank, a score, a system or anybody's grade.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.accounts.service import require_person, require_role
from annotator.domain.errors import NotFound, ValidationError
from annotator.domain.labeling import AnnotatorProgress, Feedback, HandedPair, QueryProgress, TrainingState
from annotator.domain.people import Actor
from annotator.labeling.events import JudgmentEvent, Refusal, read_events
from annotator.labeling.order import place
from annotator.storage.current import CurrentJudgment, derive_current, list_current_judgments
from annotator.storage.database import Database, lock_dataset
from annotator.storage.find import find_dataset, find_pair_pk, key_of
from annotator.storage.handing import (
    find_needless,
    find_pairs,
    find_settled,
    find_stored,
    find_text_hash,
    find_whole_text,
    has_text,
    list_rubric_versions,
    read_handed,
)
from annotator.storage.progress import list_annotator_progress, list_query_progress
from annotator.storage.tables import (
    DatasetRow,
    JudgmentRow,
    PairRow,
)
from annotator.storage.worklist import (
    Worklist,
    count_done,
    count_open_pairs,
    drop_expired_leases,
    drop_leases,
    find_last_query,
    list_leased_elsewhere,
    list_open_pairs,
    list_open_queries,
    take_leases,
)

MOST_WANTED = 50
MOST_EVENTS = 500


@dataclass(frozen=True, slots=True)
class Exchange:
    """The answer to a hand-in: what is stored, what is refused, what comes next, and how far along.

    `judged` are pairs of `have` that need nothing any more: the annotator judged them elsewhere (in another
    tab, on another device), or a lead has settled them.
    `done` counts the annotator's current judgments, `total` adds the pairs still open to them. `feedback`: what is
    shown after answers in training. `surplus`: acknowledged events that came after their lease had run out, when
    others had done what the pair needs; they are kept. `training`: how far it is, None when there is none.
    """

    acknowledged: tuple[str, ...]
    refused: tuple[Refusal, ...]
    pairs: tuple[HandedPair, ...]
    judged: tuple[str, ...]
    done: int
    total: int
    feedback: tuple[Feedback, ...] = ()
    surplus: tuple[str, ...] = ()
    training: TrainingState | None = None


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
    tab: str = "",
    whole: bool = False,
    now: datetime,
) -> Exchange:
    """Store what was pressed, and hand out up to `want` further pairs (at most 50) beside those in `have`.

    `tab` names the browser tab: what another tab of the same annotator holds, on this device or another, comes last.

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
        worklist = Worklist(key_of(row.pk), require_person(actor), row.overlap, now, tab)
        acknowledged = _store(session, worklist, read, refused)
        judged = find_needless(session, worklist, have)
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
        pair_pk = find_pair_pk(session, key_of(row.pk), actor.person_id, pair)
        text = None if pair_pk is None else find_whole_text(session, pair_pk)
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
        queries = tuple(list_query_progress(session, dataset_pk, row.overlap))
        return Progress(
            overlap=row.overlap,
            pairs=sum(query.pairs for query in queries),
            complete=sum(query.complete for query in queries),
            begun=sum(query.begun for query in queries),
            annotators=tuple(list_annotator_progress(session, dataset_pk)),
            queries=queries,
        )


def _store(
    session: Session, worklist: Worklist, events: Sequence[JudgmentEvent], refused: list[Refusal]
) -> list[str]:
    """Append the events that are new; returns the ids to acknowledge and adds to `refused`."""
    if not events:
        return []
    known = find_stored(session, {event.event_id for event in events})
    pairs = find_pairs(session, worklist, {event.pair for event in events})
    settled = find_settled(session, {pk for pk, _document in pairs.values()})
    versions = list_rubric_versions(session, worklist.dataset_pk)
    acknowledged: list[str] = []
    stored: set[int] = set()
    for event in events:
        pair, before = pairs.get(event.pair), known.get(event.event_id)
        if before is not None:
            why = (
                None
                if _is_same(before, event, pair, worklist)
                else "this event id stands for another judgment"
            )
        else:
            why = _why_not(pair, settled)
        if why is not None:
            refused.append(Refusal(event.event_id, why))
            continue
        acknowledged.append(event.event_id)
        if before is None and pair is not None:
            known[event.event_id] = _judgment_row(session, worklist, event, pair, versions)
            session.add(known[event.event_id])
            stored.add(pair[0])
    if stored:
        derive_current(session, worklist.dataset_pk, stored)
        drop_leases(session, worklist, sorted(stored))
    return acknowledged


def _is_same(
    before: JudgmentRow, event: JudgmentEvent, pair: tuple[int, int] | None, worklist: Worklist
) -> bool:
    """Whether an event of a known id is a second delivery of the stored judgment."""
    stored = (before.pair_pk, before.annotator_pk, before.outcome, before.grade)
    return pair is not None and stored == (pair[0], worklist.annotator_pk, event.outcome, event.grade)


def _why_not(pair: tuple[int, int] | None, settled: Collection[int]) -> str | None:
    """Why a new judgment of this pair is refused, in words for the annotator; None when it is not."""
    if pair is None:
        return "this pair is not in the dataset's pool"
    if pair[0] in settled:
        return "a lead has settled this pair; it can no longer be judged"
    return None


def _judgment_row(
    session: Session,
    worklist: Worklist,
    event: JudgmentEvent,
    pair: tuple[int, int],
    versions: dict[int, int],
) -> JudgmentRow:
    pair_pk, document_pk = pair
    shown = event.document_sha256
    if shown is None or not has_text(session, document_pk, shown):
        shown = find_text_hash(session, document_pk)
    return JudgmentRow.model_validate(
        {
            "event_id": event.event_id,
            "pair_pk": pair_pk,
            "annotator_pk": worklist.annotator_pk,
            "rubric_pk": versions.get(event.guideline_version or 0) or versions[max(versions)],
            "outcome": event.outcome,
            "grade": event.grade,
            "note": event.note,
            "reason": event.reason,
            "document_sha256": shown,
            "judged_at": min(event.pressed_at, worklist.now),
            "received_at": worklist.now,
            "seconds": event.seconds,
        }
    )


def _hand_out(
    session: Session, worklist: Worklist, dataset: DatasetRow, actor: Actor, have: Sequence[str], want: int
) -> list[HandedPair]:
    """Lease up to `want` pairs, query by query, and prolong the leases of those in the browser."""
    drop_expired_leases(session, worklist)
    held = {pk for pk, _document in find_pairs(session, worklist, set(have)).values()}
    chosen = _choose_pairs(session, worklist, dataset.seed, actor.username, have, held, want)
    until = worklist.now + timedelta(minutes=dataset.lease_minutes)
    take_leases(session, worklist, [*held, *chosen], until=until)
    return read_handed(session, worklist.dataset_pk, chosen)


def _choose_pairs(
    session: Session,
    worklist: Worklist,
    seed: int,
    annotator: str,
    have: Sequence[str],
    held: Collection[int],
    want: int,
) -> list[int]:
    """Up to `want` open pairs that are not held, query by query; what was put off comes after all else, and what
    another tab of the annotator holds comes last of all (that tab may have crashed)."""
    chosen: list[int] = []
    elsewhere = list_leased_elsewhere(session, worklist)
    passes = [
        (put_off, last) for last in ((False, True) if elsewhere else (False,)) for put_off in (False, True)
    ]
    for put_off, last in passes:
        queries = _choose_queries(session, worklist, seed, annotator, have, put_off=put_off)
        while len(chosen) < want and (query_pk := next(queries, None)) is not None:
            found = [
                pair
                for pair in list_open_pairs(session, worklist, query_pk, put_off=put_off)
                if pair.pair_pk not in held
                and pair.pair_pk not in chosen
                and (pair.pair_pk in elsewhere) == last
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
