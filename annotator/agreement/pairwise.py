"""Cohen's kappa of every two annotators and of the dataset, and who grades higher, with intervals: all tables at once.

Stands between the counted tables (judged.py) and the report. Kappas of a resample are taken from its summed tables, some
annotator pairs at a time, so that 200 annotators need no more memory than 20.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotator.agreement import cohen
from annotator.agreement.bootstrap import Resamples, intervals
from annotator.agreement.judged import CATEGORIES, CELLS, Floats, Ints, Tables, divide, flatten
from annotator.domain.agreement import Interval
from annotator.domain.grades import GRADES

PAIRS_AT_ONCE = 512
CUTS: tuple[int, ...] = tuple(GRADES[1:])
SHAPE = (CATEGORIES, CATEGORIES)
TWO_BY_TWO = np.array([[0.0, 1.0], [1.0, 0.0]])
SIGNED = np.subtract.outer(np.arange(CATEGORIES), np.arange(CATEGORIES)).astype(np.float64)


@dataclass(slots=True)
class PairSums:
    """What is known of the tables of p annotator pairs over some resamples.

    `totals`: the tables over all `queries` (p x 4 x 4). `queries_by_pair` (p), `queries_by_annotator` (a): of how many of
    them each shares a pair. `kappas`: each pair's interval by kind. The others add up over the
    pairs, one figure for each resample, which `mean_kappas` and `mean_leanings` divide: by kind or cut, kappa times the
    pairs that share it, and those pairs; by annotator (a x resamples), signed differences and comparisons.
    """

    totals: Floats
    kappas: dict[str, list[Interval | None]]
    weighted: dict[str, Floats]
    weights: dict[str, Floats]
    differences: Floats
    queries: int
    couples: Floats
    queries_by_pair: Ints
    queries_by_annotator: Ints

    def mean_kappa(self, name: str) -> Floats:
        """The dataset's kappa (or that at a cut) of each resample; NaN where it is undefined."""
        return divide(self.weighted[name], self.weights[name])

    def mean_leaning(self) -> Floats:
        """How much higher each annotator grades than the others, of each resample: a x resamples."""
        return divide(self.differences, self.couples)


def sum_pairs(tables: Tables, resamples: Resamples, *, annotators: int) -> PairSums:
    """Every annotator pair over every resample. `resamples` is over the queries that `tables` counts."""
    pairs, count = len(tables.first), resamples.count
    totals = np.asarray(tables.counts.sum(axis=1), dtype=np.float64).reshape(pairs, *SHAPE)
    names = [*cohen.DISAGREEMENT, *map(name_cut, CUTS)]
    by_pair, by_annotator = _count_queries(tables, annotators)
    found = PairSums(
        totals,
        {kind: [] for kind in cohen.DISAGREEMENT},
        {name: np.zeros(count) for name in names},
        {name: np.zeros(count) for name in names},
        np.zeros((annotators, count)),
        len(resamples.queries),
        np.zeros((annotators, count)),
        by_pair,
        by_annotator,
    )
    for start in range(0, pairs, PAIRS_AT_ONCE):
        stop = min(start + PAIRS_AT_ONCE, pairs)
        drawn = _draw(tables, resamples, start, stop)
        _add_kappas(found, drawn, by_pair[start:stop])
        _add_leanings(found, drawn, tables.first[start:stop], tables.second[start:stop])
    return found


def name_cut(relevant_from: int) -> str:
    """The name of the kappa of grades read as relevant from this one on, or not."""
    return f"relevant from {relevant_from}"


def compute_at(tables: Floats, name: str) -> Floats:
    """Cohen's kappa of each table (… x 4 x 4), of a kind or at a cut by its name."""
    if name in cohen.DISAGREEMENT:
        return cohen.cohen_kappa(tables, cohen.DISAGREEMENT[name])
    cut = next(start for start in CUTS if name_cut(start) == name)
    return cohen.cohen_kappa(cohen.cut_at(tables, cut), TWO_BY_TWO)


def compute_mean_leanings(
    totals: Floats, first: Sequence[int], second: Sequence[int], annotators: int
) -> tuple[Floats, Floats]:
    """How much higher each annotator grades than the others on the same pairs, and over how many comparisons, from the
    tables (p x 4 x 4)."""
    flat = flatten(totals)
    difference, couples = flat @ SIGNED.ravel(), flat @ np.ones(CELLS)
    differences, counted = np.zeros(annotators), np.zeros(annotators)
    for people, sign in ((first, 1.0), (second, -1.0)):
        np.add.at(differences, people, sign * difference)
        np.add.at(counted, people, couples)
    return divide(differences, counted), counted


def _draw(tables: Tables, resamples: Resamples, start: int, stop: int) -> Floats:
    """The tables of these pairs over each resample: pairs x resamples x 16."""
    counts = tables.counts[start * CELLS : stop * CELLS]
    drawn = np.empty((stop - start, resamples.count, CELLS))
    for part, weights in resamples:
        summed = (counts @ weights.astype(counts.dtype, copy=False)).reshape(stop - start, CELLS, -1)
        drawn[:, part] = summed.transpose(0, 2, 1)
    return drawn


def _count_queries(tables: Tables, annotators: int) -> tuple[Ints, Ints]:
    """Count the queries of which each annotator pair shares a pair, and those of which each annotator does."""
    from scipy.sparse import csr_array

    cells, pairs = tables.counts.shape[0], len(tables.first)
    rows = np.arange(cells + CELLS, step=CELLS)[: pairs + 1]
    together = csr_array((np.ones(cells), np.arange(cells), rows), shape=(pairs, cells)) @ tables.counts
    theirs = csr_array(
        (
            np.ones(2 * pairs),
            (np.concatenate([tables.first, tables.second]), np.tile(np.arange(pairs), 2)),
        ),
        shape=(annotators, pairs),
    )
    by_annotator = theirs @ together
    return np.diff(together.indptr).astype(np.int64), np.diff(by_annotator.indptr).astype(np.int64)


def _add_kappas(found: PairSums, drawn: Floats, queries: Ints) -> None:
    tables = drawn.reshape(*drawn.shape[:2], *SHAPE)
    shared = drawn @ np.ones(CELLS)
    for name in found.weighted:
        kappa = compute_at(tables, name)
        if name in found.kappas:
            found.kappas[name] += intervals(kappa, queries)
        undefined = np.isnan(kappa)
        found.weighted[name] += np.where(undefined, 0.0, kappa * shared).sum(axis=0)
        found.weights[name] += np.where(undefined, 0.0, shared).sum(axis=0)


def _add_leanings(found: PairSums, drawn: Floats, first: Ints, second: Ints) -> None:
    difference, couples = drawn @ SIGNED.ravel(), drawn @ np.ones(CELLS)
    for people, sign in ((first, 1.0), (second, -1.0)):
        np.add.at(found.differences, people, sign * difference)
        np.add.at(found.couples, people, couples)
