"""When a pair is settled, and at which grade: the one rule that the queue, the gates and releases share.

A qrel is the settled grade of a pair, and the record says how it came to be. Unrateable is absence of a
grade; unjudged is absence of a judgment; neither is ever grade 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

PairStatus = Literal[
    "unjudged", "unrateable", "imported", "single", "unanimous", "disagreement", "reopened", "adjudicated"
]
PAIR_STATUSES: tuple[str, ...] = (
    "unjudged", "unrateable", "imported", "single", "unanimous", "disagreement", "reopened", "adjudicated",
)  # fmt: skip
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
    decided on since (`storage/reopened.py`). They reopen the pair, unless the grade that holds now is theirs.
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
