"""What annotators and leads did to a pair, as the pair's history tells it; and the records as a file."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from annotator.adjudication.history.history import AuditLogEntry, describe_event, write_csv

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
        ("judged", {"outcome": "later", "grade": None}, "set the pair to later"),
        ("judged", {"before": ("graded", 0)}, "changed the judgment from 0 to 2"),
        ("judged", {"before": ("later", None)}, "judged 2"),
        ("judged", {"purpose": "training", "before": ("graded", 0)}, "judged 2 (training)"),
        ("judged", {"purpose": "conditional"}, "judged 2 (further judgment)"),
        ("checked", {"outcome": "later", "grade": None}, "judged later in quality control"),
        ("checked", {"settled": 3, "words": "第17条"}, "judged 2 in quality control (settled grade: 3): 第17条"),
        ("stood by", {}, "kept 2 in the discussion"),
        ("revised", {"words": "그대로"}, "changed to 2 in the discussion: 그대로"),
        ("undid policy", {"outcome": "withdrawn", "grade": None}, "undid a bulk decision"),
        ("withdrew", {"outcome": "withdrawn", "grade": None, "words": "w"}, "withdrew the decision: w"),
    ],
)  # fmt: skip
def test_what_happened_to_a_pair_is_told_in_a_sentence(
    action: str, changed: dict[str, Any], message: str
) -> None:
    assert describe_event(action, {**JUDGED, **changed}) == message


def test_the_file_says_which_records_hide_what_was_said() -> None:
    shown, hidden = "".join(write_csv([EVENT, replace(EVENT, after=None, hidden=True)])).splitlines()[1:]
    assert shown.endswith(',"{""grade"": 2}",""') and hidden.endswith(',"","","true"')
