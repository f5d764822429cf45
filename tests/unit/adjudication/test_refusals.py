"""Why a discussion is not asked for, and what holds in place of a decision that somebody objected to."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from annotator.adjudication.disagreement_records import OwnDecision
from annotator.adjudication.discussion.discussion_service import explain_changed_decision, find_unaskable

DECISION = OwnDecision(
    "p", "Q1", "一", "遠い", "", "graded", 0, "graded", 2, "第17条", None, None, 2, datetime(2026, 3, 4, tzinfo=UTC)
)  # fmt: skip


@pytest.mark.parametrize(
    ("judges", "able", "spoken", "refusal"),
    [
        (1, ["花子"], [], "Fewer than two annotators have judged this pair"),
        (2, ["花子"], [], "Fewer than two annotators of this pair can be asked"),
        (2, ["花子", "민준"], ["花子", "민준"], "Every annotator who can be asked has already replied"),
        (
            3,
            ["花子", "민준"],
            ["花子", "민준", "gone"],
            "Every annotator who can be asked has already replied",
        ),
        (2, ["花子", "민준"], ["花子"], None),
        (3, ["花子", "민준"], ["gone"], None),
    ],
)
def test_a_discussion_takes_two_who_can_be_asked_and_one_of_them_who_has_not_spoken(
    judges: int, able: list[str], spoken: list[str], refusal: str | None
) -> None:
    reason = find_unaskable(judges, able, spoken)
    assert reason is None if refusal is None else reason is not None and reason.startswith(refusal)


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (None, "withdrawn"),
        (replace(DECISION, outcome="withdrawn", grade=None), "withdrawn"),
        (replace(DECISION, outcome="unrateable", grade=None), "“cannot rate”"),
        (replace(DECISION, grade=0), "to 0"),
    ],
)
def test_the_refusal_of_an_objection_says_what_became_of_the_decision(
    now: OwnDecision | None, words: str
) -> None:
    assert words in explain_changed_decision(now)
