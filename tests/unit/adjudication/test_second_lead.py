"""When a decision needs two leads, when they have decided, and which proposals each may see."""

import pytest

from annotator.adjudication.decision_check import find_visible_proposals, needs_two_leads, settles_pair

LEA, LOU, LIN = 1, 2, 3


def test_only_the_largest_distance_needs_two_leads_and_only_if_the_dataset_asks_for_them() -> None:
    assert needs_two_leads(True, 3)
    assert not any(needs_two_leads(True, distance) for distance in (0, 1, 2))
    assert not any(needs_two_leads(False, distance) for distance in range(4))


@pytest.mark.parametrize(
    ("decided", "proposals", "current", "settles"),
    [
        (2, {}, None, False),
        (2, {LEA: 2}, None, False),  # the own proposal, again
        (2, {LOU: 2}, None, True),
        (2, {LOU: 1}, None, False),
        (2, {LEA: 1, LOU: 2}, None, True),
        (2, {LOU: 1, LIN: 3}, None, True),  # two who differ: a third decides alone
        (2, {LOU: 1, LIN: 1}, None, False),
        (2, {}, 2, True),  # the current decision, in other words
        (2, {}, "unrateable", False),
        ("unrateable", {LOU: "unrateable"}, 1, True),
    ],
)
def test_two_leads_who_agree_have_decided(
    decided: int, proposals: dict[int, int], current: int | None, settles: bool
) -> None:
    assert settles_pair(decided, LEA, proposals, current) is settles


def test_a_lead_sees_others_proposals_after_their_own_or_once_two_differ() -> None:
    assert find_visible_proposals(LEA, {LOU: 2}) == set()
    assert find_visible_proposals(LEA, {LOU: 2, LIN: 2}) == set()
    assert find_visible_proposals(LEA, {LEA: 1, LOU: 2}) == {LEA, LOU}
    assert find_visible_proposals(LIN, {LEA: 1, LOU: 2}) == {LEA, LOU}
    assert find_visible_proposals(None, {LOU: 2}) == set()
