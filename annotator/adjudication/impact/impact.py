"""Compute how much the choice of a pair's grade moves scores and the order of systems.

Functions of arrays, without a database. The metrics are those of the evaluators that load our releases: nDCG
with gain 2^grade - 1 and discount log2(rank + 1) (Järvelin & Kekäläinen 2002; Burges et al. 2005), recall at
the cut-off, reciprocal rank. A document without a grade keeps its rank and adds nothing to ranking or ideal.
A tried grade changes only its own part of a score, so the rest is computed once; tests compare the result
with the formulas as published (tests/unit/adjudication/plain_formula.py). An open pair has a provisional
grade until it is decided. Settled grades come from `domain/settling.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotator.domain.grades import RELEVANT_FROM
from annotator.domain.settling import OPEN, Decided, GradeImpact, KnownPair, Scores, settle

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
CUTOFF = 10
METRICS = ("ndcg", "recall", "mrr")
NONE = -1
"""In place of a grade: nobody judged the pair, or it cannot be rated."""
SAME = 1e-9
_GAINS = np.array([0.0, 1.0, 3.0, 7.0, 0.0])  # by grade, NONE at the end


@dataclass(frozen=True, slots=True)
class RankedQuery:
    """A query as its systems ranked it."""

    ranks: Ints  # systems x documents, from 1; 0: the system did not return the document
    grades: Ints  # of each document, NONE without one; of an open pair its provisional grade


@dataclass(frozen=True, slots=True)
class GradeEffects:
    """The scores of a query for each grade that its pairs may get (options), pair after pair."""

    starts: Ints  # the first option of each pair
    scores: Floats  # options x METRICS x systems, 0-1; NaN if the query then has no relevant document

    def largest(self) -> Floats:
        """Return the spread of the system that it moves most: pairs x metrics; 0 without systems.

        The spread is the highest minus the lowest score over a pair's options. A score that an option leaves
        undefined counts as 0, as evaluators count it.
        """
        scores = np.nan_to_num(self.scores)
        highest: Floats = np.maximum.reduceat(scores, self.starts, axis=0)
        lowest: Floats = np.minimum.reduceat(scores, self.starts, axis=0)
        spreads: Floats = (highest - lowest).max(axis=2, initial=0.0)
        return spreads

    def count_flips(self, totals: Floats, present: Floats, system_indexes: Ints) -> list[int]:
        """Count, for each pair, the pairs of systems with an order that depends on its grade.

        `totals`: each system's sum of nDCG over all queries. `present`: this query's present scores, which
        are part of `totals`. `system_indexes`: the rows of this query's systems in `totals`. A tie is no
        order.
        """
        others = totals.copy()
        others[system_indexes] -= np.nan_to_num(present)
        sums = np.repeat(others[None, :], len(self.scores), axis=0)
        sums[:, system_indexes] += np.nan_to_num(self.scores[:, 0])
        ends = [*self.starts[1:].tolist(), len(self.scores)]
        return [_count_flips(sums[start:end]) for start, end in zip(self.starts.tolist(), ends, strict=True)]


def score(ranked: RankedQuery, *, cutoff: int = CUTOFF, relevant: int = RELEVANT_FROM) -> Floats:
    """Return the query's scores by its present grades: metrics x systems.

    NaN where no document is relevant (nDCG: where no document has a gain).
    """
    return _QueryRanks(ranked, cutoff, relevant).score()


def weigh(
    ranked: RankedQuery,
    candidates: Mapping[int, Sequence[int]],
    *,
    cutoff: int = CUTOFF,
    relevant: int = RELEVANT_FROM,
) -> tuple[Floats, GradeEffects]:
    """Return the present scores, and the effects of the grades that each of these documents may get.

    `candidates`: possible grades, at least one, by the index of the document. The other documents keep their
    grades.
    """
    query = _QueryRanks(ranked, cutoff, relevant)
    return query.score(), query.try_grades(candidates)


def weigh_without_runs(grades: Ints, candidates: Mapping[int, Sequence[int]]) -> Floats:
    """Return the impact of the grade of each of these documents, for a query without runs.

    The impact is the gain between the lowest and the highest grade, divided by the query's ideal DCG with the
    highest grade: the most that the choice could move nDCG of a system that ranks the document first. The
    more relevant documents a query has, the lower it is.
    """
    _, _, lowest, highest, documents = _list_options(candidates)
    apart = _GAINS[highest] - _GAINS[lowest]
    ideal = _find_ideal(_replace_counts(_count_grades(grades), grades[documents], highest), CUTOFF)
    impact: Floats = np.divide(apart, ideal, out=np.zeros_like(apart), where=ideal > 0)
    return impact


class _QueryRanks:
    """The parts of a query's scores that do not depend on the tried grades."""

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
        scores = self._divide(self.gained[None, :], self.hits[None, :], self.first[None, :], ideal, number)
        present: Floats = scores[0]
        return present

    def try_grades(self, candidates: Mapping[int, Sequence[int]]) -> GradeEffects:
        options, starts, _, _, documents = _list_options(candidates)
        option_documents = np.repeat(documents, np.diff(starts, append=len(options)))
        now = self.grades[option_documents]
        gained = (
            self.gained + (_GAINS[options] - _GAINS[now])[:, None] * self.discounts[:, option_documents].T
        )
        wanted = options >= self.relevant
        more = wanted.astype(np.float64) - (now >= self.relevant)
        hits = self.hits + more[:, None] * self.inside[:, option_documents].T
        without = np.where(self.at[None, :] == option_documents[:, None], self.second, self.first)
        first = np.maximum(without, self.reciprocal[:, option_documents].T * wanted[:, None])
        ideal = _find_ideal(_replace_counts(self.counts, now, options), self.cutoff)
        return GradeEffects(starts, self._divide(gained, hits, first, ideal, self.number + more))

    def _divide(self, gained: Floats, hits: Floats, first: Floats, ideal: Floats, number: Floats) -> Floats:
        """Return the scores: options x metrics x systems."""
        scores = np.full((len(gained), len(METRICS), gained.shape[1]), np.nan)
        some = ideal > 0
        scores[some, 0] = gained[some] / ideal[some, None]
        some = number > 0
        scores[some, 1] = hits[some] / number[some, None]
        scores[some, 2] = first[some]
        return scores


