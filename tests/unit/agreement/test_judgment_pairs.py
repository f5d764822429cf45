"""Every two judgments of the same pair, and what figures over them rest on."""

import numpy as np
import pytest

from annotator.agreement.judgment_pairs import (
    estimate_kappa,
    estimate_leaning,
    estimate_leanings,
    estimate_mean,
    estimate_table,
    estimate_tables,
    list_couples,
)
from annotator.agreement.judgment_table import GradedJudgments, sort_judged
from annotator.agreement.measure import measure
from tests.unit.agreement.simulated import simulate


def _judged(rows: list[tuple[int, int, int, int]]) -> GradedJudgments:
    """From (query, pair, annotator, grade)."""
    return sort_judged(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)


def test_every_two_judgments_of_a_pair_meet_once_and_pairs_of_one_do_not() -> None:
    couples = list_couples(
        _judged([
            (7, 50, 0, 3), (7, 51, 0, 1), (7, 51, 2, 2), (7, 52, 1, 0), (9, 53, 0, 0), (9, 53, 1, 1), (9, 53, 4, 3),
        ])
    )  # fmt: skip
    rows = zip(couples.first, couples.second, couples.cell, couples.query, couples.place, strict=True)
    assert sorted(tuple(int(value) for value in row) for row in rows) == [
        (0, 1, 1, 1, 1), (0, 2, 6, 0, 0), (0, 4, 3, 1, 1), (1, 4, 7, 1, 1),
    ]  # fmt: skip
    assert couples.queries == 2
    assert sorted(couples.apart.tolist()) == [-3.0, -2.0, -1.0, -1.0]


def test_they_point_to_the_rows_they_are_made_of() -> None:
    judged = simulate(0, queries=10, annotators=4, overlap=3).judged
    couples = list_couples(judged)
    assert len(couples.left) == 100 * 3
    assert (judged.pair[couples.left] == judged.pair[couples.right]).all()
    assert (judged.annotator[couples.left] == couples.first).all()
    assert (judged.annotator[couples.right] == couples.second).all()
    assert (couples.cell == 4 * judged.grade[couples.left] + judged.grade[couples.right]).all()


@pytest.mark.parametrize("rows", [[], [(1, 1, 0, 2)], [(1, 1, 0, 2), (1, 2, 0, 2)]])
def test_without_a_shared_pair_there_are_none(rows: list[tuple[int, int, int, int]]) -> None:
    couples = list_couples(_judged(rows))
    assert len(couples.left) == couples.queries == 0
    assert np.isnan(estimate_kappa(couples, 3).value)
    assert np.isnan([one.value for one in estimate_leanings(couples, 3)]).all()


def test_the_influence_of_a_query_is_what_leaving_some_of_it_out_changes() -> None:
    judged = simulate(0, queries=25, annotators=4, overlap=3).judged
    kappa = estimate_kappa(list_couples(judged), 4)
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
    changed = estimate_kappa(list_couples(dropped), 4).value - kappa.value
    assert changed == pytest.approx(-kappa.influence[3] / 40, rel=0.02)
    assert kappa.influence.sum() == pytest.approx(0.0, abs=1e-12)


def test_an_annotator_pair_without_variation_has_no_influence() -> None:
    rows = [(pair // 4, pair, who, pair % 4) for pair in range(40) for who in (0, 1)]
    rows += [(20 + pair // 4, 100 + pair, who, 2) for pair in range(40) for who in (2, 3)]
    kappa = estimate_kappa(list_couples(_judged(rows)), 4)
    assert kappa.value == 1.0
    assert not kappa.influence.any()


def test_two_hundred_annotators_are_no_trouble() -> None:
    judged = simulate(0, queries=100, annotators=200, overlap=2).judged
    names = tuple(f"a{number}" for number in range(200))
    held = measure(judged, names, resamples=0, seed=0).cohen_kappa["unweighted"].value
    assert estimate_kappa(list_couples(judged), 200).value == pytest.approx(held)


def test_a_query_weighs_on_a_mean_by_how_far_it_lies_from_it() -> None:
    found = estimate_mean(np.array([6.0, 1.0, 0.0]), np.array([3.0, 2.0, 0.0]))
    assert (found.value, found.couples, found.seen.tolist()) == (1.4, 5, [True, True, False])
    assert found.influence.tolist() == pytest.approx([(6 - 3 * 1.4) / 5, (1 - 2 * 1.4) / 5, 0.0])


def test_one_annotators_leaning_is_the_one_among_all() -> None:
    couples = list_couples(simulate(0, queries=12, annotators=3, overlap=2).judged)
    for who, expected in enumerate(estimate_leanings(couples, 3)):
        found = estimate_leaning(couples, who)
        assert (found.value, found.couples) == (expected.value, expected.couples)
        assert np.array_equal(found.influence, expected.influence)
        assert np.array_equal(found.seen, expected.seen)


def test_the_tables_of_all_annotators_are_estimated_as_each_by_itself() -> None:
    couples = list_couples(simulate(0, queries=12, annotators=3, overlap=2).judged)
    found = dict(
        estimate_tables(couples.first, couples.cell, couples.query, queries=couples.queries, tables=4)
    )
    assert set(found) == set(couples.first.tolist())
    for who, one in found.items():
        own = couples.first == who
        expected = estimate_table(couples.cell[own], couples.query[own], couples.queries)
        assert (one.value, one.couples) == (expected.value, expected.couples)
        assert np.array_equal(one.influence, expected.influence)
