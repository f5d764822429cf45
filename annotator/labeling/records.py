"""The records that the services of labeling return: own work and progress, times, and the results of checks.

Results of checks show where people do not share the guideline yet; they are not a ranking. An undefined
figure is None, with the reason in `why`.

Progress ("71 of 4,100") is defined only here: the pairs that the annotator has answered, of these plus all
pairs that they can still get. The total falls when others finish pairs, and when a possible check is not
needed; it rises only with new work. An answer to a check changes it like any other answer. docs/counts.md
explains it to users.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import NamedTuple

from annotator.domain.judgments import AnsweredPair, TrainingState
from annotator.domain.messages import Message


@dataclass(frozen=True, slots=True)
class OwnJudgmentFilter:
    """A filter of the own judgments to list. None: any."""

    words: str = ""  # in the query, or in the document's id, title or text
    answer: str | None = None  # "0" to "3", "unrateable" or "later"
    category: str | None = None
    first_day: date | None = None  # in the reader's time zone
    last_day: date | None = None  # included


@dataclass(frozen=True, slots=True)
class OwnJudgment:
    """The reader's own judgment of a pair."""

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
    locked: str | None  # why it cannot be changed: "settled", "disclosed" or None


@dataclass(frozen=True, slots=True)
class OwnJudgmentPage:
    """Some of the own judgments, the latest first, and how many there are in all."""

    total: int
    judgments: tuple[OwnJudgment, ...]


@dataclass(frozen=True, slots=True)
class PairQuestion:
    """A question on a pair, with its answer if there is one."""

    number: int  # names it
    pair: str
    query_id: str
    query: str
    narrative: str | None
    doc_id: str
    title: str
    excerpt: str  # the first words of the document
    text_length: int  # of the document's text
    asked_by: str
    asked_by_pk: int
    text: str
    asked_at: datetime
    answer: str | None
    answered_by: str | None
    answered_at: datetime | None
    in_guideline: bool
    unjudged_by_reader: bool  # the reader may still be given the pair, and the question may hint at a grade
    new: bool = False  # the asker had not been shown the answer before this visit


@dataclass(frozen=True, slots=True)
class OwnQuestions:
    """A page of an annotator's own questions: new answers first, then the latest questions."""

    total: int  # on all pages
    questions: tuple[PairQuestion, ...]


@dataclass(frozen=True, slots=True)
class IdleReason:
    """Why an annotator gets no pair now. It names nobody, and counts no pair.

    `has_pool`: the dataset has pairs. `reserved_until`: when the last lease of others ends on a pair that may still
    come to this person; None without such a lease.
    """

    has_pool: bool
    reserved_until: datetime | None


@dataclass(frozen=True, slots=True)
class LabelingPace:
    """The progress of an annotator, and estimated times. Both times are None below 10 timed judgments."""

    done: int
    left: int  # pairs still open to the annotator
    timed: int  # the latest judgments with a time
    seconds: float | None  # their median active time
    needed: float | None  # seconds for the rest, at that pace


@dataclass(frozen=True, slots=True)
class MedianSeconds:
    """The median active time of `n` judgments, in seconds; None without any."""

    n: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class MedianTimes:
    """Median active seconds over the latest judgments, sorted by name, never by speed."""

    n: int
    overall: MedianSeconds
    categories: Mapping[str, MedianSeconds]  # of the query; "" without one
    annotators: Mapping[str, MedianSeconds]
    simulated: frozenset[str]  # simulated annotators


KINDS: tuple[str, ...] = ("training", "gold")


@dataclass(frozen=True, slots=True)
class CheckPair:
    """A pair with a right grade that a lead has set."""

    pair: str
    query_id: str
    query: str
    doc_id: str
    title: str
    kind: str
    grade: int
    explanation: str
    marked_by: str | None  # None: the operator
    marked_at: datetime
    answered: int  # by people as a check


@dataclass(frozen=True, slots=True)
class CheckCandidate:
    """A pair that could become a check: how it is settled, and which check it is now."""

    pair: str
    query_id: str
    query: str
    doc_id: str
    title: str
    status: str
    grade: int | None
    judged: int
    kind: str | None
    hidden: bool = False  # the reader has still to judge it, so its state is not shown


@dataclass(frozen=True, slots=True)
class CheckChanges:
    """The number of pairs that became checks, changed, or stayed as they were."""

    added: int
    changed: int
    unchanged: int
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """An annotator's training. The shares are of the pairs answered so far."""

    done: int
    total: int
    first: float | None  # share right at the first tries
    latest: float | None  # share right at the latest tries
    required: float  # share needed over all `total`
    passed: bool


@dataclass(frozen=True, slots=True)
class GoldMiss:
    """An answer on a gold pair that is not the right grade."""

    query_id: str
    doc_id: str
    right: int
    given: int | None  # None: cannot be rated


@dataclass(frozen=True, slots=True)
class GoldResult:
    """An annotator's answers on gold pairs."""

    answered: int
    exact: float | None  # share of exactly right answers
    difference: float | None  # mean of given minus right; above 0: too generous
    misses: tuple[GoldMiss, ...] = ()
    why: Message | None = None


@dataclass(frozen=True, slots=True)
class RepeatConsistency:
    """An annotator's answers on repeats, compared with their own first ones."""

    n: int
    equal: float | None  # share of equal answers
    difference: float | None  # mean absolute difference of the pairs graded both times
    why: Message | None = None


@dataclass(frozen=True, slots=True)
class AnnotatorResult:
    """The results of one annotator's checks."""

    annotator: str
    name: str
    simulated: bool
    training: TrainingResult | None  # None without training pairs
    gold: GoldResult
    repeats: RepeatConsistency


