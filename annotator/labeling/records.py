"""What the services of labeling return: own work and progress, times, and the results of checks.

Results of checks show where people do not share the guideline yet; they are no ranking. An undefined figure is None, with
the reason in `why`. Progress ("71 of 100") is defined only here: both numbers only go forward and are equal exactly when
nothing is left. The total covers the next pairs, at most BLOCK at a time; what others finish first and checks that are no
longer needed count as done, and an answer to a check counts like any other. `answered` counts the own answers alone.
docs/counts.md explains it to users.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime

from annotator.domain.judgments import TrainingState
from annotator.domain.messages import Message


@dataclass(frozen=True, slots=True)
class OwnJudgmentFilter:
    """Which of the own answers are meant. `words`: in the query or in the document's id, title or text; `answer`: "0"
    to "3", "unrateable" or "later"; the days are in the reader's time, both included. None: any."""

    words: str = ""
    answer: str | None = None
    category: str | None = None
    first_day: date | None = None
    last_day: date | None = None


@dataclass(frozen=True, slots=True)
class OwnJudgment:
    """An own answer. `locked` says why it cannot be changed: "settled", "disclosed" or None."""

    pair: str
    query_id: str
    query: str
    category: str | None
    doc_id: str
    title: str
    outcome: str
    grade: int | None
    reason: str | None
    note: str | None
    judged_at: datetime
    locked: str | None


@dataclass(frozen=True, slots=True)
class OwnJudgmentPage:
    """Some of the own answers, the latest first, and how many there are in all."""

    total: int
    judgments: tuple[OwnJudgment, ...]


@dataclass(frozen=True, slots=True)
class LabelingPace:
    """How far one is: `done` pairs answered, `left` still open to one; `seconds` is the median active time of the last
    `timed` answers, `needed` about how many seconds the rest takes. Both are None below 10 timed answers."""

    done: int
    left: int
    timed: int
    seconds: float | None
    needed: float | None


@dataclass(frozen=True, slots=True)
class MedianSeconds:
    """The median active time of `n` answers, in seconds; None where there is none."""

    n: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class MedianTimes:
    """Median active seconds over the latest answers: by the query's category ("" where it has none) and by annotator,
    each in the order of names, never of speed. `simulated` names the annotators who are nobody."""

    n: int
    overall: MedianSeconds
    categories: Mapping[str, MedianSeconds]
    annotators: Mapping[str, MedianSeconds]
    simulated: frozenset[str]


KINDS: tuple[str, ...] = ("training", "gold")


@dataclass(frozen=True, slots=True)
class CheckPair:
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
class CheckCandidate:
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
class CheckChanges:
    """What marking did: pairs newly marked, marked otherwise than before, and marked just so already."""

    added: int
    changed: int
    unchanged: int
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """An annotator's training: `first` is the share right at the first tries, `latest` at the latest ones, both of the
    pairs answered so far; `required` is the share needed over all `total`."""

    done: int
    total: int
    first: float | None
    latest: float | None
    required: float
    passed: bool


@dataclass(frozen=True, slots=True)
class GoldMiss:
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
    misses: tuple[GoldMiss, ...] = ()
    why: Message | None = None


@dataclass(frozen=True, slots=True)
class RepeatConsistency:
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
    training: TrainingResult | None
    gold: GoldResult
    repeats: RepeatConsistency


@dataclass(frozen=True, slots=True)
class OwnChecks:
    """What annotators see of their own checks; which pairs were gold or repeats is not told. `training` as the hand-out
    sees it, None when there is none or real pairs have come."""

    training: TrainingState | None
    trained: TrainingResult | None
    repeats: RepeatConsistency


BLOCK = 100
SOON = 20
"""The next block is promised when fewer pairs than this are left of the one before: before a browser that looks ahead ends it."""


@dataclass(frozen=True, slots=True)
class OwnProgress:
    """What the annotator was told last. `answered`: the most answers that they
    had so far, checks included, so that an answer put off and given again counts once; `reserve_until`: up to how many
    answered checks the total holds room for, None before the last block."""

    answered: int
    done: int
    total: int
    reserve_until: int | None = None


@dataclass(frozen=True, slots=True)
class OwnWork:
    """How an annotator's work stands. `answered`: pairs answered, checks included; `checks`: those of them that are checks;
    `open`: pairs that they may still be given as work or for quality control, those in the browser included; `held`: checks in
    the browser; `possible`: how many checks can come yet at the most beside them, asked for only in the last block."""

    answered: int
    checks: int
    open: int
    held: int
    possible: Callable[[], int]


def advance(told: OwnProgress | None, work: OwnWork) -> OwnProgress:
    """What is to be told now, after `told` (None: nothing yet)."""
    if told is None:
        told = OwnProgress(work.answered, work.answered, work.answered)
    done = told.done + max(0, work.answered - told.answered)
    total, reserve = max(told.total, done), told.reserve_until
    if work.open >= BLOCK:
        left, reserve = BLOCK, None
    elif work.open + work.held == 0:
        left, reserve = 0, None
    else:
        reserve = max(reserve or 0, work.checks + work.held + work.possible())
        left = work.open + reserve - work.checks
    done = max(done, total - left) if left < BLOCK else done
    if total - done < min(left, SOON):
        total = done + min(left, BLOCK)
    return OwnProgress(max(told.answered, work.answered), done, total, reserve)
