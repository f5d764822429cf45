"""Which of two answers counts, by what the server knows of when each was given."""

from datetime import UTC, datetime, timedelta

import pytest

from annotator.storage.judgments.answers import JudgmentReceipt, is_newer, order_answers
from annotator.storage.tables.central import JudgmentRow

NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)


def press(
    number: int, purpose: str = "independent", *, late: bool = False, annotator_pk: int = 1
) -> JudgmentRow:
    return JudgmentRow(
        event_id="e", rubric_pk=1, outcome="later",
        pair_pk=7, annotator_pk=annotator_pk, purpose=purpose, judged_at=NOON, received_at=NOON,
        browser="desk", browser_number=number, late=late,
    )  # fmt: skip


@pytest.mark.parametrize(("earlier", "received", "newer"), [(2, 1, True), (1, 2, False), (4, 4, False)])
def test_of_one_browser_the_higher_number_is_newer_and_an_equal_one_is_not(
    earlier: int, received: int, newer: bool
) -> None:
    first = JudgmentReceipt(NOON, NOON, "desk", earlier)
    assert is_newer(first, JudgmentReceipt(NOON, NOON + timedelta(days=1), "desk", received)) is newer
    assert not is_newer(first, JudgmentReceipt(NOON, NOON, "phone", received))


@pytest.mark.parametrize("purposes", [("conditional", "independent"), ("independent", "conditional")])
def test_an_independent_and_a_conditional_judgment_compete(purposes: tuple[str, str]) -> None:
    newer, older = press(2, purposes[0]), press(1, purposes[1], late=True)
    assert order_answers([newer, older]) == [older, newer]


@pytest.mark.parametrize("other", [press(2, "gold"), press(2, annotator_pk=2)])
def test_an_answer_competes_with_nobody_elses_and_with_no_check(other: JudgmentRow) -> None:
    older = press(1, late=True)
    assert order_answers([other, older]) == [other, older]
