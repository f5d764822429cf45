"""Store an annotator's judgments and return the next pairs, in one transaction; list who has judged what.

Called by `web/labeling/api.py`. Refuses an event on a pair that is not in the dataset or that a lead has settled.
Never returns ranks, scores, system names or other people's grades.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.domain.errors import NotFound, ValidationError
from annotator.domain.judgments import (
    AnnotatorProgress,
    PairView,
    QueryProgress,
    RefusedEvent,
    TrainingFeedback,
    TrainingState,
)
from annotator.domain.people import Actor
from annotator.labeling.checks_sql import count_checks, count_possible_checks, find_training
from annotator.labeling.events import read_events
from annotator.labeling.next_pairs_sql import (
    MOST_OF_A_QUERY,
    NextPairsRequest,
    choose_pairs,
    choose_whole_query,
)
from annotator.labeling.pair_view_sql import find_needless, find_whole_text, read_handed, read_standings
from annotator.labeling.progress_sql import (
    count_pairs,
    list_annotator_progress,
    list_query_progress,
    tell_progress,
)
from annotator.labeling.records import OwnProgress, OwnWork
from annotator.labeling.submit_sql import store_events
from annotator.people.service import require_person, require_role
from annotator.storage.current_judgments import CurrentJudgment, list_current_judgments
from annotator.storage.database import Database, lock_dataset
from annotator.storage.lookup import find_dataset, find_pair_pk, key_of
from annotator.storage.open_pairs import (
    OpenPairsRequest,
    count_work,
    drop_expired_leases,
    find_eligibility,
    make_worklist,
    take_leases,
)
from annotator.storage.quality_pairs import list_waiting

MOST_WANTED = 50
MOST_EVENTS = 500


@dataclass(frozen=True, slots=True)
class SubmitResponse:
    """The answer to a hand-in: what is stored, what is refused, what comes next, and how far along.

    `judged` are pairs of `have` that need nothing any more: the annotator judged them elsewhere (in another
    tab, on another device), or a lead has settled them.
    `done` and `total` only go forward, and nothing in them tells a check (`labeling/records.py`); `answered` counts the
    annotator's current judgments and answered checks. `feedback`: what is
    shown after answers in training. `surplus`: acknowledged events that came after their lease had run out, when
    others had done what the pair needs; they are kept. `training`: how far it is, None when there is none.
    """

    acknowledged: tuple[str, ...]
    refused: tuple[RefusedEvent, ...]
    pairs: tuple[PairView, ...]
    judged: tuple[str, ...]
    done: int
    total: int
    feedback: tuple[TrainingFeedback, ...] = ()
    surplus: tuple[str, ...] = ()
    training: TrainingState | None = None
    answered: int = 0


@dataclass(frozen=True, slots=True)
class LabelingProgress:
    """Who has judged what, and what is left. `pairs`: those to be judged as work; `checks`: the others, which only check
    annotators (`overview/records.py`). `complete` pairs lack no judgment. `uneven`: not every pair is to be judged by `overlap`
    annotators."""

    overlap: int
    uneven: bool
    pairs: int
    complete: int
    begun: int
    annotators: tuple[AnnotatorProgress, ...]
    queries: tuple[QueryProgress, ...]
    checks: int = 0


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
) -> SubmitResponse:
    """Store what was pressed, and hand out up to `want` further pairs (at most 50) beside those in `have`.

    `tab` names the browser tab: what another tab of the same annotator holds, on this device or another, comes last.

    `events` is the list as the browser sent it. An event id seen before is acknowledged and changes nothing.
    What is acknowledged is stored for good; what is refused is named with its reason.
    """
    read, malformed = read_events(events)
    if len(read) > MOST_EVENTS:
        raise ValidationError(f"events: expected at most {MOST_EVENTS} in one request, found {len(read)}")
    with database.write() as session:
        row = find_dataset(session, dataset)
        dataset_pk, person_pk = key_of(row.pk), require_person(actor)
        require_role(session, actor, dataset_pk, "annotator")
        lock_dataset(session, dataset_pk, single_rows=True)
        worklist = make_worklist(row, person_pk, now, tab)
        standings = read_standings(session, worklist, {*have, *(event.pair for event in read)})
        received = store_events(session, worklist, row, read, standings)
        if any(event.pair in have for event in read):
            standings = read_standings(session, worklist, have)
        held = {key: standings[key] for key in have if key in standings}
        judged = find_needless(held, whole=whole)
        shown = {key: one for key, one in held.items() if key not in judged}
        eligibility = find_eligibility(session, dataset_pk, person_pk)
        training = find_training(session, worklist, row, eligibility)
        drawn = list_waiting(session, worklist)
        ask = NextPairsRequest(row, actor.username, eligibility, shown, training, received.query_pk, drawn)
        pairs = _hand_out(session, worklist, ask, want=want, whole=whole)
        answered, progress = _tell_progress(session, worklist, ask, pairs)
    return SubmitResponse(
        tuple(received.acknowledged),
        (*malformed, *received.refused),
        tuple(pairs),
        tuple(judged),
        progress.done,
        progress.total,
        tuple(received.feedback),
        tuple(received.surplus),
        training,
        answered,
    )


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


def compute_progress(database: Database, actor: Actor, dataset: str) -> LabelingProgress:
    """Who has judged what, and what is left, per annotator and per query. For leads."""
    with database.read() as session:
        row = find_dataset(session, dataset)
        dataset_pk = key_of(row.pk)
        require_role(session, actor, dataset_pk, "lead")
        queries = tuple(list_query_progress(session, dataset_pk))
        pairs = sum(query.pairs for query in queries)
        return LabelingProgress(
            overlap=row.overlap,
            uneven=row.overlap_rules is not None,
            pairs=pairs,
            complete=sum(query.complete for query in queries),
            begun=sum(query.begun for query in queries),
            annotators=tuple(list_annotator_progress(session, dataset_pk)),
            queries=queries,
            checks=count_pairs(session, dataset_pk) - pairs,
        )


def _tell_progress(
    session: Session, worklist: OpenPairsRequest, ask: NextPairsRequest, pairs: Sequence[PairView]
) -> tuple[int, OwnProgress]:
    """How many pairs the annotator has answered, checks included, and how far they are told to be. `pairs`: what is handed
    out beside what the browser shows."""
    shown, drawn = ask.have, len(ask.drawn)
    keys = [*shown, *(pair.pair for pair in pairs)]
    checked, checks = count_checks(session, worklist, keys)
    judged, left = count_work(session, worklist, ask.eligibility)
    asked_again = sum(one.answered for one in shown.values()) + sum(one.answer is not None for one in pairs)
    in_hand = max(0, len(keys) - checks - drawn - asked_again)  # ordinary pairs in the browser, at least

    def count_possible() -> int:
        return count_possible_checks(
            session,
            worklist,
            ask.dataset,
            annotator=ask.username,
            ordinary=max(0, left - in_hand),
            held=keys,
            answered=judged + checked,
        )

    work = OwnWork(judged + checked, checked, left + drawn, checks, count_possible)
    return work.answered, tell_progress(session, worklist, work)


def _hand_out(
    session: Session, worklist: OpenPairsRequest, ask: NextPairsRequest, *, want: int, whole: bool
) -> list[PairView]:
    """Lease what comes next, and prolong the leases of what the browser shows."""
    drop_expired_leases(session, worklist)
    choose = choose_whole_query if whole else choose_pairs
    offer = choose(session, worklist, ask, want=min(want, MOST_OF_A_QUERY if whole else MOST_WANTED))
    kept = [one.pair_pk for one in ask.have.values() if one.repeat_pk is None and not one.answered]
    until = worklist.now + worklist.lease
    take_leases(session, worklist, [*kept, *offer.leased], until=until)
    return read_handed(session, worklist, offer.handouts)
