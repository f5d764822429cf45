"""Decide when a pair is settled and at which grade, and which pairs wait for a lead and why.

The queue, its figures, the gates and releases share these rules, and the short words for each reason. Unrateable is the
absence of a grade and unjudged the absence of a judgment; neither is ever grade 0. A pair that a lead has decided stays
a disagreement, a closed one, so that the decision can be viewed and changed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntFlag
from typing import Literal, get_args

from annotator.domain.grades import RELEVANT_FROM
from annotator.domain.messages import say

PairStatus = Literal[
    "unjudged", "unrateable", "imported", "single", "unanimous", "disagreement", "reopened", "adjudicated"
]
PAIR_STATUSES: tuple[str, ...] = (
    "unjudged",
    "unrateable",
    "imported",
    "single",
    "unanimous",
    "disagreement",
    "reopened",
    "adjudicated",
)
SETTLED = ("imported", "single", "unanimous", "adjudicated")
"""Has a settled grade, so it is a qrel."""
OPEN = ("disagreement", "reopened")
"""Waits for a lead, and has no settled grade until one decides."""
Decided = int | Literal["unrateable"]
"""What a lead decided: a grade, or that the pair cannot be rated."""


@dataclass(frozen=True, slots=True)
class Settlement:
    """The state of a pair, and its grade (0-3) when that state settles it; None otherwise."""

    status: PairStatus
    grade: int | None


def settle(
    grades: Sequence[int],
    unrateable: int,
    adjudicated: Decided | None,
    imported: int | None = None,
    errors: tuple[int, ...] = (),
) -> Settlement:
    """Derive a pair's status from its current independent judgments, its current adjudication, and quality control.

    `grades`: the grades given, in any order. `unrateable`: how many said it cannot be rated.
    `adjudicated`: what the lead decided, None when there is no decision that holds. `imported`: the grade of an
    earlier ground truth that is kept; any judgment made here takes its place.
    A disagreement is a pair whose independent judgments differ, or that one annotator graded and another could not rate;
    it has no settled grade until it is adjudicated. One grade alone is "single": a grade, but nobody's second opinion.
    `errors`: the grades of third experts that contradicted the grade that was settled then, and that no lead has
    decided on since (`storage/pair_states.py`). They reopen the pair, unless the grade that holds now is theirs.
    """
    found = _settle(grades, unrateable, adjudicated, imported)
    return Settlement("reopened", None) if any(grade != found.grade for grade in errors) else found


def read_decision(outcome: str, grade: int | None) -> Decided | None:
    """What a decision comes to: None for one that withdrew another."""
    return "unrateable" if outcome == "unrateable" else grade


def _settle(
    grades: Sequence[int], unrateable: int, adjudicated: Decided | None, imported: int | None
) -> Settlement:
    if adjudicated == "unrateable":
        return Settlement("unrateable", None)
    if adjudicated is not None:
        return Settlement("adjudicated", adjudicated)
    if not grades and not unrateable and imported is not None:
        return Settlement("imported", imported)
    if not grades:
        return Settlement("unrateable" if unrateable else "unjudged", None)
    if unrateable or len(set(grades)) > 1:
        return Settlement("disagreement", None)
    return Settlement("single" if len(grades) == 1 else "unanimous", grades[0])


class QueueReason(IntFlag):
    """Why a pair is in the queue; several may hold at once. The numbers are stored: never change one."""

    DIFFER = 1
    """Its independent grades differ."""
    UNRATEABLE = 2
    """One annotator graded it, another could not rate it."""
    QUALITY = 4
    """Quality control contradicts the settled grade, and nobody has decided since."""
    OBJECTION = 8
    """An annotator objects to the decision."""
    QUESTION = 16
    """An annotator asked something about it that nobody has answered, nor decided on since."""
    STALE = 32
    """A judgment, or the decision, was made before the guideline changed its meaning."""


NOTHING = QueueReason(0)
LASTING = QueueReason.DIFFER | QueueReason.UNRATEABLE
"""What a decision closes. The other reasons end of themselves or keep a decided pair open."""
UNGRADED = LASTING | QueueReason.QUALITY
"""A pair that waits for one of these has no settled grade until a lead decides; with the others alone it keeps its grade."""
Stage = Literal["waiting", "imported", "single", "agreed", "disputed", "settled", "reopened"]
STAGES: tuple[str, ...] = get_args(Stage)
UNRATEABLE_APART = 1
"""How far a grade and "cannot be rated" are taken to be apart: as neighbours."""


@dataclass(frozen=True, slots=True)
class SettlementFacts:
    """What is known of a pair. `answers`: its current independent judgments, each a grade (None: cannot be rated) and when.
    `decided`, `decided_at`: by the decision that holds. `settled`: its grade without regard to errors. `errors`: the grades
    that quality control found instead, and when, `answered_errors`: on which a lead has decided since; `objections`, `questions`, `stale`: since when."""

    answers: Sequence[tuple[int | None, datetime]]
    decided: Decided | None = None
    decided_at: datetime | None = None
    settled: int | None = None
    errors: Sequence[tuple[int, datetime]] = ()
    answered_errors: Sequence[tuple[int, datetime]] = ()
    objections: Sequence[datetime] = ()
    questions: Sequence[datetime] = ()
    stale: Sequence[datetime] = ()


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """A pair of the queue. `open`: waits for a lead; `waiting`: because of these among its `reasons`. `low`, `high`: of the grades that speak against each other, None where
    fewer than two do; `distance`: between them, 0-3. `since`: when the first of its reasons began (when it was decided,
    where none holds any more)."""

    open: bool
    reasons: QueueReason
    waiting: QueueReason
    low: int | None
    high: int | None
    distance: int
    since: datetime

    @property
    def taste(self) -> bool:
        """Whether nothing but neighbouring grades on one side of relevance speak against each other."""
        if self.reasons != QueueReason.DIFFER or self.distance != 1 or self.low is None or self.high is None:
            return False
        return (self.low >= RELEVANT_FROM) == (self.high >= RELEVANT_FROM)


def find_dispute(pair: SettlementFacts) -> QueueEntry | None:
    """The dispute that a pair is, None where nothing was ever to be decided on it."""
    began = _list_reasons(pair)
    if not began and pair.decided is None:
        return None
    waiting = QueueReason(sum(began))
    still = waiting & ~LASTING if pair.decided is not None else waiting
    reasons = waiting | QueueReason.QUALITY if pair.answered_errors else waiting
    grades = _list_grades(pair, reasons)
    low, high = (min(grades), max(grades)) if len(grades) > 1 else (None, None)
    distance = high - low if low is not None and high is not None else 0
    if QueueReason.UNRATEABLE in reasons:
        distance = max(distance, UNRATEABLE_APART)
    counted = [began[reason] for reason in began if reason & (still or waiting)]
    since = min(counted) if counted else pair.decided_at
    if since is None:
        raise ValueError("a decision without a time")
    return QueueEntry(bool(still), reasons, still, low, high, distance, since)


def find_stage(settlement: Settlement, waiting: QueueReason, *, decided: bool, lacking: int) -> Stage:
    """Return how far one pair has come. `waiting`: why it waits for a lead, nothing where it does not; `decided`: whether a lead's
    decision holds; `lacking`: how many judgments it still lacks. Counts of many pairs go by status (`overview/records.py`)."""
    if settlement.status == "unjudged":
        return "waiting"
    if waiting:
        differs = waiting & LASTING and not decided and settlement.status != "reopened"
        return "disputed" if differs else "reopened"
    if decided:
        return "settled"
    if lacking:
        return "waiting"
    # Nobody agreed on a grade that one annotator gave alone, or that was imported.
    return settlement.status if settlement.status in ("imported", "single") else "agreed"


def _list_reasons(pair: SettlementFacts) -> dict[QueueReason, datetime]:
    """The reasons that hold, each with when it began."""
    found: dict[QueueReason, datetime] = {}
    ordered = sorted(pair.answers, key=lambda answer: answer[1])
    graded = [answer for answer in ordered if answer[0] is not None]
    differing = [at for grade, at in graded if grade != graded[0][0]]
    if differing:
        found[QueueReason.DIFFER] = differing[0]
    if graded and len(graded) < len(ordered):
        unlike = [at for grade, at in ordered if (grade is None) != (ordered[0][0] is None)]
        found[QueueReason.UNRATEABLE] = unlike[0]
    contrary = [at for grade, at in pair.errors if grade != pair.settled]
    for reason, times in (
        (QueueReason.QUALITY, contrary),
        (QueueReason.OBJECTION, pair.objections),
        (QueueReason.QUESTION, pair.questions),
        (QueueReason.STALE, pair.stale),
    ):
        if times:
            found[reason] = min(times)
    return found


def _list_grades(pair: SettlementFacts, reasons: QueueReason) -> set[int]:
    """The grades that speak against each other."""
    found = {grade for grade, _ in pair.answers if grade is not None}
    if QueueReason.QUALITY in reasons:
        found |= {grade for grade, _ in (*pair.errors, *pair.answered_errors)}
        found |= {pair.settled} if pair.settled is not None and pair.errors else set()
    return found


REASONS = {
    QueueReason.DIFFER: say("grades differ"),
    QueueReason.UNRATEABLE: say("unrateable for some"),
    QueueReason.QUALITY: say("quality control"),
    QueueReason.OBJECTION: say("objection"),
    QueueReason.QUESTION: say("question"),
    QueueReason.STALE: say("older guideline"),
}
