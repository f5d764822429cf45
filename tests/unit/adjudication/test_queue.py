"""The queue's figures and orders, worked by hand."""

from datetime import UTC, datetime, timedelta

import pytest

from annotator.adjudication.queue import (
    Disagreement,
    compute_distance,
    compute_impact,
    find_since,
    sort_disagreements,
)
from annotator.domain.errors import ValidationError

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


def at(minutes: int) -> datetime:
    return NOON + timedelta(minutes=minutes)


def disagreement(
    doc_id: str, *, distance: int = 1, impact: float = 1.0, minutes: int = 0, status: str = "open"
):
    return Disagreement("p", "質問1", doc_id, None, {}, distance, impact, status, at(minutes))


def test_distance_is_the_highest_minus_the_lowest_grade() -> None:
    assert compute_distance([2, 0, 3]) == 3
    assert compute_distance([1, 1]) == 0
    assert compute_distance([]) == 0


@pytest.mark.parametrize(
    ("grades", "rank", "expected"),
    [
        ([0, 3], 1, 7.0),  # (8 - 1) / log2(2)
        ([1, 3], 3, 3.0),  # (8 - 2) / log2(4)
        ([0, 1, 0], 7, 0.3333),  # (2 - 1) / log2(8), rounded
        ([2, 2], 1, 0.0),
        ([0, 3], None, 7.0),  # of unknown rank: the most it could matter
        ([0, 3], 0, 7.0),  # a run that counts from 0
        ([], 1, 0.0),
    ],
)
def test_impact_is_the_gain_at_stake_discounted_at_the_best_rank(grades, rank, expected) -> None:
    assert compute_impact(grades, rank) == expected


def test_a_disagreement_begins_with_the_first_judgment_that_differs() -> None:
    assert find_since([(at(9), 1), (at(1), 2), (at(5), 2)]) == at(9)
    assert find_since([(at(1), 2), (at(3), 0), (at(5), 2)]) == at(3)
    assert find_since([(at(1), 2), (at(3), 2)]) is None
    assert find_since([]) is None


def test_each_sort_puts_open_ones_first_and_breaks_ties_by_age() -> None:
    found = [
        disagreement("decided", distance=3, impact=9.0, minutes=0, status="decided"),
        disagreement("new and far", distance=3, impact=1.0, minutes=9),
        disagreement("old and near", distance=1, impact=2.0, minutes=1),
        disagreement("old and far", distance=3, impact=1.0, minutes=2),
    ]

    def order(sort: str) -> list[str]:
        return [item.doc_id for item in sort_disagreements(found, sort)]

    assert order("distance") == ["old and far", "new and far", "old and near", "decided"]
    assert order("impact") == ["old and near", "old and far", "new and far", "decided"]
    assert order("age") == ["old and near", "old and far", "new and far", "decided"]


def test_an_unknown_sort_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValidationError, match="expected one of distance, impact, age, found 'size'"):
        sort_disagreements([], "size")
