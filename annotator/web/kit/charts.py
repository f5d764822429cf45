"""Make Altair charts of service results for the leads' pages. Pure functions.

Colours have a contrast of at least 3:1 on light and dark pages. Every chart has a text alternative
(`describe_…`) and a table. Labels are shortened but stay unique. Pages import this module when first drawn,
so an idle server does not load Altair.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

import pandas  # noqa: F401  (whole before Altair looks for it: see docs/streamlit.md)

from annotator.agreement.records import CoefficientValue
from annotator.domain.figures import show_interval, show_number
from annotator.domain.judgments import AnnotatorProgress, QueryProgress
from annotator.labeling.service import LabelingProgress
from annotator.web.kit.figures import show_share
from annotator.web.kit.messages import join_names, tr, tr_n
from annotator.web.kit.person_names import make_unique
from annotator.web.kit.words import name_word

if TYPE_CHECKING:
    import altair as alt


TEAL, AMBER, RED, GREY, VIOLET = "#25808c", "#b7791f", "#c2453d", "#7f8985", "#8a6fb8"
STATES = {"complete": TEAL, "begun": AMBER, "untouched": GREY}
STATUS_COLOURS = {
    "disagreement": RED,
    "reopened": AMBER,
    "unjudged": GREY,
    "unrateable": GREY,
    "imported": VIOLET,
}
MANY_QUERIES = 40
MOST_COLUMNS = 120
BAR, ROW, AXIS = 16, 30, 64


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
    y = alt.Y("name:N", sort=None, title=None, axis=_names_axis(alt))
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
    goal = alt.Chart(alt.InlineData([{"target": target}])).mark_rule(
        strokeDash=[5, 4], strokeWidth=2, color=AMBER
    )
    return alt.layer(
        goal.encode(x=alt.X("target:Q", scale=scale)),
        base.mark_rule(strokeWidth=2.5, color=TEAL).encode(x="low:Q", x2="high:Q", y=y),
        base.mark_point(filled=True, size=110, color=TEAL, opacity=1).encode(x=x, y=y, tooltip=tooltip),
    ).properties(height=_height(rows))


def describe_kappas(named: Sequence[tuple[str, CoefficientValue]], target: float) -> str:
    """Describe `chart_kappas` in words; undefined values have their reason."""
    parts = [f"{name} {show_value(value)}" for name, value in named]
    return tr("Cohen's kappa, target {target:g}: {values}.", target=target, values="; ".join(parts))


def show_value(value: CoefficientValue) -> str:
    """Return a coefficient as text: "0.85 [0.80, 0.91]", or "undefined: …"."""
    if value.value is None:
        return tr("undefined: {why}", why=value.why)
    interval = (
        f" [{show_interval(value.ci95, 2)}]" if value.ci95 else f" ({tr(value.why)})" if value.why else ""
    )
    return f"{show_number(value.value, 2)}{interval}"


def chart_annotators(annotators: Sequence[AnnotatorProgress], pairs: int) -> "alt.Chart":
    """Chart each annotator's judged pairs out of all pairs. Simulated annotators are paler and marked."""
    import altair as alt

    rows = [
        {"name": name, "judged": annotator.judged, "simulated": annotator.simulated}
        for name, annotator in name_people(annotators)
    ]
    scale = alt.Scale(domain=[0, max(pairs, 1)], nice=False)
    base = alt.Chart(alt.InlineData(rows)).encode(
        y=alt.Y("name:N", sort=None, title=None, axis=_names_axis(alt)),
        x=alt.X(
            "judged:Q",
            title=tr("pairs judged, of {pairs:,}", pairs=pairs),
            scale=scale,
            axis=_counts_axis(alt),
        ),
        opacity=alt.condition("datum.simulated", alt.value(0.75), alt.value(1)),
        tooltip=[alt.Tooltip("name:N", title=" "), alt.Tooltip("judged:Q", title=tr("judged"))],
    )
    return base.mark_bar(color=TEAL, size=BAR).properties(height=_height(rows))


def describe_annotators(progress: LabelingProgress) -> str:
    """Return the same in words."""
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


