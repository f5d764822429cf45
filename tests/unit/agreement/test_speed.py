"""Suspicious speed: far faster than is usual for the annotator, and in less agreement there."""

import numpy as np
import pytest

from annotator.agreement.comparisons import list_comparisons
from annotator.agreement.diagnosis.careless_work import QuickAnnotator, find_limit, find_medians, find_quick
from annotator.agreement.judgment_table import Floats
from tests.unit.agreement.simulated import Faults, Work, simulate

NAMES = ("a", "b", "c")
HURRIED = Faults(hurries=frozenset({1}))


def _find(work: Work, seconds: Floats | None = None) -> tuple[QuickAnnotator, ...]:
    times = work.seconds if seconds is None else seconds
    return find_quick(work.judged, times, list_comparisons(work.judged), NAMES)


@pytest.mark.parametrize("seed", range(3))
def test_who_hurries_and_agrees_less_there_is_told_with_the_figures(seed: int) -> None:
    work = simulate(seed, queries=60, faults=HURRIED)
    (quick,) = _find(work)
    assert quick.annotator == "b"
    own = work.judged.annotator == 1
    assert quick.judgments == (own & (work.seconds < quick.limit)).sum()
    assert quick.limit == quick.median / 4 == pytest.approx(np.median(work.seconds[own]) / 4)
    fast: list[bool] = []
    slow: list[bool] = []
    grades, times = work.judged.grade.reshape(-1, 2), work.seconds.reshape(-1, 2)
    for pair, who in enumerate(work.judged.annotator.reshape(-1, 2)):
        for side in np.flatnonzero(who == 1):
            (fast if times[pair, side] < quick.limit else slow).append(grades[pair, 0] == grades[pair, 1])
    assert quick.matching == pytest.approx(np.mean(fast))
    assert quick.usually == pytest.approx(np.mean(slow))
    assert quick.ci95[1] < 0


def test_speed_alone_is_no_sign() -> None:
    work = simulate(0, queries=60)
    seconds = np.where(np.arange(len(work.seconds)) % 5 == 0, 2.0, work.seconds)
    assert _find(work, seconds) == ()


def test_low_agreement_alone_is_no_sign() -> None:
    work = simulate(0, queries=60, faults=HURRIED)
    assert _find(work, np.full(len(work.seconds), 25.0)) == ()


@pytest.mark.parametrize("unknown", [0.0, np.nan])
def test_an_unknown_time_is_never_quick(unknown: float) -> None:
    work = simulate(0, queries=60, faults=HURRIED)
    assert _find(work, np.where(work.seconds == 2.0, unknown, work.seconds)) == ()
    assert _find(work, np.full(len(work.seconds), unknown)) == ()


def test_a_handful_of_quick_judgments_is_no_sign() -> None:
    work = simulate(0, queries=60, faults=HURRIED)
    quick = np.flatnonzero(work.seconds == 2.0)
    seconds = work.seconds.copy()
    seconds[quick[14:]] = 25.0
    assert _find(work, seconds) == ()


def test_quick_is_a_quarter_of_ones_own_median_and_never_more_than_ten_seconds() -> None:
    assert find_limit(20.0) == 5.0
    assert find_limit(40.0) == find_limit(300.0) == 10.0
    assert np.isnan(find_limit(float("nan")))


def test_what_is_usual_is_ones_own_and_needs_thirty_known_times() -> None:
    annotator = np.repeat([0, 1, 2], 30)
    seconds = np.concatenate([np.arange(1.0, 31.0), np.arange(101.0, 131.0), [0.0], np.arange(1.0, 30.0)])
    medians = find_medians(annotator, seconds, 4)
    assert medians[:2] == [15.5, 115.5]
    assert np.isnan(medians[2:]).all()


def test_the_times_of_the_last_of_very_many_annotators_are_their_own() -> None:
    annotator = np.repeat([0, 40_000], 30)
    medians = find_medians(annotator, np.repeat([3.0, 9.0], 30), 40_001)
    assert (medians[0], medians[40_000]) == (3.0, 9.0)


def test_without_a_shared_pair_nothing_is_told() -> None:
    assert _find(simulate(0, overlap=1, faults=HURRIED)) == ()


def test_a_small_difference_is_no_sign_however_sure_it_is() -> None:
    work = simulate(0, queries=1500, faults=HURRIED)
    hurried = np.flatnonzero(work.seconds == 2.0)
    seconds = np.full(len(work.seconds), 25.0)
    seconds[hurried] = np.nan
    seconds[hurried[::10]] = 2.0
    assert len(_find(work, seconds)) == 1
    calm = np.setdiff1d(np.flatnonzero(work.judged.annotator == 1), hurried)
    seconds[calm[::4]] = 2.0
    assert _find(work, seconds) == ()


def test_chance_alone_is_seldom_a_sign() -> None:
    signs = 0
    for seed in range(40):
        work = simulate(100 + seed, queries=30)
        own = np.flatnonzero(work.judged.annotator == 1)
        seconds = np.full(len(work.seconds), 25.0)
        seconds[np.random.default_rng(seed).choice(own, 20, replace=False)] = 2.0
        signs += len(_find(work, seconds))
    assert signs <= 1
