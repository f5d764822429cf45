"""Figures show as many digits as say something, and enough to be told from the figure beside them."""

import pytest

from annotator.domain.messages import show_beside, show_decimals, show_figure


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
def test_three_digits_that_say_something_are_shown(figure: float, shown: str) -> None:
    assert show_figure(figure) == shown


def test_two_figures_that_differ_are_shown_as_different() -> None:
    assert show_beside(0.75, 0.7) == ("0.75", "0.70")
    assert show_beside(0.6996, 0.7) == ("0.6996", "0.7000")
    assert show_beside(0.7, 0.7) == ("0.70", "0.70")
    assert show_beside(0.69999999, 0.7) == ("0.700000", "0.700000")
