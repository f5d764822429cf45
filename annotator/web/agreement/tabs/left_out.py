"""Draw the tab Excluded: how many judgments do not count, and why."""

import streamlit as st

from annotator.agreement.records import AgreementReport
from annotator.domain.figures import show_number
from annotator.web.agreement.downloads import make_left_out_url
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import Link, draw_link_table


def draw(report: AgreementReport) -> None:
    """Draw how many judgments do not count, and why, with a file of each."""
    st.header(tr("Excluded judgments"))
    if not report.left_out:
        st.text(tr("All judgments count."))
        return
    draw_note(
        tr("Agreement uses only current, independent grades of pairs judged by two or more annotators.")
    )
    draw_link_table(
        tr("Excluded judgments"),
        [tr("judgments"), tr("reason"), tr("list")],
        [
            [
                show_number(excluded.judgments),
                tr(excluded.why),
                Link(
                    tr("CSV file"),
                    make_left_out_url(report.dataset, excluded.kind),
                    f"{tr('CSV file')}: {tr(excluded.why)}",
                ),
            ]
            for excluded in report.left_out
        ],
    )
