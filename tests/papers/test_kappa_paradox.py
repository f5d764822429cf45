"""Feinstein & Cicchetti (1990), High agreement but low kappa: tables on which kappa and AC1 part company."""

import numpy as np
import pytest

from annotator.agreement.cohen import DISAGREEMENT, cohen_kappa
from annotator.agreement.gwet import gwet_ac, gwet_terms, identity_weights
from annotator.agreement.observed import observed_agreement

UNWEIGHTED = DISAGREEMENT["unweighted"][:2, :2]


def _ac1(table: list[list[int]]) -> float:
    counts = [np.bincount([row, column], minlength=2) for row in (0, 1) for column in (0, 1)]
    pairs = np.repeat(np.array(counts, dtype=float), np.ravel(table), axis=0)
    return float(gwet_ac(gwet_terms(pairs, identity_weights(2)).sum(axis=0), identity_weights(2)))


@pytest.mark.parametrize(
    ("table", "observed", "kappa", "ac1"),
    [
        ([[118, 5], [2, 0]], 0.944, -0.0234, 0.9408),
        ([[80, 10], [5, 5]], 0.85, 0.3182, 0.808),
    ],
)
def test_kappa_collapses_where_one_grade_prevails_and_ac1_does_not(
    table: list[list[int]], observed: float, kappa: float, ac1: float
) -> None:
    counts = np.array(table, dtype=float)
    assert observed_agreement(counts) == pytest.approx(observed, abs=5e-4)
    assert cohen_kappa(counts, UNWEIGHTED) == pytest.approx(kappa, abs=5e-5)
    assert _ac1(table) == pytest.approx(ac1, abs=5e-4)


def test_the_same_observed_agreement_with_balanced_grades_has_a_high_kappa() -> None:
    counts = np.array([[40, 9], [6, 45]], dtype=float)
    assert observed_agreement(counts) == pytest.approx(0.85)
    assert cohen_kappa(counts, UNWEIGHTED) == pytest.approx(0.6995, abs=5e-5)
