"""Both readings of a sample: what it happens to show, and what it proves."""

import pytest

from annotator.domain.figures import show_percent
from annotator.quality.records import LIMIT, ErrorRate
from annotator.quality.report import (
    CheckedSample,
    compute_rates,
    find_further,
    judge_by_bound,
    judge_by_rate,
)


def sample(
    *,
    population: int = 1_000,
    right: int = 0,
    wrong: int = 0,
    waiting: int = 0,
    unrateable: int = 0,
    barred: int = 0,
) -> CheckedSample:
    """A sample in which a wrong pair is settled as 1 and found to be 2."""
    grades = [(1, 1)] * right + [(1, 2)] * wrong
    drawn = len(grades) + waiting + unrateable + barred
    return CheckedSample(population, drawn, unrateable, barred, grades)


def test_3_percent_of_a_tenth_pass_by_the_rate_and_not_by_the_bound() -> None:
    checked_sample = sample(right=97, wrong=3)
    assert judge_by_rate(checked_sample) == "passed"
    assert judge_by_bound(checked_sample) == "undecided"
    assert compute_rates(checked_sample)["any"].bound == 0.075


def test_errors_are_counted_by_distance_and_by_relevance() -> None:
    checked_sample = CheckedSample(40, 6, 0, 0, [(0, 0), (0, 1), (1, 3), (2, 3), (3, 0), (1, 0)])
    rates = compute_rates(checked_sample)
    assert {kind: rate.errors for kind, rate in rates.items()} == {"any": 5, "far": 2, "relevance": 3}
    assert rates["any"].rate == pytest.approx(5 / 6)


def test_nothing_checked_has_no_rate() -> None:
    checked_sample = sample(waiting=100)
    assert set(compute_rates(checked_sample).values()) == {ErrorRate(0, 0, None, None, None)}
    assert (judge_by_rate(checked_sample), judge_by_bound(checked_sample)) == ("undecided", "undecided")
    assert find_further(checked_sample) == 59


@pytest.mark.parametrize(
    ("checked_sample", "verdict"),
    [
        (sample(right=100), "passed"),
        (sample(right=100, barred=3), "passed"),  # what nobody can answer any more does not wait
        (sample(right=96, wrong=4), "passed"),
        (sample(right=95, wrong=5), "failed"),  # 5 % is not below 5 %
        (sample(right=99), "undecided"),  # less than a tenth
        (sample(right=99, waiting=1), "undecided"),
        (sample(right=50, wrong=5, waiting=45), "failed"),  # all that wait cannot mend it
        (sample(right=50, wrong=4, waiting=46), "undecided"),
        (sample(right=98, unrateable=2), "passed"),  # they were looked at
        (sample(right=98, barred=2), "undecided"),  # they were not
        (sample(right=100, waiting=100), "undecided"),  # what was drawn is checked to the last pair
        (sample(unrateable=100), "undecided"),
    ],
)
def test_the_rate_asks_for_a_tenth_checked_to_the_last_pair(
    checked_sample: CheckedSample, verdict: str
) -> None:
    assert judge_by_rate(checked_sample) == verdict


@pytest.mark.parametrize(
    ("checked_sample", "verdict", "further"),
    [
        (sample(right=59), "passed", 0),
        (sample(right=59, waiting=43), "passed", 0),  # judged on what is checked
        (sample(right=58), "undecided", 1),
        (sample(right=50, wrong=14), "failed", None),  # 22 % cannot come from fewer than 5
        (sample(population=20, right=10, wrong=1), "failed", None),  # one of twenty is 5 %
        (sample(population=60, right=10, unrateable=30), "undecided", None),  # too few are left to be checked
    ],
)
def test_the_bound_decides_as_soon_as_it_can(
    checked_sample: CheckedSample, verdict: str, further: int | None
) -> None:
    assert judge_by_bound(checked_sample) == verdict
    if verdict != "failed":
        assert find_further(checked_sample) == further


def test_a_percentage_never_hides_on_which_side_of_the_limit_it_lies() -> None:
    shares = (0, 0.03, 0.1234, 0.04996, 0.05, 0.05001)
    assert [show_percent(share, limit=LIMIT) for share in shares] == [
        "0.0 %", "3.0 %", "12.3 %", "4.996 %", "5.0 %", "5.001 %",
    ]  # fmt: skip
    bounds = (0.073, 0.07301, 0.0499, 0.04999)
    assert [show_percent(share, at_most=True, limit=LIMIT) for share in bounds] == [
        "7.3 %", "7.4 %", "4.99 %", "4.999 %",
    ]  # fmt: skip


def test_barred_pairs_do_not_count_as_left_to_check() -> None:
    assert find_further(sample(population=100, right=20, waiting=5)) is not None
    assert find_further(sample(population=100, right=20, barred=78)) is None
    assert find_further(sample(population=100, right=20, unrateable=78)) is None
