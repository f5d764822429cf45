"""What a choice moves, computed by what it alone adds, equals the difference of two whole computations by the formulas."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from annotator.adjudication.impact.impact import NONE, RankedQuery, score, weigh, weigh_without_runs
from tests.short_run import draw_few
from tests.unit.adjudication.plain_formula import CUTOFF, compute_dcg, count_flips, find_gain, score_all

GRADE = st.sampled_from((NONE, 0, 1, 2, 3))


@st.composite
def queries(draw: st.DrawFn) -> tuple[list[list[int]], list[int], dict[int, tuple[int, ...]]]:
    """The ranks of some systems, the documents' grades, and the grades that some of them may get."""
    documents = draw(st.integers(1, 14))
    positions = list(range(1, documents + draw(st.integers(0, 4)) + 1))
    ranking = st.permutations(positions).map(lambda ranks: ranks[:documents])
    ranks = [
        [
            rank if returned else 0
            for rank, returned in zip(draw(ranking), draw(_flags(documents)), strict=True)
        ]
        for _ in range(draw(st.integers(0, 5)))
    ]
    grades = draw(st.lists(GRADE, min_size=documents, max_size=documents))
    choice = st.lists(GRADE, min_size=1, max_size=5).map(tuple)
    candidates = st.dictionaries(st.integers(0, documents - 1), choice, min_size=1, max_size=4)
    return ranks, grades, draw(candidates)


def _flags(number: int) -> st.SearchStrategy[list[bool]]:
    return st.lists(st.booleans(), min_size=number, max_size=number)


def _ranked(ranks: list[list[int]], grades: list[int]) -> RankedQuery:
    return RankedQuery(np.array(ranks, dtype=np.int64).reshape(len(ranks), len(grades)), np.array(grades))


def _known(scores: Any) -> Any:
    """The scores as floats, NaN where there is none."""
    return np.array(scores, dtype=np.float64).reshape(3, -1)


@draw_few()
@given(queries(), st.integers(1, 12), st.integers(1, 2))
def test_every_score_is_that_of_the_formulas(
    query: tuple[list[list[int]], list[int], dict[int, tuple[int, ...]]], cutoff: int, relevant: int
) -> None:
    ranks, grades, candidates = query
    provisional, effects = weigh(_ranked(ranks, grades), candidates, cutoff=cutoff, relevant=relevant)
    np.testing.assert_allclose(
        provisional, _known(score_all(ranks, grades, cutoff=cutoff, relevant=relevant)), rtol=0, atol=1e-12
    )
    np.testing.assert_array_equal(
        provisional, score(_ranked(ranks, grades), cutoff=cutoff, relevant=relevant)
    )
    options = [(rank, grade) for rank, given in candidates.items() for grade in sorted(set(given))]
    for (rank, grade), scores in zip(options, effects.scores, strict=True):
        tried = [*grades[:rank], grade, *grades[rank + 1 :]]
        expected = _known(score_all(ranks, tried, cutoff=cutoff, relevant=relevant))
        np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-12)


@draw_few()
@given(queries(), st.data())
def test_what_a_choice_moves_and_which_systems_it_turns_round_is_what_two_computations_say(
    query: tuple[list[list[int]], list[int], dict[int, tuple[int, ...]]], data: st.DataObject
) -> None:
    ranks, grades, candidates = query
    provisional, effects = weigh(_ranked(ranks, grades), candidates)
    others = data.draw(
        st.lists(st.integers(0, 8).map(lambda sum: sum / 8), min_size=len(ranks), max_size=len(ranks))
    )
    totals = np.array(others) + np.nan_to_num(provisional[0])
    flips = effects.count_flips(totals, provisional[0], np.arange(len(ranks)))
    for (rank, choice), moved, flipped in zip(candidates.items(), effects.largest(), flips, strict=True):
        tried = [
            np.nan_to_num(_known(score_all(ranks, [*grades[:rank], grade, *grades[rank + 1 :]])))
            for grade in set(choice)
        ]
        apart = np.max(tried, axis=0) - np.min(tried, axis=0)
        np.testing.assert_allclose(moved, apart.max(axis=1, initial=0), rtol=0, atol=1e-12)
        assert flipped == count_flips(
            [(np.array(others) + moved_scores[0]).tolist() for moved_scores in tried]
        )


@draw_few()
@given(queries())
def test_without_runs_a_choice_weighs_its_gain_by_the_ideal_that_it_makes(
    query: tuple[list[list[int]], list[int], dict[int, tuple[int, ...]]],
) -> None:
    _, grades, candidates = query
    for (rank, choice), scores in zip(
        candidates.items(), weigh_without_runs(np.array(grades), candidates), strict=True
    ):
        tried = sorted([*grades[:rank], max(choice), *grades[rank + 1 :]], reverse=True)
        ideal = compute_dcg(tried, CUTOFF)
        expected = (find_gain(max(choice)) - find_gain(min(choice))) / ideal if ideal else 0
        np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-12)
        assert 0 <= scores <= 1 + 1e-12
