"""Measure a set of judgments: every coefficient with its interval, or why it is undefined.

Coefficients are functions of summed counts, so a value and its resamples come from one formula. `measure_briefly` skips
resamples: its only interval is that of the unweighted kappa, from the queries' influences (intervals.py).
`measure_given` measures a file's grades. `measure_own` says nothing about fewer than FEW_OWN pairs, nor about a grade
with fewer than FEW_IN_ROW comparisons, so that nobody can infer another's grade. `measure_order` is Kendall's tau-b
within queries, pooled over queries and annotators: whether two annotators order documents alike, wherever their grades
begin. Kendall (1945), The treatment of ties in ranking problems, Biometrika 33(3).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isnan
from typing import NamedTuple

import numpy as np

from annotator.agreement.coefficients import cohen, fleiss, gwet, krippendorff
from annotator.agreement.coefficients.cohen import CUTS, TWO_BY_TWO, compute_at, name_cut
from annotator.agreement.coefficients.observed import observed_agreement
from annotator.agreement.coefficients.paradox import compute_paradox, compute_paradoxes
from annotator.agreement.diagnosis.drift import TOO_FEW_QUERIES
from annotator.agreement.intervals import (
    FEWEST_QUERIES,
    CountBlock,
    Resamples,
    cluster_interval,
    interval,
    intervals,
)
from annotator.agreement.judgment_pairs import JudgmentPairs, estimate_kappa, list_couples
from annotator.agreement.judgment_table import (
    CATEGORIES,
    CELLS,
    ConfusionTables,
    Floats,
    GradedJudgments,
    GradePatterns,
    Ints,
    count_by_annotator,
    count_grades,
    count_tables,
    find_patterns,
    flatten,
    number,
    sort_judged,
)
from annotator.agreement.pairwise import SHAPE, PairSums, compute_mean_leanings, sum_pairs
from annotator.agreement.records import (
    FEW_IN_ROW,
    FEW_OWN,
    CoefficientValue,
    Leaning,
    MeasuredAgreement,
    OwnAgreement,
    PairAgreement,
    warn_of_few,
)
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
class ResampledSums:
    """Summed counts: `total` over all queries, `draws` over each resample of them.

    `total` is what a coefficient takes for its value; `draws` the same with an axis of resamples, so that
    the coefficient gives one figure for each. `queries`: how many there are. `no_interval`: why there would be none.
    """

    total: Floats
    draws: Floats
    queries: int
    no_interval: str

    def value(self, compute: Callable[[Floats], Floats], why: str) -> CoefficientValue:
        """The coefficient that `compute` makes of the counts; `why` says what NaN means."""
        ci95 = interval(compute(self.draws), self.queries)
        return _value(float(compute(self.total)), ci95, why, self.no_interval)


def measure(
    judged: GradedJudgments, names: Sequence[str], *, resamples: int, seed: int, only: int | None = None
) -> MeasuredAgreement:
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
        drawn,
        asked=resamples,
    )
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
    return MeasuredAgreement(
        pairs=len(counted.query),
        single_pairs=len(everything.query) - len(counted.query),
        queries=len(drawn.queries),
        observed_agreement=None if np.isnan(observed) else observed,
        cohen_kappa=_mean_kappas(pairs, cells.no_interval, why),
        fleiss_kappa=terms.value(fleiss.fleiss_kappa, why),
        krippendorff_alpha={metric: _alpha(cells, metric, why) for metric in krippendorff.METRICS},
        gwet_ac1=same.value(lambda sums: gwet.gwet_ac(sums, SAME), why)
        if varies
        else CoefficientValue(None, None, why),
        gwet_ac2=near.value(lambda sums: gwet.gwet_ac(sums, NEAR), why)
        if varies
        else CoefficientValue(None, None, why),
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


def mean_kappas(tables: Floats) -> Mapping[str, CoefficientValue]:
    """Cohen's kappa of a dataset from its annotator pairs' tables (p x 4 x 4): the values of `measure`."""
    why = ONE_GRADE if len(tables) else NO_SHARED_PAIR
    return {
        kind: _value(float(cohen.mean_kappa(tables, weights)), None, why, NO_RESAMPLES)
        for kind, weights in cohen.DISAGREEMENT.items()
    }


def _value(point: float, ci95: tuple[float, float] | None, why: str, no_interval: str) -> CoefficientValue:
    """A figure, or why it is none (`why`, when it is NaN); with its interval, or why it has none."""
    if isnan(point):
        return CoefficientValue(None, None, why)
    return CoefficientValue(point, ci95, None if ci95 else no_interval)


def _explain_no_interval(queries: int, asked: int) -> str:
    """Return why a figure over so many queries would have no interval, where so many resamples were asked for."""
    if queries < FEWEST_QUERIES:
        return ONE_QUERY
    return TOO_OFTEN_UNDEFINED if asked else NO_RESAMPLES


def _resample(query: Ints, resamples: int, seed: int) -> Resamples:
    """The resamples of these queries (in any order, repeated): none where there are not two."""
    queries, _ = number(query)
    return Resamples(queries, resamples if len(queries) >= FEWEST_QUERIES else 0, seed)


def _add_up(patterns: GradePatterns, features: Callable[[Floats], Floats]) -> CountBlock:
    """The features of each pair's counts, summed per query: computed once for each pattern."""
    return CountBlock(patterns.queries, patterns.pairs @ features(patterns.counts))


