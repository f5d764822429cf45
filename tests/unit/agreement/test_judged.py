"""Counting: which judgments meet, and under which query."""

import numpy as np

from annotator.agreement.judged import Judged, count_grades, divide, list_confusions, sort_judged


def _judged(*rows: tuple[int, int, int, int]) -> Judged:
    return sort_judged(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)


def test_every_two_annotators_of_a_pair_meet_once_with_the_lower_in_the_rows() -> None:
    judged = _judged((7, 1, 2, 3), (7, 1, 0, 0), (7, 1, 1, 2), (8, 2, 1, 1), (8, 2, 0, 1), (8, 3, 0, 2))
    found = list(list_confusions(judged))
    assert [(one.first, one.second, one.queries.tolist()) for one in found] == [
        (0, 1, [7, 8]), (0, 2, [7]), (1, 2, [7]),
    ]  # fmt: skip
    first = found[0].counts.reshape(-1, 4, 4)
    assert (first[0, 0, 2], first[1, 1, 1], first.sum()) == (1, 1, 2)
    assert found[1].counts.reshape(4, 4)[0, 3] == 1
    assert found[2].counts.reshape(4, 4)[2, 3] == 1


def test_only_the_tables_of_one_annotator_can_be_asked_for() -> None:
    judged = _judged((7, 1, 0, 0), (7, 1, 1, 2), (7, 1, 2, 3))
    assert [(one.first, one.second) for one in list_confusions(judged, only=1)] == [(0, 1), (1, 2)]


def test_a_pair_judged_once_is_not_shared() -> None:
    judged = _judged((7, 1, 0, 0), (7, 2, 0, 1), (7, 2, 1, 1), (7, 3, 1, 3))
    assert judged.shared().pair.tolist() == [2, 2]
    assert [one.counts.sum() for one in list_confusions(judged)] == [1]
    assert _judged((7, 1, 0, 0)).shared().pair.tolist() == []


def test_without_judgments_there_is_nothing_to_count() -> None:
    empty = _judged()
    assert list(list_confusions(empty.shared())) == []
    assert count_grades(empty).counts.shape == (0, 4)


def test_grades_are_counted_per_pair_under_its_query() -> None:
    counted = count_grades(_judged((9, 5, 0, 3), (7, 1, 0, 0), (7, 1, 1, 0), (9, 5, 1, 1)))
    assert counted.query.tolist() == [7, 9]
    assert counted.counts.tolist() == [[2, 0, 0, 0], [0, 1, 0, 1]]


def test_division_by_nothing_is_undefined() -> None:
    found = divide(np.array([1.0, 0.0, 3.0]), np.array([0.0, 0.0, 2.0]))
    assert np.isnan(found[:2]).all()
    assert found[2] == 1.5
