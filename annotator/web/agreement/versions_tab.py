"""Draw the tab Guideline versions: agreement before and since a version.

It is measured when the tab is opened, and kept in the session while nothing changes.
"""

from html import escape

import streamlit as st

from annotator.agreement.records import AgreementReport, VersionComparison, VersionComparisonPart
from annotator.agreement.service import compare_version, read_stamp
from annotator.domain.errors import NotFound
from annotator.web.agreement.downloads import make_since_url
from annotator.web.agreement.tables import list_since_rows, show_cell
from annotator.web.agreement.time_charts import chart_since, describe_since, list_points
from annotator.web.kit.messages import join_sentences, tr, tr_n
from annotator.web.kit.page_parts import draw_link, draw_note, draw_report_chart
from annotator.web.kit.tables import draw_file_link, draw_link_table
from annotator.web.page_context import PageContext

KEY, KEPT = "since", "since version"


def draw(context: PageContext, report: AgreementReport) -> None:
    """Draw how agreement changed with a guideline version: a sentence, a chart and a table."""
    st.header(tr("Before and since a guideline version"))
    placeholder = st.empty()
    placeholder.html(f'<p class="annotator-note" role="status">{escape(tr("Calculating agreement …"))}</p>')
    comparison = _find(context, report.dataset)
    placeholder.empty()
    if comparison is None:
        st.text(tr("The guideline has only one version, so there is nothing to compare yet."))
        draw_link(context, "guideline")
        return
    _draw_choice(comparison)
    for part in comparison.parts:
        _draw_part(part)
    _draw_notes(comparison)
    if list_points(comparison):
        draw_report_chart(
            "since-version",
            chart_since(comparison, report.kappa_target),
            describe_since(comparison),
            caption=tr("Before and since version {version}", version=comparison.version),
            csv=make_since_url(comparison.dataset, comparison.version),
            name=f"{comparison.dataset}-since-{comparison.version}",
        )
    _draw_table(comparison)


def _draw_part(part: VersionComparisonPart) -> None:
    few = [
        tr("{side}: {warning}", side=name, warning=tr(side.warning))
        for name, side in ((tr("before"), part.before), (tr("since then"), part.since))
        if side.warning and side.pairs
    ]
    note = f'<p class="annotator-note">{escape("; ".join(few))}</p>' if few else ""
    st.html(f'<p class="annotator-step">{escape(tr(part.sentence))}</p>{note}')


def _find(context: PageContext, dataset: str) -> VersionComparison | None:
    """Return the comparison, from the last run if nothing has changed; None with one version only."""
    parameter = str(st.session_state.get(KEY) or st.query_params.get(KEY, ""))
    version = int(parameter) if parameter.isdecimal() and len(parameter) < 9 else None
    stamp = (context.call(read_stamp, dataset), version)
    cached = st.session_state.get(KEPT)
    if cached is not None and cached[0] == stamp:
        kept: VersionComparison | None = cached[1]
        return kept
    try:
        comparison = context.call(compare_version, dataset, version)
    except NotFound:
        comparison = context.call(compare_version, dataset)
    st.session_state[KEPT] = (stamp, comparison)
    return comparison


def _draw_choice(comparison: VersionComparison) -> None:
    versions = [str(version) for version, _ in reversed(comparison.versions)]
    st.selectbox(
        tr("Guideline version"),
        versions,
        index=versions.index(str(comparison.version)),
        key=KEY,
        bind="query-params",
        width=260,
    )


def _draw_notes(comparison: VersionComparison) -> None:
    led = dict(comparison.versions)[comparison.version]
    sentences = [
        tr_n(
            "Based on {n:,} decision about disagreements.",
            "Based on {n:,} decisions about disagreements.",
            led,
        )
        if led
        else tr("No decisions are linked to this version."),
        tr(
            "Before: pairs judged only under earlier versions. Since: pairs judged only under this or "
            "later versions."
        ),
    ]
    if comparison.between:
        sentences.append(
            tr_n(
                "{n:,} pair judged partly before and partly since is not counted.",
                "{n:,} pairs judged partly before and partly since are not counted.",
                comparison.between,
            )
        )
    if comparison.unknown:
        sentences.append(
            tr_n(
                "{n:,} pair with an imported judgment is not counted, because its guideline version is "
                "unknown.",
                "{n:,} pairs with imported judgments are not counted, because their guideline version is "
                "unknown.",
                comparison.unknown,
            )
        )
    sentences.append(
        tr(
            "The two sides contain different pairs, so a difference may also come from easier or harder "
            "pairs. Lines: 95\N{NO-BREAK SPACE}% confidence intervals. Hollow: too few pairs for a conclusion."
        )
    )
    if comparison.simulated:
        sentences.append(tr("Simulated judgments are included."))
    draw_note(join_sentences(sentences))


def _draw_table(comparison: VersionComparison) -> None:
    label = tr("Table before and since")
    shown = st.expander(label, key="table-since", on_change="rerun")
    if shown.open:
        with shown:
            rows = list_since_rows(comparison)
            columns = [name for name in rows[0] if any(row[name] not in (None, "") for row in rows)]
            draw_link_table(
                label, columns, [[show_cell(row[name]) for name in columns] for row in rows], roomy=True
            )
    if not list_points(comparison):  # otherwise it stands below the chart
        draw_file_link(tr("Numbers as CSV"), make_since_url(comparison.dataset, comparison.version))
