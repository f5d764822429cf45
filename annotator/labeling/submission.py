"""Decide which submitted events are stored, and the purpose of each answer.

Called by `labeling/service.py`; `labeling/submission_sql.py` reads the facts and writes the result. Refuses
an answer that the annotator may not give (any more), with a code that the panel knows. An answer after others
have finished the pair is stored as surplus.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from annotator.domain.errors import ValidationError
from annotator.domain.grades import OUTCOMES, check_grade
from annotator.domain.judgments import (
    COUNTED_PURPOSE,
    CURRENT_PURPOSES,
    FURTHER_PURPOSE,
    MOST_ANSWERS,
    REASONS,
    JudgmentEvent,
    RefusedEvent,
    read_event_id,
    read_pressed_at,
    read_seconds,
)
from annotator.domain.texts import holds_no_text, read_note
from annotator.labeling.records import AnnotatorPairState, StoredEvent

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

    @property
    def is_unrepeatable(self) -> bool:
        """Return whether there are answers, and all are stored now as the annotator's first on their pairs."""
        first = [answer for answer in self.answers if not answer.pair.sent + _count_given(answer.pair)]
        return 0 < len(first) == len(self.acknowledged)

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
    if pair.sent + _count_given(pair) >= MOST_ANSWERS:
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


def _count_given(pair: AnnotatorPairState) -> int:
    """Return how many answers on the pair the annotator gave before this request."""
    return pair.stored.given if pair.stored else 0


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


MAX_BROWSER = 64
MAX_NUMBER = 2**53  # what JavaScript counts exactly
NOT_THE_BROWSERS = ("purpose", "judged_at", "received_at", "stale", "late")  # the server alone says these


def read_events(sent: object) -> tuple[list[JudgmentEvent], list[RefusedEvent]]:
    """Return the events of a request in order, and the refused ones.

    Raises ValidationError if `sent` is not a list.
    """
    if not isinstance(sent, list):
        raise ValidationError(f"events: expected a list, found {type(sent).__name__}")
    events: list[JudgmentEvent] = []
    refusals: list[RefusedEvent] = []
    for entry in sent:
        if not isinstance(entry, Mapping):
            raise ValidationError(f"events: expected objects, found {type(entry).__name__}")
        try:
            events.append(_read_event(entry))
        except ValidationError as error:
            refusals.append(RefusedEvent(_name(entry.get("id", "")), str(error)))
    return events, refusals


def _read_event(entry: Mapping[str, Any]) -> JudgmentEvent:
    for name in NOT_THE_BROWSERS:
        if name in entry:
            raise ValidationError(f"{name}: expected nothing, found {entry[name]!r:.80}")
    outcome = entry.get("outcome")
    if outcome not in OUTCOMES:
        raise ValidationError(f"outcome: expected one of {', '.join(OUTCOMES)}, found {outcome!r}")
    grade = entry.get("grade")
    if outcome != "graded" and grade is not None:
        raise ValidationError(f"grade: expected none with the outcome {outcome}, found {grade!r}")
    version = entry.get("guideline_version")
    browser, number = _read_browser(entry)
    note, reason = read_note(entry.get("note")), _read_reason(entry, outcome)
    if reason == "other" and note is None:
        raise ValidationError("note: expected the reason in words with the reason other, found nothing")
    return JudgmentEvent(
        event_id=read_event_id(entry.get("id")),
        pair=_read_text(entry, "pair") or "",
        outcome=outcome,
        grade=check_grade(grade) if outcome == "graded" else None,
        note=note,
        pressed_at=read_pressed_at(entry.get("pressed_at")),
        seconds=read_seconds(entry.get("seconds")),
        document_sha256=_read_text(entry, "document_sha256"),
        guideline_version=version if type(version) is int else None,
        reason=reason,
        browser=browser,
        number=number,
    )


def _name(event_id: object) -> str:
    """Return an id in a form that can be sent back."""
    return str(event_id).encode("utf-8", "replace").decode()


def _read_text(entry: Mapping[str, Any], key: str) -> str | None:
    value = entry.get(key)
    if value is not None and (not isinstance(value, str) or holds_no_text(value)):
        raise ValidationError(f"{key}: expected a text, found {value!r:.80}")
    return value


def _read_browser(entry: Mapping[str, Any]) -> tuple[str | None, int | None]:
    """Return the browser of the press and the number of the press in it: both or neither."""
    browser, number = _read_text(entry, "browser"), entry.get("browser_number")
    if browser is None and number is None:
        return None, None
    if browser is None or not 1 <= len(browser) <= MAX_BROWSER:
        raise ValidationError(f"browser: expected 1 to {MAX_BROWSER} characters, found {browser!r:.80}")
    if type(number) is not int or not 0 <= number <= MAX_NUMBER:
        raise ValidationError(f"browser_number: expected a whole number from 0, found {number!r:.80}")
    return browser, number


def _read_reason(entry: Mapping[str, Any], outcome: str) -> str | None:
    """Return why the pair cannot be rated. Scripts may leave it out; the panel always asks."""
    reason = _read_text(entry, "reason")
    if reason is None:
        return None
    if outcome != "unrateable" or reason not in REASONS:
        raise ValidationError(
            f"reason: expected one of {', '.join(REASONS)} with the outcome unrateable, found {reason!r}"
        )
    return reason
