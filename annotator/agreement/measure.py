"""Measures one set of judgments: every coefficient, its interval, and why it is undefined where it is.

Stands between the judgments as columns (judgment_table.py) and the report. The coefficients are functions of summed
counts, so a value and its resamples come out of one formula.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan

import numpy as np

from annotator.agreement.coefficients import cohen, fleiss, gwet, krippendorff
from annotator.agreement.coefficients.kappas import CUTS, TWO_BY_TWO, compute_at, name_cut
from annotator.agreement.coefficients.observed import observed_agreement
from annotator.agreement.coefficients.paradox import compute_paradox, compute_paradoxes
from annotator.agreement.enough_pairs import warn_of_few
from annotator.agreement.intervals import FEWEST_QUERIES, Block, Resamples, interval, intervals
from annotator.agreement.judgment_table import (
    CATEGORIES,
    CELLS,
    Floats,
    Ints,
    Judged,
    Patterns,
    Tables,
    count_by_annotator,
    count_grades,
    count_tables,
    find_patterns,
    flatten,
    number,
)
from annotator.agreement.pairwise import SHAPE, PairSums, compute_mean_leanings, sum_pairs
from annotator.agreement.records import Leaning, Measured, PairAgreement, Value
from annotator.domain.messages import say

NO_SHARED_PAIR = say("no pair was judged independently by two annotators")
ONE_GRADE = say(
    "all who judged the same pairs gave one and the same grade throughout; "
    "observed agreement is 100 %: without variation, agreement beyond chance is undefined"
)
ONE_SIDE = say(
    "all grades lie on one side of this cut; "
    "observed agreement is 100 %: without variation, agreement beyond chance is undefined"
)
ONE_QUERY = say("an interval needs shared pairs of two or more queries")
NO_RESAMPLES = say("no interval was asked for")
TOO_OFTEN_UNDEFINED = say("no interval: more than half of the resamples leave it undefined")

SAME = gwet.identity_weights(CATEGORIES)
NEAR = gwet.quadratic_weights(CATEGORIES)


@dataclass(frozen=True, slots=True)
class Sums:
    """Summed counts: `total` over all queries, `draws` over each resample of them.

    `total` is what a coefficient takes for its value; `draws` the same with an axis of resamples, so that
    the coefficient gives one figure for each. `queries`: how many there are. `no_interval`: why there would be none.
    """

    total: Floats
    draws: Floats
    queries: int
    no_interval: str

    def value(self, compute: Callable[[Floats], Floats], why: str) -> Value:
        """The coefficient that `compute` makes of the counts; `why` says what NaN means."""
        ci95 = interval(compute(self.draws), self.queries)
        return _value(float(compute(self.total)), ci95, why, self.no_interval)


def measure(
    judged: Judged, names: Sequence[str], *, resamples: int, seed: int, only: int | None = None
) -> Measured:
    """Every figure over these judgments, `names[n]` being annotator n.

    With `only`, the figures are over the pairs that this annotator judged, and Cohen's kappa is theirs with
    each other annotator. `resamples` 0 leaves the intervals out.
    """
    if only is not None:
        judged = judged.where(np.isin(judged.pair, judged.pair[judged.annotator == only]))
    shared = judged.shared()
    counted = count_grades(shared)
    everything = counted if shared is judged else count_grades(judged)
    drawn = _resample(counted.query, resamples, seed)
    patterns = find_patterns(counted)
    tables = count_tables(shared, drawn.queries, only)
    pairs = sum_pairs(tables, drawn, annotators=len(names))
    cells, terms = _sum(
        [
            _add_up(patterns, lambda counts: krippendorff.coincidences(counts).reshape(-1, CELLS)),
            _add_up(patterns, fleiss.fleiss_terms),
        ],
        drawn, asked=resamples,
    )  # fmt: skip
    all_patterns = patterns if everything is counted else find_patterns(everything)
    same, near = _sum(
        [_add_up(all_patterns, partial(_gwet_terms, weights=weights)) for weights in (SAME, NEAR)],
        drawn if everything is counted else _resample(everything.query, resamples, seed),
        asked=resamples,
    )
    grade_counts = counted.counts.sum(axis=0)
    why = ONE_GRADE if len(counted.query) else NO_SHARED_PAIR
    varies = np.count_nonzero(grade_counts) > 1
    observed = float(observed_agreement(pairs.totals.sum(axis=0)))
    return Measured(
        pairs=len(counted.query),
        single_pairs=len(everything.query) - len(counted.query),
        queries=len(drawn.queries),
        observed_agreement=None if np.isnan(observed) else observed,
        cohen_kappa=_mean_kappas(pairs, cells.no_interval, why),
        fleiss_kappa=terms.value(fleiss.fleiss_kappa, why),
        krippendorff_alpha={metric: _alpha(cells, metric, why) for metric in krippendorff.METRICS},
        gwet_ac1=same.value(lambda sums: gwet.gwet_ac(sums, SAME), why) if varies else Value(None, None, why),
        gwet_ac2=near.value(lambda sums: gwet.gwet_ac(sums, NEAR), why) if varies else Value(None, None, why),
        cut_points=_cut_points(pairs, cells.no_interval, ONE_SIDE if len(counted.query) else why),
        annotator_pairs=_list_pairs(tables, pairs, names, resamples),
        leanings=_list_leanings(tables, pairs, names, resamples),
        grade_counts=tuple(int(count) for count in grade_counts),
        grades_by_annotator={
            name: tuple(counts)
            for name, counts in zip(names, count_by_annotator(judged, len(names)).tolist(), strict=True)
            if any(counts)
        },
        paradox=compute_paradox(pairs.totals) if len(tables.first) else None,
    )


def mean_kappas(tables: Floats) -> Mapping[str, Value]:
    """Cohen's kappa of a dataset from its annotator pairs' tables (p x 4 x 4): the values of `measure`."""
    why = ONE_GRADE if len(tables) else NO_SHARED_PAIR
    return {
        kind: _value(float(cohen.mean_kappa(tables, weights)), None, why, NO_RESAMPLES)
        for kind, weights in cohen.DISAGREEMENT.items()
    }


def _value(point: float, ci95: tuple[float, float] | None, why: str, no_interval: str) -> Value:
    """A figure, or why it is none (`why`, when it is NaN); with its interval, or why it has none."""
    if isnan(point):
        return Value(None, None, why)
    return Value(point, ci95, None if ci95 else no_interval)


def _explain_no_interval(queries: int, asked: int) -> str:
    """Return why a figure over so many queries would have no interval, where so many resamples were asked for."""
    if queries < FEWEST_QUERIES:
        return ONE_QUERY
    return TOO_OFTEN_UNDEFINED if asked else NO_RESAMPLES


def _resample(query: Ints, resamples: int, seed: int) -> Resamples:
    """The resamples of these queries (in any order, repeated): none where there are not two."""
    queries, _ = number(query)
    return Resamples(queries, resamples if len(queries) >= FEWEST_QUERIES else 0, seed)


def _add_up(patterns: Patterns, features: Callable[[Floats], Floats]) -> Block:
    """The features of each pair's counts, summed per query: computed once for each pattern."""
    return Block(patterns.queries, patterns.pairs @ features(patterns.counts))


