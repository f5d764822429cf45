"""When a release is possible: what is left of each kind of work, at the pace of the last days; and why nobody can tell."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from annotator.overview.records import RemainingWork, count_checks_left, forecast_release

NOW = datetime(2026, 1, 20, 12, tzinfo=UTC)
DONE = RemainingWork(0, 70, 2, 0, 0, 7, 0)


def count_days(work: RemainingWork) -> float | None:
    day = forecast_release(work, now=NOW).day
    return None if day is None else (day - NOW) / timedelta(days=1)


def test_judging_ends_at_the_pace_of_seven_days_the_last_day_begun() -> None:
    assert count_days(replace(DONE, judgments=71)) == 8, "10 a day"


def test_leads_decide_while_annotators_judge_and_the_slower_of_them_counts() -> None:
    assert count_days(replace(DONE, judgments=20, disagreements=9)) == 9
    assert count_days(replace(DONE, judgments=100, disagreements=9)) == 10


def test_judgments_to_come_bring_disagreements_at_the_rate_of_the_last_days() -> None:
    forecast = forecast_release(replace(DONE, judgments=140, disagreements=3, arrived=7), now=NOW)
    judging, deciding, checking = forecast.work
    assert (deciding.left, deciding.expected) == (17, 14)
    assert (judging.days, deciding.days, checking.days) == (14.0, 17.0, 0.0)
    assert forecast.day == NOW + timedelta(days=17)


def test_quality_control_follows_and_one_person_does_it() -> None:
    assert count_days(replace(DONE, judgments=20, checks=20)) == 2 + 4, (
        "two people judge 10 a day, one of them 5"
    )


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, "Nothing is left to judge, decide or check."),
        (
            {"judgments": 5, "recent": 0, "active": 0},
            "Cannot estimate yet: no judgments in 7 days.",
        ),
        (
            {"disagreements": 2, "decided": 0},
            "Cannot estimate yet: no decisions in 7 days.",
        ),
        ({"checks": 4, "recent": 0, "active": 0}, "Cannot estimate yet: no judgments in 7 days."),
        (
            {"judgments": 5, "disagreements": 2, "recent": 0, "active": 0, "decided": 0, "checks": 4},
            "Cannot estimate yet: no judgments in 7 days; no decisions in 7 days.",
        ),
        (
            {"checks": None},
            "Cannot estimate yet: quality control failed: improve the grades, then begin a new round.",
        ),
        ({"judgments": 100_000, "recent": 1}, "Not within ten years at the current pace."),
    ],
)
def test_an_unknown_day_has_a_reason(changes: dict[str, int | None], why: str) -> None:
    forecast = forecast_release(replace(DONE, **changes), now=NOW)
    assert (forecast.day, str(forecast.why)) == (None, why)


@pytest.mark.parametrize(
    ("status", "left"),
    [
        ({"round": 0}, 11),
        ({"round": 1, "verdict": "passed", "waiting": 3}, 0),
        ({"round": 1, "verdict": "failed", "waiting": 0}, None),
        ({"round": 1, "verdict": "undecided", "waiting": 4, "further": 9}, 4),
        ({"round": 1, "verdict": "undecided", "waiting": 0, "further": 9}, 9),
    ],
)
def test_what_quality_control_has_still_to_check(status: dict[str, object], left: int | None) -> None:
    assert count_checks_left(SimpleNamespace(**status), 101) == left  # type: ignore[arg-type]
