"""How an annotator is getting on, in words."""

from datetime import UTC, datetime, timedelta

from annotator.domain.judgments import AnnotatorProgress
from annotator.web.people.words import describe_pace

NOW = datetime(2026, 3, 20, 12, tzinfo=UTC)


def describe(days: int | None, recent: int = 0, *, is_idle: bool = False) -> str:
    last = None if days is None else NOW - timedelta(days=days)
    person = AnnotatorProgress("hana", "Hana", False, 9, 0, 0, last)
    return describe_pace(person, recent, is_idle=is_idle, now=NOW)


def test_a_pace_is_that_of_the_last_seven_days() -> None:
    assert describe(1, 12) == "12 judgments in the last 7 days, 1.7 a day"
    assert describe(1, 1) == "1 judgment in the last 7 days, 0.1 a day"


def test_an_idle_person_has_a_day_since_when_or_has_not_begun() -> None:
    assert describe(12, is_idle=True).startswith("idle since ")
    assert describe(None, is_idle=True) == "idle: nothing judged yet"


def test_nobody_is_called_idle_while_there_is_nothing_to_do() -> None:
    assert describe(None) == ""
    assert describe(12).startswith("judged last on ")
