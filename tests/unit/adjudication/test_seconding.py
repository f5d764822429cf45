"""When a decision takes two leads, what becomes of what each says, and what each is shown of the others'."""

import pytest

from annotator.adjudication.records import is_decision, list_visible, takes_two

LEA, LOU, LIN = 1, 2, 3


def test_only_grades_as_far_apart_as_can_be_take_two_and_only_where_the_dataset_asks_for_it() -> None:
    assert takes_two(True, 3)
    assert not any(takes_two(True, distance) for distance in (0, 1, 2))
    assert not any(takes_two(False, distance) for distance in range(4))


@pytest.mark.parametrize(
    ("decided", "proposals", "held", "decides"),
    [
        (2, {}, None, False),
        (2, {LEA: 2}, None, False),  # one's own, again
        (2, {LOU: 2}, None, True),
        (2, {LOU: 1}, None, False),
        (2, {LEA: 1, LOU: 2}, None, True),
        (2, {LOU: 1, LIN: 3}, None, True),  # two who differ: a third decides alone
        (2, {LOU: 1, LIN: 1}, None, False),
        (2, {}, 2, True),  # what holds already, in other words
        (2, {}, "unrateable", False),
        ("unrateable", {LOU: "unrateable"}, 1, True),
    ],
)
def test_two_leads_who_say_the_same_have_decided(
    decided: int, proposals: dict[int, int], held: int | None, decides: bool
) -> None:
    assert is_decision(decided, LEA, proposals, held) is decides


def test_what_another_proposes_is_shown_after_ones_own_or_once_two_differ() -> None:
    assert list_visible(LEA, {LOU: 2}) == set()
    assert list_visible(LEA, {LOU: 2, LIN: 2}) == set()
    assert list_visible(LEA, {LEA: 1, LOU: 2}) == {LEA, LOU}
    assert list_visible(LIN, {LEA: 1, LOU: 2}) == {LEA, LOU}
    assert list_visible(None, {LOU: 2}) == set()
