"""Store an annotator's judgments and return the next pairs, in one transaction; list who has judged what.

Called by `web/labeling/api.py`. Refuses an event on a pair that is not in the dataset or that a lead has
settled. Never returns ranks, scores, system names or other people's grades.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from annotator.domain.errors import NotFound, ValidationError
from annotator.domain.judgments import (
    AnnotatorProgress,
    DatasetActivity,
    JudgmentEvent,
    PairView,
    QueryProgress,
    RefusedEvent,
    TrainingFeedback,
    TrainingState,
)
from annotator.domain.people import Actor, includes
from annotator.labeling.exchange_sql import ExchangeContext, read_context, share_dataset
from annotator.labeling.next_pairs import (
    MOST_OF_A_QUERY,
    MOST_WANTED,
    NextPairs,
    NextPairsRequest,
    choose_next_pairs,
    choose_whole_query,
    find_needless,
    number_pairs,
)
from annotator.labeling.next_pairs_sql import (
    SpecialWork,
    StoredChecks,
    StoredWork,
    list_waiting_checks,
    prolong_repeats,
    read_check_rates,
)
from annotator.labeling.open_pairs_sql import count_work, find_idle_reason, take_leases
from annotator.labeling.records import AnnotatorPairState, IdleReason, NextPair, OwnProgress
from annotator.labeling.shown_sql import (
    AnswerCount,
    HandedOut,
    count_judged_since,
    count_pairs,
    keep_progress,
    lacks_judgments,
    list_annotator_progress,
    list_progress,
    list_query_progress,
    make_shown,
    measure_progress,
    read_handed_out,
)
from annotator.labeling.submission import plan_submission, read_events
from annotator.labeling.submission_sql import (
    StoredFacts,
    read_feedback,
    read_pair_states,
    store_plan,
)
from annotator.people.roles_service import enter_dataset, list_roles, open_dataset
from annotator.storage.database import Database, Writable
from annotator.storage.judgments.current_judgments import CurrentJudgment, list_current_judgments
from annotator.storage.judgments.quality_pairs import list_waiting
from annotator.storage.lookup import (
    OpenPairsRequest,
    end_leases_ahead,
    find_handed_out,
    find_pair_pk,
    key_of,
    make_open_pairs_request,
)
from annotator.storage.pairs.document_text import DocumentBeginning, find_beginning, read_present_text
from annotator.storage.tables.central import DatasetRow

MOST_EVENTS = 500
MOST_TRIES = 5
EXACT_BELOW = 20
"""Fewer pairs left than this are counted at every press: a browser that looks ahead is about to end."""
COUNTED_QUERIES = 1_000
"""Up to this number of queries in a dataset, every press counts the remaining work."""


@dataclass(frozen=True, slots=True)
class SubmitResponse:
    """The response to a submission: stored and refused events, the next pairs, and the progress."""

    acknowledged: tuple[str, ...]  # ids of the stored events
    refused: tuple[RefusedEvent, ...]
    pairs: tuple[PairView, ...]  # handed out now
    judged: tuple[str, ...]  # pairs of `have` that need nothing any more: judged elsewhere, settled, or gone
    done: int  # neither this nor `total` tells which pairs are checks (`labeling/records.py`)
    total: int
    feedback: tuple[TrainingFeedback, ...] = ()  # shown after answers in training
    surplus: tuple[
        str, ...
    ] = ()  # acknowledged events that came when others had done the work; a browser is not shown which
    training: TrainingState | None = None  # None without training
    added: int = 0  # pairs that have come since the last response
    answered: int = 0  # the annotator's current judgments and answered checks
    idle: IdleReason | None = None  # why the browser has no pair although it asked for some
    is_unrepeatable: bool = False  # all that it stored were the annotator's first answers on their pairs


@dataclass(frozen=True, slots=True)
class LabelingProgress:
    """The judgments and the remaining work, by annotator and query."""

    overlap: int
    uneven: bool  # not every pair is to be judged by `overlap` annotators
    pairs: int  # to be judged as work
    complete: int  # pairs that lack no judgment
    begun: int
    annotators: tuple[AnnotatorProgress, ...]
    queries: tuple[QueryProgress, ...]
    checks: int = 0  # pairs that only check annotators (`overview/records.py`)


def submit_judgments(
    database: Writable,
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
    """Store the events, and hand out up to `want` pairs (at most 50) in addition to `have`.

    `events`: the list as the browser sent it. A repeated event id is acknowledged and changes nothing.
    Acknowledged events are stored permanently; refused ones have a reason. `have`: keys of the shown pairs;
    it only prolongs leases, because keys of pairs that were not handed to the annotator are treated as
    unknown.

    `database`: a database, or a transaction that several submissions share (`Database.write_together`).
    `tab`: the browser tab; pairs that another tab of the same annotator holds come last.
    """
    accepted, malformed = read_events(events)
    if len(accepted) > MOST_EVENTS:
        raise ValidationError(f"events: expected at most {MOST_EVENTS} in one request, found {len(accepted)}")
    wish = _Wish(tuple(have), want, tab, whole, now)
    response, lost = _exchange_at_once(database, actor, dataset, accepted, wish)
    for _ in range(MOST_TRIES):
        if not lost or response.pairs or len(response.judged) < len(have):
            break
        # Others took all chosen pairs: choose again, now without the locks of the submitted answers.
        anew, lost = _exchange_at_once(database, actor, dataset, (), wish)
        response = replace(
            anew,
            acknowledged=response.acknowledged,
            refused=response.refused,
            surplus=response.surplus,
            feedback=response.feedback,
            is_unrepeatable=response.is_unrepeatable,
        )
    return replace(response, refused=(*malformed, *response.refused)) if malformed else response


@dataclass(frozen=True, slots=True)
class _Wish:
    """The pairs that a browser shows, and its request for more."""

    have: tuple[str, ...]  # keys of the pairs that it shows
    want: int
    tab: str
    whole: bool  # a whole query at a time
    now: datetime


def _exchange_at_once(
    database: Writable, actor: Actor, dataset: str, events: Sequence[JudgmentEvent], wish: _Wish
) -> tuple[SubmitResponse, bool]:
    """Call `_exchange`. Retry once if the event id was stored concurrently."""
    try:
        return _exchange(database, actor, dataset, events, wish)
    except IntegrityError:
        return _exchange(database, actor, dataset, events, wish)


def _exchange(
    database: Writable, actor: Actor, dataset: str, events: Sequence[JudgmentEvent], wish: _Wish
) -> tuple[SubmitResponse, bool]:
    """Store the events and hand out pairs, in one transaction.

    Returns the response, and whether another annotator took one of the chosen pairs. Locks rows in the order
    that docs/architecture.md explains ("Who waits for whom").
    """
    have = wish.have
    with database.write() as session:
        context, request, pairs = _enter(session, actor, dataset, events, wish)
        facts = StoredFacts(session, request, context)
        plan = plan_submission(events, pairs, context.stored, facts, annotator_pk=request.annotator_pk)
        store_plan(session, request, context, plan)
        feedback = read_feedback(session, plan)
        if any(event.pair in have for event in events):
            pairs = read_pair_states(session, request, context.eligibility, have)
        shown = {key: pairs[key] for key in have if key in pairs}
        judged = find_needless(shown, whole=wish.whole)
        drawn = list_waiting(session, request) if context.has_draws else []
        checks = list_waiting_checks(session, request, context.eligibility) if context.has_checks else []
        wanted = NextPairsRequest(
            order_seed=context.dataset.order_seed,
            check_seed=context.dataset.check_seed,
            annotator=actor.username,
            want=min(wish.want, MOST_OF_A_QUERY if wish.whole else MOST_WANTED),
            rates=read_check_rates(context.dataset),
            shown={key: pair for key, pair in shown.items() if key not in judged},
            held=context.leases - plan.ended_leases,
            training=facts.find_training(),
            answered_query=plan.query_pk,
            waiting=[*drawn, *checks],
        )
        special = SpecialWork(
            outdated=context.has_outdated or plan.may_be_outdated(max(context.versions)),
            put_off=context.has_put_off or plan.has_put_off,
            other_tabs=context.has_other_tabs,
        )
        work = StoredWork(session, request, context, special)
        chosen, lost = _lease_next(work, wanted, whole=wish.whole, wait=not events)
        handed_out = read_handed_out(
            session,
            request,
            context.eligibility,
            chosen.pairs,
            columns=context.dataset.shown_metadata or (),
            count_work=context.bounds.span <= COUNTED_QUERIES,
        )
        handed = handed_out.views if wish.whole else _number(wanted, chosen.pairs, handed_out)
        waiting = len(drawn), len(checks) + chosen.new_checks
        answered, progress = _advance_progress(work, wanted, handed_out, waiting)
        is_idle = wish.want > 0 and not chosen.pairs and not wanted.shown
        idle = find_idle_reason(session, request, context.eligibility) if is_idle else None
    response = SubmitResponse(
        tuple(event.event_id for event in plan.acknowledged),
        tuple(plan.refused),
        tuple(handed),
        tuple(judged),
        progress.done,
        progress.total,
        tuple(feedback),
        tuple(plan.surplus),
        wanted.training,
        progress.added,
        answered,
        idle,
        plan.is_unrepeatable,
    )
    return response, lost


def read_whole_text(database: Database, actor: Actor, dataset: str, pair: str) -> str:
    """Return the whole text of a pair's document. The handed-out view may be cut."""
    with database.read() as session:
        pair_pk = _find_readable(session, actor, dataset, pair)
        text = None if pair_pk is None else read_present_text(session, pair_pk)
        if text is None:
            raise NotFound("there is no text for this pair")
        return text


