"""Times of presses as browsers send them."""

from datetime import UTC, datetime

import pytest

from annotator.domain.errors import ValidationError
from annotator.domain.judgments import EARLIEST, read_pressed_at


@pytest.mark.parametrize("sent", ["0001-01-01T00:00:00Z", "0999-12-31T23:59:59Z"])
def test_a_time_that_no_clock_shows_becomes_the_earliest_that_every_database_can_store(sent: str) -> None:
    assert read_pressed_at(sent) == EARLIEST


def test_a_time_is_read_in_utc_and_one_without_a_zone_is_refused() -> None:
    assert read_pressed_at("2026-01-05T09:00:00+09:00") == datetime(2026, 1, 5, tzinfo=UTC)
    with pytest.raises(ValidationError, match="with its zone"):
        read_pressed_at("2026-01-05T09:00:00")
