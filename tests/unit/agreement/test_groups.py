"""Breakdowns: each pair in one group, under the name that a reader expects."""

from datetime import UTC, datetime

import numpy as np
import pytest

from annotator.agreement.judgment_table import (
    GradedJudgments,
    GroupLabels,
    label_by,
    label_by_version,
    label_by_week,
    look_up,
    sort_judged,
)
from annotator.agreement.measure import measure
from annotator.agreement.records import warn_of_few


def _judged(*pairs: tuple[int, int]) -> GradedJudgments:
    """Rows of (pair, annotator), each of a query of its own."""
    return sort_judged(
        *np.array([(pair, pair, who, 0) for pair, who in pairs], dtype=np.int64).reshape(-1, 4).T
    )


def _name_rows(labels: GroupLabels) -> list[str | None]:
    return [labels.values[index] for index in labels.group.tolist()]


def test_rows_go_by_their_keys_label_and_those_without_one_come_last() -> None:
    labels = label_by(np.array([7, 9, 7, 8]), {7: "법령", 8: None, 9: "a", 10: "empty"})
    assert labels.values == ["a", "empty", "법령", None]
    assert _name_rows(labels) == ["법령", "a", "법령", None]
    assert [(value, rows.sum()) for value, rows in labels] == [("a", 1), ("empty", 0), ("법령", 2), (None, 1)]


def test_a_key_that_is_not_known_at_all_is_in_no_group() -> None:
    labels = label_by(np.array([7, 4, 7]), {7: "a", 9: "b"})
    assert labels.group.tolist() == [0, -1, 0]
    assert [(value, rows.tolist()) for value, rows in labels] == [
        ("a", [True, False, True]),
        ("b", [False] * 3),
    ]


def test_no_judgment_has_no_group() -> None:
    none = np.zeros(0, dtype=np.int64)
    assert label_by(none, {1: "a"}).group.tolist() == []
    empty = _judged()
    assert list(label_by_version(empty, none).values) == list(label_by_week(empty, none).values) == []


def test_a_pair_belongs_to_the_version_it_was_judged_under_or_to_both() -> None:
    judged = _judged((1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1), (4, 1))
    labels = label_by_version(judged, np.array([1, 1, 1, 2, 10, 2, 2]))
    assert list(labels.values) == ["1", "1–2", "2", "2–10"]
    assert _name_rows(labels) == ["1", "1", "1–2", "1–2", "2–10", "2–10", "2"]


def test_what_is_not_known_of_a_pair_puts_it_into_the_last_group() -> None:
    judged = _judged((1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1), (4, 0), (4, 1), (4, 2))
    versions = label_by_version(judged, np.array([0, 0, 2, 2, 0, 2, 1, 2, 2]))
    assert list(versions.values) == ["1–2", "2", None]
    assert _name_rows(versions) == [None] * 2 + ["2"] * 2 + [None] * 2 + ["1–2"] * 3
    week = 7 * 24 * 60 * 60
    weeks = label_by_week(judged, np.array([0, 0, 1, 1, 0, 1, 0, 3, 2]) * week)
    assert list(weeks.values) == ["1970-W02", "1970-W04", None]
    assert _name_rows(weeks) == [None] * 2 + ["1970-W02"] * 2 + [None] * 2 + ["1970-W04"] * 3


@pytest.mark.parametrize(
    ("times", "week"),
    [
        (["2026-01-04T23:59:59", "2026-01-04T12:00:00"], "2026-W01"),
        (["2026-01-04T23:59:59", "2026-01-05T00:00:00"], "2026-W02"),
        (["2027-01-01T00:00:00", "2026-06-01T00:00:00"], "2026-W53"),
        (["2026-03-02T00:00:00", "2026-03-09T00:00:00", "2026-03-30T00:00:00"], "2026-W11"),
        (["2026-03-02T00:00:00"], "2026-W10"),
    ],
)  # fmt: skip
def test_a_pair_belongs_to_the_iso_week_of_its_second_judgment(times: list[str], week: str) -> None:
    judged = _judged(*((5, who) for who in range(len(times))))
    made = [int(datetime.fromisoformat(time).replace(tzinfo=UTC).timestamp()) for time in times]
    labels = label_by_week(judged, np.array(made))
    assert _name_rows(labels) == [week] * len(times)


def test_weeks_of_many_pairs_are_in_order() -> None:
    judged = _judged((1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1))
    week = 7 * 86_400
    labels = label_by_week(judged, np.array([9, 9, 2, 3, 3, 2]) * week)
    assert _name_rows(labels) == ["1970-W10", "1970-W10", "1970-W04", "1970-W04", "1970-W04", "1970-W04"]
    assert list(labels.values) == ["1970-W04", "1970-W10"]


def test_a_key_without_a_value_is_0() -> None:
    assert look_up(np.array([3, 5, 3, 4]), {3: 30, 5: 50}).tolist() == [30, 50, 30, 0]
    assert look_up(np.zeros(0, dtype=np.int64), {}).tolist() == []


@pytest.mark.parametrize(
    ("pairs", "queries", "warned"), [(30, 10, False), (29, 10, True), (300, 9, True), (0, 0, True)]
)
def test_a_group_of_few_pairs_or_queries_says_that_it_says_little(
    pairs: int, queries: int, warned: bool
) -> None:
    rows = [(pair % max(1, queries), pair, who, pair % 3) for pair in range(pairs) for who in (0, 1)]
    judged = sort_judged(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)
    measured = measure(judged, "ab", resamples=0, seed=0)
    warning = warn_of_few(measured.pairs, measured.queries)
    assert (warning is not None) is warned
    if warning and pairs:
        assert f"{pairs} pairs of {queries} queries; aim for 30 pairs of 10 queries" in warning
