"""Show the two readings of a quality-control sample: as charts, in words and as rows.

The readings differ in shape and colour: a circle for the share in the sample, a diamond for the bound that
the sample proves for all settled pairs.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas  # noqa: F401  (whole before Altair looks for it: see docs/streamlit.md)

from annotator.domain.messages import say
from annotator.quality.records import ERROR_KINDS, LIMIT, ErrorRate
from annotator.web.kit.charts import TEAL, VIOLET, draw_limit, space_percent
from annotator.web.kit.figures import show_share
from annotator.web.kit.messages import tr, tr_n

if TYPE_CHECKING:
    import altair as alt

KINDS = {
    "any": say("another grade"),
    "far": say("two or more apart"),
    "relevance": say("relevant or not relevant"),
}
LEAST_SCALE = 0.075  # so that the limit is never at the edge
ROW, LEGEND_AND_AXIS, CURVE = 34, 104, 220


def show_percent(share: float | None, *, at_most: bool = False) -> str:
    """Return a share in per cent with one decimal, or more if needed to show its side of the limit."""
    return show_share(share, 1, at_most=at_most, limit=LIMIT)


def name_kind(kind: str) -> str:
    return tr(KINDS[kind])


def list_defined(rates: Mapping[str, ErrorRate]) -> list[tuple[str, ErrorRate]]:
    """Return (kind in words, rate) of each kind of error with a rate, in order."""
    return [
        (name_kind(kind), rates[kind])
        for kind in ERROR_KINDS
        if kind in rates and rates[kind].rate is not None
    ]


def chart_rates(rates: Mapping[str, ErrorRate]) -> "alt.LayerChart":
    """Chart each kind's share in the sample with its interval, and its bound. The dashed line is the limit."""
    import altair as alt

    defined = list_defined(rates)
    names = [name for name, _ in defined]
    kinds = [tr("observed error rate"), tr("guaranteed maximum")]
    x = alt.X(
        "share:Q",
        title=tr("errors (dashed: limit of 5 %)"),
        scale=_shares(alt, defined),
        axis=alt.Axis(**space_percent("~%"), tickCount=6, labelFlush=False),
    )
    y = alt.Y(
        "name:N",
        sort=names,
        title=None,
        scale=alt.Scale(type="band", padding=0.3),
        axis=alt.Axis(labelLimit=170, ticks=False, domain=False),
    )
    legend = alt.Legend(orient="top", direction="vertical", title=None, symbolStrokeWidth=2.5, labelLimit=220)
    points = (
        alt.Chart(alt.InlineData(_list_points(defined, kinds)))
        .mark_point(filled=True, size=130, opacity=1)
        .encode(
            x=x,
            y=y,
            color=alt.Color("reading:N", scale=alt.Scale(domain=kinds, range=[TEAL, VIOLET]), legend=legend),
            shape=alt.Shape(
                "reading:N", scale=alt.Scale(domain=kinds, range=["circle", "diamond"]), legend=legend
            ),
            tooltip=[
                alt.Tooltip("name:N", title=" "),
                alt.Tooltip("reading:N", title=tr("measure")),
                alt.Tooltip("shown:N", title=tr("errors")),
            ],
        )
    )
    spans = [
        {"name": name, "low": rate.ci95[0], "high": rate.ci95[1]}
        for name, rate in defined
        if rate.ci95 is not None
    ]
    lines = (
        alt.Chart(alt.InlineData(spans))
        .mark_rule(strokeWidth=2.5, color=TEAL)
        .encode(x=alt.X("low:Q", scale=_shares(alt, defined)), x2="high:Q", y=y)
    )
    return alt.layer(draw_limit(LIMIT, _shares(alt, defined)), lines, points).properties(
        height=len(defined) * ROW + LEGEND_AND_AXIS
    )


def describe_rates(rates: Mapping[str, ErrorRate]) -> str:
    texts = [_describe_rate(name, rate) for name, rate in list_defined(rates)]
    return tr("Error rates and the limit of 5 %: {list}.", list="; ".join(texts))


