"""Draw a chart of a report with its text alternative, clicks on cells, and files.

Streamlit's own menu appears only under the mouse and has no SVG; Vega's menu would send the figures to its
editor. So every chart has three links: its numbers as CSV, and the drawing as SVG and PNG, made in the
browser.
"""

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from annotator.web.kit.messages import tr
from annotator.web.kit.modules import join_modules
from annotator.web.kit.page_parts import NUMBERS

if TYPE_CHECKING:
    import altair as alt

HERE = Path(__file__).parent
Pick = Callable[[Mapping[str, Any]], None]


def draw_report_chart(
    key: str,
    chart: "alt.LayerChart",
    words: str,
    *,
    caption: str,
    csv: str,
    name: str,
    pick: Pick | None = None,
) -> None:
    """Draw the chart with its text alternative.

    `csv`: URL of its numbers; `name`: of its files. `pick` receives the clicked cell before the page is drawn
    again.
    """
    ink = {"labelColor": "currentcolor", "titleColor": "currentcolor"}
    drawn = chart.configure(numberFormat=NUMBERS).configure_axis(**ink).configure_legend(**ink)
    drawn = drawn.properties(
        padding={"left": 0, "top": 4, "right": 6, "bottom": 8}, usermeta={"embedOptions": {"renderer": "svg"}}
    )
    with st.container(key=key, gap="xxsmall"):
        if pick is None:
            st.altair_chart(drawn, alt=words, height=chart.height)
        else:
            st.altair_chart(
                drawn,
                alt=words,
                height=chart.height,
                key=f"{key}-chart",
                selection_mode="cell",
                on_select=lambda: _take(f"{key}-chart", pick),
            )
        message = {
            "chart": key,
            "caption": caption,
            "csv": csv,
            "name": name,
            "words": {"csv": tr("Numbers as CSV")},
        }
        _component()(key=f"{key}-files", data={"message": json.dumps(message, ensure_ascii=False)})


def _take(key: str, pick: Pick) -> None:
    cells = st.session_state[key]["selection"].get("cell")
    if cells:
        pick(cells[0])


@cache
def _component() -> Any:
    css, js = (HERE / "chart_files.css").read_text(encoding="utf-8"), join_modules(HERE / "chart_files.js")
    html = '<div class="files" role="group"></div>'
    return st.components.v2.component("annotator_chart_files", html=html, css=css, js=js)
