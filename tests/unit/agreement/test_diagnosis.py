"""The diagnosis of judgments as they are: which finding appears when, in which order, and which pairs it points to."""

from collections.abc import Sequence

import numpy as np

from annotator.agreement.diagnosis.assess import assess
from annotator.agreement.judgment_table import sort_judged
from annotator.agreement.measure import measure
from annotator.agreement.records import DiagnosisFinding, PairSelection

NAMES = ("김", "高橋", "zoë")
GRADES = ("무관", "약간", "높음", "완벽")


def _find(
    grades: Sequence[tuple[int | None, ...]],
    *,
    queries: int = 12,
    target: float = 0.7,
    simulated: tuple[str, ...] = (),
) -> tuple[DiagnosisFinding, ...]:
    rows = [
        (pair % queries, pair, annotator, grade)
        for pair, given in enumerate(grades)
        for annotator, grade in enumerate(given)
        if grade is not None
    ]
    judged = sort_judged(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)
    measured = measure(judged, NAMES, resamples=300, seed=0)
    return assess(
        judged, names=NAMES, measured=measured, target=target, grade_names=GRADES, simulated=simulated
    ).findings


def _diagnose(
    grades: Sequence[tuple[int | None, ...]],
    *,
    queries: int = 12,
    target: float = 0.7,
    simulated: tuple[str, ...] = (),
) -> str:
    findings = _find(grades, queries=queries, target=target, simulated=simulated)
    return "\n".join(finding.sentence for finding in findings)


def _pick(findings: Sequence[DiagnosisFinding], kind: str) -> DiagnosisFinding:
    (picked,) = (finding for finding in findings if finding.kind == kind)
    return picked


SAME = [(0, 0), (1, 1), (2, 2), (3, 3)]


def test_nothing_judged_and_nothing_shared_are_told_apart_and_nothing_else_is_said() -> None:
    assert _diagnose([]) == "There are no judgments yet, so there is no agreement to measure."
    text = _diagnose([(1, None)] * 3)
    assert (
        text.startswith("There is no agreement to measure yet: no pair has two judgments (3 pairs with one)")
        and "\n" not in text
    )
    assert _find([])[0].pairs is None


def test_the_verdict_comes_first_then_that_judgments_are_simulated() -> None:
    kinds = [finding.kind for finding in _find(SAME * 12, simulated=("봇",))]
    assert kinds[:2] == ["verdict", "simulated"]
    assert "Simulated judgments are included (봇)" in _diagnose(SAME * 12, simulated=("봇",))
    assert "Simulated" not in _diagnose(SAME * 12)


def test_the_verdict_is_about_all_shared_pairs() -> None:
    assert _find(SAME * 12)[0].pairs == PairSelection()


def test_a_prevailing_grade_is_told_from_a_bad_rubric() -> None:
    findings = _find([(0, 0)] * 118 + [(0, 1)] * 5 + [(1, 0)] * 2)
    text = _pick(findings, "paradox").sentence
    assert "Observed agreement is 94 %, but kappa is only -0.02 and not clearly above 0" in text
    assert "97 % of all grades are 0 (무관; prevalence index 0.96)" in text
    assert "neither kappa nor AC1 (0.94) shows whether the annotators do" in text
    assert "prevails" not in _diagnose(SAME * 12)


def test_where_all_give_one_grade_kappa_is_undefined_for_that_reason() -> None:
    text = _diagnose([(2, 2)] * 40)
    assert "kappa is undefined for 40 pairs of 12 queries" in text
    assert "kappa is low or undefined whatever the annotators do" in text


def test_the_grades_confused_most_are_named_as_the_rubric_names_them() -> None:
    grades = SAME * 10 + [(1, 2)] * 6 + [(2, 1)] * 3 + [(0, 1)] * 2
    finding = _pick(_find(grades), "confused")
    assert "1 (약간) and 2 (높음), 9 of the 11 times that two annotators differ" in finding.sentence
    assert finding.pairs == PairSelection("differing", grades=(1, 2))
    assert "confused" not in _diagnose(SAME * 12)


def test_disagreements_far_apart_are_pointed_out() -> None:
    findings = _find(SAME * 10 + [(0, 3)] * 4 + [(2, 0)] * 4 + [(0, 1)] * 4)
    text = _pick(findings, "apart").sentence
    assert "Grades are two or three apart in 8 of the 12 times that two annotators differ" in text
    assert "grades apart" not in _diagnose(SAME * 10 + [(0, 1)] * 12)


def test_an_annotator_who_grades_higher_is_named_once_of_two() -> None:
    grades = [(0, 1), (1, 2), (2, 2), (2, 3)] * 12
    findings = _find(grades, queries=16)
    assert (
        "高橋 grades the same pairs 0.75 [0.50, 0.99] grades higher than 김"
        in _pick(findings, "lenient").sentence
    )
    assert _pick(findings, "lenient").pairs == PairSelection("differing", annotators=("高橋", "김"))
    assert [finding for finding in findings if finding.kind == "severe"] == []
    assert "grades higher" not in _diagnose([(0, 1), (1, 0), (2, 2), (3, 3)] * 12)


def test_of_three_annotators_the_one_who_leans_is_named_not_those_who_look_severe_beside_them() -> None:
    grades = [(0, 1, 0), (1, 2, 1), (2, 3, 2), (0, 1, 0), (3, 3, 3)] * 12
    findings = _find(grades, queries=13)
    kinds = [finding.kind for finding in findings if finding.kind in ("lenient", "severe")]
    assert kinds == ["lenient"]
    assert (
        "Ordinal alpha is 1.00 among the others (60 pairs) and 0.79 with 高橋 (60 pairs)"
        in _pick(findings, "lenient").sentence
    )


def test_who_gives_the_higher_of_the_confused_grades_is_named() -> None:
    one_sided = SAME * 12 + [(1, 2)] * 30 + [(2, 1)] * 2
    findings = [finding for finding in _find(one_sided) if finding.kind == "direction"]
    assert [finding.sentence for finding in findings] == [
        "高橋 tends to give the higher grade between 1 and 2: 30 of the 32 times that 高橋 and another annotator confused the two."
    ]
    assert findings[0].pairs == PairSelection("differing", annotators=("高橋",), grades=(1, 2))
    assert "gives the" not in _diagnose(SAME * 12 + [(1, 2)] * 16 + [(2, 1)] * 16)
    assert "gives the" not in _diagnose(SAME * 12 + [(1, 2)] * 9)


def test_near_misses_are_told_from_wide_ones() -> None:
    near = [(0, 1), (1, 1), (2, 2), (3, 2), (1, 0), (2, 3)]
    assert "kappa is much higher when" in _diagnose(near * 8)
    assert "near misses" not in _diagnose(SAME * 12)
    assert "near misses" not in _diagnose(near * 4)


def test_the_annotators_who_agree_least_are_named() -> None:
    finding = _pick(_find([(0, 0, 1), (1, 1, 0), (2, 2, 2), (3, 3, 3)] * 12, queries=13), "least")
    assert "Lowest agreement: 高橋 and zoë (0.33" in finding.sentence
    assert "Highest: 김 and 高橋 (1.00" in finding.sentence
    assert finding.pairs == PairSelection("differing", annotators=("高橋", "zoë"))


def test_annotator_pairs_without_variation_are_said_to_be_left_out() -> None:
    text = _diagnose([(0, 0, None), (1, 1, None), (2, 1, None), (None, 3, 3)] * 12)
    assert (
        "Excluded from the mean because their grades do not vary and kappa is undefined: 高橋 and zoë."
        in text
    )
