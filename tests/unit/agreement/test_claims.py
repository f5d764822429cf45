"""When data carry a claim: the intervals, and that claims are rare where nothing is to be found."""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_1samp

from annotator.agreement.comparisons import (
    estimate_kappa,
    estimate_leanings,
    estimate_mean,
    list_comparisons,
    subtract,
)
from annotator.agreement.diagnosis.assess import assess
from annotator.agreement.intervals import (
    FALSE_CLAIMS,
    cluster_interval,
    confidence,
    exact_interval,
    misses,
    widen,
)
from annotator.agreement.measure import measure
from annotator.agreement.records import GroupAgreement
from tests.unit.agreement.simulated import Faults, simulate

GRADES = ("none", "some", "high", "full")
SIGNALS = {"lenient", "severe", "drift", "quick", "direction", "concentrated", "category"}


def test_the_intervals_are_those_that_resampling_queries_gives() -> None:
    work = simulate(3, queries=120, faults=Faults(leans={0: 0.7}))
    names = ("a", "b", "c")
    measured = measure(work.judged, names, resamples=2000, seed=0)
    comparisons = list_comparisons(work.judged)
    kappa = estimate_kappa(comparisons, 3)
    resampled = measured.cohen_kappa["unweighted"]
    assert kappa.value == pytest.approx(resampled.value)
    assert cluster_interval(kappa) == pytest.approx(resampled.ci95, abs=0.01)
    for estimate, leaning in zip(estimate_leanings(comparisons, 3), measured.leanings, strict=True):
        assert estimate.value == pytest.approx(leaning.mean)
        assert cluster_interval(estimate) == pytest.approx(leaning.ci95, abs=0.01)


def test_with_one_couple_to_a_query_the_interval_of_a_mean_is_students() -> None:
    values = np.random.default_rng(0).normal(1, 2, 14)
    held = ttest_1samp(values, 0.0).confidence_interval(0.99)
    assert cluster_interval(estimate_mean(values, np.ones(14)), level=0.99) == pytest.approx(
        (held.low, held.high)
    )


def test_an_interval_of_kappa_covers_the_kappa_of_all_queries_there_could_be() -> None:
    everything = estimate_kappa(list_comparisons(simulate(0, queries=20_000).judged), 3).value
    covered = 0
    for seed in range(300):
        interval = cluster_interval(estimate_kappa(list_comparisons(simulate(seed, queries=30).judged), 3))
        assert interval is not None
        covered += interval[0] <= everything <= interval[1]
    assert 0.92 <= covered / 300 <= 0.98


def test_the_difference_of_two_figures_over_the_same_queries_knows_that_they_hang_together() -> None:
    comparisons = list_comparisons(simulate(1).judged)
    same = subtract(estimate_kappa(comparisons, 3), estimate_kappa(comparisons, 3))
    assert cluster_interval(same) == (0.0, 0.0)


def test_there_is_no_interval_from_few_queries_or_of_nothing() -> None:
    assert cluster_interval(estimate_kappa(list_comparisons(simulate(0, queries=9).judged), 3)) is None
    assert cluster_interval(estimate_kappa(list_comparisons(simulate(0, queries=10).judged), 3)) is not None
    alone = simulate(0, overlap=1)
    assert cluster_interval(estimate_kappa(list_comparisons(alone.judged), 3)) is None


def test_many_claims_call_for_wider_intervals() -> None:
    assert confidence(1) == 1 - FALSE_CLAIMS
    single, twenty = (widen(0.5, (0.4, 0.7), claims) for claims in (1, 20))
    assert twenty[0] < single[0] < 0.4 and twenty[1] > single[1] > 0.7
    assert (twenty[1] - 0.5) / (0.5 - twenty[0]) == pytest.approx(2)


def test_an_interval_misses_a_value_only_when_it_is_there_and_beside_it() -> None:
    assert misses((0.1, 0.3), 0.0) and misses((-0.3, -0.1), 0.0)
    assert not misses((-0.1, 0.3), 0.0) and not misses(None, 0.0)


@pytest.mark.parametrize(("right", "of"), [(0, 5), (5, 5), (3, 10), (40, 59)])
def test_the_exact_interval_is_clopper_and_pearsons(right: int, of: int) -> None:
    for level in (0.95, 0.99):
        held = binomtest(right, of).proportion_ci(confidence_level=level, method="exact")
        assert exact_interval(right, of, level=level) == pytest.approx((held.low, held.high))


def _list_signals(seed: int, faults: Faults | None = None, *, annotators: int = 12) -> set[str]:
    work = simulate(seed, queries=60, annotators=annotators, overlap=3, faults=faults)
    names = tuple(f"a{number:02}" for number in range(annotators))
    groups = []
    for category in range(4):
        part = work.judged.where(work.judged.query % 4 == category)
        measured = measure(part, names, resamples=50, seed=0)
        groups.append(GroupAgreement("category", f"c{category}", measured))
    assessment = assess(
        work.judged, names=names, measured=measure(work.judged, names, resamples=50, seed=0), target=0.5,
        grade_names=GRADES, made_at=work.made_at, seconds=work.seconds, groups=groups,
    )  # fmt: skip
    return {finding.kind for finding in assessment.findings} & SIGNALS


def test_where_nothing_is_to_be_found_claims_are_rare() -> None:
    """Twelve annotators and four categories: with 95 % intervals for each, most datasets would accuse somebody."""
    claims = Counter(kind for seed in range(20) for kind in _list_signals(seed))
    assert sum(claims.values()) <= 3, claims


def test_where_there_are_faults_they_are_found() -> None:
    faults = Faults(leans={2: 0.6}, turns={5: 0.8}, hurries=frozenset({7}))
    kinds = Counter(kind for seed in range(5) for kind in _list_signals(seed, faults, annotators=8))
    assert [kinds[kind] >= 4 for kind in ("lenient", "drift", "quick")] == [True] * 3, kinds
