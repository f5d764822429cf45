"""Agreement before and since a version of the guideline, drawn: two points with their intervals for each part."""

from typing import TYPE_CHECKING, Any

import pandas  # noqa: F401  (whole before Altair looks for it: see docs/streamlit.md)

from annotator.agreement.since_version import Side, SincePart, SinceVersion
from annotator.web.kit.chart_labels import shorten
from annotator.web.kit.charts import AMBER, GREY, TEAL, show_value
from annotator.web.kit.messages import tr

if TYPE_CHECKING:
    import altair as alt

ROW, AXIS, LEGEND = 48, 64, 56


def name_part(part: SincePart) -> str:
    return part.category if part.category is not None else tr("the dataset")


def list_points(found: SinceVersion) -> list[dict[str, Any]]:
    """Both sides of each part, where kappa is defined."""
    points = []
    labels: list[str] = []
    for part in found.parts:
        label = shorten(name_part(part))
        while label in labels:
            label += "\u200b"
        labels.append(label)
        for name, side in ((tr("before it"), part.before), (tr("since it"), part.since)):
            value = side.kappa.value
            if value is None:
                continue
            low, high = side.kappa.ci95 or (value, value)
            points.append(
                {
                    "label": label, "name": name_part(part), "side": name, "value": value, "low": low, "high": high,
                    "pairs": side.pairs, "little": bool(side.warning),
                    "warning": tr(side.warning) if side.warning else "",
                }
            )  # fmt: skip
    return points


def chart_since(found: SinceVersion, target: float) -> "alt.LayerChart":
    """The points with their intervals against the target; hollow where there are too few pairs."""
    import altair as alt

    rows, sides = list_points(found), [tr("before it"), tr("since it")]
    low = min([0.0, target, *(row["low"] for row in rows)])
    scale = alt.Scale(domain=[max(low, -1.0), 1.0], nice=False, clamp=True)
    labels = list(dict.fromkeys(row["label"] for row in rows))
    base = alt.Chart(alt.InlineData(rows)).encode(
        y=alt.Y(
            "label:N", sort=labels, title=None,
            axis=alt.Axis(labelLimit=190, ticks=False, domain=False, labelOverlap=False, labelFlush=False),
        ),
        yOffset=alt.YOffset("side:N", sort=sides, scale=alt.Scale(domain=sides, paddingInner=0.4, paddingOuter=0.3)),
        color=alt.Color(
            "side:N", scale=alt.Scale(domain=sides, range=[GREY, TEAL]), legend=alt.Legend(orient="top", title=None)
        ),
    )  # fmt: skip
    tooltip = [
        alt.Tooltip("name:N", title=" "), alt.Tooltip("side:N", title=" "),
        alt.Tooltip("pairs:Q", title=tr("pairs"), format=",d"), alt.Tooltip("value:Q", title="κ", format=".3f"),
        alt.Tooltip("low:Q", title=tr("from"), format=".3f"), alt.Tooltip("high:Q", title=tr("to"), format=".3f"),
        alt.Tooltip("warning:N", title=tr("warning")),
    ]  # fmt: skip
    goal = alt.Chart(alt.InlineData([{"target": target}])).mark_rule(
        strokeDash=[5, 4], strokeWidth=2, color=AMBER
    )
    x = alt.X(
        "value:Q", scale=scale, title=tr("κ (dashed: the target)"),
        axis=alt.Axis(tickCount=5, format=".1f", labelFlush=False),
    )  # fmt: skip
    return alt.layer(
        goal.encode(x=alt.X("target:Q", scale=scale)),
        base.mark_rule(strokeWidth=2.5).encode(x=alt.X("low:Q", scale=scale), x2="high:Q"),
        base.mark_point(size=110, strokeWidth=2.5, opacity=1, fillOpacity=1).encode(
            x=x,
            shape=alt.Shape("side:N", scale=alt.Scale(domain=sides, range=["circle", "diamond"]), legend=None),
            fill=alt.condition(
                "datum.little", alt.value("transparent"),
                alt.Color("side:N", scale=alt.Scale(domain=sides, range=[GREY, TEAL]), legend=None),
            ),
            tooltip=tooltip,
        ),
    ).properties(height=len(labels) * ROW + AXIS + LEGEND)  # fmt: skip


def describe_since(found: SinceVersion) -> str:
    """The same in words, undefined values with their reason."""
    said = [
        tr(
            "{name}: before {before}, since {since}",
            name=name_part(part), before=_say(part.before), since=_say(part.since),
        )
        for part in found.parts
    ]  # fmt: skip
    return tr("Cohen's kappa before and since version {version}: {values}.", version=found.version, values="; ".join(said))  # fmt: skip


def list_since_rows(found: SinceVersion) -> list[dict[str, object]]:
    """Both sides of each part as a table."""
    rows: list[dict[str, object]] = []
    for part in found.parts:
        for name, side in ((tr("before it"), part.before), (tr("since it"), part.since)):
            shown = part.difference if side is part.since else None
            low, high = (shown.ci95 if shown and shown.ci95 else None) or (None, None)
            rows.append(
                {
                    tr("part"): name_part(part), tr("version {version}", version=found.version): name,
                    tr("pairs"): side.pairs, tr("queries"): side.queries,
                    "κ": _round(side.kappa.value), **_ends("κ", side),
                    tr("ordinal α"): _round(side.alpha.value), **_ends("α", side),
                    tr("difference of κ"): _round(shown.value if shown else None),
                    tr("difference from"): _round(low), tr("difference to"): _round(high),
                    tr("undefined because"): tr(side.kappa.why) if side.kappa.value is None and side.kappa.why else "",
                    tr("warning"): tr(side.warning) if side.warning else "",
                }
            )  # fmt: skip
    return rows


def _ends(letter: str, side: Side) -> dict[str, object]:
    low, high = (side.kappa if letter == "κ" else side.alpha).ci95 or (None, None)
    if letter == "κ":
        return {tr("κ from"): _round(low), tr("κ to"): _round(high)}
    return {tr("α from"): _round(low), tr("α to"): _round(high)}


def _say(side: Side) -> str:
    return show_value(side.kappa)


def _round(figure: float | None) -> float | None:
    return None if figure is None else round(figure, 3)
