"""Choose the comparisons of an annotator's own agreement, so that no figure shows one grade.

Annotators see these figures while they judge. So an annotator's first grade of a pair is compared with
another annotator's first grade: a later change of a grade moves nothing. Comparisons are added in whole
steps, in the order of time. A step has OWN_STEP comparisons with the same own grade, at least FEW_WITH_ONE
with each other annotator in it. So two states of a figure differ by a sum over whole steps. Somebody with a
second account, who knows part of a step, still sees only a sum over FEW_WITH_ONE comparisons with a
colleague.
"""

from collections.abc import Iterable

from annotator.agreement.records import FEW_WITH_ONE, OWN_STEP, ComparedGrade


def choose_compared(compared: Iterable[ComparedGrade]) -> list[ComparedGrade]:
    """Return the comparisons in whole steps. Later comparisons never remove one that was returned before."""
    by_other: dict[tuple[int, int], list[ComparedGrade]] = {}
    for comparison in sorted(compared, key=_find_order):
        by_other.setdefault((comparison.own_grade, comparison.annotator_pk), []).append(comparison)
    groups: dict[int, list[list[ComparedGrade]]] = {}
    for (own_grade, _other), comparisons in by_other.items():
        ends = range(FEW_WITH_ONE, len(comparisons) + 1, FEW_WITH_ONE)
        groups.setdefault(own_grade, []).extend(comparisons[end - FEW_WITH_ONE : end] for end in ends)
    chosen: list[ComparedGrade] = []
    for of_grade in groups.values():
        of_grade.sort(key=lambda group: _find_order(group[-1]))
        whole = len(of_grade) - len(of_grade) % (OWN_STEP // FEW_WITH_ONE)
        chosen.extend(comparison for group in of_grade[:whole] for comparison in group)
    return chosen


def _find_order(comparison: ComparedGrade) -> tuple[int, int, int]:
    return comparison.judgment_pk, comparison.pair_pk, comparison.annotator_pk
