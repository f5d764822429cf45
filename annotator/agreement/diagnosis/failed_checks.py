"""Find annotators who fail gold pairs or repeats.

Only FEW_ANSWERS or more answers are tested. An annotator fails if the exact interval (Clopper and Pearson) of
the share of right or equal answers lies wholly below the required share, corrected for the number of
annotators.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from annotator.agreement.intervals import confidence, exact_interval
from annotator.agreement.records import (
    Interval,
)
from annotator.labeling.records import AnnotatorResult

FEW_ANSWERS = 10
GOLD_RIGHT = 0.75
REPEATS_EQUAL = 0.75


@dataclass(frozen=True, slots=True)
class FailingAnnotator:
    """An annotator who fails a check."""

    kind: Literal["gold", "repeat"]
    annotator: str
    right: int  # right answers, or answers equal to the first
    of: int  # answers
    share: Interval  # exact 95 % interval of right / of
    difference: float | None  # gold: the mean of given minus right grade; repeats: the mean distance


def find_failing(checks: Sequence[AnnotatorResult]) -> tuple[FailingAnnotator, ...]:
    """Return the annotators who fail on repeats, then those who fail on gold, each by username."""
    people = sorted(checks, key=lambda result: result.annotator)
    repeats = [
        (annotator.annotator, annotator.repeats.n, annotator.repeats.equal, annotator.repeats.difference)
        for annotator in people
    ]
    gold = [
        (annotator.annotator, annotator.gold.answered, annotator.gold.exact, annotator.gold.difference)
        for annotator in people
    ]
    return (*_find("repeat", repeats, REPEATS_EQUAL), *_find("gold", gold, GOLD_RIGHT))


def _find(
    kind: Literal["gold", "repeat"],
    answers: Sequence[tuple[str, int, float | None, float | None]],
    asked_for: float,
) -> list[FailingAnnotator]:
    tested = [candidate for candidate in answers if candidate[1] >= FEW_ANSWERS and candidate[2] is not None]
    found_annotators = []
    for annotator, of, share, difference in tested:
        right = round((share or 0.0) * of)
        if exact_interval(right, of, level=confidence(len(tested)))[1] < asked_for:
            found_annotators.append(
                FailingAnnotator(kind, annotator, right, of, exact_interval(right, of), difference)
            )
    return found_annotators
