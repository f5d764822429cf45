"""Draw the tab New document ids: a file of old and new ids, the changes, and the button that applies them."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from annotator.domain.figures import show_number
from annotator.web.importing.one_file_tab import draw_table_task
from annotator.web.kit.messages import tr, tr_n
from annotator.web.kit.page_parts import draw_note
from annotator.web.kit.tables import draw_table
from annotator.web.page_context import PageContext


def draw(context: PageContext, dataset: str) -> None:
    st.text(
        tr(
            "For a rebuilt corpus: a CSV file with the columns old_doc_id and new_doc_id. A renamed document keeps its pairs and judgments. Documents that are split or merged get new pairs to judge, with the old grades as suggestions for leads."
        )
    )
    draw_table_task(
        context,
        dataset,
        "remap",
        draw_result=_draw_result,
        changes_something=lambda result: any(
            result["remap"][f"{name}_count"] for name in ("renamed", "split", "merged")
        ),
        button=tr("Give the documents their new ids"),
    )


def _draw_result(result: Mapping[str, Any]) -> None:
    if "remap" not in result:
        return
    figures = result["remap"]
    st.subheader(tr("What changes"))
    rows = (
        (tr("documents renamed"), figures["renamed_count"]),
        (tr("documents split"), figures["split_count"]),
        (tr("documents made of several"), figures["merged_count"]),
        (tr("pairs that keep their judgments"), figures["pairs_carried"]),
        (tr("pairs that leave the pool"), figures["pairs_retired"]),
        (tr("new pairs to judge"), figures["pairs_new"]),
        (tr("old grades kept as suggestions"), figures["suggestions"]),
        (tr("new documents without a text"), figures["documents_new"]),
        (tr("ids that this file has changed before"), figures["applied"]),
    )
    shown = [(name, show_number(count)) for name, count in rows if count]
    if shown:
        draw_table(tr("What changes"), (tr("what"), tr("number")), shown)
    else:
        st.text(tr("This file changes nothing."))
    examples = [(old, new) for old, new in figures["renamed"]]
    examples += [(old, ", ".join(new)) for old, new in figures["split"]]
    examples += [(", ".join(old), new) for new, old in figures["merged"]]
    if examples:
        with st.expander(tr("First new ids")):
            draw_table(tr("First new ids"), (tr("old id"), tr("new id")), examples)
    _draw_ids(
        figures,
        "unknown",
        tr_n(
            "{n:,} old id is not in the dataset.",
            "{n:,} old ids are not in the dataset.",
            figures["unknown_count"],
        ),
    )
    _draw_ids(
        figures,
        "left_over",
        tr_n(
            "{n:,} document with pairs is not in the file.",
            "{n:,} documents with pairs are not in the file.",
            figures["left_over_count"],
        ),
    )


def _draw_ids(figures: Mapping[str, Any], name: str, words: str) -> None:
    count = figures[f"{name}_count"]
    if count:
        more = ", …" if count > len(figures[name]) else ""
        draw_note(f"{words} {', '.join(figures[name])}{more}")
