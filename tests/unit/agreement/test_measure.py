"""Measuring a set of judgments: values, intervals, and the words for what is undefined."""

import random

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from annotator.agreement.judgment_table import GradedJudgments, sort_judged
from annotator.agreement.measure import (
    NO_RESAMPLES,
    NO_SHARED_PAIR,
    ONE_QUERY,
    mean_kappas,
    measure,
    measure_pairs,
)
from annotator.agreement.records import CoefficientValue, MeasuredAgreement, warn_of_few

NAMES = ("김", "高橋", "zoë")
Row = tuple[int, int, int, int]


def _judged(rows: list[Row]) -> GradedJudgments:
    """From rows of query, pair, annotator, grade."""
    return sort_judged(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)


def _measure(rows: list[Row], resamples: int = 200, only: int | None = None) -> MeasuredAgreement:
    return measure(_judged(rows), NAMES, resamples=resamples, seed=0, only=only)


def _two(grades: list[tuple[int, int]], queries: int = 5) -> list[Row]:
    """Two annotators over pairs spread over queries."""
    return [
        (pair % queries, pair, annotator, grade)
        for pair, both in enumerate(grades)
        for annotator, grade in enumerate(both)
    ]


MIXED = [(0, 0), (1, 1), (2, 2), (3, 3), (0, 1), (1, 2), (3, 1), (2, 2), (0, 0), (3, 3), (1, 0), (2, 3)] * 3


def test_with_two_annotators_the_dataset_has_their_kappa() -> None:
    measured = _measure(_two(MIXED))
    first, second = zip(*MIXED, strict=True)
    assert measured.cohen_kappa["quadratic"].value == pytest.approx(
        cohen_kappa_score(first, second, labels=[0, 1, 2, 3], weights="quadratic")
    )
    (pair,) = measured.annotator_pairs
    assert pair.annotators == ("김", "高橋")
    assert pair.cohen_kappa == measured.cohen_kappa
    assert (measured.pairs, measured.queries, pair.pairs) == (36, 5, 36)
    assert measured.observed_agreement == pytest.approx(7 / 12)
    assert np.array(pair.confusion).sum() == 36
    assert pair.confusion[3][1] == 3


def test_every_defined_figure_lies_in_its_interval() -> None:
    measured = _measure(_two(MIXED))
    values = [
        *measured.cohen_kappa.values(), measured.fleiss_kappa, *measured.krippendorff_alpha.values(),
        measured.gwet_ac1, measured.gwet_ac2, *(value for _, value in measured.cut_points),
    ]  # fmt: skip
    assert len(values) == 12
    for value in values:
        assert value.value is not None
        assert value.ci95 is not None
        assert value.ci95[0] <= value.value <= value.ci95[1]
        assert value.ci95[0] < value.ci95[1]


def test_the_interval_comes_from_whole_queries() -> None:
    """All pairs of a query alike: the spread is that of four queries, however many pairs they have."""
    rows = _two([(0, 0), (3, 3), (0, 3), (3, 3)] * 100, queries=4)
    (low, high) = _measure(rows, resamples=1000).cohen_kappa["unweighted"].ci95 or (0, 0)
    assert high - low > 0.5


def test_with_three_annotators_kappa_is_the_mean_weighted_by_shared_pairs() -> None:
    rows = _two(MIXED) + [(0, 100 + n, who, grade) for n in range(4) for who, grade in ((0, n), (2, 3 - n))]
    measured = _measure(rows)
    assert [(pair.annotators, pair.pairs) for pair in measured.annotator_pairs] == [
        (("김", "高橋"), 36),
        (("김", "zoë"), 4),
    ]
    values = [pair.cohen_kappa["linear"].value for pair in measured.annotator_pairs]
    assert values[0] is not None and values[1] is not None
    assert measured.cohen_kappa["linear"].value == pytest.approx((36 * values[0] + 4 * values[1]) / 40)