def _gwet_terms(counts: Floats, weights: Floats) -> Floats:
    return gwet.gwet_terms(counts, weights)


def _sum(blocks: Sequence[CountBlock], drawn: Resamples, *, asked: int) -> list[ResampledSums]:
    """Each block summed over all queries, and over the same resamples of them."""
    why = _explain_no_interval(len(drawn.queries), asked)
    draws = drawn.sum(blocks)
    queries = len(drawn.queries)
    return [
        ResampledSums(block.features.sum(axis=0), sums, queries, why)
        for block, sums in zip(blocks, draws, strict=True)
    ]


def _mean_kappas(pairs: PairSums, no_interval: str, why: str) -> dict[str, CoefficientValue]:
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


def _alpha(cells: ResampledSums, metric: str, why: str) -> CoefficientValue:
    return cells.value(
        lambda flat: krippendorff.krippendorff_alpha(flat.reshape(*flat.shape[:-1], *SHAPE), metric), why
    )


def _cut_points(pairs: PairSums, no_interval: str, why: str) -> tuple[tuple[int, CoefficientValue], ...]:
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
    tables: ConfusionTables, pairs: PairSums, names: Sequence[str], resamples: int
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
    tables: ConfusionTables, pairs: PairSums, names: Sequence[str], resamples: int
) -> tuple[Leaning, ...]:
    """How much higher each annotator grades than the others on the same pairs, by annotator number."""
    first, second = tables.first.tolist(), tables.second.tolist()
    means, couples = compute_mean_leanings(pairs.totals, first, second, len(names))
    spans, queries = intervals(pairs.mean_leaning(), pairs.queries_by_annotator), pairs.queries_by_annotator
    return tuple(
        Leaning(
            names[one],
            int(couples[one]),
            float(means[one]),
            spans[one],
            why=None if spans[one] else _explain_no_interval(int(queries[one]), resamples),
        )
        for one in sorted({*first, *second})
    )


def measure_briefly(judged: GradedJudgments, names: Sequence[str]) -> MeasuredAgreement:
    """Every figure over these judgments, `names[n]` being annotator n, only the unweighted kappa with an interval."""
    measured = measure(judged, names, resamples=0, seed=0)
    kappa = measured.cohen_kappa["unweighted"]
    if kappa.value is None:
        return measured
    ci95 = cluster_interval(estimate_kappa(list_couples(judged), len(names)))
    value = CoefficientValue(kappa.value, ci95, None if ci95 else TOO_FEW_QUERIES)
    return replace(measured, cohen_kappa={**measured.cohen_kappa, "unweighted": value})


ME = 0


