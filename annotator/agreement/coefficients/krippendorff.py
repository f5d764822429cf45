"""Compute Krippendorff's alpha for any number of annotators and any missing judgments.

Krippendorff (2011), Computing Krippendorff's Alpha-Reliability (University of Pennsylvania,
ScholarlyCommons).
"""

import numpy as np

from annotator.agreement.judgment_table import Floats, divide

METRICS: tuple[str, ...] = ("nominal", "ordinal", "interval")


def coincidences(counts: Floats) -> Floats:
    """Return the coincidence table of each pair with two or more judgments: n x k counts -> n x k x k.

    Each comparison of two judgments of a pair counts 1 / (judgments - 1), in both directions.
    """
    comparisons = counts[:, :, None] * (counts[:, None, :] - np.eye(counts.shape[1]))
    return np.asarray(comparisons / (counts.sum(axis=1) - 1)[:, None, None])


def krippendorff_alpha(table: Floats, metric: str) -> Floats:
    """Return alpha from summed coincidence tables (… x k x k): 1 - observed / expected disagreement.

    NaN where alpha is undefined: no pair with two judgments, or all judgments are one grade.
    """
    margins = table.sum(axis=-1)
    total = margins.sum(axis=-1)
    distance = _distance(margins, metric)
    observed = (table * distance).sum(axis=(-2, -1)) * (total - 1)
    expected = (margins[..., :, None] * margins[..., None, :] * distance).sum(axis=(-2, -1))
    return 1.0 - divide(observed, expected)


def _distance(margins: Floats, metric: str) -> Floats:
    """Return the squared differences: k x k; … x k x k for "ordinal", which depends on the margins."""
    categories = margins.shape[-1]
    if metric == "nominal":
        return np.asarray(1.0 - np.eye(categories))
    if metric == "ordinal":
        middle = np.cumsum(margins, axis=-1) - margins / 2
        return np.asarray((middle[..., :, None] - middle[..., None, :]) ** 2)
    if metric == "interval":
        return np.asarray(np.subtract.outer(np.arange(categories), np.arange(categories)) ** 2.0)
    raise ValueError(f"no metric {metric!r}")
