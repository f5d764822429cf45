"""Compute the expected scores of the systems, and the effect of each candidate's grade on them.

For every measure: the mean score with expected grades, and its gradient by the gain of each candidate. A gain
is the grade (nDCG) or whether the document is relevant (P, AP).

- nDCG@k: the sum of gain / log2(rank + 1), divided by the same sum of the ideal order. In the expected ideal,
  the number of further documents of each grade is Poisson. A higher grade also raises the ideal; the gradient
  includes that.
- P@k: relevant documents in the first k, divided by k.
- AP: the sum over relevant documents i of (1 + relevant documents above i) / rank of i, divided by the number
  of relevant documents. Its expectation for independent documents is that sum with chances instead of grades
  (Carterette, Allan & Sitaraman, Minimal test collections for retrieval evaluation, SIGIR 2006).

A query without a relevant document scores 0. While none is known, its score is weighted by the chance that
there is one.
"""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.domain.errors import ValidationError
from annotator.domain.grades import RELEVANT_FROM
from annotator.domain.messages import say
from annotator.pooling.adaptive.records import HIGHEST_GRADE, CandidateTable

Values = NDArray[np.float64]
MEASURE = re.compile(r"(nDCG|P)@([1-9]\d{0,3})|AP")


@dataclass(frozen=True, slots=True)
class AdaptiveMeasure:
    """A measure, its cutoff (0 for AP), and the gain that each grade from 1 adds."""

    kind: str
    cutoff: int
    steps: tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class LinearScores:
    """Mean scores, and how much one more unit of a candidate's gain would add to each."""

    scores: Values  # [system]
    gradient: NDArray[np.float32]  # [candidate, system]


def read_measure(name: str) -> AdaptiveMeasure:
    """Return the measure of this name. Raises ValidationError for another name."""
    match = MEASURE.fullmatch(name)
    if not match:
        raise ValidationError(say("measure: expected nDCG@k, P@k or AP, found {name}", name=name))
    kind = match[1] or "AP"
    binary = tuple(float(level == RELEVANT_FROM) for level in range(1, HIGHEST_GRADE + 1))
    return AdaptiveMeasure(kind, int(match[2] or 0), (1.0,) * HIGHEST_GRADE if kind == "nDCG" else binary)


def score_expected(table: CandidateTable, measure: AdaptiveMeasure, chances: Values) -> LinearScores:
    """Return scores and gradient. `chances` [candidate, level]: of grade >= level; 0 or 1 if judged."""
    gains = chances @ np.array(measure.steps)
    if measure.kind == "AP":
        return _score_ap(table, gains)
    return _score_top(table, measure, chances, gains)


def _score_top(
    table: CandidateTable, measure: AdaptiveMeasure, chances: Values, gains: Values
) -> LinearScores:
    cutoff, queries = measure.cutoff, table.query_count
    deepest = max(int(table.ranks.max(initial=0)), cutoff)
    discounts = np.zeros(deepest + 1)
    ranks = np.arange(1, cutoff + 1)
    discounts[1 : cutoff + 1] = 1 / np.log2(ranks + 1) if measure.kind == "nDCG" else 1 / cutoff
    gradient = discounts.astype(np.float32)[table.ranks]
    systems = table.system_count
    rows, columns = np.nonzero((table.ranks > 0) & (table.ranks <= cutoff))
    top = np.bincount(
        table.queries[rows] * systems + columns,
        discounts[table.ranks[rows, columns]] * gains[rows],
        queries * systems,
    ).reshape(queries, systems)
    if measure.kind == "P":
        return LinearScores(top.sum(axis=0) / queries, gradient / np.float32(queries))
    ideal, rise, any_relevant = _expect_ideal(table, measure, chances, discounts[1 : cutoff + 1])
    factor = np.divide(any_relevant, ideal, out=np.zeros(queries), where=ideal > 0)
    by_query = top * factor[:, None]
    marginal = np.divide(
        (chances * rise[table.queries]).sum(axis=1),
        chances.sum(axis=1),
        out=np.zeros(len(chances)),
        where=gains > 0,
    )
    relative = np.divide(by_query, ideal[:, None], out=np.zeros_like(by_query), where=ideal[:, None] > 0)
    gradient *= factor[table.queries, None].astype(np.float32)
    gradient -= relative.astype(np.float32)[table.queries] * marginal[:, None].astype(np.float32)
    gradient /= np.float32(queries)
    return LinearScores(by_query.sum(axis=0) / queries, gradient)


