"""Cohen (1968), Weighted kappa: the worked example, with the disagreement weights of the paper."""

import numpy as np
import pytest

from annotator.agreement.coefficients import cohen_kappa

TABLE = np.array([[88, 14, 18], [10, 40, 10], [2, 6, 12]], dtype=float)
WEIGHTS = np.array([[0, 1, 3], [1, 0, 6], [3, 6, 0]], dtype=float)


def test_weighted_kappa_of_the_worked_example() -> None:
    assert cohen_kappa(TABLE, WEIGHTS) == pytest.approx(0.3478, abs=5e-5)


def test_only_the_proportions_of_the_weights_matter() -> None:
    assert cohen_kappa(TABLE, 7 * WEIGHTS) == pytest.approx(cohen_kappa(TABLE, WEIGHTS))
