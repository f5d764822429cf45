"""Who fails on gold pairs or on repeats, as far as their number of answers can show."""

import pytest

from annotator.agreement.diagnosis.careless_work import find_failing
from annotator.labeling.records import AnnotatorResult, GoldResult, RepeatConsistency


def _result(
    name: str, *, gold: tuple[int, int] = (0, 0), repeats: tuple[int, int] = (0, 0)
) -> AnnotatorResult:
    """Right and answered gold pairs, equal and answered repeats."""
    return AnnotatorResult(
        annotator=name,
        name=name,
        simulated=False,
        training=None,
        gold=GoldResult(gold[1], gold[0] / gold[1] if gold[1] else None, 0.4 if gold[1] else None),
        repeats=RepeatConsistency(repeats[1], repeats[0] / repeats[1] if repeats[1] else None, 0.7),
    )


def test_who_fails_is_told_with_the_exact_interval() -> None:
    (failing,) = find_failing([_result("b", gold=(8, 20)), _result("a", gold=(18, 20))])
    assert (failing.kind, failing.annotator, failing.right, failing.of, failing.difference) == (
        "gold",
        "b",
        8,
        20,
        0.4,
    )
    assert failing.share == pytest.approx((0.1912, 0.6395), abs=1e-4)


def test_repeats_come_before_gold_and_names_in_order() -> None:
    low = {"gold": (5, 40), "repeats": (5, 40)}
    failing = find_failing([_result("b", **low), _result("a", **low)])
    assert [(item.kind, item.annotator) for item in failing] == [
        ("repeat", "a"), ("repeat", "b"), ("gold", "a"), ("gold", "b"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("right", "of", "fails"), [(0, 9, False), (0, 10, True), (6, 10, False), (15, 20, False)]
)
def test_few_answers_or_nearly_enough_right_ones_are_no_failure(right: int, of: int, fails: bool) -> None:
    assert bool(find_failing([_result("a", gold=(right, of))])) == fails
    assert bool(find_failing([_result("a", repeats=(right, of))])) == fails


def test_among_many_annotators_more_is_needed_to_accuse_one() -> None:
    suspect = _result("a", gold=(8, 20))
    others = [_result(f"b{number}", gold=(19, 20)) for number in range(30)]
    assert len(find_failing([suspect])) == 1
    assert find_failing([suspect, *others]) == ()
    assert [failing.annotator for failing in find_failing([_result("a", gold=(4, 20)), *others])] == ["a"]


def test_who_was_not_checked_does_not_fail() -> None:
    assert find_failing([_result("a")]) == ()
