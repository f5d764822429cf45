"""Chart how the labeling of a dataset stands: agreement, annotators and queries. See `kit/charts.py`."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from math import ceil
from typing import TYPE_CHECKING, Any

from annotator.agreement.records import CoefficientValue
from annotator.domain.judgments import AnnotatorProgress, QueryProgress
from annotator.labeling.service import LabelingProgress
from annotator.overview.records import DayCounts
from annotator.web.kit.charts import (
    AMBER,
    BAR,
    GREY,
    RED,
    TEAL,
    draw_limit,
    find_height,
    make_counts_axis,
    make_names_axis,
    show_value,
    sort_naturally,
)
from annotator.web.kit.figures import show_date
from annotator.web.kit.messages import join_names, tr, tr_n
from annotator.web.kit.words import make_unique, name_word

if TYPE_CHECKING:
    import altair as alt

STATES = {"complete": TEAL, "begun": AMBER, "untouched": GREY}
MANY_QUERIES = 40
MOST_COLUMNS = 120


def chart_kappas(named: Sequence[tuple[str, CoefficientValue]], target: float) -> "alt.LayerChart":
    """Chart each defined kappa with its interval and the target, from 0 (or below) to 1."""
    import altair as alt

    rows = [
        {"name": name, "value": kappa.value, "low": low, "high": high}
        for name, kappa in named
        if kappa.value is not None
        for low, high in [kappa.ci95 or (kappa.value, kappa.value)]
    ]
    scale = alt.Scale(domain=[min([0.0, target, *(row["low"] for row in rows)]), 1.0], nice=False)  # type: ignore[type-var]
    y = alt.Y("name:N", sort=None, title=None, axis=make_names_axis(alt))
    x = alt.X(
        "value:Q",
        scale=scale,
        title=tr("κ (dashed: the target)"),
        axis=alt.Axis(tickCount=10, format=".1f", labelFlush=False),
    )
    tooltip = [
        alt.Tooltip("name:N", title=" "),
        *(
            alt.Tooltip(f"{field}:Q", title=title, format=".3f")
            for field, title in (("value", "κ"), ("low", tr("from")), ("high", tr("to")))
        ),
    ]
    base = alt.Chart(alt.InlineData(rows))
    return alt.layer(
        draw_limit(target, scale),
        base.mark_rule(strokeWidth=2.5, color=TEAL).encode(x="low:Q", x2="high:Q", y=y),
        base.mark_point(filled=True, size=110, color=TEAL, opacity=1).encode(x=x, y=y, tooltip=tooltip),
    ).properties(height=find_height(rows))


def describe_kappas(named: Sequence[tuple[str, CoefficientValue]], target: float) -> str:
    """Describe `chart_kappas` in words; undefined values have their reason."""
    parts = [f"{name} {show_value(value)}" for name, value in named]
    return tr("Cohen's kappa, target {target:g}: {values}.", target=target, values="; ".join(parts))


def name_history() -> tuple[str, str, str]:
    """Return the names of the counts of `DayCounts`."""
    return tr("settled"), tr("open disagreements"), name_word("unrateable")


def _list_counts(counts: DayCounts) -> tuple[int, int, int]:
    return counts.settled, counts.open, counts.unrateable


def list_history(history: Sequence[DayCounts], *, now: datetime) -> list[dict[str, object]]:
    """Return a row for each day of `chart_history`, the latest first."""
    return [
        {
            tr("day"): show_date(counts.day, now=now),
            **dict(zip(name_history(), _list_counts(counts), strict=True)),
        }
        for counts in reversed(history)
    ]


def chart_history(history: Sequence[DayCounts], pairs: int, *, now: datetime) -> "alt.Chart":
    """Chart a column for each day: the pairs with each status, of all `pairs`."""
    import altair as alt

    colours = {
        name: colour
        for name, colour, n in zip(name_history(), (TEAL, RED, GREY), _list_counts(history[-1]), strict=True)
        if n
    }
    days = [show_date(counts.day, now=now) for counts in history]
    rows = [
        {"at": at, "day": day, "state": name, "pairs": n, "order": order}
        for at, (day, counts) in enumerate(zip(days, history, strict=True))
        for order, (name, n) in enumerate(zip(name_history(), _list_counts(counts), strict=True))
        if name in colours
    ]
    shown = sorted({0, len(days) // 2, len(days) - 1})
    axis = alt.Axis(
        values=shown, labelExpr=f"{json.dumps(days)}[datum.value]", labelAngle=0, labelFlush=True, ticks=False
    )
    return _stack_columns(
        rows,
        alt.X("at:O", title=None, axis=axis, scale=alt.Scale(paddingInner=0.1)),
        alt.Y(
            "pairs:Q",
            title=tr("pairs, of {pairs:,}", pairs=pairs),
            scale=alt.Scale(domain=[0, max(pairs, 1)], nice=False),
            axis=make_counts_axis(alt),
        ),
        colours,
        {"day": tr("day"), "state": tr("status"), "pairs": tr("pairs")},
        height=240,
    )


def _stack_columns(
    rows: list[dict[str, Any]],
    x: "alt.X",
    y: "alt.Y",
    colours: Mapping[str, str],
    names: Mapping[str, str],
    *,
    height: int,
) -> "alt.Chart":
    """Stack the parts of each column in their `order`.

    `colours`: {state: colour}; `names`: {field: its name in the tooltip}. `height` in pixels.
    """
    import altair as alt

    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    base = alt.Chart(alt.InlineData(rows)).encode(
        x=x,
        y=y,
        color=alt.Color("state:N", title=None, scale=scale, legend=alt.Legend(orient="top")),
        order="order:Q",
        tooltip=[alt.Tooltip(f"{field}:N", title=name) for field, name in names.items()],
    )
    return base.mark_bar().properties(height=height)


def chart_annotators(annotators: Sequence[AnnotatorProgress], pairs: int) -> "alt.Chart":
    """Chart each annotator's judged pairs out of all pairs. Simulated annotators are paler and marked."""
    import altair as alt

    rows = [
        {"name": name, "judged": annotator.judged, "simulated": annotator.simulated}
        for name, annotator in name_people(annotators)
    ]
    scale = alt.Scale(domain=[0, max(pairs, 1)], nice=False)
    base = alt.Chart(alt.InlineData(rows)).encode(
        y=alt.Y("name:N", sort=None, title=None, axis=make_names_axis(alt)),
        x=alt.X(
            "judged:Q",
            title=tr("pairs judged, of {pairs:,}", pairs=pairs),
            scale=scale,
            axis=make_counts_axis(alt),
        ),
        opacity=alt.condition("datum.simulated", alt.value(0.75), alt.value(1)),
        tooltip=[alt.Tooltip("name:N", title=" "), alt.Tooltip("judged:Q", title=tr("judged"))],
    )
    return base.mark_bar(color=TEAL, size=BAR).properties(height=find_height(rows))


