"""Fleiss (1971), Measuring nominal scale agreement among many raters: 30 subjects, 6 raters, 5 categories;
printed there as .430."""

import numpy as np
import pytest

from annotator.agreement.coefficients import fleiss_kappa, fleiss_terms

PAPER = (
    "00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031 "
    "00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"
)


def test_kappa_of_the_worked_example() -> None:
    counts = np.array([[int(count) for count in subject] for subject in PAPER.split()], dtype=float)
    assert fleiss_kappa(fleiss_terms(counts).sum(axis=0)) == pytest.approx(0.43024, abs=5e-6)
