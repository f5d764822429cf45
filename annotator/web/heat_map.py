"""The confusion matrix of two annotators as a heat map: the more pairs, the deeper; differences in another hue.

Cells carry their own ground and ink, so that the counts read the same on a light and on a dark page.
"""

from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING, Any

import pandas  # noqa: F401  (whole before Altair looks for it: see docs/streamlit.md)

from annotator.domain.agreement import PairAgreement
from annotator.web.messages import tr

if TYPE_CHECKING:
    import altair as alt

Colour = tuple[int, int, int]
AGREED: tuple[Colour, Colour] = (227, 240, 241), (25, 97, 107)
DIFFERED: tuple[Colour, Colour] = (251, 240, 228), (156, 74, 26)
LIGHT, DARK = "#ffffff", "#000000"
MIDDLE = 0.179  # of the luminance: there black and white have the same contrast, 4.58:1


def chart_confusion(pair: PairAgreement, grade_names: Sequence[str]) -> "alt.LayerChart":
    """Rows the first annotator's grades, columns the second's; the count stands in each cell."""
    import altair as alt

    (first, second), names = pair.annotators, name_grades(grade_names)
    axis: dict[str, Any] = {"ticks": False, "domain": False, "labelLimit": 130, "labelOverlap": False}
    base = alt.Chart(alt.InlineData(list_cells(pair, grade_names))).encode(
        y=alt.Y("first:N", sort=names, title=first, axis=alt.Axis(**axis)),
        x=alt.X("second:N", sort=names, title=second, axis=alt.Axis(labelAngle=-40, **axis)),
        tooltip=[
            alt.Tooltip("first:N", title=first),
            alt.Tooltip("second:N", title=second),
            alt.Tooltip("pairs:Q", title=tr("pairs")),
        ],
    )
    cells = base.mark_rect().encode(color=alt.Color("fill:N", scale=None))
    counts = base.mark_text(fontSize=14).encode(
        text=alt.Text("pairs:Q", format=",d"), color=alt.Color("ink:N", scale=None)
    )
    return alt.layer(cells, counts).properties(height=340)


def describe_confusion(pair: PairAgreement) -> str:
    """The heat map in words."""
    first, second = pair.annotators
    same = sum(row[place] for place, row in enumerate(pair.confusion))
    return tr(
        "Confusion matrix over {pairs:,} pairs, rows {first}, columns {second}: the same grade on {same:,}, "
        "different grades on {different:,}. The counts are in the table below.",
        pairs=pair.pairs,
        first=first,
        second=second,
        same=same,
        different=pair.pairs - same,
    )


def list_cells(pair: PairAgreement, grade_names: Sequence[str]) -> list[dict[str, Any]]:
    """Each cell with its grades, its count, its ground (`fill`) and the colour of its number (`ink`)."""
    names = name_grades(grade_names)
    most = max(count for row in pair.confusion for count in row) or 1
    cells = []
    for r, row in enumerate(pair.confusion):
        for c, count in enumerate(row):
            low, high = AGREED if r == c else DIFFERED
            fill = _mix(low, high, sqrt(count / most))
            cells.append(
                {
                    "first": names[r],
                    "second": names[c],
                    "pairs": count,
                    "fill": _name(fill),
                    "ink": _ink(fill),
                }
            )
    return cells


def name_grades(grade_names: Sequence[str]) -> list[str]:
    """Each grade by number and name, e.g. "3 Perfect"."""
    return [f"{grade} {name}" for grade, name in enumerate(grade_names)]


def _mix(low: Colour, high: Colour, share: float) -> Colour:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(low, high, strict=True))
    return red, green, blue


def _name(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def _ink(ground: Colour) -> str:
    """White or dark, whichever reads better: WCAG 2.2, relative luminance."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (channel / 255 for channel in ground)
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return DARK if luminance > MIDDLE else LIGHT
