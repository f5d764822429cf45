"""Make Altair charts for the leads' pages, and the parts that the charts of several slices share. Pure functions.

Colours have a contrast of at least 3:1 on light and dark pages. Every chart has a text alternative
(`describe_…`) and a table. Labels are shortened but stay unique. Pages import this module when first drawn,
so an idle server does not load Altair. In heat maps, higher counts are deeper and different grades have another
hue. Their cells are partly transparent, so pale cells follow a light or dark page, and their figures are readable
on both. Cells are hidden from screen readers (`aria=False`), which would read out every colour; they get the
chart's words and table.
"""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas  # noqa: F401  (whole before Altair looks for it: see docs/streamlit.md)

from annotator.domain.figures import show_interval, show_number, write_minus
from annotator.web.kit.figures import show_share
from annotator.web.kit.messages import join_names, tr, tr_n
from annotator.web.kit.text import count_letters, shorten
from annotator.web.kit.words import name_word

if TYPE_CHECKING:
    import altair as alt

    from annotator.agreement.records import CoefficientValue

TEAL, AMBER, RED, GREY, VIOLET = "#25808c", "#b7791f", "#c2453d", "#7f8985", "#8a6fb8"
STATUS_COLOURS = {
    "disagreement": RED,
    "reopened": AMBER,
    "unjudged": GREY,
    "unrateable": GREY,
    "imported": VIOLET,
}
BAR, ROW, AXIS, LETTER = 16, 30, 64, 7


def show_value(value: "CoefficientValue") -> str:
    """Return a coefficient as text: "0.85 [0.80, 0.91]", or "undefined: …"."""
    if value.value is None:
        return tr("undefined: {why}", why=value.why)
    interval = (
        f" [{show_interval(value.ci95, 2)}]" if value.ci95 else f" ({tr(value.why)})" if value.why else ""
    )
    return write_minus(f"{show_number(value.value, 2)}{interval}")


def sort_naturally(name: str) -> list[tuple[int, str]]:
    """Return the sort key of a name: letters without case, numbers by value."""
    parts = re.split(r"([0-9]+)", name.casefold())
    return [(int(part), "") if number % 2 else (0, part) for number, part in enumerate(parts)]


def chart_statuses(statuses: Mapping[str, int]) -> "alt.Chart":
    import altair as alt

    rows = [
        {"status": name_word(status), "pairs": pairs, "colour": STATUS_COLOURS.get(status, TEAL)}
        for status, pairs in statuses.items()
    ]
    base = alt.Chart(alt.InlineData(rows)).encode(
        y=alt.Y("status:N", sort=None, title=None, axis=make_names_axis(alt)),
        x=alt.X("pairs:Q", title=tr("pairs"), axis=make_counts_axis(alt)),
        color=alt.Color("colour:N", scale=None),
        tooltip=[alt.Tooltip("status:N", title=tr("status")), alt.Tooltip("pairs:Q", title=tr("pairs"))],
    )
    return base.mark_bar(size=BAR).properties(height=find_height(rows))


def describe_statuses(statuses: Mapping[str, int]) -> str:
    """Describe the statuses in words. Skips statuses without pairs."""
    parts = [f"{name_word(status)} {pairs:,}" for status, pairs in statuses.items() if pairs]
    pairs = sum(statuses.values())
    listed = join_names(parts) or tr("none")
    return tr_n(
        "{pairs:,} pair: {statuses}.", "{pairs:,} pairs: {statuses}.", pairs, pairs=pairs, statuses=listed
    )


def pick_cell(*fields: str) -> "alt.Parameter":
    """Return the parameter `cell` of a chart, which gets these fields of the clicked mark."""
    import altair as alt

    return alt.selection_point(name="cell", fields=list(fields), on="click", clear=False)


def draw_limit(value: float, scale: Any, axis: str = "x") -> "alt.Chart":
    """Return a dashed line across the chart at this value of the axis."""
    import altair as alt

    rule = alt.Chart(alt.InlineData([{"limit": value}])).mark_rule(
        strokeDash=[5, 4], strokeWidth=2, color=AMBER
    )
    return rule.encode(**{axis: (alt.X if axis == "x" else alt.Y)("limit:Q", scale=scale)})


def layer_counts(base: Any, field: str, *picked: str, size: int) -> "alt.LayerChart":
    """Return the cells of a heat map (colours: `fill`, `ink`) with their counts; a click picks the fields `picked`."""
    import altair as alt

    cells = base.mark_rect(cursor="pointer", aria=False).encode(color=alt.Color("fill:N", scale=None))
    counts = base.mark_text(fontSize=size, cursor="pointer", aria=False).encode(
        text=alt.Text(f"{field}:Q", format=",d"), color=alt.Color("ink:N", scale=None)
    )
    return alt.layer(cells.add_params(pick_cell(*picked)), counts)


def turn_labels(names: Sequence[str], most: int) -> dict[str, Any]:
    """Return options of a horizontal axis of names: level where all have room, else turned.

    `most`: the width in pixels at which a label is cut.
    """
    longest = max((min(most, LETTER * count_letters(name)) for name in names), default=0)
    level, turned = f"width > {len(names) * (longest + LETTER)} ? ", " : "
    choices = {
        "labelAngle": (0, -40),
        "labelAlign": ("'center'", "'right'"),
        "labelBaseline": ("'top'", "'middle'"),
    }
    options = {option: {"expr": f"{level}{flat}{turned}{steep}"} for option, (flat, steep) in choices.items()}
    return {"labelLimit": most, **options}


CELL_AXIS: dict[str, Any] = {"ticks": False, "domain": False, "labelOverlap": False, "labelFlush": False}
"""The style of the axes with names, of which none may be missing."""


def find_height(rows: Sequence[Any]) -> int:
    """Return the height in pixels for these rows and the axis with its title."""
    return len(rows) * ROW + AXIS


def make_names_axis(alt: Any) -> Any:
    return alt.Axis(labelLimit=180, ticks=False, domain=False, labelFlush=False)


def make_counts_axis(alt: Any) -> Any:
    return alt.Axis(tickMinStep=1, format=",d", labelFlush=False)


LONGEST_LABEL = 24  # of a name with its count, in a chart by rows
APART = "\u200b"  # has no width: two names that are cut alike stay two


def space_percent(pattern: str) -> dict[str, str]:
    """Return axis options for shares: labels in d3's pattern ("~%"), with the language's spacing: "5 %", "5%"."""
    spaced = show_share(0.01).endswith("\N{NO-BREAK SPACE}%")
    return {"format": pattern, **({"labelExpr": "replace(datum.label, '%', ' %')"} if spaced else {})}


def label_counts(names: Sequence[str], counts: Sequence[int]) -> list[str]:
    """Return "name count" for each name, in the same order."""
    labels: list[str] = []
    for name, count in zip(names, counts, strict=True):
        labels.append(make_unique_label(f"{shorten(name, LONGEST_LABEL)} ({count:,})", labels))
    return labels


def make_unique_label(label: str, labels: Sequence[str]) -> str:
    """Return the label, with invisible characters added until it is not among the others."""
    while label in labels:
        label += APART
    return label


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
