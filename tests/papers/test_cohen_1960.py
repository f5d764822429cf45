"""Cohen (1960), A coefficient of agreement for nominal scales: the table of its worked example, 200 cases.

Not tested here: the standard errors, since the program offers none (the paper's approximation .055, with .384 to .600,
and the asymptotic .0510 of Fleiss, Cohen & Everitt 1969). That the bootstrap of independent cases comes to the interval
of the latter, .3916 to .5915, is held by tests/properties/test_agreement_intervals.py.
"""

import numpy as np
import pytest

from annotator.agreement.coefficients import DISAGREEMENT, cohen_kappa

TABLE = np.array([[88, 14, 18], [10, 40, 10], [2, 6, 12]], dtype=float)


@pytest.mark.parametrize(
    ("weights", "expected"), [("unweighted", 0.4915), ("linear", 0.4737), ("quadratic", 0.4545)]
)
def test_kappa_of_the_worked_example(weights: str, expected: float) -> None:
    assert cohen_kappa(TABLE, DISAGREEMENT[weights][:3, :3]) == pytest.approx(expected, abs=5e-5)


def test_the_paper_rounds_to_three_places() -> None:
    assert cohen_kappa(TABLE, DISAGREEMENT["unweighted"][:3, :3]) == pytest.approx(0.492, abs=6e-4)


def test_a_fourth_grade_that_nobody_gave_changes_nothing() -> None:
    """The program's scale has four grades."""
    wider = np.pad(TABLE, (0, 1))
    for weights in DISAGREEMENT.values():
        assert cohen_kappa(wider, weights) == pytest.approx(float(cohen_kappa(TABLE, weights[:3, :3])))
