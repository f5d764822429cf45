"""What the choice of a grade does to the scores of systems."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from annotator.adjudication.impact import Ranked, count_as, count_flips, score, weigh

NAN = float("nan")


def _ranked(rankings: list[list[int]], grades: Sequence[float]) -> Ranked:
    """`rankings`: of each system, the places of its documents, best first."""
    ranks = np.zeros((len(rankings), len(grades)), dtype=np.int64)
    for system, ranking in enumerate(rankings):
        ranks[system, ranking] = np.arange(len(ranking)) + 1
    return Ranked(ranks, np.array(grades, dtype=np.float64))


def test_the_published_ndcg_with_exponential_gain() -> None:
    ranked = _ranked([[0, 1, 2, 3, 4, 5]], [3, 2, 3, 0, 1, 2, 3, 2])
    assert score(ranked, cutoff=6)[0, 0] == pytest.approx(0.751083, abs=5e-7)


def test_the_published_reciprocal_ranks() -> None:
    firsts = [_ranked([[0, 1, 2]], grades) for grades in ([2, 0, 0], [0, 1, 3], [1, 2, 0])]
    without = _ranked([[0, 1, 2]], [0, 1, 0, 2])
    found = [score(one, relevant=2)[2, 0] for one in (*firsts, without)]
    assert found == pytest.approx([1, 1 / 3, 1 / 2, 0])
    assert np.mean(found) == pytest.approx(0.458, abs=5e-4)


def test_ndcg_is_that_of_scikit_learn() -> None:
    random = np.random.default_rng(5)
    for cutoff in (1, 3, 10):
        grades = random.integers(0, 4, 30)
        grades[0] = 3
        order = random.permutation(30)
        values = np.empty(30)
        values[order] = np.arange(30, 0, -1)
        expected = ndcg_score([2.0**grades - 1], [values], k=cutoff)
        found = score(_ranked([order.tolist()], grades.tolist()), cutoff=cutoff)[0, 0]
        assert found == pytest.approx(expected)


def test_recall_counts_the_relevant_documents_within_the_cut_off() -> None:
    ranked = _ranked([[0, 1, 2], [2, 1, 0], [3]], [2, 1, 3, 2])
    assert score(ranked, cutoff=2, relevant=2)[1].tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3])
    assert score(ranked, cutoff=3, relevant=2)[1].tolist() == pytest.approx([2 / 3, 2 / 3, 1 / 3])


def test_a_document_is_relevant_from_grade_1_on_unless_said_otherwise() -> None:
    ranked = _ranked([[0, 1, 2]], [0, 1, 2])
    assert [score(ranked)[2, 0], score(ranked, relevant=2)[2, 0]] == [1 / 2, pytest.approx(1 / 3)]


def test_a_document_without_a_grade_keeps_its_rank_and_is_no_grade_0_in_the_ideal() -> None:
    ungraded = score(_ranked([[1, 0]], [3, NAN]))
    assert ungraded[0, 0] == pytest.approx(1 / np.log2(3))
    assert ungraded[2, 0] == 1 / 2


def test_without_a_relevant_document_a_score_is_undefined() -> None:
    found = score(_ranked([[0, 1]], [1, NAN]), relevant=2)
    assert found[0, 0] == 1
    assert np.isnan(found[1:, 0]).all()
    assert np.isnan(score(_ranked([[0]], [0]))).all()


def test_each_candidate_is_scored_as_if_it_were_the_grade() -> None:
    random = np.random.default_rng(1)
    rankings = [random.permutation(12).tolist()[:9] for _ in range(4)]
    grades = random.integers(0, 4, 12).astype(float).tolist()
    ranked = _ranked(rankings, grades)
    for place, effect in weigh(ranked, {3: (2, 0, 2), 7: (1, 3)}, cutoff=5):
        for grade, found in zip(effect.candidates, effect.scores, strict=True):
            expected = score(_ranked(rankings, [*grades[:place], grade, *grades[place + 1 :]]), cutoff=5)
            np.testing.assert_array_equal(found, expected)
        assert effect.candidates == {3: (0, 2), 7: (1, 3)}[place]
    assert ranked.grades.tolist() == grades, "nothing is decided by trying"


def test_the_largest_effect_is_that_on_the_system_it_moves_most() -> None:
    ranked = _ranked([[0, 1], [1, 0], [2]], [3, NAN, 0])
    ((_, effect),) = weigh(ranked, {1: (0, 2)})
    assert effect.largest()["mrr"] == 1 / 2, "the second system has the document first"
    assert effect.largest()["recall"] == pytest.approx(0), "all or nothing of what is relevant, either way"
    gain = 7 + 3 / np.log2(3)
    low, high = 1 / np.log2(3), (3 + 7 / np.log2(3)) / gain
    assert effect.largest()["ndcg"] == pytest.approx(high - low)


def test_where_no_grade_but_one_leaves_something_relevant_the_other_counts_as_nothing_found() -> None:
    ((_, effect),) = weigh(_ranked([[0]], [NAN]), {0: (0, 3)})
    assert effect.largest() == {"ndcg": 1, "recall": 1, "mrr": 1}


def test_a_document_that_no_system_returned_moves_only_what_is_measured_against_all() -> None:
    ((_, effect),) = weigh(_ranked([[0]], [2, NAN]), {1: (0, 2)})
    assert effect.largest() == {
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
    ((_, effect),) = weigh(ranked, {1: (0, 3)})
    standing = score(ranked)[0]
    assert count_flips(effect, standing + np.array([0, lead]), standing, 1) == flips


def test_a_tie_is_no_place_to_lose() -> None:
    ranked = _ranked([[0], [1]], [3, NAN])
    ((_, effect),) = weigh(ranked, {1: (0, 3)})
    standing = score(ranked)[0]
    assert count_flips(effect, standing, standing, 1) == 0


@pytest.mark.parametrize(
    ("given", "counts_as"), [((0, 3), 0), ((2, 1), 1), ((3, 0, 1), 1), ((3, 3, 0, 1), 1), ((2,), 2)]
)
def test_until_somebody_decides_a_pair_counts_at_the_lower_median(
    given: tuple[int, ...], counts_as: int
) -> None:
    assert count_as(given) == counts_as


def test_a_query_without_systems_moves_nothing() -> None:
    for systems, documents in product((0,), (1, 3)):
        ranked = Ranked(np.zeros((systems, documents), dtype=np.int64), np.full(documents, 2.0))
        ((_, effect),) = weigh(ranked, {0: (0, 3)})
        assert effect.largest() == {"ndcg": 0, "recall": 0, "mrr": 0}
        assert count_flips(effect, np.zeros(0), np.zeros(0), 1) == 0