def read_document_beginning(
    database: Database, actor: Actor, dataset: str, pair: str, *, characters: int
) -> DocumentBeginning:
    """Return the document of a pair, with the first `characters` of its text."""
    with database.read() as session:
        pair_pk = _find_readable(session, actor, dataset, pair)
        document = None if pair_pk is None else find_beginning(session, pair_pk, most=characters)
    if document is None:
        raise NotFound("there is no text for this pair")
    return document


def _find_readable(session: Session, actor: Actor, dataset: str, pair: str) -> int | None:
    """Return the pair_pk for the key if the actor may read its document, or None.

    Annotators may read pairs that were handed to them, leads every pair.
    """
    dataset_pk = key_of(enter_dataset(session, actor, dataset, "annotator").pk)
    pair_pk = find_handed_out(session, dataset_pk, actor.person_id, pair)
    role = list_roles(session, actor).role_on(dataset_pk) or "annotator"
    if pair_pk is None and (actor.is_operator or includes(role, "lead")):
        return find_pair_pk(session, dataset_pk, pair)
    return pair_pk


def list_judgments(
    database: Database, actor: Actor, dataset: str, *, history: bool = False
) -> list[CurrentJudgment]:
    """Return every current judgment, or with `history` every one ever given. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        return list_current_judgments(session, dataset_pk, history=history)


def count_recent_judgments(database: Database, actor: Actor, dataset: str, *, since: datetime) -> int:
    """Count the judgments since then, without imported and simulated ones. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        return sum(count_judged_since(session, dataset_pk, since).values())


