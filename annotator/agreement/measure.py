"""Measure a set of judgments: every coefficient with its interval, or why it is undefined.

Coefficients are functions of summed counts, so one formula gives a value and its resamples. `measure_briefly`
skips the resamples: its only interval is that of the unweighted kappa, from the queries' influences
(intervals.py).

Annotators see their own agreement while they judge, so no figure of it may show one grade. An annotator's first
grade of a pair is compared with another annotator's first grade: a later change of a grade moves nothing.
Comparisons are added in whole steps, in the order of time. A step has OWN_STEP comparisons with the same own
grade, at least FEW_WITH_ONE with each other annotator in it. So two states of a figure differ by a sum over
whole steps. Somebody with a second account, who knows part of a step, still sees only a sum over FEW_WITH_ONE
comparisons with a colleague.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isnan
from typing import Any

import numpy as np

from annotator.agreement.coefficients import (
    DISAGREEMENT,
    TWO_BY_TWO,
    coincidences,
    compute_at,
    compute_paradox,
    compute_paradoxes,
    cut_at,
    fleiss_kappa,
    fleiss_terms,
    gwet_ac,
    gwet_terms,
    identity_weights,
    krippendorff_alpha,
    mean_kappa,
    name_cut,
    observed_agreement,
    quadratic_weights,
)
from annotator.agreement.comparisons import estimate_kappa, list_comparisons
from annotator.agreement.intervals import (
    FEWEST_QUERIES,
    SHAPE,
    CountBlock,
    PairSums,
    Resamples,
    cluster_interval,
    compute_mean_leanings,
    interval,
    intervals,
    sum_pairs,
)
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
    divide,
    find_patterns,
    flatten,
    number,
    sort_judged,
)
from annotator.agreement.records import (
    CUT_POINTS,
    FEW_OWN,
    FEW_WITH_ONE,
    OWN_STEP,
    TOO_FEW_QUERIES,
    CoefficientValue,
    ComparedGrade,
    Leaning,
    MeasuredAgreement,
    OwnAgreement,
    PairAgreement,
    group_by_family,
    warn_of_few,
)
from annotator.domain.messages import say

NO_SHARED_PAIR = say("no pair has independent judgments of two annotators")
ONE_GRADE = say(
    "everybody gave the same grade on all shared pairs (observed agreement 100 %), so agreement "
    "beyond chance is undefined"
)
ONE_SIDE = say(
    "all grades are on the same side of this threshold (observed agreement 100 %), so agreement "
    "beyond chance is undefined"
)
ONE_QUERY = say("a confidence interval needs shared pairs of two or more queries")
NO_RESAMPLES = say("no confidence interval was requested")
TOO_OFTEN_UNDEFINED = say("no confidence interval: more than half of the resamples leave it undefined")

SAME = identity_weights(CATEGORIES)
NEAR = quadratic_weights(CATEGORIES)


@dataclass(frozen=True, slots=True)
class ResampledSums:
    """Counts summed over all queries and over each resample, for a value and its interval."""

    total: Floats  # of all queries
    draws: Floats  # the same with an axis of resamples
    queries: int  # how many there are
    no_interval: str  # why a value would have no interval

    def value(self, compute: Callable[[Floats], Floats], why: str) -> CoefficientValue:
        """Return the coefficient that `compute` makes of the counts; `why` explains NaN."""
        ci95 = interval(compute(self.draws), self.queries)
        return _value(float(compute(self.total)), ci95, why, self.no_interval)


@dataclass(frozen=True, slots=True)
class _SummedCounts:
    """The summed counts of a set of judgments, from which every coefficient is computed."""

    why: str  # why a coefficient would be undefined
    varies: bool  # whether the judgments have more than one grade
    pairs: PairSums
    coincidences: ResampledSums
    fleiss: ResampledSums
    ac1: ResampledSums
    ac2: ResampledSums

    def mean_kappa(self, name: str, tables: Floats, disagreement: Floats, why: str) -> CoefficientValue:
        """Return a Cohen's kappa of the dataset. `name`: of the resampled kappa in `PairSums`."""
        mean = float(mean_kappa(tables, disagreement))
        ci95 = interval(self.pairs.mean_kappa(name), self.pairs.queries)
        return _value(mean, ci95, why, self.coincidences.no_interval)

    def ac(self, sums: ResampledSums, weights: Floats) -> CoefficientValue:
        if not self.varies:
            return CoefficientValue(None, None, self.why)
        return sums.value(lambda summed: gwet_ac(summed, weights), self.why)


