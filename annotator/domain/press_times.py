"""Read the time of a key press and the time spent on the pair, as a browser sends them.

Both functions raise ValidationError, which names the field and the expected and the found value.
"""

from datetime import UTC, datetime

from annotator.domain.errors import ValidationError

MAX_SECONDS = 86_400.0
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
"""The time of a clock that was never set. SQLite cannot read back times before the year 1000."""


def read_pressed_at(value: object) -> datetime:
    """Return the time of a press in UTC, but not before EARLIEST. A time without a zone is refused."""
    try:
        time = datetime.fromisoformat(str(value))
        if time.tzinfo is not None:
            return max(time.astimezone(UTC), EARLIEST)
    except (ValueError, OverflowError):  # OverflowError: a time of the year 0 in UTC
        pass
    raise ValidationError(f"pressed_at: expected an ISO 8601 time with its zone, found {value!r:.80}")


def read_seconds(value: object) -> float | None:
    """Return the active time on the pair in seconds; None if the browser sent none."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValidationError(f"seconds: expected a number, found {value!r:.80}")
    if not 0 <= value <= MAX_SECONDS:  # also refuses NaN
        raise ValidationError(f"seconds: expected 0 to {MAX_SECONDS:.0f}, found {value!r:.80}")
    return float(value)
