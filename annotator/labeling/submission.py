"""Decide which submitted events are stored, and the purpose of each answer.

Called by `labeling/service.py`; `labeling/submission_sql.py` reads the facts and writes the result. Refuses
an answer that the annotator may not give (any more), with a code that the panel knows. An answer after others
have finished the pair is stored as surplus.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from annotator.domain.judgments import (
    COUNTED_PURPOSE,
    CURRENT_PURPOSES,
    FURTHER_PURPOSE,
    MOST_ANSWERS,
    JudgmentEvent,
    RefusedEvent,
)
from annotator.labeling.pair_records import AnnotatorPairState, StoredEvent

_REASONS = {
    "known_id": "this event id belongs to another judgment",
    "not_in_pool": "this pair was not given to you, or it is not in the dataset's pool",
    "settled": "a lead has settled this pair; it can no longer be judged",
    "disclosed": "you have seen others' judgments of this pair; you can no longer judge it",
    "not_yours": "the query of this pair is judged by others now",
    "too_many": "you have changed your judgment of this pair too often; the last one stays",
}


class SubmissionLookups(Protocol):
    """Facts that few submissions need. They are read lazily."""

    def is_in_training(self) -> bool:
        """Return whether the annotator has a training to pass before ordinary pairs come."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an event is not stored: the panel's code, and words for the annotator."""

    code: str
    why: str


@dataclass(frozen=True, slots=True)
class AcceptedAnswer:
    """An answer to store, the state of the pair before it, and the purpose of the answer."""

    event: JudgmentEvent
    pair: AnnotatorPairState
    purpose: str


@dataclass(slots=True)
class SubmissionPlan:
    """The plan for the events of one request."""

    pairs: dict[str, AnnotatorPairState]  # by key, after the answers
    acknowledged: list[JudgmentEvent] = field(default_factory=list)  # stored now or before
    refused: list[RefusedEvent] = field(default_factory=list)
    answers: list[AcceptedAnswer] = field(default_factory=list)  # to be stored, in this order
    surplus: list[str] = field(default_factory=list)  # ids of answers that the pair did not need any more

    @property
    def query_pk(self) -> int | None:
        """Return the query of the last acknowledged event."""
        return self.pairs[self.acknowledged[-1].pair].query_pk if self.acknowledged else None

    @property
    def has_put_off(self) -> bool:
        """Return whether one of the answers is "later"."""
        return any(answer.event.outcome == "later" for answer in self.answers)

    def may_be_outdated(self, latest_version: int) -> bool:
        """Return whether an answer may belong to an older guideline or text than the present ones."""
        for answer in self.answers:
            event, stored = answer.event, answer.pair.stored
            if event.guideline_version not in (None, latest_version) or stored is None:
                return True
            if event.document_sha256 not in (None, stored.present_text):
                return True
        return False

    @property
    def ended_leases(self) -> int:
        """Return how many running leases the answers end."""
        return len({answer.pair.pair_pk for answer in self.answers if answer.pair.held})

    @property
    def reopened_queries(self) -> set[int]:
        """Return the queries (query_pk) of answered pairs that are now put off."""
        return {
            answer.pair.query_pk
            for answer in self.answers
            if answer.event.outcome == "later" and answer.pair.answered
        }

    @property
    def quality_pairs(self) -> set[int]:
        """Return the pairs (pair_pk) that quality control had drawn for the annotator."""
        return {answer.pair.pair_pk for answer in self.answers if answer.purpose == "quality"}

    @property
    def answered_repeats(self) -> set[int]:
        """Return the repeats (repeat_pk) that have an answer now; "later" is none."""
        return {
            answer.pair.repeat_pk
            for answer in self.answers
            if answer.pair.repeat_pk is not None and answer.event.outcome != "later"
        }

    def list_explained(self) -> Iterator[tuple[JudgmentEvent, int]]:
        """Yield the acknowledged answers in training, with their pairs (pair_pk).

        The right grade is shown for each, also when an answer is delivered again.
        """
        for event in self.acknowledged:
            pair = self.pairs[event.pair]
            in_training = pair.kind == "training" and pair.repeat_pk is None and not pair.answered
            if in_training and event.outcome != "later":
                yield event, pair.pair_pk