_FORMULAS: Mapping[str, Callable[[_SummedCounts, Any], CoefficientValue]] = {
    "cohen_kappa": lambda counted, kind: counted.mean_kappa(
        kind, counted.pairs.totals, DISAGREEMENT[kind], counted.why
    ),
    "fleiss_kappa": lambda counted, _: counted.fleiss.value(fleiss_kappa, counted.why),
    "krippendorff_alpha": lambda counted, metric: counted.coincidences.value(
        lambda flat: krippendorff_alpha(flat.reshape(*flat.shape[:-1], *SHAPE), metric),
        counted.why,
    ),
    "gwet_ac1": lambda counted, _: counted.ac(counted.ac1, SAME),
    "gwet_ac2": lambda counted, _: counted.ac(counted.ac2, NEAR),
    CUT_POINTS: lambda counted, grade: counted.mean_kappa(
        name_cut(grade),
        cut_at(counted.pairs.totals, grade),
        TWO_BY_TWO,
        counted.why if counted.why == NO_SHARED_PAIR else ONE_SIDE,
    ),
}
"""How each coefficient is computed, by its family. Called with its kind."""


def measure(
    judged: GradedJudgments, names: Sequence[str], *, resamples: int, seed: int, only: int | None = None
) -> MeasuredAgreement:
    """Return every figure over these judgments; `names[n]` is annotator n.

    `only`: measures the pairs that this annotator judged, and Cohen's kappa of this annotator with each other
    one. `resamples` 0 leaves the intervals out.
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
    blocks = [
        _add_up(patterns, lambda counts: coincidences(counts).reshape(-1, CELLS)),
        _add_up(patterns, fleiss_terms),
    ]
    all_patterns = patterns if everything is counted else find_patterns(everything)
    gwet_blocks = [_add_up(all_patterns, partial(gwet_terms, weights=weights)) for weights in (SAME, NEAR)]
    all_drawn = drawn if everything is counted else _resample(everything.query, resamples, seed)
    grade_counts = counted.counts.sum(axis=0)
    sums = _SummedCounts(
        ONE_GRADE if len(counted.query) else NO_SHARED_PAIR,
        bool(np.count_nonzero(grade_counts) > 1),
        pairs,
        *_sum(blocks, drawn, resamples=resamples),
        *_sum(gwet_blocks, all_drawn, resamples=resamples),
    )
    observed = float(observed_agreement(pairs.totals.sum(axis=0)))
    return MeasuredAgreement(
        pairs=len(counted.query),
        single_pairs=len(everything.query) - len(counted.query),
        queries=len(drawn.queries),
        observed_agreement=None if np.isnan(observed) else observed,
        **group_by_family(lambda coefficient: _FORMULAS[coefficient.key](sums, coefficient.kind)),
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
    """Return a dataset's Cohen's kappas without intervals, from its annotator pairs (p x 4 x 4)."""
    why = ONE_GRADE if len(tables) else NO_SHARED_PAIR
    return {
        kind: _value(float(mean_kappa(tables, weights)), None, why, NO_RESAMPLES)
        for kind, weights in DISAGREEMENT.items()
    }


def _value(point: float, ci95: tuple[float, float] | None, why: str, no_interval: str) -> CoefficientValue:
    """Return a figure with its interval, or `no_interval`; if the figure is NaN, `why`."""
    if isnan(point):
        return CoefficientValue(None, None, why)
    return CoefficientValue(point, ci95, None if ci95 else no_interval)


def _explain_no_interval(queries: int, resamples: int) -> str:
    """Return why a figure over this many queries and resamples would have no interval."""
    if queries < FEWEST_QUERIES:
        return ONE_QUERY
    return TOO_OFTEN_UNDEFINED if resamples else NO_RESAMPLES


def _resample(query: Ints, resamples: int, seed: int) -> Resamples:
    """Return the resamples of these queries; none if fewer than FEWEST_QUERIES are different."""
    queries, _ = number(query)
    return Resamples(queries, resamples if len(queries) >= FEWEST_QUERIES else 0, seed)


def _add_up(patterns: GradePatterns, features: Callable[[Floats], Floats]) -> CountBlock:
    """Return the features of each pair's counts, summed per query; computed once for each pattern."""
    return CountBlock(patterns.queries, patterns.pairs @ features(patterns.counts))


