"""What checks on annotators are and what they show: marked pairs, and each annotator's results.

The results tell a lead where the standard is not yet shared. They are no ranking and stand in nobody's order of merit.
A figure that is undefined is None, and `why` says the reason.
"""

from dataclasses import dataclass
from datetime import datetime

from annotator.domain.judgments import TrainingState
from annotator.domain.messages import Message

KINDS: tuple[str, ...] = ("training", "gold")


@dataclass(frozen=True, slots=True)
class MarkedPair:
    """A pair whose right grade a lead has set. `answered`: how many people have answered it as a check; `marked_by` is
    None when the operator did it."""

    pair: str
    query_id: str
    query: str
    doc_id: str
    title: str
    kind: str
    grade: int
    explanation: str
    marked_by: str | None
    marked_at: datetime
    answered: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pair that could be marked: what its judgments or a lead have settled, and how it is marked now. `hidden`: who asks
    has still to judge it, so that how it stands is not told."""

    pair: str
    query_id: str
    query: str
    doc_id: str
    title: str
    status: str
    grade: int | None
    judged: int
    kind: str | None
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Marking:
    """What marking did: pairs newly marked, marked otherwise than before, and marked just so already."""

    added: int
    changed: int
    unchanged: int
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Trained:
    """An annotator's training: `first` is the share right at the first tries, `latest` at the latest ones, both of the
    pairs answered so far; `required` is the share needed over all `total`."""

    done: int
    total: int
    first: float | None
    latest: float | None
    required: float
    passed: bool


@dataclass(frozen=True, slots=True)
class Miss:
    """An answer on a gold pair that is not the right grade; `given` is None when it could not be rated."""

    query_id: str
    doc_id: str
    right: int
    given: int | None


@dataclass(frozen=True, slots=True)
class GoldResult:
    """An annotator's answers on gold pairs: how many, the share that is exactly right, and the mean of given minus right
    (above 0: more generous than the lead; over the graded ones)."""

    answered: int
    exact: float | None
    difference: float | None
    misses: tuple[Miss, ...] = ()
    why: Message | None = None


@dataclass(frozen=True, slots=True)
class Consistency:
    """An annotator's answers on repeats against their own first ones: how many, the share that is equal, and the mean
    absolute difference (over those graded both times)."""

    n: int
    equal: float | None
    difference: float | None
    why: Message | None = None


@dataclass(frozen=True, slots=True)
class AnnotatorResult:
    """What the checks show of one annotator. `training` is None where no pair is marked for it."""

    annotator: str
    name: str
    simulated: bool
    training: Trained | None
    gold: GoldResult
    repeats: Consistency


@dataclass(frozen=True, slots=True)
class OwnChecks:
    """What annotators see of their own checks; which pairs were gold or repeats is not told. `training` as the hand-out
    sees it, None when there is none or real pairs have come."""

    training: TrainingState | None
    trained: Trained | None
    repeats: Consistency
