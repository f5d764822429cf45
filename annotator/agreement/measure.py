"""Measures one set of judgments: every coefficient, its interval, and why it is undefined where it is.

Stands between the judgments as columns (judged.py) and the report. The coefficients are functions of summed
counts, so a value and its resamples come out of one formula.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from annotator.agreement import cohen, fleiss, gwet, krippendorff
from annotator.agreement.bootstrap import Block, interval, resample_sums, sum_by_query
from annotator.agreement.judged import (
    CATEGORIES,
    CELLS,
    Confusion,
    Floats,
    GradeCounts,
    Judged,
    count_grades,
    divide,
    flatten,
    list_confusions,
)
from annotator.agreement.observed import observed_agreement
from annotator.domain.agreement import Leaning, Measured, PairAgreement, Value
from annotator.domain.grades import GRADES
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

PAIRS_AT_ONCE = 100_000
SAME = gwet.identity_weights(CATEGORIES)
NEAR = gwet.quadratic_weights(CATEGORIES)
SIGNED = np.subtract.outer(np.arange(CATEGORIES), np.arange(CATEGORIES)).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Sums:
    """Summed counts: `total` over all queries, `draws` over each resample of them.

    `total` is what a coefficient takes for its value; `draws` the same with an axis of resamples, so that
    the coefficient gives one figure for each. `no_interval`: why there would be none.
    """

    total: Floats
    draws: Floats
    no_interval: str

    def value(self, compute: Callable[[Floats], Floats], why: str) -> Value:
        """The coefficient that `compute` makes of the counts; `why` says what NaN means."""
        point = float(compute(self.total))
        if np.isnan(point):
            return Value(None, None, why)
        ci95 = interval(compute(self.draws))
        return Value(point, ci95, None if ci95 else self.no_interval)


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
    counted, everything = count_grades(shared), count_grades(judged)
    confusions = list(list_confusions(shared, only))
    cells, terms, *couples = _sum(
        [
            _add_up(counted, lambda counts: krippendorff.coincidences(counts).reshape(-1, CELLS)),
            _add_up(counted, fleiss.fleiss_terms),
            *(Block(one.queries, one.counts) for one in confusions),
        ],
        resamples, seed,
    )  # fmt: skip
    tables = _stack(couples)
    same, near = _sum(
        [_add_up(everything, partial(_gwet_terms, weights=weights)) for weights in (SAME, NEAR)],
        resamples, seed,
    )  # fmt: skip
    grade_counts = counted.counts.sum(axis=0)
    why = ONE_GRADE if len(counted.query) else NO_SHARED_PAIR
    varies = np.count_nonzero(grade_counts) > 1
    observed = float(observed_agreement(tables.total.sum(axis=0)))
    return Measured(
        pairs=len(counted.query),
        single_pairs=len(everything.query) - len(counted.query),
        queries=len(np.unique(counted.query)),
        observed_agreement=None if np.isnan(observed) else observed,
        cohen_kappa=_kappas(tables, why),
        fleiss_kappa=terms.value(fleiss.fleiss_kappa, why),
        krippendorff_alpha={metric: _alpha(cells, metric, why) for metric in krippendorff.METRICS},
        gwet_ac1=same.value(lambda sums: gwet.gwet_ac(sums, SAME), why) if varies else Value(None, None, why),
        gwet_ac2=near.value(lambda sums: gwet.gwet_ac(sums, NEAR), why) if varies else Value(None, None, why),
        cut_points=tuple((start, _at_cut(tables, start, len(counted.query))) for start in GRADES[1:]),
        annotator_pairs=tuple(
            _pair(tables, place, (names[found.first], names[found.second]))
            for place, found in enumerate(confusions)
        ),
        leanings=_leanings(tables, confusions, names),
        grade_counts=tuple(int(count) for count in grade_counts),
    )


def mean_kappas(tables: Floats) -> Mapping[str, Value]:
    """Cohen's kappa of a dataset from its annotator pairs' tables (p x 4 x 4): the values of `measure`."""
    why = ONE_GRADE if len(tables) else NO_SHARED_PAIR
    return _kappas(Sums(tables, np.zeros((len(tables), 0, *tables.shape[1:])), NO_RESAMPLES), why)


def _add_up(counted: GradeCounts, features: Callable[[Floats], Floats]) -> Block:
    """The features of each pair's counts, summed per query, for some pairs at a time: for a million pairs, all of
    them at once would need hundreds of MB."""
    starts = range(0, max(1, len(counted.query)), PAIRS_AT_ONCE)
    parts = [slice(start, start + PAIRS_AT_ONCE) for start in starts]
    blocks = [sum_by_query(counted.query[part], features(counted.counts[part])) for part in parts]
    if len(blocks) == 1:
        return blocks[0]
    queries = np.concatenate([block.queries for block in blocks])
    return sum_by_query(queries, np.concatenate([block.features for block in blocks]))


def _gwet_terms(counts: Floats, weights: Floats) -> Floats:
    return gwet.gwet_terms(counts, weights)


def _sum(blocks: Sequence[Block], resamples: int, seed: int) -> list[Sums]:
    """Each block summed over all queries, and over the same resamples of them."""
    queries = len(np.unique(np.concatenate([block.queries for block in blocks])))
    count = resamples if queries >= 2 else 0
    why = ONE_QUERY if queries < 2 else TOO_OFTEN_UNDEFINED if resamples else NO_RESAMPLES
    draws = resample_sums(blocks, resamples=count, seed=seed)
    return [Sums(block.features.sum(axis=0), drawn, why) for block, drawn in zip(blocks, draws, strict=True)]


def _stack(couples: Sequence[Sums]) -> Sums:
    """The flat tables of p annotator pairs as one: total p x 4 x 4, draws p x resamples x 4 x 4."""
    shape = (CATEGORIES, CATEGORIES)
    if not couples:
        return Sums(np.zeros((0, *shape)), np.zeros((0, 0, *shape)), ONE_QUERY)
    total = np.stack([sums.total.reshape(shape) for sums in couples])
    draws = np.stack([sums.draws.reshape(-1, *shape) for sums in couples])
    return Sums(total, draws, couples[0].no_interval)


def _kappas(tables: Sums, why: str) -> dict[str, Value]:
    return {
        name: tables.value(partial(cohen.mean_kappa, disagreement=weights), why)
        for name, weights in cohen.DISAGREEMENT.items()
    }


def _alpha(cells: Sums, metric: str, why: str) -> Value:
    shape = (CATEGORIES, CATEGORIES)
    return cells.value(
        lambda flat: krippendorff.krippendorff_alpha(flat.reshape(*flat.shape[:-1], *shape), metric), why
    )


def _at_cut(tables: Sums, relevant_from: int, pairs: int) -> Value:
    weights = np.array([[0.0, 1.0], [1.0, 0.0]])
    why = ONE_SIDE if pairs else NO_SHARED_PAIR
    return tables.value(lambda counts: cohen.mean_kappa(cohen.cut_at(counts, relevant_from), weights), why)


def _pair(tables: Sums, place: int, names: tuple[str, str]) -> PairAgreement:
    own = Sums(tables.total[place], tables.draws[place], tables.no_interval)
    return PairAgreement(
        annotators=names,
        pairs=int(own.total.sum()),
        observed_agreement=float(observed_agreement(own.total)),
        cohen_kappa={
            name: own.value(partial(cohen.cohen_kappa, disagreement=weights), ONE_GRADE)
            for name, weights in cohen.DISAGREEMENT.items()
        },
        confusion=tuple(tuple(int(count) for count in row) for row in own.total),
    )


def _leanings(tables: Sums, confusions: Sequence[Confusion], names: Sequence[str]) -> tuple[Leaning, ...]:
    """How much higher each annotator grades than the others on the same pairs, by annotator number."""
    found = []
    for annotator in sorted({person for one in confusions for person in (one.first, one.second)}):
        sign = np.array([(one.first == annotator) - (one.second == annotator) for one in confusions], float)
        found.append(
            Leaning(
                names[annotator],
                int(_couples(tables.total, np.abs(sign))),
                float(_mean_difference(tables.total, sign)),
                interval(_mean_difference(tables.draws, sign)),
            )
        )
    return tuple(found)


def _couples(tables: Floats, weight: Floats) -> Floats:
    """Judgments compared, over p x … x 4 x 4 tables weighted by `weight` (p)."""
    return np.tensordot(weight, flatten(tables) @ np.ones(CELLS), axes=1)


def _mean_difference(tables: Floats, sign: Floats) -> Floats:
    """The annotator's grade less the other's, on average; `sign` 1 where the rows are theirs, -1 the columns."""
    return divide(
        np.tensordot(sign, flatten(tables) @ SIGNED.ravel(), axes=1), _couples(tables, np.abs(sign))
    )
