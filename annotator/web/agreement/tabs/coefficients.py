"""Draw the tab "All figures": every coefficient of the dataset."""

import streamlit as st

from annotator.agreement.records import AgreementReport
from annotator.web.agreement import tables as rows
from annotator.web.agreement.figures import draw_figures
from annotator.web.agreement.tables import TableRequest
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_note


def draw(report: AgreementReport) -> None:
    """Draw every coefficient of the dataset, and what makes kappa hard to read."""
    st.header(tr("All coefficients"))
    draw_note(rows.describe_basis(report))
    draw_figures(report, TableRequest("coefficients"), tr("All coefficients"), at_once=True)
    paradox = report.measured.paradox
    if paradox is not None:
        st.text(
            tr(
                "Prevalence {prevalence:.2f}, bias {bias:.2f}, both from 0 to 1. κ is lower when prevalence "
                "is high (one grade dominates) or bias is low (annotators use each grade equally often); AC1 "
                "hardly changes.",
                prevalence=paradox.prevalence,
                bias=paradox.bias,
            )
        )