def _sum(blocks: Sequence[CountBlock], drawn: Resamples, *, resamples: int) -> list[ResampledSums]:
    """Return each block summed over all queries, and over the same resamples of them."""
    why = _explain_no_interval(len(drawn.queries), resamples)
    draws = drawn.sum(blocks)
    queries = len(drawn.queries)
    return [
        ResampledSums(block.features.sum(axis=0), sums, queries, why)
        for block, sums in zip(blocks, draws, strict=True)
    ]


def _list_pairs(
    tables: ConfusionTables, pairs: PairSums, names: Sequence[str], resamples: int
) -> tuple[PairAgreement, ...]:
    kappas = {kind: compute_at(pairs.totals, kind).tolist() for kind in DISAGREEMENT}
    observed = observed_agreement(pairs.totals).tolist()
    paradoxes = compute_paradoxes(pairs.totals)
    confusions = pairs.totals.astype(np.int64).tolist()
    shared = flatten(pairs.totals).sum(axis=1).astype(np.int64).tolist()
    agreements = []
    for index, (first, second, queries) in enumerate(
        zip(tables.first.tolist(), tables.second.tolist(), pairs.queries_by_pair.tolist(), strict=True)
    ):
        no_interval = _explain_no_interval(queries, resamples)
        agreements.append(
            PairAgreement(
                annotators=(names[first], names[second]),
                pairs=shared[index],
                observed_agreement=observed[index],
                cohen_kappa={
                    kind: _value(values[index], pairs.kappas[kind][index], ONE_GRADE, no_interval)
                    for kind, values in kappas.items()
                },
                confusion=tuple(map(tuple, confusions[index])),
                paradox=paradoxes[index],
                queries=queries,
                warning=warn_of_few(shared[index], queries),
            )
        )
    return tuple(agreements)


def _list_leanings(
    tables: ConfusionTables, pairs: PairSums, names: Sequence[str], resamples: int
) -> tuple[Leaning, ...]:
    """Return how much higher each annotator grades than the others on the same pairs."""
    first, second = tables.first.tolist(), tables.second.tolist()
    means, comparisons = compute_mean_leanings(pairs.totals, first, second, len(names))
    spans, queries = (
        intervals(divide(pairs.differences, pairs.comparisons), pairs.queries_by_annotator),
        pairs.queries_by_annotator,
    )
    return tuple(
        Leaning(
            names[annotator],
            int(comparisons[annotator]),
            float(means[annotator]),
            spans[annotator],
            why=None if spans[annotator] else _explain_no_interval(int(queries[annotator]), resamples),
        )
        for annotator in sorted({*first, *second})
    )


def measure_briefly(judged: GradedJudgments, names: Sequence[str]) -> MeasuredAgreement:
    """Return every figure, only the unweighted kappa with an interval; `names[n]` is annotator n."""
    measured = measure(judged, names, resamples=0, seed=0)
    kappa = measured.cohen_kappa["unweighted"]
    if kappa.value is None:
        return measured
    ci95 = cluster_interval(estimate_kappa(list_comparisons(judged), len(names)))
    value = CoefficientValue(kappa.value, ci95, None if ci95 else TOO_FEW_QUERIES)
    return replace(measured, cohen_kappa={**measured.cohen_kappa, "unweighted": value})


ME = 0


