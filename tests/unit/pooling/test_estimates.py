"""What new pairs are expected to bring and cost, by hand, and never a number that nothing measured."""

import numpy as np
import pytest

from annotator.pooling.rounds.pool_records import PairsPerQuery
from annotator.pooling.rounds.samples import describe_per_query, estimate_effort, expect_relevant


def ranks(*values: int) -> "np.typing.NDArray[np.int32]":
    return np.array(values, dtype=np.int32)


def test_the_share_judged_relevant_at_the_same_ranks_is_expected() -> None:
    judged = ranks(*[1] * 20, *[7] * 50)
    relevant = np.array([True] * 15 + [False] * 5 + [True] * 10 + [False] * 40)
    expected = expect_relevant(ranks(1, 1, 6, 8, 10), judged, relevant)
    assert expected.value == pytest.approx(2 * 15 / 20 + 3 * 10 / 50)
    assert (expected.pairs, expected.unknown, expected.why) == (5, 0, None)
    low, high = expected.ci95 or (0, 0)
    assert 0 <= low < 2.1 < high <= 5


def test_the_interval_contains_the_result_in_95_of_100_cases() -> None:
    random = np.random.default_rng(3)
    held = 0
    for _ in range(400):
        share = random.uniform(0.2, 0.8)
        judged, new = random.random(100) < share, random.random(60) < share
        expected = expect_relevant(ranks(*[3] * 60), ranks(*[3] * 100), judged)
        low, high = expected.ci95 or (0, 0)
        held += low <= new.sum() <= high
    assert 0.92 <= held / 400 <= 0.98


def test_ranks_with_few_judgments_get_no_estimate() -> None:
    judged, relevant = ranks(*[1] * 10), np.array([True] * 10)
    expected = expect_relevant(ranks(1, 60, 60), judged, relevant)
    assert (expected.value, expected.pairs, expected.unknown) == (1.0, 1, 2)
    assert expected.why == "2 more pairs cannot be estimated: too few candidates at their ranks are judged"
    unknown = expect_relevant(ranks(60), judged, relevant)
    assert (unknown.value, unknown.ci95, unknown.unknown) == (None, None, 1)
    assert unknown.why == "fewer than 10 candidates are judged at each rank that the new pairs have"
    assert expect_relevant(ranks(1), judged[1:], relevant[1:]).value is None, "9 are too few"
    nothing = expect_relevant(ranks(60), ranks(), np.zeros(0, dtype=np.bool_))
    assert (nothing.value, nothing.why) == (None, "none of the candidates is judged yet")
    assert expect_relevant(ranks(), judged, relevant).why == "there are no new pairs"


def test_hours_follow_from_the_measured_pace_or_are_unknown() -> None:
    assert estimate_effort(120, 10, 30.0).hours == 1.0
    for timed, seconds in ((9, 30.0), (0, None)):
        effort = estimate_effort(120, timed, seconds)
        assert (effort.judgments, effort.seconds, effort.hours) == (120, None, None)
        assert "the pace is not measured yet" in (effort.why or "")


def test_pairs_per_query_include_queries_without_a_new_pair() -> None:
    assert describe_per_query(np.array([0, 3, 4, 0])) == PairsPerQuery(1.5, 0, 4)
    assert describe_per_query(np.zeros(0, dtype=np.int64)) == PairsPerQuery(0.0, 0, 0)
