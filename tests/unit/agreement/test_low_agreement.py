"""Kappa with all the others together, the order within queries, and the indices of many tables: each held to another way of
computing it."""

import numpy as np
import pytest
from scipy.stats import kendalltau
from sklearn.metrics import cohen_kappa_score

from annotator.agreement.coefficients import compute_paradox, compute_paradoxes
from annotator.agreement.comparisons import list_comparisons, measure_order
from annotator.agreement.diagnosis.against_others import (
    estimate_against_others,
    find_less,
    measure_against_others,
)
from annotator.agreement.diagnosis.careless_work import find_constants
from annotator.agreement.judgment_table import GradedJudgments, sort_judged
from tests.unit.agreement.simulated import simulate


@pytest.mark.parametrize("seed", range(3))
def test_kappa_with_the_others_is_that_of_all_comparisons_in_one_table(seed: int) -> None:
    work = simulate(seed, annotators=4, overlap=3, right=0.6)
    kappas = measure_against_others(estimate_against_others(list_comparisons(work.judged), 4), "abcd")
    by_pair: dict[int, list[tuple[int, int]]] = {}
    for pair, who, grade in zip(work.judged.pair, work.judged.annotator, work.judged.grade, strict=True):
        by_pair.setdefault(int(pair), []).append((int(who), int(grade)))
    for person, name in enumerate("abcd"):
        own = [
            (grade, other_grade)
            for given in by_pair.values()
            for who, grade in given
            if who == person
            for other, other_grade in given
            if other != person
        ]
        held = cohen_kappa_score(*zip(*own, strict=True), labels=[0, 1, 2, 3])
        assert kappas[name].value == pytest.approx(held)
        low, high = kappas[name].ci95 or (1, 0)
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
    assert measure_order(list_comparisons(judged), 2) == pytest.approx(kendalltau(first, second).statistic)


def test_documents_of_different_queries_are_in_no_order() -> None:
    pair = np.tile(np.arange(60), 2)
    judged = sort_judged(pair, pair, np.repeat([0, 1], 60), pair % 4)
    assert measure_order(list_comparisons(judged), 2) is None


def test_the_indices_of_many_tables_are_those_of_each() -> None:
    tables = np.random.default_rng(0).integers(0, 9, (20, 4, 4)).astype(np.float64)
    tables[3] = 0
    computed, held = compute_paradoxes(tables), [compute_paradox(table) for table in tables]
    assert computed[3] is None and held[3] is None
    for item, other in zip(computed, held, strict=True):
        if item is not None and other is not None:
            assert (item.prevalence, item.bias) == pytest.approx((other.prevalence, other.bias))


def _judge_all(wrong: dict[int, int], queries: int = 400, few: int = 5) -> GradedJudgments:
    """A pair of each query, truly 0 or 1 by turns, judged by annotators 0 to 5, and by 6 for the first `few`. `wrong`: in how
    many of twenty pairs an annotator gives the other grade."""
    rows = [
        (pair_number, who, (pair_number % 2) ^ ((pair_number // 2 + 7 * who) % 20 < wrong.get(who, 0)))
        for pair_number in range(queries)
        for who in range(7 if pair_number < few else 6)
    ]
    pair, who, grade = (np.array(column) for column in zip(*rows, strict=True))
    return sort_judged(pair, pair, who, grade)


def _find(wrong: dict[int, int]) -> list[str]:
    comparisons = list_comparisons(_judge_all(wrong))
    return [
        annotator_found.annotator
        for annotator_found in find_less(comparisons, estimate_against_others(comparisons, len(NAMES)), NAMES)
    ]


NAMES = ("a", "b", "c", "d", "e", "f", "few")


def test_who_agrees_less_by_a_little_or_on_few_pairs_is_not_named() -> None:
    assert _find({5: 3}) == ["f"], "less by 0.2"
    assert _find({5: 1}) == [], "surely less, but by 0.07"
    assert _find({6: 20}) == [], "wrong throughout, in 5 pairs"


def test_of_two_who_agree_less_the_one_who_weighs_more_is_named_first() -> None:
    assert _find({4: 5, 5: 9}) == ["f", "e"]


@pytest.mark.parametrize(("documents", "tau"), [(8, None), (9, 1.0)])
def test_the_order_of_few_documents_says_nothing(documents: int, tau: float | None) -> None:
    """Of 8 documents of four grades 24 comparisons are untied, of 9 there are 30."""
    pair = np.tile(np.arange(documents), 2)
    judged = sort_judged(np.zeros(len(pair), dtype=np.int64), pair, np.repeat([0, 1], documents), pair % 4)
    assert measure_order(list_comparisons(judged), 2) == tau


def _find_constant(grades: list[list[int | None]], queries: int = 100) -> list[str]:
    """`grades`: of each annotator, one for every pair."""
    rows = [
        (pair_number % queries, pair_number, who, grade)
        for who, own in enumerate(grades)
        for pair_number, grade in enumerate(own)
        if grade is not None
    ]
    query, pair, who, grade = (np.array(column) for column in zip(*rows, strict=True))
    judged = sort_judged(query, pair, who, grade)
    return [person.annotator for person in find_constants(judged, list_comparisons(judged), NAMES).people]


def test_nearly_always_one_grade_is_95_in_100_and_surely_more_often_than_the_others() -> None:
    others: list[int | None] = [1, 2] * 50
    assert _find_constant([[0] * 95 + [1] * 5, others, others]) == ["a"]
    assert _find_constant([[0] * 94 + [1] * 6, others, others]) == []
    by_chance: list[int | None] = [0] * 50 + [1] * 50
    halves: list[int | None] = [*[0, 1] * 50]
    assert _find_constant([[0] * 100, by_chance, by_chance]) == ["a"]
    assert _find_constant([[0] * 100, halves, halves], queries=2) == [], "of two queries nothing is sure"


def test_of_two_who_give_one_grade_the_one_with_more_judgments_is_named_first() -> None:
    few: list[int | None] = [0] * 40 + [None] * 60
    assert _find_constant([few, [0] * 100, [1, 2] * 50, [1, 2] * 50]) == ["b", "a"]
