"""Measure prevalence (one common grade) and bias (unequal use of grades), which distort kappa.

Byrt, Bishop & Carlin (1993), Bias, prevalence and kappa, J. Clin. Epidemiol. 46(5), for two categories; with
more, the same figures of the commonest one and of all margins. The paradox: Feinstein & Cicchetti (1990),
High agreement but low kappa, J. Clin. Epidemiol. 43(6).
"""

import numpy as np

from annotator.agreement.judgment_table import Floats
from annotator.agreement.records import KappaParadox

HIGH_AGREEMENT = 0.8
HIGH_PREVALENCE = 0.6
"""With four grades: one grade has 70 % of all judgments."""


def compute_paradox(confusion: Floats) -> KappaParadox | None:
    """Return the indices of one table (k x k), or of a dataset from its annotator pairs' tables (p x k x k).

    `prevalence` is (k p - 1) / (k - 1), where p is the share of the most common grade over both margins.
    `bias` is half the sum of the absolute differences between the two margins' shares. With two categories,
    these are the published abs(a - d) / n and abs(b - c) / n. The bias of a dataset is the mean over
    annotator pairs, weighted by shared pairs: in summed tables, the bias of one annotator pair could hide
    that of another. None without a judgment.
    """
    tables = np.asarray(confusion, dtype=np.float64).reshape(-1, *np.shape(confusion)[-2:])
    total = float(tables.sum())
    if not total:
        return None
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    size = tables.shape[-1]
    common = float((rows + columns).sum(axis=0).max()) / (2 * total)
    return KappaParadox(
        prevalence=max(0.0, (size * common - 1) / (size - 1)),
        bias=float(np.abs(rows - columns).sum()) / (2 * total),
    )


def compute_paradoxes(tables: Floats) -> list[KappaParadox | None]:
    """Return the indices of each table (p x k x k) separately."""
    size = tables.shape[-1]
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    total = 2 * np.maximum(tables.sum(axis=(1, 2)), 1)
    prevalence = np.maximum(0.0, (size * (rows + columns).max(axis=1) / total - 1) / (size - 1))
    bias = np.abs(rows - columns).sum(axis=1) / total
    return [
        KappaParadox(common, apart) if judged else None
        for common, apart, judged in zip(
            prevalence.tolist(), bias.tolist(), rows.any(axis=1).tolist(), strict=True
        )
    ]


def is_paradox(
    paradox: KappaParadox | None, *, observed: float | None, kappa: float | None, target: float
) -> bool:
    """Return whether kappa is low or undefined although the annotators agree: one grade prevails."""
    if paradox is None or observed is None or observed < HIGH_AGREEMENT:
        return False
    return paradox.prevalence >= HIGH_PREVALENCE and (kappa is None or kappa < target)
