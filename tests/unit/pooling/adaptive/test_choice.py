"""The choice of the next pairs: what it may never do, and what it is for."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.domain.errors import ValidationError
from annotator.pooling.adaptive.choice import choose_pairs, estimate_order
from annotator.pooling.adaptive.records import (
    UNJUDGED,
    AdaptiveMethod,
    AdaptiveSettings,
    CandidateTable,
    build_candidates,
)

METHODS = get_args(AdaptiveMethod)


def make_table(seed: int, *, systems: int = 5, queries: int = 6, judged: float = 0.2) -> CandidateTable:
    """Systems of different quality, some pairs judged and some waiting in the pool."""
    random = np.random.default_rng(seed)
    relevant = random.random((queries, 40)) < 0.15
    lists = [
        (system, query, document, rank)
        for system in range(systems)
        for query in range(queries)
        for rank, document in enumerate(
            np.argsort(-(relevant[query] * (1 + system) + random.normal(size=40)))[:12].tolist(), 1
        )
    ]
    columns = np.array(lists).T
    table = build_candidates(*columns, system_count=systems, query_count=queries)
    truth = relevant[table.queries, table.documents] * random.integers(1, 4, len(table.queries))
    is_judged = random.random(len(table.queries)) < judged
    return replace(
        table,
        grades=np.where(is_judged, truth, UNJUDGED).astype(np.int8),
        in_pool=is_judged | (random.random(len(table.queries)) < 0.1),
    )


@given(
    seed=st.integers(0, 50),
    budget=st.integers(0, 400),
    method=st.sampled_from(METHODS),
    measure=st.sampled_from(["nDCG@10", "nDCG@3", "P@5", "AP"]),
)
def test_pairs_are_new_and_different_and_as_many_as_the_budget_allows(
    seed: int, budget: int, method: AdaptiveMethod, measure: str
) -> None:
    table = make_table(seed)
    rows = choose_pairs(table, AdaptiveSettings(budget, measure, method=method, seed=seed)).tolist()
    assert len(rows) == min(budget, len(table.list_choosable()))
    assert len(set(rows)) == len(rows)
    assert set(rows) <= set(table.list_choosable().tolist())


@given(seed=st.integers(0, 30), method=st.sampled_from(METHODS))
def test_the_order_of_the_systems_does_not_matter(seed: int, method: AdaptiveMethod) -> None:
    table = make_table(seed)
    shuffled = np.random.default_rng(seed).permutation(table.system_count)
    settings = AdaptiveSettings(30, method=method, seed=seed)
    other = replace(table, ranks=table.ranks[:, shuffled])
    assert choose_pairs(table, settings).tolist() == choose_pairs(other, settings).tolist()
    first, second = estimate_order(table, settings), estimate_order(other, settings)
    assert first.scores[shuffled].tolist() == second.scores.tolist()
    named = [
        (shuffled[order.higher], shuffled[order.lower], order.swap_probability)
        for order in second.open_orders
    ]
    assert sorted(named) == sorted(
        (order.higher, order.lower, order.swap_probability) for order in first.open_orders
    )


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_chooses_the_same_pairs_and_another_one_may_not(method: AdaptiveMethod) -> None:
    table = make_table(3, judged=0.0)
    choices = [
        choose_pairs(table, AdaptiveSettings(20, method=method, seed=seed)).tolist() for seed in (1, 1, 2)
    ]
    assert choices[0] == choices[1]
    if method != "swaps":  # it rarely sees two equal candidates
        assert choices[0] != choices[2]


@pytest.mark.parametrize("method", METHODS)
def test_without_candidates_nothing_is_chosen(method: AdaptiveMethod) -> None:
    nothing = np.zeros(0, dtype=np.int64)
    empty = build_candidates(nothing, nothing, nothing, nothing, system_count=0, query_count=0)
    assert len(choose_pairs(empty, AdaptiveSettings(10, method=method))) == 0
    table = make_table(1)
    complete = replace(table, in_pool=np.ones(len(table.grades), dtype=np.bool_))
    assert len(choose_pairs(complete, AdaptiveSettings(10, method=method))) == 0


def test_an_unknown_measure_is_refused() -> None:
    table = make_table(1)
    for settings in (AdaptiveSettings(10, "MRR"), AdaptiveSettings(10, "nDCG@0")):
        with pytest.raises(ValidationError, match="expected"):
            choose_pairs(table, settings)


def test_a_document_with_equal_ranks_is_never_worth_more_than_one_that_distinguishes_systems() -> None:
    """Query 0 has the same list from both systems; in query 1 they differ on rank 1."""
    entries = [(system, 0, document, document) for system in (0, 1) for document in (1, 2, 3)]
    entries += [(0, 1, 1, 1), (0, 1, 2, 2), (1, 1, 3, 1), (1, 1, 2, 2)]
    table = build_candidates(*np.array(entries).T, system_count=2, query_count=2)
    choice = choose_pairs(table, AdaptiveSettings(2))
    chosen = {(int(table.queries[row]), int(table.documents[row])) for row in choice}
    assert chosen == {(1, 1), (1, 3)}


def test_nothing_is_spent_on_two_systems_whose_order_is_decided() -> None:
    """Of systems 0 and 1 an unjudged document on rank 1 is left; of 2 and 3 only rank 3 is, but nothing else tells them apart."""
    entries = [(system, query, 10 + system, 1) for query in range(5) for system in (0, 1)]
    for query in range(5, 20):
        entries += [(system, query, rank, rank) for system in (2, 3) for rank in (1, 2)]
        entries += [(system, query, 10 + system, 3) for system in (2, 3)]
    table = build_candidates(*np.array(entries).T, system_count=4, query_count=20)
    grades = np.where(table.documents == 10, 0, 3).astype(np.int8)
    grades[(table.documents >= 12) | (table.queries == 4)] = UNJUDGED
    rows = choose_pairs(replace(table, grades=grades), AdaptiveSettings(4))
    assert (table.documents[rows] >= 12).all()


def make_equal_queries() -> CandidateTable:
    """Twenty queries alike: two systems, each with a document of its own on rank 1 and a shared one on rank 2."""
    entries = [(system, query, system, 1) for query in range(20) for system in (0, 1)]
    entries += [(system, query, 2, 2) for query in range(20) for system in (0, 1)]
    return build_candidates(*np.array(entries).T, system_count=2, query_count=20)


def test_a_round_completes_a_query_because_only_both_documents_distinguish_the_systems() -> None:
    """A query with a relevant document on one rank 1 has a relevant one on the other too, likely: one alone tells little."""
    table = make_equal_queries()
    rows = choose_pairs(table, AdaptiveSettings(20))
    assert table.queries[rows[::2]].tolist() == table.queries[rows[1::2]].tolist()


def test_a_pair_that_waits_for_its_judgment_counts_as_judged() -> None:
    table = make_equal_queries()
    waiting = (table.queries < 10) & (table.documents == 0)
    rows = choose_pairs(replace(table, in_pool=waiting), AdaptiveSettings(10))
    assert sorted(table.queries[rows].tolist()) == list(range(10))


@pytest.mark.parametrize(
    ("grades", "expected"),
    [
        ({1: 0}, 11),  # list 0 disappointed, so list 1 is next
        ({1: 2}, 2),
    ],
)
def test_move_to_front_learns_from_the_grades_of_the_query(grades: dict[int, int], expected: int) -> None:
    entries = [(system, 0, 10 * system + rank, rank) for system in (0, 1) for rank in (1, 2, 3)]
    table = build_candidates(*np.array(entries).T, system_count=2, query_count=1)
    judged = np.array(
        [grades.get(document, UNJUDGED) for document in table.documents.tolist()], dtype=np.int8
    )
    settings = AdaptiveSettings(1, method="move-to-front")
    rows = choose_pairs(replace(table, grades=judged), settings)
    assert table.documents[rows].tolist() == [expected]


def test_move_to_front_fills_the_queries_evenly() -> None:
    table = make_table(5, judged=0.0)
    table = replace(table, in_pool=np.zeros(len(table.grades), dtype=np.bool_))
    rows = choose_pairs(table, AdaptiveSettings(20, method="move-to-front"))
    assert sorted(np.bincount(table.queries[rows], minlength=6).tolist()) == [3, 3, 3, 3, 4, 4]


def test_a_document_twice_in_a_list_counts_with_its_best_rank() -> None:
    table = build_candidates(
        *np.array([(0, 0, 7, 4), (0, 0, 7, 2), (1, 0, 7, 3)]).T, system_count=2, query_count=1
    )
    assert table.ranks.tolist() == [[2, 3]]


@pytest.mark.parametrize("measure", ["nDCG@10", "AP"])
def test_after_each_step_what_was_chosen_counts_as_judged(measure: str) -> None:
    """So a round of several steps is the same as several rounds of one pair, whose pairs wait in the pool meanwhile."""
    table = make_table(3)
    together = choose_pairs(table, AdaptiveSettings(6, measure))
    chosen: list[int] = []
    for _ in range(6):
        waiting = table.in_pool.copy()
        waiting[chosen] = True
        one = choose_pairs(replace(table, in_pool=waiting), AdaptiveSettings(1, measure))
        chosen += one.tolist()
    assert together.tolist() == chosen
