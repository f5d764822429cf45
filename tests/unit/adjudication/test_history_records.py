"""How a day and a time are read for the audit log."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from annotator.adjudication.history.history import read_day_or_time
from annotator.domain.errors import ValidationError

TOKYO = timezone(timedelta(hours=9))


def test_a_day_is_its_first_moment_or_its_last_in_the_readers_zone() -> None:
    assert read_day_or_time("2026-03-04", TOKYO) == datetime(2026, 3, 3, 15, tzinfo=UTC)
    assert read_day_or_time("2026-03-04", TOKYO, last=True) == datetime(
        2026, 3, 4, 14, 59, 59, 999999, tzinfo=UTC
    )


def test_a_time_is_taken_as_it_says() -> None:
    assert read_day_or_time("2026-03-04T12:00", TOKYO, last=True) == datetime(2026, 3, 4, 3, tzinfo=UTC)
    assert read_day_or_time(" 2026-03-04T12:00+01:00 ", TOKYO) == datetime(2026, 3, 4, 11, tzinfo=UTC)
    assert read_day_or_time("2026-03-04T12:00").tzinfo is not None


@pytest.mark.parametrize("message", ["", "yesterday", "2026-13-01", "4.3.2026"])
def test_anything_else_is_refused_and_says_what_was_expected(message: str) -> None:
    with pytest.raises(ValidationError, match="enter a day such as 2026-03-04"):
        read_day_or_time(message)
