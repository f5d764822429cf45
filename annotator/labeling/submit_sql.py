"""Store the events of a browser as append-only judgments, each key press once.

Runs in the transaction of `labeling/service.py`. Refuses what the person may not judge (any more), with a code that the
panel knows. An answer that came too late is kept as surplus: counted when others did the work, only on record when the
pair has left the pool meanwhile.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.judgments import JudgmentEvent, RefusedEvent, TrainingFeedback
from annotator.domain.overlap import conditional_distance
from annotator.labeling.checks_sql import find_training, note_repeats_answered, read_explanations
from annotator.labeling.pair_view_sql import (
    AnnotatorPairState,
    StoredEvent,
    find_stored,
    is_others_repeat,
    list_rubric_versions,
    list_text_hashes,
)
from annotator.storage.current_judgments import COUNTED, derive_current, mark_late
from annotator.storage.disagreements import derive_disputes
from annotator.storage.lookup import key_of
from annotator.storage.open_pairs import OpenPairsRequest, drop_leases
from annotator.storage.quality_pairs import follow_answers
from annotator.storage.sql import add_rows
from annotator.storage.tables import CurrentJudgmentRow, DatasetRow, JudgmentRow

_WHY = {
    "known_id": "this event id stands for another judgment",
    "not_in_pool": "this pair is not in the dataset's pool",
    "settled": "a lead has settled this pair; it can no longer be judged",
    "disclosed": "you have seen what others said of this pair; it can no longer be judged",
    "not_yours": "this pair was given to somebody else",
}


@dataclass(slots=True)
class SubmitResult:
    """The ids of the events that are stored, those that were refused, what training says to them, and which of the
    stored ones the pair did not need any more; and the query of the last that is stored."""

    acknowledged: list[str] = field(default_factory=list)
    refused: list[RefusedEvent] = field(default_factory=list)
    feedback: list[TrainingFeedback] = field(default_factory=list)
    surplus: list[str] = field(default_factory=list)
    query_pk: int | None = None


def store_events(
    session: Session,
    worklist: OpenPairsRequest,
    dataset: DatasetRow,
    events: Sequence[JudgmentEvent],
    found: Mapping[str, AnnotatorPairState],
) -> SubmitResult:
    """Append the events that are new, in their order; all that is derived from them follows. `found`: how their pairs
    stand (and perhaps others), by key."""
    receipt = SubmitResult()
    if not events:
        return receipt
    known = find_stored(session, {event.event_id for event in events})
    standings = {event.pair: found[event.pair] for event in events if event.pair in found}
    untrained = _is_untrained(session, worklist, dataset, standings.values())
    versions = list_rubric_versions(session, worklist.dataset_pk)
    texts = list_text_hashes(session, {one.document_pk for one in standings.values()})
    rows: list[dict[str, Any]] = []
    stored: list[tuple[JudgmentEvent, AnnotatorPairState, str]] = []
    accepted: list[JudgmentEvent] = []  # an id may come twice, and be refused once
    for event in events:
        one, before = standings.get(event.pair), known.get(event.event_id)
        code, why = _find_objection(session, event, one, before, worklist, untrained=untrained)
        if code or one is None:
            receipt.refused.append(RefusedEvent(event.event_id, why, code))
            continue
        receipt.acknowledged.append(event.event_id)
        accepted.append(event)
        receipt.query_pk = one.query_pk
        if before is not None:
            continue
        purpose = _find_purpose(session, dataset, one)
        if purpose in COUNTED and event.outcome != "later" and _is_surplus(one):
            receipt.surplus.append(event.event_id)
        rows.append(_row(worklist, event, one, purpose, versions, *texts[one.document_pk]))
        known[event.event_id] = StoredEvent(one.pair_pk, worklist.annotator_pk, event.outcome, event.grade)
        stored.append((event, one, purpose))
        standings[event.pair] = _after(one, event, purpose)
    add_rows(session, JudgmentRow, mark_late(session, rows))
    _follow(session, worklist, stored)
    receipt.feedback += _explain(session, accepted, standings)
    return receipt


def _is_untrained(
    session: Session,
    worklist: OpenPairsRequest,
    dataset: DatasetRow,
    standings: Collection[AnnotatorPairState],
) -> bool:
    """Whether real pairs do not come yet; asked only when there is one that was never handed out."""
    if all(one.leased or one.answered or one.kind or one.repeat_pk for one in standings):
        return False
    training = find_training(session, worklist, dataset)
    return training is not None and not training.passed


def _find_objection(
    session: Session,
    event: JudgmentEvent,
    one: AnnotatorPairState | None,
    before: StoredEvent | None,
    worklist: OpenPairsRequest,
    *,
    untrained: bool,
) -> tuple[str, str]:
    """Why an event is not stored: a code and words for the annotator; ("", "") when it is."""
    if before is not None:
        stored = (before.pair_pk, before.annotator_pk, before.outcome, before.grade)
        same = one is not None and stored == (one.pair_pk, worklist.annotator_pk, event.outcome, event.grade)
        code = "" if same else "known_id"
    elif one is None:
        code = "not_yours" if is_others_repeat(session, event.pair) else "not_in_pool"
    elif one.disclosed:
        code = "disclosed"
    elif one.settled and one.kind is None:
        code = "settled"
    elif one.kind == "training" and one.tried and not one.leased and not one.answered:
        return "settled", "an answer in training is explained at once, so it cannot be changed"
    elif untrained and not (one.leased or one.answered or one.kind or one.repeat_pk):
        return "not_yours", "real pairs come after training"
    else:
        code = ""
    return code, _WHY.get(code, "")


def _find_purpose(session: Session, dataset: DatasetRow, one: AnnotatorPairState) -> str:
    """For what an answer counts. A revision counts for what the first answer did."""
    if one.repeat_pk is not None:
        return "repeat"
    if one.answered and one.purpose is not None:
        return one.purpose
    if one.drawn:
        return "quality"
    if one.kind is not None:
        return one.kind
    if one.judged < one.wanted:
        return "independent"
    asked_further = one.lacking > 0 or _differ(session, dataset, one.pair_pk)
    return "conditional" if asked_further else "independent"


def _differ(session: Session, dataset: DatasetRow, pair_pk: int) -> bool:
    """Whether the independent grades of the pair lie as far apart as the dataset's rules name."""
    distance = conditional_distance(dataset.overlap_rules)
    if distance is None:
        return False
    grade = col(CurrentJudgmentRow.grade)
    statement = select(func.max(grade) - func.min(grade)).where(
        col(CurrentJudgmentRow.pair_pk) == pair_pk, col(CurrentJudgmentRow.purpose) == "independent"
    )
    return (session.scalar(statement) or 0) >= distance