def _list_options(candidates: Mapping[int, Sequence[int]]) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Return all pairs' options in one array, and each pair's start, lowest, highest and document."""
    options: list[int] = []
    starts: list[int] = []
    lowest: list[int] = []
    highest: list[int] = []
    for grades in candidates.values():
        different = sorted(set(grades))
        starts.append(len(options))
        lowest.append(different[0])
        highest.append(different[-1])
        options += different
    columns = (options, starts, lowest, highest, list(candidates))
    a, b, c, d, e = (np.array(column, dtype=np.int64) for column in columns)
    return a, b, c, d, e


def _count_grades(grades: Ints) -> Ints:
    """Count the documents of each grade; those without a grade are counted in the last entry."""
    return np.bincount(np.where(grades == NONE, len(_GAINS) - 1, grades), minlength=len(_GAINS))


def _replace_counts(counts: Ints, now: Ints, then: Ints) -> Ints:
    """Return a row of counts for each option: one document fewer of grade `now`, one more of `then`."""
    replaced = np.repeat(counts[None, :], len(now), axis=0)
    rows = np.arange(len(now))
    replaced[rows, now] -= 1
    replaced[rows, then] += 1
    return replaced


def _find_ideal(counts: Ints, cutoff: int) -> Floats:
    """Return the DCG of the best ranking for each row of counts."""
    reached = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(cutoff) + 2))])
    ends = np.minimum(np.cumsum(counts[:, 3:0:-1], axis=1), cutoff)
    sums = reached[ends]
    ideal: Floats = 7 * sums[:, 0] + 3 * (sums[:, 1] - sums[:, 0]) + (sums[:, 2] - sums[:, 1])
    return ideal


def _find_two_best(values: Floats) -> tuple[Floats, Floats, Ints]:
    """Return each row's highest and second highest value, and the column of the highest."""
    if not values.shape[1]:
        nothing = np.zeros(len(values))
        return nothing, nothing, np.full(len(values), -1, dtype=np.int64)
    rows, at = np.arange(len(values)), values.argmax(axis=1)
    first, rest = values[rows, at], values.copy()
    rest[rows, at] = 0.0
    return first, rest.max(axis=1), at


def _count_flips(sums: Floats) -> int:
    """Count the pairs of columns that have one order in some row and the opposite order in another."""
    low, high = sums.min(axis=0), sums.max(axis=0)
    moved = np.flatnonzero(high - low > SAME)
    if not len(moved):
        return 0
    apart = sums[:, moved, None] - sums[:, None, :]
    flips: Bools = np.any(apart > SAME, axis=0) & np.any(apart < -SAME, axis=0)
    both = int(flips[:, moved].sum())
    return int(flips.sum()) - both // 2


class ProvisionalGrade(NamedTuple):
    """The grade at which a pair counts now, and the grades that somebody considers right. NONE: no grade."""

    grade: int  # NONE: it does not count
    candidates: tuple[int, ...]  # ascending, NONE first


