"""Byrt, Bishop & Carlin (1993), Bias, prevalence and kappa: the two indices, and that they explain kappa.

The paper gives kappa as (PABAK - PI² + BI²) / (1 - PI² + BI²), where PABAK = 2 po - 1 is the kappa of the same agreement
without prevalence and bias. The tables are those of Feinstein & Cicchetti (1990) and Gwet (2002); the indices follow from
the paper's definitions, PI = |a - d| / n and BI = |b - c| / n.
"""

import numpy as np
import pytest

from annotator.agreement.coefficients import DISAGREEMENT, cohen_kappa, compute_paradox, observed_agreement

UNWEIGHTED = DISAGREEMENT["unweighted"][:2, :2]
TABLES = [
    ([[40, 9], [6, 45]], 0.05, 0.03),
    ([[80, 10], [5, 5]], 0.75, 0.05),
    ([[118, 5], [2, 0]], 0.944, 0.024),
]


@pytest.mark.parametrize(("table", "prevalence", "bias"), TABLES)
def test_the_indices_of_published_tables(table: list[list[int]], prevalence: float, bias: float) -> None:
    paradox = compute_paradox(np.array(table, dtype=float))
    assert paradox is not None
    assert (paradox.prevalence, paradox.bias) == pytest.approx((prevalence, bias), abs=1e-12)


@pytest.mark.parametrize(
    "table", [table for table, _, _ in TABLES] + [[[45, 15], [25, 15]], [[25, 35], [5, 35]]]
)
def test_kappa_is_what_prevalence_and_bias_leave_of_the_adjusted_kappa(table: list[list[int]]) -> None:
    counts = np.array(table, dtype=float)
    paradox = compute_paradox(counts)
    assert paradox is not None
    adjusted = 2 * float(observed_agreement(counts)) - 1
    prevalence, bias = paradox.prevalence**2, paradox.bias**2
    expected = (adjusted - prevalence + bias) / (1 - prevalence + bias)
    assert cohen_kappa(counts, UNWEIGHTED) == pytest.approx(expected, abs=1e-12)


def test_with_the_same_agreement_prevalence_lowers_kappa_and_bias_raises_it() -> None:
    """The paper's two effects, on tables of 100 with 60 % agreement."""

    def kappa(table: list[list[int]]) -> float:
        return float(cohen_kappa(np.array(table, dtype=float), UNWEIGHTED))

    even = kappa([[30, 20], [20, 30]])
    assert kappa([[50, 20], [20, 10]]) < even < kappa([[30, 35], [5, 30]])
