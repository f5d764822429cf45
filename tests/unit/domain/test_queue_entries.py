"""Which pairs wait for a lead, why, since when, and how far apart they are."""

from datetime import UTC, datetime, timedelta

import pytest

from annotator.domain.settling import (
    NOTHING,
    Decided,
    QueueEntry,
    QueueReason,
    Settlement,
    SettlementFacts,
    Stage,
    find_queue_entry,
    find_stage,
    settle,
)

START = datetime(2026, 5, 1, tzinfo=UTC)


def at(minutes: int) -> datetime:
    return START + timedelta(minutes=minutes)


def answers(*grades: int | None) -> list[tuple[int | None, datetime]]:
    """One a minute."""
    return [(grade, at(minute)) for minute, grade in enumerate(grades)]


@pytest.mark.parametrize("grades", [(), (2,), (None,), (2, 2), (None, None), (0, 0, 0)])
def test_equal_grades_are_no_disagreement(grades: tuple[int | None, ...]) -> None:
    assert find_queue_entry(SettlementFacts(answers(*grades))) is None


@pytest.mark.parametrize(
    ("grades", "low", "high", "since"), [((0, 3), 0, 3, 1), ((2, 2, 1), 1, 2, 2), ((3, 0, 1, 2), 0, 3, 1)]
)
def test_different_grades_are_a_disagreement_since_the_first_different_one(
    grades: tuple[int, ...], low: int, high: int, since: int
) -> None:
    assert find_queue_entry(SettlementFacts(answers(*grades))) == QueueEntry(
        True, QueueReason.DIFFER, QueueReason.DIFFER, low, high, high - low, at(since)
    )


def test_the_order_of_the_answers_is_their_time() -> None:
    queue_entry = find_queue_entry(SettlementFacts([(1, at(9)), (2, at(3)), (2, at(5))]))
    assert queue_entry is not None
    assert queue_entry.since == at(9)


@pytest.mark.parametrize(("grades", "since"), [((2, None), 1), ((None, 2), 1), ((2, 2, None), 2)])
def test_a_grade_and_unrateable_have_the_distance_of_neighbours(
    grades: tuple[int | None, ...], since: int
) -> None:
    assert find_queue_entry(SettlementFacts(answers(*grades))) == QueueEntry(
        True, QueueReason.UNRATEABLE, QueueReason.UNRATEABLE, None, None, 1, at(since)
    )


def test_several_reasons_can_hold() -> None:
    queue_entry = find_queue_entry(SettlementFacts(answers(0, None, 3)))
    assert queue_entry == QueueEntry(
        True,
        QueueReason.DIFFER | QueueReason.UNRATEABLE,
        QueueReason.DIFFER | QueueReason.UNRATEABLE,
        0,
        3,
        3,
        at(1),
    )


@pytest.mark.parametrize("decided", [2, 0, "unrateable"])
def test_a_decision_closes_the_entry_and_keeps_its_reasons(decided: Decided) -> None:
    queue_entry = find_queue_entry(SettlementFacts(answers(0, 2), decided=decided, decided_at=at(9)))
    assert queue_entry == QueueEntry(False, QueueReason.DIFFER, NOTHING, 0, 2, 2, at(1))


def test_a_decision_stays_in_the_queue_when_annotators_have_come_to_agree() -> None:
    queue_entry = find_queue_entry(SettlementFacts(answers(2, 2), decided=1, decided_at=at(9)))
    assert queue_entry == QueueEntry(False, NOTHING, NOTHING, None, None, 0, at(9))


def test_quality_control_reopens_with_the_grade_that_it_contradicts() -> None:
    queue_entry = find_queue_entry(SettlementFacts(answers(2, 2), settled=2, errors=[(0, at(7))]))
    assert queue_entry == QueueEntry(True, QueueReason.QUALITY, QueueReason.QUALITY, 0, 2, 2, at(7))


def test_quality_control_that_agrees_with_the_present_grade_is_no_reason() -> None:
    assert find_queue_entry(SettlementFacts(answers(2, 2), settled=2, errors=[(2, at(7))])) is None


def test_an_error_on_a_pair_without_a_settled_grade_is_a_reason() -> None:
    queue_entry = find_queue_entry(SettlementFacts([], errors=[(2, at(7))]))
    assert queue_entry == QueueEntry(True, QueueReason.QUALITY, QueueReason.QUALITY, None, None, 0, at(7))


