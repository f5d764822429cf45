"""What the choice of a grade does to the scores of systems."""

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from annotator.adjudication.impact.impact import (
    METRICS,
    NONE,
    Floats,
    GradeEffects,
    RankedQuery,
    score,
    weigh,
    weigh_without_runs,
)


def _ranked(rankings: list[list[int]], grades: Sequence[int]) -> RankedQuery:
    """`rankings`: of each system, the places of its documents, best first."""
    ranks = np.zeros((len(rankings), len(grades)), dtype=np.int64)
    for system, ranking in enumerate(rankings):
        ranks[system, ranking] = np.arange(len(ranking)) + 1
    return RankedQuery(ranks, np.array(grades, dtype=np.int64))


def _largest(ranked: RankedQuery, candidates: Mapping[int, Sequence[int]]) -> dict[str, float]:
    """What the choice of the one document moves."""
    (moved,) = weigh(ranked, candidates)[1].largest()
    return dict(zip(METRICS, moved.tolist(), strict=True))


def _flip(ranked: RankedQuery, candidates: Mapping[int, Sequence[int]], totals: Floats) -> list[int]:
    present, effects = weigh(ranked, candidates)
    return effects.count_flips(totals, present[0], np.arange(len(ranked.ranks)))


def test_the_published_ndcg_with_exponential_gain() -> None:
    ranked = _ranked([[0, 1, 2, 3, 4, 5]], [3, 2, 3, 0, 1, 2, 3, 2])
    assert score(ranked, cutoff=6)[0, 0] == pytest.approx(0.751083, abs=5e-7)


def test_the_published_reciprocal_ranks() -> None:
    firsts = [_ranked([[0, 1, 2]], grades) for grades in ([2, 0, 0], [0, 1, 3], [1, 2, 0])]
    without = _ranked([[0, 1, 2]], [0, 1, 0, 2])
    scores = [score(ranked, relevant=2)[2, 0] for ranked in (*firsts, without)]
    assert scores == pytest.approx([1, 1 / 3, 1 / 2, 0])
    assert np.mean(scores) == pytest.approx(0.458, abs=5e-4)


def test_ndcg_is_that_of_scikit_learn() -> None:
    random = np.random.default_rng(5)
    for cutoff in (1, 3, 10):
        grades = random.integers(0, 4, 30)
        grades[0] = 3
        order = random.permutation(30)
        values = np.empty(30)
        values[order] = np.arange(30, 0, -1)
        expected = ndcg_score([2.0**grades - 1], [values], k=cutoff)
        ndcg = score(_ranked([order.tolist()], grades.tolist()), cutoff=cutoff)[0, 0]
        assert ndcg == pytest.approx(expected)


def test_recall_counts_the_relevant_documents_within_the_cut_off() -> None:
    ranked = _ranked([[0, 1, 2], [2, 1, 0], [3]], [2, 1, 3, 2])
    assert score(ranked, cutoff=2, relevant=2)[1].tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3])
    assert score(ranked, cutoff=3, relevant=2)[1].tolist() == pytest.approx([2 / 3, 2 / 3, 1 / 3])


def test_a_document_is_relevant_from_grade_1_on_unless_said_otherwise() -> None:
    ranked = _ranked([[0, 1, 2]], [0, 1, 2])
    assert [score(ranked)[2, 0], score(ranked, relevant=2)[2, 0]] == [1 / 2, pytest.approx(1 / 3)]


def test_a_document_without_a_grade_keeps_its_rank_and_is_no_grade_0_in_the_ideal() -> None:
    ungraded = score(_ranked([[1, 0]], [3, NONE]))
    assert ungraded[0, 0] == pytest.approx(1 / np.log2(3))
    assert ungraded[2, 0] == 1 / 2


def test_without_a_relevant_document_a_score_is_undefined() -> None:
    scores = score(_ranked([[0, 1]], [1, NONE]), relevant=2)
    assert scores[0, 0] == 1
    assert np.isnan(scores[1:, 0]).all()
    assert np.isnan(score(_ranked([[0]], [0]))).all()


def test_each_candidate_is_scored_as_if_it_were_the_grade() -> None:
    random = np.random.default_rng(1)
    rankings = [random.permutation(12).tolist()[:9] for _ in range(4)]
    grades = random.integers(0, 4, 12).tolist()
    ranked = _ranked(rankings, grades)
    present, effects = weigh(ranked, {3: (2, 0, 2), 7: (1, 3)}, cutoff=5)
    np.testing.assert_array_equal(present, score(ranked, cutoff=5))
    assert effects.starts.tolist() == [0, 2], "a grade given twice is one choice"
    for (document, grade), scores in zip(((3, 0), (3, 2), (7, 1), (7, 3)), effects.scores, strict=True):
        expected = score(_ranked(rankings, [*grades[:document], grade, *grades[document + 1 :]]), cutoff=5)
        np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-12)
    assert ranked.grades.tolist() == grades, "nothing is decided by trying"