def _gwet_terms(counts: Floats, weights: Floats) -> Floats:
    return gwet.gwet_terms(counts, weights)


def _sum(blocks: Sequence[Block], drawn: Resamples, *, asked: int) -> list[Sums]:
    """Each block summed over all queries, and over the same resamples of them."""
    why = _explain_no_interval(len(drawn.queries), asked)
    draws = drawn.sum(blocks)
    queries = len(drawn.queries)
    return [
        Sums(block.features.sum(axis=0), sums, queries, why)
        for block, sums in zip(blocks, draws, strict=True)
    ]


def _mean_kappas(pairs: PairSums, no_interval: str, why: str) -> dict[str, Value]:
    """The dataset's Cohen's kappa of each kind: the mean over annotator pairs, weighted by the pairs they share."""
    return {
        kind: _value(
            float(cohen.mean_kappa(pairs.totals, weights)),
            interval(pairs.mean_kappa(kind), pairs.queries),
            why,
            no_interval,
        )
        for kind, weights in cohen.DISAGREEMENT.items()
    }


def _alpha(cells: Sums, metric: str, why: str) -> Value:
    return cells.value(
        lambda flat: krippendorff.krippendorff_alpha(flat.reshape(*flat.shape[:-1], *SHAPE), metric), why
    )


def _cut_points(pairs: PairSums, no_interval: str, why: str) -> tuple[tuple[int, Value], ...]:
    return tuple(
        (
            start,
            _value(
                float(cohen.mean_kappa(cohen.cut_at(pairs.totals, start), TWO_BY_TWO)),
                interval(pairs.mean_kappa(name_cut(start)), pairs.queries),
                why,
                no_interval,
            ),
        )
        for start in CUTS
    )


def _list_pairs(
    tables: Tables, pairs: PairSums, names: Sequence[str], resamples: int
) -> tuple[PairAgreement, ...]:
    kappas = {kind: compute_at(pairs.totals, kind).tolist() for kind in cohen.DISAGREEMENT}
    observed = observed_agreement(pairs.totals).tolist()
    paradoxes = compute_paradoxes(pairs.totals)
    confusions = pairs.totals.astype(np.int64).tolist()
    shared = flatten(pairs.totals).sum(axis=1).astype(np.int64).tolist()
    found = []
    for place, (first, second, queries) in enumerate(
        zip(tables.first.tolist(), tables.second.tolist(), pairs.queries_by_pair.tolist(), strict=True)
    ):
        no_interval = _explain_no_interval(queries, resamples)
        found.append(
            PairAgreement(
                annotators=(names[first], names[second]),
                pairs=shared[place],
                observed_agreement=observed[place],
                cohen_kappa={
                    kind: _value(values[place], pairs.kappas[kind][place], ONE_GRADE, no_interval)
                    for kind, values in kappas.items()
                },
                confusion=tuple(map(tuple, confusions[place])),
                paradox=paradoxes[place],
                queries=queries,
                warning=warn_of_few(shared[place], queries),
            )
        )
    return tuple(found)


def _list_leanings(
    tables: Tables, pairs: PairSums, names: Sequence[str], resamples: int
) -> tuple[Leaning, ...]:
    """How much higher each annotator grades than the others on the same pairs, by annotator number."""
    first, second = tables.first.tolist(), tables.second.tolist()
    means, couples = compute_mean_leanings(pairs.totals, first, second, len(names))
    spans, queries = intervals(pairs.mean_leaning(), pairs.queries_by_annotator), pairs.queries_by_annotator
    return tuple(
        Leaning(
            names[one], int(couples[one]), float(means[one]), spans[one],
            why=None if spans[one] else _explain_no_interval(int(queries[one]), resamples),
        )
        for one in sorted({*first, *second})
    )  # fmt: skip