@dataclass(frozen=True, slots=True)
class OwnChecks:
    """The results that annotators see of their own checks. Which pairs were gold or repeats stays hidden."""

    training: TrainingState | None  # None without training, or once real pairs have come
    trained: TrainingResult | None
    repeats: RepeatConsistency


BLOCK = 100
"""The room for checks is computed again whenever the pairs left fall below another multiple of this."""


@dataclass(frozen=True, slots=True)
class OwnProgress:
    """The progress of one annotator in a dataset.

    `done`: answered pairs, checks included. `total`: `done` plus all pairs that the annotator can still get.
    """

    done: int
    total: int
    reserve_until: int | None = None  # the total has room for so many answered checks; None: nothing is left
    added: int = 0  # pairs that came since the annotator was shown a progress, where the share done falls

    @property
    def left(self) -> int:
        """Return how many pairs the annotator can still get."""
        return self.total - self.done


@dataclass(frozen=True, slots=True)
class OwnWork:
    """The annotator's work at this moment."""

    answered: int  # pairs answered, checks included
    checks: int  # the checks among them
    open: int  # pairs that lack a judgment of theirs, drawn ones of quality control included
    finished: int  # pairs in their browsers that others have finished since
    held: int  # checks in their browsers
    possible: Callable[[], int]  # counts the checks that may still come


def advance(before: OwnProgress | None, work: OwnWork, *, is_announced: Callable[[], bool]) -> OwnProgress:
    """Return the progress to show now. `before`: the progress shown last, or None.

    The share done falls only if `is_announced()` (a lead has changed the dataset since), or if work comes
    after everything was done. Otherwise the total catches up within the next answers.
    """
    done = max(work.answered, before.done if before else 0)
    ordinary = work.open + work.finished
    if ordinary + work.held == 0:
        return OwnProgress(done, done)
    reserve = _reserve(before, work, ordinary)
    total = done + ordinary + reserve - work.checks
    if before is None or done * before.total >= before.done * total:
        return OwnProgress(done, total, reserve)
    if before.left and total - before.total <= BLOCK and not is_announced():
        return OwnProgress(done, done * before.total // before.done, reserve)
    return OwnProgress(done, total, reserve, total - before.total)


def _reserve(before: OwnProgress | None, work: OwnWork, ordinary: int) -> int:
    """Return the number of possible checks that the total includes.

    It changes only every BLOCK pairs, so an answer to a check looks like any other.
    """
    least = work.checks + work.held
    if before is None or before.reserve_until is None:
        return least + work.possible()
    kept = max(before.reserve_until, least)
    if before.left // BLOCK != (ordinary + kept - work.checks) // BLOCK:
        return least + work.possible()
    return max(kept, least + work.possible()) if work.open < BLOCK else kept


@dataclass(frozen=True, slots=True)
class AnnotatorPairState:
    """The state of a pair for one annotator.

    It decides whether they may judge it, and the purpose of the answer.
    """

    pair_pk: int
    query_pk: int
    document_pk: int
    retired: bool  # it has left the pool
    kept: bool  # its grade comes from an earlier ground truth and has no newer judgment
    wanted: int  # how many annotators shall judge it
    lacking: int  # how many judgments it still lacks
    judged: int  # how many judgments of it count
    kind: str | None  # "training" or "gold" for a check, None for ordinary work
    settled: bool  # a lead has decided it; if it is `drawn`, after this annotator's answer
    disclosed: bool  # the annotator has seen others' judgments of it
    leased: bool  # handed to this annotator and not answered since
    held: bool  # ... and the lease still runs
    eligible: bool  # its query is the annotator's, by role and assignment
    outcome: (
        str | None
    )  # of the annotator's current judgment, None without one; `purpose` and `stale` likewise
    purpose: str | None
    stale: int  # 1: older guideline, 2: older text, 3: both, 0: neither
    repeat_pk: int | None = None  # the browser's key is that of this repeat
    tried: bool = False  # the annotator has answered it before as a check
    drawn: bool = False  # by quality control for this annotator
    freed: bool = False  # a lead took the lease from them: only handing the pair out begins another
    stored: AnsweredPair | None = None  # only of a pair that is being answered
    sent: int = 0  # answers that came earlier in the same request

    @property
    def answered(self) -> bool:
        """Return whether the annotator has a current judgment of it; "later" is none."""
        return self.outcome not in (None, "later")

    @property
    def has_own_answer(self) -> bool:
        """Return whether the annotator has answered the pair, as work or as a gold pair."""
        return self.answered or (self.tried and self.kind == "gold")

    @property
    def closed(self) -> bool:
        """Return whether this annotator can no longer judge the pair."""
        return self.retired or self.disclosed or (self.settled and self.kind is None)

    @property
    def revised(self) -> bool:
        """Return whether an answer under this key replaces one of the annotator's."""
        return self.tried if self.repeat_pk is not None else self.answered or (self.tried and not self.leased)


class StoredEvent(NamedTuple):
    """The judgment that is stored under an event id."""

    pair_pk: int
    annotator_pk: int
    outcome: str
    grade: int | None


@dataclass(frozen=True, slots=True)
class NextPair:
    """A pair to hand out."""

    pair_pk: int
    key: str | None = None  # of a repeat: the key for the browser, in place of the pair's own
    training: bool = False  # the right grade is shown after the answer


@dataclass(frozen=True, slots=True)
class RepeatTarget:
    """The pair behind the key of a repeat."""

    repeat_pk: int
    pair_pk: int
    document_pk: int
