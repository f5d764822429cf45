"""What a dataset is required to cover, beside what it covers."""

from typing import TYPE_CHECKING

import streamlit as st

from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import draw_table

if TYPE_CHECKING:
    from annotator.dataset.records import Coverage, CoverageRow


def draw_coverage(coverage: "Coverage") -> None:
    """The requirements as a table, unmet ones first; what is only a figure is one click away."""
    required = [row for row in coverage.rows if row.met is not None]
    figures = [row for row in coverage.rows if row.met is None]
    said = tr_n(
        "{met:,} of {n:,} requirement is met.",
        "{met:,} of {n:,} requirements are met.",
        coverage.required,
        met=coverage.met,
    )
    st.text(said)
    columns = (tr("what"), tr("state"), tr("required"), tr("measured"))
    draw_table(
        tr("Requirements"), columns, [_row(row) for row in sorted(required, key=lambda row: bool(row.met))]
    )
    if figures:
        with st.expander(tr("Further figures")):
            rows = [(tr(row.name), tr(row.measured)) for row in figures]
            draw_table(tr("Further figures"), (tr("what"), tr("measured")), rows)
    draw_note(
        tr("Measured over the dataset as it is settled now. annotator check measures a file the same way.")
    )


def _row(row: "CoverageRow") -> tuple[str, str, str, str]:
    return tr(row.name), tr("met") if row.met else tr("not met"), tr(row.required), tr(row.measured)