def _expect_ideal(
    table: CandidateTable, measure: AdaptiveMeasure, chances: Values, discounts: Values
) -> tuple[Values, Values, Values]:
    """Return for each query: the expected ideal DCG, what one more document adds by level, the chance of a relevant one."""
    queries, cutoff = table.query_count, len(discounts)
    sums = np.concatenate([[0.0], np.cumsum(discounts)])
    nexts = np.concatenate([discounts, [0.0]])
    ideal, rise, any_relevant = np.zeros(queries), np.zeros((queries, HIGHEST_GRADE)), np.zeros(queries)
    sure = chances >= 1
    for level in range(HIGHEST_GRADE):
        certain = np.bincount(table.queries, sure[:, level], queries).astype(np.int64)
        expected = np.bincount(table.queries, np.where(sure[:, level], 0.0, chances[:, level]), queries)
        further = np.empty((queries, cutoff + 1))
        further[:, 0] = np.exp(-expected)
        for count in range(1, cutoff + 1):
            further[:, count] = further[:, count - 1] * expected / count
        further[:, cutoff] = np.maximum(0.0, 1 - further[:, :cutoff].sum(axis=1))
        counts = np.minimum(certain[:, None] + np.arange(cutoff + 1), cutoff)
        ideal += measure.steps[level] * (further * sums[counts]).sum(axis=1)
        rise[:, level] = measure.steps[level] * (further * nexts[counts]).sum(axis=1)
        if level == 0:
            any_relevant = np.where(certain > 0, 1.0, 1 - np.exp(-expected))
    return ideal, rise, any_relevant


def _score_ap(table: CandidateTable, gains: Values) -> LinearScores:
    queries = table.query_count
    relevant = np.bincount(table.queries, gains, queries)
    certain = np.bincount(table.queries, gains >= 1, queries) > 0
    any_relevant = np.where(certain, 1.0, 1 - np.exp(-relevant))
    # If the expected number is below 1, the query probably has no relevant document; if it has one, there is at least 1.
    factor = np.divide(any_relevant, relevant, out=np.zeros(queries), where=relevant > 0)
    gradient = np.zeros(table.ranks.shape, dtype=np.float32)
    scores = np.zeros(table.system_count)
    for system in range(table.system_count):
        rows = np.flatnonzero(table.ranks[:, system])
        rows = rows[np.lexsort((table.ranks[rows, system], table.queries[rows]))]
        ranks, own, owners = table.ranks[rows, system].astype(np.float64), gains[rows], table.queries[rows]
        above = _sum_above(own, owners)
        below = _sum_above((own / ranks)[::-1], owners[::-1])[::-1]
        slope = (1 + above) / ranks + below
        by_query = np.bincount(owners, own * (1 + above) / ranks, queries) * factor
        scores[system] = by_query.sum() / queries
        gradient[rows, system] = slope * factor[owners]
        share = np.divide(by_query, relevant, out=np.zeros(queries), where=relevant > 0)
        gradient[:, system] -= share[table.queries].astype(np.float32)
    gradient /= np.float32(queries)
    return LinearScores(scores, gradient)


def _sum_above(values: Values, owners: NDArray[np.int64]) -> Values:
    """Return for each value the sum of the earlier values of its owner. Equal owners are adjacent."""
    total = np.cumsum(values) - values
    starts = (
        np.concatenate([[True], owners[1:] != owners[:-1]]) if len(owners) else np.zeros(0, dtype=np.bool_)
    )
    first = np.flatnonzero(starts)
    lengths = np.diff(np.append(first, len(owners)))
    above: Values = total - np.repeat(total[first], lengths)
    return above
