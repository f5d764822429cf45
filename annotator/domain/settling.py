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
"""The statuses with a settled grade: such a pair is a qrel."""
OPEN = ("disagreement", "reopened")
"""The statuses that wait for a lead, without a settled grade until one decides."""
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
    decided on since (`storage/pairs/pair_states.py`). They reopen the pair, unless the grade that holds now is theirs.
    """
    settlement = _settle(grades, unrateable, adjudicated, imported)
    is_contradicted = any(grade != settlement.grade for grade in errors)
    return Settlement("reopened", None) if is_contradicted else settlement


def read_decision(outcome: str, grade: int | None) -> Decided | None:
    """Return what a decision settles a pair as; None if it withdrew another decision."""
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
"""The reasons that a decision closes. The others end by themselves, or keep a decided pair open."""
UNGRADED = LASTING | QueueReason.QUALITY
"""The reasons for which a pair has no settled grade until a lead decides. With the others alone it keeps its grade."""
Stage = Literal["waiting", "imported", "single", "agreed", "disputed", "settled", "reopened"]
STAGES: tuple[str, ...] = get_args(Stage)
UNRATEABLE_APART = 1
"""The distance between a grade and "cannot be rated": that of neighbouring grades."""


@dataclass(frozen=True, slots=True)
class SettlementFacts:
    """The facts about a pair that decide whether it waits for a lead. Each time says since when."""

    judgments: Sequence[
        tuple[int | None, datetime]
    ]  # current independent ones: the grade (None: unrateable) and when
    decided: Decided | None = None  # by the decision that holds
    decided_at: datetime | None = None
    settled: int | None = None  # the settled grade, without regard to errors
    errors: Sequence[tuple[int, datetime]] = ()  # other grades that quality control found
    answered_errors: Sequence[tuple[int, datetime]] = ()  # errors on which a lead has decided since
    objections: Sequence[datetime] = ()
    questions: Sequence[datetime] = ()
    stale: Sequence[datetime] = ()  # made before the guideline changed its meaning


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """A disagreement as the queue keeps it."""

    open: bool  # waits for a lead
    reasons: QueueReason
    waiting: QueueReason  # those of the reasons for which it still waits
    low: int | None  # of the grades that contradict each other; None if fewer than two do
    high: int | None
    distance: int  # between low and high, 0-3
    since: datetime  # when the first of its reasons began; when it was decided, if none holds any more

    @property
    def taste(self) -> bool:
        """Return whether only neighbouring grades on one side of relevance contradict each other."""
        if self.reasons != QueueReason.DIFFER or self.distance != 1 or self.low is None or self.high is None:
            return False
        return (self.low >= RELEVANT_FROM) == (self.high >= RELEVANT_FROM)


def find_queue_entry(pair: SettlementFacts) -> QueueEntry | None:
    """Return the pair's entry in the queue; None if there never was anything to decide."""
    begins = _list_reasons(pair)
    if not begins and pair.decided is None:
        return None
    holding = QueueReason(sum(begins))
    waiting = holding & ~LASTING if pair.decided is not None else holding
    reasons = holding | QueueReason.QUALITY if pair.answered_errors else holding
    grades = _list_grades(pair, reasons)
    low, high = (min(grades), max(grades)) if len(grades) > 1 else (None, None)
    distance = high - low if low is not None and high is not None else 0
    if QueueReason.UNRATEABLE in reasons:
        distance = max(distance, UNRATEABLE_APART)
    counted = [begin for reason, begin in begins.items() if reason & (waiting or holding)]
    since = min(counted) if counted else pair.decided_at
    if since is None:
        raise ValueError("a decision without a time")
    return QueueEntry(bool(waiting), reasons, waiting, low, high, distance, since)


def find_stage(settlement: Settlement, waiting: QueueReason, *, decided: bool, lacking: int) -> Stage:
    """Return how far one pair has come. Counts of many pairs go by status instead (`overview/records.py`).

    `waiting`: why it waits for a lead. `decided`: a lead's decision holds. `lacking`: judgments that it still lacks.
    """
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
    """Return the reasons that hold, each with when it began."""
    begins: dict[QueueReason, datetime] = {}
    ordered = sorted(pair.judgments, key=lambda judgment: judgment[1])
    graded = [judgment for judgment in ordered if judgment[0] is not None]
    differing = [at for grade, at in graded if grade != graded[0][0]]
    if differing:
        begins[QueueReason.DIFFER] = differing[0]
    if graded and len(graded) < len(ordered):
        unlike = [at for grade, at in ordered if (grade is None) != (ordered[0][0] is None)]
        begins[QueueReason.UNRATEABLE] = unlike[0]
    contrary = [at for grade, at in pair.errors if grade != pair.settled]
    for reason, times in (
        (QueueReason.QUALITY, contrary),
        (QueueReason.OBJECTION, pair.objections),
        (QueueReason.QUESTION, pair.questions),
        (QueueReason.STALE, pair.stale),
    ):
        if times:
            begins[reason] = min(times)
    return begins


def _list_grades(pair: SettlementFacts, reasons: QueueReason) -> set[int]:
    """Return the grades that contradict each other."""
    grades = {grade for grade, _ in pair.judgments if grade is not None}
    if QueueReason.QUALITY in reasons:
        grades |= {grade for grade, _ in (*pair.errors, *pair.answered_errors)}
        grades |= {pair.settled} if pair.settled is not None and pair.errors else set()
    return grades


REASONS = {
    QueueReason.DIFFER: say("grades differ"),
    QueueReason.UNRATEABLE: say("some cannot rate"),
    QueueReason.QUALITY: say("quality control"),
    QueueReason.OBJECTION: say("objection"),
    QueueReason.QUESTION: say("question"),
    QueueReason.STALE: say("older guideline"),
}
