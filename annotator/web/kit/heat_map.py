"""Colour the cells of heat maps, and chart the confusion matrix of two annotators.

Higher counts are deeper; different grades have another hue. Cells are partly transparent, so pale cells
follow a light or dark page, and their figures are readable on both. Cells are hidden from screen readers
(`aria=False`), which would read out every colour; they get the chart's words and table.
"""

from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING, Any

import pandas  # noqa: F401  (whole before Altair looks for it: see docs/streamlit.md)

from annotator.agreement.records import PairAgreement
from annotator.web.kit.messages import tr, tr_n

if TYPE_CHECKING:
    import altair as alt

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


def chart_confusion(pair: PairAgreement, grade_names: Sequence[str]) -> "alt.LayerChart":
    """Chart the confusion matrix: the first annotator's grades in rows, the second's in columns.

    A click on a cell picks its grades (parameter `cell`: row, column).
    """
    import altair as alt

    (first, second), names = pair.annotators, name_grades(grade_names)
    axis: dict[str, Any] = {
        "ticks": False,
        "domain": False,
        "labelLimit": 130,
        "labelOverlap": False,
        "labelFlush": False,
        "titleLimit": 200,
    }
    base = alt.Chart(alt.InlineData(list_cells(pair, grade_names))).encode(
        y=alt.Y("first:N", sort=names, title=first, axis=alt.Axis(**axis)),
        x=alt.X("second:N", sort=names, title=second, axis=alt.Axis(labelAngle=-40, **axis)),
        tooltip=[
            alt.Tooltip("first:N", title=first),
            alt.Tooltip("second:N", title=second),
            alt.Tooltip("pairs:Q", title=tr("pairs")),
        ],
    )
    picked = alt.selection_point(name="cell", fields=["row", "column"], on="click", clear=False)
    cells = (
        base.mark_rect(cursor="pointer", aria=False)
        .encode(color=alt.Color("fill:N", scale=None))
        .add_params(picked)
    )
    counts = base.mark_text(fontSize=14, cursor="pointer", aria=False).encode(
        text=alt.Text("pairs:Q", format=",d"), color=alt.Color("ink:N", scale=None)
    )
    return alt.layer(cells, counts).properties(height=340)


def describe_confusion(pair: PairAgreement) -> str:
    """Return the heat map in words."""
    first, second = pair.annotators
    same = sum(row[index] for index, row in enumerate(pair.confusion))
    return tr_n(
        "Confusion matrix over {pairs:,} pair, rows {first}, columns {second}: the same grade on {same:,}, "
        "different grades on {different:,}. The counts are in the table below.",
        "Confusion matrix over {pairs:,} pairs, rows {first}, columns {second}: the same grade on {same:,}, "
        "different grades on {different:,}. The counts are in the table below.",
        pair.pairs,
        pairs=pair.pairs,
        first=first,
        second=second,
        same=same,
        different=pair.pairs - same,
    )


def list_cells(pair: PairAgreement, grade_names: Sequence[str]) -> list[dict[str, Any]]:
    """Return each cell with grades, count, background (`fill`) and text colour (`ink`)."""
    names = name_grades(grade_names)
    most = max(count for row in pair.confusion for count in row) or 1
    cells = []
    for r, row in enumerate(pair.confusion):
        for c, count in enumerate(row):
            fill, ink = tint_cell(sqrt(count / most), same=r == c)
            cells.append(
                {
                    "row": r,
                    "column": c,
                    "first": names[r],
                    "second": names[c],
                    "pairs": count,
                    "fill": fill,
                    "ink": ink,
                }
            )
    return cells


def name_grades(grade_names: Sequence[str]) -> list[str]:
    """Return each grade by number and name, e.g. "3 Perfect"."""
    return [f"{grade} {name}" for grade, name in enumerate(grade_names)]