def measure_own(
    rows: Sequence[tuple[int, int, int, int]], person: int, *, resamples: int, seed: int
) -> OwnAgreement:
    """Return a person's agreement with the others; only the number of pairs if it is below FEW_OWN.

    `rows`: query, pair, annotator, grade. The caller selects them so that the sums show no single grade
    (`choose_compared`).
    """
    query, pair, annotator, grade = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    others = np.unique(annotator[annotator != person])
    number = np.where(annotator == person, ME, np.searchsorted(others, annotator) + 1)
    judged = sort_judged(query, pair, number, grade)
    names = [str(number) for number in range(len(others) + 1)]
    pairs = len(np.unique(judged.shared().pair))
    if pairs < FEW_OWN:
        return OwnAgreement(pairs)
    measured = measure(judged, names, resamples=resamples, seed=seed, only=ME)
    counts = np.array([pair.confusion for pair in measured.annotator_pairs]).sum(axis=0)
    return OwnAgreement(
        pairs=measured.pairs,
        kappa=measured.cohen_kappa["unweighted"],
        observed_agreement=measured.observed_agreement,
        leaning=next((leaning for leaning in measured.leanings if leaning.annotator == names[ME]), None),
        confusion=tuple(
            tuple(int(count) for count in counts[row]) if counts[row].any() else None
            for row in range(CATEGORIES)
        ),
    )


def measure_pairs(
    grades: Mapping[tuple[str, str], Mapping[str, int]], *, resamples: int, seed: int
) -> tuple[list[str], MeasuredAgreement]:
    """Return the annotators and every figure of these grades, by (query_id, doc_id) and annotator.

    Millions of pairs may share a few mappings: each mapping is read once.
    """
    kinds = list({id(of_pair): of_pair for of_pair in grades.values()}.values())
    names = sorted({name for of_pair in kinds for name in of_pair})
    people = {name: index for index, name in enumerate(names)}
    number_of_kind = {id(of_pair): number for number, of_pair in enumerate(kinds)}
    queries = {query_id: index for index, query_id in enumerate(dict.fromkeys(name[0] for name in grades))}
    query_of_pair = np.array([queries[query_id] for query_id, _ in grades], dtype=np.int64)
    kind_of_pair = np.array([number_of_kind[id(of_pair)] for of_pair in grades.values()], dtype=np.int64)
    people_of_kinds = np.array([people[name] for of_pair in kinds for name in of_pair], dtype=np.int64)
    grades_of_kinds = np.array([grade for of_pair in kinds for grade in of_pair.values()], dtype=np.int64)
    size_of_kind = np.array([len(of_pair) for of_pair in kinds], dtype=np.int64)
    begin_of_kind = np.cumsum(size_of_kind) - size_of_kind
    sizes = size_of_kind[kind_of_pair]
    pair = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(pair)) + np.repeat(begin_of_kind[kind_of_pair] - (np.cumsum(sizes) - sizes), sizes)
    judged = sort_judged(query_of_pair[pair], pair, people_of_kinds[place], grades_of_kinds[place])
    return names, measure(judged, names, resamples=resamples, seed=seed)


def choose_compared(compared: Iterable[ComparedGrade]) -> list[ComparedGrade]:
    """Return the comparisons in whole steps. Later comparisons never remove one that was returned before."""
    by_other: dict[tuple[int, int], list[ComparedGrade]] = {}
    for comparison in sorted(compared, key=_find_order):
        by_other.setdefault((comparison.own_grade, comparison.annotator_pk), []).append(comparison)
    groups: dict[int, list[list[ComparedGrade]]] = {}
    for (own_grade, _other), comparisons in by_other.items():
        ends = range(FEW_WITH_ONE, len(comparisons) + 1, FEW_WITH_ONE)
        groups.setdefault(own_grade, []).extend(comparisons[end - FEW_WITH_ONE : end] for end in ends)
    chosen: list[ComparedGrade] = []
    for of_grade in groups.values():
        of_grade.sort(key=lambda group: _find_order(group[-1]))
        whole = len(of_grade) - len(of_grade) % (OWN_STEP // FEW_WITH_ONE)
        chosen.extend(comparison for group in of_grade[:whole] for comparison in group)
    return chosen


def _find_order(comparison: ComparedGrade) -> tuple[int, int, int]:
    return comparison.judgment_pk, comparison.pair_pk, comparison.annotator_pk