@pytest.mark.parametrize(
    ("reason", "fields"),
    [
        (QueueReason.OBJECTION, {"objections": [at(12), at(11)]}),
        (QueueReason.QUESTION, {"questions": [at(11)]}),
        (QueueReason.STALE, {"stale": [at(11)]}),
        (QueueReason.QUALITY, {"errors": [(0, at(11))], "settled": 2}),
    ],
)
def test_later_objections_questions_and_errors_reopen_a_decided_pair(
    reason: QueueReason, fields: dict[str, object]
) -> None:
    pair = SettlementFacts(answers(1, 2), decided=2, decided_at=at(9), **fields)  # type: ignore[arg-type]
    queue_entry = find_queue_entry(pair)
    assert queue_entry is not None
    assert (queue_entry.open, queue_entry.reasons, queue_entry.since) == (
        True,
        QueueReason.DIFFER | reason,
        at(11),
    )
    assert queue_entry.waiting == reason


@pytest.mark.parametrize(
    ("pair", "taste"),
    [
        (SettlementFacts(answers(1, 2)), True),
        (SettlementFacts(answers(2, 3)), True),
        (SettlementFacts(answers(0, 1)), False),
        (SettlementFacts(answers(1, 3)), False),
        (SettlementFacts(answers(1, 2, None)), False),
        (SettlementFacts(answers(1, 2), questions=[at(3)]), False),
        (SettlementFacts(answers(2, None)), False),
        (SettlementFacts(answers(2, 2), decided=1, decided_at=at(3)), False),
    ],
)
def test_neighbouring_grades_on_one_side_of_relevance_are_a_matter_of_taste(
    pair: SettlementFacts, taste: bool
) -> None:
    queue_entry = find_queue_entry(pair)
    assert queue_entry is not None
    assert queue_entry.taste is taste


AGREED, SETTLED = settle([2, 2], 0, None), settle([1, 2], 0, 1)


@pytest.mark.parametrize(
    ("settlement", "waiting", "decided", "lacking", "stage"),
    [
        (settle([], 0, None), NOTHING, False, 2, "waiting"),
        (settle([], 0, None), QueueReason.QUESTION, False, 2, "waiting"),
        (settle([2], 0, None), NOTHING, False, 1, "waiting"),
        (settle([], 1, None), NOTHING, False, 1, "waiting"),
        (settle([2], 0, None), NOTHING, False, 0, "single"),
        (settle([], 0, None, 3), NOTHING, False, 0, "imported"),
        (AGREED, NOTHING, False, 0, "agreed"),
        (settle([], 2, None), NOTHING, False, 0, "agreed"),
        (settle([1, 2], 0, None), QueueReason.DIFFER, False, 1, "disputed"),
        (settle([1], 1, None), QueueReason.UNRATEABLE, False, 0, "disputed"),
        (settle([1, 2], 0, None), QueueReason.DIFFER | QueueReason.QUESTION, False, 0, "disputed"),
        (SETTLED, NOTHING, True, 0, "settled"),
        (settle([1, 2], 0, "unrateable"), NOTHING, True, 0, "settled"),
        (AGREED, QueueReason.QUESTION, False, 1, "reopened"),
        (AGREED, QueueReason.STALE, False, 0, "reopened"),
        (SETTLED, QueueReason.OBJECTION, True, 0, "reopened"),
        (settle([2, 2], 0, None, None, (1,)), QueueReason.QUALITY, False, 0, "reopened"),
        (settle([1, 2], 0, None, None, (3,)), QueueReason.DIFFER | QueueReason.QUALITY, False, 0, "reopened"),
    ],
)
def test_a_pair_is_at_one_stage(
    settlement: Settlement, waiting: QueueReason, decided: bool, lacking: int, stage: Stage
) -> None:
    assert find_stage(settlement, waiting, decided=decided, lacking=lacking) == stage


def test_a_decided_error_stays_among_the_reasons() -> None:
    queue_entry = find_queue_entry(
        SettlementFacts(answers(2, 2), decided=2, decided_at=at(9), settled=2, answered_errors=[(0, at(7))])
    )
    assert queue_entry == QueueEntry(False, QueueReason.QUALITY, NOTHING, 0, 2, 2, at(9))
