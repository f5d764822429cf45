"""All annotator pairs of a crowd over the resamples: the same as of each resample by itself, and little work."""

from collections.abc import Iterator

import numpy as np
import pytest

from annotator.agreement import coefficients, intervals
from annotator.agreement.coefficients import DISAGREEMENT, NAMES, cohen_kappa, compute_all, compute_at
from annotator.agreement.intervals import PairSums, Resamples, interval, sum_pairs
from annotator.agreement.judgment_table import (
    ConfusionTables,
    Floats,
    GradedJudgments,
    count_tables,
    sort_judged,
)

PEOPLE, QUERIES, RESAMPLES = 40, 30, 50


def _draw_crowd() -> GradedJudgments:
    """Four of a crowd judge each query's pairs, so that most two of them meet at one query."""
    random = np.random.default_rng(1)
    query = np.repeat(np.arange(QUERIES), 5 * 4)
    pair = np.repeat(np.arange(QUERIES * 5), 4)
    present = np.array(
        [random.choice(12 if index < 8 else PEOPLE, 4, replace=False) for index in range(QUERIES)]
    )
    who = np.tile(present[:, None, :], (1, 5, 1)).ravel()
    grade = np.where(who % 5 == 0, who % 4, random.integers(0, 4, len(who)) * (random.random(len(who)) < 0.6))
    return sort_judged(query, pair, who, grade)


def _sum() -> tuple[ConfusionTables, Floats, PairSums]:
    judged, queries = _draw_crowd(), np.arange(QUERIES)
    tables, resamples = count_tables(judged, queries), Resamples(queries, RESAMPLES, seed=2)
    sums = sum_pairs(tables, resamples, annotators=PEOPLE)
    weights = np.concatenate([some for _, some in resamples], axis=1).astype(np.float64)
    drawn = (tables.counts.toarray() @ weights).reshape(-1, 4, 4, RESAMPLES)
    return tables, drawn.transpose(0, 3, 1, 2), sums


def test_the_crowd_has_annotator_pairs_of_one_query_and_of_several() -> None:
    _, drawn, sums = _sum()
    assert (sums.queries_by_pair == 1).sum() > 80
    assert (sums.queries_by_pair > 1).sum() > 10
    assert len(drawn) == len(sums.totals)


@pytest.mark.parametrize("name", NAMES)
def test_the_mean_kappa_of_each_resample_is_that_of_its_tables(name: str) -> None:
    _, drawn, sums = _sum()
    kappa, shared = compute_at(drawn, name), drawn.sum(axis=(2, 3))
    defined = ~np.isnan(kappa)
    assert np.array_equal(sums.weighted[name], np.where(defined, kappa * shared, 0.0).sum(axis=0))
    assert np.array_equal(sums.weights[name], (shared * defined).sum(axis=0))


@pytest.mark.parametrize("kind", DISAGREEMENT)
def test_each_annotator_pair_has_the_interval_of_its_resamples(kind: str) -> None:
    _, drawn, sums = _sum()
    expected = [
        interval(row, int(own))
        for row, own in zip(compute_at(drawn, kind), sums.queries_by_pair, strict=True)
    ]
    assert any(expected)
    assert [kappa is None for kappa in sums.kappas[kind]] == [item is None for item in expected]
    for kappa, other in zip(sums.kappas[kind], expected, strict=True):
        assert kappa == pytest.approx(other, abs=1e-12)


def test_leanings_of_each_resample_are_those_of_its_tables() -> None:
    tables, drawn, sums = _sum()
    apart = (drawn * np.subtract.outer(np.arange(4), np.arange(4))).sum(axis=(2, 3))
    for who in range(PEOPLE):
        expected = apart[tables.first == who].sum(axis=0) - apart[tables.second == who].sum(axis=0)
        own = (tables.first == who) | (tables.second == who)
        assert np.array_equal(sums.differences[who], expected)
        assert np.array_equal(sums.comparisons[who], drawn[own].sum(axis=(0, 2, 3)))
        assert (
            sums.queries_by_annotator[who]
            == (tables.counts.toarray().reshape(-1, 16, QUERIES)[own].sum(axis=(0, 1)) > 0).sum()
        )


def test_tables_of_one_query_are_not_summed_over_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """A resample has such a table so and so many times or not at all: its kappa is known."""
    computed = 0

    def count(confusion: Floats, disagreement: Floats) -> Floats:
        nonlocal computed
        computed += confusion[..., 0, 0].size
        return cohen_kappa(confusion, disagreement)

    def count_drawn(cells: Floats) -> Iterator[tuple[str, Floats]]:
        nonlocal computed
        computed += len(NAMES) * cells[:, 0].size
        return compute_all(cells)

    monkeypatch.setattr(coefficients, "cohen_kappa", count)
    monkeypatch.setattr(intervals, "compute_all", count_drawn)
    _, _, sums = _sum()
    single = int((sums.queries_by_pair == 1).sum())
    assert computed <= len(NAMES) * (single + (len(sums.totals) - single) * RESAMPLES)
