"""Decide when a pair is settled and at which grade, and which pairs wait for a lead and why.

The queue, its figures, the gates and releases share these rules and the short words for each reason. An
unrateable pair has no grade, and an unjudged pair has no judgment; neither ever counts as grade 0. A pair
that a lead has decided stays in the queue as a closed disagreement, so that the decision can be viewed and
changed.
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
PAIR_STATUSES: tuple[str, ...] = get_args(PairStatus)
SETTLED = ("imported", "single", "unanimous", "adjudicated")
"""The statuses with a settled grade: such a pair is a qrel."""
OPEN = ("disagreement", "reopened")
"""The statuses that wait for a lead. They have no settled grade until a lead decides."""
Decided = int | Literal["unrateable"]
"""A lead's decision: a grade, or that the pair cannot be rated."""


@dataclass(frozen=True, slots=True)
class Settlement:
    """The status of a pair, and its settled grade (0-3). The grade is None if the status settles none."""

    status: PairStatus
    grade: int | None


def settle(
    grades: Sequence[int],
    unrateable: int,
    adjudicated: Decided | None,
    imported: int | None = None,
    errors: tuple[int, ...] = (),
) -> Settlement:
    """Derive a pair's status from its independent judgments, the decision, and quality control.

    `grades`: the judged grades, in any order. `unrateable`: the number of judgments without a grade.
    `adjudicated`: the lead's current decision, or None. `imported`: the kept grade of an earlier ground
    truth; any judgment made here replaces it. `errors`: grades of third experts that contradicted the settled
    grade, and on which no lead has decided since (`storage/pairs/pair_states.py`). They reopen the pair
    unless they equal its present grade.

    A pair is a disagreement if its grades differ, or if only some annotators could rate it. It then has no
    settled grade until a lead decides. A pair with one judgment is "single": it has a grade, but no second
    opinion.
    """
    settlement = _settle(grades, unrateable, adjudicated, imported)
    is_contradicted = any(grade != settlement.grade for grade in errors)
    return Settlement("reopened", None) if is_contradicted else settlement


def read_decision(outcome: str, grade: int | None) -> Decided | None:
    """Return the stored decision as a grade or "unrateable"; None for a withdrawal."""
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
    """Why a pair is in the queue. Several reasons can hold. The numbers are stored: never change one."""

    DIFFER = 1
    """Its independent grades differ."""
    UNRATEABLE = 2
    """One annotator graded it, another could not rate it."""
    QUALITY = 4
    """Quality control contradicts the settled grade, and no lead has decided since."""
    OBJECTION = 8
    """An annotator objects to the decision."""
    QUESTION = 16
    """An annotator's question about it was not answered, and no lead has decided since."""
    STALE = 32
    """A judgment, or the decision, was made before the guideline changed its meaning."""


NOTHING = QueueReason(0)
LASTING = QueueReason.DIFFER | QueueReason.UNRATEABLE
"""The reasons that a decision closes. The others end by themselves, or keep a decided pair open."""
UNGRADED = LASTING | QueueReason.QUALITY
"""The reasons that leave a pair without a settled grade until a lead decides. The others leave it its grade."""
Stage = Literal["waiting", "imported", "single", "agreed", "disputed", "settled", "reopened"]
STAGES: tuple[str, ...] = get_args(Stage)
UNRATEABLE_APART = 1
"""The distance between a grade and "cannot be rated": that of neighbouring grades."""


@dataclass(frozen=True, slots=True)
class SettlementFacts:
    """The facts that decide whether a pair waits for a lead, each with the time when it began.

    `judgments`: the current independent ones, as (grade, None if unrateable; time).
    """

    judgments: Sequence[tuple[int | None, datetime]]
    decided: Decided | None = None  # the current decision
    decided_at: datetime | None = None
    settled: int | None = None  # the settled grade if errors are ignored
    errors: Sequence[tuple[int, datetime]] = ()  # other grades that quality control found
    answered_errors: Sequence[tuple[int, datetime]] = ()  # errors on which a lead has decided since
    objections: Sequence[datetime] = ()
    questions: Sequence[datetime] = ()
    stale: Sequence[datetime] = ()  # judgments older than a change of the guideline's meaning


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """A disagreement as the queue keeps it."""

    open: bool  # waits for a lead
    reasons: QueueReason
    waiting: QueueReason  # the reasons that still hold it open
    low: int | None  # the lowest of the contradicting grades; None if fewer than two contradict
    high: int | None
    distance: int  # between low and high, 0-3
    since: datetime  # the beginning of its first reason; the time of the decision if no reason holds

    @property
    def taste(self) -> bool:
        """Return whether the grades are neighbours, and both relevant or both not relevant."""
        if self.reasons != QueueReason.DIFFER or self.distance != 1 or self.low is None or self.high is None:
            return False
        return (self.low >= RELEVANT_FROM) == (self.high >= RELEVANT_FROM)


def find_queue_entry(pair: SettlementFacts) -> QueueEntry | None:
    """Return the pair's entry in the queue; None if it never needed a decision."""
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
    """Return the stage of one pair. Counts of many pairs use the status instead (`overview/records.py`).

    `waiting`: why it waits for a lead. `decided`: whether a lead's decision holds. `lacking`: its missing
    judgments.
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
    # A grade that was imported, or that one annotator gave alone, is not an agreement.
    return settlement.status if settlement.status in ("imported", "single") else "agreed"


def _list_reasons(pair: SettlementFacts) -> dict[QueueReason, datetime]:
    """Return {reason that holds: its beginning}."""
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
