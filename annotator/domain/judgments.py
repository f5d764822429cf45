"""What an annotator is shown, and how far the work is: the records that storage reads and the pages draw."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

REASONS: tuple[str, ...] = ("unreadable", "wrong_language", "document_missing", "query_unclear", "other")
PURPOSES: tuple[str, ...] = ("independent", "conditional", "training", "gold", "repeat", "quality")


@dataclass(frozen=True, slots=True)
class JudgmentEvent:
    """One press. `pressed_at` is the browser's clock, in UTC; `seconds` the active time on the pair.

    `document_sha256` and `guideline_version` name what was on the screen, None when the browser did not say. `browser` names
    the browser it was pressed in, and `number` its place among the presses there: both or neither.
    """

    event_id: str
    pair: str
    outcome: str
    grade: int | None
    note: str | None
    pressed_at: datetime
    seconds: float | None
    document_sha256: str | None = None
    guideline_version: int | None = None
    reason: str | None = None
    browser: str | None = None
    number: int | None = None


@dataclass(frozen=True, slots=True)
class RefusedEvent:
    """An event that was not stored, and why, in words for the annotator; `code` names the kind of reason:
    bad_event, known_id, not_in_pool, settled, disclosed, not_yours."""

    event_id: str
    why: str
    code: str = "bad_event"


@dataclass(frozen=True, slots=True)
class OwnAnswer:
    """What the annotator said of a pair before; nobody else's answer is ever shown this way."""

    outcome: str
    grade: int | None
    note: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class OutdatedReason:
    """Why an own answer is to be confirmed or changed: the guideline version it was made under, when what a grade
    means has changed since (None: it has not); whether the document had another text then."""

    version: int | None
    text_changed: bool


@dataclass(frozen=True, slots=True)
class TrainingFeedback:
    """What is shown after an answer in training: the right grade, and why."""

    event_id: str
    pair: str
    grade: int
    explanation: str


@dataclass(frozen=True, slots=True)
class TrainingState:
    """How far an annotator's training is: answered, of how many, how many of those right at the latest try, and the
    share that must be right before real pairs come."""

    done: int
    total: int
    right: int
    required: float
    passed: bool


@dataclass(frozen=True, slots=True)
class PairView:
    """A pair as its annotator sees it. `text` is cut at SHOWN_CHARACTERS; `length` is the whole text's. `language`: the query's.

    `text` and `document_sha256` are None when only the document's id is known. `metadata`: the document's further
    columns that the lead chose to show. `training`: the right grade is shown after the answer. `answer`: the
    annotator's own, when there is one; `outdated`: why it is asked for again.
    """

    pair: str
    query_id: str
    query: str
    narrative: str | None
    language: str | None
    doc_id: str
    title: str
    url: str | None
    media_type: str
    text: str | None
    length: int
    document_sha256: str | None
    guideline_version: int
    metadata: Mapping[str, str] = field(default_factory=dict)
    training: bool = False
    answer: OwnAnswer | None = None
    outdated: OutdatedReason | None = None


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
    """How far one query is: its pairs, those that lack no judgment, and those begun that still do."""

    query_id: str
    text: str
    category: str | None
    pairs: int
    complete: int
    begun: int