def describe_annotators(progress: LabelingProgress) -> str:
    parts = [f"{name} {annotator.judged:,}" for name, annotator in name_people(progress.annotators)]
    return tr("Pairs judged, of {pairs:,}: {people}.", pairs=progress.pairs, people=join_names(parts))


def name_people(annotators: Sequence[AnnotatorProgress]) -> list[tuple[str, AnnotatorProgress]]:
    """Return (shown name, annotator), sorted naturally (2 before 10).

    Equal names get their usernames too, because a chart would put them in one row.
    """
    names = make_unique({annotator.annotator: annotator.name for annotator in annotators})
    named = [
        (
            tr("{annotator} (simulated)", annotator=names[annotator.annotator])
            if annotator.simulated
            else names[annotator.annotator],
            annotator,
        )
        for annotator in annotators
    ]
    return sorted(named, key=lambda item: sort_naturally(item[0]))


def name_person(annotator: AnnotatorProgress) -> str:
    """Return an annotator's username, marked if simulated."""
    return (
        tr("{annotator} (simulated)", annotator=annotator.annotator)
        if annotator.simulated
        else annotator.annotator
    )


def chart_queries(queries: Sequence[QueryProgress]) -> "alt.Chart":
    """Chart a column for each query in file order: complete, begun and untouched pairs.

    For more than MOST_COLUMNS queries, neighbours share a column: the screen is too narrow, and a browser
    would draw thousands of columns for seconds.
    """
    import altair as alt

    size = max(1, ceil(len(queries) / MOST_COLUMNS))
    rows = [
        row for start in range(0, len(queries), size) for row in _list_column(queries[start : start + size])
    ]
    few = len(queries) <= MANY_QUERIES
    axis = alt.Axis(labels=few, ticks=False, labelAngle=-45, labelLimit=90)
    columns = alt.Scale(paddingInner=0.15 if few else 0)
    return _stack_columns(
        rows,
        alt.X("query:N", sort=None, title=_name_columns(size), axis=axis, scale=columns),
        alt.Y("pairs:Q", title=tr("pairs"), axis=make_counts_axis(alt)),
        {name_word(state): colour for state, colour in STATES.items()},
        {"query": tr("query"), "text": tr("text"), "state": tr("state"), "pairs": tr("pairs")},
        height=300,
    )


def _list_column(queries: Sequence[QueryProgress]) -> list[dict[str, Any]]:
    """Return the rows of a column: the pairs of one or a few queries, by state."""
    first, last = queries[0], queries[-1]
    pairs = Counter[str]()
    for query in queries:
        pairs.update(split_query(query))
    return [
        {
            "query": first.query_id if first is last else f"{first.query_id} – {last.query_id}",
            "text": first.text[:80] if first is last else tr_n("{n:,} query", "{n:,} queries", len(queries)),
            "state": name_word(state),
            "order": order,
            "pairs": pairs[state],
        }
        for order, state in enumerate(STATES)
    ]


def _name_columns(size: int) -> str:
    if size <= 1:
        return tr("queries, in the order of their file")
    return tr("queries, in the order of their file, {n:,} in each column", n=size)


def describe_queries(progress: LabelingProgress) -> str:
    done = sum(query.pairs == query.complete for query in progress.queries if query.pairs)
    return tr_n(
        "A query is complete when each of its pairs has the judgments it needs: {done:,} of {queries:,} are. "
        "{complete:,} pair is complete, {begun:,} begun, {untouched:,} untouched.",
        "A query is complete when each of its pairs has the judgments it needs: {done:,} of {queries:,} are. "
        "{complete:,} pairs are complete, {begun:,} begun, {untouched:,} untouched.",
        progress.complete,
        done=done,
        queries=len(progress.queries),
        complete=progress.complete,
        begun=progress.begun,
        untouched=progress.pairs - progress.complete - progress.begun,
    )


def split_query(query: QueryProgress) -> dict[str, int]:
    """Return {state: pairs of the query}, with the keys of STATES."""
    untouched = query.pairs - query.complete - query.begun
    return {"complete": query.complete, "begun": query.begun, "untouched": untouched}
