"""Colour the cells of heat maps.

Higher counts are deeper; different grades have another hue. Cells are partly transparent, so pale cells
follow a light or dark page, and their figures are readable on both. Cells are hidden from screen readers
(`aria=False`), which would read out every colour; they get the chart's words and table.
"""

from collections.abc import Sequence

AGREED, DIFFERED, NEUTRAL = "#19616b", "#9c4a1a", "#7f8985"
PALE, DEEP = "currentcolor", "#ffffff"
"""Text colours on pale cells (the page's text colour) and on deep cells."""
PALEST, LAST_PALE, FIRST_DEEP = 0.06, 0.68, 0.87
"""Opacities of cells. Between the last two the contrast would be below 4.5:1 on light or dark pages."""
DEEP_FROM = 0.8


def tint_cell(share: float, *, same: bool) -> tuple[str, str]:
    """Return (background #rrggbbaa, text colour) of a cell for a share from 0 (pale) to 1 (deep)."""
    colour = AGREED if same else DIFFERED
    if share < DEEP_FROM:
        return _set_opacity(colour, PALEST + (LAST_PALE - PALEST) * share / DEEP_FROM), PALE
    return _set_opacity(colour, FIRST_DEEP + (1 - FIRST_DEEP) * (share - DEEP_FROM) / (1 - DEEP_FROM)), DEEP


def tint_neutral(opacity: float) -> str:
    """Return the background of a cell outside the scale. Its text has the colour PALE."""
    return _set_opacity(NEUTRAL, opacity)


def _set_opacity(colour: str, opacity: float) -> str:
    return f"{colour}{round(opacity * 255):02x}"


def name_grades(grade_names: Sequence[str]) -> list[str]:
    """Return each grade by number and name, e.g. "3 Perfect"."""
    return [f"{grade} {name}" for grade, name in enumerate(grade_names)]
