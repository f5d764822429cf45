"""Draw the tab Checks from a file: training and gold pairs, one per line."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from annotator.domain.figures import show_number
from annotator.web.importing.one_file_tab import draw_table_task
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import draw_link
from annotator.web.kit.tables import draw_table
from annotator.web.page_context import PageContext


def draw(context: PageContext, dataset: str) -> None:
    st.text(
        tr(
            "Training and gold pairs: a CSV file with the columns query_id, doc_id, kind (training or gold), grade and explanation. The "
            "pairs have to be in the pool; a training pair needs an explanation."
        )
    )
    draw_link(context, "calibration")
    draw_table_task(
        context,
        dataset,
        "checks",
        draw_result=_draw_result,
        changes_something=lambda result: bool(result["checks"]["added"] + result["checks"]["changed"]),
        button=tr("Save the checks"),
    )


def _draw_result(result: Mapping[str, Any]) -> None:
    if "checks" not in result:
        return
    counts = result["checks"]
    draw_table(
        tr("What changes"),
        (tr("new"), tr("changed"), tr("unchanged")),
        [tuple(show_number(counts[name]) for name in ("added", "changed", "unchanged"))],
    )
