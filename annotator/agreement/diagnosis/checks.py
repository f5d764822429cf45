"""Who answers gold pairs wrong, or repeats otherwise than before, too often for it to be chance.

Claimed where the exact interval of the share (Clopper and Pearson), as strict as so many annotators call for, lies
wholly below what is asked: with FEW_ANSWERS answers at the least, so that a bad morning is no verdict on a person.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from annotator.agreement.claims import confidence, exact_interval
from annotator.agreement.records import Interval
from annotator.labeling.domain_calibration import AnnotatorResult

FEW_ANSWERS = 10
GOLD_RIGHT = 0.75
REPEATS_EQUAL = 0.75


@dataclass(frozen=True, slots=True)
class Failing:
    """An annotator who fails a check: `right` of `of` answers were right, or equal to the first; `share` is its exact
    95 % interval. `difference`: of gold, the mean of given less right; of repeats, the mean distance."""

    kind: Literal["gold", "repeat"]
    annotator: str
    right: int
    of: int
    share: Interval
    difference: float | None


def find_failing(checks: Sequence[AnnotatorResult]) -> tuple[Failing, ...]:
    """Those who fail on repeats, then those who fail on gold, each by username."""
    people = sorted(checks, key=lambda one: one.annotator)
    repeats = [(one.annotator, one.repeats.n, one.repeats.equal, one.repeats.difference) for one in people]
    gold = [(one.annotator, one.gold.answered, one.gold.exact, one.gold.difference) for one in people]
    return (*_find("repeat", repeats, REPEATS_EQUAL), *_find("gold", gold, GOLD_RIGHT))


def _find(
    kind: Literal["gold", "repeat"],
    answers: Sequence[tuple[str, int, float | None, float | None]],
    asked_for: float,
) -> list[Failing]:
    asked = [one for one in answers if one[1] >= FEW_ANSWERS and one[2] is not None]
    found = []
    for annotator, of, share, difference in asked:
        right = round((share or 0.0) * of)
        if exact_interval(right, of, level=confidence(len(asked)))[1] < asked_for:
            found.append(Failing(kind, annotator, right, of, exact_interval(right, of), difference))
    return found