def show_activity(database: Database, actor: Actor, dataset: str, *, since: datetime) -> DatasetActivity:
    """Return the people's judgments since then, and whether work remains. For leads."""
    with open_dataset(database, actor, dataset, "lead", archived_too=True) as (session, _, dataset_pk):
        return DatasetActivity(
            people=tuple(list_annotator_progress(session, dataset_pk)),
            recent=count_judged_since(session, dataset_pk, since),
            has_work=lacks_judgments(session, dataset_pk),
        )


def compute_progress(database: Database, actor: Actor, dataset: str) -> LabelingProgress:
    """Return the judgments and the remaining work, per annotator and per query. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, row, _):
        return summarize_progress(session, row)


def summarize_progress(session: Session, row: DatasetRow) -> LabelingProgress:
    """Compute the progress of `compute_progress` in an open transaction."""
    dataset_pk = key_of(row.pk)
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


def list_work_progress(
    database: Database, actor: Actor, dataset: str, *, now: datetime
) -> dict[str, OwnProgress]:
    """Return {username: progress} as shown to each person who can label in the dataset. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, row, _):
        return list_progress(session, row, now=now)


def _enter(
    session: Session, actor: Actor, dataset: str, events: Sequence[JudgmentEvent], wish: _Wish
) -> tuple[ExchangeContext, OpenPairsRequest, dict[str, AnnotatorPairState]]:
    """Take the locks, and read the state of the answered and shown pairs."""
    answered = {event.pair for event in events}
    event_ids = sorted({event.event_id for event in events})
    while True:
        locks = share_dataset(session, dataset, actor.person_id or 0, answered)
        context = read_context(session, actor, dataset, event_ids=event_ids, tab=wish.tab, now=wish.now)
        request = make_open_pairs_request(context.dataset, context.annotator_pk, wish.now, wish.tab)
        keys = answered.union(wish.have)
        pairs = read_pair_states(session, request, context.eligibility, keys, answered)
        named = (pairs[key] for key in answered if key in pairs)
        if locks is None or locks.cover({pair.pair_pk for pair in named if pair.repeat_pk is None}):
            return context, request, pairs
        # A role, or a pair, is there since a moment ago: it was not there to be locked.


