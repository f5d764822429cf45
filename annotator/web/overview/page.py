"""The lead's overview: what to do next, how well annotators agree, how far the work is."""

import streamlit as st

from annotator.overview.service import Overview, show_overview
from annotator.web.agreement.agreement_measured import draw_changed, find_kept
from annotator.web.agreement.report_cache import QUICK, Kept
from annotator.web.kit import charts
from annotator.web.kit.figures import show_time
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_chart, draw_note, draw_numbers, draw_steps, require_dataset
from annotator.web.overview.coverage_view import draw_coverage
from annotator.web.overview.pair_counts import describe_counts
from annotator.web.overview.progress_rows import list_annotator_rows, list_query_rows
from annotator.web.page_context import PageContext


def draw(context: PageContext) -> None:
    st.title(tr("Overview"))
    dataset = require_dataset(context)
    kept = find_kept(context, dataset, quick=QUICK)
    found = show_overview(context.database, context.actor, dataset, agreement=kept.report)
    st.header(tr("What to do next"))
    draw_steps(context, found.steps)
    if not found.counts.pairs:
        return
    if kept.changed:
        draw_note(
            tr(
                "Whether agreement is enough, also for a release, is said here as of {time}; something has changed since.",
                time=show_time(kept.measured_at),
            )
        )
    left, right = st.columns(2, gap="medium")
    with left:
        _draw_agreement(found, kept)
    with right:
        _draw_statuses(found)
    left, right = st.columns(2, gap="medium")
    with left:
        _draw_annotators(found)
    with right:
        _draw_queries(found)
    if found.coverage.required:
        st.header(tr("What it covers"))
        draw_coverage(found.coverage)


def _draw_agreement(found: Overview, kept: Kept) -> None:
    st.header(tr("Agreement"))
    draw_changed(kept)
    report = found.agreement
    kappas = [("κ", report.measured.cohen_kappa["unweighted"])]
    if kappas[0][1].value is not None:
        words = charts.describe_kappas(kappas, report.kappa_target)
        draw_chart(charts.chart_kappas(kappas, report.kappa_target), words)
    for sentence in report.diagnosis[: 1 + report.simulated]:
        st.text(tr(sentence))


def _draw_statuses(found: Overview) -> None:
    st.header(tr("Pairs by status"))
    words = charts.describe_statuses(found.pairs.by_status)
    draw_chart(charts.chart_statuses(found.pairs.by_status), words)
    st.text(words)
    left = describe_counts(found.pairs)
    if left:
        draw_note(left)


def _draw_annotators(found: Overview) -> None:
    st.header(tr("Progress by annotator"))
    people = found.progress.annotators
    if not people:
        st.text(tr("Nobody labels here yet."))
        return
    draw_chart(
        charts.chart_annotators(people, found.progress.pairs), charts.describe_annotators(found.progress)
    )
    draw_numbers(tr("Numbers by annotator"), list_annotator_rows(people))


def _draw_queries(found: Overview) -> None:
    st.header(tr("Progress by query"))
    words = charts.describe_queries(found.progress)
    draw_chart(charts.chart_queries(found.progress.queries), words)
    st.text(words)
    draw_numbers(tr("Numbers by query"), list_query_rows(found.progress.queries))
