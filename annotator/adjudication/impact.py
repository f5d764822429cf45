"""Compute how much the choice of a pair's grade moves nDCG, recall, reciprocal rank and the order of systems.

Pure arrays in, pure arrays out. The metrics are those of the evaluators that load our releases: nDCG with gain 2^grade
- 1 and discount log2(rank + 1) (Järvelin & Kekäläinen 2002; Burges et al. 2005), recall at the cut-off, reciprocal
rank. A document without a grade adds nothing to ranking or ideal and keeps its rank, as it does there. A tried grade
changes a score only by its own part, so nothing is computed twice; tests compare it with the formulas as written
(tests/unit/adjudication/plain_formula.py). An open pair counts with a provisional grade until it is decided; settled
grades come from `domain/settling.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotator.domain.grades import RELEVANT_FROM
from annotator.domain.impact_scores import GradeImpact, KnownPair, Scores
from annotator.domain.settling import OPEN, Decided, settle

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
class RankedQuery:
    """A query as its systems ranked it. `ranks`: systems x documents, from 1, 0 where a system did not return the document;
    `grades`: of each document, NONE without one. Of a pair that waits for a decision it is the grade that it counts at until
    then (`impact.py`)."""

    ranks: Ints
    grades: Ints


@dataclass(frozen=True, slots=True)
class GradeEffects:
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


def score(ranked: RankedQuery, *, cutoff: int = CUTOFF, relevant: int = RELEVANT_FROM) -> Floats:
    """Metrics x systems: the query's scores as its grades stand. NaN where no document is relevant (nDCG: where none has a
    gain)."""
    return _QueryRanks(ranked, cutoff, relevant).score()


def weigh(
    ranked: RankedQuery,
    candidates: Mapping[int, Sequence[int]],
    *,
    cutoff: int = CUTOFF,
    relevant: int = RELEVANT_FROM,
) -> tuple[Floats, GradeEffects]:
    """The scores as the grades stand, and the effects of each of these documents (their places, with the grades they may
    get, one at least), all others as they stand."""
    query = _QueryRanks(ranked, cutoff, relevant)
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


class _QueryRanks:
    """What stays the same whatever is tried: where each system has each document, and what the others add."""

    def __init__(self, ranked: RankedQuery, cutoff: int, relevant: int) -> None:
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

    def try_grades(self, candidates: Mapping[int, Sequence[int]]) -> GradeEffects:
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
        return GradeEffects(starts, self._divide(gained, hits, first, ideal, self.number + more))

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


"""No grade: nobody judged it, or it cannot be rated."""


class ProvisionalGrade(NamedTuple):
    """`grade`: at which the pair counts now (NONE: at none); `candidates`: the grades, and NONE, that somebody holds right."""

    grade: int
    candidates: tuple[int, ...]


def count_as(grades: Sequence[int]) -> int:
    """The grade at which an open pair counts until somebody decides: the lower median of those given."""
    return sorted(grades)[(len(grades) - 1) // 2]


@lru_cache(8192)  # a million pairs have a few hundred different answers
def find_standing(
    grades: tuple[int, ...],
    unrateable: int,
    decided: Decided | None,
    imported: int | None,
    errors: tuple[int, ...] = (),
    answered: tuple[int, ...] = (),
) -> ProvisionalGrade:
    """How a pair stands. The arguments are those of `settle`; `answered`: the errors on which a lead has decided since."""
    contested = settle(grades, unrateable, decided, imported).grade
    settlement = settle(grades, unrateable, decided, imported, errors)
    candidates = {*grades, *errors, *answered}
    if contested is not None:
        candidates.add(contested)
    if unrateable or decided == "unrateable":
        candidates.add(NONE)
    standing = settlement.grade
    if settlement.status in OPEN:
        judged = grades if contested is None else (contested,)
        standing = count_as((*judged, *errors))
    return ProvisionalGrade(NONE if standing is None else standing, tuple(sorted(candidates)) or (NONE,))


DIGITS = 10
Results = tuple[Ints, Ints, Ints]
"""Documents, the places of systems, ranks from 1."""


@dataclass(frozen=True, slots=True)
class QueryLayout:
    """A query. `disputes`: the keys of its pairs that are disputes, `candidates`: their grades by the place of their document;
    `systems`: the places of the systems that returned something for it."""

    disputes: list[int]
    candidates: Mapping[int, tuple[int, ...]]
    systems: Ints
    ranked: RankedQuery


@dataclass(frozen=True, slots=True)
class QueryImpact:
    """What the choices of a query's disputes move (`moved`: disputes x metrics), and by which nDCG the systems change
    places; `standing`: what these score as the grades stand."""

    query: QueryLayout
    standing: Floats
    moved: Floats
    ndcg: GradeEffects

    def to_weights(self, totals: Floats) -> list[GradeImpact]:
        """`totals`: of every system the sum of its nDCG over all queries, this one as it stands among them."""
        flips = self.ndcg.count_flips(totals, self.standing, self.query.systems)
        return [
            GradeImpact(pair_pk, ndcg, recall, mrr, flipped)
            for pair_pk, (ndcg, recall, mrr), flipped in zip(
                self.query.disputes, self.moved.tolist(), flips, strict=True
            )
        ]


def lay_out(pairs: Sequence[KnownPair], results: Results | None) -> QueryLayout:
    """`pairs` in the order of their documents; `results` None: no run has the query."""
    stands = [find_standing(*pair[3:]) for pair in pairs]
    grades = np.array([one.grade for one in stands], dtype=np.int64)
    disputed = [place for place, pair in enumerate(pairs) if pair.disputed]
    disputes, candidates = (
        [pairs[place].pair_pk for place in disputed],
        {place: stands[place].candidates for place in disputed},
    )
    if results is None:
        nowhere = np.zeros((0, len(pairs)), dtype=np.int64)
        return QueryLayout(disputes, candidates, np.zeros(0, dtype=np.int64), RankedQuery(nowhere, grades))
    document, system, rank = results
    systems, row = np.unique(system, return_inverse=True)
    ranks = np.zeros((len(systems), len(pairs)), dtype=np.int64)
    if pairs:
        documents = np.array([pair.document_pk for pair in pairs], dtype=np.int64)
        place = np.minimum(np.searchsorted(documents, document), len(documents) - 1)
        there = documents[place] == document
        ranks[row[there], place[there]] = rank[there]
    return QueryLayout(disputes, candidates, systems, RankedQuery(ranks, grades))


@dataclass(frozen=True, slots=True)
class ComputedImpact:
    """What came out of some queries. `scores`: by query_pk; `weights`: of disputes that no run has; `weighed`: of the others,
    to which the systems' sums are still wanting; `systems`: all."""

    scores: dict[int, Scores]
    weights: list[GradeImpact]
    weighed: list[QueryImpact]
    systems: Sequence[str]

    @property
    def size(self) -> int:
        """How many numbers it holds, roughly."""
        return sum(one.ndcg.scores.size for one in self.weighed)

    def list_weights(self, totals: Mapping[str, Sequence[float]]) -> list[GradeImpact]:
        """What every dispute's choice moves; `totals`: the sums of the systems' scores, by their names."""
        sums = np.array([totals[name][0] if name in totals else 0.0 for name in self.systems])
        return [*self.weights, *(weight for one in self.weighed for weight in one.to_weights(sums))]


