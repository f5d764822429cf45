"""When a release is possible, in the words of the page Overview."""

from datetime import UTC, datetime, timedelta

import pytest

from annotator.overview.forecast import ReleaseForecast
from annotator.web.overview.page import describe_forecast

NOW = datetime(2026, 3, 5, 5, 6, 7, tzinfo=UTC)


@pytest.mark.parametrize(
    ("days", "begin"), [(30, "About Apr 4"), (365, "About Mar 5, 2027"), (366, "Not within a year")]
)
def test_a_day_is_named_only_within_a_year(days: int, begin: str) -> None:
    forecast = ReleaseForecast((), NOW + timedelta(days=days))
    assert describe_forecast(forecast, now=NOW).startswith(begin)