def _is_surplus(one: AnnotatorPairState) -> bool:
    return not one.answered and one.lacking == 0 and not one.kept


def _after(one: AnnotatorPairState, event: JudgmentEvent, purpose: str) -> AnnotatorPairState:
    """How the pair stands for the annotator once the event is stored, for the events after it."""
    if purpose in COUNTED or purpose == "quality":
        return replace(one, outcome=event.outcome, purpose=purpose)
    return replace(one, leased=False, tried=one.tried or event.outcome != "later")


def _row(
    worklist: OpenPairsRequest,
    event: JudgmentEvent,
    one: AnnotatorPairState,
    purpose: str,
    versions: dict[int, int],
    present: str | None,
    texts: Collection[str],
) -> dict[str, Any]:
    """The row of a judgment; `present`: the hash of its document's present text, `texts`: of all that it has or had."""
    return {
        "event_id": event.event_id,
        "pair_pk": one.pair_pk,
        "annotator_pk": worklist.annotator_pk,
        "rubric_pk": versions.get(event.guideline_version or 0) or versions[max(versions)],
        "outcome": event.outcome,
        "grade": event.grade,
        "note": event.note,
        "reason": event.reason,
        "purpose": purpose,
        "document_sha256": event.document_sha256 if event.document_sha256 in texts else present,
        "judged_at": min(event.pressed_at, worklist.now),
        "received_at": worklist.now,
        "seconds": event.seconds,
        "browser": event.browser,
        "browser_number": event.number,
    }


def _follow(
    session: Session,
    worklist: OpenPairsRequest,
    stored: Sequence[tuple[JudgmentEvent, AnnotatorPairState, str]],
) -> None:
    """Bring in line what rests on the judgments, and end the leases of what was answered."""
    counted = {one.pair_pk for _event, one, purpose in stored if purpose in COUNTED}
    if counted:
        derive_current(session, worklist.dataset_pk, counted)
    checked = {one.pair_pk for _event, one, purpose in stored if purpose == "quality"}
    follow_answers(session, worklist.annotator_pk, checked)
    derive_disputes(session, worklist.dataset_pk, checked)
    repeats = {one.repeat_pk for event, one, _ in stored if one.repeat_pk and event.outcome != "later"}
    if repeats:
        note_repeats_answered(session, worklist, [key_of(pk) for pk in repeats])
    if stored:
        drop_leases(session, worklist, sorted({one.pair_pk for _event, one, _purpose in stored}))


def _explain(
    session: Session, accepted: Sequence[JudgmentEvent], standings: dict[str, AnnotatorPairState]
) -> list[TrainingFeedback]:
    """What training says to the accepted answers; told again when an answer is delivered again."""
    answers = {
        event.event_id: event
        for event in accepted
        if event.outcome != "later"
        and (one := standings[event.pair]).kind == "training"
        and one.repeat_pk is None
        and not one.answered
    }
    if not answers:
        return []
    right = read_explanations(session, {standings[event.pair].pair_pk for event in answers.values()})
    return [
        TrainingFeedback(event_id, event.pair, *right[standings[event.pair].pair_pk])
        for event_id, event in answers.items()
    ]
