"""Kappa with all the others together, the order within queries, and the indices of many tables: each held to another way of
computing it."""

import numpy as np
import pytest
from scipy.stats import kendalltau
from sklearn.metrics import cohen_kappa_score

from annotator.agreement.against_others import measure_against_others
from annotator.agreement.couples import list_couples
from annotator.agreement.judged import sort_judged
from annotator.agreement.ordering import measure_order
from annotator.agreement.paradox import compute_paradox, compute_paradoxes
from tests.unit.agreement.simulated import simulate


@pytest.mark.parametrize("seed", range(3))
def test_kappa_with_the_others_is_that_of_all_comparisons_in_one_table(seed: int) -> None:
    work = simulate(seed, annotators=4, overlap=3, right=0.6)
    found = measure_against_others(list_couples(work.judged), "abcd")
    by_pair: dict[int, list[tuple[int, int]]] = {}
    for pair, who, grade in zip(work.judged.pair, work.judged.annotator, work.judged.grade, strict=True):
        by_pair.setdefault(int(pair), []).append((int(who), int(grade)))
    for person, name in enumerate("abcd"):
        own = [
            (grade, theirs)
            for given in by_pair.values()
            for who, grade in given
            if who == person
            for other, theirs in given
            if other != person
        ]
        held = cohen_kappa_score(*zip(*own, strict=True), labels=[0, 1, 2, 3])
        assert found[name].value == pytest.approx(held)
        low, high = found[name].ci95 or (1, 0)
        assert low < held < high


@pytest.mark.parametrize("seed", range(3))
def test_the_order_within_one_query_is_kendalls_tau_b(seed: int) -> None:
    random = np.random.default_rng(seed)
    first = random.integers(0, 4, 60)
    second = np.clip(first + random.integers(-1, 2, 60), 0, 3)
    pair = np.tile(np.arange(60), 2)
    judged = sort_judged(
        np.zeros(120, dtype=np.int64), pair, np.repeat([0, 1], 60), np.concatenate([first, second])
    )
    assert measure_order(list_couples(judged), 2) == pytest.approx(kendalltau(first, second).statistic)


def test_documents_of_different_queries_are_in_no_order() -> None:
    pair = np.tile(np.arange(60), 2)
    judged = sort_judged(pair, pair, np.repeat([0, 1], 60), pair % 4)
    assert measure_order(list_couples(judged), 2) is None


def test_the_indices_of_many_tables_are_those_of_each() -> None:
    tables = np.random.default_rng(0).integers(0, 9, (20, 4, 4)).astype(np.float64)
    tables[3] = 0
    found, held = compute_paradoxes(tables), [compute_paradox(table) for table in tables]
    assert found[3] is None and held[3] is None
    for one, other in zip(found, held, strict=True):
        if one is not None and other is not None:
            assert (one.prevalence, one.bias) == pytest.approx((other.prevalence, other.bias))
