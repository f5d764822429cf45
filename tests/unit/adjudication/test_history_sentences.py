"""What annotators and leads did to a pair, as the pair's history tells it; and the records as a file."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from annotator.adjudication.history.history import describe_event, write_csv
from annotator.adjudication.history.history_records import AuditLogEntry

JUDGED: dict[str, Any] = {
    "outcome": "graded",
    "grade": 2,
    "purpose": "independent",
    "before": None,
    "settled": None,
}
EVENT = AuditLogEntry(
    1, datetime(2026, 3, 4, tzinfo=UTC), "lea", "Lea", "decided", "p", "Q1", "遠い", None, {"grade": 2}
)


@pytest.mark.parametrize(
    ("action", "changed", "message"),
    [
        ("judged", {}, "judged 2"),
        ("judged", {"outcome": "unrateable", "grade": None}, "judged cannot rate"),
        ("judged", {"outcome": "later", "grade": None}, "put the pair off"),
        ("judged", {"before": ("graded", 0)}, "judged 2 instead of 0"),
        ("judged", {"before": ("later", None)}, "judged 2"),
        ("judged", {"purpose": "training", "before": ("graded", 0)}, "judged 2 (training)"),
        ("judged", {"purpose": "conditional"}, "judged 2 (further judgment)"),
        ("checked", {"outcome": "later", "grade": None}, "answered later for quality control"),
        ("checked", {"settled": 3, "words": "第17条"}, "answered 2 for quality control, where 3 was settled: 第17条"),
        ("stood by", {}, "stood by 2 in the discussion"),
        ("revised", {"words": "그대로"}, "went over to 2 in the discussion: 그대로"),
        ("undid policy", {"outcome": "withdrawn", "grade": None}, "took back what a policy had decided"),
        ("withdrew", {"outcome": "withdrawn", "grade": None, "words": "w"}, "took the decision back: w"),
    ],
)  # fmt: skip
def test_what_happened_to_a_pair_is_told_in_a_sentence(
    action: str, changed: dict[str, Any], message: str
) -> None:
    assert describe_event(action, {**JUDGED, **changed}) == message


def test_the_file_says_which_records_hide_what_was_said() -> None:
    shown, hidden = "".join(write_csv([EVENT, replace(EVENT, after=None, hidden=True)])).splitlines()[1:]
    assert shown.endswith(',"{""grade"": 2}",""') and hidden.endswith(',"","","true"')
