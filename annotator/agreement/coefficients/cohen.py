"""Cohen's kappa, plain and weighted, from confusion tables.

Cohen (1960), A coefficient of agreement for nominal scales, Educ. Psychol. Meas. 20(1);
Cohen (1968), Weighted kappa, Psychol. Bull. 70(4).

scikit-learn's `cohen_kappa_score` is the reference that the tests hold this to. It is not called here: it
starts from lists of judgments and would be called for every resample, where all resamples of a table are one
array operation here; and it gives NaN or a warning where this program must say why.
"""

import numpy as np

from annotator.agreement.judgment_table import CATEGORIES, Floats, divide, flatten

_APART = np.abs(np.subtract.outer(np.arange(CATEGORIES), np.arange(CATEGORIES))).astype(np.float64)
DISAGREEMENT: dict[str, Floats] = {
    "unweighted": (_APART > 0).astype(np.float64),
    "linear": _APART,
    "quadratic": _APART**2,
}
"""Disagreement weights by the names of the report: how far off each cell of the table is."""


def cohen_kappa(confusion: Floats, disagreement: Floats) -> Floats:
    """Kappa of each table: 1 - observed / expected disagreement.

    `confusion`: … x k x k counts, rows one annotator, columns the other. `disagreement`: k x k, 0 on the
    diagonal. NaN where it is undefined: an empty table, or both annotators giving one and the same grade
    throughout. One constant annotator beside a varying one has kappa 0.
    """
    size = confusion.shape[-1]
    flat = flatten(confusion)
    rows = flat @ np.repeat(np.eye(size), size, axis=0)
    columns = flat @ np.tile(np.eye(size), (size, 1))
    chance = ((rows @ disagreement) * columns) @ np.ones(size)
    return 1.0 - divide((flat @ disagreement.ravel()) * (rows @ np.ones(size)), chance)


def mean_kappa(confusions: Floats, disagreement: Floats) -> Floats:
    """Kappa of a whole dataset: the mean over annotator pairs, weighted by the pairs they share.

    `confusions`: p x … x k x k. Annotator pairs whose kappa is undefined are left out; NaN where all are.
    """
    kappa = cohen_kappa(confusions, disagreement)
    shared = flatten(confusions) @ np.ones(confusions.shape[-1] ** 2)
    weight = np.where(np.isnan(kappa), 0.0, shared)
    return divide((np.nan_to_num(kappa) * weight).sum(axis=0), weight.sum(axis=0))


def cut_at(confusion: Floats, relevant_from: int) -> Floats:
    """The 2 x 2 tables of grades read as relevant (>= `relevant_from`) or not: … x 4 x 4 -> … x 2 x 2."""
    size = confusion.shape[-1]
    side = (np.arange(size) >= relevant_from).astype(np.int64)
    cells = np.zeros((size * size, 4))
    cells[np.arange(size * size), (2 * side[:, None] + side).ravel()] = 1.0
    return np.asarray((flatten(confusion) @ cells).reshape(*confusion.shape[:-2], 2, 2))
