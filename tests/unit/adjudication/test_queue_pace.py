"""How long the queue lasts: by working days and by the time that decisions took; never a number without a ground."""

from datetime import UTC, datetime, timedelta, timezone

from annotator.adjudication.queue.queue_records import QueuePace, estimate_queue, find_begin

NOW = datetime(2026, 3, 10, 15, 0, tzinfo=UTC)
OLD = NOW - timedelta(days=90)


def decide(*days_ago: int, seconds: float | None = 8.0) -> list[tuple[datetime, float | None]]:
    return [(NOW - timedelta(days=days, hours=1), seconds) for days in days_ago]


def estimate(waiting: int, decided: list[tuple[datetime, float | None]], arrived: int = 0) -> QueuePace:
    return estimate_queue(waiting, decided, arrived, OLD, now=NOW)


def test_days_without_a_decision_are_no_working_days() -> None:
    pace = estimate(120, decide(*[0] * 10, *[1] * 20, *[5] * 30))
    assert (pace.decided, pace.working_days, pace.per_day) == (60, 3, 20)
    assert pace.working_days_left == 6


def test_the_work_left_is_the_median_time_of_a_decision_for_each_open_one() -> None:
    decided = [*decide(0, 0, 1, 1, seconds=9.0), *decide(2, seconds=4000), *decide(2, 2, seconds=None)]
    pace = estimate(800, decided)
    assert (pace.timed, pace.seconds, pace.work) == (5, 9.0, 7200)
    assert pace.why_no_work is None


def test_what_cannot_be_known_says_why() -> None:
    nothing = estimate(10, [])
    assert (nothing.work, nothing.working_days_left) == (None, None)
    assert nothing.why_no_work == nothing.why_no_days == "no decisions in the last 7 days"
    untimed = estimate(10, decide(0, 1, seconds=None))
    assert (untimed.work, untimed.working_days_left) == (None, 10)
    assert untimed.why_no_work == "decision times were not measured in the last 7 days"
    few = estimate(10, decide(0, 0))
    assert few.seconds is None
    assert few.why_no_work == "only 2 decisions of the last 7 days have a measured time, 5 are needed"


def test_new_disagreements_are_counted_by_day_over_as_many_days_as_there_were() -> None:
    assert estimate(10, [], arrived=14).arrived_per_day == 2
    young = estimate_queue(10, [], 14, NOW - timedelta(days=1), now=NOW)
    assert young.arrived_per_day == 7
    assert estimate_queue(0, [], 0, None, now=NOW).arrived_per_day == 0


def test_a_queue_grows_where_more_came_than_was_decided() -> None:
    assert estimate(10, decide(0), arrived=2).grows
    assert not estimate(10, decide(0, 1), arrived=2).grows
    assert not estimate(10, [], arrived=2).grows


def test_days_are_those_of_the_zone_that_is_asked_in() -> None:
    tokyo = timezone(timedelta(hours=9))
    now = NOW.astimezone(tokyo)  # 00:00 on the 11th
    assert find_begin(now) == datetime(2026, 3, 5, tzinfo=tokyo)
    around = [(NOW - timedelta(minutes=1), 1.0), (NOW, 1.0)]  # two days in Tokyo, one in London
    assert estimate_queue(1, around, 0, None, now=now).working_days == 2
    assert estimate_queue(1, around, 0, None, now=NOW).working_days == 1
