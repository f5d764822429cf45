"""Krippendorff (2011), Computing Krippendorff's Alpha-Reliability: its examples A, B and C."""

import numpy as np
import pytest

from annotator.agreement.coefficients import coincidences, krippendorff_alpha

FOUR_OBSERVERS = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")


def _table(rows: tuple[str, ...], categories: str) -> np.ndarray:
    counts = np.array(
        [
            [sum(row[unit] == category for row in rows) for category in categories]
            for unit in range(len(rows[0]))
        ],
        dtype=float,
    )
    return np.asarray(coincidences(counts[counts.sum(axis=1) >= 2]).sum(axis=0))


@pytest.mark.parametrize(
    ("metric", "expected"),
    [("nominal", 0.7434), ("ordinal", 0.8154), ("interval", 0.8491)],
)
def test_alpha_of_four_observers_with_missing_judgments(metric: str, expected: float) -> None:
    alpha = krippendorff_alpha(_table(FOUR_OBSERVERS, "12345"), metric)
    assert alpha == pytest.approx(expected, abs=5e-5)


def test_alpha_of_binary_judgments() -> None:
    table = _table(("0100000010", "1110010000"), "01")
    assert krippendorff_alpha(table, "nominal") == pytest.approx(0.0952, abs=5e-5)


def test_alpha_of_nominal_judgments() -> None:
    table = _table(("aabbdcccedda", "babbbccceddd"), "abcde")
    assert krippendorff_alpha(table, "nominal") == pytest.approx(0.692, abs=5e-4)


def test_a_category_nobody_used_changes_nothing() -> None:
    for metric in ("nominal", "ordinal"):
        with_it = krippendorff_alpha(_table(FOUR_OBSERVERS, "123456"), metric)
        assert with_it == pytest.approx(krippendorff_alpha(_table(FOUR_OBSERVERS, "12345"), metric))


def test_an_unknown_metric_is_refused() -> None:
    with pytest.raises(ValueError, match="polar"):
        krippendorff_alpha(_table(FOUR_OBSERVERS, "12345"), "polar")
