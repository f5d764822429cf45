"""Compute every coefficient of agreement from counts: Cohen's, Fleiss', Krippendorff's, Gwet's; and the kappa paradox.

A coefficient is NaN where it is undefined.

Cohen's kappa, plain and weighted, at every cut, for one table or for many at once: Cohen (1960), A coefficient
of agreement for nominal scales, Educ. Psychol. Meas. 20(1); Cohen (1968), Weighted kappa, Psychol. Bull. 70(4).
The tests compare it with scikit-learn's `cohen_kappa_score`, which is not used here: it takes lists of
judgments, so every resample would need a call, and it returns NaN or warns where this program must say why.
One table and many tables give the same kappa to the last digit, because both divide the same whole numbers
(exact in 64 bits).

Fleiss' kappa, for any number of annotators, who may differ from pair to pair: Fleiss (1971), Measuring nominal
scale agreement among many raters, Psychol. Bull. 76(5), which has the same number of judgments for every pair.
Where it varies, each pair counts once, as in Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., ch. 2;
where it does not, the result equals the paper's.

Gwet's AC1 and AC2, which do not collapse when one grade prevails: Gwet (2008), Computing inter-rater reliability
and its variance in the presence of high agreement, Br. J. Math. Stat. Psychol. 61(1); with missing judgments and
weights: Gwet (2014), ch. 3. As published, a pair with one judgment does not count for observed agreement, but
does count for how common each grade is.

Krippendorff's alpha, for any number of annotators and any missing judgments: Krippendorff (2011), Computing
Krippendorff's Alpha-Reliability (University of Pennsylvania, ScholarlyCommons).

Prevalence (one common grade) and bias (unequal use of grades), which distort kappa: Byrt, Bishop & Carlin
(1993), Bias, prevalence and kappa, J. Clin. Epidemiol. 46(5), for two categories; with more, the same figures of
the commonest one and of all margins. The paradox: Feinstein & Cicchetti (1990), High agreement but low kappa,
J. Clin. Epidemiol. 43(6).
"""

from collections.abc import Iterator

import numpy as np

from annotator.agreement.judgment_table import CATEGORIES, CELLS, Floats, divide, flatten
from annotator.agreement.records import KappaParadox
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


def fleiss_terms(counts: Floats) -> Floats:
    """Return the terms of each pair with two or more judgments: n x k counts -> n x (2 + k).

    The terms are 1 (the pair itself), the share of the pair's comparisons that match, and the share of each
    grade.
    """
    judgments = counts.sum(axis=1)
    matching = (counts * (counts - 1)).sum(axis=1) / (judgments * (judgments - 1))
    return np.column_stack([np.ones(len(counts)), matching, counts / judgments[:, None]])


def fleiss_kappa(sums: Floats) -> Floats:
    """Return kappa from summed terms (… x (2 + k)). NaN without pairs, or if all judgments are one grade."""
    observed = divide(sums[..., 1], sums[..., 0])
    chance = (divide(sums[..., 2:], sums[..., :1]) ** 2).sum(axis=-1)
    return divide(observed - chance, 1.0 - chance)


def identity_weights(categories: int) -> Floats:
    """Return the agreement weights of AC1 (k x k): only equal grades agree."""
    return np.eye(categories)


def quadratic_weights(categories: int) -> Floats:
    """Return the weights of the report's AC2 (k x k): 1 - (distance / greatest distance) squared."""
    grades = np.arange(categories)
    return np.asarray(1.0 - (np.subtract.outer(grades, grades) / (categories - 1)) ** 2)


def gwet_terms(counts: Floats, weights: Floats) -> Floats:
    """Return the terms of each pair with at least one judgment: n x k counts -> n x (3 + k).

    The terms are 1 (the pair itself), 1 if it has two or more judgments, its weighted observed agreement, and
    the share of each grade.
    """
    judgments = counts.sum(axis=1)
    shared = judgments >= 2
    comparisons = (counts * (counts @ weights.T - 1)).sum(axis=1)
    agreeing = np.divide(comparisons, judgments * (judgments - 1), out=np.zeros(len(counts)), where=shared)
    return np.column_stack([np.ones(len(counts)), shared, agreeing, counts / judgments[:, None]])


def gwet_ac(sums: Floats, weights: Floats) -> Floats:
    """Return AC1 (identity weights) or AC2 from summed terms (… x (3 + k)). NaN without a shared pair."""
    categories = len(weights)
    observed = divide(sums[..., 2], sums[..., 1])
    share = divide(sums[..., 3:], sums[..., :1])
    spread = (share * (1.0 - share)).sum(axis=-1)
    chance = weights.sum() / (categories * (categories - 1)) * spread
    return divide(observed - chance, 1.0 - chance)


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
    distance = _square_distance(margins, metric)
    observed = (table * distance).sum(axis=(-2, -1)) * (total - 1)
    expected = (margins[..., :, None] * margins[..., None, :] * distance).sum(axis=(-2, -1))
    return 1.0 - divide(observed, expected)


def _square_distance(margins: Floats, metric: str) -> Floats:
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
