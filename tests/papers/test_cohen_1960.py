"""Cohen (1960), A coefficient of agreement for nominal scales: the table of its worked example."""

import numpy as np
import pytest

from annotator.agreement.cohen import DISAGREEMENT, cohen_kappa

TABLE = np.array([[88, 14, 18], [10, 40, 10], [2, 6, 12]], dtype=float)


@pytest.mark.parametrize(
    ("weights", "expected"), [("unweighted", 0.4915), ("linear", 0.4737), ("quadratic", 0.4545)]
)
def test_kappa_of_the_worked_example(weights: str, expected: float) -> None:
    assert cohen_kappa(TABLE, DISAGREEMENT[weights][:3, :3]) == pytest.approx(expected, abs=5e-5)


def test_the_paper_rounds_to_three_places() -> None:
    assert cohen_kappa(TABLE, DISAGREEMENT["unweighted"][:3, :3]) == pytest.approx(0.492, abs=6e-4)
