"""What a policy settles, what it leaves alone, and how its preview says what changed."""

from dataclasses import replace

import pytest

from annotator.adjudication.policies import find_obstacle, preview, say_changed
from annotator.adjudication.records import POLICIES, POLICY_NAMES, PolicyCandidate, check_policy, choose_grade
from annotator.domain.errors import ValidationError
from annotator.domain.settling import QueueReason

TASTE = PolicyCandidate(1, "k1", QueueReason.DIFFER, True, (1, 2), "0-aa", None, 0)


@pytest.mark.parametrize(
    ("grades", "lower", "median", "higher"),
    [
        ((2, 1), 1, 1, 2),
        ((2, 1, 2), 1, 2, 2),
        ((2, 1, 1), 1, 1, 2),
        ((3, 2, 3, 2), 2, 2, 3),
        ((3, 3, 2, 3), 2, 3, 3),
    ],
)
def test_each_policy_takes_a_grade_that_somebody_gave(
    grades: tuple[int, ...], lower: int, median: int, higher: int
) -> None:
    found = {policy: choose_grade(policy, grades) for policy in POLICIES}
    assert found == {"median": median, "lower": lower, "higher": higher}


def test_policies_are_named_and_others_refused() -> None:
    assert set(POLICY_NAMES) == set(POLICIES)
    with pytest.raises(ValidationError, match="expected one of median, lower, higher, found 'mean'"):
        check_policy("mean")


@pytest.mark.parametrize(
    ("change", "obstacle"),
    [
        ({}, None),
        ({"waiting": QueueReason.DIFFER | QueueReason.QUESTION}, "reason"),
        ({"waiting": QueueReason.QUALITY}, "reason"),
        ({"waiting": QueueReason.STALE}, "reason"),
        ({"waiting": QueueReason.OBJECTION}, "reason"),
        ({"waiting": QueueReason.UNRATEABLE}, "reason"),
        ({"taste": False}, "not_taste"),
        ({"second": True}, "second"),
        ({"judged": True}, "judged"),
        ({"held": True}, "held"),
        ({"assigned": True}, "assigned"),
        ({"discussed": True}, "discussed"),
    ],
)
def test_anything_but_an_undisturbed_matter_of_taste_is_left_to_a_lead(
    change: dict[str, object], obstacle: str | None
) -> None:
    assert find_obstacle(replace(TASTE, **change)) == obstacle  # type: ignore[arg-type]


def test_a_preview_counts_by_grades_sums_the_impact_and_says_why_pairs_are_left() -> None:
    pairs = [
        replace(TASTE, key="a", impact=0.25, flips=2),
        replace(TASTE, key="b", impact=0.0),
        replace(TASTE, key="c", grades=(3, 2, 3)),
        replace(TASTE, key="d", held=True),
        replace(TASTE, key="e", taste=False),
        replace(TASTE, key="f", taste=False),
    ]
    found, settled = preview("median", pairs)
    assert [(one.low, one.high, one.grade, one.pairs) for one in found.by_grades] == [
        (1, 2, 1, 2),
        (2, 3, 3, 1),
    ]
    assert [(one.obstacle, one.pairs) for one in found.left_out] == [("not_taste", 2), ("held", 1)]
    assert (found.pairs, found.impact_sum, found.impact_mean, found.flips) == (3, 0.25, 0.125, 1)
    assert found.examples == ("a", "b", "c")
    assert [(pair.key, grade) for pair, grade in settled] == [("a", 1), ("b", 1), ("c", 3)]
    assert preview("median", [TASTE])[0].impact_mean is None


def test_a_digest_changes_with_pairs_grades_and_policy_and_not_with_the_order() -> None:
    pairs = [replace(TASTE, key="a"), replace(TASTE, key="b")]
    digest = preview("lower", pairs)[0].digest
    assert preview("lower", pairs[::-1])[0].digest == digest
    assert preview("lower", [*pairs, replace(TASTE, key="c", judged=True)])[0].digest == digest
    for others, words in (
        ([*pairs, replace(TASTE, key="c")], "to be settled in the preview: 2, now: 3"),
        ([pairs[0], replace(TASTE, key="c")], "some of the pairs are others"),
        ([pairs[0], replace(TASTE, key="b", seen="0-bb")], "judgments of these pairs came or were changed"),
        ([pairs[0], replace(TASTE, key="b", grades=(2, 3))], "judgments of these pairs came or were changed"),
    ):
        after = preview("lower", others)[0].digest
        assert after != digest
        assert words in say_changed(digest, after)
    assert preview("higher", pairs)[0].digest != digest
    assert "not what the preview showed" in say_changed("", digest)
