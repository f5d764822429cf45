"""Chart the confusion matrix of two annotators."""

from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING, Any

import pandas  # noqa: F401  (whole before Altair looks for it: see docs/streamlit.md)

from annotator.agreement.records import PairAgreement
from annotator.web.kit.heat_map import name_grades, tint_cell
from annotator.web.kit.messages import tr, tr_n

if TYPE_CHECKING:
    import altair as alt


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
