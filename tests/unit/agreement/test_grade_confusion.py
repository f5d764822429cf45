"""The grades confused most, who gives the higher of them, and in which category it happens most."""

from collections.abc import Sequence

import numpy as np

from annotator.agreement.comparisons import list_comparisons
from annotator.agreement.diagnosis.grade_confusion import GradeConfusion, find_confused
from annotator.agreement.judgment_table import GradedJudgments, sort_judged
from annotator.agreement.measure import measure
from annotator.agreement.records import GroupAgreement

NAMES = ("a", "b", "c")


def _judged(grades: Sequence[tuple[int | None, ...]], per_query: int = 4) -> GradedJudgments:
    rows = [
        (pair // per_query, pair, annotator, grade)
        for pair, given in enumerate(grades)
        for annotator, grade in enumerate(given)
        if grade is not None
    ]
    return sort_judged(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)


def _find(judged: GradedJudgments, categories: int = 1) -> GradeConfusion | None:
    """With queries dealt out to so many categories in turn."""
    groups = [
        GroupAgreement(
            "category",
            f"c{number}" if number else None,
            measure(judged.where(judged.query % categories == number), NAMES, resamples=0, seed=0),
        )
        for number in range(categories)
    ]
    return find_confused(groups if categories > 1 else (), list_comparisons(judged), NAMES)


def test_both_orders_of_two_grades_count_as_one_confusion() -> None:
    confusion = _find(_judged([(0, 0), (1, 2), (2, 1), (1, 2), (0, 3), (3, 1)] * 4))
    assert confusion is not None
    assert (confusion.low, confusion.high, confusion.times, confusion.total, confusion.far) == (
        1,
        2,
        12,
        20,
        8,
    )


def test_of_confusions_as_frequent_the_nearer_and_lower_grades_are_named() -> None:
    confusion = _find(_judged([(0, 3), (3, 2), (1, 2), (0, 0)] * 4))
    assert confusion is not None and (confusion.low, confusion.high) == (1, 2)


def test_where_nobody_differs_nothing_is_confused() -> None:
    assert _find(_judged([(0, 0), (1, 1)] * 20)) is None
    assert _find(_judged([])) is None


def test_of_three_the_one_who_gives_the_higher_is_named_not_those_who_look_low_beside_them() -> None:
    given = [(1, 2, 1), (0, 0, 0), (3, 3, 3), (1, 1, 1)] * 40
    confusion = _find(_judged(given))
    assert confusion is not None
    assert [(direction.annotator, direction.higher, direction.of) for direction in confusion.directions] == [
        ("b", 80, 80)
    ]


def test_who_gives_the_lower_beside_the_rest_too_is_named_after_who_gives_the_higher() -> None:
    given = [(1, 2, None), (2, None, 1), (0, 0, 0), (3, 3, 3)] * 40
    confusion = _find(_judged(given))
    assert confusion is not None
    assert [(direction.annotator, direction.higher, direction.of) for direction in confusion.directions] == [
        ("b", 40, 40),
        ("c", 0, 40),
    ]


def test_queries_that_hang_together_do_not_count_as_so_many_proofs() -> None:
    """Thirty confusions one way prove something where they come from thirty queries, and little where from three."""
    one_way, other_way, plain = (1, 2), (2, 1), (3, 3)
    spread = [one_way if n % 20 == 0 else plain for n in range(600)]
    spread += [other_way if n % 20 == 0 else plain for n in range(200)]
    packed = [one_way] * 10 + [other_way] * 10 + [one_way] * 20 + [plain] * 760
    assert _directions(_judged(spread, per_query=10)) == ["b"]
    assert _directions(_judged(packed, per_query=10)) == []


def _directions(judged: GradedJudgments) -> list[str]:
    confusion = _find(judged)
    assert confusion is not None
    return [direction.annotator for direction in confusion.directions]


def test_the_category_where_the_confusion_gathers_is_named_with_the_rates() -> None:
    confused, plain = [(1, 2), (2, 1), (0, 0), (3, 3)], [(0, 0), (3, 3), (2, 2), (1, 2)]
    judged = _judged((plain + plain + confused) * 30)
    confusion = _find(judged, categories=3)
    assert confusion is not None
    (concentration,) = confusion.concentrations
    assert (
        concentration.category,
        concentration.times,
        concentration.comparisons,
        concentration.elsewhere,
    ) == ("c2", 60, 120, 0.25)


def test_a_confusion_spread_evenly_or_rare_is_placed_nowhere() -> None:
    even = _find(_judged([(1, 2), (2, 1), (0, 0), (3, 3)] * 90), categories=3)
    assert even is not None and even.concentrations == ()
    plain, some = [(0, 0), (3, 3), (1, 1), (2, 2)], [(1, 2), (3, 3), (1, 1), (0, 0)]
    rare = _find(_judged((plain * 2 + some) * 9 + plain * 63), categories=3)
    assert rare is not None and rare.concentrations == ()
    enough = _find(_judged((plain * 2 + some) * 12 + plain * 54), categories=3)
    assert enough is not None and len(enough.concentrations) == 1


def test_a_slightly_higher_rate_is_no_concentration_however_sure_it_is() -> None:
    plain, more = [(1, 2), (0, 0), (2, 2), (3, 3)], [(1, 2), (2, 1), (2, 2), (3, 3)]
    confusion = _find(_judged((plain * 11 + more) * 400), categories=3)
    assert confusion is not None and confusion.concentrations == ()


def test_queries_without_a_category_are_not_named_as_one() -> None:
    confused, plain = [(1, 2), (2, 1), (0, 0), (3, 3)], [(0, 0), (3, 3), (2, 2), (1, 2)]
    confusion = _find(_judged((confused + plain + plain) * 30), categories=3)
    assert confusion is not None and confusion.concentrations == ()
