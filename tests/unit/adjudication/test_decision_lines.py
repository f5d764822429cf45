"""Whether a line of a file says something new: not where just that is decided, unless somebody has questioned it since."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from annotator.adjudication.bulk.bulk_files import DecisionLine, PairToDecide, check_lines, is_decided_so
from annotator.adjudication.records import Decision
from annotator.domain.errors import Problems

DECISION = Decision(
    pair="k",
    revision=1,
    decided_at=datetime(2026, 3, 4, tzinfo=UTC),
    lead_pk=1,
    lead="lea",
    outcome="graded",
    grade=2,
    rationale="第17条",
    reason="words",
)
PAIR = PairToDecide(1, "k", False, "", False, ("e1", "e2"), DECISION)
LINE = DecisionLine(2, "Q1", "遠い", 2, "第17条", "words")


@pytest.mark.parametrize(
    ("line", "pair", "same"),
    [
        (LINE, PAIR, True),
        (LINE, replace(PAIR, open=True), False),
        (LINE, replace(PAIR, last=None), False),
        (replace(LINE, decided=1), PAIR, False),
        (replace(LINE, rationale="第18条"), PAIR, False),
        (replace(LINE, cause="slip"), PAIR, False),
    ],
)
def test_a_line_that_says_what_holds_already_changes_nothing_unless_the_pair_waits_again(
    line: DecisionLine, pair: PairToDecide, same: bool
) -> None:
    assert is_decided_so(line, pair) is same


def test_a_row_beside_another_pairs_state_is_not_called_changed_as_well() -> None:
    problems = Problems("queue.csv")
    check_lines([replace(LINE, pair="other", seen="0-ab")], {("Q1", "遠い"): PAIR}, problems)
    assert problems.errors == []
