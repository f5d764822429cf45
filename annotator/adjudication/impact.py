"""How much the choice between the grades that a pair was given changes what a team measures: per system and per query.

Stands between the runs, which say where a system ranked a document, and the queue, which sorts by what matters. Pure arrays
in, pure arrays out. The metrics are those of the evaluators that load our releases: nDCG with gain 2^grade - 1 and discount
log2(rank + 1) (Järvelin & Kekäläinen 2002; Burges et al. 2005), recall at the cut-off, and reciprocal rank. A document without
a grade adds nothing to any of them, neither to the ranking nor to the ideal; it keeps its rank, as it does there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.domain.grades import RELEVANT_FROM

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
CUTOFF = 10
METRICS = ("ndcg", "recall", "mrr")
SAME = 1e-12


@dataclass(frozen=True, slots=True)
class Ranked:
    """A query as its systems ranked it. `ranks`: systems x documents, from 1, 0 where a system did not return the document;
    `grades`: of each document, NaN without one. Of a pair that waits for a decision it is the grade that it counts at until
    then (`count_as`)."""

    ranks: Ints
    grades: Floats


@dataclass(frozen=True, slots=True)
class Effect:
    """What a pair's grade does. `scores`: candidates x metrics (METRICS) x systems, each the query's own score (0-1), NaN
    where the query then has no relevant document."""

    candidates: tuple[int, ...]
    scores: Floats

    def spread(self) -> Floats:
        """Metrics x systems: the highest score less the lowest, over the candidates. A score that one grade leaves
        undefined counts as 0, which is what evaluators put in its place."""
        known = np.nan_to_num(self.scores)
        found: Floats = known.max(axis=0) - known.min(axis=0)
        return found

    def largest(self) -> dict[str, float]:
        """By metric, the spread of the system that it moves most; 0 without a system."""
        spread = self.spread()
        return {name: float(spread[at].max(initial=0.0)) for at, name in enumerate(METRICS)}


def count_as(grades: Sequence[int]) -> int:
    """The grade at which a pair counts until somebody decides: the lower median of those given."""
    return sorted(grades)[(len(grades) - 1) // 2]


def score(ranked: Ranked, *, cutoff: int = CUTOFF, relevant: int = RELEVANT_FROM) -> Floats:
    """Metrics x systems: the query's scores as its grades stand. NaN where no document is relevant (nDCG: where none has a
    gain)."""
    return _Query(ranked, cutoff, relevant).score(ranked.grades)


def weigh(
    ranked: Ranked,
    candidates: Mapping[int, Sequence[int]],
    *,
    cutoff: int = CUTOFF,
    relevant: int = RELEVANT_FROM,
) -> Iterator[tuple[int, Effect]]:
    """The effect of each of these documents (their places, with the grades they may get), all others as they stand."""
    query = _Query(ranked, cutoff, relevant)
    for place, given in candidates.items():
        options = tuple(sorted(set(given)))
        yield place, Effect(options, query.try_grades(place, options))


def count_flips(
    effect: Effect, totals: Floats, standing: Floats, queries: int, *, metric: str = "ndcg"
) -> int:
    """How many couples of systems change places, in their means over all `queries`, with the choice of the grade. `totals`:
    each system's sum over the queries, which holds `standing`, its present score on this one. A tie is no place: it flips
    with neither."""
    scores = np.nan_to_num(effect.scores[:, METRICS.index(metric)])
    means = (totals - np.nan_to_num(standing) + scores) / max(1, queries)
    apart = means[:, :, None] - means[:, None, :]
    ahead, behind = (apart > SAME).any(axis=0), (apart < -SAME).any(axis=0)
    return int(np.triu(ahead & behind, 1).sum())


class _Query:
    """What stays the same whatever the grades: where each system has each document."""

    def __init__(self, ranked: Ranked, cutoff: int, relevant: int) -> None:
        self.ranks, self.grades = ranked.ranks, ranked.grades
        self.cutoff, self.relevant = cutoff, relevant
        self.inside = (self.ranks > 0) & (self.ranks <= cutoff)
        self.discounts = np.where(self.inside, 1 / np.log2(np.maximum(self.ranks, 1) + 1), 0.0)
        self.reciprocal = np.where(self.ranks > 0, 1 / np.maximum(self.ranks, 1), 0.0)
        self.ideal = 1 / np.log2(np.arange(min(cutoff, self.ranks.shape[1])) + 2)

    def score(self, grades: Floats) -> Floats:
        gains = np.nan_to_num(2.0**grades - 1)
        best = float(np.sort(gains)[::-1][: len(self.ideal)] @ self.ideal)
        wanted = np.nan_to_num(grades, nan=-1) >= self.relevant
        number = int(wanted.sum())
        first = (self.reciprocal * wanted).max(axis=1, initial=0.0)
        nothing = np.full(len(self.ranks), np.nan)
        return np.stack(
            [
                self.discounts @ gains / best if best > 0 else nothing,
                (self.inside & wanted).sum(axis=1) / number if number else nothing,
                first if number else nothing,
            ]
        )

    def try_grades(self, place: int, options: Sequence[int]) -> Floats:
        """Options x metrics x systems."""
        found = np.empty((len(options), len(METRICS), len(self.ranks)))
        for at, option in enumerate(options):
            grades = self.grades.copy()
            grades[place] = option
            found[at] = self.score(grades)
        return found
