"""Draw the tab "Depth": relevance by rank, overall, by system and by category, and whether the pool is deep enough."""

from collections.abc import Sequence
from html import escape
from typing import Any

import altair as alt
import pandas  # noqa: F401  (whole before Altair looks for it: see docs/streamlit.md)
import streamlit as st

from annotator.domain.figures import show_number
from annotator.domain.messages import say
from annotator.pooling.analysis.pool_analysis import ENOUGH, DepthReport, DepthVerdict, RankShare
from annotator.web.kit.charts import TEAL, draw_limit, space_percent
from annotator.web.kit.controls import apply_url_choice
from annotator.web.kit.figures import show_share
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_chart, draw_note
from annotator.web.kit.tables import Cell, draw_link_table
from annotator.web.kit.words import name_word
from annotator.web.pooling.page import ALL, ShownPool, find_depth

STATES = {
    "deep enough": say("deep enough"),
    "too shallow": say("not deep enough"),
    "cannot tell": say("not known yet"),
    "too few": say("too few are settled"),
}
MOST_CATEGORIES = 50


def draw(shown: ShownPool) -> None:
    context, dataset = shown.context, shown.dataset
    with st.spinner(tr("Counting …")):
        report = context.call(find_depth, dataset, now=context.now).value
    st.header(tr("Is the pool deep enough?"))
    if report.verdict is None:
        st.text(
            tr("No system gave a rank to any pair, so the pool has no depth. Runs of systems have ranks.")
        )
        return
    st.html(f'<p class="annotator-step">{escape(tr(report.verdict.sentence))}</p>')
    system = _choose_system(report)
    shares = report.overall if system == ALL else report.by_system[system]
    if list_points(shares):
        draw_chart(chart_depth(shares), describe_depth(shares))
    else:
        st.text(tr("None of these pairs has a settled grade yet."))
    title = tr("The numbers by rank")
    with st.expander(title):
        _draw_ranks(title, shares)
    draw_note(
        tr(
            "All together: each pair counts at its best rank. Lines: 95 % intervals, which treat the pairs of one query as dependent. Dashed: below this share, the pool is deep enough. Pairs without a settled grade do not count."
        )
    )
    if report.unranked:
        draw_note(
            tr_n(
                "{n:,} pair has no rank (imported, proposed or suggested) and is not counted here.",
                "{n:,} pairs have no rank (imported, proposed or suggested) and are not counted here.",
                report.unranked,
            )
        )
    _draw_categories(report)


def _choose_system(report: DepthReport) -> str:
    options = [ALL, *report.by_system]
    apply_url_choice("ranked", options)
    chosen = st.selectbox(
        tr("System"), options, format_func=name_word, key="ranked", bind="query-params", width=260
    )
    return chosen or ALL


def _draw_ranks(title: str, shares: tuple[RankShare, ...]) -> None:
    draw_link_table(
        title,
        [
            tr("rank"),
            tr("pairs"),
            tr("with a settled grade"),
            tr("relevant"),
            tr("share"),
            tr("95 % interval"),
        ],
        [_list_cells(share) for share in shares],
    )


def _list_cells(share: RankShare) -> list[Cell]:
    return [
        name_ranks(share),
        show_number(share.counted.pairs),
        show_number(share.counted.settled),
        show_number(share.counted.relevant),
        show_share(share.counted.share),
        _show_interval(share),
    ]


def _show_interval(share: RankShare) -> str:
    return "–" if share.interval is None else " – ".join(show_share(end) for end in share.interval)


def _draw_categories(report: DepthReport) -> None:
    if len(report.categories) < 2:
        return
    title = tr("By category, at the last ranks")
    st.header(title)
    listed = sorted(report.categories.items(), key=lambda item: -item[1].last_ranks.counted.pairs)
    draw_link_table(
        title,
        [
            tr("category"),
            tr("pairs"),
            tr("with a settled grade"),
            tr("relevant"),
            tr("95 % interval"),
            tr("verdict"),
        ],
        [_describe_category(category, verdict) for category, verdict in listed[:MOST_CATEGORIES]],
        stacked=True,
    )


def _describe_category(category: str | None, verdict: DepthVerdict) -> list[Cell]:
    counted = verdict.last_ranks.counted
    return [
        category or tr("(none)"),
        show_number(counted.pairs),
        show_number(counted.settled),
        show_share(counted.share),
        _show_interval(verdict.last_ranks),
        tr(STATES[verdict.state]),
    ]


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


def chart_depth(shares: Sequence[RankShare]) -> alt.LayerChart:
    """Chart the share of relevant documents by rank. Below the dashed line, a pool is deep enough."""
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
    tooltip = [
        alt.Tooltip("ranks:N", title=tr("rank")),
        alt.Tooltip("share:Q", title=tr("relevant"), format=".1%"),
        alt.Tooltip("low:Q", title=tr("from"), format=".1%"),
        alt.Tooltip("high:Q", title=tr("to"), format=".1%"),
        alt.Tooltip("settled:Q", title=tr("with a settled grade"), format=",d"),
        alt.Tooltip("pairs:Q", title=tr("pairs"), format=",d"),
    ]
    return alt.layer(
        draw_limit(ENOUGH, scale, "y"),
        base.mark_rule(strokeWidth=2.5, color=TEAL).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q"),
        base.mark_line(strokeWidth=1, color=TEAL, opacity=0.5).encode(y=alt.Y("share:Q", scale=scale)),
        base.mark_point(filled=True, size=80, color=TEAL, opacity=1).encode(
            y=alt.Y("share:Q", scale=scale, title=tr("share relevant"), axis=axis), tooltip=tooltip
        ),
    ).properties(height=HEIGHT)


def describe_depth(shares: Sequence[RankShare]) -> str:
    return "; ".join(
        tr(
            "rank {ranks}: {share} of {settled:,} with a settled grade",
            ranks=name_ranks(share),
            share=show_share(share.counted.share),
            settled=share.counted.settled,
        )
        for share in shares
    )
