"""What a dataset is required to cover, beside what it covers."""

from typing import TYPE_CHECKING

import streamlit as st

from annotator.web.guidance import draw_note
from annotator.web.html_table import draw_table

if TYPE_CHECKING:
    from annotator.domain.coverage import Coverage, CoverageRow


def draw_coverage(coverage: "Coverage") -> None:
    """The requirements as a table, unmet ones first; what is only a figure is one click away."""
    required = [row for row in coverage.rows if row.met is not None]
    figures = [row for row in coverage.rows if row.met is None]
    st.text(f"{coverage.met:,} of {coverage.required:,} requirements are met.")
    columns = ("what", "state", "required", "measured")
    draw_table(
        "Requirements", columns, [_row(row) for row in sorted(required, key=lambda row: bool(row.met))]
    )
    if figures:
        with st.expander("Further figures"):
            draw_table("Further figures", ("what", "measured"), [(row.name, row.measured) for row in figures])
    draw_note("Measured over the dataset as it is settled now. annotator check measures a file the same way.")


def _row(row: "CoverageRow") -> tuple[str, str, str, str]:
    return row.name, "met" if row.met else "not met", row.required, row.measured
