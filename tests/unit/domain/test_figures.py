"""Figures show as many digits as say something, and enough to be told from the figure beside them."""

import pytest

from annotator.domain.figures import (
    fill,
    show_beside,
    show_decimals,
    show_figure,
    show_interval,
    show_number,
    show_p,
    show_percent,
)
from annotator.domain.messages import join_first


@pytest.mark.parametrize(
    ("figure", "shown"), [(6.5, "6.5"), (12.0, "12"), (0.071, "0.07"), (1200.0, "1,200"), (100.0, "100")]
)
def test_zeros_at_the_end_are_not_shown(figure: float, shown: str) -> None:
    assert show_decimals(figure) == shown


def test_without_decimals_the_zeros_of_a_number_stay() -> None:
    assert show_decimals(1200.0, 0) == "1,200"


@pytest.mark.parametrize(
    ("figure", "shown"),
    [
        (0.474596, "0.475"),
        (0.0201612, "0.0202"),
        (0.000123456, "0.000123"),
        (0.0000001, "0"),
        (0.0, "0"),
        (-0.0201612, "-0.0202"),
        (1.23456, "1.23"),
        (12.3456, "12.3"),
        (123.456, "123"),
        (1200.4, "1,200"),
        (1.0, "1"),
        (10.0, "10"),
        (100.0, "100"),
    ],
)
def test_three_significant_digits_are_shown(figure: float, shown: str) -> None:
    assert show_figure(figure) == shown


def test_two_figures_that_differ_are_shown_as_different() -> None:
    assert show_beside(0.75, 0.7) == ("0.75", "0.70")
    assert show_beside(0.6996, 0.7) == ("0.6996", "0.7000")
    assert show_beside(0.7, 0.7) == ("0.70", "0.70")
    assert show_beside(0.69999999, 0.7) == ("0.700000", "0.700000")


@pytest.mark.parametrize(
    ("figure", "digits", "shown"),
    [
        (6227, 0, "6,227"),
        (0.85, 3, "0.850"),
        (-0.0004, 3, "0.000"),
        (-0.0, 2, "0.00"),
        (1234.5678, 2, "1,234.57"),
        (1e39, 2, "1.00e39"),
        (float("nan"), 3, "–"),
        (float("inf"), 3, "–"),
        (None, 3, "–"),
    ],
)
def test_a_number_has_its_decimals_and_no_negative_zero(
    figure: float | None, digits: int, shown: str
) -> None:
    assert show_number(figure, digits) == shown


def test_a_signed_number_shows_its_plus() -> None:
    assert show_number(0.01, 3, signed=True) == "+0.010"
    assert show_number(-0.01, 3, signed=True) == "-0.010"


@pytest.mark.parametrize("figure", [2270.0, 999_999.0, 12_345_678.9, 0.00001, 0.5])
def test_no_figure_of_everyday_size_has_a_power_of_ten(figure: float) -> None:
    assert "e" not in show_figure(figure)
    assert "e" not in fill("{figure:g}", {"figure": figure})


@pytest.mark.parametrize(
    ("share", "digits", "shown"),
    [
        (7_425 / 7_432, 0, "99.9 %"),
        (1, 0, "100 %"),
        (0, 0, "0 %"),
        (0.0004, 0, "0.04 %"),
        (0.68, 1, "68.0 %"),
        (0.99949, 1, "99.9 %"),
        (1e-9, 0, "< 0.0001 %"),
        (1 - 1e-9, 0, "> 99.9999 %"),
        (None, 0, "–"),
    ],
)
def test_only_0_and_1_are_shown_as_0_and_100_percent(share: float | None, digits: int, shown: str) -> None:
    assert show_percent(share, digits) == shown


def test_a_share_differs_visibly_from_its_limit_and_a_bound_is_rounded_up() -> None:
    assert show_percent(0.04996, 1, limit=0.05) == "4.996 %"
    assert show_percent(0.0501, 0, at_most=True) == "6 %"
    assert show_percent(0.0401, 1, at_most=True, limit=0.05) == "4.1 %"


@pytest.mark.parametrize(
    ("p", "shown", "bare"),
    [
        (0.0, "p < .001", "< .001"),
        (0.0004, "p < .001", "< .001"),
        (0.04, "p = .040", ".040"),
        (1.0, "p = 1", "1"),
        (None, "p undefined", "undefined"),
    ],
)
def test_a_p_value_is_never_0(p: float | None, shown: str, bare: str) -> None:
    assert show_p(p) == shown
    assert show_p(p, named=False) == bare


def test_an_interval_has_no_negative_zero() -> None:
    assert show_interval((-0.0001, 0.5)) == "0.000, 0.500"
    assert show_interval(None) == "–"


@pytest.mark.parametrize(
    ("template", "values", "shown"),
    [
        ("{n} of {of:,} pairs", {"n": 6227, "of": 7432}, "6,227 of 7,432 pairs"),
        (
            "version {version}, seed {seed}",
            {"version": 1234, "seed": 20260101},
            "version 1234, seed 20260101",
        ),
        ("{share:.0%}", {"share": 0.9999}, "99.99 %"),
        ("{mean:+.2f}", {"mean": -0.001}, "+0.00"),
        ("{target:g}", {"target": 0.7}, "0.7"),
        ("{name}: {n}", {"name": "a{b}", "n": 3}, "a{b}: 3"),
        ("{n!r:.80} {n}", {"n": 1.5}, "1.5 1.5"),
    ],
)
def test_the_numbers_of_a_sentence_follow_the_rules(
    template: str, values: dict[str, object], shown: str
) -> None:
    assert fill(template, values) == shown
    assert fill(template, values, percent="%") == shown.replace(" %", "%")


def test_a_line_names_ten_of_many_and_counts_the_rest() -> None:
    names = [f"s{number}" for number in range(762)]
    assert join_first(names[:3]) == "s0, s1, s2"
    assert join_first(names).endswith("s9, and 752 more")
