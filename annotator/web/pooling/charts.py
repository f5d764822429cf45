"""Chart relevance by rank: the share of relevant documents with its interval, and the number of settled pairs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas  # noqa: F401  (whole before Altair looks for it: see docs/streamlit.md)

from annotator.domain.figures import show_number
from annotator.pooling.analysis.pool_analysis import ENOUGH
from annotator.pooling.analysis.pool_analysis_records import RankShare
from annotator.web.kit.charts import AMBER, TEAL, space_percent
from annotator.web.kit.figures import show_share
from annotator.web.kit.messages import tr

if TYPE_CHECKING:
    import altair as alt

HEIGHT = 300


def name_ranks(share: RankShare) -> str:
    """Return the ranks of a group: "3", "6–10"."""
    first, last = show_number(share.first), show_number(share.last)
    return last if share.first == share.last else f"{first}–{last}"


def list_points(shares: Sequence[RankShare]) -> list[dict[str, Any]]:
    """Return a point for each group of ranks with a settled pair. Without an interval, its ends equal the share."""
    points = []
    for share in shares:
        if share.counted.share is None:
            continue
        low, high = share.interval or (share.counted.share,) * 2
        points.append(
            {
                "ranks": name_ranks(share),
                "share": share.counted.share,
                "low": low,
                "high": high,
                "settled": share.counted.settled,
                "pairs": share.counted.pairs,
            }
        )
    return points


def chart_depth(shares: Sequence[RankShare]) -> "alt.LayerChart":
    """Chart the share of relevant documents by rank. Below the dashed line, a pool is deep enough."""
    import altair as alt

    points = list_points(shares)
    order = [name_ranks(share) for share in shares]
    scale = alt.Scale(domain=[0, max([0.1, *(point["high"] for point in points)])], nice=True)
    axis = alt.Axis(tickCount=5, labelFlush=False, **space_percent("~%"))
    x = alt.X(
        "ranks:N",
        sort=order,
        scale=alt.Scale(domain=order),
        title=tr("rank"),
        axis=alt.Axis(labelAngle=0, labelOverlap=True, ticks=False),
    )
    base = alt.Chart(alt.InlineData(points)).encode(x=x)
    limit = alt.Chart(alt.InlineData([{"limit": ENOUGH}])).mark_rule(
        strokeDash=[5, 4], strokeWidth=2, color=AMBER
    )
    tooltip = [
        alt.Tooltip("ranks:N", title=tr("rank")),
        alt.Tooltip("share:Q", title=tr("relevant"), format=".1%"),
        alt.Tooltip("low:Q", title=tr("from"), format=".1%"),
        alt.Tooltip("high:Q", title=tr("to"), format=".1%"),
        alt.Tooltip("settled:Q", title=tr("with a settled grade"), format=",d"),
        alt.Tooltip("pairs:Q", title=tr("pairs"), format=",d"),
    ]
    return alt.layer(
        limit.encode(y=alt.Y("limit:Q", scale=scale)),
        base.mark_rule(strokeWidth=2.5, color=TEAL).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q"),
        base.mark_line(strokeWidth=1, color=TEAL, opacity=0.5).encode(y=alt.Y("share:Q", scale=scale)),
        base.mark_point(filled=True, size=80, color=TEAL, opacity=1).encode(
            y=alt.Y("share:Q", scale=scale, title=tr("share relevant"), axis=axis), tooltip=tooltip
        ),
    ).properties(height=HEIGHT)


def describe_depth(shares: Sequence[RankShare]) -> str:
    """Return the chart in words."""
    return "; ".join(
        tr(
            "rank {ranks}: {share} of {settled:,} with a settled grade",
            ranks=name_ranks(share),
            share=show_share(share.counted.share),
            settled=share.counted.settled,
        )
        for share in shares
    )