def measure_own(
    rows: Sequence[tuple[int, int, int, int]], person: int, *, resamples: int, seed: int
) -> OwnAgreement:
    """From rows of query, pair, annotator, grade: the person's and those of others on the same pairs."""
    query, pair, annotator, grade = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    others = np.unique(annotator[annotator != person])
    number = np.where(annotator == person, ME, np.searchsorted(others, annotator) + 1)
    judged = sort_judged(query, pair, number, grade)
    names = [str(one) for one in range(len(others) + 1)]
    pairs = len(np.unique(judged.shared().pair))
    if pairs < FEW_OWN:
        return OwnAgreement(pairs)
    found = measure(judged, names, resamples=resamples, seed=seed, only=ME)
    counts = np.array([one.confusion for one in found.annotator_pairs]).sum(axis=0)
    return OwnAgreement(
        pairs=found.pairs,
        kappa=found.cohen_kappa["unweighted"],
        observed_agreement=found.observed_agreement,
        leaning=next((one for one in found.leanings if one.annotator == names[ME]), None),
        confusion=tuple(
            tuple(int(count) for count in counts[row]) if counts[row].sum() >= FEW_IN_ROW else None
            for row in range(CATEGORIES)
        ),
    )


class GivenGrade(NamedTuple):
    """One annotator's grade of a document for a query, all by their ids in the file."""

    query_id: str
    doc_id: str
    annotator: str
    grade: int


def measure_given(given: Sequence[GivenGrade], *, resamples: int, seed: int) -> MeasuredAgreement:
    """Return every figure over these grades; each annotator gives a document of a query at most one."""
    queries = {query_id: place for place, query_id in enumerate(dict.fromkeys(one.query_id for one in given))}
    pairs = {
        pair: place for place, pair in enumerate(dict.fromkeys((one.query_id, one.doc_id) for one in given))
    }
    names = tuple(sorted({one.annotator for one in given}))
    people = {name: place for place, name in enumerate(names)}
    columns = (
        [queries[one.query_id] for one in given],
        [pairs[one.query_id, one.doc_id] for one in given],
        [people[one.annotator] for one in given],
        [one.grade for one in given],
    )
    query, pair, annotator, grade = (np.array(column, dtype=np.int64) for column in columns)
    return measure(sort_judged(query, pair, annotator, grade), names, resamples=resamples, seed=seed)


FEW_ORDERED = 30
AT_ONCE = 100_000
_FIRST, _SECOND = np.divmod(np.arange(CELLS), CATEGORIES)
_BY_FIRST = np.sign(np.subtract.outer(_FIRST, _FIRST)).astype(np.float64)
_BY_SECOND = np.sign(np.subtract.outer(_SECOND, _SECOND)).astype(np.float64)
_SAME_ORDER = _BY_FIRST * _BY_SECOND


def measure_order(couples: JudgmentPairs, annotators: int) -> float | None:
    """Return tau-b; None where fewer than FEW_ORDERED couples of documents are untied for one of the annotators."""
    both = (couples.first * annotators + couples.second) * max(1, couples.queries) + couples.query
    groups, group = number(both)
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group, minlength=len(groups)))
    agreeing = untied_first = untied_second = 0.0
    for start in range(0, len(groups), AT_ONCE):
        stop = min(start + AT_ONCE, len(groups))
        rows = order[ends[start - 1] if start else 0 : ends[stop - 1]]
        places = (group[rows] - start) * CELLS + couples.cell[rows]
        counts = np.bincount(places, minlength=(stop - start) * CELLS).reshape(-1, CELLS).astype(np.float64)
        agreeing += float(((counts @ _SAME_ORDER) * counts).sum()) / 2
        untied_first += float(((counts @ np.abs(_BY_FIRST)) * counts).sum()) / 2
        untied_second += float(((counts @ np.abs(_BY_SECOND)) * counts).sum()) / 2
    if min(untied_first, untied_second) < FEW_ORDERED:
        return None
    return agreeing / float(np.sqrt(untied_first * untied_second))
