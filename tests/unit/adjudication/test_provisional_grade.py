"""At which grade a pair counts as long as nobody has decided, and between which grades a lead chooses."""

import pytest

from annotator.adjudication.impact.impact import NONE, ProvisionalGrade, count_as, find_provisional_grade
from annotator.domain.settling import Decided


@pytest.mark.parametrize(
    ("given", "counts_as"), [((0, 3), 0), ((2, 1), 1), ((3, 0, 1), 1), ((3, 3, 0, 1), 1), ((2,), 2)]
)
def test_until_somebody_decides_a_pair_counts_at_the_lower_median(
    given: tuple[int, ...], counts_as: int
) -> None:
    assert count_as(given) == counts_as


@pytest.mark.parametrize(
    ("grades", "unrateable", "decided", "imported", "expected"),
    [
        ((), 0, None, None, ProvisionalGrade(NONE, (NONE,))),
        ((2,), 0, None, None, ProvisionalGrade(2, (2,))),
        ((1, 1), 0, None, 3, ProvisionalGrade(1, (1,))),
        ((), 0, None, 3, ProvisionalGrade(3, (3,))),
        ((0, 3, 3), 0, None, None, ProvisionalGrade(3, (0, 3))),
        ((0, 3), 0, 2, None, ProvisionalGrade(2, (0, 2, 3))),
        ((2,), 1, None, None, ProvisionalGrade(2, (NONE, 2))),
        ((), 2, None, None, ProvisionalGrade(NONE, (NONE,))),
        ((0, 3), 0, "unrateable", None, ProvisionalGrade(NONE, (NONE, 0, 3))),
    ],
)
def test_a_pair_stands_as_the_rule_of_settling_says_and_an_open_one_at_the_lower_median(
    grades: tuple[int, ...],
    unrateable: int,
    decided: Decided | None,
    imported: int | None,
    expected: ProvisionalGrade,
) -> None:
    assert find_provisional_grade(grades, unrateable, decided, imported) == expected


def test_a_pair_that_quality_control_reopened_counts_between_what_was_settled_and_the_error() -> None:
    assert find_provisional_grade((2, 2), 0, None, None, (0,)) == ProvisionalGrade(0, (0, 2))
    assert find_provisional_grade((), 0, None, 1, (3,)) == ProvisionalGrade(1, (1, 3))
    assert find_provisional_grade((0, 3), 0, 3, None, (1, 2)) == ProvisionalGrade(2, (0, 1, 2, 3))
    assert find_provisional_grade((0, 3), 0, "unrateable", None, (1,)) == ProvisionalGrade(1, (NONE, 0, 1, 3))


def test_an_error_on_which_a_lead_has_decided_is_still_one_of_the_grades() -> None:
    assert find_provisional_grade((2, 2), 0, 2, None, (), (0,)) == ProvisionalGrade(2, (0, 2))
