"""Gwet (2014), Handbook of Inter-Rater Reliability: AC1 and AC2 of Krippendorff's data of four observers.

Its unit 12 has one judgment: it takes part in how common each category is, and in nothing else. Not tested: AC1's
published interval, .460813 to 1. It rests on an asymptotic variance over 12 independent units, which the program does not
offer; its intervals resample queries.
"""

import numpy as np
import pytest

from annotator.agreement.coefficients import gwet_ac, gwet_terms, identity_weights, quadratic_weights

ROWS = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
COUNTS = np.array(
    [[sum(row[unit] == grade for row in ROWS) for grade in "12345"] for unit in range(12)], float
)


@pytest.mark.parametrize(
    ("weights", "expected"), [(identity_weights(5), 0.775444), (quadratic_weights(5), 0.914001)]
)
def test_ac1_and_ac2_with_missing_judgments(weights: np.ndarray, expected: float) -> None:
    assert gwet_ac(gwet_terms(COUNTS, weights).sum(axis=0), weights) == pytest.approx(expected, abs=5e-7)


def test_without_the_unit_judged_once_the_value_is_another() -> None:
    weights = identity_weights(5)
    shared = COUNTS[COUNTS.sum(axis=1) >= 2]
    assert gwet_ac(gwet_terms(shared, weights).sum(axis=0), weights) == pytest.approx(0.775152, abs=5e-7)
