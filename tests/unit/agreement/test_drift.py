"""Agreement over time: which period a pair belongs to, and what changed between the beginning and the end."""

from itertools import pairwise

import numpy as np
import pytest

from annotator.agreement.comparisons import list_comparisons
from annotator.agreement.diagnosis.drift import GradingDrift, complete, find_changes, find_periods
from annotator.agreement.judgment_table import Ints, sort_judged
from annotator.agreement.records import AgreementPeriod
from tests.unit.agreement.simulated import BEGIN, DAY, Faults, Work, simulate

NAMES = ("a", "b", "c")


def _cut(work: Work) -> tuple[AgreementPeriod, ...]:
    return find_periods(*complete(list_comparisons(work.judged), work.made_at), NAMES)


def _on_days(days: list[int], *, at_once: bool = False) -> tuple[AgreementPeriod, ...]:
    """The periods of pairs completed on these days after the first; 8 pairs to a query."""
    pair = np.repeat(np.arange(len(days)), 2)
    who = np.tile([0, 1], len(days))
    judged = sort_judged(pair // 8, pair, who, (pair + who * (pair % 5 == 0)) % 4)
    second = 0 if at_once else pair
    made_at: Ints = BEGIN + np.array(days, dtype=np.int64)[pair] * DAY + second
    return _cut(Work(judged, made_at, np.zeros(len(pair))))


def _changes(work: Work, names: tuple[str, ...] = NAMES) -> tuple[GradingDrift, ...]:
    return find_changes(*complete(list_comparisons(work.judged), work.made_at), names)


def test_a_pair_is_completed_by_its_second_judgment() -> None:
    pair: Ints = np.array([4, 4, 4, 7, 7, 9])
    judged = sort_judged(pair, pair, np.array([0, 1, 2, 0, 2, 1]), np.zeros(6, dtype=np.int64))
    _, completed = complete(list_comparisons(judged), np.array([30, 10, 20, 5, 50, 1]))
    assert completed.tolist() == [20, 50]


def test_a_pair_of_which_the_times_are_unknown_belongs_to_no_period() -> None:
    pair: Ints = np.array([4, 4, 4, 7, 7, 9, 9])
    judged = sort_judged(pair, pair, np.array([0, 1, 2, 0, 2, 1, 2]), np.array([0, 0, 0, 1, 1, 2, 3]))
    comparisons, completed = complete(list_comparisons(judged), np.array([30, 0, 20, 0, 50, 7, 8]))
    assert completed.tolist() == [30, 8]
    assert sorted(comparisons.pair_number.tolist()) == [0, 0, 0, 1]
    assert comparisons.cell[comparisons.pair_number == 1].tolist() == [11]
    work = simulate(0, queries=80)
    unknown = Work(work.judged, np.where(work.judged.pair < 100, 0, work.made_at), work.seconds)
    assert sum(period.pairs for period in _cut(unknown)) == 700
    assert _cut(Work(work.judged, np.zeros_like(work.made_at), work.seconds)) == ()


def test_work_of_three_weeks_is_cut_into_weeks_that_begin_on_monday() -> None:
    periods = _on_days([day for day in range(21) for _ in range(10)])
    assert [(period.first, period.last, period.pairs) for period in periods] == [
        ("2026-01-05", "2026-01-11", 70),
        ("2026-01-12", "2026-01-18", 70),
        ("2026-01-19", "2026-01-25", 70),
    ]


def test_work_of_three_days_is_cut_into_days_and_shorter_work_into_parts() -> None:
    assert [period.first for period in _on_days([day for day in range(3) for _ in range(40)])] == [
        "2026-01-05", "2026-01-06", "2026-01-07",
    ]  # fmt: skip
    assert [period.pairs for period in _on_days([0] * 200)] == [50, 50, 50, 50]
    assert [period.pairs for period in _on_days([0] * 60)] == [30, 30]


def test_what_is_too_little_or_came_all_at_once_has_no_periods() -> None:
    assert _on_days([0] * 59) == ()
    assert _on_days([0] * 200, at_once=True) == ()
    assert _on_days([]) == ()


def test_periods_with_few_pairs_are_joined_to_their_neighbours() -> None:
    days = [0] * 40 + [1] * 10 + [2] * 10 + [3] * 40 + [4] * 5
    assert [(period.first, period.last, period.pairs) for period in _on_days(days)] == [
        ("2026-01-05", "2026-01-05", 40),
        ("2026-01-06", "2026-01-09", 65),
    ]


def test_a_year_of_work_has_no_more_than_twelve_periods() -> None:
    periods = _on_days([day for day in range(365) for _ in range(5)])
    assert len(periods) <= 12
    assert sum(period.pairs for period in periods) == 365 * 5
    assert all(period.pairs >= 30 for period in periods)


def test_each_period_has_its_kappa_its_agreement_and_who_leaned() -> None:
    periods = _cut(simulate(0, queries=80, faults=Faults(turns={1: 0.9})))
    assert len(periods) == 4
    leaned = [{leaning.annotator: leaning.mean for leaning in period.leanings} for period in periods]
    assert leaned[-1]["b"] > 0.5 > 0.2 > abs(leaned[0]["b"])
    for period in periods:
        assert period.kappa.value is not None and period.kappa.ci95 is not None
        assert period.kappa.ci95[0] < period.kappa.value < period.kappa.ci95[1]
        assert period.observed_agreement is not None and period.observed_agreement > period.kappa.value


def test_a_period_without_variation_or_with_few_queries_says_why_it_lacks_a_figure() -> None:
    pair = np.repeat(np.arange(120), 2)
    same = sort_judged(pair // 2, pair, np.tile([0, 1], 120), np.full(240, 2))
    made_at = BEGIN + pair // 40 * DAY
    undefined = _cut(Work(same, made_at, np.zeros(240)))
    assert len(undefined) == 3
    assert undefined[0].kappa.value is None and undefined[0].kappa.why is not None
    assert "are the same" in undefined[0].kappa.why
    few = sort_judged(pair // 8, pair, np.tile([0, 1], 120), pair % 4)
    kappa = _cut(Work(few, made_at, np.zeros(240)))[0].kappa
    assert (kappa.value, kappa.ci95) == (1.0, None)
    assert kappa.why == "a confidence interval needs pairs of 10 or more queries"


@pytest.mark.parametrize("seed", range(3))
def test_agreement_that_falls_towards_the_end_is_told(seed: int) -> None:
    changes = _changes(simulate(seed, queries=90, faults=Faults(late_errors=0.4)))
    assert [change.annotator for change in changes] == [None]
    assert changes[0].last < changes[0].first - 0.1
    assert changes[0].ci95[1] < 0
    assert changes[0].until < changes[0].since


def test_periods_that_begin_on_one_day_are_told_apart_by_the_time_of_day() -> None:
    periods = _on_days([0] * 120)
    assert len(periods) == 4 and len({period.first for period in periods}) == 4
    assert (periods[0].first, periods[-1].last) == ("2026-01-05 00:00:00", "2026-01-05 00:01:59")


def test_periods_share_no_moment_and_a_change_is_between_the_first_pairs_and_the_last() -> None:
    work = simulate(0, queries=90, faults=Faults(late_errors=0.4))
    _, completed = complete(list_comparisons(work.judged), work.made_at)
    spans = [period.span or (0, 0) for period in _cut(work)]
    assert all(item[1] < other[0] for item, other in pairwise(spans))
    assert (spans[0][0], spans[-1][1]) == (completed.min(), completed.max())
    (change,) = _changes(work)
    assert (change.beginning[0], change.end[1]) == (completed.min(), completed.max())
    for begin, end in (change.beginning, change.end):
        third = ((completed >= begin) & (completed <= end)).sum() / len(completed)
        assert third == pytest.approx(1 / 3, abs=0.01)


@pytest.mark.parametrize("seed", range(3))
def test_an_annotator_who_becomes_lenient_is_told(seed: int) -> None:
    changes = {
        change.annotator: change
        for change in _changes(simulate(seed, queries=90, faults=Faults(turns={2: 0.9})))
    }
    assert changes["c"].last > changes["c"].first + 0.2
    assert changes["c"].ci95[0] > 0


@pytest.mark.parametrize("seed", range(3))
def test_beside_one_who_changed_the_others_only_look_as_if_they_had(seed: int) -> None:
    changes = _changes(simulate(seed, queries=90, overlap=3, faults=Faults(turns={2: 1.0})))
    assert [change.annotator for change in changes if change.annotator] == ["c"]
    names = tuple("abcdef")
    two = _changes(
        simulate(seed, queries=90, annotators=6, overlap=3, faults=Faults(turns={2: 1.0, 4: 0.7})), names
    )
    assert [change.annotator for change in two if change.annotator] == ["c", "e"]


def test_a_small_change_is_not_told_however_sure_it_is() -> None:
    assert _changes(simulate(0, queries=3000, faults=Faults(late_errors=0.05))) == ()


def test_nothing_changes_where_there_is_too_little_or_no_order_of_time() -> None:
    fallen = Faults(late_errors=0.9)
    assert _changes(simulate(0, queries=8, faults=fallen)) == ()
    assert _changes(simulate(0, queries=27, faults=fallen)) == ()
    assert _changes(simulate(0, queries=40, per_query=2, faults=fallen)) == ()
    assert _changes(simulate(0, queries=40, per_query=3, faults=fallen)) != ()
    work = simulate(0, queries=90, faults=fallen)
    assert _changes(work) != ()
    assert _changes(Work(work.judged, np.full_like(work.made_at, BEGIN), work.seconds)) == ()
    middle = np.abs(work.judged.query - 45) < 25  # came in all at once, so that the thirds overlap
    assert _changes(Work(work.judged, np.where(middle, BEGIN + 14 * DAY, work.made_at), work.seconds)) == ()


def test_an_annotator_with_few_comparisons_is_not_told() -> None:
    names = tuple(f"a{number}" for number in range(30))
    work = simulate(0, queries=90, annotators=30, faults=Faults(turns={2: 1.0}))
    assert [change.annotator for change in _changes(work, names)] == []
    periods = find_periods(*complete(list_comparisons(work.judged), work.made_at), names)
    assert [len(period.leanings) for period in periods] == [0, 0, 0, 0]


def test_chance_alone_is_seldom_told() -> None:
    changes = [_changes(simulate(seed, queries=36, per_query=4)) for seed in range(40)]
    assert sum(map(bool, changes)) <= 2
