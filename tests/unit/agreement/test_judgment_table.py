"""Counting: which judgments meet, and under which query."""

import numpy as np
import pytest

from annotator.agreement.judgment_table import (
    GradedJudgments,
    count_by_annotator,
    count_grades,
    count_tables,
    divide,
    find_patterns,
    number,
    sort_judged,
    sum_tables,
)


def _judged(*rows: tuple[int, int, int, int]) -> GradedJudgments:
    return sort_judged(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)


def _count(judged: GradedJudgments, only: int | None = None) -> dict[tuple[int, int], dict[int, list[int]]]:
    """Of every two annotators, the cells of their table by query, where there are any."""
    queries = np.unique(judged.query)
    tables = count_tables(judged, queries, only)
    counts = tables.counts.toarray().reshape(len(tables.first), 16, len(queries))
    return {
        (int(first), int(second)): {
            int(query): counts[index, :, at].astype(int).tolist()
            for at, query in enumerate(queries)
            if counts[index, :, at].any()
        }
        for index, (first, second) in enumerate(zip(tables.first, tables.second, strict=True))
    }


def _cells(*cells: tuple[int, int]) -> list[int]:
    return [cells.count((row, column)) for row in range(4) for column in range(4)]


def test_every_two_annotators_of_a_pair_meet_once_with_the_lower_in_the_rows() -> None:
    judged = _judged((7, 1, 2, 3), (7, 1, 0, 0), (7, 1, 1, 2), (8, 2, 1, 1), (8, 2, 0, 1), (8, 3, 0, 2))
    assert _count(judged) == {
        (0, 1): {7: _cells((0, 2)), 8: _cells((1, 1))},
        (0, 2): {7: _cells((0, 3))},
        (1, 2): {7: _cells((2, 3))},
    }


def test_the_same_cell_of_a_query_adds_up() -> None:
    judged = _judged(
        *((7, pair, annotator, 3) for pair in range(5) for annotator in (0, 1)), (7, 9, 0, 3), (7, 9, 1, 0)
    )
    assert _count(judged) == {(0, 1): {7: _cells(*[(3, 3)] * 5, (3, 0))}}


def test_the_tables_of_all_queries_together_are_the_sums_of_each_query() -> None:
    judged = _judged((7, 1, 2, 3), (7, 1, 0, 0), (7, 1, 1, 2), (8, 2, 1, 1), (8, 2, 0, 1), (8, 3, 0, 2))
    each = count_tables(judged, np.unique(judged.query)).counts.sum(axis=1).reshape(-1, 4, 4)
    assert sum_tables(judged).tolist() == each.tolist()
    assert sum_tables(judged).sum() == 4
    assert sum_tables(_judged()).shape == (0, 4, 4)


def test_only_the_tables_of_one_annotator_can_be_asked_for() -> None:
    judged = _judged((7, 1, 0, 0), (7, 1, 1, 2), (7, 1, 2, 3))
    assert [*_count(judged, only=1)] == [(0, 1), (1, 2)]


def test_a_pair_judged_once_is_not_shared() -> None:
    judged = _judged((7, 1, 0, 0), (7, 2, 0, 1), (7, 2, 1, 1), (7, 3, 1, 3))
    assert judged.shared().pair.tolist() == [2, 2]
    assert _count(judged) == {(0, 1): {7: _cells((1, 1))}}
    assert _judged((7, 1, 0, 0)).shared().pair.tolist() == []


def test_without_judgments_there_is_nothing_to_count() -> None:
    empty = _judged()
    assert _count(empty.shared()) == {}
    assert count_grades(empty).counts.shape == (0, 4)


def test_counts_that_are_too_many_for_single_precision_are_kept_in_double(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judged = _judged((7, 1, 0, 0), (7, 1, 1, 2))
    assert count_tables(judged, np.array([7])).counts.dtype == np.float32
    monkeypatch.setattr("annotator.agreement.judgment_table.EXACT_IN_SINGLE", 1)
    assert count_tables(judged, np.array([7])).counts.dtype == np.float64


@pytest.mark.parametrize("values", [[5, 2, 5, 9], [5, 2, 5, 10**15], [], [-3, 4, -3]])
def test_numbering_is_that_of_unique_values(values: list[int]) -> None:
    distinct, indexes = number(np.array(values, dtype=np.int64))
    assert distinct.tolist() == sorted(set(values))
    assert [distinct.tolist()[at] for at in indexes.tolist()] == values


def test_how_often_each_annotator_gave_each_grade() -> None:
    judged = _judged((7, 1, 0, 0), (7, 1, 2, 3), (7, 2, 2, 3))
    assert count_by_annotator(judged, 3).tolist() == [[1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 2]]
    assert count_by_annotator(judged, 4).tolist()[3] == [0, 0, 0, 0]


def test_grades_are_counted_per_pair_under_its_query() -> None:
    counted = count_grades(_judged((9, 5, 0, 3), (7, 1, 0, 0), (7, 1, 1, 0), (9, 5, 1, 1)))
    assert counted.query.tolist() == [7, 9]
    assert counted.counts.tolist() == [[2, 0, 0, 0], [0, 1, 0, 1]]


def test_each_pattern_of_counts_is_kept_once_and_its_pairs_are_counted_by_query() -> None:
    rows = [
        (9, 5, 0, 3),
        (9, 5, 1, 1),
        (7, 1, 0, 0),
        (7, 1, 1, 0),
        (9, 6, 0, 1),
        (9, 6, 1, 3),
        (7, 2, 0, 3),
        (7, 2, 1, 1),
    ]
    patterns = find_patterns(count_grades(_judged(*rows)))
    assert sorted(patterns.counts.tolist()) == [[0, 1, 0, 1], [2, 0, 0, 0]]
    mixed = patterns.counts.tolist().index([0, 1, 0, 1])
    assert patterns.queries.tolist() == [7, 9]
    assert patterns.pairs.toarray()[:, mixed].tolist() == [1, 2]
    assert patterns.pairs.toarray()[:, 1 - mixed].tolist() == [1, 0]


def test_division_by_nothing_is_undefined() -> None:
    quotients = divide(np.array([1.0, 0.0, 3.0]), np.array([0.0, 0.0, 2.0]))
    assert np.isnan(quotients[:2]).all()
    assert quotients[2] == 1.5
