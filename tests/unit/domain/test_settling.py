"""When a pair is settled, and at which grade."""

import pytest

from annotator.domain.settling import OPEN, PAIR_STATUSES, Decided, Settlement, settle


@pytest.mark.parametrize(
    ("grades", "unrateable", "adjudicated", "imported", "status", "grade"),
    [
        ([], 0, None, None, "unjudged", None),
        ([], 1, None, 3, "unrateable", None),
        ([], 0, None, 3, "imported", 3),
        ([2], 0, None, 3, "single", 2),
        ([2], 1, None, 3, "disagreement", None),
        ([2, 2], 1, None, None, "disagreement", None),
        ([2], 1, 1, None, "adjudicated", 1),
        ([1, 2], 1, "unrateable", 3, "unrateable", None),
        ([], 0, "unrateable", 3, "unrateable", None),
        ([0, 0], 0, None, None, "unanimous", 0),
        ([1, 2], 0, None, None, "disagreement", None),
        ([1, 2], 0, 0, None, "adjudicated", 0),
    ],
)
def test_answers_and_a_decision_settle_a_pair(
    grades: list[int],
    unrateable: int,
    adjudicated: Decided | None,
    imported: int | None,
    status: str,
    grade: int | None,
) -> None:
    assert settle(grades, unrateable, adjudicated, imported) == Settlement(status, grade)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("grades", "adjudicated", "imported"), [([2, 2], None, None), ([2], None, None), ([0, 3], 2, None), ([], None, 2)]
)  # fmt: skip
def test_an_experts_different_grade_reopens_a_settled_pair_and_an_equal_one_does_not(
    grades: list[int], adjudicated: int | None, imported: int | None
) -> None:
    assert settle(grades, 0, adjudicated, imported, (1,)) == Settlement("reopened", None)
    assert settle(grades, 0, adjudicated, imported, (2, 0)) == Settlement("reopened", None)
    assert settle(grades, 0, adjudicated, imported, (2,)).grade == 2


@pytest.mark.parametrize(("grades", "unrateable"), [([], 0), ([], 2), ([1, 2], 0)])
def test_an_error_waits_for_a_lead_even_without_a_settled_grade(grades: list[int], unrateable: int) -> None:
    assert settle(grades, unrateable, None, None, (2,)) == Settlement("reopened", None)


def test_open_statuses_are_statuses() -> None:
    assert set(OPEN) < set(PAIR_STATUSES)
