"""The verdict against the target: met, not met or not yet known, and what would make it known."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from annotator.agreement.diagnosis.verdict import count_further, judge
from annotator.agreement.judgment_table import GradedJudgments, sort_judged
from annotator.agreement.measure import measure
from annotator.agreement.records import AgreementVerdict, CoefficientValue, MeasuredAgreement
from tests.unit.agreement.simulated import simulate

SAME = [(0, 0), (1, 1), (2, 2), (3, 3)]


def _measure(
    grades: Sequence[tuple[int, ...]], *, queries: int = 12, resamples: int = 300
) -> MeasuredAgreement:
    rows = [
        (pair % queries, pair, annotator, grade)
        for pair, given in enumerate(grades)
        for annotator, grade in enumerate(given)
    ]
    judged = sort_judged(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)
    return measure(judged, ("a", "b"), resamples=resamples, seed=0)


def _judge(grades: Sequence[tuple[int, ...]], target: float = 0.7, *, queries: int = 12) -> AgreementVerdict:
    return judge(_measure(grades, queries=queries), target=target)


def test_an_interval_wholly_at_or_above_the_target_meets_it() -> None:
    verdict = _judge([*SAME * 12], target=1.0)
    assert (verdict.state, verdict.further) == ("met", None)
    assert verdict.sentence == (
        "Target met: Cohen's kappa is 1.00 [1.00, 1.00] (48 pairs of 12 queries), clearly at or above 1."
    )


def test_an_interval_wholly_below_the_target_does_not_meet_it() -> None:
    verdict = _judge([(0, 1), (1, 0), (2, 3), (3, 2)] * 12)
    assert (verdict.state, verdict.further) == ("not met", None)
    assert "Target not met: Cohen's kappa is -0.3" in verdict.sentence


@pytest.mark.parametrize("target", [0.7, 0.63])
def test_an_interval_that_spans_the_target_leaves_it_unknown_and_says_how_many_pairs_would_tell(
    target: float,
) -> None:
    verdict = _judge([*SAME * 9, *[(0, 1), (1, 3), (2, 1), (3, 2)] * 3], target, queries=11)
    assert verdict.state == "unknown" and verdict.further is not None
    assert "would decide it, if kappa stays the same and new queries have as many pairs" in verdict.sentence
    assert (
        f"Another {verdict.further} pairs or so, judged by two annotators, would decide it"
        in verdict.sentence
    )


def test_so_many_pairs_more_do_tell() -> None:
    """The same work several times over has the same kappa, and an interval as of so many queries."""
    small = simulate(2, queries=30).judged

    def judge_times(times: int) -> AgreementVerdict:
        copies = [
            replace(small, query=small.query + 100 * n, pair=small.pair + 1000 * n) for n in range(times)
        ]
        columns = (
            np.concatenate([getattr(copy, name) for copy in copies])
            for name in ("query", "pair", "annotator", "grade")
        )
        return judge(measure(GradedJudgments(*columns), ("a", "b", "c"), resamples=2000, seed=0), target=0.63)

    once = judge_times(1)
    assert once.state == "unknown" and once.further is not None
    times = 1 + once.further / 300
    assert times > 3
    assert judge_times(round(times * 0.7)).state == "unknown"
    assert judge_times(round(times * 1.2)).state != "unknown"


def test_the_pairs_needed_grow_with_the_square_of_the_width_by_the_distance_from_the_target() -> None:
    assert count_further(CoefficientValue(0.6, (0.5, 0.7)), 0.5, 100) == 1  # the interval just touches it
    assert count_further(CoefficientValue(0.6, (0.4, 0.8)), 0.5, 100) == 300
    assert count_further(CoefficientValue(0.6, (0.4, 0.8)), 0.7, 100) == 300
    assert (
        count_further(CoefficientValue(0.6, (0.45, 0.85)), 0.7, 100) == 300
    )  # a lopsided interval evens out
    assert count_further(CoefficientValue(0.6, (0.44, 0.76)), 0.5, 100) == 160  # 156, rounded up


def test_nothing_can_be_said_of_a_kappa_at_the_target_or_without_an_interval() -> None:
    assert count_further(CoefficientValue(0.7, (0.6, 0.8)), 0.7, 100) is None
    assert count_further(CoefficientValue(0.6999, (0.6, 0.8)), 0.7, 100) is None
    assert count_further(CoefficientValue(0.7), 0.7, 100) is None
    assert count_further(CoefficientValue(None, why="because"), 0.7, 100) is None


def test_an_interval_that_only_touches_the_target_meets_it_from_above_and_leaves_it_open_from_below() -> None:
    measured = _measure(SAME * 12)

    def judge_value(interval: tuple[float, float]) -> str:
        kappa = {**measured.cohen_kappa, "unweighted": CoefficientValue(sum(interval) / 2, interval)}
        return judge(replace(measured, cohen_kappa=kappa), target=0.75).state

    assert judge_value((0.75, 0.875)) == "met"
    assert judge_value((0.625, 0.75)) == "unknown"
    assert judge_value((0.625, 0.7499)) == "not met"
    assert judge_value((0.7499, 0.875)) == "unknown"


def test_no_number_is_given_where_kappa_is_less_than_a_standard_error_from_the_target() -> None:
    kappa = CoefficientValue(0.5, (0.3, 0.7))  # half the width is two standard errors
    assert count_further(kappa, 0.5 + 0.2 / 1.98, 100) == 300  # rounded up
    assert count_further(kappa, 0.5 + 0.2 / 2.02, 100) is None


def test_too_near_the_target_says_that_the_number_is_not_known() -> None:
    verdict = _judge([*SAME * 9, *[(0, 1), (1, 3), (2, 1), (3, 2)] * 3], 2 / 3, queries=11)
    assert (verdict.state, verdict.further) == ("unknown", None)
    assert "too close to the target to say how many more pairs would decide it" in verdict.sentence


@pytest.mark.parametrize(
    ("pairs", "queries", "missing"),
    [(8, 8, 22), (29, 29, 1), (28, 10, 2), (45, 9, 1), (300, 6, 4)],
)
def test_too_few_pairs_or_queries_prove_nothing_however_well_they_agree(
    pairs: int, queries: int, missing: int
) -> None:
    verdict = _judge((SAME * 75)[:pairs], queries=queries)
    assert (verdict.state, verdict.further) == ("unknown", missing)
    assert "two annotators have judged only" in verdict.sentence and "1.00 [1.00, 1.00]" in verdict.sentence


def test_of_one_query_alone_a_pair_of_each_of_nine_more_is_missing() -> None:
    verdict = _judge(SAME * 25, queries=1)
    assert (verdict.state, verdict.further) == ("unknown", 9)
    assert (
        "100 pairs of 1 query, too few to rely on. At least 30 pairs of 10 queries are needed. Have two annotators judge "
        "at least 9 pairs more, spread over queries." in verdict.sentence
    )


def test_thirty_pairs_of_ten_queries_are_enough_for_a_verdict() -> None:
    assert _judge((SAME * 9)[:30], queries=10).state == "met"


def test_an_undefined_kappa_is_unknown_and_says_why() -> None:
    verdict = _judge([(2, 2)] * 40)
    assert (verdict.state, verdict.further) == ("unknown", None)
    assert "kappa is undefined for 40 pairs of 12 queries (everybody gave the same" in verdict.sentence
    assert "two annotators have judged only 3 pairs of 3 queries" in _judge([(2, 2)] * 3).sentence


def test_without_an_interval_it_is_unknown() -> None:
    verdict = judge(_measure(SAME * 12, resamples=0), target=0.7)
    assert verdict.state == "unknown"
    assert "without a confidence interval (no confidence interval was requested)" in verdict.sentence


def test_where_nothing_is_shared_it_is_unknown() -> None:
    verdict = _judge([(1,)] * 3)
    assert (verdict.state, verdict.further, verdict.kappa.value) == ("unknown", None, None)
    assert "(3 pairs with one)" in verdict.sentence


def _scatter(shared: Sequence[int], *, queries: int = 40) -> AgreementVerdict:
    """Annotators 2 n and 2 n + 1 share `shared[n]` pairs, agreeing on nine of ten."""
    rows, pair = [], 0
    for comparison, pairs in enumerate(shared):
        for number in range(pairs):
            grade = number % 4
            rows += [
                (pair % queries, pair, 2 * comparison, grade),
                (pair % queries, pair, 2 * comparison + 1, grade if number % 10 else 3 - grade),
            ]
            pair += 1
    judged = sort_judged(*np.array(rows, dtype=np.int64).T)
    names = [str(number) for number in range(2 * len(shared))]
    return judge(measure(judged, names, resamples=200, seed=0), target=0.4)


def test_a_kappa_from_annotators_who_share_few_pairs_is_no_ground_for_a_verdict() -> None:
    verdict = _scatter([29] * 4)
    assert (verdict.state, verdict.further) == ("unknown", None)
    assert "fewer than 30 pairs in common" in verdict.sentence
    assert "Krippendorff's alpha (0.8" in verdict.sentence
    assert _scatter([30] * 4).state == "met"
    assert _scatter([29, 29, 58]).state == "unknown"
    assert _scatter([29, 29, 60]).state == "met"


def test_where_nobody_could_rate_anything_it_says_so() -> None:
    nothing = _measure([])
    assert judge(nothing, target=0.7).sentence.startswith("There are no judgments yet")
    assert "all 12 judgments are “cannot rate”" in judge(nothing, target=0.7, unrateable=12).sentence
    assert "the only judgment is" in judge(nothing, target=0.7, unrateable=1).sentence
    single = judge(_measure([(1,)] * 3), target=0.7, unrateable=2)
    assert "(3 pairs with one)" in single.sentence  # some could
