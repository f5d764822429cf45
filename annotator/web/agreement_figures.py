"""A table of the agreement page, one click away or to be read at once, with its file and the way to the pairs behind it."""

from collections.abc import Sequence

import streamlit as st

from annotator.domain.agreement import AgreementReport
from annotator.web.agreement_download import list_figures_address
from annotator.web.agreement_links import draw_file_link
from annotator.web.agreement_rows import Row
from annotator.web.agreement_tables import Asked, list_rows
from annotator.web.agreement_ways import link_cells, list_ways
from annotator.web.link_table import draw_link_table
from annotator.web.messages import tr

MOST_LINKED = 500


def draw_figures(
    report: AgreementReport,
    asked: Asked,
    label: str,
    grade_names: Sequence[str] = (),
    *,
    at_once: bool = False,
) -> None:
    """The table; it is sent only once it is opened. `at_once`: it stands there to be read. One of more than MOST_LINKED rows
    has no links: nobody would reach them."""
    if not at_once:
        shown = st.expander(label, key=f"table-{asked.table}", on_change="rerun")
        if shown.open:
            with shown:
                found = list_rows(report, asked, grade_names)
                if len(found) > MOST_LINKED:
                    st.dataframe(found, hide_index=True, alt=label)
                else:
                    _draw_rows(report, asked, label, grade_names, found)
        return
    _draw_rows(report, asked, label, grade_names, list_rows(report, asked, grade_names))
    draw_file_link(tr("Numbers as CSV"), list_figures_address(report.dataset, asked))


def _draw_rows(
    report: AgreementReport, asked: Asked, label: str, grade_names: Sequence[str], found: Sequence[Row]
) -> None:
    """The rows, without the columns in which nothing stands."""
    columns = [
        name for name in (found[0] if found else ()) if any(row[name] not in (None, "") for row in found)
    ]
    ways = list_ways(report, asked, grade_names) or [{}] * len(found)
    cells = [
        link_cells(report.dataset, row, way, columns, [_show(row[name]) for name in columns])
        for row, way in zip(found, ways, strict=True)
    ]
    draw_link_table(label, columns, cells, roomy=True)


def _show(cell: object) -> str:
    """A figure with the decimals of its column; nothing where there is none."""
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return "" if cell is None else f"{cell:,}" if isinstance(cell, int) else str(cell)