def test_the_largest_effect_is_that_on_the_system_it_moves_most() -> None:
    moved = _largest(_ranked([[0, 1], [1, 0], [2]], [3, NONE, 0]), {1: (0, 2)})
    assert moved["mrr"] == 1 / 2, "the second system has the document first"
    assert moved["recall"] == pytest.approx(0), "all or nothing of what is relevant, either way"
    gain = 7 + 3 / np.log2(3)
    low, high = 1 / np.log2(3), (3 + 7 / np.log2(3)) / gain
    assert moved["ndcg"] == pytest.approx(high - low)


def test_where_no_grade_but_one_leaves_something_relevant_the_other_counts_as_nothing_found() -> None:
    assert _largest(_ranked([[0]], [NONE]), {0: (0, 3)}) == {"ndcg": 1, "recall": 1, "mrr": 1}


def test_that_a_pair_cannot_be_rated_is_a_choice_that_adds_nothing() -> None:
    ranked = _ranked([[0, 1]], [3, 2])
    assert _largest(ranked, {0: (NONE, 3)}) == _largest(ranked, {0: (0, 3)})
    assert _largest(ranked, {0: (0, NONE)}) == {"ndcg": 0, "recall": 0, "mrr": 0}


def test_a_document_that_no_system_returned_moves_only_what_is_measured_against_all() -> None:
    assert _largest(_ranked([[0]], [2, NONE]), {1: (0, 2)}) == {
        "ndcg": pytest.approx(1 - 1 / (1 + 1 / np.log2(3))),
        "recall": 1 / 2,
        "mrr": 0,
    }


@pytest.mark.parametrize(("lead", "flips"), [(0.5, 1), (1.5, 0), (-0.1, 0), (0.0, 0), (1.0, 0)])
def test_systems_change_places_where_the_other_queries_set_them_less_far_apart_than_the_effect(
    lead: float, flips: int
) -> None:
    """Here the first is ahead by 1 with the lower grade and by nothing with the higher; elsewhere the second leads."""
    ranked = _ranked([[0], [1]], [3, 0])
    assert _flip(ranked, {1: (0, 3)}, score(ranked)[0] + np.array([0, lead])) == [flips]


def test_a_tie_is_no_place_to_lose() -> None:
    ranked = _ranked([[0], [1]], [3, NONE])
    assert _flip(ranked, {1: (0, 3)}, score(ranked)[0]) == [0]


def test_a_system_changes_places_with_one_that_has_nothing_for_the_query() -> None:
    ranked = _ranked([[0]], [0])
    present, effects = weigh(ranked, {0: (0, 3)})
    assert effects.count_flips(np.array([0.25, 5.0, 1.0]), present[0], np.array([2])) == [0]
    assert effects.count_flips(np.array([1.5, 5.0, 1.0]), present[0], np.array([2])) == [1]


def test_a_query_without_systems_moves_nothing() -> None:
    for systems, documents in product((0,), (1, 3)):
        ranked = RankedQuery(np.zeros((systems, documents), dtype=np.int64), np.full(documents, 2))
        assert _largest(ranked, {0: (0, 3)}) == {"ndcg": 0, "recall": 0, "mrr": 0}
        assert _flip(ranked, {0: (0, 3)}, np.zeros(0)) == [0]


def test_without_runs_a_choice_weighs_what_it_would_move_if_a_system_ranked_it_first() -> None:
    alone = weigh_without_runs(np.array([0]), {0: (0, 3)})
    beside = weigh_without_runs(np.array([0, 3, 3]), {0: (0, 3)})
    assert alone.tolist() == [1.0]
    assert beside.tolist() == pytest.approx([7 / (7 + 7 / np.log2(3) + 7 / 2)])
    assert weigh_without_runs(np.array([1, 2]), {0: (1, 2), 1: (2, NONE)}).tolist() == pytest.approx(
        [2 / (3 + 3 / np.log2(3)), 3 / (3 + 1 / np.log2(3))]
    )


def test_without_runs_a_choice_between_nothing_and_nothing_weighs_nothing() -> None:
    assert weigh_without_runs(np.array([NONE, 2]), {0: (0, NONE), 1: (2,)}).tolist() == [0, 0]
    assert weigh_without_runs(np.zeros(0, dtype=np.int64), {}).tolist() == []


def test_the_ideal_holds_as_many_documents_as_the_cut_off_lets_through() -> None:
    many = weigh_without_runs(np.array([0, *[3] * 30]), {0: (0, 3)})
    assert many.tolist() == pytest.approx([1 / sum(1 / np.log2(rank + 1) for rank in range(1, 11))])


def test_each_pair_has_its_own_options() -> None:
    effects = GradeEffects(np.array([0, 2]), np.array([[[0.1]] * 3, [[0.4]] * 3, [[0.9]] * 3]))
    assert effects.largest().tolist() == [pytest.approx([0.3] * 3), [0, 0, 0]]
