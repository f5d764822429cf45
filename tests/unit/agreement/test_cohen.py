"""Cohen's kappa from tables, held to scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from annotator.agreement.coefficients import DISAGREEMENT, cohen_kappa, cut_at, mean_kappa

GRADED_TWICE = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=60)
TABLE = np.arange(16, dtype=float).reshape(4, 4)


def _table(judgments: list[tuple[int, int]]) -> np.ndarray:
    table = np.zeros((4, 4))
    for first, second in judgments:
        table[first, second] += 1
    return table


@pytest.mark.parametrize("name", ["unweighted", "linear", "quadratic"])
@given(judgments=GRADED_TWICE)
def test_kappa_is_that_of_scikit_learn(name: str, judgments: list[tuple[int, int]]) -> None:
    ours = cohen_kappa(_table(judgments), DISAGREEMENT[name])
    if len({grade for both in judgments for grade in both}) == 1:
        assert np.isnan(ours)
        return
    first, second = zip(*judgments, strict=True)
    reference = cohen_kappa_score(
        first, second, labels=[0, 1, 2, 3], weights=None if name == "unweighted" else name
    )
    assert ours == pytest.approx(reference, abs=1e-12)


def test_agreement_without_variation_is_undefined_and_not_0_or_1() -> None:
    assert np.isnan(cohen_kappa(np.diag([0.0, 0, 9, 0]), DISAGREEMENT["linear"]))
    assert np.isnan(cohen_kappa(np.zeros((4, 4)), DISAGREEMENT["unweighted"]))


def test_one_constant_annotator_beside_a_varying_one_has_kappa_0() -> None:
    table = np.zeros((4, 4))
    table[2] = [1, 2, 3, 4]
    assert cohen_kappa(table, DISAGREEMENT["unweighted"]) == 0


def test_the_mean_is_weighted_by_shared_pairs_and_leaves_out_what_is_undefined() -> None:
    good, bad = np.diag([15.0, 15, 0, 0]), np.array([[0, 5, 0, 0], [5, 0, 0, 0], [0] * 4, [0] * 4], float)
    constant = np.diag([0, 0, 0, 100.0])
    weights = DISAGREEMENT["unweighted"]
    assert mean_kappa(np.stack([good, bad, constant]), weights) == pytest.approx((30 * 1 + 10 * -1) / 40)
    assert np.isnan(mean_kappa(np.stack([constant]), weights))
    assert np.isnan(mean_kappa(np.zeros((0, 4, 4)), weights))


@pytest.mark.parametrize("start", [1, 2, 3])
def test_a_cut_counts_grades_from_there_on_as_relevant(start: int) -> None:
    expected = [
        [TABLE[:start, :start].sum(), TABLE[:start, start:].sum()],
        [TABLE[start:, :start].sum(), TABLE[start:, start:].sum()],
    ]
    assert cut_at(TABLE, start).tolist() == expected
    assert cut_at(np.stack([TABLE, 2 * TABLE]), start)[1].tolist() == (2 * np.array(expected)).tolist()