def count_as(grades: Sequence[int]) -> int:
    """Return the grade at which an open pair counts until it is decided: the lower median of its grades."""
    return sorted(grades)[(len(grades) - 1) // 2]


@lru_cache(8192)  # a million pairs have a few hundred different answers
def find_provisional_grade(
    grades: tuple[int, ...],
    unrateable: int,
    decided: Decided | None,
    imported: int | None,
    errors: tuple[int, ...] = (),
    answered: tuple[int, ...] = (),
) -> ProvisionalGrade:
    """Return the grade at which a pair counts now, and its candidate grades.

    The arguments are those of `settle`; `answered`: errors on which a lead has decided since.
    """
    contested = settle(grades, unrateable, decided, imported).grade
    settlement = settle(grades, unrateable, decided, imported, errors)
    candidates = {*grades, *errors, *answered}
    if contested is not None:
        candidates.add(contested)
    if unrateable or decided == "unrateable":
        candidates.add(NONE)
    grade = settlement.grade
    if settlement.status in OPEN:
        judged = grades if contested is None else (contested,)
        grade = count_as((*judged, *errors))
    return ProvisionalGrade(NONE if grade is None else grade, tuple(sorted(candidates)) or (NONE,))


DIGITS = 10
Results = tuple[Ints, Ints, Ints]
"""Documents (document_pk), indexes of systems, and ranks from 1."""


@dataclass(frozen=True, slots=True)
class QueryLayout:
    """A query, prepared for `weigh`: its disagreements, their possible grades, and its ranks."""

    disagreements: list[int]  # pair_pk
    candidates: Mapping[int, tuple[int, ...]]  # possible grades, by the index of the document
    systems: Ints  # indexes of the systems that returned something for the query
    ranked: RankedQuery


@dataclass(frozen=True, slots=True)
class QueryImpact:
    """The impact of a query's disagreements on its scores."""

    query: QueryLayout
    present_scores: Floats  # nDCG of each system by the present grades
    moved: Floats  # disagreements x metrics
    ndcg: GradeEffects  # for nDCG only

    def to_weights(self, totals: Floats) -> list[GradeImpact]:
        """Return the impact of each disagreement.

        `totals`: each system's sum of nDCG over all queries, with the present scores of this one.
        """
        flips = self.ndcg.count_flips(totals, self.present_scores, self.query.systems)
        return [
            GradeImpact(pair_pk, ndcg, recall, mrr, flipped)
            for pair_pk, (ndcg, recall, mrr), flipped in zip(
                self.query.disagreements, self.moved.tolist(), flips, strict=True
            )
        ]


def lay_out(pairs: Sequence[KnownPair], results: Results | None) -> QueryLayout:
    """Prepare a query. `pairs`: in the order of their documents. `results`: None if no run has the query."""
    provisionals = [find_provisional_grade(*pair[3:]) for pair in pairs]
    grades = np.array([provisional.grade for provisional in provisionals], dtype=np.int64)
    open_indexes = [index for index, pair in enumerate(pairs) if pair.disputed]
    disagreements = [pairs[index].pair_pk for index in open_indexes]
    candidates = {index: provisionals[index].candidates for index in open_indexes}
    none = np.zeros(0, dtype=np.int64)
    document, system, rank = (none, none, none) if results is None else results
    systems, row = np.unique(system, return_inverse=True)
    ranks = np.zeros((len(systems), len(pairs)), dtype=np.int64)
    if pairs:
        documents = np.array([pair.document_pk for pair in pairs], dtype=np.int64)
        columns = np.minimum(np.searchsorted(documents, document), len(documents) - 1)
        there = documents[columns] == document
        ranks[row[there], columns[there]] = rank[there]
    return QueryLayout(disagreements, candidates, systems, RankedQuery(ranks, grades))


@dataclass(frozen=True, slots=True)
class ComputedImpact:
    """The results computed for some queries."""

    scores: dict[int, Scores]  # by query_pk
    weights: list[GradeImpact]  # of disagreements on queries without runs
    weighed: list[QueryImpact]  # of the other queries; they still need the totals of the systems
    systems: Sequence[str]  # all systems

    @property
    def size(self) -> int:
        """Return roughly how many numbers this holds."""
        return sum(impact.ndcg.scores.size for impact in self.weighed)

    def list_weights(self, totals: Mapping[str, Sequence[float]]) -> list[GradeImpact]:
        """Return the impact of every disagreement. `totals`: each system's sums over all queries, by its name."""
        sums = np.array([totals[name][0] if name in totals else 0.0 for name in self.systems])
        return [*self.weights, *(weight for impact in self.weighed for weight in impact.to_weights(sums))]


def compute(
    pairs: Mapping[int, Sequence[KnownPair]], results: Mapping[int, Results], systems: Sequence[str]
) -> ComputedImpact:
    """Compute scores and impact of these queries. `pairs` and `results` (if in a run): by query_pk."""
    computed = ComputedImpact({}, [], [], systems)
    for query_pk, query_pairs in pairs.items():
        query = lay_out(query_pairs, results.get(query_pk))
        if query.disagreements and len(query.systems):
            present, effects = weigh(query.ranked, query.candidates)
            ndcg = GradeEffects(
                effects.starts, effects.scores[:, :1].copy()
            )  # no more is kept until the sums are known
            computed.weighed.append(QueryImpact(query, present[0], effects.largest(), ndcg))
        else:
            present = score(query.ranked)
            moved = weigh_without_runs(query.ranked.grades, query.candidates)
            computed.weights.extend(map(GradeImpact, query.disagreements, moved.tolist()))
        if systems:
            computed.scores[query_pk] = _name_scores(query, present, systems)
    return computed


def _name_scores(query: QueryLayout, scores: Floats, systems: Sequence[str]) -> Scores:
    """Return the scores of the query's systems, by name."""
    return {
        systems[system]: [None if value != value else value for value in values]
        for system, values in zip(query.systems.tolist(), np.round(scores, DIGITS).T.tolist(), strict=True)
    }
