"""What a policy settles, what it leaves alone, and how its preview says what changed."""

from dataclasses import replace

import pytest

from annotator.adjudication.bulk.policies import (
    POLICIES,
    POLICY_NAMES,
    PolicyCandidate,
    PolicyPreview,
    check_policy,
    choose_grade,
    choose_settled,
    explain_changed_preview,
    find_obstacle,
    preview,
)
from annotator.domain.errors import ValidationError
from annotator.domain.settling import QueueReason

TASTE = PolicyCandidate(1, "k1", QueueReason.DIFFER, True, (1, 2), "0-aa", None, 0)


def preview_policy(policy: str, candidates: list[PolicyCandidate]) -> PolicyPreview:
    return preview(policy, candidates, choose_settled(policy, candidates))


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
    chosen = {policy: choose_grade(policy, grades) for policy in POLICIES}
    assert chosen == {"median": median, "lower": lower, "higher": higher}


def test_policies_are_named_and_others_refused() -> None:
    assert set(POLICY_NAMES) == set(POLICIES)
    with pytest.raises(ValidationError, match="Unknown policy 'mean'"):
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
        ({"needs_second": True}, "second"),
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
        replace(TASTE, pair="a", impact=0.25, flips=2),
        replace(TASTE, pair="b", impact=0.0),
        replace(TASTE, pair="c", grades=(3, 2, 3)),
        replace(TASTE, pair="d", held=True),
        replace(TASTE, pair="e", taste=False),
        replace(TASTE, pair="f", taste=False),
    ]
    preview = preview_policy("median", pairs)
    assert [(row.low, row.high, row.grade, row.pairs) for row in preview.by_grades] == [
        (1, 2, 1, 2),
        (2, 3, 3, 1),
    ]
    assert [(row.obstacle, row.pairs) for row in preview.left_out] == [("not_taste", 2), ("held", 1)]
    assert (preview.pairs, preview.impact_sum, preview.impact_mean, preview.flips) == (3, 0.25, 0.125, 1)
    assert preview.examples == ("a", "b", "c")
    settled = choose_settled("median", pairs)
    assert [(pair.candidate.pair, pair.grade) for pair in settled] == [("a", 1), ("b", 1), ("c", 3)]
    assert preview_policy("median", [TASTE]).impact_mean is None


def test_a_digest_changes_with_pairs_grades_and_policy_and_not_with_the_order() -> None:
    pairs = [replace(TASTE, pair="a"), replace(TASTE, pair="b")]
    digest = preview_policy("lower", pairs).digest
    assert preview_policy("lower", pairs[::-1]).digest == digest
    assert preview_policy("lower", [*pairs, replace(TASTE, pair="c", judged=True)]).digest == digest
    for others, words in (
        ([*pairs, replace(TASTE, pair="c")], "has changed from 2 to 3 since the preview"),
        ([pairs[0], replace(TASTE, pair="c")], "The pairs to settle have changed"),
        (
            [pairs[0], replace(TASTE, pair="b", seen="0-bb")],
            "Judgments of these pairs have been added or changed",
        ),
        (
            [pairs[0], replace(TASTE, pair="b", grades=(2, 3))],
            "Judgments of these pairs have been added or changed",
        ),
    ):
        after = preview_policy("lower", others).digest
        assert after != digest
        assert words in explain_changed_preview(digest, after)
    assert preview_policy("higher", pairs).digest != digest
    assert "The preview is out of date" in explain_changed_preview("", digest)
