"""Every two judgments of the same pair, and what figures over them rest on."""

import numpy as np
import pytest

from annotator.agreement.comparisons import (
    estimate_kappa,
    estimate_leaning,
    estimate_leanings,
    estimate_mean,
    estimate_table,
    estimate_tables,
    list_comparisons,
)
from annotator.agreement.judgment_table import GradedJudgments, sort_judged
from annotator.agreement.measure import measure
from tests.unit.agreement.simulated import simulate


def _judged(rows: list[tuple[int, int, int, int]]) -> GradedJudgments:
    """From (query, pair, annotator, grade)."""
    return sort_judged(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)


def test_every_two_judgments_of_a_pair_meet_once_and_pairs_of_one_do_not() -> None:
    comparisons = list_comparisons(
        _judged([
            (7, 50, 0, 3), (7, 51, 0, 1), (7, 51, 2, 2), (7, 52, 1, 0), (9, 53, 0, 0), (9, 53, 1, 1), (9, 53, 4, 3),
        ])
    )  # fmt: skip
    rows = zip(
        comparisons.first,
        comparisons.second,
        comparisons.cell,
        comparisons.query,
        comparisons.pair_number,
        strict=True,
    )
    assert sorted(tuple(int(value) for value in row) for row in rows) == [
        (0, 1, 1, 1, 1), (0, 2, 6, 0, 0), (0, 4, 3, 1, 1), (1, 4, 7, 1, 1),
    ]  # fmt: skip
    assert comparisons.queries == 2
    assert sorted(comparisons.apart.tolist()) == [-3.0, -2.0, -1.0, -1.0]


def test_they_point_to_the_rows_they_are_made_of() -> None:
    judged = simulate(0, queries=10, annotators=4, overlap=3).judged
    comparisons = list_comparisons(judged)
    assert len(comparisons.left) == 100 * 3
    assert (judged.pair[comparisons.left] == judged.pair[comparisons.right]).all()
    assert (judged.annotator[comparisons.left] == comparisons.first).all()
    assert (judged.annotator[comparisons.right] == comparisons.second).all()
    assert (comparisons.cell == 4 * judged.grade[comparisons.left] + judged.grade[comparisons.right]).all()


@pytest.mark.parametrize("rows", [[], [(1, 1, 0, 2)], [(1, 1, 0, 2), (1, 2, 0, 2)]])
def test_without_a_shared_pair_there_are_none(rows: list[tuple[int, int, int, int]]) -> None:
    comparisons = list_comparisons(_judged(rows))
    assert len(comparisons.left) == comparisons.queries == 0
    assert np.isnan(estimate_kappa(comparisons, 3).value)
    assert np.isnan([estimate.value for estimate in estimate_leanings(comparisons, 3)]).all()


def test_the_influence_of_a_query_is_what_leaving_some_of_it_out_changes() -> None:
    judged = simulate(0, queries=25, annotators=4, overlap=3).judged
    kappa = estimate_kappa(list_comparisons(judged), 4)
    again = GradedJudgments(
        *(np.concatenate([getattr(judged, name)] * 40) for name in ("query", "pair", "annotator", "grade"))
    )
    again = sort_judged(
        again.query,
        again.pair + 1000 * np.repeat(np.arange(40), len(judged.pair)),
        again.annotator,
        again.grade,
    )
    dropped = again.where((again.query != 3) | (again.pair >= 1000))  # a fortieth of query 3
    changed = estimate_kappa(list_comparisons(dropped), 4).value - kappa.value
    assert changed == pytest.approx(-kappa.influence[3] / 40, rel=0.02)
    assert kappa.influence.sum() == pytest.approx(0.0, abs=1e-12)


def test_an_annotator_pair_without_variation_has_no_influence() -> None:
    rows = [(pair // 4, pair, who, pair % 4) for pair in range(40) for who in (0, 1)]
    rows += [(20 + pair // 4, 100 + pair, who, 2) for pair in range(40) for who in (2, 3)]
    kappa = estimate_kappa(list_comparisons(_judged(rows)), 4)
    assert kappa.value == 1.0
    assert not kappa.influence.any()


def test_two_hundred_annotators_are_no_trouble() -> None:
    judged = simulate(0, queries=100, annotators=200, overlap=2).judged
    names = tuple(f"a{number}" for number in range(200))
    held = measure(judged, names, resamples=0, seed=0).cohen_kappa["unweighted"].value
    assert estimate_kappa(list_comparisons(judged), 200).value == pytest.approx(held)


def test_a_query_weighs_on_a_mean_by_how_far_it_lies_from_it() -> None:
    estimate = estimate_mean(np.array([6.0, 1.0, 0.0]), np.array([3.0, 2.0, 0.0]))
    assert (estimate.value, estimate.comparisons, estimate.seen.tolist()) == (1.4, 5, [True, True, False])
    assert estimate.influence.tolist() == pytest.approx([(6 - 3 * 1.4) / 5, (1 - 2 * 1.4) / 5, 0.0])


def test_one_annotators_leaning_is_the_one_among_all() -> None:
    comparisons = list_comparisons(simulate(0, queries=12, annotators=3, overlap=2).judged)
    for who, expected in enumerate(estimate_leanings(comparisons, 3)):
        estimate = estimate_leaning(comparisons, who)
        assert (estimate.value, estimate.comparisons) == (expected.value, expected.comparisons)
        assert np.array_equal(estimate.influence, expected.influence)
        assert np.array_equal(estimate.seen, expected.seen)


def test_the_tables_of_all_annotators_are_estimated_as_each_by_itself() -> None:
    comparisons = list_comparisons(simulate(0, queries=12, annotators=3, overlap=2).judged)
    estimate = dict(
        estimate_tables(
            comparisons.first, comparisons.cell, comparisons.query, queries=comparisons.queries, tables=4
        )
    )
    assert set(estimate) == set(comparisons.first.tolist())
    for who, item in estimate.items():
        own = comparisons.first == who
        expected = estimate_table(comparisons.cell[own], comparisons.query[own], comparisons.queries)
        assert (item.value, item.comparisons) == (expected.value, expected.comparisons)
        assert np.array_equal(item.influence, expected.influence)
