"""Feinstein & Cicchetti (1990), High agreement but low kappa: I. The problems of two paradoxes. Two tables of 100 cases
with the same observed agreement, of which kappa makes .70 and .32; AC1 hardly tells them apart."""

import numpy as np
import pytest

from annotator.agreement.coefficients import (
    DISAGREEMENT,
    cohen_kappa,
    gwet_ac,
    gwet_terms,
    identity_weights,
    observed_agreement,
)

BALANCED = np.array([[40, 9], [6, 45]], dtype=float)
PREVAILING = np.array([[80, 10], [5, 5]], dtype=float)


def _kappa(table: np.ndarray) -> float:
    return float(cohen_kappa(table, DISAGREEMENT["unweighted"][:2, :2]))


def test_the_observed_agreement_is_the_same() -> None:
    assert observed_agreement(BALANCED) == pytest.approx(0.85)
    assert observed_agreement(PREVAILING) == pytest.approx(0.85)


def test_kappa_is_high_where_the_grades_are_balanced() -> None:
    assert _kappa(BALANCED) == pytest.approx(0.6995, abs=5e-5)


def test_kappa_collapses_where_one_grade_prevails_and_ac1_does_not() -> None:
    assert _kappa(PREVAILING) == pytest.approx(0.3182, abs=5e-5)
    counts = np.repeat([[2.0, 0], [1, 1], [0, 2]], [80, 15, 5], axis=0)
    weights = identity_weights(2)
    assert gwet_ac(gwet_terms(counts, weights).sum(axis=0), weights) == pytest.approx(0.808, abs=5e-4)
