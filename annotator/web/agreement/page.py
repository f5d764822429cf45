"""Agreement: the verdict first, then what to do about it, then every figure; or the pairs behind one of them."""

import streamlit as st

from annotator.web.agreement.agreement_groupings import find_grouping, list_fields
from annotator.web.agreement.agreement_measured import find_report
from annotator.web.agreement.links import find_selection
from annotator.web.kit.messages import tr
from annotator.web.kit.page_parts import require_dataset
from annotator.web.page_context import PageContext


def draw(context: PageContext) -> None:
    st.title(tr("Agreement"))
    dataset = require_dataset(context)
    selection = find_selection()
    if selection is not None:
        from annotator.web.agreement.pairs import draw_pairs

        draw_pairs(context, dataset, selection)
        return
    report = find_report(context, dataset, find_grouping(context, dataset))
    from annotator.web.agreement.report_view import draw_report

    draw_report(context, report, list_fields(context, dataset))
