"""Draw the tab "Left out": how many judgments do not count, and why."""

import streamlit as st

from annotator.agreement.records import AgreementReport
from annotator.web.agreement.downloads import list_left_out_address
from annotator.web.kit.figures import show_number
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import Link, draw_link_table


def draw(report: AgreementReport) -> None:
    """Draw how many judgments do not count, and why, with a file of each."""
    st.header(tr("What does not count"))
    if not report.left_out:
        st.text(tr("Every judgment counts."))
        return
    draw_note(tr("Only current independent grades of pairs that two or more judged enter agreement."))
    draw_link_table(
        tr("What does not count"),
        [tr("judgments"), tr("reason"), tr("list")],
        [
            [
                show_number(excluded.judgments),
                tr(excluded.why),
                Link(
                    tr("as a CSV file"),
                    list_left_out_address(report.dataset, excluded.kind),
                    f"{tr('as a CSV file')}: {tr(excluded.why)}",
                ),
            ]
            for excluded in report.left_out
        ],
    )