def test_perfect_agreement_without_variation_is_undefined_with_the_reason_and_the_raw_agreement() -> None:
    measured = _measure(_two([(2, 2)] * 8))
    values = [
        *measured.cohen_kappa.values(), measured.fleiss_kappa, *measured.krippendorff_alpha.values(),
        measured.gwet_ac1, measured.gwet_ac2, *(value for _, value in measured.cut_points),
        *measured.annotator_pairs[0].cohen_kappa.values(),
    ]  # fmt: skip
    assert {value.value for value in values} == {None}
    assert all("observed agreement 100 %" in (value.why or "") for value in values)
    assert measured.observed_agreement == 1.0


def test_perfect_agreement_with_variation_is_1() -> None:
    measured = _measure(_two([(0, 0), (1, 1), (3, 3)] * 5))
    assert measured.cohen_kappa["unweighted"].value == 1.0
    assert measured.krippendorff_alpha["ordinal"].value == 1.0
    assert measured.gwet_ac1.value == 1.0


def test_a_pair_judged_once_adds_nothing_to_agreement() -> None:
    alone = [(9, 900 + n, 0, 3) for n in range(20)]
    with_them, without = _measure(_two(MIXED) + alone), _measure(_two(MIXED))
    assert with_them.single_pairs == 20
    for item, other in zip(
        (with_them.cohen_kappa, with_them.krippendorff_alpha, with_them.fleiss_kappa, with_them.pairs),
        (without.cohen_kappa, without.krippendorff_alpha, without.fleiss_kappa, without.pairs),
        strict=True,
    ):
        assert item == other
    assert with_them.gwet_ac1.value != without.gwet_ac1.value


@pytest.mark.parametrize("rows", [[], [(1, 1, 0, 3)], [(1, 1, 0, 3), (1, 2, 1, 3)]])
def test_without_a_shared_pair_everything_says_so(rows: list[Row]) -> None:
    measured = _measure(rows)
    assert measured.observed_agreement is None
    assert measured.cohen_kappa["linear"] == CoefficientValue(None, None, NO_SHARED_PAIR)
    assert (
        measured.gwet_ac2
        == measured.fleiss_kappa
        == measured.cut_points[0][1]
        == CoefficientValue(None, None, NO_SHARED_PAIR)
    )
    assert measured.annotator_pairs == ()


def test_one_query_gives_a_value_and_says_why_no_interval() -> None:
    value = _measure(_two(MIXED, queries=1)).cohen_kappa["unweighted"]
    assert value.value is not None
    assert value.ci95 is None
    assert "two or more queries" in (value.why or "")


def test_the_order_of_the_rows_does_not_matter() -> None:
    rows = _two(MIXED)
    assert _measure(rows) == _measure(rows[::-1])


def test_the_cheap_kappa_is_the_reported_one() -> None:
    rows = _two(MIXED) + [(0, 100 + n, who, n) for n in range(4) for who in (0, 2)]
    measured = _measure(rows)
    tables = np.array([pair.confusion for pair in measured.annotator_pairs], dtype=float)
    assert mean_kappas(tables)["unweighted"].value == measured.cohen_kappa["unweighted"].value
    assert mean_kappas(np.zeros((0, 4, 4)))["unweighted"] == CoefficientValue(None, None, NO_SHARED_PAIR)


def test_one_annotators_figures_are_over_the_pairs_they_judged() -> None:
    rows = _two(MIXED) + [(0, 100 + n, who, grade) for n in range(4) for who, grade in ((0, n), (2, 3 - n))]
    measured = _measure(rows, only=2)
    assert (measured.pairs, [pair.annotators for pair in measured.annotator_pairs]) == (4, [("김", "zoë")])


def test_who_grades_higher_is_measured_on_shared_pairs() -> None:
    measured = _measure(_two([(0, 1), (1, 2), (2, 2), (2, 3)] * 10))
    assert [(leaning.annotator, leaning.comparisons, leaning.mean) for leaning in measured.leanings] == [
        ("김", 40, -0.75),
        ("高橋", 40, 0.75),
    ]
    assert measured.leanings[1].ci95 == tuple(-bound for bound in reversed(measured.leanings[0].ci95 or ()))


