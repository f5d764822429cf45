"""The diagnosis: which sentence appears when, and in which order."""

import numpy as np

from annotator.agreement.diagnosis import diagnose
from annotator.agreement.judged import sort_judged
from annotator.agreement.measure import measure

NAMES = ("김", "高橋", "zoë")
GRADES = ("무관", "약간", "높음", "완벽")


def _diagnose(
    grades: list[tuple[int | None, ...]],
    *,
    queries: int = 12,
    target: float = 0.7,
    simulated: tuple[str, ...] = (),
) -> str:
    rows = [
        (pair % queries, pair, annotator, grade)
        for pair, given in enumerate(grades)
        for annotator, grade in enumerate(given)
        if grade is not None
    ]
    judged = sort_judged(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)
    measured = measure(judged, NAMES, resamples=300, seed=0)
    return "\n".join(diagnose(measured, kappa_target=target, grade_names=GRADES, simulated=simulated))


SAME = [(0, 0), (1, 1), (2, 2), (3, 3)]


def test_nothing_judged_and_nothing_shared_are_told_apart() -> None:
    assert "Nothing is judged yet" in _diagnose([])
    assert "No pair was judged by two annotators (3 pairs by one)" in _diagnose([(1, None)] * 3)


def test_simulated_judgments_are_named_first() -> None:
    assert _diagnose(SAME * 12, simulated=("봇",)).startswith("Simulated judgments are included (봇)")
    assert "Simulated" not in _diagnose(SAME * 12)


def test_kappa_stands_beside_its_target() -> None:
    assert "Cohen's kappa is 1.00 [1.00, 1.00] over 48 pairs of 12 queries: the target of 0.7 is met." in (
        _diagnose(SAME * 12)
    )
    apart = [(0, 1), (1, 0), (2, 3), (3, 2)]
    assert "below the target of 0.7. Talk about the disagreements" in _diagnose(apart * 12)


def test_an_interval_that_holds_the_target_calls_for_more_pairs() -> None:
    mixed = [*SAME * 9, *[(0, 1), (1, 3), (2, 1), (3, 2)] * 3]
    assert "below the target of 0.7, but its interval reaches it" in _diagnose(mixed, queries=11)
    assert "is met, but its interval reaches below" in _diagnose(mixed, queries=11, target=0.65)


def test_an_undefined_kappa_does_not_meet_the_target() -> None:
    said = _diagnose([(2, 2)] * 40)
    assert "undefined over 40 pairs of 12 queries, so the target of 0.7 is not met" in said
    assert "observed agreement is 100 %" in said


def test_few_shared_pairs_or_queries_are_pointed_out() -> None:
    assert "Too little is shared" in _diagnose(SAME * 2)
    assert "Too little is shared" in _diagnose(SAME * 12, queries=9)
    assert "Too little is shared" not in _diagnose(SAME * 12)


def test_a_prevailing_grade_is_told_from_a_bad_rubric() -> None:
    said = _diagnose([(0, 0)] * 118 + [(0, 1)] * 5 + [(1, 0)] * 2)
    assert "agree on 94% of the judgments, yet 97% of all grades are 0 (무관)" in said
    assert "AC1, which does not suffer from it, is 0.9" in said
    assert "prevails" not in _diagnose(SAME * 12)


def test_the_grades_confused_most_are_named_as_the_rubric_names_them() -> None:
    said = _diagnose(SAME * 10 + [(1, 2)] * 6 + [(2, 1)] * 3 + [(0, 1)] * 2)
    assert "1 (약간) and 2 (높음): 9 of the 11 times that two annotators differ" in said
    assert "confused" not in _diagnose(SAME * 12)


def test_disagreements_far_apart_are_pointed_out() -> None:
    assert "8 of the 12 times that two annotators differ, they are two or three grades apart" in _diagnose(
        SAME * 10 + [(0, 3)] * 4 + [(2, 0)] * 4 + [(0, 1)] * 4
    )
    assert "grades apart" not in _diagnose(SAME * 10 + [(0, 1)] * 12)


def test_an_annotator_who_grades_higher_is_named_once_of_two() -> None:
    said = _diagnose([(0, 1), (1, 2), (2, 2), (2, 3)] * 12)
    assert "高橋 grades higher than the others on the same pairs, by 0.75 grades on average" in said
    assert "김 grades lower" not in said
    assert "grades higher" not in _diagnose([(0, 1), (1, 0), (2, 2), (3, 3)] * 12)


def test_of_three_annotators_the_one_who_leans_most_comes_first() -> None:
    said = _diagnose([(0, 1, 0), (1, 2, 1), (2, 3, 2), (0, 1, 0)] * 12)
    assert said.index("高橋 grades higher") < said.index("grades lower")


def test_near_misses_are_told_from_wide_ones() -> None:
    near = [(0, 1), (1, 1), (2, 2), (3, 2), (1, 0), (2, 3)]
    assert "With near misses forgiven kappa is much higher" in _diagnose(near * 8)
    assert "near misses" not in _diagnose(SAME * 12)


def test_the_annotators_who_agree_least_are_named() -> None:
    said = _diagnose([(0, 0, 1), (1, 1, 0), (2, 2, 2), (3, 3, 3)] * 12)
    assert "agree least are 高橋 and zoë (0.33" in said
    assert "most 김 and 高橋 (1.00" in said


def test_annotator_pairs_without_variation_are_said_to_be_left_out() -> None:
    said = _diagnose([(0, 0, None), (1, 1, None), (2, 1, None), (None, 3, 3)] * 12)
    assert "Left out of the mean, since without variation their kappa is undefined: 高橋 and zoë." in said
