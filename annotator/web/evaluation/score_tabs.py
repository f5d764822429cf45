"""Draw the tabs with charts: "Scores", "Differences" between systems with their tests, and "Groups" of queries."""

from html import escape

import streamlit as st

from annotator.domain.figures import show_number
from annotator.evaluation.profiles import MEAN_OVER
from annotator.web.evaluation.charts import (
    MOST_DRAWN,
    MOST_GROUPS,
    MOST_SYSTEMS,
    chart_differences,
    chart_groups,
    chart_scores,
    describe_differences,
    describe_groups,
    describe_scores,
)
from annotator.web.evaluation.report_view import ShownEvaluation
from annotator.web.evaluation.tables import list_comparisons, show_figure, sort_systems
from annotator.web.kit.messages import join_names, join_sentences, tr, tr_n
from annotator.web.kit.page_parts import draw_link, draw_note, draw_report_chart
from annotator.web.kit.tables import draw_link_table, draw_table
from annotator.web.kit.words import name_field

MOST_LEFT_OUT = 20


def draw_scores(shown: ShownEvaluation) -> None:
    """Draw the chosen measure, then every measure of every system."""
    measure, evaluation = shown.measure, shown.evaluation
    if shown.result.expected_order is not None:
        from annotator.web.pooling.round_preview import draw_expected_order

        st.header(tr(shown.result.expected_order.tabulate().title))
        draw_expected_order(shown.result.expected_order)
    st.header(measure)
    draw_report_chart(
        "scores",
        chart_scores(evaluation, measure),
        describe_scores(evaluation, measure),
        caption=tr("{measure} by system", measure=measure),
        csv=shown.make_file_url("scores"),
        name=f"{shown.dataset}-scores",
    )
    shown.show_table("scores", tr("{measure} by system", measure=measure))
    draw_note(_explain(shown))
    st.header(tr("All measures"))
    names = [one.name for one in evaluation.table.measures]
    draw_link_table(
        tr("All measures"),
        [tr("system"), *names],
        [
            [system.system, *(show_figure(system.measures[name].score.value) for name in names)]
            for system in sort_systems(evaluation, measure)
        ],
    )
    _draw_latency(shown)
    _draw_conventions(shown)


def _explain(shown: ShownEvaluation) -> str:
    table = shown.evaluation.table
    return join_sentences(
        [
            tr_n(
                "Means over {n:,} query. Thick lines (from, to): 95 % intervals from resampled queries. Thin "
                "lines: lowest and highest possible score.",
                "Means over {n:,} queries. Thick lines (from, to): 95 % intervals from resampled queries. "
                "Thin lines: lowest and highest possible score.",
                len(table.query_ids),
            ),
            tr(
                "Judged: share of judged documents among those that count for the measure. Unjudged "
                "documents count as not relevant in the score. Condensed: the score without unjudged "
                "documents. Lowest and highest possible: the score if unjudged documents had the worst or "
                "the best grades."
            ),
        ]
    )


def _draw_latency(shown: ShownEvaluation) -> None:
    rows = [
        [system.system, *(show_number(figure) for figure in (latency.p50, latency.p95, latency.p99))]
        for system in shown.evaluation.systems
        if (latency := system.latency_ms) is not None
    ]
    if rows:
        st.header(tr("Latency in milliseconds"))
        draw_link_table(tr("Latency in milliseconds"), [tr("system"), "P50", "P95", "P99"], rows)


def _draw_conventions(shown: ShownEvaluation) -> None:
    evaluation = shown.evaluation
    with st.expander(tr("How each measure is computed"), key="formulas"):
        for measure in evaluation.table.measures:
            st.html(
                f'<p class="annotator-note"><strong>{escape(measure.name)}</strong> {escape(tr(measure.formula))}</p>'
            )
        draw_note(tr(MEAN_OVER[evaluation.profile.mean_over]))
        for query_id, why in list(evaluation.table.left_out.items())[:MOST_LEFT_OUT]:
            draw_note(f"{query_id}: {tr(why)}")


def draw_differences(shown: ShownEvaluation) -> None:
    """Draw the differences on the chosen measure, the largest first."""
    comparisons = list_comparisons(shown.evaluation, shown.measure)
    title = tr("Differences on {measure}", measure=shown.measure)
    st.header(title)
    if not comparisons:
        _say_why_not(shown)
        return
    draw_report_chart(
        "differences",
        chart_differences(shown.evaluation, shown.measure),
        describe_differences(shown.evaluation, shown.measure),
        caption=title,
        csv=shown.make_file_url("differences"),
        name=f"{shown.dataset}-differences",
    )
    draw_note(
        tr(
            "Lines: 95 % intervals. Filled diamond: a difference that chance does not explain (p below "
            ".05 after Holm). Hollow circle: no difference shown."
        )
    )
    if len(comparisons) > MOST_DRAWN:
        draw_note(
            tr(
                "The chart shows the {n} largest of {all:,} differences. The file has all.",
                n=MOST_DRAWN,
                all=len(comparisons),
            )
        )
    shown.show_table("differences", tr("Differences as a table"), folded=True)
    st.header(tr("Queries won"))
    wins = shown.evaluation.dataset.wins.get(shown.measure, {})
    draw_table(
        tr("Queries won"),
        [tr("system"), tr("queries on which it scores highest")],
        [[system, count] for system, count in sorted(wins.items(), key=lambda item: -item[1])],
    )


def _say_why_not(shown: ShownEvaluation) -> None:
    if len(shown.evaluation.systems) < 2:
        st.text(tr("There is only one system. To compare, import a run of another system."))
        draw_link(shown.context, "import")
    else:
        st.text(tr("This measure cannot compare systems. Choose another."))


def draw_groups(shown: ShownEvaluation) -> None:
    """Draw the heat map of the groups; without a field, say where one is chosen."""
    by = shown.choice.by
    if by is None:
        st.header(tr("By group"))
        fields = join_names(map(name_field, shown.choices.fields))
        if fields:
            st.text(
                tr(
                    "Choose a field under Group by to see the best system of each group: {fields}.",
                    fields=fields,
                )
            )
        else:
            st.text(tr("The queries have no category or other field to group them by."))
        return
    title = tr("{measure} by {field}", measure=shown.measure, field=name_field(by))
    st.header(title)
    draw_report_chart(
        "evaluation-groups",
        chart_groups(shown.evaluation, shown.measure),
        describe_groups(shown.evaluation, shown.measure),
        caption=title,
        csv=shown.make_file_url("groups"),
        name=f"{shown.dataset}-groups",
    )
    draw_note(tr("In brackets: number of queries. Groups with few queries are less reliable."))
    groups, systems = len(shown.evaluation.groups), len(shown.evaluation.systems)
    if groups > MOST_GROUPS or systems > MOST_SYSTEMS:
        draw_note(
            tr(
                "The chart shows at most {groups} groups and {systems} systems. The file has all.",
                groups=MOST_GROUPS,
                systems=MOST_SYSTEMS,
            )
        )
    shown.show_table("groups", tr("Table by group"), folded=True)
