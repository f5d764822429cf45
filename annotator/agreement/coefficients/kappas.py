"""Cohen's kappa of each kind and at each cut, by name; and all of them at once, of the many tables of many resamples.

Observed and expected disagreement of a table are whole numbers, which 64 bits hold exactly, and both ways divide the same two: so both
give the same kappa to the last digit.
"""

from collections.abc import Iterator

import numpy as np

from annotator.agreement.coefficients import cohen
from annotator.agreement.judgment_table import CATEGORIES, CELLS, Floats
from annotator.domain.grades import GRADES

CUTS: tuple[int, ...] = tuple(GRADES[1:])
TWO_BY_TWO = np.array([[0.0, 1.0], [1.0, 0.0]])
_FIRST, _SECOND = np.divmod(np.arange(CELLS), CATEGORIES)
_REACHED = np.array([start <= _FIRST for start in CUTS]), np.array([start <= _SECOND for start in CUTS])
_SUMMED = np.vstack([
    np.ones(CELLS), _FIRST != _SECOND, (_FIRST - _SECOND) ** 2, _FIRST**2 + _SECOND**2,
    *_REACHED, _REACHED[0] != _REACHED[1],
]).astype(np.float64)  # fmt: skip


def name_cut(relevant_from: int) -> str:
    """The name of the kappa of grades read as relevant from this one on, or not."""
    return f"relevant from {relevant_from}"


NAMES: tuple[str, ...] = (*cohen.DISAGREEMENT, *map(name_cut, CUTS))


def compute_at(tables: Floats, name: str) -> Floats:
    """Cohen's kappa of each table (… x 4 x 4), of a kind or at a cut by its name."""
    if name in cohen.DISAGREEMENT:
        return cohen.cohen_kappa(tables, cohen.DISAGREEMENT[name])
    cut = next(start for start in CUTS if name_cut(start) == name)
    return cohen.cohen_kappa(cohen.cut_at(tables, cut), TWO_BY_TWO)


def compute_all(cells: Floats) -> Iterator[tuple[str, Floats]]:
    """Each of `NAMES` with the kappas of tables whose cells come before the resamples (t x 16 x r): t x r; NaN where it is
    undefined, as `compute_at` says."""
    sums = (_SUMMED @ cells.astype(np.float64, copy=False)).transpose(1, 0, 2)
    shared, differing, squared, squares = sums[:4]
    first, second, apart = np.split(
        sums[4:], 3
    )  # at each cut: how many of the one, of the other, of one only reach it
    same = (shared - first[0]) * (shared - second[0]) + first[-1] * second[-1]
    for lower, upper in zip(range(len(CUTS) - 1), range(1, len(CUTS)), strict=True):
        same += (first[lower] - first[upper]) * (second[lower] - second[upper])
    chances = shared * (first + second) - 2 * first * second
    yield "unweighted", _divide(differing, shared, shared * shared - same)
    yield (
        "linear",
        _divide(apart.sum(axis=0), shared, chances.sum(axis=0)),
    )  # grades lie apart as many cuts as part them
    means = first.sum(axis=0) * second.sum(axis=0)
    yield "quadratic", _divide(squared, shared, shared * squares - 2 * means)
    for place, start in enumerate(CUTS):
        yield name_cut(start), _divide(apart[place], shared, chances[place])


def _divide(observed: Floats, shared: Floats, chance: Floats) -> Floats:
    """Kappa from whole numbers. Where nothing is expected to differ nothing does, and 0 / 0 is NaN."""
    with np.errstate(invalid="ignore"):
        return np.asarray(1.0 - observed * shared / chance)
