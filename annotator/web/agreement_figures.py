"""A table of the agreement page, one click away or to be read at once, with its file."""

from collections.abc import Sequence

import streamlit as st

from annotator.domain.agreement import AgreementReport
from annotator.web.agreement_download import list_figures_address
from annotator.web.agreement_links import draw_file_link
from annotator.web.agreement_tables import Asked, list_rows
from annotator.web.html_table import draw_table
from annotator.web.messages import tr


def draw_figures(
    report: AgreementReport,
    asked: Asked,
    label: str,
    grade_names: Sequence[str] = (),
    *,
    at_once: bool = False,
) -> None:
    """The table; it is sent only once it is opened. `at_once`: it stands there to be read."""
    if not at_once:
        shown = st.expander(label, key=f"table-{asked.table}", on_change="rerun")
        if shown.open:
            with shown:
                st.dataframe(list_rows(report, asked, grade_names), hide_index=True, alt=label)
        return
    found = list_rows(report, asked, grade_names)
    columns = [
        name for name in (found[0] if found else ()) if any(row[name] not in (None, "") for row in found)
    ]
    draw_table(label, columns, [[_show(row[name]) for name in columns] for row in found])
    draw_file_link(tr("Numbers as CSV"), list_figures_address(report.dataset, asked))


def _show(cell: object) -> str:
    """A figure with the decimals of its column; nothing where there is none."""
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return "" if cell is None else f"{cell:,}" if isinstance(cell, int) else str(cell)
