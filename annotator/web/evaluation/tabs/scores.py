"""Draw the tab "Scores": the chosen measure with intervals and other readings, then all measures."""

from html import escape

import streamlit as st

from annotator.domain.figures import show_number
from annotator.evaluation.profiles import MEAN_OVER
from annotator.web.evaluation.charts import chart_scores, describe_scores
from annotator.web.evaluation.tables import show_figure, sort_systems
from annotator.web.evaluation.tabs.shown import ShownEvaluation
from annotator.web.kit.chart_files import draw_report_chart
from annotator.web.kit.messages import join_sentences, tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import draw_link_table

MOST_LEFT_OUT = 20


def draw(shown: ShownEvaluation) -> None:
    """Draw the chosen measure, then every measure of every system."""
    measure, evaluation = shown.measure, shown.evaluation
    if shown.result.expected_order is not None:
        from annotator.web.pooling.system_order import draw_expected_order

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
