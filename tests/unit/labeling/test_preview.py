"""How many judgments an overlap and its rules come to: given, and still to give."""

from dataclasses import replace
from typing import Any

import pytest

from annotator.domain.settling import is_in_share
from annotator.labeling.assignment import JudgmentProgress, PairsAlike, count_judgments


def alike(
    answers: int, spread: int | None = None, *, pairs: int = 10, category: str | None = None
) -> PairsAlike:
    return PairsAlike("", category, answers, spread, pairs)


@pytest.mark.parametrize(
    ("rules", "expected", "judgments"),
    [
        (None, alike(0), JudgmentProgress(0, 20)),
        (None, alike(1), JudgmentProgress(10, 10)),
        (None, alike(5), JudgmentProgress(50, 0)),
        ({"category": {"howto": 3}}, alike(1, category="howto"), JudgmentProgress(10, 20)),
        ({"category": {"howto": 3}}, alike(1, category="判例"), JudgmentProgress(10, 10)),
        ({"conditional": 2}, alike(2, 2), JudgmentProgress(20, 10)),
        ({"conditional": 2}, alike(2, 1), JudgmentProgress(20, 0)),
        ({"conditional": 2}, alike(1, None), JudgmentProgress(10, 10)),
        ({"conditional": 1}, alike(3, 3), JudgmentProgress(30, 0)),
        ({"conditional": 1, "cap": 2}, alike(2, 3), JudgmentProgress(20, 0)),
        (None, alike(2, 3), JudgmentProgress(20, 0)),
        (None, replace(alike(1), is_closed=True), JudgmentProgress(10, 0)),
    ],
)  # fmt: skip
def test_what_is_left_follows_from_the_rules_and_a_further_one_from_a_difference_there_is(
    rules: dict[str, Any] | None, expected: PairsAlike, judgments: JudgmentProgress
) -> None:
    assert count_judgments(2, rules, seed=7, pairs=[expected]) == judgments
    assert judgments.total == judgments.done + judgments.left


def test_pairs_add_up_and_those_of_the_share_are_counted_one_by_one() -> None:
    pairs = [PairsAlike(f"{number:024x}", None, 0, None, 1) for number in range(20)]
    drawn = sum(is_in_share(0.3, seed=7, key=pair.key) for pair in pairs)
    rules = {"share": {"share": 0.3, "overlap": 2}}
    assert count_judgments(1, rules, seed=7, pairs=pairs) == JudgmentProgress(0, 20 + drawn)
    assert 0 < drawn < 20
