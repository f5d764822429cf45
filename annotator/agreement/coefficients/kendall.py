"""Compute Kendall's tau-b within queries: whether two annotators order documents alike.

Kendall (1945), The treatment of ties in ranking problems, Biometrika 33(3). Pooled over queries and annotator
pairs.
"""

import numpy as np

from annotator.agreement.comparisons import Comparisons
from annotator.agreement.judgment_table import (
    CATEGORIES,
    CELLS,
    number,
)

FEW_ORDERED = 30
AT_ONCE = 100_000
_FIRST, _SECOND = np.divmod(np.arange(CELLS), CATEGORIES)
_BY_FIRST = np.sign(np.subtract.outer(_FIRST, _FIRST)).astype(np.float64)
_BY_SECOND = np.sign(np.subtract.outer(_SECOND, _SECOND)).astype(np.float64)
_SAME_ORDER = _BY_FIRST * _BY_SECOND


def measure_order(comparisons: Comparisons, annotators: int) -> float | None:
    """Return tau-b; None if an annotator has fewer than FEW_ORDERED untied comparisons of documents."""
    both = (comparisons.first * annotators + comparisons.second) * max(
        1, comparisons.queries
    ) + comparisons.query
    groups, group = number(both)
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group, minlength=len(groups)))
    agreeing = untied_first = untied_second = 0.0
    for start in range(0, len(groups), AT_ONCE):
        stop = min(start + AT_ONCE, len(groups))
        rows = order[ends[start - 1] if start else 0 : ends[stop - 1]]
        cells = (group[rows] - start) * CELLS + comparisons.cell[rows]
        counts = np.bincount(cells, minlength=(stop - start) * CELLS).reshape(-1, CELLS).astype(np.float64)
        agreeing += float(((counts @ _SAME_ORDER) * counts).sum()) / 2
        untied_first += float(((counts @ np.abs(_BY_FIRST)) * counts).sum()) / 2
        untied_second += float(((counts @ np.abs(_BY_SECOND)) * counts).sum()) / 2
    if min(untied_first, untied_second) < FEW_ORDERED:
        return None
    return agreeing / float(np.sqrt(untied_first * untied_second))
