"""How much the choice between the grades that a pair was given changes what a team measures: per system and per query.

Stands between the runs, which say where a system ranked a document, and the queue, which sorts by what matters. Pure arrays
in, pure arrays out. The metrics are those of the evaluators that load our releases: nDCG with gain 2^grade - 1 and discount
log2(rank + 1) (Järvelin & Kekäläinen 2002; Burges et al. 2005), recall at the cut-off, and reciprocal rank. A document without
a grade adds nothing to any of them, neither to the ranking nor to the ideal; it keeps its rank, as it does there.

A grade that is tried moves a score by what it alone adds: its gain at the rank where a system has the document, its place in
the ideal, its share of what is relevant. So nothing is computed twice, and the tests hold it to the formulas as they are written
(tests/unit/adjudication/plain_formula.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.domain.grades import RELEVANT_FROM

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
CUTOFF = 10
METRICS = ("ndcg", "recall", "mrr")
NONE = -1
"""Instead of a grade: the pair has none."""
SAME = 1e-9
_GAINS = np.array([0.0, 1.0, 3.0, 7.0, 0.0])  # by grade, NONE at the end


@dataclass(frozen=True, slots=True)
class Ranked:
    """A query as its systems ranked it. `ranks`: systems x documents, from 1, 0 where a system did not return the document;
    `grades`: of each document, NONE without one. Of a pair that waits for a decision it is the grade that it counts at until
    then (`impact_standing.py`)."""

    ranks: Ints
    grades: Ints


@dataclass(frozen=True, slots=True)
class Effects:
    """What the choices do. `scores`: options x metrics (METRICS) x systems, each the query's own score (0-1) if that were
    the grade, NaN where the query then has no relevant document; the options of one pair stand together, and `starts` says
    where each pair's begin."""

    starts: Ints
    scores: Floats

    def spread(self) -> Floats:
        """Pairs x metrics x systems: the highest score less the lowest, over a pair's options. A score that one option
        leaves undefined counts as 0, which is what evaluators put in its place."""
        known = np.nan_to_num(self.scores)
        highest: Floats = np.maximum.reduceat(known, self.starts, axis=0)
        return highest - np.minimum.reduceat(known, self.starts, axis=0)

    def largest(self) -> Floats:
        """Pairs x metrics: the spread of the system that it moves most; 0 without a system."""
        found: Floats = self.spread().max(axis=2, initial=0.0)
        return found

    def count_flips(self, totals: Floats, standing: Floats, places: Ints) -> list[int]:
        """Of each pair, how many couples of systems change places, in their mean nDCG over all queries, with the choice of
        the grade. `totals`: each system's sum over the queries, which holds `standing`, the present scores of this one;
        `places`: where its systems stand among them. A tie is no place: it flips with neither."""
        others = totals.copy()
        others[places] -= np.nan_to_num(standing)
        sums = np.repeat(others[None, :], len(self.scores), axis=0)
        sums[:, places] += np.nan_to_num(self.scores[:, 0])
        ends = [*self.starts[1:].tolist(), len(self.scores)]
        return [_count_flips(sums[start:end]) for start, end in zip(self.starts.tolist(), ends, strict=True)]


def score(ranked: Ranked, *, cutoff: int = CUTOFF, relevant: int = RELEVANT_FROM) -> Floats:
    """Metrics x systems: the query's scores as its grades stand. NaN where no document is relevant (nDCG: where none has a
    gain)."""
    return _Query(ranked, cutoff, relevant).score()


def weigh(
    ranked: Ranked,
    candidates: Mapping[int, Sequence[int]],
    *,
    cutoff: int = CUTOFF,
    relevant: int = RELEVANT_FROM,
) -> tuple[Floats, Effects]:
    """The scores as the grades stand, and the effects of each of these documents (their places, with the grades they may
    get, one at least), all others as they stand."""
    query = _Query(ranked, cutoff, relevant)
    return query.score(), query.try_grades(candidates)


def weigh_without_runs(grades: Ints, candidates: Mapping[int, Sequence[int]]) -> Floats:
    """Of each of these documents, the gain between its highest and its lowest grade by the ideal of the query with the
    highest: as much as it could move the nDCG of a system that ranked it first. The more relevant documents a query has,
    the less."""
    _, _, lowest, highest, places = _list_options(candidates)
    apart = _GAINS[highest] - _GAINS[lowest]
    ideal = _find_ideal(_replace_counts(_count_grades(grades), grades[places], highest), CUTOFF)
    found: Floats = np.divide(apart, ideal, out=np.zeros_like(apart), where=ideal > 0)
    return found


