"""Records of judging: events from the browser, the pair on the screen, and the progress."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from annotator.domain.errors import ValidationError
from annotator.domain.messages import Message, say_n

REASONS: tuple[str, ...] = ("unreadable", "wrong_language", "document_missing", "query_unclear", "other")

COUNTED_PURPOSE = "independent"
"""The purpose of the judgments that count for agreement, settled grades and qrels. Their annotators knew no other grade."""
FURTHER_PURPOSE = "conditional"
"""One judgment more, requested because the counted ones differ. It depends on them and does not count."""
CURRENT_PURPOSES = (COUNTED_PURPOSE, FURTHER_PURPOSE)
"""Ordinary work. An annotator has at most one current judgment of a pair for these purposes."""
CHECK_PURPOSES = ("training", "gold", "repeat", "quality")
"""Judgments that check annotators or settled grades. They are never current."""
MOST_ANSWERS = 200
"""By one person on one pair. Each further one would be compared with all before it, while others wait."""
MAX_SECONDS = 86_400.0
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
"""The time of a clock that was never set. SQLite cannot read back times before the year 1000."""


def read_event_id(value: object) -> str:
    """Return the id that a browser gave an event: a random UUID (version 4).

    Raises ValidationError for any other UUID, because it may have been computed.
    """
    try:
        event_id = uuid.UUID(str(value))
    except ValueError:
        event_id = None
    if event_id is None or event_id.variant != uuid.RFC_4122 or event_id.version != 4:
        raise ValidationError(f"id: expected a UUID of version 4, found {value!r:.80}")
    return str(event_id)


def read_pressed_at(value: object) -> datetime:
    """Return the time of a press in UTC, but not before EARLIEST. Raises ValidationError for a time without a zone."""
    try:
        time = datetime.fromisoformat(str(value))
        if time.tzinfo is not None:
            return max(time.astimezone(UTC), EARLIEST)
    except (ValueError, OverflowError):  # OverflowError: a time of the year 0 in UTC
        pass
    raise ValidationError(f"pressed_at: expected an ISO 8601 time with its zone, found {value!r:.80}")


def read_seconds(value: object) -> float | None:
    """Return the active time on the pair in seconds; None if the browser sent none. Else raises ValidationError."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValidationError(f"seconds: expected a number, found {value!r:.80}")
    if not 0 <= value <= MAX_SECONDS:  # also refuses NaN
        raise ValidationError(f"seconds: expected 0 to {MAX_SECONDS:.0f}, found {value!r:.80}")
    return float(value)


@dataclass(frozen=True, slots=True)
class JudgmentEvent:
    """One key press on a pair."""

    event_id: str
    pair: str
    outcome: str
    grade: int | None
    note: str | None
    pressed_at: datetime  # by the browser's clock, in UTC
    seconds: float | None  # active time on the pair
    document_sha256: str | None = None  # of the text on the screen; None: not sent
    guideline_version: int | None = None  # on the screen; None: not sent
    reason: str | None = None
    browser: str | None = None  # in which it was pressed; None: not sent
    number: int | None = None  # of the press among those of `browser`


@dataclass(frozen=True, slots=True)
class RefusedEvent:
    """An event that is not stored."""

    event_id: str
    why: str  # a sentence for the annotator
    code: str = "bad_event"  # bad_event, known_id, not_in_pool, settled, disclosed or not_yours


@dataclass(frozen=True, slots=True)
class OwnAnswer:
    """The annotator's own earlier answer to a pair. Never another person's answer."""

    outcome: str
    grade: int | None
    note: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class OutdatedReason:
    """Why an annotator must confirm or change an own answer."""

    version: int | None  # of the guideline at the answer, if the meaning of grades has changed since
    text_changed: bool  # the document had another text then


@dataclass(frozen=True, slots=True)
class TrainingFeedback:
    """The feedback after an answer in training: the right grade and the reason."""

    event_id: str
    pair: str
    grade: int
    explanation: str


@dataclass(frozen=True, slots=True)
class TrainingState:
    """The progress of an annotator's training."""

    done: int  # pairs answered
    total: int
    right: int  # at the latest try
    required: float  # share (0-1) that must be right before real pairs come
    passed: bool


@dataclass(frozen=True, slots=True)
class PairView:
    """A pair as its annotator sees it."""

    pair: str
    query_id: str
    query: str
    narrative: str | None
    language: str | None  # of the query
    doc_id: str
    title: str
    url: str | None
    media_type: str
    text: str | None  # cut at SHOWN_CHARACTERS; None: only the document's id is known
    length: int  # of the whole text
    document_sha256: str | None
    guideline_version: int
    metadata: Mapping[str, str] = field(default_factory=dict)  # columns that the lead shows
    training: bool = False  # the right grade is shown after the answer
    answer: OwnAnswer | None = None  # the annotator's own
    outdated: OutdatedReason | None = None  # why the annotator must answer it again
    position: tuple[int, int] | None = None  # its number for this annotator, and the documents of its query


class PresentJudgment(NamedTuple):
    """A stored current judgment of a pair."""

    annotator_pk: int
    outcome: str
    grade: int | None
    purpose: str
    made_at: int  # seconds since 1970, UTC
    stale: int  # 1: older guideline, 2: older text, 3: both, 0: neither
    version: int | None  # of the guideline


@dataclass(frozen=True, slots=True)
class AnsweredPair:
    """The stored facts of a pair that decide the effects of an answer."""

    present_text: str | None  # SHA-256 of the document's text
    texts: frozenset[str]  # SHA-256 of every text that the document has or had
    judgments: tuple[PresentJudgment, ...]  # current ones, of all annotators
    given: int  # judgments of it that the annotator has ever given, for any purpose
    plain: bool  # only its judgments decide its state
    in_queue: bool  # it is a disagreement


@dataclass(frozen=True, slots=True)
class OpenPair:
    """A pair that can be handed to an annotator now."""

    pair_pk: int
    key: str
    query_pk: int
    begun: bool  # somebody has judged it; the judgment of a proposal does not count
    put_off: bool  # this annotator said "later" before
    handed: bool = False  # it was handed to this annotator before
    repeat: bool = False  # `key` is that of a repeat


@dataclass(frozen=True, slots=True)
class AnnotatorProgress:
    """The progress of one annotator."""

    annotator: str
    name: str
    simulated: bool
    judged: int
    unrateable: int
    later: int
    last_judged_at: datetime | None  # None before the first judgment


@dataclass(frozen=True, slots=True)
class DatasetActivity:
    """Who judges in a dataset."""

    people: tuple[AnnotatorProgress, ...]
    recent: Mapping[
        str, int
    ]  # judgments since the requested time, by username; without imported and simulated ones
    has_work: bool  # a pair still lacks a judgment


@dataclass(frozen=True, slots=True)
class QueryProgress:
    """The progress of one query."""

    query_id: str
    text: str
    category: str | None
    pairs: int
    complete: int  # pairs that lack no judgment
    begun: int  # judged pairs that still lack a judgment


def describe_blind_pairs(pairs: int) -> Message:
    """Say that figures count pairs as not judged, because the reader may still judge them."""
    return say_n(
        "{n:,} pair that you may still judge is left out of these figures.",
        "{n:,} pairs that you may still judge are left out of these figures.",
        pairs,
    )


def describe_blind_queries(queries: int) -> Message:
    """Say that an evaluation leaves queries out, because the reader may still judge a pair of them."""
    return say_n(
        "{n:,} query with pairs that you may still judge is left out of these figures.",
        "{n:,} queries with pairs that you may still judge are left out of these figures.",
        queries,
    )
