"""Who is idle."""

from datetime import UTC, datetime, timedelta

from annotator.domain.judgments import AnnotatorProgress
from annotator.overview.waiting_service import describe_idle, list_idle

NOW = datetime(2026, 1, 20, 12, tzinfo=UTC)


def make_person(name: str, last: datetime | None, *, simulated: bool = False) -> AnnotatorProgress:
    return AnnotatorProgress(name, name, simulated, 1, 0, 0, last)


def test_people_without_judgments_in_seven_days_are_idle_except_simulated_ones() -> None:
    people = [
        make_person("花子", NOW - timedelta(days=7)),
        make_person("민준", NOW - timedelta(days=7, seconds=1)),
        make_person("new", None),
        make_person("robot", None, simulated=True),
    ]
    idle = list_idle(people, now=NOW)
    assert [person.name for person in idle] == ["민준", "new"]
    assert describe_idle(idle, annotators=3, pairs_left=3) == "민준, new"
    assert describe_idle(idle, annotators=3, pairs_left=0) == "Nothing left to judge."
    assert describe_idle((), annotators=0, pairs_left=3) == "There are no annotators yet."
    assert describe_idle((), annotators=3, pairs_left=3) == "Everybody judged in the last 7 days."
    many = [make_person(str(number), None) for number in range(8)]
    assert describe_idle(many, annotators=8, pairs_left=3) == "0, 1, 2, 3, 4 and 3 more"
