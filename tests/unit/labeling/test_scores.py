"""What answers on checks come to."""

import pytest

from annotator.labeling.calibration_service import CheckTries, score_gold, score_repeats, score_training


def tries(right: int, first: int | None, latest: int | None) -> CheckTries:
    return CheckTries("Q1", "문서/1", right, first, latest)


def test_training_remembers_the_first_tries_and_passes_by_the_latest() -> None:
    result = score_training([tries(2, 1, 2), tries(3, 3, 3), tries(0, 0, None)], 3, 0.6)
    assert result and (result.first, result.latest, result.passed) == (2 / 3, 2 / 3, True)
    assert result and not score_training([tries(2, 2, 2)], 2, 0.5).passed  # type: ignore[union-attr]


def test_a_share_needed_is_reached_exactly_in_spite_of_floating_point() -> None:
    right = [tries(1, 1, 1)] * 7
    result = score_training([*right, *[tries(1, 0, 0)] * 3], 10, 0.7)
    assert result and result.passed


@pytest.mark.parametrize(
    ("right", "total", "required", "passed"),
    [(3, 4, 0.75, True), (2, 4, 0.75, False), (7, 10, 0.7, True), (6, 10, 0.7, False), (5, 5, 1.0, True), (4, 5, 1.0, False),
     (0, 3, 0.0, True), (1, 3, 1 / 3, True)],
)  # fmt: skip
def test_training_is_passed_from_the_share_needed_on(
    right: int, total: int, required: float, passed: bool
) -> None:
    answers = [tries(1, 0, 1)] * right + [tries(1, 1, 0)] * (total - right)
    result = score_training(answers, total, required)
    assert result and (result.passed, result.done, result.total) == (passed, total, total)
    assert (result.first, result.latest) == ((total - right) / total, right / total)


def test_training_without_a_marked_pair_is_none_and_without_an_answer_undefined() -> None:
    assert score_training([], 0, 0.8) is None
    result = score_training([], 3, 0.8)
    assert result and (result.done, result.first, result.latest, result.passed) == (0, None, None, False)


def test_gold_counts_the_latest_answer_and_signs_the_difference() -> None:
    result = score_gold([tries(2, 0, 3), tries(1, 1, 1), tries(3, 3, 2), tries(0, 0, 2), tries(1, 1, None)])
    assert (result.answered, result.difference) == (5, 0.5)
    assert result.exact == pytest.approx(0.2)
    assert [(miss.right, miss.given) for miss in result.misses] == [(2, 3), (3, 2), (0, 2), (1, None)]


def test_gold_without_answers_or_grades_says_why_it_is_undefined() -> None:
    nothing = score_gold([])
    assert (nothing.answered, nothing.exact, nothing.why) == (0, None, "no gold pair has been judged")
    result = score_gold([tries(1, None, None)])
    assert (result.exact, result.difference) == (0, None)
    assert result.why == "no gold pair has a grade yet"


def test_consistency_is_the_share_equal_and_the_mean_distance() -> None:
    result = score_repeats([(2, 2), (0, 3), (1, 0), (None, None), (2, None)])
    assert (result.n, result.equal, result.difference) == (5, 0.4, 4 / 3)


def test_consistency_without_repeats_or_grades_says_why_it_is_undefined() -> None:
    nothing = score_repeats([])
    assert (nothing.n, nothing.equal, nothing.why) == (0, None, "no pair has been judged a second time")
    result = score_repeats([(None, 1)])
    assert (result.equal, result.why) == (0, "no pair has a grade from both times")
