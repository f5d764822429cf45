"""Show numbers to people: the rules for screens, pages, reports and releases.

- A comma separates thousands in every language: 6,227. Versions, seeds and other names are no counts: 6227.
- A figure below 1e15 has no power of ten, and zero has no sign.
- A share below 1 is never shown as 100 %, and one above 0 never as 0 %: it gets the digits that this needs.
- A p-value is never 0: p < .001.
- An undefined or infinite figure is a dash.
"""

import math
import re
from collections.abc import Mapping
from string import Formatter
from typing import Any

NOTHING = "–"
MOST_DIGITS = 15  # figures from 1e15 on have a power of ten
MOST_DECIMALS = 6
MOST_OF_A_SHARE = 4  # digits of a share that is close to 0, to 1 or to a limit
NAMES = frozenset(("line", "number", "revision", "round", "seed", "version"))
"""Placeholders for a name, not an amount: version 2026 is not written 2,026."""


def show_number(number: float | None, digits: int = 0, *, signed: bool = False) -> str:
    """Return the number with exactly `digits` decimals: "6,227", "0.850"; with `signed`, "+0.010"."""
    if number is None or not math.isfinite(number):
        return NOTHING
    sign = "+" if signed else ""
    if abs(number) >= 10.0**MOST_DIGITS:
        return f"{number:{sign}.2e}".replace("e+", "e")
    return f"{number:{sign}z,.{digits}f}"


def show_decimals(figure: float | None, digits: int = 2, *, signed: bool = False) -> str:
    """Return a figure with at most `digits` decimals, without zeros at its end: 6.5, 12, 0.07."""
    shown = show_number(figure, digits, signed=signed)
    return shown.rstrip("0").rstrip(".") if "." in shown and "e" not in shown else shown


HYPHEN = re.compile(r"(?<![^\s\[(])-(?=[\d.])")


def write_minus(text: str) -> str:
    """Return the text with a minus sign in place of the hyphen before a number."""
    return HYPHEN.sub("−", text)


def show_figure(figure: float | None, significant: int = 3) -> str:
    """Return a figure with decimals up to `significant` significant digits: 0.0202, 12.3, 2,270."""
    if not figure or not math.isfinite(figure):
        return show_number(figure)
    exponent = math.floor(math.log10(abs(figure)))
    return show_decimals(figure, min(MOST_DECIMALS, max(0, significant - 1 - exponent)))


def show_percent(
    share: float | None,
    digits: int = 1,
    *,
    at_most: bool = False,
    limit: float | None = None,
    sign: str = " %",
) -> str:
    """Return a share in per cent: "68.0 %".

    `at_most`: the share is an upper bound, so it is rounded up. `limit`: a share to compare with; if both
    would look the same, more digits are shown.
    """
    if share is None or not math.isfinite(share):
        return NOTHING
    for decimals in range(digits, max(digits, MOST_OF_A_SHARE) + 1):
        power = 10**decimals
        percent = math.ceil(100 * power * share - 1e-9) / power if at_most else round(100 * share, decimals)
        ends = [0.0] if at_most else [0.0, 1.0]
        if all(_compare(percent, 100 * end) == _compare(share, end) for end in ends) and (
            limit is None or _compare(percent, 100 * limit) == _compare(share, limit)
        ):
            return show_number(percent, decimals) + sign
    least = 10.0**-decimals
    if 0 < share < 0.5 and percent == 0:
        return f"< {show_number(least, decimals)}{sign}"
    if 0.5 < share < 1 and percent == 100 and not at_most:
        return f"> {show_number(100 - least, decimals)}{sign}"
    return show_number(percent, decimals) + sign


def _compare(a: float, b: float) -> int:
    return (a > b) - (a < b)


def show_p(p: float | None, *, named: bool = True) -> str:
    """Return a p-value as papers print it: "p = .004", "p < .001"; if not `named`, without "p = "."""
    if p is None or math.isnan(p):
        return "p undefined" if named else "undefined"
    if p < 0.0005:
        return "p < .001" if named else "< .001"
    shown = "1" if p >= 0.9995 else f"{p:.3f}".replace("0.", ".", 1)
    return f"p = {shown}" if named else shown


def show_beside(measured: float, target: float) -> tuple[str, str]:
    """Return both figures with two digits, or with more (at most six) if they would look the same."""
    for digits in range(2, 7):
        shown = show_number(measured, digits), show_number(target, digits)
        if shown[0] != shown[1] or measured == target:
            break
    return shown


def show_interval(interval: tuple[float, float] | None, digits: int = 3, between: str = ", ") -> str:
    """Return both ends of an interval: "0.650, 0.780"."""
    if interval is None:
        return NOTHING
    return f"{show_number(interval[0], digits)}{between}{show_number(interval[1], digits)}"


def fill(template: str, values: Mapping[str, Any], *, percent: str = " %", minus: str = "-") -> str:
    """Fill the values into the template, with numbers as this module shows them.

    `percent`: the sign after a share. `minus`: the sign before a negative number.
    """
    if "%}" in template or any(
        type(value) is float or (type(value) is int and value >= 1000) for value in values.values()
    ):
        return _Filler(percent, minus).vformat(template, (), values)
    return template.format(**values)


class _Filler(Formatter):
    def __init__(self, percent: str, minus: str) -> None:
        self.percent = percent
        self.minus = minus

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        value, key = super().get_field(field_name, args, kwargs)
        return (str(value) if field_name in NAMES and type(value) is int else value), key

    def format_field(self, value: Any, format_spec: str) -> str:
        if type(value) not in (int, float):
            return str(super().format_field(value, format_spec))
        return self._show(value, format_spec).replace("-", self.minus)

    def _show(self, value: float, format_spec: str) -> str:
        signed, _, digits = format_spec.startswith("+"), *format_spec.rstrip("%fg").rpartition(".")[1:]
        decimals = int(digits) if digits.isdigit() else 6
        if format_spec.endswith("%"):
            return show_percent(value, decimals, sign=self.percent)
        if format_spec.endswith("f"):
            return show_number(value, decimals, signed=signed)
        if format_spec.endswith("g"):
            return show_figure(value, decimals)
        if format_spec in ("", ","):
            return show_number(value) if type(value) is int else show_figure(value, 6)
        return str(super().format_field(value, format_spec))