class _Query:
    """What stays the same whatever is tried: where each system has each document, and what the others add."""

    def __init__(self, ranked: Ranked, cutoff: int, relevant: int) -> None:
        ranks, self.grades = ranked.ranks, ranked.grades
        self.cutoff, self.relevant = cutoff, relevant
        self.inside = (ranks > 0) & (ranks <= cutoff)
        self.discounts = np.where(self.inside, 1 / np.log2(np.maximum(ranks, 1) + 1), 0.0)
        self.reciprocal = np.where(ranks > 0, 1 / np.maximum(ranks, 1), 0.0)
        self.counts = _count_grades(self.grades)
        wanted = self.grades >= relevant
        self.number = int(wanted.sum())
        self.gained: Floats = self.discounts @ _GAINS[self.grades]
        self.hits: Floats = self.inside.astype(np.float64) @ wanted.astype(np.float64)
        self.first, self.second, self.at = _find_two_best(self.reciprocal * wanted)

    def score(self) -> Floats:
        ideal, number = _find_ideal(self.counts[None, :], self.cutoff), np.array([float(self.number)])
        found = self._divide(self.gained[None, :], self.hits[None, :], self.first[None, :], ideal, number)
        standing: Floats = found[0]
        return standing

    def try_grades(self, candidates: Mapping[int, Sequence[int]]) -> Effects:
        options, starts, _, _, documents = _list_options(candidates)
        places = np.repeat(documents, np.diff(starts, append=len(options)))
        now = self.grades[places]
        gained = self.gained + (_GAINS[options] - _GAINS[now])[:, None] * self.discounts[:, places].T
        wanted = options >= self.relevant
        more = wanted.astype(np.float64) - (now >= self.relevant)
        hits = self.hits + more[:, None] * self.inside[:, places].T
        without = np.where(self.at[None, :] == places[:, None], self.second, self.first)
        first = np.maximum(without, self.reciprocal[:, places].T * wanted[:, None])
        ideal = _find_ideal(_replace_counts(self.counts, now, options), self.cutoff)
        return Effects(starts, self._divide(gained, hits, first, ideal, self.number + more))

    def _divide(self, gained: Floats, hits: Floats, first: Floats, ideal: Floats, number: Floats) -> Floats:
        """Options x metrics x systems."""
        found = np.full((len(gained), len(METRICS), gained.shape[1]), np.nan)
        some = ideal > 0
        found[some, 0] = gained[some] / ideal[some, None]
        some = number > 0
        found[some, 1] = hits[some] / number[some, None]
        found[some, 2] = first[some]
        return found


def _list_options(candidates: Mapping[int, Sequence[int]]) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """The different grades of all pairs one after the other, where each pair's begin, each pair's lowest and highest, and its
    place."""
    options: list[int] = []
    starts: list[int] = []
    lowest: list[int] = []
    highest: list[int] = []
    for given in candidates.values():
        different = sorted(set(given))
        starts.append(len(options))
        lowest.append(different[0])
        highest.append(different[-1])
        options += different
    columns = (options, starts, lowest, highest, list(candidates))
    a, b, c, d, e = (np.array(column, dtype=np.int64) for column in columns)
    return a, b, c, d, e


def _count_grades(grades: Ints) -> Ints:
    """How many documents have each grade, those without one at the end."""
    return np.bincount(np.where(grades == NONE, len(_GAINS) - 1, grades), minlength=len(_GAINS))


def _replace_counts(counts: Ints, now: Ints, then: Ints) -> Ints:
    """The counts with one document more of the grade `then` and one fewer of `now`: a row for each."""
    found = np.repeat(counts[None, :], len(now), axis=0)
    rows = np.arange(len(now))
    found[rows, now] -= 1
    found[rows, then] += 1
    return found


def _find_ideal(counts: Ints, cutoff: int) -> Floats:
    """The DCG of the best ranking, by rows of counts: the highest grades take the first ranks."""
    reached = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(cutoff) + 2))])
    ends = np.minimum(np.cumsum(counts[:, 3:0:-1], axis=1), cutoff)
    sums = reached[ends]
    found: Floats = 7 * sums[:, 0] + 3 * (sums[:, 1] - sums[:, 0]) + (sums[:, 2] - sums[:, 1])
    return found


def _find_two_best(values: Floats) -> tuple[Floats, Floats, Ints]:
    """Of each row the highest value, the second highest, and where the highest stands; 0 and -1 where there is none."""
    if not values.shape[1]:
        nothing = np.zeros(len(values))
        return nothing, nothing, np.full(len(values), -1, dtype=np.int64)
    rows, at = np.arange(len(values)), values.argmax(axis=1)
    first, rest = values[rows, at], values.copy()
    rest[rows, at] = 0.0
    return first, rest.max(axis=1), at


def _count_flips(sums: Floats) -> int:
    """How many couples of columns stand one way round in some row and the other way round in another."""
    low, high = sums.min(axis=0), sums.max(axis=0)
    moved = np.flatnonzero(high - low > SAME)
    if not len(moved):
        return 0
    apart = sums[:, moved, None] - sums[:, None, :]
    flips: Bools = np.any(apart > SAME, axis=0) & np.any(apart < -SAME, axis=0)
    both = int(flips[:, moved].sum())
    return int(flips.sum()) - both // 2
