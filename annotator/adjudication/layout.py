"""A query laid out for the rules: what is known of its pairs, and where the runs rank them, as arrays.

Stands between what storage reads and what `impact.py` computes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotator.adjudication.impact import Effects, Floats, Ints, Ranked, score, weigh, weigh_without_runs
from annotator.adjudication.impact_standing import find_standing
from annotator.domain.impact_scores import KnownPair, Scores, Weight

DIGITS = 10
Results = tuple[Ints, Ints, Ints]
"""Documents, the places of systems, ranks from 1."""


@dataclass(frozen=True, slots=True)
class LaidOut:
    """A query. `disputes`: the keys of its pairs that are disputes, `candidates`: their grades by the place of their document;
    `systems`: the places of the systems that returned something for it."""

    disputes: list[int]
    candidates: Mapping[int, tuple[int, ...]]
    systems: Ints
    ranked: Ranked


@dataclass(frozen=True, slots=True)
class Weighed:
    """What the choices of a query's disputes move (`moved`: disputes x metrics), and by which nDCG the systems change
    places; `standing`: what these score as the grades stand."""

    query: LaidOut
    standing: Floats
    moved: Floats
    ndcg: Effects

    def to_weights(self, totals: Floats) -> list[Weight]:
        """`totals`: of every system the sum of its nDCG over all queries, this one as it stands among them."""
        flips = self.ndcg.count_flips(totals, self.standing, self.query.systems)
        return [
            Weight(pair_pk, ndcg, recall, mrr, flipped)
            for pair_pk, (ndcg, recall, mrr), flipped in zip(
                self.query.disputes, self.moved.tolist(), flips, strict=True
            )
        ]


def lay_out(pairs: Sequence[KnownPair], results: Results | None) -> LaidOut:
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
        return LaidOut(disputes, candidates, np.zeros(0, dtype=np.int64), Ranked(nowhere, grades))
    document, system, rank = results
    systems, row = np.unique(system, return_inverse=True)
    ranks = np.zeros((len(systems), len(pairs)), dtype=np.int64)
    if pairs:
        documents = np.array([pair.document_pk for pair in pairs], dtype=np.int64)
        place = np.minimum(np.searchsorted(documents, document), len(documents) - 1)
        there = documents[place] == document
        ranks[row[there], place[there]] = rank[there]
    return LaidOut(disputes, candidates, systems, Ranked(ranks, grades))


@dataclass(frozen=True, slots=True)
class Computed:
    """What came out of some queries. `scores`: by query_pk; `weights`: of disputes that no run has; `weighed`: of the others,
    to which the systems' sums are still wanting; `systems`: all."""

    scores: dict[int, Scores]
    weights: list[Weight]
    weighed: list[Weighed]
    systems: Sequence[str]

    @property
    def size(self) -> int:
        """How many numbers it holds, roughly."""
        return sum(one.ndcg.scores.size for one in self.weighed)

    def list_weights(self, totals: Mapping[str, Sequence[float]]) -> list[Weight]:
        """What every dispute's choice moves; `totals`: the sums of the systems' scores, by their names."""
        sums = np.array([totals[name][0] if name in totals else 0.0 for name in self.systems])
        return [*self.weights, *(weight for one in self.weighed for weight in one.to_weights(sums))]


def compute(
    pairs: Mapping[int, Sequence[KnownPair]], results: Mapping[int, Results], systems: Sequence[str]
) -> Computed:
    """Score and weigh these queries: `pairs` by query_pk, `results` of those that runs have."""
    found = Computed({}, [], [], systems)
    for query_pk, known in pairs.items():
        query = lay_out(known, results.get(query_pk))
        if query.disputes and len(query.systems):
            standing, effects = weigh(query.ranked, query.candidates)
            ndcg = Effects(
                effects.starts, effects.scores[:, :1].copy()
            )  # no more is kept until the sums are known
            found.weighed.append(Weighed(query, standing[0], effects.largest(), ndcg))
        else:
            standing = score(query.ranked)
            moved = weigh_without_runs(query.ranked.grades, query.candidates)
            found.weights.extend(map(Weight, query.disputes, moved.tolist()))
        if systems:
            found.scores[query_pk] = _name_scores(query, standing, systems)
    return found


def _name_scores(query: LaidOut, scores: Floats, systems: Sequence[str]) -> Scores:
    """What the query's systems score, by name."""
    return {
        systems[place]: [None if value != value else value for value in values]
        for place, values in zip(query.systems.tolist(), np.round(scores, DIGITS).T.tolist(), strict=True)
    }