def sort_naturally(name: str) -> list[tuple[int, str]]:
    """Return the sort key of a name: letters without case, numbers by value."""
    parts = re.split(r"([0-9]+)", name.casefold())
    return [(int(part), "") if number % 2 else (0, part) for number, part in enumerate(parts)]


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
    scale = alt.Scale(domain=[name_word(state) for state in STATES], range=list(STATES.values()))
    base = alt.Chart(alt.InlineData(rows)).encode(
        x=alt.X("query:N", sort=None, title=_name_columns(size), axis=axis, scale=columns),
        y=alt.Y("pairs:Q", title=tr("pairs"), axis=_counts_axis(alt)),
        color=alt.Color("state:N", title=None, scale=scale, legend=alt.Legend(orient="top")),
        order="order:Q",
        tooltip=[
            alt.Tooltip("query:N", title=tr("query")),
            alt.Tooltip("text:N", title=tr("text")),
            alt.Tooltip("state:N", title=tr("state")),
            alt.Tooltip("pairs:N", title=tr("pairs")),
        ],
    )
    return base.mark_bar().properties(height=300)


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
    """Return the same in words."""
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


def chart_statuses(statuses: Mapping[str, int]) -> "alt.Chart":
    """Chart the number of pairs by status."""
    import altair as alt

    rows = [
        {"status": name_word(status), "pairs": pairs, "colour": STATUS_COLOURS.get(status, TEAL)}
        for status, pairs in statuses.items()
    ]
    base = alt.Chart(alt.InlineData(rows)).encode(
        y=alt.Y("status:N", sort=None, title=None, axis=_names_axis(alt)),
        x=alt.X("pairs:Q", title=tr("pairs"), axis=_counts_axis(alt)),
        color=alt.Color("colour:N", scale=None),
        tooltip=[alt.Tooltip("status:N", title=tr("status")), alt.Tooltip("pairs:Q", title=tr("pairs"))],
    )
    return base.mark_bar(size=BAR).properties(height=_height(rows))


def describe_statuses(statuses: Mapping[str, int]) -> str:
    """Describe the statuses in words. Skips statuses without pairs."""
    parts = [f"{name_word(status)} {pairs:,}" for status, pairs in statuses.items() if pairs]
    pairs = sum(statuses.values())
    listed = join_names(parts) or tr("none")
    return tr_n(
        "{pairs:,} pair: {statuses}.", "{pairs:,} pairs: {statuses}.", pairs, pairs=pairs, statuses=listed
    )


def _height(rows: Sequence[Any]) -> int:
    """Return the height in pixels for these rows and the axis with its title."""
    return len(rows) * ROW + AXIS


def _names_axis(alt: Any) -> Any:
    return alt.Axis(labelLimit=180, ticks=False, domain=False, labelFlush=False)


def _counts_axis(alt: Any) -> Any:
    return alt.Axis(tickMinStep=1, format=",d", labelFlush=False)


MOST, LONGEST_LABEL = 16, 24  # of one of many names; of one with its count, in a chart by rows
APART = "\u200b"  # has no width: two names that are cut alike stay two


def shorten(name: str, most: int = MOST) -> str:
    """Return the name; a name wider than `most` narrow letters ends in "…". Wide letters count twice."""
    used, kept = 0, ""
    for letter in name:
        used += 2 if east_asian_width(letter) in "WF" else 1
        if used > most:
            return kept.rstrip() + "…"
        kept += letter
    return name


def space_percent(pattern: str) -> dict[str, str]:
    """Return axis options for shares: labels in d3's pattern ("~%"), with the language's spacing: "5 %", "5%"."""
    spaced = show_share(0.01).endswith("\N{NO-BREAK SPACE}%")
    return {"format": pattern, **({"labelExpr": "replace(datum.label, '%', ' %')"} if spaced else {})}


def label_counts(names: Sequence[str], counts: Sequence[int]) -> list[str]:
    """Return "name count" for each name, in the same order."""
    labels: list[str] = []
    for name, count in zip(names, counts, strict=True):
        label = f"{shorten(name, LONGEST_LABEL)} ({count:,})"
        while label in labels:
            label += APART
        labels.append(label)
    return labels
