"""Exact cosines where single precision is not enough."""

import numpy as np
import pytest

from annotator.pooling.retrievers.vectors import VectorsInMemory, rank_by_cosine


@pytest.mark.parametrize("seed", range(5))
def test_documents_that_are_equal_in_single_precision_are_ordered_in_double_precision(seed: int) -> None:
    draw = np.random.default_rng(seed)
    query = draw.standard_normal((1, 64))
    rows = query + 1e-4 * draw.standard_normal((300, 64))
    expected = (rows @ query[0]) / np.linalg.norm(rows, axis=1) / np.linalg.norm(query)
    (hits,) = rank_by_cosine(VectorsInMemory(rows), query, np.arange(300), depth=3)
    assert [hit.document for hit in hits] == np.argsort(-expected)[:3].tolist()


def test_very_large_and_very_small_numbers_have_a_cosine() -> None:
    rows = np.array([[1e200, 1e200], [1e-200, 0.0], [0.0, 3e-310]])
    (hits,) = rank_by_cosine(VectorsInMemory(rows), np.array([[1e-180, 0.0]]), np.arange(3), depth=3)
    assert [(hit.document, pytest.approx(hit.score)) for hit in hits] == [(1, 1.0), (0, 0.5**0.5), (2, 0.0)]