def list_rate_rows(rates: Mapping[str, ErrorRate]) -> list[dict[str, object]]:
    return [
        {
            tr("kind of error"): name_kind(kind),
            tr("errors"): rate.errors,
            tr("pairs checked"): rate.checked,
            tr("observed error rate"): show_percent(rate.rate),
            tr("95 % interval"): _show_interval(rate),
            tr("guaranteed maximum"): show_percent(rate.bound, at_most=True),
        }
        for kind, rate in ((kind, rates[kind]) for kind in ERROR_KINDS if kind in rates)
    ]


def chart_further(points: Sequence[tuple[int, float]], further: int) -> "alt.LayerChart":
    """Chart how the bound falls with further pairs without an error.

    `points`: (further pairs, bound), from 0 on. `further`: how many bring it below the limit.
    """
    import altair as alt

    rows = [
        {"further": number, "bound": bound, "shown": show_percent(bound, at_most=True)}
        for number, bound in points
    ]
    highest, lowest = points[0][1], points[-1][1]
    floor = 0.0 if highest > 2 * LIMIT else 0.9 * min(lowest, LIMIT)  # so that the crossing is visible
    scale = alt.Scale(domain=[floor, 1.03 * max(highest, LIMIT)], nice=False)
    x = alt.X(
        "further:Q",
        title=tr("more pairs without an error"),
        axis=alt.Axis(tickMinStep=1, format=",d", tickCount=6),
        scale=alt.Scale(domain=[0, points[-1][0]], nice=False),
    )
    y = alt.Y(
        "bound:Q",
        title=tr("guaranteed maximum"),
        scale=scale,
        axis=alt.Axis(**space_percent("~%"), tickCount=5),
    )
    tooltip = [
        alt.Tooltip("further:Q", title=tr("more pairs without an error"), format=",d"),
        alt.Tooltip("shown:N", title=tr("guaranteed maximum")),
    ]
    base = alt.Chart(alt.InlineData(rows)).encode(x=x, y=y, tooltip=tooltip)
    reached = [row for row in rows if row["further"] == further]
    there = alt.Chart(alt.InlineData(reached)).encode(x=x, y=y, tooltip=tooltip)
    return alt.layer(
        draw_limit(LIMIT, scale, "y"),
        base.mark_line(color=VIOLET, strokeWidth=2.5),
        there.mark_point(shape="diamond", filled=True, size=130, color=VIOLET, opacity=1),
    ).properties(height=CURVE)


def describe_further(points: Sequence[tuple[int, float]], further: int) -> str:
    return tr_n(
        "The guaranteed maximum is {now}. {n:,} more pair without an error would bring it below 5 %.",
        "The guaranteed maximum is {now}. {n:,} more pairs without an error would bring it below 5 %.",
        further,
        now=show_percent(points[0][1], at_most=True),
    )


def list_further_rows(points: Sequence[tuple[int, float]]) -> list[dict[str, object]]:
    return [
        {
            tr("more pairs without an error"): number,
            tr("guaranteed maximum"): show_percent(bound, at_most=True),
        }
        for number, bound in points
    ]


def _list_points(defined: Sequence[tuple[str, ErrorRate]], kinds: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "reading": reading,
            "share": share,
            "shown": show_percent(share, at_most=reading == kinds[1]),
        }
        for name, rate in defined
        for reading, share in zip(kinds, (rate.rate, rate.bound), strict=True)
        if share is not None
    ]


def _shares(alt: Any, defined: Sequence[tuple[str, ErrorRate]]) -> Any:
    """Return the scale of the shares: from 0 to more than the largest figure and the limit."""
    highest = max(
        [LEAST_SCALE, *(edge for _, rate in defined for edge in (rate.bound or 0.0, *(rate.ci95 or ())))]
    )
    return alt.Scale(domain=[0, min(1.0, 1.04 * highest)], nice=False)


def _describe_rate(name: str, rate: ErrorRate) -> str:
    return tr(
        "{kind}: {errors:,} of {checked:,}, {rate} (95\N{NO-BREAK SPACE}% confidence interval {interval}), guaranteed "
        "maximum {bound}",
        kind=name,
        errors=rate.errors,
        checked=rate.checked,
        rate=show_percent(rate.rate),
        interval=_show_interval(rate),
        bound=show_percent(rate.bound, at_most=True),
    )


def _show_interval(rate: ErrorRate) -> str:
    return "–" if rate.ci95 is None else f"{show_percent(rate.ci95[0])} – {show_percent(rate.ci95[1])}"
