"""Each action of the audit log has a name and a sentence; what a record lacks is left out of it, and words of people stay as they are."""

from typing import Any

import pytest

from annotator.adjudication.history.history import ACTION_NAMES, describe_entry
from annotator.storage.logs.audit_log import ACTIONS

GRADED = {"outcome": "graded", "grade": 2, "rationale": "{第17条} 🔎"}


def test_every_action_has_a_name_and_a_sentence_even_without_a_word_of_what_it_was() -> None:
    assert set(ACTION_NAMES) == set(ACTIONS)
    sentences = {action: describe_entry(action, None, None) for action in ACTIONS}
    assert all(sentence.template for sentence in sentences.values())


@pytest.mark.parametrize(
    ("action", "before", "after", "message"),
    [
        ("decided", None, GRADED, "decided 2: {第17条} 🔎"),
        ("decided", {"outcome": "graded", "grade": 0}, {**GRADED, "rationale": ""}, "changed the decision from 0 to 2"),
        ("decided", {"outcome": "withdrawn"}, {"outcome": "unrateable"}, "decided cannot rate"),
        (
            "decided",
            None,
            {**GRADED, "rationale": None, "cause": "slip", "in_guideline": True},
            "decided 2; simple mistake, belongs in the guideline",
        ),
        ("proposed", None, GRADED, "proposed 2: {第17条} 🔎"),
        ("settled by policy", None, {**GRADED, "rationale": "중앙값"}, "decided 2 in bulk: 중앙값"),
        ("undid policy", GRADED, {"outcome": "withdrawn"}, "undid a bulk decision"),
        ("withdrew", GRADED, {"outcome": "withdrawn", "rationale": "早すぎた"}, "withdrew the decision: 早すぎた"),
        ("assigned", {"to": "a"}, {"to": "레아"}, "assigned the pair to 레아"),
        ("assigned", {"to": "a"}, {"to": None}, "removed the assignment"),
        ("exported queue", None, {"pairs": 1200}, "exported 1,200 pairs of the queue"),
        ("ordered documents", None, {"queries": 1, "documents": 3}, "ordered the documents of 1 query"),
        ("accepted duplicates", None, {"pairs": 1}, "accepted the grade of a near duplicate for 1 pair"),
        ("accepted duplicates", None, {"pairs": 2}, "accepted the grades of near duplicates for 2 pairs"),
        ("exported queue", None, {"pairs": 1}, "exported 1 pair of the queue"),
        (
            "changed settings",
            {"discuss_from": None},
            {"second_adjudicator": True, "discuss_from": 2},
            "changed settings: discuss_from = 2, second_adjudicator = true",
        ),
        ("published guideline", None, {"version": 3, "change": "minor"}, "published version 3 of the guideline"),
        (
            "published guideline",
            None,
            {"version": 3, "led": True},
            "cited the decision on this pair in version 3 of the guideline",
        ),
    ],
)  # fmt: skip
def test_a_record_is_said_in_a_sentence(
    action: str, before: dict[str, Any] | None, after: dict[str, Any] | None, message: str
) -> None:
    assert describe_entry(action, before, after) == message