def test_a_cut_that_leaves_all_grades_on_one_side_says_so() -> None:
    measured = _measure(_two([(1, 1), (2, 2), (1, 2), (2, 1)] * 3))
    (_, from_1), (_, from_2), _ = measured.cut_points
    assert from_1.value is None
    assert (from_1.why or "").startswith(
        "all grades are on the same side of this threshold (observed agreement 100 %)"
    )
    assert from_2.value == pytest.approx(0.0)


def test_no_interval_is_drawn_from_one_query_wherever_it_is_one_of_many() -> None:
    """Where a query is in a resample its pairs are the same: the interval would have no width."""
    rows = _two(MIXED) + [
        (0, 100 + n, who, grade) for n in range(4) for who, grade in ((0, n), (2, 3 - n % 2))
    ]
    measured = _measure(rows)
    many, single = measured.annotator_pairs
    assert (many.queries, single.queries) == (5, 1)
    assert many.cohen_kappa["linear"].ci95 is not None
    for value in single.cohen_kappa.values():
        assert value.value is not None
        assert (value.ci95, value.why) == (None, ONE_QUERY)
    leanings = {leaning.annotator: leaning for leaning in measured.leanings}
    assert (leanings["zoë"].ci95, leanings["zoë"].why) == (None, ONE_QUERY)
    assert leanings["김"].ci95 is not None and leanings["김"].why is None
    assert single.as_json()["cohen_kappa"]["linear"] == {
        "value": single.cohen_kappa["linear"].value, "ci95": None, "why": ONE_QUERY,
    }  # fmt: skip


def test_two_who_share_little_are_warned_of_by_the_rule_for_groups() -> None:
    rows = _two(MIXED, queries=12) + [(0, 100 + n, who, n % 4) for n in range(40) for who in (0, 2)]
    many, single = _measure(rows).annotator_pairs
    assert many.warning is None
    assert single.warning == warn_of_few(single.pairs, 1)
    assert "warning" not in many.as_json()
    assert single.as_json()["warning"].startswith("too few pairs for a conclusion: 40 pairs of 1 query")
    assert [pair.as_json()["queries"] for pair in (many, single)] == [12, 1]


def test_without_resamples_each_figure_says_that_no_interval_was_asked_for() -> None:
    measured = _measure(_two(MIXED), resamples=0)
    assert {leaning.why for leaning in measured.leanings} == {NO_RESAMPLES}
    assert measured.annotator_pairs[0].cohen_kappa["linear"].why == NO_RESAMPLES


@pytest.mark.parametrize("judged", [0, 1, 400])
def test_the_grades_of_pairs_give_the_figures_of_their_judgments(judged: int) -> None:
    draw = random.Random(judged)
    grades: dict[tuple[str, str], dict[str, int]] = {}
    for number in range(judged):
        people = draw.sample(["one", "two", "three", "four"], draw.randint(1, 3))
        grades[f"Q{draw.randint(1, 20)}", f"D{number}"] = {name: draw.randint(0, 3) for name in people}
    alike: dict[tuple[tuple[str, int], ...], dict[str, int]] = {}
    shared = {name: alike.setdefault(tuple(of_pair.items()), of_pair) for name, of_pair in grades.items()}
    names = sorted({person for of_pair in grades.values() for person in of_pair})
    queries = list(dict.fromkeys(query_id for query_id, _ in grades))
    rows = [
        (queries.index(query_id), number, names.index(person), grade)
        for number, ((query_id, _), of_pair) in enumerate(grades.items())
        for person, grade in of_pair.items()
    ]
    judged_rows = sort_judged(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)
    expected = measure(judged_rows, names, resamples=50, seed=3)
    assert measure_pairs(grades, resamples=50, seed=3) == (names, expected)
    assert measure_pairs(shared, resamples=50, seed=3) == (names, expected)
