"""Compute Krippendorff's alpha: any number of annotators, any pattern of missing judgments, four metrics.

Krippendorff (2011), Computing Krippendorff's Alpha-Reliability (University of Pennsylvania, ScholarlyCommons).
"""

import numpy as np

from annotator.agreement.judgment_table import Floats, divide

METRICS: tuple[str, ...] = ("nominal", "ordinal", "interval")
"""The metrics of the report. "ratio" is known too, for scales with a true zero; grades have none."""


def coincidences(counts: Floats) -> Floats:
    """Return the coincidence table of each pair with two or more judgments: n x k counts -> n x k x k.

    Each comparison of two judgments of a pair counts 1 / (judgments - 1), in both directions.
    """
    comparisons = counts[:, :, None] * (counts[:, None, :] - np.eye(counts.shape[1]))
    return np.asarray(comparisons / (counts.sum(axis=1) - 1)[:, None, None])


def krippendorff_alpha(table: Floats, metric: str, values: Floats | None = None) -> Floats:
    """Return alpha from summed coincidence tables (… x k x k): 1 - observed / expected disagreement.

    `values`: the k values of the scale for "interval" and "ratio" (default 0, 1, 2 …). NaN where alpha is undefined:
    no pair with two judgments, or all judgments are one grade.
    """
    margins = table.sum(axis=-1)
    total = margins.sum(axis=-1)
    scale = np.arange(table.shape[-1], dtype=np.float64) if values is None else values
    distance = _distance(margins, metric, scale)
    observed = (table * distance).sum(axis=(-2, -1)) * (total - 1)
    expected = (margins[..., :, None] * margins[..., None, :] * distance).sum(axis=(-2, -1))
    return 1.0 - divide(observed, expected)


def _distance(margins: Floats, metric: str, values: Floats) -> Floats:
    """Return the squared difference function: k x k, or … x k x k for "ordinal", which depends on the margins."""
    if metric == "nominal":
        return np.asarray(1.0 - np.eye(len(values)))
    if metric == "ordinal":
        middle = np.cumsum(margins, axis=-1) - margins / 2
        return np.asarray((middle[..., :, None] - middle[..., None, :]) ** 2)
    apart = np.subtract.outer(values, values)
    if metric == "interval":
        return np.asarray(apart**2)
    if metric == "ratio":
        added = np.add.outer(values, values)
        return np.asarray(np.divide(apart, added, out=np.zeros_like(apart), where=added != 0) ** 2)
    raise ValueError(f"no metric {metric!r}")
