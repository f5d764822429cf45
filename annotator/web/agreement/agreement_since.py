"""Agreement before and since a version of the guideline, on the agreement page: measured when its tab is opened, and kept
while nothing changes."""

from html import escape
from urllib.parse import urlencode

import streamlit as st

from annotator.agreement.records import AgreementReport
from annotator.agreement.service import compare_version, read_stamp
from annotator.agreement.since_version import SincePart, SinceVersion
from annotator.domain.errors import NotFound
from annotator.web.agreement.agreement_links import draw_file_link
from annotator.web.agreement.routes import SINCE
from annotator.web.agreement.since_chart import chart_since, describe_since, list_points, list_since_rows
from annotator.web.kit.chart_files import draw_report_chart
from annotator.web.kit.link_table import draw_link_table
from annotator.web.kit.messages import join_sentences, tr, tr_n
from annotator.web.kit.page_parts import draw_link, draw_note
from annotator.web.page_context import PageContext

KEY, KEPT = "since", "since version"


def draw_since(context: PageContext, report: AgreementReport) -> None:
    """What became of agreement since a version, in a sentence, a chart and a table."""
    st.header(tr("Before and since a version of the guideline"))
    place = st.empty()
    place.html(f'<p class="annotator-note" role="status">{escape(tr("Measuring agreement …"))}</p>')
    found = _find(context, report.dataset)
    place.empty()
    if found is None:
        st.text(tr("There is one version of the guideline so far, so there is nothing to compare."))
        draw_link(context, "guideline")
        return
    _draw_choice(found)
    for part in found.parts:
        _draw_part(part)
    _draw_notes(found)
    if list_points(found):
        draw_report_chart(
            "since-version", chart_since(found, report.kappa_target), describe_since(found),
            caption=tr("Before and since version {version}", version=found.version),
            csv=list_since_address(found.dataset, found.version), name=f"{found.dataset}-since-{found.version}",
        )  # fmt: skip
    _draw_table(found)


def _draw_part(part: SincePart) -> None:
    """What is so, and why so few pairs say little."""
    few = [
        tr("{side}: {warning}", side=name, warning=tr(side.warning))
        for name, side in ((tr("before it"), part.before), (tr("since it"), part.since))
        if side.warning and side.pairs
    ]
    note = f'<p class="annotator-note">{escape("; ".join(few))}</p>' if few else ""
    st.html(f'<p class="annotator-step">{escape(tr(part.sentence))}</p>{note}')


def list_since_address(dataset: str, version: int) -> str:
    """The address of the table's file."""
    return f"{SINCE}?" + urlencode({"dataset": dataset, "version": version})


def _find(context: PageContext, dataset: str) -> SinceVersion | None:
    """Measured, or kept from the run before where nothing has changed."""
    asked = str(st.session_state.get(KEY) or st.query_params.get(KEY, ""))
    version = int(asked) if asked.isdecimal() and len(asked) < 9 else None
    stamp = (read_stamp(context.database, context.actor, dataset), version)
    known = st.session_state.get(KEPT)
    if known is not None and known[0] == stamp:
        kept: SinceVersion | None = known[1]
        return kept
    try:
        found = compare_version(context.database, context.actor, dataset, version)
    except NotFound:
        found = compare_version(context.database, context.actor, dataset)
    st.session_state[KEPT] = (stamp, found)
    return found


def _draw_choice(found: SinceVersion) -> None:
    versions = [str(version) for version, _ in reversed(found.versions)]
    st.selectbox(
        tr("Version of the guideline"), versions, index=versions.index(str(found.version)), key=KEY, bind="query-params",
        width=260,
    )  # fmt: skip


def _draw_notes(found: SinceVersion) -> None:
    """What the comparison rests on."""
    led = dict(found.versions)[found.version]
    said = [
        tr_n(
            "{n:,} decision on disputes led to this version.",
            "{n:,} decisions on disputes led to this version.",
            led,
        )
        if led
        else tr("No decision on disputes is named as having led to this version."),
        tr(
            "Before: pairs judged wholly under earlier versions. Since: pairs judged wholly under this one or later ones."
        ),
    ]
    if found.between:
        said.append(
            tr_n(
                "{n:,} pair judged partly before and partly since is on neither side.",
                "{n:,} pairs judged partly before and partly since are on neither side.",
                found.between,
            )
        )
    if found.unknown:
        said.append(
            tr_n(
                "{n:,} pair with a judgment from a file is on neither side: nobody knows the guideline that it was made under.",
                "{n:,} pairs with judgments from files are on neither side: nobody knows the guideline that these were made under.",
                found.unknown,
            )
        )
    said.append(
        tr(
            "They are different pairs: a difference may also come from easier or harder ones. Lines: 95 % intervals. Hollow: too few to say much."
        )
    )
    if found.simulated:
        said.append(tr("Simulated judgments are included."))
    draw_note(join_sentences(said))


def _draw_table(found: SinceVersion) -> None:
    label = tr("Before and since as a table")
    shown = st.expander(label, key="table-since", on_change="rerun")
    if shown.open:
        with shown:
            rows = list_since_rows(found)
            columns = [name for name in rows[0] if any(row[name] not in (None, "") for row in rows)]
            draw_link_table(
                label, columns, [[_show(row[name]) for name in columns] for row in rows], roomy=True
            )
    if not list_points(found):  # otherwise it stands below the chart
        draw_file_link(tr("Numbers as CSV"), list_since_address(found.dataset, found.version))


def _show(cell: object) -> str:
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return "" if cell is None else f"{cell:,}" if isinstance(cell, int) else str(cell)
