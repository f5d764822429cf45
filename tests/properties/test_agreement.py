"""Agreement, over any judgments: what must not matter does not, and the fast counts equal the definitions."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.agreement.judgment_table import GradedJudgments, sort_judged
from annotator.agreement.measure import measure
from annotator.agreement.records import CoefficientValue, MeasuredAgreement

ANNOTATORS = 4
Grades = dict[tuple[int, int], int]
GRADES = st.dictionaries(st.tuples(st.integers(0, 11), st.integers(0, 3)), st.integers(0, 3), max_size=40)


def _judged(grades: Grades, queries: int = 3) -> GradedJudgments:
    """From grade by (pair, annotator); the pairs spread over the queries."""
    rows = [(pair % queries, pair, annotator, grade) for (pair, annotator), grade in grades.items()]
    return sort_judged(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)


def _measure(grades: Grades) -> MeasuredAgreement:
    return measure(_judged(grades), "abcd", resamples=30, seed=0)


def _list_values(measured: MeasuredAgreement) -> list[CoefficientValue]:
    return [
        *measured.cohen_kappa.values(), measured.fleiss_kappa, *measured.krippendorff_alpha.values(),
        measured.gwet_ac1, measured.gwet_ac2, *(value for _, value in measured.cut_points),
    ]  # fmt: skip


@given(GRADES)
def test_a_figure_is_a_number_up_to_1_or_says_why_not(grades: Grades) -> None:
    for value in _list_values(_measure(grades)):
        if value.value is None:
            assert value.why
            assert value.ci95 is None
        else:
            assert np.isfinite(value.value)
            assert value.value <= 1 + 1e-12
            assert (value.ci95 is None) == bool(value.why)


@given(GRADES, st.permutations(range(ANNOTATORS)))
def test_who_is_who_does_not_matter(grades: Grades, other: list[int]) -> None:
    renamed = {(pair, other[annotator]): grade for (pair, annotator), grade in grades.items()}
    for value, two in zip(_list_values(_measure(grades)), _list_values(_measure(renamed)), strict=True):
        assert value.value == pytest.approx(two.value)
        assert value.ci95 == pytest.approx(two.ci95)


@given(GRADES)
def test_turning_the_scale_round_changes_no_figure(grades: Grades) -> None:
    turned = {pair: 3 - grade for pair, grade in grades.items()}
    before, after = _measure(grades), _measure(turned)
    cuts = [*range(9), 11, 10, 9]  # relevant from 1 turns into relevant from 3
    values = _list_values(after)
    for value, cut in zip(_list_values(before), cuts, strict=True):
        assert value.value == pytest.approx(values[cut].value)


@given(GRADES)
def test_alpha_is_one_less_observed_over_expected_difference(grades: Grades) -> None:
    """Krippendorff's definition by comparisons of judgments, interval metric, counted one by one."""
    by_pair: dict[int, list[int]] = {}
    for (pair, _), grade in sorted(grades.items()):
        by_pair.setdefault(pair, []).append(grade)
    shared = [given for given in by_pair.values() if len(given) >= 2]
    everything = [grade for given in shared for grade in given]
    alpha = _measure(grades).krippendorff_alpha["interval"].value
    if len(set(everything)) < 2:
        assert alpha is None
        return
    observed = sum(
        2 * (a - b) ** 2 / (len(given) - 1) for given in shared for a, b in combinations(given, 2)
    ) / len(everything)
    expected = sum(2 * (a - b) ** 2 for a, b in combinations(everything, 2)) / (
        len(everything) * (len(everything) - 1)
    )
    assert alpha == pytest.approx(1 - observed / expected)


@given(GRADES)
def test_observed_agreement_counts_every_two_judgments_of_a_pair(grades: Grades) -> None:
    same = total = 0
    for ((pair, _), first), ((other, _), two) in combinations(sorted(grades.items()), 2):
        if pair == other:
            total += 1
            same += first == two
    assert _measure(grades).observed_agreement == (pytest.approx(same / total) if total else None)
