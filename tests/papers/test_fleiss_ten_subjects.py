"""The often quoted example of Fleiss' kappa that is not in Fleiss (1971): 10 subjects, 14 raters, 5 categories, as in
Wikipedia's article on the coefficient; printed there as 0.210."""

import numpy as np
import pytest
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_kappa_of_statsmodels

from annotator.agreement.coefficients import fleiss_kappa, fleiss_terms

SUBJECTS = (
    "0 0 0 0 14 / 0 2 6 4 2 / 0 0 3 5 6 / 0 3 9 2 0 / 2 2 8 1 1 / "
    "7 7 0 0 0 / 3 2 6 3 0 / 2 5 3 2 2 / 6 5 2 1 0 / 0 2 2 3 7"
)
COUNTS = np.array([subject.split() for subject in SUBJECTS.split(" / ")], dtype=float)


def test_kappa_of_the_worked_example() -> None:
    assert fleiss_kappa(fleiss_terms(COUNTS).sum(axis=0)) == pytest.approx(0.20993, abs=5e-6)


def test_statsmodels_says_the_same() -> None:
    assert fleiss_kappa_of_statsmodels(COUNTS) == pytest.approx(0.20993, abs=5e-6)
