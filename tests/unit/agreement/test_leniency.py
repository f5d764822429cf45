"""Who leans, and alpha without each annotator in turn."""

import krippendorff
import numpy as np
import pytest

from annotator.agreement.comparisons import list_comparisons
from annotator.agreement.diagnosis.against_others import ClaimedLeaning, find_leaning, leave_one_out
from annotator.agreement.judgment_table import GradedJudgments, sort_judged
from annotator.agreement.measure import measure
from annotator.agreement.records import Leaning
from tests.unit.agreement.simulated import Faults, simulate


def _judged(rows: list[tuple[int, int, int]]) -> GradedJudgments:
    """From (pair, annotator, grade)."""
    pair, annotator, grade = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return sort_judged(pair // 3, pair, annotator, grade)


@pytest.mark.parametrize("seed", range(5))
def test_it_is_alpha_over_the_judgments_of_the_others(seed: int) -> None:
    random = np.random.default_rng(seed)
    grades = random.integers(0, 4, (80, 6)).astype(float)
    grades[:, 1:] = np.where(random.random((80, 5)) < 0.5, grades[:, :1], grades[:, 1:])
    grades[random.random(grades.shape) < 0.4] = np.nan
    pair, annotator = np.nonzero(~np.isnan(grades))
    alphas = leave_one_out(
        sort_judged(pair // 4, pair, annotator, grades[pair, annotator].astype(np.int64)), annotators=6
    )
    for out, (alpha, pairs) in enumerate(alphas):
        others = np.delete(grades, out, axis=1).T
        held = krippendorff.alpha(others, value_domain=[0, 1, 2, 3], level_of_measurement="ordinal")
        assert alpha == pytest.approx(held)
        assert pairs == ((~np.isnan(others)).sum(axis=0) >= 2).sum()


def test_who_disagrees_with_all_others_leaves_them_in_better_agreement() -> None:
    rows = [(pair, who, (pair + (who == 2)) % 4) for pair in range(40) for who in range(4)]
    alphas = [alpha for alpha, _pairs in leave_one_out(_judged(rows), annotators=4)]
    assert alphas[2] == pytest.approx(1.0)
    assert max(alphas[:2]) < 0.9


def test_it_is_undefined_where_the_others_share_no_pair_or_do_not_vary() -> None:
    assert np.isnan(
        [alpha for alpha, _ in leave_one_out(_judged([(0, 0, 1), (0, 1, 2)]), annotators=2)]
    ).all()
    assert np.isnan([alpha for alpha, _ in leave_one_out(_judged([]), annotators=3)]).all()
    only_one_varies = [(pair, who, pair % 4 if who == 0 else 2) for pair in range(7) for who in range(3)]
    alphas = [alpha for alpha, _pairs in leave_one_out(_judged(only_one_varies), annotators=3)]
    assert np.isnan(alphas[0]) and not np.isnan(alphas[1])


def test_who_judged_nothing_changes_nothing() -> None:
    rows = [(pair, who, (pair * who) % 4) for pair in range(12) for who in range(3)]
    alphas = leave_one_out(_judged(rows), annotators=5)
    assert alphas[3] == alphas[4] and not np.isnan(alphas[3][0])


def _find(faults: Faults, *, annotators: int = 5, overlap: int = 3, seed: int = 0) -> list[str]:
    judged = simulate(seed, queries=60, annotators=annotators, overlap=overlap, faults=faults).judged
    names = tuple("abcdefghijklmnopqrstuvwxyz"[:annotators])
    measured = measure(judged, names, resamples=300, seed=0).leanings
    return [claim.leaning.annotator for claim in find_leaning(measured, list_comparisons(judged), names)]


@pytest.mark.parametrize("seed", range(3))
def test_beside_one_who_leans_far_the_others_only_look_as_if_they_leaned(seed: int) -> None:
    assert _find(Faults(leans={1: 1.0}), annotators=3, seed=seed) == ["b"]


@pytest.mark.parametrize("seed", range(3))
def test_who_leans_beside_the_rest_too_is_named_next(seed: int) -> None:
    assert _find(Faults(leans={1: 1.0, 3: 0.6}), annotators=6, seed=seed) == ["b", "d"]


def test_of_two_the_one_who_grades_higher_is_named() -> None:
    assert _find(Faults(leans={0: 0.7}), annotators=2, overlap=2) == ["a"]
    assert _find(Faults(leans={1: 0.7}), annotators=2, overlap=2) == ["b"]
    assert _find(Faults(), annotators=2, overlap=2) == []


def test_beside_the_one_other_who_is_left_the_figure_is_of_these_two_alone() -> None:
    """Once the first of three is named, the second is compared with the third: not with the mean over both."""
    rows = []
    for pair in range(240):
        truth = pair % 3
        rows += [(pair, 0, truth + 1), (pair, 1, truth), (pair, 2, truth + (pair % 10 < 3))]
    judged, names = _judged(rows), ("a", "b", "c")
    measured = measure(judged, names, resamples=300, seed=0).leanings
    first, second = find_leaning(measured, list_comparisons(judged), names)
    assert (first.leaning.annotator, first.than) == ("a", None)
    assert (second.leaning.annotator, second.than, second.leaning.comparisons) == ("b", "c", 240)
    assert second.leaning.mean == pytest.approx(-0.3)
    low, high = second.leaning.ci95 or (0, 0)
    assert low < -0.3 < high < -0.2


@pytest.mark.parametrize(
    "leaning",
    [
        Leaning("a", 29, 0.9, (0.8, 1.0)),  # few comparisons
        Leaning("a", 99, 0.19, (0.18, 0.2)),  # a small lean
        Leaning("a", 99, 0.9, None),
        Leaning("a", 99, 0.5, (0.08, 0.92)),  # not as sure as three questions call for
    ],
)
def test_what_is_small_or_unsure_is_not_named(leaning: Leaning) -> None:
    others = [Leaning(name, 99, 0.0, (-0.1, 0.1)) for name in "bc"]
    comparisons = list_comparisons(_judged([]))
    assert find_leaning([leaning, *others], comparisons, "abc") == ()
    assert find_leaning([Leaning("a", 99, 0.5, (0.02, 0.98)), others[0]], comparisons, "ab") == ()
    sure = Leaning("a", 99, 0.5, (0.08, 0.92))
    assert find_leaning([sure, others[0]], comparisons, "ab") == (ClaimedLeaning(sure),)