def compute(
    pairs: Mapping[int, Sequence[KnownPair]], results: Mapping[int, Results], systems: Sequence[str]
) -> ComputedImpact:
    """Score and weigh these queries: `pairs` by query_pk, `results` of those that runs have."""
    found = ComputedImpact({}, [], [], systems)
    for query_pk, known in pairs.items():
        query = lay_out(known, results.get(query_pk))
        if query.disputes and len(query.systems):
            standing, effects = weigh(query.ranked, query.candidates)
            ndcg = GradeEffects(
                effects.starts, effects.scores[:, :1].copy()
            )  # no more is kept until the sums are known
            found.weighed.append(QueryImpact(query, standing[0], effects.largest(), ndcg))
        else:
            standing = score(query.ranked)
            moved = weigh_without_runs(query.ranked.grades, query.candidates)
            found.weights.extend(map(GradeImpact, query.disputes, moved.tolist()))
        if systems:
            found.scores[query_pk] = _name_scores(query, standing, systems)
    return found


def _name_scores(query: QueryLayout, scores: Floats, systems: Sequence[str]) -> Scores:
    """What the query's systems score, by name."""
    return {
        systems[place]: [None if value != value else value for value in values]
        for place, values in zip(query.systems.tolist(), np.round(scores, DIGITS).T.tolist(), strict=True)
    }