def plan_submission(
    events: Sequence[JudgmentEvent],
    pairs: Mapping[str, AnnotatorPairState],
    stored: Mapping[str, StoredEvent],
    lookups: SubmissionLookups,
    *,
    annotator_pk: int,
) -> SubmissionPlan:
    """Decide about each event in order; each decision takes the earlier events of the request into account.

    `pairs`: the named pairs that were handed to the annotator, by key. `stored`: the stored events by id.
    """
    plan = SubmissionPlan({event.pair: pairs[event.pair] for event in events if event.pair in pairs})
    stored = dict(stored)
    for event in events:
        before = stored.get(event.event_id)
        refusal = find_refusal(event, plan.pairs.get(event.pair), before, lookups, annotator_pk=annotator_pk)
        if refusal is not None:
            plan.refused.append(RefusedEvent(event.event_id, refusal.why, refusal.code))
            continue
        plan.acknowledged.append(event)
        if before is not None:
            continue
        pair = plan.pairs[event.pair]
        purpose = find_purpose(pair)
        if is_surplus(event, pair, purpose):
            plan.surplus.append(event.event_id)
        plan.answers.append(AcceptedAnswer(event, pair, purpose))
        stored[event.event_id] = StoredEvent(pair.pair_pk, annotator_pk, event.outcome, event.grade)
        plan.pairs[event.pair] = apply_answer(pair, event, purpose)
    return plan


def find_refusal(
    event: JudgmentEvent,
    pair: AnnotatorPairState | None,
    before: StoredEvent | None,
    lookups: SubmissionLookups,
    *,
    annotator_pk: int,
) -> Refusal | None:
    """Return why the event is refused, or None. `before`: the event that is stored under its id.

    An id of another judgment is always refused with the same code: it reveals nothing about that judgment.
    """
    if before is not None:
        stored_now = pair and StoredEvent(pair.pair_pk, annotator_pk, event.outcome, event.grade)
        return None if before == stored_now else _refuse("known_id")
    if pair is None:
        return _refuse("not_in_pool")
    if pair.sent + (pair.stored.given if pair.stored else 0) >= MOST_ANSWERS:
        return _refuse("too_many")
    if pair.disclosed:
        return _refuse("disclosed")
    if pair.settled and pair.kind is None:
        return _refuse("settled")
    if pair.kind == "training" and pair.tried and not pair.leased and not pair.answered:
        return Refusal("settled", "an answer in training is explained at once, so it cannot be changed")
    if pair.revised:
        return None
    if not pair.eligible and not pair.drawn:
        return _refuse("not_yours")
    if pair.kind != "training" and lookups.is_in_training():
        return Refusal("not_yours", "real pairs come after training")
    return None


def _refuse(code: str) -> Refusal:
    return Refusal(code, _REASONS[code])


def find_purpose(pair: AnnotatorPairState) -> str:
    """Return the purpose of an answer on the pair. A revision keeps the purpose of the first answer.

    An answer after all independent judgments is a further one: it was requested because these differ, or it
    came too late. It never makes a complete pair a disagreement.
    """
    if pair.repeat_pk is not None:
        return "repeat"
    if pair.answered and pair.purpose is not None:
        return pair.purpose
    if pair.drawn:
        return "quality"
    if pair.kind is not None:
        return pair.kind
    return COUNTED_PURPOSE if pair.judged < pair.wanted else FURTHER_PURPOSE


def is_surplus(event: JudgmentEvent, pair: AnnotatorPairState, purpose: str) -> bool:
    """Return whether the pair lacked no judgment: the lease had expired and others did the work."""
    needed = pair.answered or pair.lacking > 0 or pair.kept
    return purpose in CURRENT_PURPOSES and event.outcome != "later" and not needed


def apply_answer(pair: AnnotatorPairState, event: JudgmentEvent, purpose: str) -> AnnotatorPairState:
    """Return the state of the pair for the annotator after the answer."""
    pair = replace(pair, leased=False, held=False, sent=pair.sent + 1)
    if purpose in CURRENT_PURPOSES or purpose == "quality":
        return replace(pair, outcome=event.outcome, purpose=purpose)
    return replace(pair, tried=pair.tried or event.outcome != "later")
