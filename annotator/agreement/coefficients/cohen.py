"""Compute Cohen's kappa, plain and weighted, at every cut, for one table or for many at once.

Cohen (1960), A coefficient of agreement for nominal scales, Educ. Psychol. Meas. 20(1);
Cohen (1968), Weighted kappa, Psychol. Bull. 70(4).

The tests compare it with scikit-learn's `cohen_kappa_score`, which is not used here: it takes lists of
judgments, so every resample would need a call, and it returns NaN or warns where this program must say why.
One table and many tables give the same kappa to the last digit, because both divide the same whole numbers
(exact in 64 bits).
"""

from collections.abc import Iterator

import numpy as np

from annotator.agreement.judgment_table import CATEGORIES, CELLS, Floats, divide, flatten
from annotator.domain.grades import GRADES

_APART = np.abs(np.subtract.outer(np.arange(CATEGORIES), np.arange(CATEGORIES))).astype(np.float64)
DISAGREEMENT: dict[str, Floats] = {
    "unweighted": (_APART > 0).astype(np.float64),
    "linear": _APART,
    "quadratic": _APART**2,
}
"""The disagreement weight of each cell of a table, by the kind of kappa."""


def observed_agreement(confusion: Floats) -> Floats:
    """Return the share on the diagonal of `confusion` (… x k x k counts), 0 to 1; NaN for an empty table."""
    return divide(np.trace(confusion, axis1=-2, axis2=-1), confusion.sum(axis=(-2, -1)))


def cohen_kappa(confusion: Floats, disagreement: Floats) -> Floats:
    """Return the kappa of each table: 1 - observed / expected disagreement.

    `confusion`: … x k x k counts, rows one annotator, columns the other. `disagreement`: k x k, 0 on the
    diagonal. NaN where kappa is undefined: the table is empty, or both annotators always gave the same one
    grade. If only one of them always gave one grade, kappa is 0.
    """
    size = confusion.shape[-1]
    flat = flatten(confusion)
    rows = flat @ np.repeat(np.eye(size), size, axis=0)
    columns = flat @ np.tile(np.eye(size), (size, 1))
    chance = ((rows @ disagreement) * columns) @ np.ones(size)
    return 1.0 - divide((flat @ disagreement.ravel()) * (rows @ np.ones(size)), chance)


def mean_kappa(confusions: Floats, disagreement: Floats) -> Floats:
    """Return the kappa of a whole dataset: the mean over annotator pairs, weighted by the pairs they share.

    `confusions`: p x … x k x k counts. Annotator pairs with an undefined kappa are left out; NaN if all are.
    """
    kappa = cohen_kappa(confusions, disagreement)
    shared = flatten(confusions) @ np.ones(confusions.shape[-1] ** 2)
    weight = np.where(np.isnan(kappa), 0.0, shared)
    return divide((np.nan_to_num(kappa) * weight).sum(axis=0), weight.sum(axis=0))


def cut_at(confusion: Floats, relevant_from: int) -> Floats:
    """Return the tables with grades read as relevant (>= `relevant_from`) or not: … x 2 x 2."""
    size = confusion.shape[-1]
    side = (np.arange(size) >= relevant_from).astype(np.int64)
    cells = np.zeros((size * size, 4))
    cells[np.arange(size * size), (2 * side[:, None] + side).ravel()] = 1.0
    return np.asarray((flatten(confusion) @ cells).reshape(*confusion.shape[:-2], 2, 2))


CUTS: tuple[int, ...] = tuple(GRADES[1:])
TWO_BY_TWO = np.array([[0.0, 1.0], [1.0, 0.0]])
_FIRST, _SECOND = np.divmod(np.arange(CELLS), CATEGORIES)
_REACHED = np.array([start <= _FIRST for start in CUTS]), np.array([start <= _SECOND for start in CUTS])
_SUMMED = np.vstack(
    [
        np.ones(CELLS),
        _FIRST != _SECOND,
        (_FIRST - _SECOND) ** 2,
        _FIRST**2 + _SECOND**2,
        *_REACHED,
        _REACHED[0] != _REACHED[1],
    ]
).astype(np.float64)


def name_cut(relevant_from: int) -> str:
    """Return the name of the kappa for documents that are relevant from this grade on."""
    return f"relevant from {relevant_from}"


NAMES: tuple[str, ...] = (*DISAGREEMENT, *map(name_cut, CUTS))


def compute_at(tables: Floats, name: str) -> Floats:
    """Return Cohen's kappa of each table (… x 4 x 4), for a kind of kappa or a cut, given by its name."""
    if name in DISAGREEMENT:
        return cohen_kappa(tables, DISAGREEMENT[name])
    cut = next(start for start in CUTS if name_cut(start) == name)
    return cohen_kappa(cut_at(tables, cut), TWO_BY_TWO)


def compute_all(cells: Floats) -> Iterator[tuple[str, Floats]]:
    """Yield each name of `NAMES` with the kappas of the tables (t x r); NaN where kappa is undefined.

    The tables are t x 16 x r: cells before resamples. Formulas and units are those of `compute_at`.
    """
    sums = (_SUMMED @ cells.astype(np.float64, copy=False)).transpose(1, 0, 2)
    shared, differing, squared, squares = sums[:4]
    # at each cut: the grades of the first annotator that reach it, of the second, and of only one of them
    first, second, apart = np.split(sums[4:], 3)
    same = (shared - first[0]) * (shared - second[0]) + first[-1] * second[-1]
    for lower, upper in zip(range(len(CUTS) - 1), range(1, len(CUTS)), strict=True):
        same += (first[lower] - first[upper]) * (second[lower] - second[upper])
    chances = shared * (first + second) - 2 * first * second
    yield "unweighted", _divide(differing, shared, shared * shared - same)
    # the distance of two grades is the number of cuts between them
    yield "linear", _divide(apart.sum(axis=0), shared, chances.sum(axis=0))
    means = first.sum(axis=0) * second.sum(axis=0)
    yield "quadratic", _divide(squared, shared, shared * squares - 2 * means)
    for index, start in enumerate(CUTS):
        yield name_cut(start), _divide(apart[index], shared, chances[index])


def _divide(observed: Floats, shared: Floats, chance: Floats) -> Floats:
    """Return kappa from whole numbers. If no disagreement is expected, none is observed, and 0 / 0 is NaN."""
    with np.errstate(invalid="ignore"):
        return np.asarray(1.0 - observed * shared / chance)
