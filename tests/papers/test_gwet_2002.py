"""Gwet (2002), Kappa statistic is not satisfactory for assessing the extent of agreement between raters: 125 subjects of
whom both raters find the trait in 118. They agree on 94 %, and kappa is below 0."""

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

TABLE = np.array([[118, 5], [2, 0]], dtype=float)


def test_kappa_is_below_0_though_the_raters_agree_on_94_percent() -> None:
    assert observed_agreement(TABLE) == pytest.approx(0.944)
    assert cohen_kappa(TABLE, DISAGREEMENT["unweighted"][:2, :2]) == pytest.approx(-0.0234, abs=5e-5)


def test_ac1_stays_near_the_observed_agreement() -> None:
    counts = np.repeat([[2.0, 0], [1, 1]], [118, 7], axis=0)
    weights = identity_weights(2)
    assert gwet_ac(gwet_terms(counts, weights).sum(axis=0), weights) == pytest.approx(0.9408, abs=5e-5)
