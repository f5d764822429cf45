"""When a release is possible, in the words of the page Overview."""

from datetime import UTC, datetime, timedelta

import pytest

from annotator.overview.records import ReleaseForecast
from annotator.web.overview.page import describe_forecast

NOW = datetime(2026, 3, 5, 5, 6, 7, tzinfo=UTC)


@pytest.mark.parametrize(
    ("days", "begin"),
    [
        (30, "All work is done about Apr 4,"),
        (365, "All work is done about Mar 5, 2027,"),
        (366, "Not within a year"),
    ],
)
def test_a_day_is_named_only_within_a_year(days: int, begin: str) -> None:
    forecast = ReleaseForecast((), NOW + timedelta(days=days))
    assert describe_forecast(forecast, (), now=NOW).startswith(begin)


def test_gates_that_the_work_does_not_meet_are_named_beside_the_day() -> None:
    forecast = ReleaseForecast((), NOW + timedelta(days=30))
    assert describe_forecast(forecast, ("kappa", "disagreements", "coverage"), now=NOW) == (
        "All work is done about Apr 4, at the pace of the last 7 days. "
        "A release also needs these gates: Cohen's κ, requirements."
    )
    assert "A release also needs" not in describe_forecast(forecast, ("overlap",), now=NOW)
