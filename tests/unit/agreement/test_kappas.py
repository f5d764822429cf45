"""Kappa of many tables of many resamples at once: to the last digit what each table has by itself."""

import numpy as np

from annotator.agreement.coefficients import NAMES, compute_all, compute_at


def test_every_kappa_at_once_is_that_of_each_table() -> None:
    random = np.random.default_rng(0)
    cells = random.integers(0, 5, (200, 16, 9)) * (random.random((200, 16, 9)) < random.random((200, 1, 1)))
    cells[0] = 0
    cells[1] *= np.eye(16, dtype=np.int64)[5][:, None]  # one grade throughout
    tables = cells.transpose(0, 2, 1).reshape(200, 9, 4, 4).astype(np.float64)
    by_name = dict(compute_all(cells.astype(np.float32)))
    assert tuple(by_name) == NAMES
    for name, kappas in by_name.items():
        expected = compute_at(tables, name)
        assert np.isnan(expected).any()
        assert not np.isnan(expected).all()
        assert np.array_equal(kappas, expected, equal_nan=True)