def _advance_progress(
    work: StoredWork, wanted: NextPairsRequest, handed_out: HandedOut, waiting: tuple[int, int]
) -> tuple[int, OwnProgress]:
    """Return the number of answered pairs, and the progress to show, after storing it.

    `waiting`: the numbers of waiting quality pairs and of handed-out checks. With many queries, the total is
    counted only when a page opens, at a change of query, and for the last pairs, because counting reads a row
    per query.
    """
    session, request, context = work.session, work.request, work.context
    checks = StoredChecks(session, request).count_answered_checks() if context.has_checks else 0
    shown = make_shown(request, context.shown, context.last_lease_end)
    progress, done = shown.progress, handed_out.done + checks
    at_hand = {pair.query_pk for pair in wanted.shown.values()} | {wanted.answered_query}
    is_within_query = at_hand.issuperset(query_pk for _, query_pk in handed_out.queries) and at_hand != {None}
    is_ending = progress is None or progress.total - done < EXACT_BELOW
    if progress is not None and handed_out.work is None and is_within_query and not is_ending:
        progress = replace(progress, done=max(progress.done, done))
    else:
        progress = measure_progress(
            session,
            request,
            context.dataset,
            wanted.annotator,
            AnswerCount(handed_out.done, checks, *waiting),
            handed_out.work or count_work(session, request, context.eligibility),
            shown,
        )
    if progress != shown.progress:
        keep_progress(session, request, progress)
    return done, progress


def _lease_next(
    work: StoredWork, wanted: NextPairsRequest, *, whole: bool, wait: bool
) -> tuple[NextPairs, bool]:
    """Choose and lease the next pairs, and prolong the leases of the shown ones.

    Also returns whether another annotator took one of the chosen pairs. `wait`: see `take_leases`.
    """
    session, request = work.session, work.request
    if work.context.has_leases_ahead(request):
        end_leases_ahead(session, request)
    choose = choose_whole_query if whole else choose_next_pairs
    chosen = choose(wanted, work, StoredChecks(session, request))
    prolong_repeats(session, request, wanted.shown_repeats)
    lost = take_leases(
        session,
        request,
        held={*wanted.prolonged, *(pair_pk for pair_pk in chosen.leased if pair_pk not in work.open_pks)},
        chosen=work.open_pks.intersection(chosen.leased),
        until=request.now + request.lease,
        wait=wait,
    )
    return chosen.leave_out(lost), bool(lost)


def _number(
    wanted: NextPairsRequest, chosen: Sequence[NextPair], handed_out: HandedOut
) -> tuple[PairView, ...]:
    """Say of each pair which document of its query it is; not of training and of answers asked for again."""
    views = handed_out.views
    numbered = [
        query
        for query, view in zip(handed_out.queries, views, strict=True)
        if not (view.training or view.answer)
    ]
    counts = {query_pk: handed_out.counts[query_pk] for _, query_pk in numbered}
    numbers = number_pairs(numbered, wanted.shown.values(), counts)
    return tuple(
        replace(view, position=numbers.get(pair.pair_pk)) for pair, view in zip(chosen, views, strict=True)
    )
