"""A query laid out for the rules: what is known of its pairs, and where the runs rank them, as arrays.

Stands between what storage reads and what `weighing.py` computes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotator.domain.scores import KnownPair, Scores, Weight
from annotator.impact.standing import find_standing
from annotator.impact.weighing import (
    Effects,
    Floats,
    Ints,
    Ranked,
    score,
    weigh,
    weigh_without_runs,
)

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
    """What a query's systems score, and what its disputes' choices do."""

    query: LaidOut
    standing: Floats
    effects: Effects

    def to_weights(self, totals: Floats) -> list[Weight]:
        """`totals`: of every system the sum of its nDCG over all queries, this one as it stands among them."""
        flips = self.effects.count_flips(totals, self.standing[0], self.query.systems)
        return [
            Weight(pair_pk, ndcg, recall, mrr, flipped)
            for pair_pk, (ndcg, recall, mrr), flipped in zip(
                self.query.disputes, self.effects.largest().tolist(), flips, strict=True
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


def weigh_query(query: LaidOut) -> Weighed:
    """A query that runs have and that has disputes."""
    return Weighed(query, *weigh(query.ranked, query.candidates))


def weigh_unranked(query: LaidOut) -> list[Weight]:
    """The disputes of a query that no run has."""
    moved = weigh_without_runs(query.ranked.grades, query.candidates)
    return list(map(Weight, query.disputes, moved.tolist()))


def name_scores(query: LaidOut, systems: Sequence[str], scores: Floats | None = None) -> Scores:
    """What the query's systems score, by name (`systems`: of all)."""
    found = score(query.ranked) if scores is None else scores
    return {
        systems[place]: [None if value != value else value for value in values]
        for place, values in zip(query.systems.tolist(), np.round(found, DIGITS).T.tolist(), strict=True)
    }


def sum_ndcg(totals: Mapping[str, Sequence[float]], systems: Sequence[str]) -> Floats:
    """The sums of nDCG in the order of these systems; 0 for one that has none."""
    return np.array([totals[name][0] if name in totals else 0.0 for name in systems])
