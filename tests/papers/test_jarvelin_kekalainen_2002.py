"""Järvelin & Kekäläinen 2002: cumulated gain. The example that textbooks and Wikipedia work out, and its exponential form.

Gains 3, 2, 3, 0, 1, 2; the ideal order of all judged documents is 3, 3, 3, 2, 2, 2 (one of grade 3 and one of grade 2 were
not found).
"""

import pytest

from annotator.evaluation.scores.formulas import compute_ndcg, sum_dcg
from annotator.evaluation.scores.ranking import GradeGrid
from tests.unit.evaluation.small_runs import fill_rows

GRID = GradeGrid(fill_rows([[3, 2, 3, 0, 1, 2]]), fill_rows([[3, 3, 3, 2, 2, 2]]))


def test_dcg_and_its_ideal() -> None:
    assert sum_dcg(GRID.grades, "grade")[0] == pytest.approx(6.861127, abs=5e-7)
    assert sum_dcg(GRID.ideal, "grade")[0] == pytest.approx(8.740262, abs=5e-7)


def test_ndcg_with_linear_and_with_exponential_gain() -> None:
    assert compute_ndcg(GRID, cutoff=6, gain="grade")[0] == pytest.approx(0.785002, abs=5e-7)
    assert compute_ndcg(GRID, cutoff=6, gain="exponential")[0] == pytest.approx(0.751083, abs=5e-7)
