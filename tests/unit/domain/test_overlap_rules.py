"""The rules of overlap: what is refused, with what words, and how they read."""

from typing import Any

import pytest

from annotator.domain.errors import ValidationError
from annotator.domain.settling import (
    allows_further,
    check_rules,
    conditional_distance,
    count_lacking,
    describe_overlap,
    find_largest_overlap,
    find_overlap,
    find_uniform_overlap,
    is_in_share,
)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"categories": {"howto": 2}}, "expected category, share, cap, conditional, found 'categories'"),
        ({"category": {"howto": 0}}, "overlap of the category howto: expected a whole number 1-20, found 0"),
        ({"category": {"howto": True}}, "expected a whole number 1-20, found True"),
        ({"share": 0.3}, "expected a number between 0 and 1 with the overlap it gets, found 0.3"),
        ({"share": {"share": 1, "overlap": 2}}, "expected a number between 0 and 1 with the overlap it gets, found 1"),
        ({"share": {"share": 0, "overlap": 2}}, "expected a number between 0 and 1 with the overlap it gets, found 0"),
        ({"share": {"share": True, "overlap": 2}}, "expected a number between 0 and 1 with the overlap it gets, found True"),
        ({"share": {"share": "½", "overlap": 2}}, "expected a number between 0 and 1 with the overlap it gets, found '½'"),
        ({"share": {"share": 0.3}}, "expected a number between 0 and 1 with the overlap it gets, found {'share': 0.3}"),
        ({"share": {"share": 0.3, "overlap": 21}}, "overlap of the share: expected a whole number 1-20, found 21"),
        ({"cap": "3"}, "cap of the overlap: expected a whole number 1-20, found '3'"),
        ({"cap": 1}, "expected at least the overlap (2), found 1"),
        ({"cap": 2, "conditional": 2}, "expected at least 3, so that a third can be asked, found 2"),
        ({"conditional": 4}, "third judgment: expected a distance 1-3, found 4"),
        ({"conditional": 0}, "third judgment: expected a distance 1-3, found 0"),
    ],
)  # fmt: skip
def test_impossible_rules_are_refused_with_the_expected_value(rules: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        check_rules(2, rules)
    assert message in str(refused.value)


def test_empty_rules_are_none() -> None:
    assert check_rules(2, {"category": {}, "share": None, "cap": None, "conditional": None}) is None
    assert check_rules(2, None) is None
    assert conditional_distance(None) is None
    assert allows_further(None, 2)
    assert not allows_further(None, 20)
    assert find_overlap(2, None, seed=0, key="0", category="howto") == 2


@pytest.mark.parametrize(
    "rules",
    [{"cap": 2}, {"cap": 20}, {"cap": 3, "conditional": 1}, {"conditional": 3}, {"category": {"howto": 20, "判例": 1}},
     {"share": {"share": 0.001, "overlap": 1}}],
)  # fmt: skip
def test_at_its_limits_a_rule_is_kept_as_it_is(rules: dict[str, Any]) -> None:
    assert check_rules(2, rules) == rules


@pytest.mark.parametrize(
    ("rules", "howto", "other"),
    [
        (None, 2, 2),
        ({"cap": 20}, 2, 2),
        ({"category": {"howto": 1}}, 1, 2),
        ({"category": {"howto": 5}}, 5, 2),
        ({"category": {"howto": 5}, "cap": 3}, 3, 2),
        ({"share": {"share": 0.3, "overlap": 4}}, 4, 4),
        ({"share": {"share": 0.3, "overlap": 1}}, 2, 2),
        ({"category": {"howto": 1}, "share": {"share": 0.3, "overlap": 4}}, 1, 4),
        ({"conditional": 2}, 3, 3),
        ({"conditional": 2, "cap": 3}, 3, 3),
        ({"category": {"howto": 3}, "conditional": 2, "cap": 3}, 3, 3),
        ({"category": {"howto": 20}, "conditional": 1}, 20, 3),
    ],
)  # fmt: skip
def test_the_largest_overlap_includes_the_share_the_cap_and_a_further_annotator(
    rules: dict[str, Any] | None, howto: int, other: int
) -> None:
    assert (find_largest_overlap(2, rules, "howto"), find_largest_overlap(2, rules, None)) == (howto, other)


def test_the_overlap_is_uniform_without_rules_for_categories_or_a_share() -> None:
    assert [find_uniform_overlap(3, rules) for rules in (None, {}, {"conditional": 1}, {"cap": 2})] == [
        3,
        3,
        3,
        2,
    ]
    assert find_uniform_overlap(3, {"category": {"howto": 3}}) is None
    assert find_uniform_overlap(3, {"share": {"share": 0.5, "overlap": 3}}) is None


def test_only_the_seed_and_the_key_decide_which_pairs_are_in_the_share() -> None:
    drawn = [number for number in range(20) if is_in_share(0.3, seed=7, key=f"{number:024x}")]
    assert drawn == [0, 7, 11, 16]


@pytest.mark.parametrize(
    ("overlap", "rules", "message"),
    [
        (1, None, "Each pair is judged by 1 annotator."),
        (2, {}, "Each pair is judged by 2 annotators."),
        (
            1,
            {"share": {"share": 0.3, "overlap": 2}, "category": {"判例": 3, "howto": 1}, "cap": 3, "conditional": 2},
            ("30 % of the pairs are judged by 2 annotators, the others by 1. Exceptions by category: 判例: 3, howto: 1. "
             "No pair is judged by more than 3. One more is asked when the first two differ by at least 2."),
        ),
    ],
)  # fmt: skip
def test_the_rules_read_as_a_sentence(overlap: int, rules: dict[str, Any] | None, message: str) -> None:
    assert describe_overlap(overlap, rules) == message


@pytest.mark.parametrize(
    ("judgments", "further_from", "lacking"),
    [
        ([], None, 2),
        ([("independent", 1)], None, 1),
        ([("independent", 1), ("independent", None)], None, 0),
        ([("independent", 0), ("independent", 2)], None, 0),
        ([("independent", 0), ("independent", 2)], 2, 1),
        ([("independent", 0), ("independent", 1)], 2, 0),
        ([("independent", 0), ("independent", None)], 1, 0),
        ([("independent", 0), ("independent", 3), ("conditional", 3)], 1, 0),
        ([("independent", 0), ("conditional", 3)], 1, 0),
        ([("independent", 1)] * 4, 1, 0),
    ],
)
def test_a_pair_lacks_its_missing_judgments_and_one_more_if_the_counted_grades_differ(
    judgments: list[tuple[str, int | None]], further_from: int | None, lacking: int
) -> None:
    assert count_lacking(2, judgments, further_from=further_from) == lacking
