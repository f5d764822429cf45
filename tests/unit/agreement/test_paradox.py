"""Prevalence and bias indices, and where the kappa paradox is at work."""

import numpy as np
import pytest

from annotator.agreement.coefficients import DISAGREEMENT, cohen_kappa, compute_paradox, is_paradox
from annotator.agreement.records import KappaParadox


def _table(rows: list[list[int]]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.array(rows, dtype=np.float64)


@pytest.mark.parametrize(
    "rows", [[[40, 9], [6, 45]], [[80, 10], [5, 5]], [[118, 5], [2, 0]], [[3, 40], [7, 50]]]
)
def test_of_two_categories_the_indices_are_those_of_byrt_bishop_and_carlin(rows: list[list[int]]) -> None:
    (a, b), (c, d) = rows
    total = a + b + c + d
    paradox = compute_paradox(_table(rows))
    assert paradox is not None
    assert paradox.prevalence == pytest.approx(abs(a - d) / total)
    assert paradox.bias == pytest.approx(abs(b - c) / total)


def test_of_four_grades_an_even_spread_has_no_prevalence_and_a_single_grade_has_all_of_it() -> None:
    assert compute_paradox(np.eye(4) * 5) == KappaParadox(0.0, 0.0)
    assert compute_paradox(_table([[0] * 4, [0, 9, 0, 0], [0] * 4, [0] * 4])) == KappaParadox(1.0, 0.0)
    seventy = compute_paradox(np.diag([70.0, 10, 10, 10]))
    assert seventy is not None and seventy.prevalence == pytest.approx(0.6)


def test_annotators_who_never_use_the_same_grade_have_all_the_bias() -> None:
    assert compute_paradox(_table([[0, 6], [0, 0]])) == KappaParadox(0.0, 1.0)


def test_over_a_dataset_one_pairs_bias_does_not_hide_anothers() -> None:
    leans = _table([[10, 10], [0, 10]])
    paradox = compute_paradox(np.stack([leans, leans.T]))
    assert paradox is not None and paradox.bias == pytest.approx(1 / 3)
    summed = compute_paradox(leans + leans.T)
    assert summed is not None and summed.bias == 0


def test_without_a_judgment_there_are_no_indices() -> None:
    assert compute_paradox(np.zeros((4, 4))) is None
    assert compute_paradox(np.zeros((0, 4, 4))) is None


def test_the_paradox_is_high_agreement_and_low_kappa_where_one_grade_prevails() -> None:
    prevails, even = np.zeros((4, 4)), np.zeros((4, 4))
    prevails[:2, :2], even[:2, :2] = [[118, 5], [2, 0]], [[40, 9], [6, 45]]

    def is_told(table: np.ndarray[tuple[int, ...], np.dtype[np.float64]], observed: float) -> bool:
        kappa = float(cohen_kappa(table, DISAGREEMENT["unweighted"]))
        return is_paradox(compute_paradox(table), observed=observed, kappa=kappa, target=0.7)

    assert is_told(prevails, 118 / 125)
    assert not is_told(prevails, 0.79)
    assert not is_told(even, 0.85)
    index = KappaParadox(0.9, 0.0)
    assert is_paradox(index, observed=1.0, kappa=None, target=0.7)
    assert not is_paradox(index, observed=0.95, kappa=0.7, target=0.7)
    assert not is_paradox(None, observed=None, kappa=None, target=0.7)
